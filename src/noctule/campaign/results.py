"""All results of a campaign as one table: a row a run, parameters and metrics as columns."""

from __future__ import annotations

import os
import secrets
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noctule.campaign.description import Campaign
from noctule.campaign.execution import TRIMMED
from noctule.campaign.plan import Plan, PlannedRun
from noctule.campaign.specs import MeasureSpec, Value
from noctule.campaign.store import RESULTS_FILE, Numbers, Store
from noctule.errors import InputError
from noctule.metrics import ATTEMPTS, ENERGY, FOOTPRINT, METRICS, OFFLINE, REPLAY, Metric
from noctule.rates import AMOUNTS
from noctule.saved.parquet import require_pyarrow

if TYPE_CHECKING:
    import pandas as pd

_ROWS_AT_A_TIME = 1000
_MOST_OPEN_ROWS = 5000
DONE, FAILED, MISSING = "done", "failed", "missing"
# with any of these, jobs may be interrupted
_INTERRUPTING = ("events", "windows", "on_failure", "checkpoint_every", "restart_cost")


class ResultsWriter:
    """Writes the table row by row, in the order of the plan; it appears complete or not at all."""

    def __init__(self, campaign: Campaign, store: Store) -> None:
        self._pyarrow, parquet = require_pyarrow()
        self._is_wanted = True
        self._target = store.folder / RESULTS_FILE
        self._partial = self._target.with_name(f".{RESULTS_FILE}.{secrets.token_hex(4)}.partial")
        self._schema = _schema(self._pyarrow, campaign)
        self._columns = _Columns(self._pyarrow, self._schema)
        with self._writing():
            self._writer = parquet.ParquetWriter(self._partial, self._schema, compression="zstd")

    def add(self, run: PlannedRun, key: str, numbers: Numbers | None) -> None:
        """Add a run; what a run does not have is left empty."""
        self._columns.add(run, key, numbers)
        if len(self._columns) == _ROWS_AT_A_TIME:
            self._flush()

    def abandon(self) -> None:
        """Leave the table that is there as it is."""
        self._is_wanted = False

    def __enter__(self) -> ResultsWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None and self._is_wanted:
                self._finish()
            else:
                # what went wrong before is told, and not what it does to a table that nobody gets
                with suppress(OSError):
                    self._writer.close()
        finally:
            self._partial.unlink(missing_ok=True)

    def _finish(self) -> None:
        self._flush()
        with self._writing():
            self._writer.close()
            _bring_to_disk(self._partial)
            self._partial.replace(self._target)

    def _flush(self) -> None:
        with self._writing():
            self._writer.write_table(self._columns.taken())

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(f"{self._target}: cannot be written: {reason}") from error


class _Columns:
    """Rows of the table that are in no file yet."""

    def __init__(self, pyarrow: Any, schema: Any) -> None:
        self._pyarrow, self._schema = pyarrow, schema
        self._columns: dict[str, list[Any]] = {name: [] for name in schema.names}
        self._texts = {field.name for field in schema if field.type == pyarrow.string()}

    def __len__(self) -> int:
        return len(self._columns["key"])

    def add(self, run: PlannedRun, key: str, numbers: Numbers | None) -> None:
        row: dict[str, Any] = {**run.labels, "bound": run.bound, "key": key, "error": ""}
        if numbers is None:
            row["status"] = MISSING
        else:
            row["status"] = FAILED if numbers.error else DONE
            row["error"] = numbers.error
            row |= numbers.metrics
        for name, column in self._columns.items():
            value = row.get(name)
            is_other = name in self._texts and value is not None
            column.append(str(value) if is_other else value)

    def taken(self) -> Any:
        """Return the rows as a table, and forget them."""
        table = self._pyarrow.table(self._columns, schema=self._schema)
        for column in self._columns.values():
            column.clear()
        return table


