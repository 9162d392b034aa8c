"""Readers with faults that odd inputs meet, to see whether the fuzzer finds them."""

from __future__ import annotations

import ctypes
import os
import time
import warnings
from pathlib import Path

from mutations import Corpus
from targets import Reader

from noctule.errors import InputError, NoctuleError

ODD = b"!"
N_INPUTS, N_ODD = 12, 1


class PlantedCorpus(Corpus):
    """Inputs that are their numbers; every so often one is odd."""

    def input(self, seed: int, index: int) -> bytes:
        """Return the input of this number."""
        return b"%d" % index + (ODD if index % 16 == 5 else b"")


class TwoLinesError(NoctuleError):
    """An error whose message is not tidied up."""

    def __str__(self) -> str:
        return "where: one\ntwo"


class PlacelessError(NoctuleError):
    """An error that does not say where."""

    def __str__(self) -> str:
        return "something is wrong"


def is_good(path: Path, _: int) -> None:
    if ODD in path.read_bytes():
        raise InputError(f"{path}: got an odd byte, expected none")


def raises(path: Path, _: int) -> None:
    if ODD in path.read_bytes():
        raise ValueError("planted")


def warns(path: Path, _: int) -> None:
    if ODD in path.read_bytes():
        warnings.warn("planted", RuntimeWarning, stacklevel=1)


def says_two_lines(path: Path, _: int) -> None:
    if ODD in path.read_bytes():
        raise TwoLinesError


def says_no_place(path: Path, _: int) -> None:
    if ODD in path.read_bytes():
        raise PlacelessError


def exits(path: Path, _: int) -> None:
    if ODD in path.read_bytes():
        os._exit(3)


def crashes(path: Path, _: int) -> None:
    if ODD in path.read_bytes():
        ctypes.string_at(0)


def loops(path: Path, _: int) -> None:
    while ODD in path.read_bytes():
        pass


def sleeps(path: Path, _: int) -> None:
    while ODD in path.read_bytes():
        time.sleep(1)


def takes_memory(path: Path, _: int) -> None:
    if ODD in path.read_bytes():
        bytearray(1 << 40)


def planted(read: object) -> tuple[Reader, PlantedCorpus]:
    """Make a reader of one of the functions above."""
    name = read.__name__  # type: ignore[attr-defined]
    return Reader(name, ".txt", read), PlantedCorpus(name, ())  # type: ignore[arg-type]
