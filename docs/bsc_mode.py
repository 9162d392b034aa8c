"""Writes the table of docs/background/bsc-mode.md anew: python docs/bsc_mode.py DIR.

DIR holds the published sets; see "Sets of a real run" in docs/reference/slurm.md.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from noctule.slurm.truth.compare import bsc_starts, compare_with_truth
from noctule.slurm.truth.fidelity import NAMES, deviation, spread
from noctule.slurm.truth.sets import read_truth

SETS = (
    *("bsc_anl200_x4", "bsc_anl200_x10", "poisson", "bursty", "flood", "parts"),
    *("cons", "multifactor"),
)
PAGE = Path(__file__).parent / "background" / "bsc-mode.md"
TABLE = re.compile(r"\| set \|.*?\n(?=\n)", re.DOTALL)


def rows(folder: Path) -> Iterator[str]:
    """Yield how far both modes are from each set."""
    yield "| set | `bsc`: wait, response, slowdown | Slurm's clocks: the same, ensemble of 24 |\n"
    yield "|---|---|---|\n"
    for name in SETS:
        truth = read_truth(folder / name)
        steps = deviation(truth.jobs, bsc_starts(truth)).relative
        clocks = spread(truth.jobs, compare_with_truth(truth).ensemble).means
        cells = [
            " ".join(f"{100 * getattr(found, measure):+.1f}" for measure in NAMES) + " %"
            for found in (steps, clocks)
        ]
        yield f"| `{name}` | {cells[0]} | {cells[1]} |\n"


def table(folder: Path) -> str:
    """Return the table."""
    return "".join(rows(folder))


def page_table() -> str:
    """Return the table that the page has."""
    found = TABLE.search(PAGE.read_text())
    assert found is not None
    return found[0]


if __name__ == "__main__":
    PAGE.write_text(PAGE.read_text().replace(page_table(), table(Path(sys.argv[1]))))
