"""What the commands about traces have in common: options, how a log is read, what is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from noctule.commands.options import Command

if TYPE_CHECKING:
    from noctule.console import Console
    from noctule.formats.swf import SwfRules
    from noctule.workload import Workload


def file_options(command: Command) -> Command:
    """Add the options of commands that write a file."""
    for option in (
        click.option("--force", is_flag=True, help="Replace a file that is there already."),
        click.option(
            "-o",
            "--output",
            required=True,
            metavar="FILE",
            help="Ends in .swf or .json, and .gz, .xz or .bz2 behind it.",
        ),
    ):
        command = option(command)
    return command


def processors_option(command: Command) -> Command:
    """Add the choice of what the size of a job is."""
    return click.option(
        "--processors",
        type=click.Choice(["requested", "allocated"]),
        default="requested",
        show_default=True,
        help="Which number of processors of a log is a job's size.",
    )(command)


def hosts_option(command: Command) -> Command:
    """Add the size of the machine."""
    return click.option(
        "--hosts", "n_hosts", type=click.IntRange(min=1), help="Default: the file's header."
    )(command)


def rules_for(output: str, processors: str) -> SwfRules:
    """Return how a log is read: as recorded, unless the output has to say how it is replayed."""
    from dataclasses import replace

    from noctule.formats.saving import format_of
    from noctule.formats.swf import SwfRules
    from noctule.traces.reading import AS_RECORDED

    if format_of(output) == "json":
        return SwfRules(processors, keep_dates=True)
    return replace(AS_RECORDED, processors=processors)


def speed_option(command: Command) -> Command:
    """Add the speed of the hosts, for workloads that tell work and not time."""
    return click.option(
        "--speed", type=float, help="Of a Batsim workload: speed of the hosts, in flop/s."
    )(command)


def read_trace(
    console: Console, path: str, rules: SwfRules, *, speed: float | None = None
) -> Workload:
    """Read a trace, and say what was made of it."""
    from noctule.printing.traces import describe_reading
    from noctule.traces import at_speed, load_trace

    workload = load_trace(path, rules=rules)
    console.talk.notes(describe_reading(workload, replayed=not rules.keep_all))
    return workload if speed is None else at_speed(workload, speed)


def write_trace(
    console: Console,
    workload: Workload,
    output: str,
    *,
    force: bool,
    speed: float | None = None,
    n_hosts: int | None = None,
) -> Workload:
    """Write a trace, and say what the format has no place for; a Batsim workload begins at 0."""
    from noctule.formats.saving import format_of, lost_in, save_workload
    from noctule.printing.traces import describe_losses
    from noctule.traces import from_zero

    if format_of(output) == "json":
        workload = from_zero(workload)
    console.talk.notes(describe_losses(output, lost_in(workload, output)))
    save_workload(workload, output, force=force, speed=speed, n_hosts=n_hosts)
    return workload
