"""The files about carbon and price in the folder of a run.

footprint.csv has a line a user, job_footprint.csv a line a job; carbon.csv and price.csv are the
rates themselves, in seconds of the run, for those who look at the folder later.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from noctule.footprint import Footprint
from noctule.formats.rates import REPEAT, load_rates
from noctule.rates import Rate, Rates

FOOTPRINT_FILE = "footprint.csv"
JOB_FOOTPRINT_FILE = "job_footprint.csv"
RATE_FILES = {"carbon": "carbon.csv", "price": "price.csv"}
#: The files of runs with rates.
FOOTPRINT_FILE_NAMES = (FOOTPRINT_FILE, JOB_FOOTPRINT_FILE, *RATE_FILES.values())

_ROWS_AT_ONCE = 1 << 12


def footprint_texts(footprint: Footprint) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the name and the text, in pieces, of each file."""
    yield FOOTPRINT_FILE, _csv_text(_user_rows(footprint))
    yield JOB_FOOTPRINT_FILE, _csv_text(_job_rows(footprint))
    for what, name in RATE_FILES.items():
        rate: Rate | None = getattr(footprint.rates, what)
        if rate is not None:
            yield name, _csv_text(_rate_rows(rate))


def load_saved_rates(directory: str | os.PathLike[str]) -> Rates:
    """Read the rates that a run was given, if it was, from its folder."""
    paths = (Path(directory) / name for name in RATE_FILES.values())
    carbon, price = (str(path) if path.is_file() else None for path in paths)
    return load_rates(carbon, price)


def _user_rows(footprint: Footprint) -> Iterator[Sequence[Any]]:
    """Yield the users, then jobs of users who are not known, what is nobody's, and the run."""
    names = list(footprint.of_jobs)
    yield ["part", "user", "n_jobs", *names]
    nobody, run = {"n_jobs": 0} | footprint.nobody, {"n_jobs": len(footprint.schedule)}
    users = [("unknown" if u is None else "user", u, of) for u, of in footprint.by_user.items()]
    others = [("nobody", None, nobody), ("run", None, run | footprint.run)]
    for part, user, amounts in (*users, *others):
        numbers = _decimals(amounts[name] for name in names)
        yield [part, "" if user is None else user, amounts["n_jobs"], *numbers]


def _job_rows(footprint: Footprint) -> Iterator[Sequence[Any]]:
    """Yield what each job that ran and ended has."""
    columns: Mapping[str, Any] = footprint.of_jobs
    schedule = footprint.schedule
    labels = [schedule.column(name).tolist() for name in ("job_id", "workload", "user")]
    yield ["job_id", "workload_name", "user", *columns]
    amounts = (column.tolist() for column in columns.values())
    for job_id, workload, user, *row in zip(*labels, *amounts, strict=True):
        yield [job_id, workload, "" if user is None else user, *_decimals(row)]


def _rate_rows(rate: Rate) -> Iterator[Sequence[Any]]:
    yield ["time", "value"]
    yield from zip(map(repr, rate.time), map(repr, rate.value), strict=True)
    if rate.period is not None:
        yield [repr(rate.time[0] + rate.period), REPEAT]


def _decimals(amounts: Iterable[float]) -> list[str]:
    """Return joules, then kilograms and euros, as text; nothing where they are not known."""
    digits = (6, 9, 9)
    return [
        "" if math.isnan(amount) else f"{amount:.{n}f}"
        for amount, n in zip(amounts, digits, strict=False)
    ]


def _csv_text(rows: Iterator[Sequence[Any]]) -> Iterator[str]:
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(some)
        yield text.getvalue()
