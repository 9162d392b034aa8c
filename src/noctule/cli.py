"""The command `noctule`: parse, call, print.

Only what `--help` needs is imported here; each command imports its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeVar

import click

from noctule.console import PipeClosed, speaking
from noctule.errors import (
    DeadlockError,
    DecisionError,
    InputError,
    NoctuleError,
    ProtocolError,
)

if TYPE_CHECKING:
    from noctule.run import RunOptions

Command = TypeVar("Command", bound=Callable[..., Any])


class ExitCode(IntEnum):
    """What the exit code of `noctule` means."""

    OK = 0
    CHECK_FAILED = 1
    USAGE = 2
    INPUT = 3
    DECISION = 4
    PROTOCOL = 5
    DEADLOCK = 6
    INTERRUPTED = 130
    PIPE_CLOSED = 141


_CODES: dict[type[NoctuleError], ExitCode] = {
    InputError: ExitCode.INPUT,
    DecisionError: ExitCode.DECISION,
    ProtocolError: ExitCode.PROTOCOL,
    DeadlockError: ExitCode.DEADLOCK,
}


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        code = cli.main(args=args, prog_name="noctule", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        return _fail("interrupted", ExitCode.INTERRUPTED)
    except PipeClosed:
        return ExitCode.PIPE_CLOSED
    except click.ClickException as error:
        error.show()
        return ExitCode.USAGE
    except NoctuleError as error:
        return _fail(str(error), _CODES.get(type(error), ExitCode.INPUT))
    return int(code or ExitCode.OK)


def _fail(message: str, code: ExitCode) -> ExitCode:
    click.echo(f"noctule: {message}", err=True)
    return code


def _factor(ctx: click.Context, param: click.Parameter, value: str) -> float | None:
    """Read a number, or the word none."""
    try:
        return None if value == "none" else float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a number, nor none", ctx, param) from None


def _output_options(command: Command) -> Command:
    """Add the two options that every command has."""
    for option in (
        click.option("--quiet", is_flag=True, help="Say nothing but errors."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    ):
        command = option(command)
    return command


def _reading_options(command: Command) -> Command:
    """Add the reading rules of logs."""
    for option in (
        click.option("--dependencies", is_flag=True, help="Jobs wait for their preceding job."),
        click.option("--reference-speed", type=float, help="Speed of the hosts of the log."),
        click.option(
            "--profiles",
            type=click.Choice(["compute", "delay"]),
            default="compute",
            show_default=True,
            help="Work that faster hosts do in less time, or fixed durations.",
        ),
        click.option(
            "--walltime-factor",
            callback=_factor,
            default="1",
            metavar="X|none",
            show_default=True,
            help="Walltime = max(requested, factor x runtime); none: as requested.",
        ),
        click.option(
            "--processors",
            type=click.Choice(["requested", "allocated"]),
            default="requested",
            show_default=True,
            help="Which number of processors a job asks for.",
        ),
    ):
        command = option(command)
    return command


def _simulation_options(command: Command) -> Command:
    """Add the options of `simulate`."""
    for option in (
        click.option(
            "--wait-for-timers", is_flag=True, help="Calls the policy asked for keep a run alive."
        ),
        click.option("--clairvoyant", is_flag=True, help="Let the policy see true runtimes."),
        click.option("--epilogue-delay", type=float, default=0.0, help="Seconds after each job."),
        click.option("--launch-delay", type=float, default=0.0, help="Seconds before each job."),
        click.option(
            "--walltimes",
            type=click.Choice(["engine", "policy"]),
            default="engine",
            show_default=True,
            help="Who stops jobs at their walltime.",
        ),
        click.option("--until", type=float, metavar="T", help="Stop at this simulated second."),
    ):
        command = option(command)
    return command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="noctule", message="%(prog)s %(version)s")
def cli() -> None:
    """Simulate batch schedulers: platform + workload + policy -> schedule."""


@cli.command()
@click.argument("workload")
@click.option("--hosts", "n_hosts", type=click.IntRange(min=1), help="Default: the file's header.")
@click.option("--speed", type=float, default=1.0, help="Relative speed: 2 takes half the time.")
@click.option("--policy", required=True, metavar="SPEC", help="As in easy(order=sjf).")
@click.option("-o", "--output", metavar="DIR", help="Folder to write the run to.")
@click.option("--force", is_flag=True, help="Replace a run that is there already.")
@_reading_options
@_simulation_options
@_output_options
def run(
    *,
    workload: str,
    n_hosts: int | None,
    speed: float,
    policy: str,
    output: str | None,
    force: bool,
    processors: str,
    walltime_factor: float | None,
    profiles: str,
    reference_speed: float | None,
    dependencies: bool,
    until: float | None,
    walltimes: str,
    launch_delay: float,
    epilogue_delay: float,
    clairvoyant: bool,
    wait_for_timers: bool,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Simulate WORKLOAD (SWF or Batsim JSON, may be compressed) under a policy."""
    from noctule import run as runs

    options = runs.RunOptions(
        workload=workload,
        policy=policy,
        platform=runs.PlatformOptions(n_hosts, speed),
        reading=runs.ReadingOptions(
            processors, walltime_factor, profiles, reference_speed, dependencies
        ),
        simulation=runs.SimulationOptions(
            until=until,
            enforce_walltime=walltimes == "engine",
            launch_delay=launch_delay,
            epilogue_delay=epilogue_delay,
            clairvoyant=clairvoyant,
            wait_for_timers=wait_for_timers,
        ),
    )
    return _run(options, output, force=force, as_json=as_json, quiet=quiet)


