"""Writes the tables of docs/background/slurm-fidelity.md anew: python docs/slurm_fidelity.py DIR.

DIR holds the published sets; see "Sets of a real run" in docs/reference/slurm.md.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from noctule.console import plain_table
from noctule.printing.fidelity import comparison_result
from noctule.slurm.truth.compare import compare_with_truth
from noctule.slurm.truth.sets import read_truth

SETS = ("poisson", "bursty", "flood", "parts", "cons", "multifactor")
PAGE = Path(__file__).parent / "background" / "slurm-fidelity.md"


def tables(folder: Path) -> str:
    """Return what `noctule slurm compare` prints of all sets."""
    parts = []
    for name in SETS:
        table = comparison_result(compare_with_truth(read_truth(folder / name))).table
        assert table is not None
        lines = [f"noctule slurm compare DIR/{name}", *plain_table(table)]
        parts.append("\n".join(line.rstrip() for line in lines))
    return "\n\n".join(parts)


def page_tables() -> str:
    """Return the tables that the page has."""
    found = re.search(r"```text\n(.*?)\n```", PAGE.read_text(), flags=re.DOTALL)
    assert found is not None
    return found[1]


if __name__ == "__main__":
    text = PAGE.read_text().replace(page_tables(), tables(Path(sys.argv[1])))
    PAGE.write_text(text)
