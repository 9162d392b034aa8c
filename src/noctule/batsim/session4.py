"""One run of Batsim 4's command line: from its inputs, through its scheduler, to its files."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from noctule.batsim.arguments4 import BatsimRun
from noctule.batsim.inputs import BatsimInputs, load_inputs
from noctule.batsim.log import BatsimLog
from noctule.batsim.output_folder import PARTIAL, prepare_files
from noctule.batsim.outputs import BatsimOutcome
from noctule.batsim.outputs4 import OUTPUT_FILES, output_texts, version_text
from noctule.batsim.witness import Witness
from noctule.batsim.workflows import WorkflowRules, Workflows
from noctule.errors import InputError, NoctuleError
from noctule.machine import Machine
from noctule.messages import Decision, Event, JobSubmitted, StartJob
from noctule.output_file import write_file
from noctule.policy import Policy, View
from noctule.remote.batsim4 import BatsimScheduler, BatsimSetup, Channel
from noctule.remote.endpoint import Asking
from noctule.simulation import Simulation


def run_batsim(run: BatsimRun, log: BatsimLog, channel: Channel | None = None) -> None:
    """Do a run; if it fails, what happened so far is in files whose names end with .partial.

    The scheduler is at the other end of the `channel`, or of the endpoint that the run names.
    """
    if run.redis_enabled:
        raise InputError(
            "--enable-redis: there is no redis here; without the option, jobs and profiles go "
            "through the protocol"
        )
    began = time.perf_counter()
    inputs = load_inputs(run)
    prepare_files(f"{run.export_prefix}_", OUTPUT_FILES)
    _introduce(run, inputs, log)
    with ExitStack() as stack:
        players = _Players(run, inputs, log)
        if run.has_scheduler and channel is not None:
            players.connect(channel)
        elif run.has_scheduler:
            asking = stack.enter_context(Asking(run.socket_endpoint, timeout=run.timeout))
            if asking.warning:
                log.warn(asking.warning)
            players.connect(asking)
        simulation = _simulation(run, inputs, players.witness)
        try:
            simulation.run()
            players.finish(simulation.now)
        except BaseException as error:
            # the reason is told, not that its traces could not be written as well
            with suppress(NoctuleError):
                _write(run, players.outcome(simulation, began), PARTIAL)
            if isinstance(error, NoctuleError):
                log.info(f"What happened so far is in {run.export_prefix}_*{PARTIAL}.")
            raise
    _write(run, players.outcome(simulation, began))


@dataclass(slots=True)
class _Players:
    """Who decides in a run, one around the other."""

    run: BatsimRun
    inputs: BatsimInputs
    log: BatsimLog
    scheduler: BatsimScheduler | None = None
    workflows: Workflows | None = None
    witness: Witness = field(default_factory=lambda: Witness(_StartAll()))

    def connect(self, channel: Channel) -> None:
        """Let a scheduler at the other end of a channel decide."""
        run, inputs = self.run, self.inputs
        self.scheduler = BatsimScheduler(setup_of(run, inputs), self.log.watching(channel))
        policy: Policy = self.scheduler
        if inputs.workflows:
            rules = WorkflowRules(
                limit=run.workflow_jobs_limit,
                drops_late_jobs=run.ignore_beyond_last_workflow,
                has_static_jobs=bool(run.workloads),
                is_open=run.dynamic_jobs,
            )
            policy = self.workflows = Workflows(self.scheduler, inputs.workflows, rules)
        self.witness = Witness(policy)

    def finish(self, now: float) -> None:
        """Tell the scheduler that it is over."""
        if self.scheduler is not None:
            self.scheduler.finish(now)
            for note in self.scheduler.notes:
                self.log.warn(note)

    def outcome(self, simulation: Simulation, began: float) -> BatsimOutcome:
        """Return what there is to write down."""
        return BatsimOutcome(
            simulation.schedule(),
            self.witness,
            shares_hosts=self.run.share_hosts or not self.run.has_scheduler,
            has_jobs=self.run.has_scheduler,
            dropped=self.workflows.dropped if self.workflows else frozenset(),
            first_submission=_first_submission(self.run, self.inputs),
            scheduling_seconds=self.scheduler.seconds if self.scheduler else 0.0,
            simulation_seconds=time.perf_counter() - began,
        )


class _StartAll:
    """Starts all jobs when they come, each on the first hosts, whoever else is there."""

    def decide(self, view: View, events: Sequence[Event]) -> Iterator[Decision]:  # noqa: ARG002
        for event in events:
            if isinstance(event, JobSubmitted):
                yield StartJob(event.job, range(event.job.n_hosts))


def setup_of(run: BatsimRun, inputs: BatsimInputs) -> BatsimSetup:
    """Return what the scheduler is told at the beginning."""
    return BatsimSetup(
        platform=inputs.platform,
        workloads=inputs.told,
        share_hosts=run.share_hosts,
        share_storages=run.share_storages,
        energy=run.energy,
        forward_profiles=run.forward_profiles,
        dynamic_jobs=run.dynamic_jobs,
        acknowledge_dynamic_jobs=run.acknowledge_dynamic_jobs,
        reuse_profiles=run.reuse_profiles,
        forward_unknown_events=run.forward_unknown_events,
        exact_dates=run.latency,
        scheduler_config=run.scheduler_config,
        redis_hostname=run.redis_hostname,
        redis_port=run.redis_port,
        redis_prefix=run.redis_prefix,
    )


def _simulation(run: BatsimRun, inputs: BatsimInputs, policy: Policy) -> Simulation:
    has_scheduler = run.has_scheduler
    return Simulation(
        inputs.platform,
        inputs.workload,
        policy,
        inputs.events if has_scheduler else None,
        submitters=inputs.submitters if run.latency and has_scheduler else None,
        energy="simgrid" if run.energy else "off",
        share_hosts=run.share_hosts or not has_scheduler,
        share_storages=run.share_storages or not has_scheduler,
        machine=True,
        report_ranks=True,
        reject_oversized=False,
        wait_for_timers=True,
        batsim_latency=run.latency and has_scheduler,
        batsim_events=has_scheduler,
        open_registration=has_scheduler and (run.dynamic_jobs or bool(inputs.workflows)),
        acknowledge_registered=run.acknowledge_dynamic_jobs or bool(inputs.workflows),
    )


def _first_submission(run: BatsimRun, inputs: BatsimInputs) -> float:
    """Return when the first job was submitted; with latency, not before a greeting was heard."""
    starts = [flow.start for flow in inputs.workflows]
    first = min([*inputs.workload.submit_time[:1].tolist(), *starts], default=0.0)
    platform = inputs.platform
    if not (run.latency and run.energy) or platform.master is None:
        return first
    machine = Machine(platform)
    machine.send("greeting", platform.master.name, platform.master.name, 1)
    machine.run_until()
    return max(first, machine.now)


def _introduce(run: BatsimRun, inputs: BatsimInputs, log: BatsimLog) -> None:
    for told in inputs.told:
        log.info(f"Workload '{told.name}' corresponds to workload file '{told.path}'.")
    log.info(f"Batsim version: {version_text()}")
    platform = inputs.platform
    log.info(
        "The machines have been created successfully. "
        f"There are {platform.n_hosts} computing machines.",
        about="machines",
    )
    for note in platform.notes:
        log.warn(note)
    log.info(f"Batsim's export prefix is '{run.export_prefix}'.")


def _write(run: BatsimRun, outcome: BatsimOutcome, suffix: str = "") -> None:
    texts = output_texts(
        outcome, trace_host_states=run.trace_host_states, trace_schedule=run.trace_schedule
    )
    for name, pieces in texts:
        write_file(f"{run.export_prefix}_{name}{suffix}", pieces, force=True)
