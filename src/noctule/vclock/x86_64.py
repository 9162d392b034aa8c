"""x86-64: registers, system calls, and the machine code that reads the clock (see `machine`)."""

import ctypes
import struct
from collections.abc import Mapping, Sequence

from noctule.vclock.clock import MONOTONIC, NOW, REALTIME, SECOND, STEP
from noctule.vclock.x86_64_calls import NAMES

ELF_MACHINE = 62
CALLS: Mapping[int, str] = NAMES
CALL_NUMBERS: Mapping[str, int] = {name: number for number, name in NAMES.items()}
CALL_INSTRUCTION = b"\x0f\x05"

_CLOCK_GETTIME = 228
# REALTIME, REALTIME_COARSE, TAI; MONOTONIC, MONOTONIC_RAW, MONOTONIC_COARSE, BOOTTIME
_WALL_CLOCKS = (0, 5, 11)
_MONOTONIC_CLOCKS = (1, 4, 6, 7)

_NO_CALL = 0xFFFF_FFFF_FFFF_FFFF
# EINTR, and the kernel's own ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK
_INTERRUPTED = {-4, -512, -513, -514, -516}


_REGISTERS = """
r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base
gs_base ds es fs gs
"""


class Registers(ctypes.Structure):
    """`struct user_regs_struct` of Linux."""

    _fields_ = tuple((name, ctypes.c_uint64) for name in _REGISTERS.split())


def empty_registers() -> Registers:
    """Registers to be filled."""
    return Registers()


def prepare_call(
    registers: Registers, place: int, number: int, arguments: Sequence[int]
) -> Registers:
    """Registers with which the program makes a system call next."""
    prepared = Registers.from_buffer_copy(registers)
    prepared.rip, prepared.rax, prepared.orig_rax = place, number, _NO_CALL
    for name, value in zip(("rdi", "rsi", "rdx", "r10", "r8", "r9"), arguments, strict=False):
        setattr(prepared, name, value & _NO_CALL)
    return prepared


def call_result(registers: Registers) -> int:
    """What a system call returned, negative for an error."""
    return ctypes.c_int64(registers.rax).value


def end_call(registers: Registers, number: int, result: int) -> bool:
    """Let a system call that was interrupted return a result; False where there is none."""
    if registers.orig_rax != number or call_result(registers) not in _INTERRUPTED:
        return False
    registers.rax, registers.orig_rax = result & _NO_CALL, _NO_CALL
    return True


def jump(address: int) -> bytes:
    """Mov rax, address; jmp rax."""
    return b"\x48\xb8" + struct.pack("<Q", address) + b"\xff\xe0"


class _Assembly:
    """Machine code with short jumps to labels."""

    def __init__(self) -> None:
        self.code = bytearray()
        self._labels: dict[str, int] = {}
        self._jumps: list[tuple[int, str]] = []

    def add(self, *parts: bytes) -> None:
        for part in parts:
            self.code += part

    def label(self, name: str) -> None:
        self._labels[name] = len(self.code)

    def jump(self, instruction: bytes, label: str) -> None:
        self.code += instruction + b"\0"
        self._jumps.append((len(self.code), label))

    def align(self) -> int:
        self.code += b"\xcc" * (-len(self.code) % 16)
        return len(self.code)

    def assembled(self) -> bytes:
        for end, label in self._jumps:
            self.code[end - 1 : end] = struct.pack("<b", self._labels[label] - end)
        return bytes(self.code)


_JE, _JMP = b"\x74", b"\xeb"
_RET = b"\xc3"
_ZERO_EAX = b"\x31\xc0"
_ZERO_EDX = b"\x31\xd2"
_SYSCALL = CALL_INSTRUCTION
_TEST_RDI, _TEST_RSI = b"\x48\x85\xff", b"\x48\x85\xf6"


def _compare_edi(value: int) -> bytes:
    return b"\x83\xff" + struct.pack("<b", value)


