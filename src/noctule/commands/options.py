"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

# the last first, as decorators are applied
_SIMULATION_OPTIONS = {
    "replay": click.option(
        "--replay",
        default="rigid",
        metavar="MODEL",
        show_default=True,
        help="When jobs are submitted, as in feedback(threshold=60min).",
    ),
    "restart-cost": click.option(
        "--restart-cost", type=float, default=0.0, help="Seconds at the beginning of a new attempt."
    ),
    "checkpoint-cost": click.option(
        "--checkpoint-cost", type=float, default=0.0, help="Seconds that a checkpoint takes."
    ),
    "checkpoint-every": click.option(
        "--checkpoint-every", type=float, metavar="S", help="Seconds of work between checkpoints."
    ),
    "max-attempts": click.option(
        "--max-attempts", type=click.IntRange(min=1), metavar="N", help="Of one job."
    ),
    "on-failure": click.option(
        "--on-failure",
        type=click.Choice(["end", "resubmit"]),
        default="end",
        show_default=True,
        help="What becomes of jobs that a failing host ends.",
    ),
    "batsim-latency": click.option(
        "--batsim-latency", is_flag=True, help="Pay for the messages that Batsim sends itself."
    ),
    "wake-for-jobs": click.option(
        "--wake-for-jobs",
        type=click.Choice(["yes", "no", "policy"]),
        default="policy",
        show_default=True,
        help="Whether jobs wake hosts that sleep; policy: as it says.",
    ),
    "report-ranks": click.option(
        "--report-ranks", is_flag=True, help="Ranks of a trace tell their ends by messages."
    ),
    "machine": click.option(
        "--machine", is_flag=True, help="Simulate hosts and links also where timers would do."
    ),
    "share-hosts": click.option(
        "--share-hosts", is_flag=True, help="The policy may put several jobs on a host."
    ),
    "solver": click.option(
        "--solver",
        type=click.Choice(["simgrid", "max-min"]),
        default="simgrid",
        show_default=True,
        help="How tasks share hosts and links.",
    ),
    "energy": click.option(
        "--energy",
        type=click.Choice(["off", "exact", "simgrid"]),
        default="off",
        show_default=True,
        help="Count joules, at every change or at SimGrid's few moments.",
    ),
    "wait-for-timers": click.option(
        "--wait-for-timers", is_flag=True, help="Calls the policy asked for keep a run alive."
    ),
    "clairvoyant": click.option(
        "--clairvoyant", is_flag=True, help="Let the policy see true runtimes."
    ),
    "epilogue-delay": click.option(
        "--epilogue-delay", type=float, default=0.0, help="Seconds after each job."
    ),
    "launch-delay": click.option(
        "--launch-delay", type=float, default=0.0, help="Seconds before each job."
    ),
    "walltimes": click.option(
        "--walltimes",
        type=click.Choice(["engine", "policy"]),
        default="engine",
        show_default=True,
        help="Who stops jobs at their walltime.",
    ),
    "until": click.option(
        "--until", type=float, metavar="T", help="Stop at this simulated second."
    ),
}


def output_options(command: Command) -> Command:
    """Add the two options that every command has."""
    for option in (
        click.option("--quiet", is_flag=True, help="Say nothing but errors."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    ):
        command = option(command)
    return command


def simulation_options(*, without: Container[str] = ()) -> Callable[[Command], Command]:
    """Add the options of `simulate`, but for some."""

    def add(command: Command) -> Command:
        for name, option in _SIMULATION_OPTIONS.items():
            if name not in without:
                command = option(command)
        return command

    return add


def reading_options(command: Command) -> Command:
    """Add the reading rules of logs."""
    for option in (
        click.option("--dependencies", is_flag=True, help="Jobs wait for their preceding job."),
        click.option("--reference-speed", type=float, help="Speed of the hosts of the log."),
        click.option(
            "--profiles",
            type=click.Choice(["compute", "delay"]),
            default="compute",
            show_default=True,
            help="Work that faster hosts do in less time, or fixed durations.",
        ),
        click.option(
            "--walltime-factor",
            callback=_factor,
            default="1",
            metavar="X|none",
            show_default=True,
            help="Walltime = max(requested, factor x runtime); none: as requested.",
        ),
        click.option(
            "--processors",
            type=click.Choice(["requested", "allocated"]),
            default="requested",
            show_default=True,
            help="Which number of processors a job asks for.",
        ),
    ):
        command = option(command)
    return command


def _factor(ctx: click.Context, param: click.Parameter, value: str) -> float | None:
    """Read a number, or the word none."""
    try:
        return None if value == "none" else float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a number, nor none", ctx, param) from None
