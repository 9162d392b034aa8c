"""noctule verify."""

from __future__ import annotations

from typing import Any

import click

from noctule.commands.options import output_options, reading_options, simulation_options
from noctule.console import ExitCode, speaking

# what SimGrid is not asked, or is asked in another way
_OTHERS = (
    *("energy", "until", "report-ranks", "batsim-latency", "wake-for-jobs", "replay"),
    *("on-failure", "max-attempts", "checkpoint-every", "checkpoint-cost", "restart-cost"),
)


@click.command()
@click.argument("platform")
@click.argument("workload")
@click.option(
    "--policy", default="easy", show_default=True, metavar="SPEC", help="As in easy(order=sjf)."
)
@click.option(
    "--host-order",
    type=click.Choice(["natural", "lexicographic"]),
    default="natural",
    show_default=True,
    help="Order of names that gives the hosts of a platform file their ids.",
)
@click.option("--energy", is_flag=True, help="Compare the joules of hosts, too.")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=1e-9,
    show_default=True,
    help="Largest relative difference that is taken for none.",
)
@reading_options
@simulation_options(without=_OTHERS)
@output_options
def verify(
    *,
    platform: str,
    workload: str,
    policy: str,
    host_order: str,
    energy: bool,
    tolerance: float,
    processors: str,
    walltime_factor: float | None,
    profiles: str,
    reference_speed: float | None,
    dependencies: bool,
    walltimes: str,
    as_json: bool,
    quiet: bool,
    **simulation: Any,
) -> ExitCode:
    """Simulate WORKLOAD on PLATFORM, do the same in SimGrid, and tell the largest difference."""
    from noctule.formats import load_workload
    from noctule.formats.platforms import load_platform
    from noctule.printing.runs import describe_inputs, describe_oddities, verification_result
    from noctule.simgrid import verification
    from noctule.simgrid.driver import Driver

    with speaking(as_json=as_json, quiet=quiet) as console:
        jobs = load_workload(
            workload,
            processors=processors,
            walltime_factor=walltime_factor,
            profiles=profiles,
            reference_speed=reference_speed,
            dependencies=dependencies,
        )
        hosts = load_platform(platform, host_order=host_order)
        console.talk.notes(describe_inputs(jobs, told=False))
        found = verification.verify(
            hosts,
            jobs,
            policy,
            Driver.built(console.talk.note),
            with_energy=energy,
            progress=console.talk.progress(),
            enforce_walltime=walltimes == "engine",
            **simulation,
        )
        console.talk.close()
        console.talk.notes(describe_oddities(found.schedule))
        console.show(verification_result(found, (platform, workload, policy), tolerance))
    return ExitCode.OK if found.relative <= tolerance else ExitCode.CHECK_FAILED
