"""noctule check."""

from __future__ import annotations

import click

from noctule.commands.options import output_options
from noctule.console import ExitCode, speaking


@click.command()
@click.argument("jobs_csv")
@click.option("--hosts", "n_hosts", type=click.IntRange(min=1), required=True)
@click.option("--policy", metavar="NAME", help="Check the rules of this policy, too.")
@click.option(
    "--tolerance",
    type=float,
    help="Seconds that are one instant; by default 0, or what six decimals of a date leave open.",
)
@click.option("--launch-delay", type=float, default=0.0, help="Seconds before each job.")
@click.option("--epilogue-delay", type=float, default=0.0, help="Seconds after each job.")
@output_options
def check(
    *,
    jobs_csv: str,
    n_hosts: int,
    policy: str | None,
    tolerance: float | None,
    launch_delay: float,
    epilogue_delay: float,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Say what the schedule in JOBS_CSV, from any simulator, breaks."""
    from noctule.printing.runs import check_result
    from noctule.schedule import Schedule
    from noctule.testing.invariants import SIX_DECIMALS, check_schedule, has_whole_dates

    with speaking(as_json=as_json, quiet=quiet) as console:
        schedule = Schedule.from_jobs_csv(jobs_csv, n_hosts)
        if tolerance is None:
            tolerance = 0.0 if has_whole_dates(schedule) else SIX_DECIMALS
        violations = check_schedule(
            schedule,
            policy=policy,
            tolerance=tolerance,
            launch_delay=launch_delay,
            epilogue_delay=epilogue_delay,
        )
        console.show(check_result(jobs_csv, len(schedule), violations))
    return ExitCode.CHECK_FAILED if violations else ExitCode.OK