class RowsInOrder:
    """Runs whose results come in any order, written in the order in which they were expected.

    If one run holds up thousands of others, they are not kept in memory: nothing more is written,
    and `is_complete` says so.
    """

    def __init__(self, writer: ResultsWriter, store: Store) -> None:
        self.is_complete = True
        self._writer = writer
        self._store = store
        self._open: deque[Row] = deque()

    def expect(self, run: PlannedRun, key: str) -> Row:
        """Make room for a run."""
        row = Row(run, key)
        if len(self._open) == _MOST_OPEN_ROWS:
            self.is_complete = False
            self._open.clear()
            self._writer.abandon()
        if self.is_complete:
            self._open.append(row)
        return row

    def fill(self, row: Row, numbers: Numbers | None) -> None:
        """Take a result, or None for one that is in the store; write what has its turn."""
        row.is_filled, row.numbers = True, numbers
        while self._open and self._open[0].is_filled:
            first = self._open.popleft()
            found = first.numbers or self._store.numbers(first.key)
            self._writer.add(first.run, first.key, found)


@dataclass(slots=True)
class Row:
    """A run, and its result once that is there."""

    run: PlannedRun
    key: str
    is_filled: bool = False
    numbers: Numbers | None = None


def gather(plan: Plan, store: Store) -> None:
    """Write the results that are recorded."""
    with ResultsWriter(plan.campaign, store) as writer:
        for run in plan:
            key = run.spec.key
            writer.add(run, key, store.numbers(key))


def results_so_far(campaign: Campaign, store: Store) -> pd.DataFrame:
    """Return what `gather` would write, while runs go on; those that are not done are missing."""
    pyarrow, _ = require_pyarrow()
    columns = _Columns(pyarrow, _schema(pyarrow, campaign))
    for run in Plan(campaign):
        key = run.spec.key
        columns.add(run, key, store.numbers(key))
    table: pd.DataFrame = columns.taken().to_pandas()
    return table


def load_results(folder: str | os.PathLike[str]) -> pd.DataFrame:
    """Return the results of a campaign's folder; bounds and failed runs are among them."""
    _, parquet = require_pyarrow()
    path = Path(folder) / RESULTS_FILE
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected the folder of a campaign")
    try:
        table: pd.DataFrame = parquet.read_table(path).to_pandas()
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    return table


def _schema(pyarrow: Any, campaign: Campaign) -> Any:
    text = pyarrow.string()
    fields: dict[str, Any] = {"workload": text, "seed": pyarrow.int64(), "platform": text}
    fields["policy"] = text
    columns = {**campaign.options, **campaign.varied_values}
    fields |= {name: _type(pyarrow, values) for name, values in columns.items()}
    fields |= {"bound": text, "status": text, "error": text, "key": text}
    may_interrupt = any(name in _INTERRUPTING for name in campaign.options)
    counts_energy = any(value != "off" for value in campaign.options.get("energy", ()))
    offline = OFFLINE if campaign.measures.offline else ()
    energy = (*ENERGY, *_footprint(campaign.measures), *offline) if counts_energy else ()
    replay = REPLAY if "replay" in campaign.options else ()
    for prefix in ("", TRIMMED) if campaign.measures.trims else ("",):
        for metric in (*METRICS, *(ATTEMPTS if may_interrupt else ()), *replay, *energy):
            kind = pyarrow.int64() if metric.name.startswith("n_") else pyarrow.float64()
            fields[f"{prefix}{metric.name}"] = kind
    return pyarrow.schema(list(fields.items()))


def _footprint(measures: MeasureSpec) -> list[Metric]:
    """Return the metrics of the rates that are given."""
    asked = {name for name, (rate, _) in AMOUNTS.items() if getattr(measures, rate) is not None}
    return [metric for metric in FOOTPRINT if metric.name in asked]


def _type(pyarrow: Any, values: Sequence[Value]) -> Any:
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return pyarrow.bool_()
    if kinds == {int}:
        return pyarrow.int64()
    if kinds <= {int, float}:
        return pyarrow.float64()
    return pyarrow.string()


def _bring_to_disk(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
