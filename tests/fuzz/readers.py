"""Fuzzes all readers of Noctule: gives them damaged inputs until one does what no reader may do.

    python tests/fuzz/readers.py --reader swf --inputs 100000
    python tests/fuzz/readers.py --reader swf --replay build/fuzz/swf-0-417.swf
    python tests/fuzz/readers.py --reader swf --engine atheris --minutes 5

A reader may give a value, or raise a NoctuleError whose message is one line, `where: what`. All
else is a finding: another exception, a warning, a crash, too much time or memory, a file of our own
that cannot be read again. Its input is kept beside a text that says what happened, and the exit
code is 1. The same seed gives the same inputs, whatever the number of processes.
"""

from __future__ import annotations

import importlib.util
import math
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

import click
from mutations import Corpus
from targets import READERS, Reader
from workers import Batch, Finding, Limits, Progress, batches_of, work

ROOT = Path(__file__).parents[2]
KEPT_OF_A_KIND = 3
_SECONDS_BETWEEN_REPORTS = 10


@dataclass
class Report:
    """How many inputs were given to each reader, and what was found, by kind."""

    inputs: Counter[str] = field(default_factory=Counter)
    findings: Counter[tuple[str, str]] = field(default_factory=Counter)


def fuzz(
    readers: Sequence[tuple[Reader, Corpus]],
    *,
    n_inputs: int,
    seed: int = 0,
    jobs: int = 2,
    output: Path,
    limits: Limits | None = None,
    minutes: float | None = None,
    batch_size: int = 500,
) -> Report:
    """Give so many inputs to each reader; keep those of findings in a folder."""
    end = time.monotonic() + (60 * minutes if minutes else float("inf"))
    report, corpora = Report(), {reader.name: corpus for reader, corpus in readers}
    batches = batches_of(readers, n_inputs=n_inputs, seed=seed, size=batch_size)
    in_time: Iterator[Batch] = takewhile(lambda _: time.monotonic() < end, batches)
    spoken = time.monotonic()
    for said in work(in_time, jobs=jobs, limits=limits or Limits()):
        if isinstance(said, Finding):
            kind = (said.reader, said.fault.kind)
            report.findings[kind] += 1
            if report.findings[kind] <= KEPT_OF_A_KIND:
                _keep(said, corpora[said.reader].input(seed, said.index), seed, output)
        elif isinstance(said, Progress):
            report.inputs[said.reader] += said.n_inputs
        if time.monotonic() - spoken > _SECONDS_BETWEEN_REPORTS:
            spoken = time.monotonic()
            done = f"{report.inputs.total()} inputs, {report.findings.total()} findings"
            click.echo(done, err=True)
    return report


def _keep(finding: Finding, data: bytes, seed: int, output: Path) -> None:
    """Write the input of a finding, and how to see it again."""
    output.mkdir(parents=True, exist_ok=True)
    ending = READERS[finding.reader].ending if finding.reader in READERS else ".input"
    path = output / f"{finding.reader}-{seed}-{finding.index}{ending}"
    path.write_bytes(data)
    again = f"python tests/fuzz/readers.py --reader {finding.reader} --replay {path}"
    text = f"{finding.fault.kind}\n\n{finding.fault.text}\n\nseed {seed}, input {finding.index}\n"
    path.with_name(path.name + ".txt").write_text(f"{text}{again}\n", errors="backslashreplace")
    click.echo(f"{path}: {finding.fault.kind}", err=True)


def replay(reader: Reader, data: bytes, *, limits: Limits | None = None) -> list[Finding]:
    """Give one input to a reader."""
    batch = Batch(reader, Corpus(reader.name, (data,)), 0, 0, 1)
    found = work(iter([batch]), jobs=1, limits=limits or Limits())
    return [said for said in found if isinstance(said, Finding)]


def _guided(name: str, n_inputs: int, seed: int, output: Path, minutes: float | None) -> int:
    """Let atheris look for new code to reach; return the exit code."""
    if importlib.util.find_spec("atheris") is None:
        raise click.UsageError("--engine atheris: expected the package atheris to be installed")
    options = [f"-seed={seed + 1}", f"-runs={n_inputs}"]
    if minutes:
        options.append(f"-max_total_time={math.ceil(60 * minutes)}")
    program = Path(__file__).with_name("guided.py")
    done = subprocess.run([sys.executable, program, name, output, *options], check=False)
    return 1 if done.returncode else 0


@click.command(help=__doc__.partition("\n")[0])
@click.option("--inputs", "n_inputs", type=click.IntRange(1), default=100_000, show_default=True,
              help="Inputs for each reader.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--reader", "names", multiple=True, type=click.Choice(list(READERS)),
              help="May be repeated; all by default.")  # fmt: skip
@click.option("--minutes", type=float, help="Stop after so long.")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Processes.")
@click.option("--output", type=click.Path(path_type=Path), default=ROOT / "build" / "fuzz")
@click.option("--engine", type=click.Choice(["mutations", "atheris"]), default="mutations")
@click.option("--replay", "file", type=click.Path(path_type=Path, exists=True, dir_okay=False),
              help="Give this one input to the reader.")  # fmt: skip
def main(
    *,
    n_inputs: int,
    seed: int,
    names: tuple[str, ...],
    minutes: float | None,
    jobs: int,
    output: Path,
    engine: str,
    file: Path | None,
) -> None:
    """Fuzz the readers, and end with exit code 1 if anything was found."""
    chosen = [READERS[name] for name in names or READERS]
    if (file is not None or engine == "atheris") and len(chosen) != 1:
        raise click.UsageError("expected one --reader")
    if engine == "atheris":
        sys.exit(_guided(chosen[0].name, n_inputs, seed, output, minutes))
    if file is not None:
        found = replay(chosen[0], file.read_bytes())
        for finding in found:
            click.echo(finding.fault.text)
        click.echo(f"{len(found)} findings")
        sys.exit(1 if found else 0)
    began = time.monotonic()
    report = fuzz(
        [(reader, Corpus.of(reader.name)) for reader in chosen],
        n_inputs=n_inputs,
        seed=seed,
        jobs=jobs,
        output=output,
        minutes=minutes,
    )
    for name, n in report.inputs.items():
        n_found = sum(k for (reader, _), k in report.findings.items() if reader == name)
        click.echo(f"{name}: {n} inputs, {n_found} findings")
    for (name, kind), n in report.findings.most_common():
        click.echo(f"  {name}: {kind}: {n}")
    click.echo(f"{time.monotonic() - began:.0f} s")
    sys.exit(1 if report.findings else 0)


if __name__ == "__main__":
    main()
