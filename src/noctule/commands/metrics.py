"""noctule metrics."""

from __future__ import annotations

import click

from noctule.commands.options import output_options
from noctule.console import ExitCode, speaking


@click.command()
@click.argument("directories", metavar="DIR...", nargs=-1, required=True)
@click.option("--warm-up", type=float, default=0.0, help="Seconds to cut off at the beginning.")
@click.option("--cool-down", type=float, default=0.0, help="Seconds to cut off at the end.")
@click.option(
    "--threshold", type=float, default=10.0, show_default=True, help="Of the bounded slowdown."
)
@click.option("--all", "everything", is_flag=True, help="Show every statistic; --json always does.")
@output_options
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
    from noctule.footprint_files import load_saved_rates
    from noctule.metrics import summary
    from noctule.reports import metrics_result
    from noctule.schedule import Schedule

    with speaking(as_json=as_json, quiet=quiet) as console:
        cuts = {"warm_up": warm_up, "cool_down": cool_down, "threshold": threshold}
        summaries = [
            (name, summary(Schedule.load(name), rates=load_saved_rates(name), **cuts))
            for name in directories
        ]
        console.show(metrics_result(summaries, everything=everything))
    return ExitCode.OK
