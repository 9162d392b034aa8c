"""Jobs whose fields are drawn independently of each other, as a few lines of TOML describe.

    [inter_arrival]
    distribution = "exponential"
    mean = 300

    [n_hosts]
    distribution = "choice"
    values = [1, 2, 4, 8]
    weights = [4, 2, 1, 1]

    [runtime]
    distribution = "lognormal"
    mu = 7
    sigma = 2
    max = 86400

There may also be tables `user`, `group` and `queue`, drawn alike, `arrivals` and `walltime`.
"""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from noctule.columns import Floats
from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.formats import load_workload
from noctule.synthetic.arrivals import DAY, Arrivals, Bursts, Cycle, cycle_named
from noctule.synthetic.assembly import EXACT, DrawnJobs, Origin, assembled
from noctule.synthetic.distributions import Field, field_of, number, numbers, refusal
from noctule.synthetic.draws import Seed, count, generator
from noctule.synthetic.estimates import WalltimeModel
from noctule.synthetic.walltime_models import walltime_model
from noctule.workload import LABELS, Workload

_REQUIRED = ("inter_arrival", "n_hosts", "runtime")
_TABLES = (*_REQUIRED, *LABELS, "arrivals", "walltime")
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "inter_arrival": {"min": 0},
    "n_hosts": {"min": 1, "round": 1},
    "runtime": {"min": 1, "round": 1},
} | {label: {"min": 0, "round": 1} for label in LABELS}
LOG_COLUMNS = ("inter_arrival", "n_hosts", "runtime", "walltime", *LABELS)


@dataclass(frozen=True, slots=True)
class Description:
    """How each field is drawn, and what is laid over the arrivals and the runtimes."""

    source: str
    fields: Mapping[str, Field]
    arrivals: Arrivals
    walltimes: WalltimeModel


def independent(
    description: str | os.PathLike[str] | Mapping[str, Any],
    n_jobs: int,
    *,
    seed: Seed,
    n_hosts: int | None = None,
    arrivals: Arrivals | None = None,
    walltimes: WalltimeModel | None = None,
    profiles: str = "compute",
) -> Workload:
    """Draw a workload from a TOML file, or from what such a file would say.

    `n_hosts` limits the sizes; `arrivals` and `walltimes` replace what the description says.
    """
    count("n_jobs", n_jobs)
    if n_hosts is not None:
        count("n_hosts", n_hosts)
    said = read_description(description)
    rng = generator(seed)
    values = {name: said.fields[name].draw(rng, n_jobs) for name in _REQUIRED}
    most = math.inf if n_hosts is None else n_hosts
    sizes = np.clip(np.floor(values["n_hosts"]), 1, most).astype(np.int64)
    drawn = DrawnJobs(
        np.cumsum(np.maximum(values["inter_arrival"], 0.0)),
        sizes,
        values["runtime"],
        {
            label: said.fields[label].draw(rng, n_jobs).astype(np.int64)
            for label in LABELS
            if label in said.fields
        },
    )
    origin = Origin(
        "independent", seed, n_hosts or int(sizes.max()), f"described by {Path(said.source).name}"
    )
    return assembled(
        drawn,
        origin,
        rng,
        arrivals=arrivals or said.arrivals,
        walltimes=walltimes or said.walltimes,
        profiles=profiles,
    )


def read_description(description: str | os.PathLike[str] | Mapping[str, Any]) -> Description:
    """Read and check a description."""
    if isinstance(description, Mapping):
        source, folder, tables = "description", Path(), description
    else:
        source, folder = os.fspath(description), Path(description).parent
        tables = _parsed(source, read_bytes(description))
    for key in tables:
        if key not in _TABLES:
            raise InputError(f"{source}: {key}: unknown, expected one of {', '.join(_TABLES)}")
    for key in _REQUIRED:
        if key not in tables:
            raise InputError(f"{source}: {key}: missing, expected a table with a distribution")

    @cache
    def read_column(log: str, column: str) -> Floats:
        return log_column(folder / log, column)

    fields = {
        name: field_of(f"{source}: {name}", tables[name], _DEFAULTS[name], read_column)
        for name in (*_REQUIRED, *LABELS)
        if name in tables
    }
    with _naming(source):
        arrivals = _arrivals(f"{source}: arrivals", tables.get("arrivals", {}))
        walltimes = _walltimes(f"{source}: walltime", tables.get("walltime"))
    return Description(source, fields, arrivals, walltimes)


def log_column(path: str | os.PathLike[str], column: str) -> Floats:
    """Return a column of a log, as `load_workload` reads it, to draw values from."""
    if column not in LOG_COLUMNS:
        expected = ", ".join(LOG_COLUMNS)
        raise InputError(f"{path}: column: got {column!r}, expected one of {expected}")
    workload = load_workload(path)
    values: Floats
    if column == "inter_arrival":
        values = np.diff(workload.submit_time)
    elif column in LABELS:
        labels = workload.labels(column)
        values = np.empty(0) if labels is None else np.array(labels, dtype=np.float64)
        values = values[values >= 0]
    else:
        columns = {"n_hosts": workload.n_hosts, "walltime": workload.walltime}
        values = np.array(columns.get(column, workload.table.amount), dtype=np.float64)
        values = values[np.isfinite(values)]
    if not len(values):
        raise InputError(f"{path}: column: got no {column}, expected at least one")
    return values


@contextmanager
def _naming(source: str) -> Iterator[None]:
    """Say in which file something is wrong where the message does not."""
    try:
        yield
    except InputError as error:
        message = str(error)
        named = message.startswith(f"{source}: ")
        raise InputError(message if named else f"{source}: {message}") from None


def _parsed(source: str, text: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(text.decode("utf-8"))
    except UnicodeDecodeError:
        raise InputError(f"{source}: not a text file, expected TOML") from None
    except RecursionError:
        raise InputError(f"{source}: not valid TOML: nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source}: not valid TOML: {error}") from None
    except ValueError:
        raise InputError(f"{source}: got a number with thousands of digits") from None


def _arrivals(where: str, table: object) -> Arrivals:
    table = _table_with(where, table, ("cycle", "period", "burst_size", "burst_spacing"))
    cycle = table.get("cycle")
    if isinstance(cycle, str):
        cycle = cycle_named(cycle)
    elif cycle is not None:
        period = number(where, table, "period") if "period" in table else DAY
        cycle = Cycle(numbers(where, table, "cycle"), period)
    if "burst_size" not in table:
        return Arrivals(cycle)
    spacing = number(where, table, "burst_spacing") if "burst_spacing" in table else 1.0
    return Arrivals(cycle, Bursts(number(where, table, "burst_size"), spacing))


def _walltimes(where: str, table: object) -> WalltimeModel:
    if table is None:
        return EXACT
    if not isinstance(table, dict) or "model" not in table:
        raise refusal(where, {}, "model", "the name of a model")
    parameters = {key: value for key, value in table.items() if key != "model"}
    return walltime_model(where, table["model"], parameters)


def _table_with(where: str, table: object, keys: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise InputError(f"{where}: got {table!r}, expected a table")
    for key in table:
        if key not in keys:
            raise InputError(f"{where}.{key}: unknown, expected one of {', '.join(keys)}")
    return table
