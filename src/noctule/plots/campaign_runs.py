"""The runs of campaigns whose jobs were kept, with names for figures of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from noctule.campaign.about import CAMPAIGN_FILE, read_about
from noctule.campaign.grid import MAIN_AXES
from noctule.campaign.results import DONE, load_results
from noctule.campaign.store import JOBS_FILE, Store
from noctule.errors import InputError
from noctule.schedule import Schedule


def is_campaign(folder: str | os.PathLike[str]) -> bool:
    """Tell whether a folder is that of a campaign."""
    return (Path(folder) / CAMPAIGN_FILE).is_file()


def kept_jobs(folder: str | os.PathLike[str]) -> Iterator[tuple[dict[str, Any], Schedule]]:
    """Yield the row of each run that is done in the table of a campaign, and its jobs."""
    everything = load_results(folder)
    table = everything[(everything["bound"] == "") & (everything["status"] == DONE)]
    store = Store(Path(folder))
    for row in table.to_dict("records"):
        path = store.place(row["key"]) / JOBS_FILE
        if not path.is_file():
            raise InputError(
                f"{folder}: the jobs of its runs are not there, expected a campaign with "
                "keep_jobs = true"
            )
        yield {str(name): value for name, value in row.items()}, Schedule.from_jobs_parquet(path)


def kept_runs(
    folder: str | os.PathLike[str], *, join_parts: bool = False
) -> list[tuple[str, list[tuple[str, Schedule]]]]:
    """Return the runs whose jobs a campaign has kept, in groups that differ by their replay only.

    Groups and runs have the names of what differs in them. With `join_parts`, variants of one
    workload are in one group, and runs that differ by nothing else have one name.
    """
    runs = list(kept_jobs(folder))
    if join_parts:
        for row, _ in runs:
            row["workload"] = row["workload"].partition("(")[0]
    options = read_about(Path(folder)).options
    differing = [
        name for name in (*MAIN_AXES, *options) if len({str(row[name]) for row, _ in runs}) > 1
    ]
    of_runs = [name for name in differing if name == "replay"] or differing
    if join_parts:
        of_runs = [name for name in differing if name != "workload"]
    of_groups = [name for name in differing if name not in of_runs]
    groups: dict[str, list[tuple[str, Schedule]]] = {}
    for row, schedule in runs:
        groups.setdefault(_label(row, of_groups), []).append((_label(row, of_runs), schedule))
    return list(groups.items())


def _label(row: Mapping[str, Any], columns: Sequence[str]) -> str:
    return ", ".join(str(row[name]) for name in columns)
