"""noctule plot: pictures of replays, of runs and of whole campaigns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from noctule.commands.gathering import gathering
from noctule.commands.options import output_options
from noctule.console import ExitCode, Result, speaking

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noctule.formats.local_time import LocalClock
    from noctule.replay_figures import Groups


@dataclass(frozen=True, slots=True)
class ReplayPicture:
    """The options that all pictures of replays have."""

    directories: tuple[str, ...]
    output: str
    dpi: float
    as_json: bool
    quiet: bool


def picture_options(command: Callable[..., ExitCode]) -> Callable[..., ExitCode]:
    """Add what all pictures have."""
    for option in (
        click.option(
            "--dpi",
            type=click.FloatRange(min=10, max=2000),
            default=150,
            show_default=True,
            help="Of a .png.",
        ),
        click.option("-o", "--output", required=True, metavar="FILE", help="Picture to write."),
        click.argument("directories", metavar="DIR...", nargs=-1, required=True),
    ):
        command = option(command)
    return output_options(command)


def _options(command: Callable[..., ExitCode]) -> Callable[..., ExitCode]:
    return picture_options(gathering(ReplayPicture, "picture", command))


@click.command()
@_options
def submissions(*, picture: ReplayPicture) -> ExitCode:
    """Show how many jobs a day were submitted over time."""
    return _draw("submissions", picture)


@click.command()
@_options
def cumulative(*, picture: ReplayPicture) -> ExitCode:
    """Show how many jobs were submitted, and finished, up to each date."""
    return _draw("cumulative", picture)


@click.command("mean-lateness")
@_options
def mean_lateness(*, picture: ReplayPicture) -> ExitCode:
    """Show the mean lateness of each user, beside the number of her jobs."""
    return _draw("mean-lateness", picture)


@click.command("additional-lateness")
@_options
def additional_lateness(*, picture: ReplayPicture) -> ExitCode:
    """Show the additional lateness of each user, beside the number of her jobs."""
    return _draw("additional-lateness", picture)


@click.command("lateness-spread")
@_options
def lateness_spread(*, picture: ReplayPicture) -> ExitCode:
    """Show the distribution of users' additional lateness."""
    return _draw("lateness-spread", picture)


@click.command()
@click.option("--than", "reference", metavar="RUN", help="Another run, instead of the log.")
@_options
def differences(*, picture: ReplayPicture, reference: str | None) -> ExitCode:
    """Show how much later jobs were submitted than in the log."""
    return _draw("differences", picture, reference=reference)


@click.command()
@click.option("--log", metavar="FILE", help="The log, whose header tells dates and time zone.")
@_options
def week(*, picture: ReplayPicture, log: str | None) -> ExitCode:
    """Show how many jobs were submitted in each hour of the week."""
    return _draw("week", picture, clock=_clock(log))


@click.command()
@click.option(
    "--months",
    type=click.FloatRange(min=0, min_open=True),
    multiple=True,
    metavar="N",
    help="Length of a window, which begins two weeks after the first submission; again for more.",
)
@_options
def rebound(*, picture: ReplayPicture, months: tuple[float, ...]) -> ExitCode:
    """Show throughput and utilisation in windows free of edge effects."""
    from noctule.lateness_plots import MONTH

    lengths: list[float | None] = [count * MONTH for count in months]
    return _draw("rebound", picture, lengths=lengths or [None])


@click.command()
@_options
def arrivals(*, picture: ReplayPicture) -> ExitCode:
    """Show when each user submitted for the first time."""
    return _draw("arrivals", picture)


@click.command()
@_options
def scaling(*, picture: ReplayPicture) -> ExitCode:
    """Show the additional lateness of ever longer parts of a log."""
    return _draw("scaling", picture)


@click.command("session-graphs")
@_options
def session_graphs(*, picture: ReplayPicture) -> ExitCode:
    """Show how long and how wide users' graphs are, of sessions in DIR... (noctule sessions)."""
    from noctule.plots import folder_names
    from noctule.replay_figures import session_figure
    from noctule.sessions import load_sessions

    def figure() -> Figure:
        names = folder_names(picture.directories)
        found = [load_sessions(directory) for directory in picture.directories]
        return session_figure(list(zip(names, found, strict=True)))

    return _save(picture, figure)


COMMANDS = (
    submissions,
    cumulative,
    mean_lateness,
    additional_lateness,
    lateness_spread,
    session_graphs,
    differences,
    week,
    rebound,
    arrivals,
    scaling,
)


def _draw(kind: str, picture: ReplayPicture, **options: Any) -> ExitCode:
    from noctule.replay_figures import figure

    return _save(picture, lambda: figure(kind, _groups(kind, picture.directories), **options))


def _save(picture: ReplayPicture, figure: Callable[[], Figure]) -> ExitCode:
    from noctule.plots import check_format, save_figure

    with speaking(as_json=picture.as_json, quiet=picture.quiet) as console:
        check_format(picture.output)
        save_figure(figure(), picture.output, dpi=picture.dpi)
        data: dict[str, Any] = {"output": picture.output, "runs": list(picture.directories)}
        console.show(Result(data, lines=[f"{picture.output}: written"]))
    return ExitCode.OK


def _groups(kind: str, directories: tuple[str, ...]) -> Groups:
    """Return the runs of folders in one group, and those of campaigns in groups of their own."""
    from noctule.campaign_plots import is_campaign, kept_runs
    from noctule.plots import folder_names
    from noctule.schedule import Schedule

    folders = tuple(path for path in directories if not is_campaign(path))
    names = folder_names(folders)
    runs = [(name, Schedule.load(path)) for name, path in zip(names, folders, strict=True)]
    groups: list[tuple[str, Any]] = [("", runs)] if runs else []
    for path in directories:
        if is_campaign(path):
            groups += kept_runs(path, join_parts=kind == "scaling")
    return groups


def _clock(log: str | None) -> LocalClock | None:
    from noctule.formats import load_workload
    from noctule.formats.local_time import LocalClock

    # a replay may last longer than the log: ten years more are enough for any
    return None if log is None else LocalClock.of(load_workload(log).headers, until=3.2e8)
