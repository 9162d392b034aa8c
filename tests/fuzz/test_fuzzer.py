"""The fuzzer finds faults that are there, and tells of each with its input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import planted
import pytest
from click.testing import CliRunner
from planted import N_INPUTS, N_ODD
from readers import Report, fuzz, main, replay
from workers import Limits


def fuzz_planted(read: object, folder: Path, *, jobs: int = 1, clock: float = 600.0) -> Report:
    limits = Limits(cpu=0.2, clock=clock)
    readers = [planted.planted(read)]
    return fuzz(readers, n_inputs=N_INPUTS, jobs=jobs, output=folder, limits=limits, batch_size=8)


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (planted.raises, "ValueError at planted.py"),
        (planted.warns, "RuntimeWarning at planted.py"),
        (planted.says_two_lines, "message with N lines"),
        (planted.says_no_place, "message with no place in front of what is wrong"),
        (planted.exits, "exits with 3"),
        (planted.crashes, "dies of SIGSEGV"),
        (planted.loops, "hangs"),
        (planted.takes_memory, "MemoryError at planted.py"),
    ],
)
def test_a_planted_fault_is_found_with_each_of_its_inputs(
    read: Callable[..., None], kind: str, tmp_path: Path
) -> None:
    report = fuzz_planted(read, tmp_path)

    assert report.inputs == {read.__name__: N_INPUTS}
    assert [(name, n) for (name, _), n in report.findings.items()] == [(read.__name__, N_ODD)]
    assert next(iter(report.findings))[1].startswith(kind)
    kept = {path.read_bytes() for path in tmp_path.glob("*.input")}
    assert kept == {b"5!"}
    text = (tmp_path / f"{read.__name__}-0-5.input.txt").read_text()
    assert "seed 0, input 5" in text
    assert "--replay" in text


def test_a_reader_that_sleeps_is_found_by_the_clock(tmp_path: Path) -> None:
    report = fuzz_planted(planted.sleeps, tmp_path, clock=1.5)

    assert report.findings[("sleeps", "hangs")] >= N_ODD


def test_a_reader_that_refuses_in_one_line_is_no_finding(tmp_path: Path) -> None:
    report = fuzz_planted(planted.is_good, tmp_path)

    assert report.inputs == {"is_good": N_INPUTS}
    assert not report.findings
    assert not list(tmp_path.iterdir())


def test_the_number_of_processes_changes_nothing(tmp_path: Path) -> None:
    one, two = tmp_path / "1", tmp_path / "2"

    reports = [fuzz_planted(planted.exits, one, jobs=1), fuzz_planted(planted.exits, two, jobs=2)]

    assert reports[0] == reports[1]
    assert {path.name for path in one.iterdir()} == {path.name for path in two.iterdir()}


def test_one_input_can_be_given_once_more() -> None:
    reader, _ = planted.planted(planted.crashes)

    assert [finding.fault.kind for finding in replay(reader, b"5!")] == ["dies of SIGSEGV"]
    assert replay(reader, b"5") == []


def test_the_program_counts_inputs_and_ends_with_0_where_nothing_is_found(tmp_path: Path) -> None:
    options = ["--reader", "swf", "--reader", "policy", "--inputs", "60", "--output", str(tmp_path)]

    result = CliRunner().invoke(main, options)

    assert result.exit_code == 0, result.output
    assert "swf: 60 inputs, 0 findings" in result.output
    assert "policy: 60 inputs, 0 findings" in result.output


def test_a_replay_needs_one_reader(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x")

    result = CliRunner().invoke(main, ["--replay", str(tmp_path / "x")])

    assert result.exit_code == 2
    assert "expected one --reader" in result.output
