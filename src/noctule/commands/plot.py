"""noctule plot: pictures of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noctule.commands import plot_comparisons, plot_replays
from noctule.commands.pictures import (
    Picture,
    Shown,
    clock_of,
    log_option,
    picture_options,
    shown_options,
)
from noctule.console import Console, ExitCode

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noctule.plots import Stretch
    from noctule.rates import Rates
    from noctule.schedule import Schedule

_CLASSES = ["user", "state", "profile", "size", "runtime", "walltime"]
# kinds that have no options of their own
_PLAIN = {
    "utilisation": "Show the share of the hosts in use over time.",
    "demand": "Show the hosts in use, and those asked for besides, over time.",
    "horizon": "Show how long the waiting load would take as a liquid, over time.",
    "ladder": "Show how many jobs had been submitted, started and ended up to each date.",
    "slowdown": "Show the bounded slowdown of jobs against their sizes and runtimes.",
    "energy": "Show how much all hosts had drawn up to each date.",
}


@click.group()
def plot() -> None:
    """Draw the runs in DIR... as a picture (.pdf, .png or .svg)."""


for _command in (*plot_comparisons.COMMANDS, *plot_replays.COMMANDS):
    plot.add_command(_command)


@plot.command()
@click.option(
    "--colour",
    type=click.Choice(["job", "wait", *_CLASSES]),
    default="job",
    show_default=True,
    help="What the colours tell apart.",
)
@shown_options
@picture_options
def gantt(*, picture: Picture, shown: Shown, colour: str) -> ExitCode:
    """Show when which hosts ran which job, one panel a run."""
    from noctule import plots

    def figure(console: Console, columns: int) -> Figure:
        runs = picture.runs()
        stretches = [
            _stretches(console, directory, schedule)
            for directory, (_, schedule) in zip(picture.directories, runs, strict=True)
        ]
        window = shown.window(runs)
        options: Any = {"window": window, "stretches": stretches, "columns": columns}
        return plots.gantt(runs, colour=colour, **options)

    return picture.save(figure)


@plot.command()
@click.option(
    "--unit",
    type=click.Choice(["jobs", "hosts"]),
    default="jobs",
    show_default=True,
    help="Count waiting jobs, or the hosts that they ask for.",
)
@shown_options
@picture_options
def queue(*, picture: Picture, shown: Shown, unit: str) -> ExitCode:
    """Show how many jobs were waiting over time."""
    return _draw("queue", picture, shown, unit=unit)


@plot.command()
@shown_options
@picture_options
def capacity(*, picture: Picture, shown: Shown) -> ExitCode:
    """Show where the capacity of the machine went over time: hosts in use, and why others not."""
    from noctule import plots
    from noctule.capacity import capacity as capacity_of
    from noctule.run_waits import load_inputs

    def figure(console: Console, columns: int) -> Figure:
        runs = picture.runs()
        counted = []
        for directory, (name, schedule) in zip(picture.directories, runs, strict=True):
            given = load_inputs(directory)
            console.talk.notes(f"{name}: {note}" for note in given.notes)
            parts = capacity_of(schedule, windows=given.windows, workload=given.workload)
            counted.append(parts)
        window = shown.window(runs)
        return plots.capacity(runs, counted=counted, window=window, columns=columns)

    return picture.save(figure)


@plot.command()
@click.option(
    "--by",
    type=click.Choice(["day", "week", "host"]),
    default="day",
    show_default=True,
    help="Hours of each day, hours of the week, or groups of hosts over time.",
)
@log_option
@shown_options
@picture_options
def load(*, picture: Picture, shown: Shown, by: str, log: str | None) -> ExitCode:
    """Show how busy the hosts were as a heat map."""
    return _draw("load", picture, shown, by=by, clock=clock_of(log))


@plot.command()
@click.option("--by", type=click.Choice(_CLASSES), help="One line for each class of jobs.")
@shown_options
@picture_options
def waits(*, picture: Picture, shown: Shown, by: str | None) -> ExitCode:
    """Show which share of the jobs waited at most so long."""
    return _draw("waits", picture, shown, by=by)


@plot.command()
@shown_options
@picture_options
def power(*, picture: Picture, shown: Shown) -> ExitCode:
    """Show the power of all hosts over time, and the rates that the runs were given."""
    return _draw("power", picture, shown, rates=_common_rates(picture.directories))


def _draw(kind: str, picture: Picture, shown: Shown, **options: Any) -> ExitCode:
    from noctule.plots import FIGURES

    def figure(_: Console, columns: int) -> Figure:
        runs = picture.runs()
        drawn: Figure = FIGURES[kind](runs, window=shown.window(runs), columns=columns, **options)
        return drawn

    return picture.save(figure)


def _add_plain(kind: str, text: str) -> None:
    @plot.command(kind, help=text)
    @shown_options
    @picture_options
    def command(*, picture: Picture, shown: Shown) -> ExitCode:
        return _draw(kind, picture, shown)


for _kind, _text in _PLAIN.items():
    _add_plain(_kind, _text)


def _stretches(console: Console, directory: str, schedule: Schedule) -> list[Stretch]:
    """Return the maintenances, reservations and absences that a run was given, if they are told."""
    from noctule.errors import InputError
    from noctule.plots import stretches_of
    from noctule.run import MANIFEST_FILE, events_again, read_manifest, windows_again

    folder = Path(directory)
    if not (folder / MANIFEST_FILE).is_file():
        return []
    manifest = read_manifest(folder / MANIFEST_FILE)
    found: list[Any] = []
    for again in (windows_again, events_again):
        try:
            found.append(again(manifest, folder))
        except InputError as error:
            console.talk.note(f"{directory}: not all that happened to hosts is shown: {error}")
            found.append(None)
    return stretches_of(found[0], found[1], schedule.platform.n_hosts)


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
