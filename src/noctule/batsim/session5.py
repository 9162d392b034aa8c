"""One run of Batsim 5's command line: from its inputs, through its decision component, to files."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from noctule.batsim.arguments5 import Batsim5Run, execution_context5
from noctule.batsim.inputs import as_told, joined, read_platform, read_workloads
from noctule.batsim.log import BatsimLog, Verbosity
from noctule.batsim.output_folder import PARTIAL, prepare_files
from noctule.batsim.outputs import BatsimOutcome
from noctule.batsim.outputs5 import OUTPUT_FILES5, output_texts5, version_text5
from noctule.batsim.witness import Witness
from noctule.compression import read_bytes
from noctule.errors import DeadlockError, NoctuleError
from noctule.external_events import ExternalEvents
from noctule.formats.batsim_events import read_batsim5_events
from noctule.output_file import write_file
from noctule.remote.batsim5 import EdcScheduler, EdcSetup, SimulationStopped, read_hello
from noctule.remote.batsim5_profiles import as_told as profile_as_told
from noctule.remote.batsim5_profiles import extra_data_text
from noctule.remote.batsim_workload import BatsimWorkload
from noctule.remote.edc_library import EdcLibrary
from noctule.remote.edc_process import EdcProcess
from noctule.simulation import Simulation
from noctule.workload import Workload

_DEADLOCK = "The simulation could NOT finish because a deadlock was detected in SimGrid"


@dataclass(frozen=True, slots=True)
class _Inputs:
    setup: EdcSetup
    workload: Workload
    events: Sequence[ExternalEvents]


def run_batsim5(run: Batsim5Run, log: BatsimLog) -> None:
    """Do a run; if it fails, what happened so far is in files whose names end with .partial."""
    began = time.perf_counter()
    inputs = _load(run)
    prepare_files(run.export_prefix, OUTPUT_FILES5, make_folder=True)
    _introduce(run, inputs, log)
    with ExitStack() as stack:
        component: EdcLibrary | EdcProcess = _component(run, log)
        stack.enter_context(component)
        hello = read_hello(component.hello, f"{run.component.place}: hello")
        log.info(
            f"Decision component: {hello.decision_component_name} "
            f"{hello.decision_component_version}"
        )
        channel = log.watching(component) if run.verbosity is Verbosity.DEBUG else component
        scheduler = EdcScheduler(inputs.setup, hello.requested_simulation_features, channel)
        witness = Witness(scheduler)
        simulation = _simulation(run, inputs, scheduler, witness)

        def write(suffix: str = "") -> None:
            _write(run, _outcome(simulation, scheduler, witness, inputs, began), suffix)

        try:
            _play(simulation, scheduler, log)
        except BaseException as error:
            # the reason is told, not that its traces could not be written as well
            with suppress(NoctuleError):
                write(PARTIAL)
            if isinstance(error, NoctuleError):
                log.info(f"What happened so far is in {run.export_prefix}*{PARTIAL}.")
            raise
    write()


def _play(simulation: Simulation, scheduler: EdcScheduler, log: BatsimLog) -> None:
    try:
        simulation.run()
    except SimulationStopped:
        log.info(f"The decision component stopped the simulation at {simulation.now:.15g}.")
    except DeadlockError as error:
        raise DeadlockError(f"{_DEADLOCK}: {error}") from None
    scheduler.finish(simulation.now)


def _component(run: Batsim5Run, log: BatsimLog) -> EdcLibrary | EdcProcess:
    where = run.component
    if where.is_library:
        return EdcLibrary(where.place, where.init, method=run.load_method)
    process = EdcProcess(where.place, where.init, timeout=run.timeout)
    if process.warning:
        log.warn(process.warning)
    return process


def _load(run: Batsim5Run) -> _Inputs:
    files = read_workloads(run.workloads)
    told = as_told(run.workloads, files)
    for workload in told:
        _refuse_unknown(workload)
    platform = read_platform(run, files, host_order="natural", simgrid_defaults={})
    events = [
        ExternalEvents.from_events(
            read_batsim5_events(read_bytes(path), source=path, name=f"ee{i}"), source=path
        )
        for i, path in enumerate(run.events)
    ]
    setup = EdcSetup(
        platform=platform,
        workloads=told,
        event_lists={
            f"ee{i}": os.path.abspath(path)  # noqa: PTH100  (links stay, as in Batsim)
            for i, path in enumerate(run.events)
        },
        energy=run.energy,
        arguments=run.words,
        context=execution_context5(run),
        version=version_text5(),
    )
    return _Inputs(setup, joined(run.workloads, files), events)


def _refuse_unknown(workload: BatsimWorkload) -> None:
    """Refuse profiles and data that the protocol has no words for, before they are to be told."""
    for name, raw in workload.profiles.items():
        profile_as_told(workload.name, name, raw)
    for job_id, raw in workload.jobs.items():
        extra_data_text(raw, f"job {job_id}")


def _simulation(
    run: Batsim5Run, inputs: _Inputs, scheduler: EdcScheduler, witness: Witness
) -> Simulation:
    features = scheduler.features
    return Simulation(
        inputs.setup.platform,
        inputs.workload,
        witness,
        inputs.events,
        energy="simgrid" if run.energy else "off",
        share_hosts=True,
        machine=True,
        reject_oversized=False,
        wait_for_timers=True,
        batsim_events=True,
        open_registration=features.dynamic_registration,
        acknowledge_registered=features.acknowledge_dynamic_jobs,
    )


def _outcome(
    simulation: Simulation,
    scheduler: EdcScheduler,
    witness: Witness,
    inputs: _Inputs,
    began: float,
) -> BatsimOutcome:
    return BatsimOutcome(
        simulation.schedule(),
        witness,
        shares_hosts=True,
        first_submission=min(inputs.workload.submit_time[:1].tolist(), default=0.0),
        scheduling_seconds=scheduler.seconds,
        simulation_seconds=time.perf_counter() - began,
    )


def _introduce(run: Batsim5Run, inputs: _Inputs, log: BatsimLog) -> None:
    log.info(f"Batsim version: {version_text5()}")
    for told in inputs.setup.workloads:
        log.info(f"Workload '{told.name}' corresponds to workload file '{told.path}'.")
    for note in inputs.setup.platform.notes:
        log.warn(note)
    log.info(f"Batsim's export prefix is '{run.export_prefix}'.")


def _write(run: Batsim5Run, outcome: BatsimOutcome, suffix: str) -> None:
    texts = output_texts5(
        outcome,
        trace_host_states=run.trace_host_states,
        trace_power_states=run.trace_power_states,
    )
    for name, pieces in texts:
        write_file(f"{run.export_prefix}{name}{suffix}", pieces, force=True)
