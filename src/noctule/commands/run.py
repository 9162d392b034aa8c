"""noctule run and noctule rerun."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noctule.commands.options import output_options, reading_options, simulation_options
from noctule.console import Console, ExitCode, speaking

if TYPE_CHECKING:
    from noctule.run import Execution, RunOptions, SimulationOptions
    from noctule.workload import Workload


@click.command()
@click.argument("workload")
@click.option("--hosts", "n_hosts", type=click.IntRange(min=1), help="Default: the file's header.")
@click.option("--platform", "platform_file", metavar="FILE", help="SimGrid XML, or our TOML.")
@click.option(
    "--host-order",
    type=click.Choice(["natural", "lexicographic"]),
    default="natural",
    show_default=True,
    help="Order of names that gives the hosts of a platform file their ids.",
)
@click.option("--speed", type=float, default=1.0, help="Relative speed: 2 takes half the time.")
@click.option("--policy", required=True, metavar="SPEC", help="As in easy(order=sjf).")
@click.option("--events", metavar="FILE", help="Hosts that fail, return, come and go.")
@click.option("--windows", metavar="FILE", help="Maintenances and reservations.")
@click.option("--sessions", metavar="CUT:TIME|DIR", help="Of users who react: arrival:60min.")
@click.option("-o", "--output", metavar="DIR", help="Folder to write the run to.")
@click.option("--force", is_flag=True, help="Replace a run that is there already.")
@click.option(
    "--carbon", metavar="FILE|NUMBER", help="Grams of CO2 a kWh: time,value or one number."
)
@click.option("--price", metavar="FILE|NUMBER", help="Euros a kWh: time,value or one number.")
@click.option("--watch", is_flag=True, help="Serve a page on loopback that follows the run.")
@reading_options
@simulation_options()
@output_options
def run(
    *,
    workload: str,
    n_hosts: int | None,
    platform_file: str | None,
    host_order: str,
    speed: float,
    policy: str,
    events: str | None,
    windows: str | None,
    sessions: str | None,
    output: str | None,
    force: bool,
    carbon: str | None,
    price: str | None,
    watch: bool,
    processors: str,
    walltime_factor: float | None,
    profiles: str,
    reference_speed: float | None,
    dependencies: bool,
    as_json: bool,
    quiet: bool,
    **simulation: Any,
) -> ExitCode:
    """Simulate WORKLOAD (SWF or Batsim JSON, may be compressed) under a policy."""
    from noctule import run as runs

    options = runs.RunOptions(
        workload=workload,
        policy=policy,
        platform=runs.PlatformOptions(n_hosts, speed, platform_file, host_order),
        reading=runs.ReadingOptions(
            processors, walltime_factor, profiles, reference_speed, dependencies
        ),
        simulation=_simulation_options(sessions=sessions, **simulation),
        footprint=runs.FootprintOptions(carbon, price),
        events=events,
        windows=windows,
    )
    return _run(options, output, force=force, watch=watch, as_json=as_json, quiet=quiet)


def _simulation_options(
    *, walltimes: str, wake_for_jobs: str, replay: str, sessions: str | None, **others: Any
) -> SimulationOptions:
    from noctule import run as runs
    from noctule.policy import PolicySpec
    from noctule.replay import with_sessions

    if sessions is not None and replay == "rigid":
        raise click.UsageError("--sessions: goes with --replay, got none but rigid")
    if sessions is not None and "sessions" in PolicySpec.parse(replay).parameters:
        raise click.UsageError("--sessions: --replay tells sessions as well, expected one of them")
    return runs.SimulationOptions(
        replay=replay if sessions is None else with_sessions(replay, sessions),
        enforce_walltime=walltimes == "engine",
        wake_for_jobs={"yes": True, "no": False}.get(wake_for_jobs),
        **others,
    )


def _run(
    options: RunOptions, output: str | None, *, force: bool, watch: bool, as_json: bool, quiet: bool
) -> ExitCode:
    from noctule import run as runs
    from noctule.printing.runs import describe_inputs, describe_run, run_result

    with speaking(as_json=as_json, quiet=quiet) as console:
        if output is not None:
            runs.check_target(output, force=force)
        execution = (_watched if watch else _unwatched)(
            console,
            options,
            lambda workload: console.talk.notes(
                describe_inputs(workload, told=options.platform == runs.PlatformOptions())
            ),
        )
        console.talk.notes(describe_run(execution))
        if output is not None:
            runs.write_run(output, execution, force=force)
            console.talk.note(f"{output}: written")
        console.show(run_result(execution, output))
    return ExitCode.OK


def _unwatched(
    console: Console, options: RunOptions, on_read: Callable[[Workload], None]
) -> Execution:
    from noctule import run as runs

    execution = runs.execute(options, on_read=on_read, progress=console.talk.progress())
    console.talk.close()
    return execution


def _watched(
    console: Console, options: RunOptions, on_read: Callable[[Workload], None]
) -> Execution:
    from noctule import run as runs
    from noctule.report.live import LivePage
    from noctule.report.page import bokeh_script
    from noctule.report.watching import RunWatch

    bokeh_script()
    name = f"{options.policy} on {Path(options.workload).name}"
    with LivePage(name) as page:
        console.talk.note(f"watch it at {page.address}")
        watch = RunWatch(page, name, console.talk.progress())
        execution = runs.execute(
            options, on_read=on_read, on_start=watch.begin, progress=watch.renew
        )
        console.talk.close()
        watch.end(execution)
    return execution


@click.command()
@click.argument("manifest")
@output_options
def rerun(*, manifest: str, as_json: bool, quiet: bool) -> ExitCode:
    """Do a run again from its MANIFEST and tell whether its files come out the same."""
    from noctule import run as runs
    from noctule.printing.runs import rerun_result

    with speaking(as_json=as_json, quiet=quiet) as console:
        again = runs.rerun(manifest, progress=console.talk.progress())
        console.talk.close()
        console.show(rerun_result(manifest, again))
    return ExitCode.CHECK_FAILED if again.differing or again.altered else ExitCode.OK
