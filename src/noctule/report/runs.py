"""What a page shows of each run: its schedule, its name, and what is written beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from noctule.campaign.store import RESULT_FILE
from noctule.errors import InputError
from noctule.external_events import ExternalEvents
from noctule.run import (
    MANIFEST_FILE,
    Manifest,
    events_again,
    read_manifest,
    windows_again,
    workload_again,
)
from noctule.saved.parquet import PARQUET_JOBS_FILE
from noctule.schedule import Schedule
from noctule.windows import Windows
from noctule.workload import Workload

#: What may be known of who submitted a job.
LABELS = ("user", "group", "queue")


@dataclass(frozen=True, slots=True)
class ReportRun:
    """A named schedule, and the manifest of its run where there is one.

    `labels` holds those of LABELS that are known, with an entry a row of the schedule that is None
    for nobody. `notes` are sentences about what could not be found out. `windows`, `workload` and
    `events` are what the run was given, where they are known: they tell more about waits and hosts.
    """

    name: str
    schedule: Schedule
    manifest: Manifest | None = None
    labels: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    windows: Windows | None = None
    workload: Workload | None = None
    events: ExternalEvents | None = None

    @classmethod
    def of(cls, name: str, schedule: Schedule) -> ReportRun:
        """Take a schedule with what it tells by itself."""
        return cls(name, schedule, labels=_told(schedule))


def load_report_run(name: str, directory: str | os.PathLike[str]) -> ReportRun:
    """Read the folder of a run, of this simulator or of Batsim.

    Files in Batsim's format do not tell users: they are taken from the workload that the manifest
    names, if it is still there and unchanged.
    """
    folder = Path(directory)
    schedule = _schedule(folder)
    labels = _told(schedule)
    if not (folder / MANIFEST_FILE).is_file():
        return ReportRun(name, schedule, labels=labels)
    try:
        manifest = read_manifest(folder / MANIFEST_FILE)
    except InputError as error:
        return ReportRun(name, schedule, labels=labels, notes=(f"no manifest: {error}",))
    notes: list[str] = []
    windows = workload = events = None
    try:
        workload = workload_again(manifest, folder)
        labels = _labels_of(workload, schedule) | labels
    except InputError as error:
        notes += [] if labels else [f"users are not known: {error}"]
    try:
        windows = windows_again(manifest, folder)
    except InputError as error:
        notes.append(f"windows are not known: {error}")
    try:
        events = events_again(manifest, folder)
    except InputError as error:
        notes.append(f"what happened to hosts is not known: {error}")
    return ReportRun(name, schedule, manifest, labels, tuple(notes), windows, workload, events)


def _schedule(folder: Path) -> Schedule:
    """Read a folder; that of a campaign's run holds nothing but jobs."""
    jobs = folder / PARQUET_JOBS_FILE
    if jobs.is_file() and (folder / RESULT_FILE).is_file():
        return Schedule.from_jobs_parquet(jobs)
    return Schedule.load(folder)


def job_order(schedule: Schedule) -> npt.NDArray[np.intp]:
    """Return the rows of a schedule as pages have them: by submission, then by id.

    Runs of one workload thereby have their jobs in the same places.
    """
    ids = schedule.column("job_id")
    by_id = np.argsort(ids if ids.dtype.kind in "iu" else ids.astype(str), kind="stable")
    return by_id[np.argsort(schedule.column("submit_time")[by_id], kind="stable")]


def _told(schedule: Schedule) -> dict[str, Sequence[Any]]:
    """Return the labels that the tables of a schedule have; those that say nothing not."""
    rows = schedule.record.job.tolist()
    found: dict[str, Sequence[Any]] = {}
    for name in LABELS:
        known = [label for table in schedule.tables for label in _plain(table.labels(name), table)]
        if any(label is not None for label in known):
            found[name] = [known[row] for row in rows]
    return found


def _labels_of(workload: Workload, schedule: Schedule) -> dict[str, Sequence[Any]]:
    """Return the labels of a workload as the rows of a schedule; those that say nothing not."""
    place = {str(job_id): i for i, job_id in enumerate(workload.job_ids.tolist())}
    nobody = len(place)
    ids = schedule.column("job_id").tolist()
    # further attempts of job 17 are 17#2, 17#3
    rows = [place.get(str(job_id).partition("#")[0], nobody) for job_id in ids]
    found: dict[str, Sequence[Any]] = {}
    for name in LABELS:
        known = [*_plain(workload.labels(name), workload), None]
        if any(label is not None for label in known):
            found[name] = [known[row] for row in rows]
    return found


def _plain(labels: Sequence[Any] | np.ndarray[Any, Any] | None, jobs: Sized) -> list[Any]:
    if labels is None:
        return [None] * len(jobs)
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu":
        return [None if label < 0 else label for label in labels.tolist()]
    return list(labels)
