"""Fuzzing that looks for new code to reach, with atheris where it is installed.

A program of its own, which readers.py starts: libFuzzer ends it when it has found something.
Inputs that reach something new are kept and damaged further. The first finding ends the program;
its input is in the folder of the others, as crash-..., and `--replay` shows what it does.
"""

from __future__ import annotations

import gc
import random
import sys
import tempfile
import warnings
from pathlib import Path
from types import FunctionType

import atheris
from judging import judged
from mutations import LONGEST, Corpus
from targets import READERS


class FoundError(Exception):
    """A reader did what it may not do."""


def _watch() -> None:
    """Watch all functions of Noctule; not on import, which an editable installation does itself."""
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and str(function.__module__).startswith("noctule."):
            atheris.instrument_func(function)


def main(name: str, output: Path, options: list[str]) -> None:
    """Fuzz one reader, with options of libFuzzer; does not return."""
    _watch()
    reader, corpus = READERS[name], Corpus.of(name)
    warnings.simplefilter("error")
    output.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp())
    seeds = folder / "seeds"
    seeds.mkdir()
    for i, data in enumerate(corpus.seeds):
        (seeds / str(i)).write_bytes(data)

    def give(data: bytes) -> None:
        fault = judged(reader, folder / f"input{reader.ending}", data)
        if fault is not None:
            raise FoundError(fault.text)

    def damage(data: bytes, longest: int, number: int) -> bytes:
        if number % 4 == 0:
            return atheris.Mutate(data, longest)
        return corpus.damaged(random.Random(number), data)[:longest]

    options = [*options, f"-max_len={LONGEST}", "-timeout=20", "-rss_limit_mb=4096"]
    options.append(f"-artifact_prefix={output}/{name}-")
    atheris.Setup([sys.argv[0], *options, str(seeds)], give, custom_mutator=damage)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
