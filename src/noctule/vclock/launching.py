"""Starting a program so that it reads the time from a clock's page.

Programs read the time without a system call, from functions that the kernel puts into every process
(the vDSO). At exec, before the first instruction, the clock's page and code that reads it are
mapped into the program, and these functions of its own copy of the vDSO become jumps to that code.
"""

import hashlib
import mmap
import os
import shutil
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from noctule.errors import InputError
from noctule.vclock import elf
from noctule.vclock.clock import Clock
from noctule.vclock.failures import UnsupportedError
from noctule.vclock.family import Family
from noctule.vclock.machine import Machine
from noctule.vclock.tracing import Tracee

_READ, _WRITE, _EXECUTE = 1, 2, 4
_SHARED, _PRIVATE, _FIXED, _ANONYMOUS = 1, 2, 0x10, 0x20
_AT_RANDOM = 25
_RANDOM_BYTES = 16


def environment_of(argv: Sequence[str], env: Mapping[str, str] | None) -> dict[str, str]:
    """The environment of a program; an InputError where it or the arguments cannot be passed on."""
    if not argv:
        raise InputError("program: found an empty list of arguments, expected its name")
    environment = dict(os.environ if env is None else env)
    for text in (*argv, *environment, *environment.values()):
        if "\0" in text:
            raise InputError(f"program: found a NUL character in {text!r}")
    for name in environment:
        if not name or "=" in name:
            raise InputError(f"environment: found {name!r}, expected the name of a variable")
    return environment


def find_program(name: str, environment: Mapping[str, str]) -> Path:
    """The file of a program; an InputError where there is none that can be run."""
    found = shutil.which(name, path=environment.get("PATH", os.defpath))
    if found is None:
        kind = "a file that cannot be executed" if Path(name).exists() else "no such program"
        raise InputError(f"{name}: found {kind}, expected a program")
    try:
        with Path(found).open("rb") as file:
            start = file.read(20)
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from None
    if not elf.is_elf(start) and not start.startswith(b"#!"):
        raise InputError(f"{name}: found neither an ELF program nor a script that names its own")
    return Path(found).absolute()


def is_go(program: Path) -> bool:
    """Whether a program was made by Go's compiler."""
    try:
        return ".go.buildinfo" in elf.section_names(program)
    except (InputError, OSError):
        return False


def launch(
    program: Path,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    clock: Clock,
    machine: Machine,
    stdout: int | IO[Any] | None = None,
    stderr: int | IO[Any] | None = None,
    seed: bytes | None = None,
    before: Callable[[int], object] = lambda _: None,
) -> Family:
    """Start a program on a clock; `before` gets its number just before it begins to run."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        settings = [f"{name}={value}" for name, value in environment.items()]
        doorstep = Path(__file__).with_name("doorstep.py")
        family = Family(
            [
                *(sys.executable, "-I", "-S", str(doorstep), str(theirs.fileno()), str(program)),
                *(str(len(settings)), *settings, *arguments),
            ],
            stdout=stdout,
            stderr=stderr,
            inherited=(theirs.fileno(), clock.descriptor),
        )
        theirs.close()
        try:
            # Once it says a word, its own exec is over: only the program's is still to come.
            if not ours.recv(1):
                raise UnsupportedError(f"the interpreter {sys.executable} does not start a program")
            tracee = Tracee(family.pid, machine)
            ours.send(b"g")
            ended = tracee.wait_for_exec()
            if ended is not None:
                raise InputError(f"{program}: {_why_not(ours, ended)}")
            _put_on(tracee, clock, machine)
            if seed is not None:
                _fix_random_bytes(tracee, seed)
            before(family.pid)
            tracee.release()
        except OSError as error:
            family.stop(grace=0)
            raise UnsupportedError(
                f"{program}: cannot be put on simulated time: {error.strerror} ({error.filename})"
            ) from None
        except BaseException:
            family.stop(grace=0)
            raise
    return family


def _why_not(control: socket.socket, ended: int) -> str:
    reason = control.recv(16)
    if reason:
        return f"found a program that does not start: {os.strerror(int(reason))}"
    return f"what should have become this program ended with exit status {ended}"


def _put_on(tracee: Tracee, clock: Clock, machine: Machine) -> None:
    base, image = _vdso(tracee.process)
    number, _ = elf.machine_of(image)
    if number != machine.ELF_MACHINE:
        raise UnsupportedError("the program is not of this machine's kind, say one of 32 bits")
    functions = elf.functions(image)
    instruction = image.find(machine.CALL_INSTRUCTION)
    if instruction < 0:
        raise UnsupportedError("no system call in the vDSO of this kernel, so none can be made")
    place = base + instruction
    size = mmap.PAGESIZE
    page = tracee.call(place, "mmap", 0, 2 * size, _READ | _EXECUTE, _PRIVATE | _ANONYMOUS, -1, 0)
    tracee.call(place, "mmap", page, size, _READ | _WRITE, _SHARED | _FIXED, clock.descriptor, 0)
    tracee.call(place, "close", clock.descriptor)
    code, entries = machine.clock_functions(page)
    tracee.write(page + size, code)
    for name, entry in entries.items():
        jump = machine.jump(page + size + entry)
        if name not in functions or functions[name].size < len(jump):
            raise UnsupportedError(f"no {name} in the vDSO of this kernel that can be replaced")
        tracee.write(base + functions[name].offset, jump)


def _vdso(process: int) -> tuple[int, bytes]:
    for line in Path(f"/proc/{process}/maps").read_text().splitlines():
        if line.endswith("[vdso]"):
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
                return start, os.pread(memory.fileno(), end - start, start)
    raise UnsupportedError("this kernel gives programs no vDSO, or has it switched off")


def _fix_random_bytes(tracee: Tracee, seed: bytes) -> None:
    """Replace the random bytes that the kernel gives to every program.

    Runtimes that find zeros in them ask for others: Go's does.
    """
    words = memoryview(Path(f"/proc/{tracee.process}/auxv").read_bytes()).cast("Q")
    for key, value in zip(words[::2], words[1::2], strict=False):
        if key == _AT_RANDOM:
            tracee.write(value, hashlib.sha256(seed).digest()[:_RANDOM_BYTES])
