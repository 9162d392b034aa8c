"""Accounts, users and QOS: what `sacctmgr dump` writes, and the table of `sacctmgr show qos`.

A dump is a line a cluster, parent, account or user: `Account - 'cs':Fairshare=2:GrpTRES=cpu=40`. It
has no QOS; those come from a table between bars, or, for files written by hand, from lines
`QOS - 'high':Priority=10` of the same form.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.slurm.conf.lines import Place
from noctule.slurm.conf.tres import read_tres
from noctule.slurm.conf.values import (
    AGE,
    MINUTES,
    TEXT,
    WORDS,
    Given,
    Kind,
    number,
    real,
    setting,
    told,
)
from noctule.units import shown

_LINE = re.compile(r"\s*(Cluster|Parent|Account|User|QOS)\s+-\s+(.*)", re.IGNORECASE)
# a colon within `gres/gpu:tesla=4` does not end a value
SPECIFICATION = re.compile(
    r"""([A-Za-z]\w*)\s*=\s*('[^']*'|"[^"]*"|(?:gres/[\w-]+:(?=[\w.-]+=[0-9-])|[^:])*)""", re.ASCII
)
_COUNT = number(0, endless=True)


def _read_limits(text: str) -> tuple[tuple[str, int], ...]:
    return tuple((name, amount) for name, amount in read_tres(text).items() if amount >= 0)


_TRES = Kind("TRES", _read_limits, "amounts such as cpu=40,mem=2G,gres/gpu=4")


def _read_shares(text: str) -> int | None:
    if text.lower() == "parent":
        return None
    if not text.isdecimal():
        raise ValueError
    return int(text)


_SHARES = Kind("number or parent", _read_shares, "a number of shares, or parent")


@dataclass(frozen=True, slots=True)
class LimitSet:
    """Limits that an association or a QOS has; None and () where there is none."""

    grp_tres: tuple[tuple[str, int], ...] = setting("GrpTRES", _TRES, (), "Of all running jobs.")
    grp_tres_mins: tuple[tuple[str, int], ...] = setting("GrpTRESMins", _TRES, (), "Ever used.")
    grp_tres_run_mins: tuple[tuple[str, int], ...] = setting(
        "GrpTRESRunMins", _TRES, (), "Of all running jobs, to their limit."
    )
    grp_jobs: int | None = setting("GrpJobs", _COUNT, None, "Running.")
    grp_jobs_accrue: int | None = setting("GrpJobsAccrue", _COUNT, None, "Whose age counts.")
    grp_submit_jobs: int | None = setting(
        "GrpSubmitJobs", _COUNT, None, "Waiting or running.", aliases=("GrpSubmit",)
    )
    grp_wall: int | None = setting("GrpWall", MINUTES, None, "Minutes of all jobs.")
    max_tres_per_job: tuple[tuple[str, int], ...] = setting(
        "MaxTRESPerJob", _TRES, (), "Of one job.", aliases=("MaxTRES",)
    )
    max_tres_per_node: tuple[tuple[str, int], ...] = setting(
        "MaxTRESPerNode", _TRES, (), "Of one job on each node."
    )
    max_tres_mins_per_job: tuple[tuple[str, int], ...] = setting(
        "MaxTRESMinsPerJob", _TRES, (), "Of one job.", aliases=("MaxTRESMins",)
    )
    max_wall: int | None = setting(
        "MaxWallDurationPerJob",
        MINUTES,
        None,
        "Minutes of one job.",
        aliases=("MaxWall", "MaxWallDuration", "MaxWallPerJob"),
    )
    max_jobs: int | None = setting("MaxJobs", _COUNT, None, "Running, of one association.")
    max_jobs_accrue: int | None = setting("MaxJobsAccrue", _COUNT, None, "Whose age counts.")
    max_submit_jobs: int | None = setting(
        "MaxSubmitJobs", _COUNT, None, "Waiting or running.", aliases=("MaxSubmit",)
    )
    min_prio_threshold: int | None = setting(
        "MinPrioThreshold", _COUNT, None, "To be planned.", aliases=("MinPrioThresh",)
    )


