"""Small campaigns for the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from noctule.campaign import Campaign, load_results

EXAMPLES = Path(__file__).parents[2] / "examples"
LOG = """; MaxProcs: 4
1 0 -1 100 3 -1 -1 3 100 -1 1 1 1 1 1 -1 -1 -1
2 1 -1 100 4 -1 -1 4 200 -1 1 1 1 1 1 -1 -1 -1
3 2 -1 50 1 -1 -1 1 60 -1 1 1 1 1 1 -1 -1 -1
"""


def described(folder: Path, **changes: Any) -> Campaign:
    """Return a campaign on three jobs and four hosts, with something else in it."""
    (folder / "log.swf").write_text(LOG)
    description: dict[str, Any] = {"workloads": {"log": "log.swf"}, "policies": {"easy": "easy"}}
    return Campaign.of(description | changes, folder=folder)


def results_of(folder: Path, *names: str) -> list[tuple[Any, ...]]:
    """Return some columns of a campaign's table, row by row."""
    table = load_results(folder)
    return [tuple(row) for row in table[list(names)].itertuples(index=False)]