def _run(
    options: RunOptions, output: str | None, *, force: bool, as_json: bool, quiet: bool
) -> ExitCode:
    from noctule import run as runs
    from noctule.reports import describe_inputs, describe_run, run_result

    with speaking(as_json=as_json, quiet=quiet) as console:
        if output is not None:
            runs.check_target(output, force=force)
        execution = runs.execute(
            options,
            on_read=lambda workload: console.talk.notes(
                describe_inputs(workload, told=options.platform.n_hosts is None)
            ),
            progress=console.talk.progress(),
        )
        console.talk.close()
        console.talk.notes(describe_run(execution))
        if output is not None:
            runs.write_run(output, execution, force=force)
            console.talk.note(f"{output}: written")
        console.show(run_result(execution, output))
    return ExitCode.OK


@cli.command()
@click.argument("manifest")
@_output_options
def rerun(*, manifest: str, as_json: bool, quiet: bool) -> ExitCode:
    """Do a run again from its MANIFEST and tell whether its files come out the same."""
    from noctule import run as runs
    from noctule.reports import rerun_result

    with speaking(as_json=as_json, quiet=quiet) as console:
        again = runs.rerun(manifest, progress=console.talk.progress())
        console.talk.close()
        console.show(rerun_result(manifest, again))
    return ExitCode.CHECK_FAILED if again.differing else ExitCode.OK


@cli.command()
@click.argument("directories", metavar="DIR...", nargs=-1, required=True)
@click.option("--warm-up", type=float, default=0.0, help="Seconds to cut off at the beginning.")
@click.option("--cool-down", type=float, default=0.0, help="Seconds to cut off at the end.")
@click.option(
    "--threshold", type=float, default=10.0, show_default=True, help="Of the bounded slowdown."
)
@click.option("--all", "everything", is_flag=True, help="Show every statistic; --json always does.")
@_output_options
def metrics(
    *,
    directories: tuple[str, ...],
    warm_up: float,
    cool_down: float,
    threshold: float,
    everything: bool,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Measure the runs in DIR... and compare them in one table."""
    from noctule.metrics import compare
    from noctule.reports import metrics_result
    from noctule.schedule import Schedule

    with speaking(as_json=as_json, quiet=quiet) as console:
        schedules = ((name, Schedule.load(name)) for name in directories)
        summaries = compare(schedules, warm_up=warm_up, cool_down=cool_down, threshold=threshold)
        console.show(metrics_result(summaries, everything=everything))
    return ExitCode.OK


@cli.command()
@click.argument("jobs_csv")
@click.option("--hosts", "n_hosts", type=click.IntRange(min=1), required=True)
@click.option("--policy", metavar="NAME", help="Check the rules of this policy, too.")
@click.option("--tolerance", type=float, default=0.0, help="Seconds that are one instant.")
@click.option("--launch-delay", type=float, default=0.0, help="Seconds before each job.")
@click.option("--epilogue-delay", type=float, default=0.0, help="Seconds after each job.")
@_output_options
def check(
    *,
    jobs_csv: str,
    n_hosts: int,
    policy: str | None,
    tolerance: float,
    launch_delay: float,
    epilogue_delay: float,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Say what the schedule in JOBS_CSV, from any simulator, breaks."""
    from noctule.reports import check_result
    from noctule.schedule import Schedule
    from noctule.testing.invariants import check_schedule

    with speaking(as_json=as_json, quiet=quiet) as console:
        schedule = Schedule.from_jobs_csv(jobs_csv, n_hosts)
        violations = check_schedule(
            schedule,
            policy=policy,
            tolerance=tolerance,
            launch_delay=launch_delay,
            epilogue_delay=epilogue_delay,
        )
        console.show(check_result(jobs_csv, len(schedule), violations))
    return ExitCode.CHECK_FAILED if violations else ExitCode.OK


@cli.command()
@_output_options
def policies(*, as_json: bool, quiet: bool) -> ExitCode:
    """List the policies that --policy knows by name, and their parameters."""
    from noctule.reports import policies_result

    with speaking(as_json=as_json, quiet=quiet) as console:
        console.show(policies_result())
    return ExitCode.OK