@dataclass(frozen=True, slots=True)
class Association:
    """An account, or a user in one; `shares` None means those of the parent."""

    account: str
    user: str = ""
    partition: str = setting("Partition", TEXT, "", "Where it holds; all if empty.")
    parent: str = ""
    shares: int | None = setting(
        "Fairshare", _SHARES, 1, "Raw shares.", aliases=("Share", "Shares", "FairShare")
    )
    qos: tuple[str, ...] = setting("QOS", WORDS, (), "That may be used.", aliases=("QOSLevel",))
    default_qos: str = setting("DefaultQOS", TEXT, "", "Of jobs that name none.")
    priority: int | None = setting("Priority", _COUNT, None, "Of the priority plugin.")
    default_account: str = setting("DefaultAccount", TEXT, "", "Of a user.")
    limits: LimitSet = field(default_factory=LimitSet)
    place: Place = field(default=Place("", 0), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Qos:
    """A quality of service."""

    name: str
    priority: int | None = setting("Priority", _COUNT, 0, "Of the priority plugin.")
    preempt: tuple[str, ...] = setting("Preempt", WORDS, (), "QOS that make way for it.")
    preempt_mode: str = setting("PreemptMode", TEXT, "cluster", "What happens to its jobs.")
    preempt_exempt_time: int | None = setting("PreemptExemptTime", AGE, None, "In seconds.")
    grace_time: int | None = setting("GraceTime", AGE, 0, "In seconds.")
    flags: tuple[str, ...] = setting("Flags", WORDS, (), "NoReserve, DenyOnLimit and others.")
    usage_factor: float = setting("UsageFactor", real(), 1.0, "Of what its jobs use.")
    usage_threshold: float | None = setting(
        "UsageThreshold", real(), None, "Of fair share, to start.", aliases=("UsageThres",)
    )
    limit_factor: float | None = setting("LimitFactor", real(), None, "Of associations' limits.")
    max_tres_per_user: tuple[tuple[str, int], ...] = setting(
        "MaxTRESPerUser", _TRES, (), "Of running jobs.", aliases=("MaxTRESPU",)
    )
    max_jobs_per_user: int | None = setting(
        "MaxJobsPerUser", _COUNT, None, "Running.", aliases=("MaxJobsPU",)
    )
    max_submit_per_user: int | None = setting(
        "MaxSubmitJobsPerUser",
        _COUNT,
        None,
        "Waiting or running.",
        aliases=("MaxSubmitJobsPU", "MaxSubmitPU"),
    )
    max_jobs_accrue_per_user: int | None = setting(
        "MaxJobsAccruePerUser", _COUNT, None, "Whose age counts.", aliases=("MaxJobsAccruePU",)
    )
    max_tres_per_account: tuple[tuple[str, int], ...] = setting(
        "MaxTRESPerAccount", _TRES, (), "Of running jobs.", aliases=("MaxTRESPA",)
    )
    max_jobs_per_account: int | None = setting(
        "MaxJobsPerAccount", _COUNT, None, "Running.", aliases=("MaxJobsPA",)
    )
    max_submit_per_account: int | None = setting(
        "MaxSubmitJobsPerAccount",
        _COUNT,
        None,
        "Waiting or running.",
        aliases=("MaxSubmitJobsPA", "MaxSubmitPA"),
    )
    max_jobs_accrue_per_account: int | None = setting(
        "MaxJobsAccruePerAccount", _COUNT, None, "Whose age counts.", aliases=("MaxJobsAccruePA",)
    )
    min_tres: tuple[tuple[str, int], ...] = setting("MinTRES", _TRES, (), "Of a job at least.")
    limits: LimitSet = field(default_factory=LimitSet)

    def has_flag(self, name: str) -> bool:
        """Whether it has a flag, whatever its case."""
        return name.lower() in (flag.lower() for flag in self.flags)


@dataclass(frozen=True, slots=True)
class Associations:
    """The tree of accounts, with the users in them, parents before children, and the QOS."""

    cluster: str
    accounts: tuple[Association, ...]
    users: tuple[Association, ...]
    qos: tuple[Qos, ...] = ()
    notes: tuple[str, ...] = ()

    def user(self, name: str, account: str = "", partition: str = "") -> Association | None:
        """Return what holds for a user's job: of its partition first, or its default account."""
        mine = [found for found in self.users if found.user == name]
        if not account:
            account = next((found.default_account for found in mine if found.default_account), "")
        mine = [found for found in mine if found.account == account or not account]
        exact = next((found for found in mine if found.partition == partition), None)
        return exact or next((found for found in mine if not found.partition), None)

    def with_qos(self, qos: Iterable[Qos]) -> Associations:
        """Return the same associations with these QOS."""
        return replace(self, qos=tuple(qos))


def read_associations(path: str | os.PathLike[str]) -> Associations:
    """Read what `sacctmgr dump CLUSTER file=PATH` wrote."""
    return parse_associations(read_bytes(path).decode(errors="replace"), os.fspath(path))


def parse_associations(text: str, name: str = "dump") -> Associations:
    """Read the text of a dump."""
    reader = _DumpReader(name)
    for number_, line in enumerate(text.split("\n"), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            reader.take(line, Place(name, number_))
    return reader.associations()


def read_qos(path: str | os.PathLike[str]) -> tuple[Qos, ...]:
    """Read the table that `sacctmgr --parsable2 show qos` prints."""
    return parse_qos(read_bytes(path).decode(errors="replace"), os.fspath(path))


def parse_qos(text: str, name: str = "qos") -> tuple[Qos, ...]:
    """Read the text of a table of QOS."""
    lines = text.splitlines()
    header = lines[0].rstrip("|").split("|") if lines else []
    if "Name" not in header:
        raise InputError(
            f"{name}: line 1: no column Name, expected what sacctmgr --parsable2 show qos prints"
        )
    found = []
    for number_, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        place = Place(name, number_)
        values = line.split("|")
        if len(values) < len(header):
            raise InputError(f"{place}: {len(values)} columns, expected {len(header)}")
        row = dict(zip(header, values, strict=False))
        given = {k.lower(): Given(k, v, place) for k, v in row.items() if v != ""}
        found.append(_qos(row["Name"], given))
    return tuple(found)


def _qos(name: str, given: Mapping[str, Given]) -> Qos:
    return Qos(name, **told(Qos, given), limits=LimitSet(**told(LimitSet, given)))


class _DumpReader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.cluster = ""
        self.parent = "root"
        self.accounts: dict[str, Association] = {"root": Association("root")}
        self.users: dict[tuple[str, str, str], Association] = {}
        self.qos: list[Qos] = []

    def take(self, line: str, place: Place) -> None:
        match = _LINE.fullmatch(line.rstrip())
        if match is None:
            raise InputError(
                f"{place}: got {shown(line.strip())}, expected a line such as "
                "Account - 'cs':Fairshare=2"
            )
        entity, given = _specifications(match[2], place)
        getattr(self, f"_{match[1].lower()}")(entity, given, place)

    def associations(self) -> Associations:
        if not self.cluster:
            raise InputError(f"{self.name}: no Cluster line, expected what sacctmgr dump writes")
        accounts, users = tuple(self.accounts.values()), tuple(self.users.values())
        return Associations(self.cluster, accounts, users, tuple(self.qos))

    def _cluster(self, entity: str, given: dict[str, Given], place: Place) -> None:
        self.cluster = entity
        self.accounts["root"] = _association("root", given, place)

    def _parent(self, entity: str, given: dict[str, Given], place: Place) -> None:
        if given or entity not in self.accounts:
            raise InputError(f"{place}: Parent {shown(entity)}: no account of the lines before it")
        self.parent = entity

    def _account(self, entity: str, given: dict[str, Given], place: Place) -> None:
        if entity in self.accounts and self.accounts[entity].place.line:
            where = self.accounts[entity].place
            raise InputError(f"{place}: Account {shown(entity)}: stands at {where} too")
        self.accounts[entity] = replace(_association(entity, given, place), parent=self.parent)

    def _user(self, entity: str, given: dict[str, Given], place: Place) -> None:
        found = replace(_association(self.parent, given, place), user=entity, parent=self.parent)
        key = (entity, self.parent, found.partition)
        if key in self.users:
            where = self.users[key].place
            raise InputError(f"{place}: User {shown(entity)}: stands at {where} too")
        self.users[key] = found

    def _qos(self, entity: str, given: dict[str, Given], _: Place) -> None:
        self.qos.append(_qos(entity, given))


def _association(account: str, given: dict[str, Given], place: Place) -> Association:
    values: dict[str, Any] = told(Association, given)
    return Association(account, **values, limits=LimitSet(**told(LimitSet, given)), place=place)


def _specifications(text: str, place: Place) -> tuple[str, dict[str, Given]]:
    """Split 'name':Key=value:Key='v a l' into the name and its values."""
    match = re.match(r"""('[^']*'|"[^"]*"|[^:]*)(?::|$)""", text)
    assert match is not None  # the last alternative takes anything
    found: dict[str, Given] = {}
    at = match.end()
    while at < len(text):
        spec = SPECIFICATION.match(text, at)
        if spec is None or (spec.end() < len(text) and text[spec.end()] != ":"):
            raise InputError(f"{place}: got {shown(text[at:])}, expected Key=value")
        found[spec[1].lower()] = Given(spec[1], spec[2].strip("'\""), place)
        at = spec.end() + 1
    return match[1].strip("'\" "), found
