"""noctule generate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from noctule.commands.gathering import gathering
from noctule.commands.options import Command, output_options
from noctule.console import ExitCode, Result, Table, number_text, speaking

if TYPE_CHECKING:
    from noctule.synthetic import Arrivals, WalltimeModel
    from noctule.workload import Workload

Draw = Callable[[], "Workload"]


@dataclass(frozen=True, slots=True)
class Drawing:
    """The options that all models have."""

    seed: int
    walltime: str | None
    walltime_factor: float | None
    max_walltime: float | None
    cycle: str | None
    burst_size: float | None
    burst_spacing: float | None
    output: str | None
    force: bool
    as_json: bool
    quiet: bool


@click.group()
def generate() -> None:
    """Draw a workload, or failures, from a model; the same seed gives the same bytes."""


def _model_options(command: Callable[..., ExitCode]) -> Callable[..., ExitCode]:
    """Add what all models have."""
    gathered = gathering(Drawing, "drawing", command)
    for option in (
        click.option("--force", is_flag=True, help="Replace a file that is there already."),
        click.option("-o", "--output", metavar="FILE", help="An .swf or .json file to write."),
        click.option("--burst-spacing", type=float, metavar="S", help="Seconds within a burst."),
        click.option("--burst-size", type=float, metavar="X", help="Jobs of a burst, on average."),
        click.option(
            "--cycle", type=click.Choice(["daily", "weekly"]), help="Arrivals follow days or weeks."
        ),
        click.option("--max-walltime", type=float, metavar="S", help="Of tsafrir."),
        click.option("--walltime-factor", type=float, metavar="X", help="Of factor and uniform."),
        click.option(
            "--walltime",
            type=click.Choice(["none", "exact", "factor", "uniform", "tsafrir"]),
            help="How users guess runtimes; by default they know them.",
        ),
        click.option("--seed", type=click.IntRange(min=0), required=True, metavar="S"),
    ):
        gathered = option(gathered)
    return output_options(gathered)


def _profile_option(command: Command) -> Command:
    """Add what the jobs of a model do."""
    return click.option(
        "--profiles",
        type=click.Choice(["compute", "delay"]),
        default="compute",
        show_default=True,
        help="Work that faster hosts do in less time, or fixed durations.",
    )(command)


_jobs = click.option(
    "-n", "--jobs", "n_jobs", type=click.IntRange(min=1), required=True, metavar="N"
)


@generate.command()
@_jobs
@click.option("--hosts", "n_hosts", type=click.IntRange(min=1), default=128, show_default=True)
@click.option("--untyped", is_flag=True, help="Do not tell batch from interactive jobs.")
@_profile_option
@_model_options
def lublin(
    *, n_jobs: int, n_hosts: int, untyped: bool, profiles: str, drawing: Drawing
) -> ExitCode:
    """Draw from Lublin and Feitelson's model of rigid jobs on supercomputers."""
    from noctule import synthetic

    def draw() -> Workload:
        return synthetic.lublin(
            n_jobs,
            seed=drawing.seed,
            n_hosts=n_hosts,
            typed=not untyped,
            profiles=profiles,
            **_given(drawing),
        )

    return _drawn(draw, drawing)


@generate.command()
@_jobs
@click.option("--pattern", default="kth", show_default=True, help="Whose coefficients: kth, sdsc.")
@click.option("--coefficients", metavar="FILE.toml", help="Others; noctule trace fit writes them.")
@click.option("--hosts", "n_hosts", type=click.IntRange(min=1), help="By default those of the log.")
@click.option("--largest", type=click.IntRange(min=1), metavar="N", help="Hosts of a job at most.")
@click.option("--load", type=float, metavar="X", help="Work over what the machine can do.")
@_profile_option
@_model_options
def cirne(*, n_jobs: int, profiles: str, drawing: Drawing, **model: Any) -> ExitCode:
    """Draw after Cirne and Berman, with requested times and cancellations."""
    from noctule import synthetic

    def draw() -> Workload:
        return synthetic.cirne(
            n_jobs, seed=drawing.seed, profiles=profiles, **model, **_given(drawing)
        )

    return _drawn(draw, drawing)


@generate.command()
@click.option("-n", "--jobs", "n_jobs", type=click.IntRange(min=1), default=800, show_default=True)
@click.option("--hosts", "n_hosts", type=click.IntRange(min=1), default=32, show_default=True)
@click.option(
    "--runtimes",
    required=True,
    metavar="FILE",
    help="Profiles of a Batsim workload, jobs of a log, or a list of seconds.",
)
@_model_options
def batsim2016(*, n_jobs: int, n_hosts: int, runtimes: str, drawing: Drawing) -> ExitCode:
    """Draw like the workloads with which Batsim was validated."""
    from noctule import synthetic

    def draw() -> Workload:
        programs = synthetic.read_programs(runtimes)
        return synthetic.batsim2016(
            n_jobs, seed=drawing.seed, runtimes=programs, n_hosts=n_hosts, **_given(drawing)
        )

    return _drawn(draw, drawing)


