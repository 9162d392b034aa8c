"""noctule plot."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from noctule.commands.gathering import gathering
from noctule.commands.plot_replays import COMMANDS, picture_options
from noctule.console import ExitCode, Result, speaking

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noctule.metrics import Window
    from noctule.rates import Rates
    from noctule.schedule import Schedule

    Runs = list[tuple[str, Schedule]]


@dataclass(frozen=True, slots=True)
class Picture:
    """The options that all pictures have."""

    directories: tuple[str, ...]
    output: str
    start: float | None
    end: float | None
    dpi: float
    as_json: bool
    quiet: bool


@click.group()
def plot() -> None:
    """Draw the runs in DIR... as a picture (.pdf, .png or .svg)."""


for _command in COMMANDS:
    plot.add_command(_command)


def _picture_options(command: Callable[..., ExitCode]) -> Callable[..., ExitCode]:
    """Add what all pictures of runs over time have."""
    gathered = gathering(Picture, "picture", command)
    for option in (
        click.option("--to", "end", type=float, metavar="S", help="Last second to show."),
        click.option("--from", "start", type=float, metavar="S", help="First second to show."),
    ):
        gathered = option(gathered)
    return picture_options(gathered)


@plot.command()
@click.option(
    "--colour",
    type=click.Choice(["job", "user", "state"]),
    default="job",
    show_default=True,
    help="What the colours tell apart.",
)
@_picture_options
def gantt(*, picture: Picture, colour: str) -> ExitCode:
    """Show when which hosts ran which job, one panel a run."""
    from noctule import plots

    return _draw(picture, lambda runs, window: plots.gantt(runs, window=window, colour=colour))


@plot.command()
@_picture_options
def utilisation(*, picture: Picture) -> ExitCode:
    """Show the share of the hosts in use over time."""
    from noctule import plots

    return _draw(picture, lambda runs, window: plots.utilisation(runs, window=window))


@plot.command()
@click.option(
    "--unit",
    type=click.Choice(["jobs", "hosts"]),
    default="jobs",
    show_default=True,
    help="Count waiting jobs, or the hosts that they ask for.",
)
@_picture_options
def queue(*, picture: Picture, unit: str) -> ExitCode:
    """Show how many jobs were waiting over time."""
    from noctule import plots

    return _draw(picture, lambda runs, window: plots.queue(runs, window=window, unit=unit))


@plot.command()
@_picture_options
def waits(*, picture: Picture) -> ExitCode:
    """Show which share of the jobs waited at most so long."""
    from noctule import plots

    return _draw(picture, lambda runs, window: plots.waits(runs, window=window))


@plot.command()
@_picture_options
def power(*, picture: Picture) -> ExitCode:
    """Show the power of all hosts over time, and the rates that the runs were given."""
    from noctule import plots

    def figure(runs: Runs, window: Window | None) -> Figure:
        return plots.power(runs, window=window, rates=_common_rates(picture.directories))

    return _draw(picture, figure)


def _common_rates(directories: tuple[str, ...]) -> Rates:
    """Return the rates of runs that were given the same, or none."""
    from noctule.errors import InputError
    from noctule.footprint_files import load_saved_rates
    from noctule.rates import NO_RATES

    found = {load_saved_rates(directory): directory for directory in directories}
    found.pop(NO_RATES, None)
    if len(found) > 1:
        one, other = list(found.values())[:2]
        raise InputError(
            f"{one}, {other}: got runs with different series of carbon or price, expected the same"
        )
    return next(iter(found), NO_RATES)


def _draw(picture: Picture, figure_of: Callable[[Runs, Window | None], Figure]) -> ExitCode:
    from noctule.plots import check_format, folder_names, save_figure
    from noctule.schedule import Schedule

    with speaking(as_json=picture.as_json, quiet=picture.quiet) as console:
        check_format(picture.output)
        names = folder_names(picture.directories)
        schedules = [Schedule.load(directory) for directory in picture.directories]
        runs = list(zip(names, schedules, strict=True))
        figure = figure_of(runs, _window(picture, schedules))
        save_figure(figure, picture.output, dpi=picture.dpi)
        data: dict[str, Any] = {"output": picture.output, "runs": list(picture.directories)}
        console.show(Result(data, lines=[f"{picture.output}: written"]))
    return ExitCode.OK


def _window(picture: Picture, schedules: list[Schedule]) -> Window | None:
    """Return the stretch of time to show, if not everything is to be shown."""
    from noctule.errors import InputError
    from noctule.metrics import Window
    from noctule.timeseries import span_of

    if picture.start is None and picture.end is None:
        return None
    spans = [span_of(schedule) for schedule in schedules]
    start = min(start for start, _ in spans) if picture.start is None else picture.start
    end = max(end for _, end in spans) if picture.end is None else picture.end
    if not (math.isfinite(start) and math.isfinite(end) and start < end):
        raise InputError(f"--from, --to: got {start} to {end}, expected a later second to end with")
    return Window(start, end)
