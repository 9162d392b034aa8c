"""The tables of the page about Slurm are those that the command prints."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.slow
def test_the_tables_are_what_the_command_prints(shared):
    folder = shared / "truth" / "slurm"
    if not (folder / "poisson.csv").exists():
        pytest.skip(f"no {folder}/poisson.csv")
    names = runpy.run_path(str(DOCS / "slurm_fidelity.py"))
    assert names["page_tables"]() == names["tables"](folder)
