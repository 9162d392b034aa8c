"""Functions of a vDSO, sections of programs, and images that are damaged."""

import contextlib
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule.errors import InputError
from noctule.vclock import elf
from noctule.vclock.launching import is_go


def own_vdso():
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith("[vdso]"):
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            with Path("/proc/self/mem").open("rb", buffering=0) as memory:
                return os.pread(memory.fileno(), end - start, start)
    return None


VDSO = own_vdso() if sys.platform == "linux" else None

pytestmark = pytest.mark.skipif(VDSO is None, reason="this kernel gives no vDSO")


def test_a_vdso_offers_the_time():
    functions = elf.functions(VDSO)
    times = [name for name in functions if name.endswith("clock_gettime")]
    assert times
    for name in times:
        assert 0 < functions[name].offset < len(VDSO)
        assert functions[name].size > 12


@given(st.data())
def test_a_damaged_image_is_an_error_or_something_else(data):
    image = bytearray(VDSO[: data.draw(st.integers(0, len(VDSO)), "length")])
    for _ in range(data.draw(st.integers(0, 8), "damages")):
        if image:
            image[data.draw(st.integers(0, len(image) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(InputError):
        assert all(isinstance(name, str) for name in elf.functions(bytes(image)))


def test_sections_tell_who_made_a_program(tmp_path):
    assert ".text" in elf.section_names(Path(sys.executable).resolve())
    assert not is_go(Path(sys.executable).resolve())
    text = tmp_path / "text"
    text.write_text("#!/bin/sh\n")
    assert not is_go(text)
    with pytest.raises(InputError, match="ELF image: found something else"):
        elf.section_names(text)


def test_an_image_says_for_which_machine_it_is():
    machine, bits = elf.machine_of(VDSO)
    assert machine in (62, 183)
    assert bits == 2
    with pytest.raises(InputError, match="found something else"):
        elf.machine_of(b"\x7fELF")
