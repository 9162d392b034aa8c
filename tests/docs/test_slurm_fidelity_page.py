"""The tables of the page about Slurm are those that the command prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from noctule.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "background" / "slurm-fidelity.md"
TABLES = dict(
    re.findall(r"noctule slurm compare \S+/(\w+)\n\n((?:    .*\n)+)", PAGE.read_text() + "\n")
)


def test_the_page_has_the_tables_of_all_sets():
    assert list(TABLES) == ["poisson", "bursty", "flood", "parts", "cons", "multifactor"]


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_what_the_command_prints(name, shared, capsys):
    path = shared / "truth" / "slurm" / name
    if not Path(f"{path}.csv").exists():
        pytest.skip(f"no {path}.csv")
    assert main(["slurm", "compare", str(path)]) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert [line.strip("\n")[4:].rstrip() for line in TABLES[name].splitlines()] == printed
