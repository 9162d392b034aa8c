"""What is read of ELF images: functions of a vDSO, names of a program's sections."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from noctule.errors import InputError

_MAGIC = b"\x7fELF"
_SIXTY_FOUR_BITS, _LITTLE_ENDIAN = 2, 1
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNAMIC_SYMBOLS = 11
_FUNCTION = 2
_MOST_SECTIONS = 4096


class Function(NamedTuple):
    """A function in an image: where it begins, and how long it is."""

    offset: int
    size: int


class _Section(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


def is_elf(start: bytes) -> bool:
    """Whether a file that starts so is an ELF image."""
    return start.startswith(_MAGIC)


def machine_of(start: bytes) -> tuple[int, int]:
    """The machine's number and the class (1: 32 bits, 2: 64 bits) of an image."""
    if len(start) < 20 or not is_elf(start):
        raise InputError("ELF image: found something else")
    return struct.unpack_from("<H", start, 18)[0], start[4]


def functions(image: bytes) -> dict[str, Function]:
    """The functions that a shared object such as a vDSO offers, by name."""
    sections = list(_sections(image))
    found = {}
    for table in sections:
        if table.kind != _DYNAMIC_SYMBOLS or table.link >= len(sections):
            continue
        names = sections[table.link].offset
        content = image[table.offset : table.offset + table.size]
        for symbol in _SYMBOL.iter_unpack(content[: len(content) // 24 * 24]):
            name, kind, _, section, value, size = symbol
            if kind & 0xF == _FUNCTION and section:
                found[_text(image, names + name)] = Function(value, size)
    return found


def section_names(path: Path) -> set[str]:
    """The names of the sections of a program."""
    with path.open("rb") as file:
        header = file.read(_HEADER.size)
        place, count, names = _table(header)
        file.seek(place)
        table = [_Section(*s) for s in _SECTION.iter_unpack(file.read(count * _SECTION.size))]
        if names >= len(table):
            return set()
        file.seek(table[names].offset)
        texts = file.read(min(table[names].size, 1 << 20))
    return {_text(texts, section.name) for section in table}


def _sections(image: bytes) -> Iterator[_Section]:
    place, count, _ = _table(image)
    table = image[place : place + count * _SECTION.size]
    if len(table) < count * _SECTION.size:
        raise InputError("ELF image: its table of sections lies outside of it")
    return (_Section(*section) for section in _SECTION.iter_unpack(table))


def _table(image: bytes) -> tuple[int, int, int]:
    if len(image) < _HEADER.size or not is_elf(image):
        raise InputError("ELF image: found something else")
    header = _HEADER.unpack_from(image)
    if image[4] != _SIXTY_FOUR_BITS or image[5] != _LITTLE_ENDIAN:
        raise InputError("ELF image: found one that is not of 64 bits, little-endian")
    place, size, count, names = header[6], header[11], header[12], header[13]
    if count and size != _SECTION.size:
        raise InputError(f"ELF image: found sections of {size} bytes, expected {_SECTION.size}")
    return place, min(count, _MOST_SECTIONS), names


def _text(image: bytes, place: int) -> str:
    return image[place : image.find(b"\0", place)].decode("ascii", "replace")
