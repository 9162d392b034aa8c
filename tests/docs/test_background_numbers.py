"""The numbers of real logs that the background pages tell come out as they are told."""

from __future__ import annotations

import io
import re
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import noctule as nt

ROOT = Path(__file__).parents[2]
BACKGROUND = ROOT / "docs" / "background"
LOGS = ("KTH-SP2-1996-2.1-cln.swf", "SDSC-SP2-1998-4.2-cln.swf")
pytestmark = pytest.mark.slow


def page(name: str) -> str:
    return " ".join((BACKGROUND / f"{name}.md").read_text().split())


@pytest.fixture(scope="module")
def kth(shared: Path) -> Path:
    return shared / "traces" / f"{LOGS[0]}.xz"


def test_variants_of_easy_differ_as_the_table_says(shared, monkeypatch, capsys):
    columns = []
    for log in LOGS:
        monkeypatch.setattr(sys, "argv", ["easy-variants.py", str(shared / f"traces/{log}.xz")])
        runpy.run_path(str(ROOT / "examples" / "easy-variants.py"), run_name="__main__")
        columns.append([line.split() for line in capsys.readouterr().out.splitlines()[1:]])
    text = (BACKGROUND / "why-textbook-easy.md").read_text()
    table = re.findall(r"^\| (\w+) \| (.*) \|$", text, flags=re.MULTILINE)
    assert len(table) == 5
    for (name, cells), first, second in zip(table, *columns, strict=True):
        told = [cell.strip() for cell in cells.split("|")]
        printed = [word.replace("+0.0%", "") for word in [*first[1:], *second[1:]]]
        assert (name, told) == (first[0], printed)


def test_a_millisecond_moves_as_many_jobs_as_is_told(kth):
    blocks = re.findall(
        r"```python\n(.*?)```",
        (BACKGROUND / "order-at-one-instant.md").read_text(),
        flags=re.DOTALL,
    )
    names: dict[str, object] = {}
    exec(blocks[1].split("for step in")[0], names)
    printed = io.StringIO()
    with redirect_stdout(printed):
        for step in (1, 60):
            names["compare"](kth, 100, step)
    told = r"(\d+) of 28467 jobs, and mean waits of ([\d.]+) and ([\d.]+) s; "
    told += r"in minutes, (\d+) jobs, and ([\d.]+) and ([\d.]+) s"
    found = re.search(told, page("order-at-one-instant"))
    line = r"(\d+) of \d+ jobs moved; mean wait ([\d.]+) and ([\d.]+) s"
    assert [*found.groups()] == [
        number for numbers in re.findall(line, printed.getvalue()) for number in numbers
    ]


def mean_wait(log: Path, *, factor: float, speed: float = 1.0) -> float:
    workload = nt.load_workload(log, walltime_factor=factor)
    schedule = nt.simulate(nt.Platform.homogeneous(100, speed=speed), workload, "easy")
    return nt.metrics.summary(schedule)["mean_waiting_time"]


def test_half_the_speed_and_larger_walltimes_do_what_is_told(kth):
    text = page("what-is-simulated")
    hours, days = mean_wait(kth, factor=2) / 3600, mean_wait(kth, factor=2, speed=0.5) / 86_400
    assert f"takes the mean wait from {hours:.1f} hours to {days:.0f} days" in text
    first, second, third = (round(mean_wait(kth, factor=factor)) for factor in (1, 2, 5))
    assert f"On KTH-SP2: {first}, {second} and {third} s" in text
