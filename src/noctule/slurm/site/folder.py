"""The folder of an imported site: files that are documented and read back.

`slurm.conf` with all that it included, `jobs.csv` (the workload and the requests), `recorded.csv`
(what really happened), `site.json`, `report.txt`; `platform.toml` and `workload.json` for commands
that know nothing of Slurm; and what optional files told.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from noctule.columns import KIND_DELAY, Columns, Floats, id_column
from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.formats.batsim_writing import batsim_text
from noctule.formats.event_files import event_lines, load_events
from noctule.formats.platforms import platform_text
from noctule.formats.toml_writing import toml_text
from noctule.formats.windows_toml import load_windows
from noctule.output_file import check_folder, write_folder
from noctule.parts import Parts
from noctule.slurm.conf.associations import read_associations, read_qos
from noctule.slurm.conf.gres import read_gres_conf
from noctule.slurm.conf.lines import Conf
from noctule.slurm.conf.settings import read_settings
from noctule.slurm.conf.topology import read_topology
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.recorded import Recorded
from noctule.slurm.jobs.request_table import (
    read_column,
    read_number,
    read_requests,
    read_table,
    request_columns,
    table_text,
)
from noctule.slurm.site.extras import Usage
from noctule.slurm.site.hosts import platform_of
from noctule.slurm.site.site import SiteExtras, SlurmSite
from noctule.windows import Maintenance, Windows
from noctule.workload import Workload

#: Files that are copied as they were given, by the option that names them.
COPIED = {
    "associations": "associations.txt",
    "qos": "qos.txt",
    "topology": "topology.conf",
    "gres": "gres.conf",
}
_FILES = (
    "slurm.conf",
    "jobs.csv",
    "recorded.csv",
    "site.json",
    "report.txt",
    "platform.toml",
    "workload.json",
    "events.jsonl",
    "reservations.toml",
    "usage.csv",
    *COPIED.values(),
)
_VERSION = 1


def check_site_folder(folder: str | os.PathLike[str], *, force: bool = False) -> None:
    """Refuse a folder that a site must not be written to, before its files are read."""
    check_folder(folder, replaceable=_is_ours, force=force)


def save_site(
    site: SlurmSite,
    folder: str | os.PathLike[str],
    conf: Conf,
    report: ImportReport,
    *,
    copies: Mapping[str, bytes] | None = None,
    force: bool = False,
) -> list[str]:
    """Write a site as a folder, whole or not at all; return the names of its files."""
    names: list[str] = []

    def files() -> Iterator[tuple[str, bytes]]:
        for name, pieces in _pieces(site, conf, report):
            names.append(name)
            yield name, "".join(pieces).encode()
        for option, content in (copies or {}).items():
            names.append(COPIED[option])
            yield COPIED[option], content

    write_folder(folder, files(), replaceable=_is_ours, force=force)
    return names


def _pieces(
    site: SlurmSite, conf: Conf, report: ImportReport
) -> Iterator[tuple[str, Iterable[str]]]:
    yield "slurm.conf", conf_text(conf)
    yield "jobs.csv", table_text(_job_columns(site))
    if site.recorded is not None:
        columns = {"job_id": site.workload.job_ids.tolist(), **site.recorded.columns()}
        yield "recorded.csv", table_text({n: list(map(_cell, c)) for n, c in columns.items()})
    facts = {
        "version": _VERSION,
        "cluster": site.settings.cluster_name,
        "origin": site.origin,
        "workload": site.workload.name,
    }
    yield "site.json", json.dumps(facts, indent=2) + "\n"
    yield "report.txt", (f"{line}\n" for line in report.lines())
    yield "platform.toml", platform_text(site.platform, ".toml")
    yield "workload.json", batsim_text(site.workload, n_hosts=site.platform.n_hosts)
    extras = site.extras
    if extras.outages is not None:
        yield "events.jsonl", event_lines(extras.outages)
    if extras.reservations is not None:
        yield "reservations.toml", toml_text(_windows_document(extras.reservations))
    if extras.usage is not None:
        rows = [(usage.account, usage.user, _cell(usage.raw_usage)) for usage in extras.usage]
        names = ("account", "user", "raw_usage")
        yield "usage.csv", table_text({n: [r[i] for r in rows] for i, n in enumerate(names)})


def conf_text(conf: Conf) -> Iterator[str]:
    """Yield the lines of a configuration, with those of the files that it included."""
    for line in conf.lines:
        words = (f'{k}="{v}"' if " " in v or not v else f"{k}={v}" for k, v in line.entries)
        yield " ".join(words).replace("#", "\\#") + "\n"


def _job_columns(site: SlurmSite) -> dict[str, Sequence[Any]]:
    parts = Parts.of(site.workload)
    return {
        "job_id": parts.job_ids.tolist(),
        "submit_time": _cells(parts.submit_time),
        "runtime": _cells(parts.amount),
        "n_hosts": parts.n_hosts.tolist(),
        "walltime": _cells(parts.walltime),
        "cancel_time": _cells(parts.cancel_time),
        "fails": ["yes" if fails else "" for fails in parts.failing.tolist()],
        **request_columns(site.requests),
    }


def _cells(column: Floats) -> list[Any]:
    """Write a column likewise, quickly where all numbers are whole."""
    if bool(np.all(np.isfinite(column) & (column == np.floor(column)))):
        whole: list[Any] = column.astype(np.int64).tolist()
        return whole
    return list(map(_cell, column.tolist()))


def _cell(value: Any) -> Any:
    """Write whole numbers as such, and nothing for what is not known or never."""
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return ""
    return int(value) if value.is_integer() else value


def _windows_document(windows: Windows) -> dict[str, list[dict[str, Any]]]:
    document: dict[str, list[dict[str, Any]]] = {"maintenance": [], "reservation": []}
    for window in windows.windows:
        entry: dict[str, Any] = {
            "name": window.name,
            "hosts": window.hosts if isinstance(window.hosts, int) else str(window.hosts),
            "from": _cell(window.start),
            "to": _cell(window.end),
        }
        if isinstance(window, Maintenance):
            document["maintenance"].append(entry)
        else:
            document["reservation"].append(entry | {"jobs": list(window.jobs)})
    return {kind: entries for kind, entries in document.items() if entries}


def load_site(folder: str | os.PathLike[str]) -> SlurmSite:
    """Read a folder that `save_site` wrote."""
    home = Path(folder)
    facts = _facts(home)
    settings = read_settings(home / "slurm.conf")
    source = str(home / "jobs.csv")
    columns = read_table(read_bytes(source).decode(errors="replace"), source)
    workload = _workload(columns, facts, source)
    requests = read_requests(columns, len(workload), source)
    path = home / "recorded.csv"
    recorded = _recorded(path, len(workload)) if path.exists() else None
    return SlurmSite(
        settings,
        platform_of(settings),
        workload,
        requests,
        facts["origin"],
        recorded,
        _extras(home, settings.node_table),
    )


def _facts(home: Path) -> dict[str, Any]:
    source = home / "site.json"
    try:
        facts = json.loads(read_bytes(source))
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict) or facts.get("version") != _VERSION:
        raise InputError(f"{source}: got no site, expected what noctule slurm import wrote")
    if not isinstance(facts.get("origin"), int) or not isinstance(facts.get("workload"), str):
        raise InputError(f"{source}: expected an origin and the name of a workload")
    return facts


def _workload(columns: dict[str, list[str]], facts: Mapping[str, Any], source: str) -> Workload:
    needed = ("job_id", "submit_time", "runtime", "n_hosts", "walltime", "cancel_time", "fails")
    missing = [name for name in needed if name not in columns]
    if missing:
        raise InputError(f"{source}: line 1: no column {missing[0]}")

    def numbers(name: str, default: float) -> list[float]:
        return read_column(name, columns[name], default, read_number, source)

    queues = [text.partition(",")[0] for text in columns.get("partitions", [])]
    labels = {
        "user": columns.get("user", []),
        "group": columns.get("account", []),
        "queue": queues,
    }
    return Workload(
        Columns(
            job_ids=id_column(columns["job_id"]),
            submit_time=numbers("submit_time", math.nan),
            n_hosts=numbers("n_hosts", math.nan),
            amount=numbers("runtime", math.nan),
            walltime=numbers("walltime", math.inf),
            kind=[KIND_DELAY] * len(columns["job_id"]),
            failing=[text == "yes" for text in columns["fails"]],
            cancel_time=numbers("cancel_time", math.inf),
        ),
        name=facts["workload"],
        labels={name: column for name, column in labels.items() if any(column)},
        headers={"UnixStartTime": facts["origin"]} if facts["origin"] else None,
        source=source,
    )


def _recorded(path: Path, n_jobs: int) -> Recorded:
    source = str(path)
    columns = read_table(read_bytes(path).decode(errors="replace"), source)
    found: dict[str, list[Any]] = {}
    for name in Recorded.__dataclass_fields__:
        if name not in columns or len(columns[name]) != n_jobs:
            raise InputError(f"{source}: {name}: expected a column of {n_jobs} jobs")
        default, read = _RECORDED.get(name, ("", str))
        found[name] = read_column(name, columns[name], default, read, source)
    return Recorded(**found)


_RECORDED: dict[str, tuple[Any, Any]] = {
    "start": (None, read_number),
    "end": (None, read_number),
    "eligible": (None, read_number),
    "priority": (None, int),
    "n_attempts": (1, int),
}


def _extras(home: Path, table: Any) -> SiteExtras:
    def existing(name: str) -> Path | None:
        return home / name if (home / name).exists() else None

    found: dict[str, Any] = {}
    if path := existing(COPIED["associations"]):
        found["associations"] = read_associations(path)
        if path := existing(COPIED["qos"]):
            found["associations"] = found["associations"].with_qos(read_qos(path))
    if path := existing(COPIED["topology"]):
        found["topology"] = read_topology(path, table)
    if path := existing(COPIED["gres"]):
        found["gres"] = read_gres_conf(path)
    if path := existing("events.jsonl"):
        found["outages"] = load_events(path)
    if path := existing("reservations.toml"):
        found["reservations"] = load_windows(path)
    if path := existing("usage.csv"):
        columns = read_table(read_bytes(path).decode(errors="replace"), str(path))
        usage = read_column("raw_usage", columns.get("raw_usage", []), 0.0, read_number, str(path))
        rows = zip(columns.get("account", []), columns.get("user", []), usage, strict=True)
        found["usage"] = tuple(Usage(*row) for row in rows)
    return SiteExtras(**found)


def _is_ours(path: Path) -> bool:
    return path.is_file() and path.name in _FILES