@generate.command()
@click.option("-n", "--jobs", "n_jobs", type=click.IntRange(min=1), default=300, show_default=True)
@click.option("--hosts", "n_hosts", type=click.IntRange(min=1), default=16, show_default=True)
@click.option("--jobs-from", required=True, metavar="FILE", help="A log to draw from.")
@click.option(
    "--communication",
    type=float,
    default=0.0,
    show_default=True,
    metavar="X",
    help="Bytes between two hosts, for each second of a job's recorded runtime.",
)
@click.option("--seed", type=click.IntRange(min=0), required=True, metavar="S")
@click.option("-o", "--output", metavar="FILE", help="A .json file to write.")
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
@output_options
def locality2017(
    *,
    n_jobs: int,
    n_hosts: int,
    jobs_from: str,
    communication: float,
    seed: int,
    output: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Draw communicating jobs, with which locality was studied."""
    from noctule import synthetic
    from noctule.formats import load_workload

    def draw() -> Workload:
        return synthetic.locality2017(
            n_jobs,
            seed=seed,
            jobs_from=load_workload(jobs_from),
            n_hosts=n_hosts,
            communication=communication,
        )

    return _generate(draw, output=output, force=force, as_json=as_json, quiet=quiet)


@generate.command()
@click.argument("description", metavar="FILE.toml")
@_jobs
@click.option("--hosts", "n_hosts", type=click.IntRange(min=1), help="Limits the sizes.")
@_profile_option
@_model_options
def independent(
    *, description: str, n_jobs: int, n_hosts: int | None, profiles: str, drawing: Drawing
) -> ExitCode:
    """Draw fields independently of each other, as FILE.toml describes them."""
    from noctule import synthetic

    def draw() -> Workload:
        return synthetic.independent(
            description,
            n_jobs,
            seed=drawing.seed,
            n_hosts=n_hosts,
            profiles=profiles,
            **_given(drawing),
        )

    return _drawn(draw, drawing)


@generate.command()
@click.option("--hosts", "n_hosts", type=click.IntRange(min=1), required=True, metavar="N")
@click.option("--mtbf", type=float, required=True, metavar="S", help="Mean time between failures.")
@click.option("--mttr", type=float, required=True, metavar="S", help="Mean time to repair.")
@click.option("--until", type=float, required=True, metavar="T", help="No failure from then on.")
@click.option(
    "--shape", type=float, default=1.0, show_default=True, help="Of the lifetimes (Weibull)."
)
@click.option("--seed", type=click.IntRange(min=0), required=True, metavar="S")
@click.option("-o", "--output", metavar="FILE", help="A file of events to write.")
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
@output_options
def failures(
    *,
    n_hosts: int,
    mtbf: float,
    mttr: float,
    until: float,
    shape: float,
    seed: int,
    output: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Draw hosts that fail and return, for `noctule run --events`."""
    from noctule.formats.event_files import save_events
    from noctule.output_file import check_file
    from noctule.synthetic import Failures

    with speaking(as_json=as_json, quiet=quiet) as console:
        if output is not None:
            check_file(output, force=force)
        drawn = Failures.draw(n_hosts, mtbf, mttr, seed=seed, until=until, shape=shape)
        if output is not None:
            save_events(drawn.events(), output, force=force)
            console.talk.note(f"{output}: written")
        numbers = drawn.summary()
        rows = [[name, number_text(value)] for name, value in numbers.items()]
        told = {"output": output, "failures": numbers}
        console.show(Result(told, Table(["failures", "value"], rows)))
    return ExitCode.OK


def _drawn(draw: Draw, drawing: Drawing) -> ExitCode:
    return _generate(
        draw,
        output=drawing.output,
        force=drawing.force,
        as_json=drawing.as_json,
        quiet=drawing.quiet,
    )


def _generate(
    draw: Draw, *, output: str | None, force: bool, as_json: bool, quiet: bool
) -> ExitCode:
    from noctule.formats.saving import format_of, save_workload
    from noctule.output_file import check_file
    from noctule.synthetic.summary import summary

    with speaking(as_json=as_json, quiet=quiet) as console:
        if output is not None:
            format_of(output)
            check_file(output, force=force)
        workload = draw()
        console.talk.notes(f"{workload.source}: {rule}" for rule in workload.reading)
        if output is not None:
            save_workload(workload, output, force=force)
            console.talk.note(f"{output}: written")
        console.show(_result(summary(workload), output))
    return ExitCode.OK


def _result(numbers: dict[str, float | int], output: str | None) -> Result:
    rows = [[name, number_text(value)] for name, value in numbers.items()]
    return Result({"output": output, "workload": numbers}, Table(["workload", "value"], rows))


def _given(drawing: Drawing) -> dict[str, Any]:
    """Return the arrivals and the walltimes that the options ask for, if they do."""
    found = {"arrivals": _arrivals(drawing), "walltimes": _walltimes(drawing)}
    return {name: value for name, value in found.items() if value is not None}


def _arrivals(drawing: Drawing) -> Arrivals | None:
    from noctule.synthetic import Arrivals, Bursts, cycle_named

    cycle, size, spacing = drawing.cycle, drawing.burst_size, drawing.burst_spacing
    if spacing is not None and size is None:
        raise click.UsageError("--burst-spacing: expected --burst-size with it")
    if cycle is None and size is None:
        return None
    return Arrivals(
        None if cycle is None else cycle_named(cycle),
        None if size is None else Bursts(size, 1.0 if spacing is None else spacing),
    )


def _walltimes(drawing: Drawing) -> WalltimeModel | None:
    from noctule.synthetic.walltime_models import walltime_model

    name, factor, most = drawing.walltime, drawing.walltime_factor, drawing.max_walltime
    if name is None:
        for option, value in (("--walltime-factor", factor), ("--max-walltime", most)):
            if value is not None:
                raise click.UsageError(f"{option}: expected --walltime with it")
        return None
    given = {"f" if name == "uniform" else "factor": factor, "maximum": most}
    parameters = {key: value for key, value in given.items() if value is not None}
    return walltime_model("--walltime", name, parameters)
