"""What jobs of the accounting asked for: its columns, and what the submitting line adds to them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noctule.slurm.conf.gres import Gres
from noctule.slurm.conf.settings import SlurmSettings
from noctule.slurm.conf.tres import gres_counts
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.requests import FIELDS, Requests, SlurmDependency
from noctule.slurm.jobs.sacct import SacctJob
from noctule.slurm.jobs.sacct_rows import Attempt
from noctule.slurm.jobs.submit_line import asked_on_line

_OLD_MEMORY = re.compile(r"([0-9]+(?:\.[0-9]+)?)([KMGT]?)([nc])", re.ASCII)
_MEGABYTES = {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1024**2}
_SCHEDULERS = {"SchedMain": "Main", "SchedBackfill": "Backfill", "SchedSubmit": "Submit"}


def sacct_requests(
    jobs: Sequence[SacctJob],
    settings: SlurmSettings,
    origin: int,
    report: ImportReport,
    source: str,
) -> Requests:
    """Return what jobs asked for; dates are seconds after `origin`."""
    builder = _Builder(settings, origin, report, source, _Index.of(jobs))
    requests = [builder.fields(job) for job in jobs]
    names = {name for fields in requests for name in fields}
    columns = {
        name: [fields.get(name, default) for fields in requests]
        for name, default in FIELDS.items()
        if name in names
    }
    if not any(d.kind == "singleton" for f in requests for d in f.get("dependencies", ())):
        columns.pop("name", None)  # nothing else needs it
    return Requests(len(jobs), columns)


def scheduler_of(flags: str) -> str:
    """Return who started a job: Main, Backfill, Submit, or "" where it is not known."""
    return next((who for flag, who in _SCHEDULERS.items() if flag in flags), "")


@dataclass(frozen=True, slots=True)
class _Index:
    """Ids of jobs by the ids that dependencies name: their own, and those of arrays."""

    own: Mapping[str, str]
    arrays: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, jobs: Sequence[SacctJob]) -> _Index:
        own: dict[str, str] = {}
        arrays: dict[str, list[str]] = {}
        for job in jobs:
            own.setdefault(job.first.raw_id, job.id)
            own[job.id] = job.id
            if job.first.array:
                arrays.setdefault(job.first.array, []).append(job.id)
        return cls(own, {name: tuple(tasks) for name, tasks in arrays.items()})

    def find(self, text: str) -> tuple[str, ...]:
        """Return the jobs that a dependency names: all tasks of an array, or one job."""
        name = text.removesuffix("_*")
        if name in self.arrays:
            return self.arrays[name]
        return (self.own[name],) if name in self.own else ()


@dataclass(frozen=True, slots=True)
class _Told:
    """What ReqTRES tells of a request; 0 and None where it does not."""

    cpus: int
    nodes: int
    memory_mb: int | None
    gres: Mapping[str, tuple[Gres, ...]]
    licenses: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, tres: Mapping[str, int], n_nodes: int) -> _Told:
        nodes = tres.get("node", 0)
        licenses = tuple(
            (name.removeprefix("license/"), count)
            for name, count in tres.items()
            if name.startswith("license/")
        )
        gres = _gres(tres, nodes or n_nodes or 1)
        return cls(tres.get("cpu", 0), nodes, tres.get("mem"), gres, licenses)


def _gres(tres: Mapping[str, int], nodes: int) -> dict[str, tuple[Gres, ...]]:
    """Return generic resources; those with a type are not added to their sum without one."""
    counts = gres_counts(tres)
    typed = {name.partition(":")[0] for name in counts if ":" in name}
    wanted = {n: c for n, c in counts.items() if c and (":" in n or n not in typed)}
    if not wanted:
        return {}
    is_even = all(count % nodes == 0 for count in wanted.values())
    gres = tuple(
        Gres(*_name_and_kind(name), count // nodes if is_even else count)
        for name, count in wanted.items()
    )
    return {"gres_per_node" if is_even else "gres_per_job": gres}


class _Builder:
    def __init__(
        self,
        settings: SlurmSettings,
        origin: int,
        report: ImportReport,
        source: str,
        index: _Index,
    ) -> None:
        self.settings = settings
        self.origin = origin
        self.report = report
        self.source = source
        self.index = index
        self.is_linear = settings.select.is_linear
        self._lines: dict[tuple[str, int], dict[str, Any]] = {}
        self._known: dict[int, _Told] = {}

    def fields(self, job: SacctJob) -> dict[str, Any]:
        """Return the fields of a request that differ from the default."""
        row = job.first
        asked = dict(self._asked(row))
        asked.pop("has_begin", None)
        told = self._told(row)
        found: dict[str, Any] = {
            "partitions": self._partitions(row, asked.pop("partitions", ())),
            "limit": row.limit,
            "user": row.user,
            "account": row.account,
            "qos": row.qos,
            "reservation": row.reservation,
            "features": row.constraints,
            "name": row.name,
            "suspended": float(job.last.suspended),
            "licenses": told.licenses,
            **self._sizes(row, told, asked),
            **self._memory(row, told, asked),
        }
        if told.gres and not any(name.startswith("gres_per") for name in asked):
            found |= told.gres
        if row.array:
            found |= {"array": row.array, "array_task": row.task, "array_throttle": row.throttle}
        if row.het_group:
            found["het_group"] = row.het_group
        found |= {name: value for name, value in asked.items() if not found.get(name)}
        return found | self._dates(job, found)

    def _told(self, row: Attempt) -> _Told:
        """Return what ReqTRES tells; rows with the same text share one."""
        known = self._known.get(id(row.asked))
        if known is None:
            known = self._known[id(row.asked)] = _Told.of(row.asked, row.nodes)
        return known

    def _asked(self, row: Attempt) -> Mapping[str, Any]:
        if not row.submit_line:
            return {}
        component = int(row.job_id.partition("+")[2] or 0) if row.het_group else 0
        key = row.submit_line, component
        known = self._lines.get(key)
        if known is None:
            known, unread = asked_on_line(*key)
            self._lines[key] = known
            for option in unread:
                self.report.apply(f"SubmitLine: {option} not understood", self.source, row.line)
        return known

    def _partitions(self, row: Attempt, asked: tuple[str, ...]) -> tuple[str, ...]:
        recorded = tuple(word for word in row.partition.split(",") if word)
        if len(asked) > 1 and (not recorded or set(recorded) <= set(asked)):
            return asked
        return recorded or asked

    def _sizes(self, row: Attempt, told: _Told, asked: dict[str, Any]) -> dict[str, Any]:
        nodes = told.nodes or row.nodes or 1
        found: dict[str, Any] = {"cpus": told.cpus or row.cpus, "min_nodes": nodes}
        if "min_nodes" in asked:
            found["min_nodes"], found["max_nodes"] = asked.pop("min_nodes"), asked.pop("max_nodes")
        elif row.given.get("node", nodes) > nodes or (nodes == 1 and not self.is_linear):
            found["max_nodes"] = None  # CPUs were asked for, on any number of nodes
        return found

    def _memory(self, row: Attempt, told: _Told, asked: dict[str, Any]) -> dict[str, Any]:
        if "memory_mb" in asked:
            return {name: asked.pop(name) for name in ("memory_mb", "memory_is_per_cpu")}
        old = _OLD_MEMORY.fullmatch(row.memory) if row.memory else None
        if old is not None:
            megabytes = round(float(old[1]) * _MEGABYTES[old[2]])
            return {"memory_mb": megabytes, "memory_is_per_cpu": old[3] == "c"}
        if told.memory_mb is None:
            return {}
        return {"memory_mb": -(-told.memory_mb // (told.nodes or row.nodes or 1))}

    def _dates(self, job: SacctJob, found: Mapping[str, Any]) -> dict[str, Any]:
        """Return when it may start: by its dependencies where they are known, else by a date."""
        row = job.first
        dates: dict[str, Any] = {}
        if found.get("dependencies"):
            dates["dependencies"] = self._dependencies(job, found["dependencies"])
        waits = bool(dates.get("dependencies"))
        if row.eligible is None:
            if not waits and job.cancel is not None:
                dates["held"] = True
                self.report.apply("never eligible: held for ever", self.source, row.line)
            return dates
        if row.eligible > row.submit and not waits:
            dates |= {"begin": float(row.eligible - self.origin), "held": False}
            self.report.apply("Eligible after Submit: begins then", self.source, row.line)
        elif found.get("held"):
            dates["held"] = False  # it was released, or would not be eligible
        return dates

    def _dependencies(
        self, job: SacctJob, wanted: Sequence[SlurmDependency]
    ) -> tuple[SlurmDependency, ...]:
        found: list[SlurmDependency] = []
        for dependency in wanted:
            if dependency.kind == "singleton":
                found.append(dependency)
                continue
            ids = self._targets(job, dependency)
            if not ids:
                self.report.apply(
                    "dependency on a job that is not in the log: left out",
                    self.source,
                    job.first.line,
                )
            found += [SlurmDependency(dependency.kind, i, dependency.minutes) for i in ids]
        return tuple(found)

    def _targets(self, job: SacctJob, dependency: SlurmDependency) -> tuple[str, ...]:
        ids = self.index.find(dependency.job_id)
        if dependency.kind == "aftercorr" and job.first.array:
            task = f"{dependency.job_id.partition('_')[0]}_{job.first.task}"
            ids = tuple(i for i in ids if i == task) or ids
        return tuple(i for i in ids if i != job.id)


def _name_and_kind(text: str) -> tuple[str, str]:
    name, _, kind = text.partition(":")
    return name, kind
