"""Requests for what a configuration has: the rest is left out and counted.

A log outlives configurations: partitions, features, licences, nodes and GPUs that jobs once asked
for may be gone, and a model can only look up what is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from noctule.errors import InputError
from noctule.slurm.conf.gres import Gres
from noctule.slurm.conf.hostlist import compress_hosts, expand_hosts
from noctule.slurm.conf.settings import SlurmSettings
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.requests import Requests

_FEATURE = re.compile(r"[A-Za-z_][\w.:-]*")


def known_requests(
    requests: Requests, settings: SlurmSettings, ids: Sequence[str], report: ImportReport
) -> Requests:
    """Return the requests without what the configuration does not have."""
    site = _Site(settings)
    columns: dict[str, Sequence[Any]] = dict(requests.told)
    for name, keep in site.rules.items():
        if name in columns:
            columns[name] = _kept(name, columns[name], keep, ids, report)
    return Requests(len(requests), columns)


def known_dependencies(requests: Requests, ids: Sequence[str], report: ImportReport) -> Requests:
    """Return the requests without dependencies on jobs that are not there."""
    if "dependencies" not in requests.told:
        return requests
    known = set(ids)
    found = []
    for job_id, wanted in zip(ids, requests.told["dependencies"], strict=True):
        kept = tuple(one for one in wanted if one.kind == "singleton" or one.job_id in known)
        if len(kept) < len(wanted):
            report.apply("dependencies: on jobs that were dropped, left out", f"job {job_id}")
        found.append(kept)
    return Requests(len(requests), {**requests.told, "dependencies": found})


def _kept(
    name: str,
    column: Sequence[Any],
    keep: Callable[[Any], Any],
    ids: Sequence[str],
    report: ImportReport,
) -> list[Any]:
    known: dict[Any, Any] = {}
    found = []
    words = name.replace("_", " ")
    for job_id, value in zip(ids, column, strict=True):
        if value not in known:
            known[value] = keep(value) if value else value
        found.append(known[value])
        if known[value] != value:
            rule = f"{words}: not all in slurm.conf, what is not is left out"
            report.apply(rule, f"job {job_id}")
    return found


class _Site:
    """The names that a configuration has."""

    def __init__(self, settings: SlurmSettings) -> None:
        self.partitions = {partition.name for partition in settings.partitions}
        self.nodes = settings.node_table.index
        self.licenses = {name for name, _ in settings.licenses}
        self.features = {feature for node in settings.nodes for feature in node.features}
        gres = {gres for node in settings.nodes for gres in node.gres}
        self.gres = {(one.name, kind) for one in gres for kind in ("", one.kind)}
        self.rules: dict[str, Callable[[Any], Any]] = {
            "partitions": self._partitions,
            "required_nodes": self._hosts,
            "excluded_nodes": self._hosts,
            "licenses": lambda asked: tuple(one for one in asked if one[0] in self.licenses),
            "features": self._features,
            **dict.fromkeys(("gres_per_node", "gres_per_job", "gres_per_task"), self._gres),
        }

    def _partitions(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        """Leave out those that are gone, unless nothing is left: then the job is dropped."""
        return tuple(name for name in asked if name in self.partitions) or asked

    def _hosts(self, asked: str) -> str:
        try:
            names = expand_hosts(asked)
        except InputError:
            return ""  # the name of a file, or a list that was cut
        known = [name for name in names if name in self.nodes]
        return asked if len(known) == len(names) else compress_hosts(known)

    def _features(self, asked: str) -> str:
        return asked if set(_FEATURE.findall(asked)) <= self.features else ""

    def _gres(self, asked: tuple[Gres, ...]) -> tuple[Gres, ...]:
        return tuple(one for one in asked if (one.name, one.kind) in self.gres)
