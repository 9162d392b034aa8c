"""How users fared in some runs, as a table and as data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from noctule.console import Result, Table, number_text
from noctule.errors import InputError
from noctule.user_metrics import COLUMNS, LATENESS_COLUMNS, per_user

if TYPE_CHECKING:
    import pandas as pd

    from noctule.schedule import Schedule


def users_result(runs: Iterable[tuple[str, Schedule]], *, threshold: float) -> Result:
    """Return a line for each user of each run."""
    data: list[dict[str, Any]] = []
    lines: list[tuple[str, dict[str, Any]]] = []
    for name, schedule in runs:
        table = per_user(schedule, threshold=threshold)
        if all(user is None for user in table.index):
            raise InputError(
                f"{name}: no job has a user, expected a run that tells them: one with --replay, or "
                "one saved as Parquet"
            )
        users = list(_rows(table))
        data.append({"run": name, "users": users})
        lines += [(name, user) for user in users]
    known = {column for _, user in lines for column in user}
    shown = [column for column in (*COLUMNS, *LATENESS_COLUMNS) if column in known]
    rows = [
        [name, str(user["user"]), *(number_text(user.get(column, math.nan)) for column in shown)]
        for name, user in lines
    ]
    return Result({"runs": data}, Table(["run", "user", *shown], rows))


def _rows(table: pd.DataFrame) -> Iterable[dict[str, Any]]:
    columns = {name: table[name].tolist() for name in table.columns}
    for i, user in enumerate(table.index.tolist()):
        yield {"user": user} | {name: values[i] for name, values in columns.items()}
