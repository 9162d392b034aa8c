"""noctule trace: recorded workloads measured, checked, converted, changed and fetched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from noctule.commands.options import output_options, reading_options
from noctule.commands.trace_changes import anonymise, extract, merge, scale, slice_
from noctule.commands.trace_options import (
    file_options,
    hosts_option,
    processors_option,
    read_trace,
    rules_for,
    speed_option,
    write_trace,
)
from noctule.console import Console, ExitCode, Result, speaking

if TYPE_CHECKING:
    from noctule.formats.swf import SwfRules


@click.group()
def trace() -> None:
    """Measure, cut, scale, join, check, convert and fetch recorded workloads."""


for _command in (slice_, scale, extract, merge, anonymise):
    trace.add_command(_command)


@trace.command()
@click.argument("file")
@hosts_option
@processors_option
@speed_option
@click.option("--users", "n_users", type=click.IntRange(min=0), default=10, show_default=True)
@output_options
def stats(
    *,
    file: str,
    n_hosts: int | None,
    processors: str,
    speed: float | None,
    n_users: int,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Say what FILE looks like: load, sizes, runtimes, arrivals, users."""
    from noctule.printing.traces import stats_result
    from noctule.traces import trace_stats

    with speaking(as_json=as_json, quiet=quiet) as console:
        workload = read_trace(console, file, rules_for("x.swf", processors), speed=speed)
        measured = trace_stats(workload, n_hosts=n_hosts)
        console.show(stats_result(file, measured, n_users=n_users))
    return ExitCode.OK


@trace.command()
@click.argument("file")
@click.option("-o", "--output", required=True, metavar="FILE.toml", help="The file to write.")
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
@output_options
def fit(*, file: str, output: str, force: bool, as_json: bool, quiet: bool) -> ExitCode:
    """Fit the coefficients of noctule generate cirne to FILE, an SWF log."""
    from noctule.output_file import check_file
    from noctule.synthetic import fit_cirne

    with speaking(as_json=as_json, quiet=quiet) as console:
        check_file(output, force=force)
        found = fit_cirne(file)
        found.save(output, force=force)
        data = {"output": output, **found.document()}
        console.show(Result(data, lines=[f"{output}: {found.source}"]))
    return ExitCode.OK


@trace.command()
@click.argument("file")
@hosts_option
@click.option("--strict", is_flag=True, help="End with code 1 if something is wrong or unusual.")
@click.option(
    "--flurry-jobs",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="A flurry is more jobs of a user than that ...",
)
@click.option("--flurry-window", default="1h", show_default=True, metavar="TIME", help="... in it.")
@click.option("--examples", type=click.IntRange(min=0), default=3, show_default=True)
@output_options
def check(
    *,
    file: str,
    n_hosts: int | None,
    strict: bool,
    flurry_jobs: int,
    flurry_window: str,
    examples: int,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Say what is odd about FILE: what cannot be, what is not known, what is unusual."""
    from noctule.printing.traces import oddities_result
    from noctule.traces import OddityLimits, find_oddities, load_raw
    from noctule.traces.oddities import MISSING
    from noctule.traces.quantities import duration_of

    window = duration_of(flurry_window, where="--flurry-window")
    limits = OddityLimits(flurry_jobs=flurry_jobs, flurry_window=window, n_examples=examples)
    with speaking(as_json=as_json, quiet=quiet) as console:
        raw = load_raw(file)
        oddities = find_oddities(raw, n_hosts=n_hosts, limits=limits)
        console.show(oddities_result(file, len(raw), oddities))
    failed = strict and any(oddity.kind != MISSING for oddity in oddities)
    return ExitCode.CHECK_FAILED if failed else ExitCode.OK


@trace.command()
@click.argument("file")
@file_options
@speed_option
@hosts_option
@reading_options
@output_options
def convert(
    *,
    file: str,
    output: str,
    force: bool,
    speed: float | None,
    n_hosts: int | None,
    processors: str,
    walltime_factor: float | None,
    profiles: str,
    reference_speed: float | None,
    dependencies: bool,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Write FILE, a log, a Batsim workload or the folder of a run, in another format.

    A log that becomes a log, compressed or not, stays as it was recorded. One that becomes a Batsim
    workload is read by the rules of `noctule run`.
    """
    from noctule.formats.swf import SwfRules
    from noctule.output_file import check_file
    from noctule.printing.traces import written_result

    with speaking(as_json=as_json, quiet=quiet) as console:
        rules = SwfRules(
            processors, walltime_factor, profiles, reference_speed, dependencies, keep_dates=True
        )
        used = _rules_used(output, rules, speed=speed, n_hosts=n_hosts)
        check_file(output, force=force)
        if Path(file).is_dir():
            _convert_run(console, file, output, force=force)
            return ExitCode.OK
        workload = read_trace(console, file, used)
        written = write_trace(console, workload, output, force=force, speed=speed, n_hosts=n_hosts)
        console.show(written_result([file], [(output, written)]))
    return ExitCode.OK


def _rules_used(
    output: str, rules: SwfRules, *, speed: float | None, n_hosts: int | None
) -> SwfRules:
    """Return how a log is read for an output, and refuse options that would change nothing."""
    from dataclasses import fields

    from noctule.errors import InputError
    from noctule.formats.saving import format_of
    from noctule.formats.swf import SwfRules

    usual = SwfRules(keep_dates=True)
    if format_of(output) == "json":
        if speed is not None:
            raise InputError(f"{output}: speed={speed}: an option of .swf, got a JSON file")
        return rules
    changed = {f.name: getattr(rules, f.name) for f in fields(rules)}
    changed["n_hosts"] = n_hosts
    for name, value in changed.items():
        if value != getattr(usual, name, None):
            raise InputError(
                f"{output}: {name}={value!r}: an option of .json, "
                "got a log, which is written as it was recorded"
            )
    return rules_for(output, rules.processors)


def _convert_run(console: Console, directory: str, output: str, *, force: bool) -> None:
    from noctule.formats.saving import save_schedule
    from noctule.printing.traces import run_written_result
    from noctule.schedule import Schedule

    schedule = Schedule.load(directory)
    save_schedule(schedule, output, force=force)
    console.show(run_written_result(directory, output, len(schedule)))


@trace.command()
@click.argument("name", required=False)
@click.option("--again", is_flag=True, help="Download it even if it is in the cache.")
@click.option("--folder", metavar="DIR", help="Instead of the user's cache.")
@click.option("--address", metavar="URL", help="Of a copy of the archive.")
@output_options
def fetch(
    *,
    name: str | None,
    again: bool,
    folder: str | None,
    address: str | None,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Fetch the log NAME of the Parallel Workloads Archive and print where it is.

    Without NAME, list the logs.
    """
    from noctule import archive
    from noctule.printing.traces import describe_fetched, fetched_result, logs_result

    with speaking(as_json=as_json, quiet=quiet) as console:
        if name is None:
            console.show(logs_result(archive.LOGS))
            return ExitCode.OK
        fetched = archive.fetch(
            name,
            folder=folder,
            address=address or archive.ARCHIVE,
            again=again,
            on_download=lambda url: console.talk.note(f"{url}: downloading"),
        )
        console.talk.notes(describe_fetched(fetched))
        console.show(fetched_result(fetched))
    return ExitCode.OK
