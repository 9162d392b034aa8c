"""ptrace, through ctypes: at exec, and for the moment it takes to end a wait; and a signal.

All requests for one stop come from one thread, as the kernel wants it: each function here begins
with a program that is not traced and ends with one that is not.
"""

import ctypes
import os
import signal
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from noctule.vclock.failures import UnsupportedError
from noctule.vclock.machine import Machine

_POKEDATA, _CONT, _DETACH, _SYSCALL = 5, 7, 17, 24
_GETREGSET, _SETREGSET, _SEIZE, _INTERRUPT = 0x4204, 0x4205, 0x4206, 0x4207
_GENERAL_REGISTERS = 1
_TRACE_CALLS_APART, _TRACE_EXEC, _KILL_AT_EXIT = 0x1, 0x10, 0x100000
_EVENT_EXEC, _EVENT_STOP = 4, 128
_ANY_CHILD = 0x40000000
_WORD = 8


@cache
def _library() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    library.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    library.ptrace.restype = ctypes.c_long
    return library


def _ptrace(request: int, process: int, address: int, data: int) -> None:
    if _library().ptrace(request, process, address, data) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), f"ptrace {request:#x}")


class _Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("size", ctypes.c_size_t))


def _move_registers(request: int, thread: int, registers: Any) -> None:
    vector = _Vector(ctypes.addressof(registers), ctypes.sizeof(registers))
    _ptrace(request, thread, _GENERAL_REGISTERS, ctypes.addressof(vector))


def exit_code(status: int) -> int | None:
    """The exit code in what waitpid tells, negative for a signal; None while the process lives."""
    if os.WIFEXITED(status) or os.WIFSIGNALED(status):
        return os.waitstatus_to_exitcode(status)
    return None


class Tracee:
    """A child that is about to exec, from that moment until it runs freely."""

    def __init__(self, process: int, machine: Machine) -> None:
        """Trace a child that does not know of it; if Python dies meanwhile, it dies, too."""
        self.process = process
        self._machine = machine
        self._registers: Any = machine.empty_registers()
        try:
            _ptrace(_SEIZE, process, 0, _TRACE_CALLS_APART | _TRACE_EXEC | _KILL_AT_EXIT)
        except OSError as error:
            raise UnsupportedError(f"ptrace is not allowed here: {error.strerror}") from None

    def wait_for_exec(self) -> int | None:
        """Let the child run until it has become another program; or its exit code."""
        status = self._wait()
        while exit_code(status) is None:
            if status >> 16 == _EVENT_EXEC:
                # The kernel still has to leave execve, and would write its result over ours.
                _ptrace(_SYSCALL, self.process, 0, 0)
                self._wait()
                _move_registers(_GETREGSET, self.process, self._registers)
                return None
            _ptrace(_CONT, self.process, 0, 0 if status >> 16 else os.WSTOPSIG(status))
            status = self._wait()
        return exit_code(status)

    def call(self, place: int, name: str, *arguments: int) -> int:
        """Let the program make a system call with the instruction at a place."""
        machine = self._machine
        registers = machine.prepare_call(
            self._registers, place, machine.CALL_NUMBERS[name], arguments
        )
        _move_registers(_SETREGSET, self.process, registers)
        for _ in ("its entry", "its exit"):
            _ptrace(_SYSCALL, self.process, 0, 0)
            self._wait()
        _move_registers(_GETREGSET, self.process, registers)
        result = machine.call_result(registers)
        if result < 0:
            raise OSError(-result, os.strerror(-result), f"{name} inside of the program")
        return result

    def write(self, address: int, content: bytes) -> None:
        """Write into the memory of the program, read-only memory included."""
        with Path(f"/proc/{self.process}/mem").open("rb", buffering=0) as memory:
            padding = -len(content) % _WORD
            rest = os.pread(memory.fileno(), padding, address + len(content)) if padding else b""
        content += rest
        for place in range(0, len(content), _WORD):
            word = int.from_bytes(content[place : place + _WORD], "little")
            _ptrace(_POKEDATA, self.process, address + place, word)

    def release(self) -> None:
        """Let the program begin as if nothing had happened."""
        _move_registers(_SETREGSET, self.process, self._registers)
        _ptrace(_DETACH, self.process, 0, 0)

    def _wait(self) -> int:
        return os.waitpid(self.process, _ANY_CHILD)[1]


def interrupt(process: int, thread: int, machine: Machine) -> None:
    """Interrupt a thread of a program in Go, whose runtime does so, too: it takes no notice."""
    number = ctypes.c_long(machine.CALL_NUMBERS["tgkill"])
    _library().syscall(number, process, thread, int(signal.SIGURG))


def _clear(thread: int, places: Sequence[tuple[int, int]]) -> None:
    """Write zeros; like the kernel, leave alone what the program may not write itself."""
    for address, size in places:
        zeros = ctypes.create_string_buffer(size)
        here, there = _Vector(ctypes.addressof(zeros), size), _Vector(address, size)
        _library().process_vm_writev(
            thread, ctypes.byref(here), ctypes.c_ulong(1), ctypes.byref(there), ctypes.c_ulong(1), 0
        )


def end_wait(
    thread: int,
    machine: Machine,
    number: int,
    result: int,
    cleared: Sequence[tuple[int, int]] = (),
) -> int | None:
    """Let the system call that a thread waits in return now, after it cleared some memory.

    Nothing happens where the thread is no longer in that call. Returns the status of a process that
    ended meanwhile, which waitpid tells only once.
    """
    try:
        _ptrace(_SEIZE, thread, 0, 0)
    except (ProcessLookupError, PermissionError):  # it is gone, or about to be
        return None
    _ptrace(_INTERRUPT, thread, 0, 0)
    status = os.waitpid(thread, _ANY_CHILD)[1]
    if exit_code(status) is not None:
        return status
    try:
        forwarded = 0
        if status >> 16 == _EVENT_STOP:
            registers = machine.empty_registers()
            _move_registers(_GETREGSET, thread, registers)
            if machine.end_call(registers, number, result):
                _clear(thread, cleared)
                _move_registers(_SETREGSET, thread, registers)
        else:
            forwarded = os.WSTOPSIG(status)
        _ptrace(_DETACH, thread, 0, forwarded)
    except ProcessLookupError:
        pass
    return None
