"""noctule trace slice, scale, extract, merge and anonymise."""

from __future__ import annotations

import click

from noctule.commands.options import output_options
from noctule.commands.trace_options import (
    file_options,
    hosts_option,
    processors_option,
    read_trace,
    rules_for,
    speed_option,
    write_trace,
)
from noctule.console import ExitCode, speaking


@click.command("slice")
@click.argument("file")
@file_options
@click.option("--from", "start", metavar="DATE", help="First submission: seconds or a date.")
@click.option("--to", "end", metavar="DATE", help="First submission that is too late.")
@click.option("--positions", metavar="A:B", help="By order of submission, from 0, as in Python.")
@click.option("--jobs", metavar="IDS", multiple=True, help="As in 3,7-20.")
@click.option("--users", metavar="USERS", multiple=True, help="As in 3,7-20 or alice,bob.")
@click.option("--groups", metavar="GROUPS", multiple=True)
@click.option("--queues", metavar="QUEUES", multiple=True)
@click.option("--ran", is_flag=True, help="Only jobs that a simulation can replay.")
@click.option("--in-time", is_flag=True, help="Only jobs whose runtime is below their walltime.")
@click.option("--exclude", is_flag=True, help="All but the jobs that are asked for.")
@click.option("--from-zero", "zero", is_flag=True, help="Time 0 is the first submission kept.")
@output_options
def slice_(
    *,
    file: str,
    output: str,
    force: bool,
    start: str | None,
    end: str | None,
    positions: str | None,
    jobs: tuple[str, ...],
    users: tuple[str, ...],
    groups: tuple[str, ...],
    queues: tuple[str, ...],
    ran: bool,
    in_time: bool,
    exclude: bool,
    zero: bool,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Write the jobs of FILE that meet all that is asked to another file."""
    from noctule.output_file import check_file
    from noctule.printing.traces import written_result
    from noctule.traces import from_zero, select
    from noctule.traces.quantities import ids_in, positions_in, time_of

    with speaking(as_json=as_json, quiet=quiet) as console:
        rules = rules_for(output, "requested")
        check_file(output, force=force)
        workload = read_trace(console, file, rules)
        headers = workload.headers
        chosen = select(
            workload,
            start=None if start is None else time_of(start, headers, where="--from"),
            end=None if end is None else time_of(end, headers, where="--to"),
            positions=None if positions is None else positions_in(positions, where="--positions"),
            jobs=ids_in(jobs, where="--jobs") if jobs else None,
            users=ids_in(users, where="--users") if users else None,
            groups=ids_in(groups, where="--groups") if groups else None,
            queues=ids_in(queues, where="--queues") if queues else None,
            ran=ran,
            in_time=in_time,
            exclude=exclude,
        )
        written = write_trace(console, from_zero(chosen) if zero else chosen, output, force=force)
        console.show(written_result([file], [(output, written)]))
    return ExitCode.OK


@click.command()
@click.argument("file")
@file_options
@click.option("--load", type=float, metavar="X", help="Divide times between submissions by X.")
@click.option("--to-load", type=float, metavar="X", help="The same, to a load of X.")
@click.option("--runtimes", type=float, metavar="X", help="Multiply runtimes and walltimes by X.")
@click.option("--sizes", type=float, metavar="X", help="Multiply sizes by X, rounded.")
@click.option("--max-size", type=click.IntRange(min=1), help="Default: --hosts.")
@click.option("--whole-seconds", is_flag=True, help="Round times to whole seconds.")
@hosts_option
@processors_option
@speed_option
@output_options
def scale(
    *,
    file: str,
    output: str,
    force: bool,
    load: float | None,
    to_load: float | None,
    runtimes: float | None,
    sizes: float | None,
    max_size: int | None,
    whole_seconds: bool,
    n_hosts: int | None,
    processors: str,
    speed: float | None,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Write FILE with more load, longer or larger jobs; sizes first, then runtimes, then load."""
    from noctule.formats.headers import hosts_told
    from noctule.output_file import check_file
    from noctule.printing.traces import written_result
    from noctule.traces import scale_load, scale_runtimes, scale_sizes
    from noctule.traces.reading import machine_size
    from noctule.traces.scaling import factor_to_load

    if load is not None and to_load is not None:
        raise click.UsageError("--load and --to-load: expected one of them")
    with speaking(as_json=as_json, quiet=quiet) as console:
        rules = rules_for(output, processors)
        check_file(output, force=force)
        workload = read_trace(console, file, rules, speed=speed)
        n_hosts = hosts_told(workload.headers) if n_hosts is None else n_hosts
        if sizes is not None:
            workload = scale_sizes(workload, sizes, max_size=max_size or n_hosts)
        if runtimes is not None:
            workload = scale_runtimes(workload, runtimes, whole_seconds=whole_seconds)
        if to_load is not None:
            load = factor_to_load(workload, to_load, machine_size(workload, n_hosts))
            console.talk.note(f"{file}: times between submissions divided by {load:.6g}")
        if load is not None:
            workload = scale_load(workload, load, whole_seconds=whole_seconds)
        written = write_trace(console, workload, output, force=force)
        console.show(written_result([file], [(output, written)]))
    return ExitCode.OK


@click.command()
@click.argument("file")
@click.option("-o", "--output", metavar="FILE", help="With {} for the number of the extract.")
@click.option("--force", is_flag=True, help="Replace files that are there already.")
@click.option("--length", default="7d", show_default=True, metavar="TIME", help="As in 7d or 12h.")
@click.option("--utilisation", default="0:", metavar="A:B", help="Range that is taken.")
@click.option("--count", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--step", default="1h", show_default=True, metavar="TIME", help="Between candidates.")
@click.option(
    "--measure",
    type=click.Choice(["utilisation", "load"]),
    help="Recorded utilisation, or load submitted. Default: what the log knows.",
)
@click.option(
    "--at-the-start",
    type=click.Choice(["drop", "continue"]),
    default="drop",
    show_default=True,
    help="Jobs that run or wait when an extract begins.",
)
@hosts_option
@processors_option
@speed_option
@output_options
def extract(
    *,
    file: str,
    output: str | None,
    force: bool,
    length: str,
    utilisation: str,
    count: int,
    step: str,
    measure: str | None,
    at_the_start: str,
    n_hosts: int | None,
    processors: str,
    speed: float | None,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Find the busiest stretches of FILE that do not overlap, and write each to a file."""
    from noctule.printing.traces import extracts_result
    from noctule.traces import extract as cut_out
    from noctule.traces import find_extracts
    from noctule.traces.extraction import knows_waits
    from noctule.traces.quantities import duration_of, range_of
    from noctule.traces.reading import machine_size

    least, most = range_of(utilisation, where="--utilisation")
    with speaking(as_json=as_json, quiet=quiet) as console:
        names = _extract_names(output, count, force=force)
        rules = rules_for(output or "x.swf", processors)
        workload = read_trace(console, file, rules, speed=speed)
        found = find_extracts(
            workload,
            machine_size(workload, n_hosts),
            length=duration_of(length, where="--length"),
            least=least,
            most=most,
            count=count,
            step=duration_of(step, where="--step"),
            measure=measure or ("utilisation" if knows_waits(workload) else "load"),
        )
        if len(found) < count:
            console.talk.note(f"{file}: {len(found)} such stretches, {count} were asked for")
        for one, name in zip(found, names, strict=False):
            part = cut_out(workload, one.start, one.length, at_the_start=at_the_start)
            write_trace(console, part, name, force=force)
        console.show(extracts_result(workload, found, names))
    return ExitCode.OK


def _extract_names(output: str | None, count: int, *, force: bool) -> list[str]:
    """Return the names of the files, numbered from 1 with as many digits as the last needs."""
    from noctule.errors import InputError
    from noctule.formats.saving import format_of
    from noctule.output_file import check_file

    if output is None:
        return []
    if count > 1 and "{}" not in output:
        raise InputError(f"{output}: got one name for {count} files, expected {{}} in it")
    width = len(str(count))
    names = [output.replace("{}", str(i + 1).zfill(width)) for i in range(count)]
    for name in names:
        format_of(name)
        check_file(name, force=force)
    return names


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@file_options
@click.option(
    "--align",
    type=click.Choice(["recorded", "start", "dates"]),
    help="Times as recorded, all from time 0, or by their dates.",
)
@click.option("--joined", is_flag=True, help="The same user in two files is one user.")
@processors_option
@output_options
def merge(
    *,
    files: tuple[str, ...],
    output: str,
    force: bool,
    align: str | None,
    joined: bool,
    processors: str,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Write the jobs of all FILEs to one file, with ids of their own."""
    from noctule.output_file import check_file
    from noctule.printing.traces import written_result
    from noctule.traces import merge as merged

    with speaking(as_json=as_json, quiet=quiet) as console:
        rules = rules_for(output, processors)
        check_file(output, force=force)
        workloads = [read_trace(console, file, rules) for file in files]
        together = merged(workloads, apart=not joined, align=align)
        written = write_trace(console, together, output, force=force)
        console.show(written_result(files, [(output, written)]))
    return ExitCode.OK


@click.command()
@click.argument("file")
@file_options
@click.option("--seed", type=int, help="Draw the numbers, instead of counting.")
@click.option("--drop-dates", is_flag=True, help="Do not say which date time 0 is.")
@output_options
def anonymise(
    *,
    file: str,
    output: str,
    force: bool,
    seed: int | None,
    drop_dates: bool,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Write FILE with numbers instead of names, and without text."""
    from noctule.output_file import check_file
    from noctule.printing.traces import written_result
    from noctule.traces import anonymise as made_anonymous

    with speaking(as_json=as_json, quiet=quiet) as console:
        rules = rules_for(output, "requested")
        check_file(output, force=force)
        workload = made_anonymous(
            read_trace(console, file, rules), seed=seed, keep_dates=not drop_dates
        )
        written = write_trace(console, workload, output, force=force)
        console.show(written_result([file], [(output, written)]))
    return ExitCode.OK
