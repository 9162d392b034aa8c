"""The inputs of a run, as Batsim's command line names them: platform, workloads, events, workflows.

Hosts have Batsim 4's ids, jobs their full ids: `w0!1` is job 1 of the first workload.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from noctule.batsim.arguments4 import BatsimRun
from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.external_events import ExternalEvents
from noctule.formats.batsim import BatsimFile, read_batsim_file
from noctule.formats.batsim_events import read_batsim_events
from noctule.formats.dax import Workflow, read_dax
from noctule.formats.platforms import load_platform
from noctule.platform import Platform
from noctule.remote.batsim4_writing import BatsimWorkload
from noctule.workload import Job, JobId, Workload

# of SimGrid 3.34, which Batsim 4 is built on; SimGrid 4 has others
_SIMGRID_DEFAULTS = {"network/loopback-bw": "498000000", "network/loopback-lat": "0.000015"}


@dataclass(frozen=True, slots=True)
class StartedWorkflow:
    """A workflow, its name, and when its first tasks are submitted."""

    name: str
    start: float
    workflow: Workflow


@dataclass(frozen=True, slots=True)
class BatsimInputs:
    """All that a run simulates.

    Attributes:
        platform: with as many compute hosts as are offered.
        workload: the jobs of all workloads.
        submitters: ids of the jobs of each workload.
        events: the external events of each file.
        workflows: those that start at once, then those with a date.
        told: workloads and workflows as the scheduler is told of them.
    """

    platform: Platform
    workload: Workload
    submitters: Sequence[Sequence[JobId]]
    events: Sequence[ExternalEvents]
    workflows: Sequence[StartedWorkflow]
    told: Sequence[BatsimWorkload]


def load_inputs(run: BatsimRun) -> BatsimInputs:
    """Read all that a command line names."""
    names = [f"w{i}" for i in range(len(run.workloads))]
    files = [
        read_batsim_file(read_bytes(path), source=path, name=name, full_names=True)
        for name, path in zip(names, run.workloads, strict=True)
    ]
    told = [
        BatsimWorkload(
            name=name,
            path=os.path.abspath(path),  # noqa: PTH100  (links stay, as in Batsim)
            jobs={str(job.id): raw for job, raw in zip(file.jobs, file.raw_jobs, strict=True)},
            profiles=file.raw_profiles,
        )
        for name, path, file in zip(names, run.workloads, files, strict=True)
    ]
    told += [
        BatsimWorkload(flow.name, os.path.abspath(flow.path), {}, {})  # noqa: PTH100
        for flow in run.workflows
    ]
    return BatsimInputs(
        platform=_platform(run, files),
        workload=_joined(run, files),
        submitters=[[job.id for job in file.jobs] for file in files],
        events=[_events(run, path) for path in run.events],
        workflows=[
            StartedWorkflow(flow.name, flow.start, _workflow(flow.path)) for flow in run.workflows
        ],
        told=told,
    )


def _workflow(path: str) -> Workflow:
    return read_dax(read_bytes(path), source=path)


def _events(run: BatsimRun, path: str) -> ExternalEvents:
    forward = run.forward_unknown_events
    events = read_batsim_events(read_bytes(path), source=path, forward_unknown=forward)
    return ExternalEvents.from_events(events, source=path)


def _platform(run: BatsimRun, files: Sequence[BatsimFile]) -> Platform:
    platform = load_platform(
        run.platform,
        host_order="lexicographic",
        master_host=run.master_host,
        roles=run.roles,
    )
    options = {**_SIMGRID_DEFAULTS, **platform.network.options, **run.simgrid_options}
    platform = replace(platform, network=replace(platform.network, options=options))
    limits = [run.mmax] if run.mmax else []
    if run.mmax_workload and files:
        limits.append(max(int(file.headers["nb_res"]) for file in files))
    if not limits:
        return platform
    if min(limits) > platform.n_hosts:
        raise InputError(
            f"{run.platform}: got {platform.n_hosts} compute hosts, expected at least "
            f"{min(limits)}, as --mmax or --mmax-workload asks"
        )
    return platform.with_first_hosts(min(limits))


def _joined(run: BatsimRun, files: Sequence[BatsimFile]) -> Workload:
    """Join workloads: by date, then by the place on the command line, then by id as text."""
    jobs: list[Job] = [job for file in files for job in file.jobs]
    if not run.has_scheduler:
        jobs = [replace(job, submit_time=0.0) for job in jobs]
    elif len(files) > 1:
        jobs.sort(key=lambda job: job.submit_time)
    return Workload.from_jobs(
        jobs,
        profiles={name: profile for file in files for name, profile in file.profiles.items()},
        source=", ".join(run.workloads) or None,
    )
