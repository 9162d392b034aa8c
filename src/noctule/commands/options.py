"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def output_options(command: Command) -> Command:
    """Add the two options that every command has."""
    for option in (
        click.option("--quiet", is_flag=True, help="Say nothing but errors."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    ):
        command = option(command)
    return command


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
