"""noctule plot: pictures of replays, of runs and of whole campaigns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from noctule.commands.pictures import Picture, clock_of, load_runs, log_option, picture_options
from noctule.console import Console, ExitCode

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noctule.plots.replays import Groups


# kinds that have no options of their own
_PLAIN = {
    "submissions": "Show how many jobs a day were submitted over time.",
    "cumulative": "Show how many jobs were submitted, and finished, up to each date.",
    "mean-lateness": "Show the mean lateness of each user, beside the number of her jobs.",
    "additional-lateness": "Show the additional lateness of each user, beside her number of jobs.",
    "lateness-spread": "Show the distribution of users' additional lateness.",
    "arrivals": "Show when each user submitted for the first time.",
    "scaling": "Show the additional lateness of ever longer parts of a log.",
}


@click.command()
@click.option("--than", "reference", metavar="RUN", help="Another run, instead of the log.")
@picture_options
def differences(*, picture: Picture, reference: str | None) -> ExitCode:
    """Show how much later jobs were submitted than in the log."""
    return _draw("differences", picture, reference=reference)


@click.command()
@log_option
@picture_options
def week(*, picture: Picture, log: str | None) -> ExitCode:
    """Show how many jobs were submitted in each hour of the week."""
    return _draw("week", picture, clock=clock_of(log))


@click.command()
@click.option(
    "--months",
    type=click.FloatRange(min=0, min_open=True),
    multiple=True,
    metavar="N",
    help="Length of a window, which begins two weeks after the first submission; again for more.",
)
@picture_options
def rebound(*, picture: Picture, months: tuple[float, ...]) -> ExitCode:
    """Show throughput and utilisation in windows free of edge effects."""
    from noctule.plots.lateness import MONTH

    lengths: list[float | None] = [count * MONTH for count in months]
    return _draw("rebound", picture, lengths=lengths or [None])


@click.command("session-graphs")
@picture_options
def session_graphs(*, picture: Picture) -> ExitCode:
    """Show how long and how wide users' graphs are, of sessions in DIR... (noctule sessions)."""
    from noctule.plots.replays import session_figure
    from noctule.plots.runs import folder_names
    from noctule.sessions import load_sessions

    def figure(_: Console, columns: int) -> Figure:
        names = folder_names(picture.directories)
        found = [load_sessions(directory) for directory in picture.directories]
        return session_figure(list(zip(names, found, strict=True)), columns=columns)

    return picture.save(figure)


def _plain(kind: str, text: str) -> click.Command:
    @click.command(kind, help=text)
    @picture_options
    def command(*, picture: Picture) -> ExitCode:
        return _draw(kind, picture)

    return command


def _draw(kind: str, picture: Picture, **options: Any) -> ExitCode:
    from noctule.plots.replays import figure

    def draw(_: Console, columns: int) -> Figure:
        return figure(kind, _groups(kind, picture.directories), columns=columns, **options)

    return picture.save(draw)


def _groups(kind: str, directories: tuple[str, ...]) -> Groups:
    """Return the runs of folders in one group, and those of campaigns in groups of their own."""
    from noctule.plots.campaign_runs import is_campaign, kept_runs

    runs = load_runs([path for path in directories if not is_campaign(path)])
    groups: list[tuple[str, Any]] = [("", runs)] if runs else []
    for path in directories:
        if is_campaign(path):
            groups += kept_runs(path, join_parts=kind == "scaling")
    return groups


COMMANDS = (
    *(_plain(kind, text) for kind, text in _PLAIN.items()),
    session_graphs,
    differences,
    week,
    rebound,
)
