"""Batsim 4's command line: what it asks for, checked, as one value."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from noctule.batsim.log import Verbosity
from noctule.batsim.option_values import (
    ROLES,
    number_of,
    simgrid_options_of,
    timeout_of,
    whole_number,
)
from noctule.batsim.options import BatsimError, Given
from noctule.batsim.options4 import BatsimCode, read_words
from noctule.units import shown

_MASTER = "master_host"
_ENDPOINT = "tcp://localhost:28000"


@dataclass(frozen=True, slots=True)
class WorkflowFile:
    """A workflow: its name, its file, and when its first tasks are submitted, as was said."""

    name: str
    path: str
    start_text: str | None = None

    @property
    def start(self) -> float:
        """Seconds, NaN if that is not what was said."""
        return 0.0 if self.is_at_once else number_of(self.start_text or "")

    @property
    def is_at_once(self) -> bool:
        """Whether it starts with the simulation, as it was given without a date."""
        return not self.name.startswith("wfc")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatsimRun:
    """All that a command line of Batsim 4 asks for.

    `mmax` is 0 where all compute hosts are offered; `timeout` is None where a scheduler may think
    for ever.
    """

    platform: str
    workloads: tuple[str, ...] = ()
    workflows: tuple[WorkflowFile, ...] = ()
    events: tuple[str, ...] = ()
    master_host: str = _MASTER
    roles: Mapping[str, str]
    energy: bool = False
    socket_endpoint: str = _ENDPOINT
    redis_enabled: bool = False
    redis_hostname: str = "127.0.0.1"
    redis_port: int = 6379
    redis_prefix: str = "default"
    export_prefix: str = "out"
    trace_schedule: bool = True
    trace_host_states: bool = True
    mmax: int = 0
    mmax_workload: bool = False
    forward_profiles: bool = False
    dynamic_jobs: bool = False
    acknowledge_dynamic_jobs: bool = False
    reuse_profiles: bool = False
    verbosity: Verbosity = Verbosity.INFORMATION
    workflow_jobs_limit: int = 0
    ignore_beyond_last_workflow: bool = False
    share_hosts: bool = False
    share_storages: bool = True
    has_scheduler: bool = True
    scheduler_config: str = ""
    simgrid_options: Mapping[str, str]
    forward_unknown_events: bool = False
    timeout: float | None = None
    latency: bool = False


def read_arguments(words: Sequence[str] | Given) -> BatsimRun:
    """Read a command line; whether its files can be read, `refuse_unreadable` tells."""
    given = words if isinstance(words, Given) else read_words(words)
    if "--platform" not in given:
        raise BatsimError("--platform: missing, expected a platform to simulate; --help lists all")
    run = BatsimRun(
        platform=given.one("--platform", ""),
        workloads=given.all("--workload"),
        events=given.all("--events"),
        master_host=given.one("--master-host", _MASTER),
        roles=_roles(given),
        energy="--energy" in given,
        socket_endpoint=given.one("--socket-endpoint", _ENDPOINT),
        redis_enabled="--enable-redis" in given,
        redis_hostname=given.one("--redis-hostname", "127.0.0.1"),
        redis_port=whole_number(given, "--redis-port", 6379, least=1, most=65535),
        redis_prefix=given.one("--redis-prefix", "default"),
        export_prefix=given.one("--export", "out"),
        trace_schedule="--disable-schedule-tracing" not in given,
        trace_host_states="--disable-machine-state-tracing" not in given,
        mmax=whole_number(given, "--mmax", 0),
        mmax_workload="--mmax-workload" in given,
        forward_profiles="--forward-profiles-on-submission" in given,
        dynamic_jobs="--enable-dynamic-jobs" in given,
        acknowledge_dynamic_jobs="--acknowledge-dynamic-jobs" in given,
        reuse_profiles=_reuse(given),
        verbosity=_verbosity(given),
        workflow_jobs_limit=whole_number(given, "--workflow-jobs-limit", 0),
        ignore_beyond_last_workflow="--ignore-beyond-last-workflow" in given,
        share_hosts="--enable-compute-sharing" in given,
        share_storages="--disable-storage-sharing" not in given,
        has_scheduler="--no-sched" not in given,
        scheduler_config=_scheduler_config(given),
        simgrid_options=simgrid_options_of(given),
        forward_unknown_events="--forward-unknown-events" in given,
        timeout=timeout_of(given),
        latency="--latency" in given,
        workflows=_workflows(given),
    )
    if not run.export_prefix:
        raise BatsimError("--export: got nothing, expected what the names of files begin with")
    return run


def refuse_unreadable(run: BatsimRun) -> None:
    """Refuse inputs that cannot be read, all of them at once; the code has a bit for each kind."""
    faults = [
        *_unreadable(BatsimCode.PLATFORM, "platform", [run.platform]),
        *_unreadable(BatsimCode.WORKLOAD, "workload", run.workloads),
        *_unreadable(BatsimCode.WORKLOAD, "events", run.events),
    ]
    for flow in run.workflows:
        faults += _workflow_faults(flow)
    if faults:
        code = 0
        for bit, _ in faults:
            code |= bit
        raise BatsimError("; ".join(complaint for _, complaint in faults), code)


_Faults = Iterator[tuple[BatsimCode, str]]


def _unreadable(code: BatsimCode, option: str, paths: Iterable[str]) -> _Faults:
    for path in paths:
        if not (Path(path).is_file() and os.access(path, os.R_OK)):
            yield code, f"--{option}: {path}: cannot be read, expected a file"


def _workflow_faults(flow: WorkflowFile) -> _Faults:
    if flow.is_at_once:
        yield from _unreadable(BatsimCode.WORKFLOW, "workflow", [flow.path])
        return
    yield from _unreadable(BatsimCode.STARTED_WORKFLOW, "workflow-start", [flow.path])
    where = f"--workflow-start: {flow.path}"
    if flow.start_text is None:
        yield BatsimCode.STARTED_WORKFLOWS, f"{where}: got no date, expected when it starts"
    elif math.isnan(flow.start):
        found = shown(flow.start_text)
        yield BatsimCode.START, f"{where}: got {found}, expected a number of seconds"
    elif flow.start < 0:
        yield BatsimCode.NEGATIVE_START, f"{where}: got {flow.start_text}, expected seconds >= 0"


def execution_context(run: BatsimRun) -> str:
    """Return what --dump-execution-context prints."""
    context = {
        "socket_endpoint": run.socket_endpoint,
        "redis_enabled": run.redis_enabled,
        "redis_hostname": run.redis_hostname,
        "redis_port": run.redis_port,
        "redis_prefix": run.redis_prefix,
        "export_prefix": run.export_prefix,
        "external_scheduler": run.has_scheduler,
    }
    return json.dumps(context, separators=(",", ":"), ensure_ascii=False)


def _verbosity(given: Given) -> Verbosity:
    if "--quiet" in given:
        return Verbosity.QUIET
    text = given.one("--verbosity", Verbosity.INFORMATION)
    try:
        return Verbosity(text)
    except ValueError:
        known = ", ".join(Verbosity)
        raise BatsimError(f"--verbosity: got {shown(text)}, expected one of {known}") from None


def _reuse(given: Given) -> bool:
    if "--enable-profile-reuse" in given and "--enable-dynamic-jobs" not in given:
        raise BatsimError("--enable-profile-reuse: expected --enable-dynamic-jobs with it")
    return "--enable-profile-reuse" in given


def _roles(given: Given) -> dict[str, str]:
    """Read roles by the name of the host; later ones replace earlier ones."""
    roles = {}
    for text in given.all("--add-role-to-hosts"):
        names, _, role = text.partition(":")
        if text.count(":") != 1 or not all(names.split(",")):
            raise BatsimError(
                f"--add-role-to-hosts: got {shown(text)}, expected hosts and a role as in "
                "a,b:storage"
            )
        if role not in ROLES:
            known = ", ".join(ROLES)
            raise BatsimError(f"--add-role-to-hosts: got {shown(role)}, expected one of {known}")
        roles.update(dict.fromkeys(names.split(","), role))
    return roles


def _scheduler_config(given: Given) -> str:
    if "--sched-cfg-file" not in given:
        return given.one("--sched-cfg", "")
    if "--sched-cfg" in given:
        raise BatsimError("--sched-cfg-file: got --sched-cfg as well, expected one of the two")
    path = given.one("--sched-cfg-file", "")
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BatsimError(f"--sched-cfg-file: {path}: got bytes that are not UTF-8 text") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BatsimError(f"--sched-cfg-file: {path}: cannot be read: {reason}") from None


def _workflows(given: Given) -> tuple[WorkflowFile, ...]:
    flows = [WorkflowFile(f"wf{i}", path) for i, path in enumerate(given.all("--workflow"))]
    words = given.all("--workflow-start")
    for i, (path, start) in enumerate(zip_longest(words[::2], words[1::2])):
        flows.append(WorkflowFile(f"wfc{i}", path, start))
    return tuple(flows)
