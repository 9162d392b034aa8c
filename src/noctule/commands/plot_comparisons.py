"""noctule plot: pictures of several runs against each other, and of campaigns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from noctule.commands.gathering import gathering
from noctule.commands.pictures import (
    Command,
    Picture,
    Shown,
    load_runs,
    picture_options,
    shown_options,
)
from noctule.console import Console, ExitCode

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noctule.plots.campaigns import Cloud


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


@dataclass(frozen=True, slots=True)
class _Points:
    """Which runs of campaigns are points, and what tells them apart."""

    by: str
    marks: str | None
    only: tuple[str, ...]
    relative_to: str | None

    def cloud(self) -> Cloud:
        from noctule.plots.campaigns import Cloud

        only: dict[str, list[str]] = {}
        for text in self.only:
            axis, is_one, value = text.partition("=")
            if not (axis and is_one):
                raise click.UsageError(f"--only: got {text}, expected AXIS=VALUE")
            only.setdefault(axis, []).append(value)
        return Cloud(self.by, self.marks, only, self.relative_to)


def _point_options(command: Command) -> Command:
    """Give a command a choice of runs of campaigns."""
    gathered = gathering(_Points, "points", command)
    for option in (
        click.option(
            "--relative-to",
            metavar="POLICY",
            help="Of campaigns: divide the second metric by that of POLICY, all else equal.",
        ),
        click.option(
            "--only",
            multiple=True,
            metavar="AXIS=VALUE",
            help="Of campaigns: only runs with this value; again for another value, or axis.",
        ),
        click.option("--marks", metavar="AXIS", help="Of campaigns: what shapes differ by."),
        click.option(
            "--by",
            metavar="AXIS",
            default="policy",
            show_default=True,
            help="Of campaigns: what colours differ by.",
        ),
    ):
        gathered = option(gathered)
    return gathered


@click.command()
@click.option("--x", metavar="METRIC", default="mean_waiting_time", show_default=True)
@click.option("--y", metavar="METRIC", default="utilisation", show_default=True)
@click.option("--front/--no-front", default=True, help="Draw the Pareto front.")
@_point_options
@picture_options
def tradeoff(*, picture: Picture, x: str, y: str, points: _Points, front: bool) -> ExitCode:
    """Show runs, and those of campaigns, between two metrics."""
    from noctule import plots
    from noctule.plots.campaign_runs import is_campaign
    from noctule.plots.campaigns import campaign_points

    cloud = points.cloud()

    def figure(_: Console, columns: int) -> Figure:
        campaigns = [path for path in picture.directories if is_campaign(path)]
        folders = [path for path in picture.directories if path not in campaigns]
        if folders and cloud.relative_to:
            raise click.UsageError(f"--relative-to: got {folders[0]}, expected campaigns alone")
        found = plots.points_of(load_runs(folders), x, y) if folders else []
        for folder in campaigns:
            found += campaign_points(folder, x, y, cloud)
        relative_to = cloud.relative_to or ""
        return plots.tradeoff(found, x, y, front=front, relative_to=relative_to, columns=columns)

    return picture.save(figure)


_days_option = click.option(
    "--days",
    type=click.FloatRange(min=0, min_open=True),
    default=28,
    show_default=True,
    help="Length of a month.",
)


@click.command()
@_days_option
@picture_options
def months(*, picture: Picture, days: float) -> ExitCode:
    """Show how much energy runs took in each month beside the first, and how busy they were."""
    from noctule import plots

    def figure(_: Console, columns: int) -> Figure:
        return plots.months(picture.runs(), days=days, columns=columns)

    return picture.save(figure)


@click.command("month-tradeoffs")
@click.option(
    "--month",
    "numbers",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="Month to show, from 1 on; again for more. All by default.",
)
@_days_option
@picture_options
def month_tradeoffs(*, picture: Picture, numbers: tuple[int, ...], days: float) -> ExitCode:
    """Show runs between waits and energy beside the first, one panel a month."""
    from noctule import plots

    def figure(_: Console, columns: int) -> Figure:
        return plots.month_tradeoffs(picture.runs(), numbers=numbers, days=days, columns=columns)

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


COMMANDS = (changes, tradeoff, curves, months, month_tradeoffs)
