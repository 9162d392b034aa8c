"""noctule plot: pictures of several runs against each other, and of campaigns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from noctule.commands.pictures import Picture, Shown, load_runs, picture_options, shown_options
from noctule.console import Console, ExitCode

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@click.command()
@click.option(
    "--what",
    type=click.Choice(["start", "wait", "end"]),
    default="start",
    show_default=True,
    help="What is compared.",
)
@shown_options
@picture_options
def changes(*, picture: Picture, shown: Shown, what: str) -> ExitCode:
    """Show how much earlier or later each job came than in the first run."""
    from noctule import plots

    def figure(_: Console, columns: int) -> Figure:
        runs = picture.runs()
        return plots.changes(runs, what=what, window=shown.window(runs), columns=columns)

    return picture.save(figure)


@click.command()
@click.option("--x", metavar="METRIC", default="mean_waiting_time", show_default=True)
@click.option("--y", metavar="METRIC", default="utilisation", show_default=True)
@click.option(
    "--by",
    metavar="AXIS",
    default="policy",
    show_default=True,
    help="Of campaigns: what groups of points differ by.",
)
@click.option("--front/--no-front", default=True, help="Draw the Pareto front.")
@picture_options
def tradeoff(*, picture: Picture, x: str, y: str, by: str, front: bool) -> ExitCode:
    """Show runs, and those of campaigns, between two metrics."""
    from noctule import plots
    from noctule.plots.campaign_runs import is_campaign
    from noctule.plots.campaigns import campaign_points

    def figure(_: Console, columns: int) -> Figure:
        campaigns = [path for path in picture.directories if is_campaign(path)]
        folders = [path for path in picture.directories if path not in campaigns]
        points = plots.points_of(load_runs(folders), x, y) if folders else []
        for folder in campaigns:
            points += campaign_points(folder, x, y, by=by)
        return plots.tradeoff(points, x, y, front=front, columns=columns)

    return picture.save(figure)


@click.command()
@click.option("--along", metavar="AXIS", required=True, help="Parameter that changes.")
@click.option("--metric", metavar="METRIC", default="mean_waiting_time", show_default=True)
@click.option("--by", metavar="AXIS", help="What lines differ by.")
@picture_options
def curves(*, picture: Picture, along: str, metric: str, by: str | None) -> ExitCode:
    """Show the mean of a metric along a parameter of the campaign in DIR."""
    from noctule.plots.campaigns import curves as draw

    if len(picture.directories) != 1:
        raise click.UsageError("DIR: expected the folder of one campaign")

    def figure(_: Console, columns: int) -> Figure:
        return draw(picture.directories[0], along, metric, by=by, columns=columns)

    return picture.save(figure)


COMMANDS = (changes, tradeoff, curves)
