"""What differs from machine to machine: `x86_64` has it, and `arm64` would be another module."""

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class Machine(Protocol):
    """A module with these names.

    Attributes:
        ELF_MACHINE: its number in ELF images.
        CALLS: the names of its system calls by number.
        CALL_NUMBERS: the numbers by name.
        CALL_INSTRUCTION: the bytes of the instruction that makes a system call.
    """

    ELF_MACHINE: int
    CALLS: Mapping[int, str]
    CALL_NUMBERS: Mapping[str, int]
    CALL_INSTRUCTION: bytes

    def empty_registers(self) -> ctypes.Structure:
        """A structure that PTRACE_GETREGSET fills."""

    def clock_functions(self, page: int) -> tuple[bytes, dict[str, int]]:
        """Machine code that reads the clock in the page at that address (see `clock`).

        With it comes where in it the replacement of each function of the vDSO begins.
        """

    def jump(self, address: int) -> bytes:
        """Machine code that jumps there and touches no argument of a function."""

    def prepare_call(
        self, registers: Any, place: int, number: int, arguments: Sequence[int]
    ) -> ctypes.Structure:
        """Registers with which a system call is made by the instruction at a place."""

    def call_result(self, registers: Any) -> int:
        """What a system call returned, negative for an error."""

    def end_call(self, registers: Any, number: int, result: int) -> bool:
        """Where this call was interrupted, let it return a result instead of beginning again."""
