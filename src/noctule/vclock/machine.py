"""What differs from machine to machine, as `x86_64` gives it and `arm64` would.

A machine is a module with these names:

- `ELF_MACHINE`: its number in ELF images;
- `CALLS`: the names of its system calls by number;
- `CALL_INSTRUCTION`: the bytes of the instruction that makes a system call;
- `Registers`: a ctypes structure as PTRACE_GETREGSET fills it;
- `clock_functions(page)`: machine code that reads the clock in the page at that address (see
  `clock`), and where in it the function for each function of the vDSO begins;
- `jump(address)`: machine code that jumps there and touches no argument;
- `prepare_call(registers, place, number, arguments)`: make a call with the instruction at a place;
- `call_result(registers)`: what a system call returned;
- `end_call(registers, number, result)`: where this call was interrupted, let it return a result
  instead of beginning again; False where it was not.
"""

import platform
import sys
from types import ModuleType

from noctule.vclock import x86_64
from noctule.vclock.failures import UnsupportedError

__all__ = ["this_machine"]

_MACHINES = {"x86_64": x86_64, "amd64": x86_64}


def this_machine() -> ModuleType:
    """The machine that Python runs on."""
    if not sys.platform.startswith("linux"):
        raise UnsupportedError(f"simulated time needs Linux, and this is {sys.platform}")
    name = platform.machine()
    if name.lower() not in _MACHINES or sys.maxsize < 1 << 32:
        bits = "" if sys.maxsize > 1 << 32 else " with a Python of 32 bits"
        raise UnsupportedError(f"simulated time needs x86-64, and this machine is {name}{bits}")
    return _MACHINES[name.lower()]
