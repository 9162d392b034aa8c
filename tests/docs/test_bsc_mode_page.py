"""The table of the page about BSC's simulator is what the modes give."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.slow
def test_the_table_is_what_both_modes_give(shared):
    folder = shared / "truth" / "slurm"
    if not (folder / "bsc_anl200_x4.csv").exists():
        pytest.skip(f"no {folder}/bsc_anl200_x4.csv")
    names = runpy.run_path(str(DOCS / "bsc_mode.py"))
    assert names["page_table"]() == names["table"](folder)