def _load_page(page: int) -> bytes:
    return b"\x49\xb8" + struct.pack("<Q", page)  # mov r8, page


def _load_rax(word: int) -> bytes:
    return b"\x49\x8b\x40" + struct.pack("<b", word)  # mov rax, [r8 + word]


def _add_rax(word: int) -> bytes:
    return b"\x49\x03\x40" + struct.pack("<b", word)  # add rax, [r8 + word]


def _exchange_add_rax(word: int) -> bytes:
    return b"\xf0\x49\x0f\xc1\x40" + struct.pack("<b", word)  # lock xadd [r8 + word], rax


def _divide_rax(divisor: int) -> bytes:
    """Quotient in rax, remainder in rdx."""
    return _ZERO_EDX + b"\xb9" + struct.pack("<I", divisor) + b"\x48\xf7\xf1"


def _wall_clock(page: int) -> bytes:
    """Rax = nanoseconds since 1970, and the step is added to the clock."""
    return _load_page(page) + _load_rax(STEP) + _exchange_add_rax(NOW) + _add_rax(REALTIME)


def clock_functions(page: int) -> tuple[bytes, dict[str, int]]:
    """Code for the functions of the vDSO that tell time, and where each begins."""
    code = _Assembly()
    places = {"__vdso_clock_gettime": code.align()}
    _clock_gettime(code, page)
    places["__vdso_gettimeofday"] = code.align()
    _gettimeofday(code, page)
    places["__vdso_time"] = code.align()
    _time(code, page)
    return code.assembled(), places


def _clock_gettime(code: _Assembly, page: int) -> None:
    """Int clock_gettime(edi: clock, rsi: struct timespec *); other clocks are the kernel's."""
    for clock in _WALL_CLOCKS:
        code.add(_compare_edi(clock))
        code.jump(_JE, "wall")
    for clock in _MONOTONIC_CLOCKS:
        code.add(_compare_edi(clock))
        code.jump(_JE, "monotonic")
    code.add(b"\xb8", struct.pack("<I", _CLOCK_GETTIME), _SYSCALL, _RET)  # mov eax, number
    code.label("wall")
    code.add(_wall_clock(page))
    code.jump(_JMP, "split")
    code.label("monotonic")
    code.add(_load_page(page), _load_rax(NOW), _add_rax(MONOTONIC))
    code.label("split")
    code.add(_divide_rax(SECOND))
    code.add(b"\x48\x89\x06", b"\x48\x89\x56\x08")  # mov [rsi], rax; mov [rsi + 8], rdx
    code.add(_ZERO_EAX, _RET)


def _gettimeofday(code: _Assembly, page: int) -> None:
    """Int gettimeofday(rdi: struct timeval * or 0, rsi: struct timezone * or 0)."""
    code.add(_TEST_RSI)
    code.jump(_JE, "no zone")
    code.add(b"\x48\xc7\x06\0\0\0\0")  # mov qword [rsi], 0
    code.label("no zone")
    code.add(_TEST_RDI)
    code.jump(_JE, "no time")
    code.add(_wall_clock(page), _divide_rax(SECOND))
    code.add(b"\x48\x89\x07", b"\x89\xd0")  # mov [rdi], rax; mov eax, edx
    code.add(_divide_rax(1000), b"\x48\x89\x47\x08")  # mov [rdi + 8], rax
    code.label("no time")
    code.add(_ZERO_EAX, _RET)


def _time(code: _Assembly, page: int) -> None:
    """Time_t time(rdi: time_t * or 0)."""
    code.add(_load_page(page), _load_rax(NOW), _add_rax(REALTIME), _divide_rax(SECOND))
    code.add(_TEST_RDI)
    code.jump(_JE, "no place")
    code.add(b"\x48\x89\x07")  # mov [rdi], rax
    code.label("no place")
    code.add(_RET)
