"""A campaign under way: what is missing is run by some workers, and recorded as it ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import msgspec

from noctule.campaign.about import About, about
from noctule.campaign.description import Campaign
from noctule.campaign.execution import Outcome, Runner
from noctule.campaign.plan import Plan, PlannedRun
from noctule.campaign.results import ResultsWriter, Row, RowsInOrder, gather
from noctule.campaign.specs import RunSpec
from noctule.campaign.store import Numbers, Store
from noctule.errors import InputError

_SYNC_EVERY_S = 2.0


@dataclass(frozen=True, slots=True)
class Task:
    """A run to do."""

    key: str
    spec: RunSpec
    is_native: bool
    row: Row


@dataclass(slots=True)
class Tally:
    """How far a campaign has come."""

    n_runs: int
    n_found: int = 0
    n_done: int = 0
    n_failed: int = 0
    n_synced: int = 0
    began: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    last_failure: str = ""

    @property
    def n_left(self) -> int:
        """Runs that are still to be done."""
        return self.n_runs - self.n_found - self.n_done

    @property
    def elapsed_s(self) -> float:
        """Seconds since the campaign was started."""
        return time.monotonic() - self.began

    @property
    def rate(self) -> float:
        """Runs a second."""
        return self.n_done / self.elapsed_s if self.n_done else 0.0

    @property
    def seconds_left(self) -> float:
        """How long it will take, if it goes on like that."""
        return self.n_left / self.rate if self.n_done else float("inf")


Look = Callable[[Tally], object]


class Workers(Protocol):
    """Whatever does runs."""

    def work(self, progress: Progress) -> None:
        """Do all tasks; call `progress.look` a few times a second; return or raise when done."""


class Progress:
    """The tasks of a campaign, handed out one by one, and its results, taken one by one.

    All of it may be called from any thread.
    """

    def __init__(
        self,
        plan: Plan,
        store: Store,
        rows: RowsInOrder,
        *,
        retry_failed: bool = False,
        look: Look | None = None,
    ) -> None:
        self.tally = Tally(len(plan))
        self._rows = rows
        self._runs: Iterator[PlannedRun] = iter(plan)
        self._store = store
        self._retry_failed = retry_failed
        self._look = look
        self._lock = threading.Lock()
        self._under_way: set[str] = set()
        self._n_written = 0

    def next_task(self) -> Task | None:
        """Return a run that is not recorded yet and that nobody does; None after the last."""
        tasks = self.next_tasks(1)
        return tasks[0] if tasks else None

    def next_tasks(self, n: int) -> list[Task]:
        """Return up to so many such runs, none after the last; one that is not native ends them."""
        while True:
            tasks, others = self._given_out(n)
            if not tasks and not others:
                return []
            found = self._store.complete([task.key for task in tasks])
            todo = [
                task for task, one in zip(tasks, found, strict=True) if self._is_missing(task, one)
            ]
            with self._lock:
                self.tally.n_found += len(tasks) + len(others) - len(todo)
                for task in others:
                    self._rows.fill(task.row, None)
                for task, one in zip(tasks, found, strict=True):
                    if one is not None and task not in todo:
                        self._under_way.discard(task.key)
                        self._rows.fill(task.row, one)
                        self._count(one.error)
            if todo:
                return todo

    def record(self, task: Task, outcome: Outcome) -> None:
        """Keep a result."""
        self.record_all([task], [outcome])

    def record_all(self, tasks: Sequence[Task], outcomes: Sequence[Outcome]) -> None:
        """Keep some results."""
        pairs = list(zip(tasks, outcomes, strict=True))
        written = self._store.write([(task.key, task.spec, one) for task, one in pairs])
        with self._lock:
            for (task, outcome), numbers in zip(pairs, written, strict=True):
                self._under_way.discard(task.key)
                self._rows.fill(task.row, numbers)
                self._n_written += 1
                self.tally.n_done += 1
                self.tally.seconds += outcome.seconds
                self._count(outcome.error)

    def look(self) -> None:
        """Let somebody see how far it has come."""
        if self._look is not None:
            self._look(self.tally)

    def sync(self) -> None:
        """Bring what was recorded to the disk."""
        with self._lock:
            n_written = self._n_written
        if n_written > self.tally.n_synced:
            self._store.sync()
            self.tally.n_synced = n_written

    def _count(self, error: str) -> None:
        if error:
            self.tally.n_failed += 1
            self.tally.last_failure = error

    def _given_out(self, n: int) -> tuple[list[Task], list[Task]]:
        """Return runs that nobody does, and those of the same keys as others under way."""
        tasks: list[Task] = []
        others: list[Task] = []
        with self._lock:
            while len(tasks) < n:
                run = next(self._runs, None)
                if run is None:
                    break
                key = run.spec.key
                task = Task(key, run.spec, run.is_native, self._rows.expect(run, key))
                if key in self._under_way:
                    others.append(task)
                    continue
                self._under_way.add(key)
                tasks.append(task)
                if not task.is_native:
                    break
        return tasks, others

    def _is_missing(self, task: Task, found: Numbers | None) -> bool:
        if found is not None and found.error and self._retry_failed:
            self._store.forget(task.key)
            return True
        return found is None


class _Syncing:
    """Brings results to the disk every now and then, beside the work."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sync, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._progress.sync()

    def _sync(self) -> None:
        while not self._ended.wait(_SYNC_EVERY_S):
            self._progress.sync()


def run_campaign(
    campaign: Campaign,
    folder: str | Path,
    workers: Workers,
    *,
    retry_failed: bool = False,
    look: Look | None = None,
    on_start: Callable[[About], object] | None = None,
) -> Tally:
    """Do what is missing of a campaign, and gather the results of all of it.

    `on_start` gets what the folder will say of itself, once the campaign has been checked.
    Finished runs survive whatever ends this: they are found again when it is called again.
    """
    store = Store(Path(folder))
    plan = Plan(campaign)
    if not len(plan):
        raise InputError(f"{campaign.source}: nothing to run, expected at least one combination")
    with store.opened():
        told = about(campaign, Runner())
        if on_start is not None:
            on_start(told)
        with ResultsWriter(campaign, store) as writer:
            rows = RowsInOrder(writer, store)
            progress = Progress(plan, store, rows, retry_failed=retry_failed, look=look)
            with _Syncing(progress):
                workers.work(progress)
            store.describe(msgspec.json.encode(told))
        if not rows.is_complete:
            gather(plan, store)
    return progress.tally
