"""noctule metrics."""

from __future__ import annotations

import click

from noctule.commands.options import output_options
from noctule.console import ExitCode, speaking
from noctule.errors import InputError


@click.command()
@click.argument("directories", metavar="DIR...", nargs=-1, required=True)
@click.option("--warm-up", type=float, default=0.0, help="Seconds to cut off at the beginning.")
@click.option("--cool-down", type=float, default=0.0, help="Seconds to cut off at the end.")
@click.option(
    "--threshold", type=float, default=10.0, show_default=True, help="Of the bounded slowdown."
)
@click.option("--by-user", is_flag=True, help="One line a user instead, with the lateness of each.")
@click.option("--lost", is_flag=True, help="Where the host-seconds of the machine went instead.")
@click.option("--all", "everything", is_flag=True, help="Show every statistic; --json always does.")
@output_options
def metrics(
    *,
    directories: tuple[str, ...],
    warm_up: float,
    cool_down: float,
    threshold: float,
    by_user: bool,
    lost: bool,
    everything: bool,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Measure the runs in DIR... and compare them in one table."""
    from noctule.footprint_files import load_saved_rates
    from noctule.metrics import summary
    from noctule.printing.capacity import capacity_result
    from noctule.printing.runs import metrics_result
    from noctule.printing.users import users_result
    from noctule.run_waits import load_lost_capacity
    from noctule.schedule import Schedule

    with speaking(as_json=as_json, quiet=quiet) as console:
        if by_user and lost:
            raise InputError("--lost: got --by-user as well, expected one of them")
        if lost:
            found = ((name, load_lost_capacity(name, warm_up, cool_down)) for name in directories)
            console.show(capacity_result(found))
            return ExitCode.OK
        if by_user:
            if warm_up or cool_down:
                raise InputError("--by-user: got --warm-up or --cool-down, expected whole runs")
            runs = ((name, Schedule.load(name)) for name in directories)
            console.show(users_result(runs, threshold=threshold))
            return ExitCode.OK
        cuts = {"warm_up": warm_up, "cool_down": cool_down, "threshold": threshold}
        summaries = [
            (name, summary(Schedule.load(name), rates=load_saved_rates(name), **cuts))
            for name in directories
        ]
        console.show(metrics_result(summaries, everything=everything))
    return ExitCode.OK
