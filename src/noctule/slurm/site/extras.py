"""Files of a site beside its configuration and accounting: outages, reservations, usage.

`sacctmgr show event`, `sacctmgr show reservation` and `sshare` print tables between bars; each is
optional, and dates are like those of `sacct`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from noctule._core import HostSet
from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.external_events import ExternalEvent, ExternalEvents, Kind
from noctule.slurm.conf.hostlist import expand_hosts
from noctule.slurm.conf.settings import SlurmSettings
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.stamps import Stamps
from noctule.slurm.site.hosts import first_hosts, hosts_of_node
from noctule.units import shown
from noctule.windows import Maintenance, Reservation, Windows

EVENT_COMMAND = (
    "SLURM_TIME_FORMAT=%s sacctmgr --parsable2 show event start={start} "
    "format=NodeName,TimeStart,TimeEnd,State,Reason"
)
RESERVATION_COMMAND = (
    "SLURM_TIME_FORMAT=%s sacctmgr --parsable2 show reservation start={start} "
    "format=Name,NodeNames,Start,End,Flags"
)
SHARE_COMMAND = "sshare --all --parsable2"
# sacctmgr prints other names of columns than it is asked for
_PRINTED = {"NodeName": "NodeNames", "TimeStart": "Start", "TimeEnd": "End"}
_STARTS: dict[Kind, Kind] = {"failed": "restored", "unavailable": "available"}


@dataclass(frozen=True, slots=True)
class Usage:
    """What an association had used when the log began; `user` is "" for an account."""

    account: str
    user: str
    raw_usage: float


@dataclass(frozen=True, slots=True)
class _Row:
    where: str
    values: Mapping[str, str]

    def time(self, name: str, stamps: Stamps) -> int | None:
        text = self.values[name]
        try:
            return stamps.read(text)
        except ValueError:
            raise InputError(f"{self.where}: {name}: got {shown(text)}, expected a time") from None
        except InputError as error:
            raise InputError(f"{self.where}: {name}: {error}") from None


class SiteMap:
    """Hosts of nodes, and dates as seconds of the workload's clock."""

    def __init__(self, settings: SlurmSettings, origin: int, stamps: Stamps) -> None:
        """Take the configuration and the date of time 0."""
        self.origin = origin
        self.stamps = stamps
        self.index = settings.node_table.index
        self._first = first_hosts(settings)
        self._count = [hosts_of_node(settings, node) for node in settings.nodes]

    def hosts(self, names: Iterable[str]) -> list[int]:
        """Return the hosts of nodes; those of unknown nodes are left out."""
        found: list[int] = []
        for name in names:
            i = self.index.get(name)
            if i is not None:
                found += range(self._first[i], self._first[i] + self._count[i])
        return found

    def date(self, time: int | None) -> float | None:
        """Return a date as seconds of the workload's clock, at least 0; None if not known."""
        return None if time is None else max(0.0, float(time - self.origin))


def read_outages(
    path: str | os.PathLike[str], site: SiteMap, report: ImportReport
) -> ExternalEvents:
    """Read when nodes were down or drained."""
    spans: dict[str, list[tuple[float, float | None, Kind]]] = {}
    source = os.fspath(path)
    for line, row in enumerate(_table(path, ("NodeName", "TimeStart", "TimeEnd", "State")), 2):
        names = row.values["NodeName"].strip()
        start = site.date(row.time("TimeStart", site.stamps))
        end = site.date(row.time("TimeEnd", site.stamps))
        if not names or start is None:
            report.drop("events: of the whole cluster, or without a start", source, line)
            continue
        is_down = any(word in row.values["State"].upper() for word in ("DOWN", "FAIL"))
        for name in expand_hosts(names, f"{row.where}: NodeName"):
            if name not in site.index:
                report.drop("events: of a node that is not in slurm.conf", source, line)
            elif end is None or end > 0:
                kind: Kind = "failed" if is_down else "unavailable"
                spans.setdefault(name, []).append((start, end, kind))
    events = [e for name, found in spans.items() for e in _events(site.hosts([name]), found)]
    return ExternalEvents.from_events(events, source=source)


def _events(
    hosts: list[int], spans: list[tuple[float, float | None, Kind]]
) -> Iterable[ExternalEvent]:
    """Yield when hosts go and come back; spans that overlap are one, of the kind of the first."""
    spans.sort(key=lambda span: span[0])
    merged: list[tuple[float, float | None, Kind]] = []
    for start, end, kind in spans:
        if merged and (merged[-1][1] is None or start <= merged[-1][1]):
            begin, before, first = merged[-1]
            last = None if before is None or end is None else max(before, end)
            merged[-1] = (begin, last, first)
        else:
            merged.append((start, end, kind))
    for start, end, kind in merged:
        yield ExternalEvent(start, kind, HostSet(hosts))
        if end is not None:
            yield ExternalEvent(end, _STARTS[kind], HostSet(hosts))


def read_reservations(
    path: str | os.PathLike[str],
    site: SiteMap,
    report: ImportReport,
    *,
    jobs_in: Mapping[str, Sequence[str]],
) -> Windows:
    """Read reservations; `jobs_in` are the jobs that named each."""
    windows: list[Maintenance | Reservation] = []
    source = os.fspath(path)
    rows = _table(path, ("Name", "NodeNames", "Start", "End", "Flags"), printed=_PRINTED)
    for line, row in enumerate(rows, 2):
        name = row.values["Name"]
        start = site.date(row.time("Start", site.stamps))
        end = site.date(row.time("End", site.stamps))
        names = expand_hosts(row.values["NodeNames"], f"{row.where}: NodeNames")
        hosts = site.hosts(names)
        if start is None or end is None or not hosts or end <= start:
            report.drop("reservations: without nodes of slurm.conf, or without time", source, line)
            continue
        title = name if all(window.name != name for window in windows) else f"{name} {line}"
        if "MAINT" in row.values["Flags"].upper():
            windows.append(Maintenance(HostSet(hosts), start, end, title))
        else:
            jobs = tuple(jobs_in.get(name, ()))
            windows.append(Reservation(HostSet(hosts), start, end, jobs=jobs, name=title))
    return Windows(windows, source=source)


def read_usage(path: str | os.PathLike[str]) -> tuple[Usage, ...]:
    """Read what `sshare` prints: raw usage of accounts and users."""
    found = []
    for row in _table(path, ("Account", "User", "RawUsage")):
        text = row.values["RawUsage"].strip()
        if not text.isdecimal():
            raise InputError(f"{row.where}: RawUsage: got {shown(text)}, expected a number >= 0")
        account, user = row.values["Account"].strip(), row.values["User"].strip()
        found.append(Usage(account, user, float(text)))
    return tuple(found)


def _table(
    path: str | os.PathLike[str], needed: Sequence[str], *, printed: Mapping[str, str] = {}
) -> Iterable[_Row]:
    source = os.fspath(path)
    lines = read_bytes(path).decode(errors="replace").splitlines()
    names = [name.strip() for name in lines[0].rstrip("|").split("|")] if lines else []
    header = [printed.get(name, name) for name in names]
    missing = [name for name in needed if name not in header]
    if missing:
        raise InputError(
            f"{source}: line 1: no column {missing[0]}, expected a table with {', '.join(needed)}"
        )
    for number, line in enumerate(lines[1:], start=2):
        values = line.split("|")
        if not line.strip():
            continue
        if len(values) < len(header):
            raise InputError(
                f"{source}: line {number}: {len(values)} columns, expected {len(header)}"
            )
        yield _Row(f"{source}: line {number}", dict(zip(header, values, strict=False)))
