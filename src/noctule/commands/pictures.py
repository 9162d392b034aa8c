"""What all pictures of `noctule plot` have: their options, and how they are written."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from noctule.commands.gathering import gathering
from noctule.commands.options import output_options
from noctule.console import Console, ExitCode, Result, speaking

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noctule.metrics import Window
    from noctule.schedule import Schedule

Command = Callable[..., ExitCode]


@dataclass(frozen=True, slots=True)
class Picture:
    """The options that all pictures have."""

    directories: tuple[str, ...]
    output: str
    dpi: float
    columns: str
    as_json: bool
    quiet: bool

    def save(self, draw: Callable[[Console, int], Figure]) -> ExitCode:
        """Draw a figure for so many columns, and write it."""
        from noctule.plots.style import check_format, save_figure

        with speaking(as_json=self.as_json, quiet=self.quiet) as console:
            check_format(self.output)
            save_figure(draw(console, int(self.columns)), self.output, dpi=self.dpi)
            data: dict[str, Any] = {"output": self.output, "runs": list(self.directories)}
            console.show(Result(data, lines=[f"{self.output}: written"]))
        return ExitCode.OK

    def runs(self) -> list[tuple[str, Schedule]]:
        """Return the runs in the folders, by the names of these."""
        return load_runs(self.directories)


def load_runs(directories: Sequence[str]) -> list[tuple[str, Schedule]]:
    """Return the runs in some folders, by the names of these."""
    from noctule.plots.runs import folder_names
    from noctule.schedule import Schedule

    names = folder_names(directories)
    return [(name, Schedule.load(path)) for name, path in zip(names, directories, strict=True)]


def picture_options(command: Command) -> Command:
    """Give a command a Picture, by the options that all pictures have."""
    gathered = gathering(Picture, "picture", command)
    for option in (
        click.option(
            "--columns",
            type=click.Choice(["1", "2"]),
            default="2",
            show_default=True,
            help="Columns of a paper that the picture takes: 3.4 or 7.1 inches.",
        ),
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
        gathered = option(gathered)
    return output_options(gathered)


@dataclass(frozen=True, slots=True)
class Shown:
    """The stretch of time that a picture shows, where it is not everything."""

    start: float | None
    end: float | None

    def window(self, runs: Sequence[tuple[str, Schedule]]) -> Window | None:
        """Return the stretch of time, or None for everything."""
        from noctule.errors import InputError
        from noctule.metrics import Window
        from noctule.plots.runs import common_span

        if self.start is None and self.end is None:
            return None
        span = common_span(runs)
        start = span.start if self.start is None else self.start
        end = span.end if self.end is None else self.end
        if not (math.isfinite(start) and math.isfinite(end) and start < end):
            raise InputError(
                f"--from, --to: got {start} to {end}, expected a later second to end with"
            )
        return Window(start, end)


def shown_options(command: Command) -> Command:
    """Give a command a stretch of time to show."""
    gathered = gathering(Shown, "shown", command)
    for option in (
        click.option("--to", "end", type=float, metavar="S", help="Last second to show."),
        click.option("--from", "start", type=float, metavar="S", help="First second to show."),
    ):
        gathered = option(gathered)
    return gathered


def log_option(command: Command) -> Command:
    """Let a command be told the log, whose clock days and weeks follow."""
    text = "The log, whose header tells dates and time zone."
    return click.option("--log", metavar="FILE", help=text)(command)


def clock_of(log: str | None) -> Any:
    """Return the clock of the place where a log was recorded, if it is named."""
    from noctule.formats import load_workload
    from noctule.formats.local_time import LocalClock

    # a replay may last longer than the log: ten years more are enough for any
    return None if log is None else LocalClock.of(load_workload(log).headers, until=3.2e8)
