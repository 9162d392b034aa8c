"""noctule kube: schedulers of Kubernetes decide."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from noctule.commands.options import output_options, reading_options, simulation_options
from noctule.console import ExitCode, speaking

if TYPE_CHECKING:
    from noctule.kube.bridge import KubeScheduler
    from noctule.run import RunOptions

# what goes without saying, or with an option of this command
_WITHOUT = (
    "batsim-latency",
    "clairvoyant",
    "launch-delay",
    "share-hosts",
    "wait-for-timers",
    "wake-for-jobs",
    "walltimes",
)
_SETTINGS = (
    click.option(
        "--clock",
        type=click.Choice(["virtual", "real"]),
        default="virtual",
        show_default=True,
        help="Simulated time for schedulers, or the wall clock.",
    ),
    click.option(
        "--speed",
        type=float,
        default=10.0,
        show_default=True,
        help="Simulated seconds in a real one, with the real clock.",
    ),
    click.option(
        "--mode",
        type=click.Choice(["window", "exact"]),
        default="window",
        show_default=True,
        help="Wait for timers of schedulers around changes, or for all of them.",
    ),
    click.option(
        "--window",
        type=float,
        default=12.0,
        show_default=True,
        metavar="S",
        help="How long around them: a little more than the longest back-off.",
    ),
    click.option(
        "--gang-timeout",
        type=float,
        default=600.0,
        show_default=True,
        metavar="S",
        help="How long bound pods wait for others of their job; 0: forever.",
    ),
    click.option(
        "--gang-backoff",
        type=float,
        default=10.0,
        show_default=True,
        metavar="S",
        help="After which they are created again; doubles each time.",
    ),
    click.option(
        "--groups",
        type=click.Choice(["none", "coscheduling", "volcano", "workload", "pod-group"]),
        default="none",
        show_default=True,
        help="Objects that tell which pods belong together.",
    ),
    click.option("--requeue-preempted", is_flag=True, help="Submit preempted jobs again."),
    click.option(
        "--grace",
        type=int,
        default=30,
        show_default=True,
        metavar="S",
        help="How long preempted pods go on, unless they say.",
    ),
    click.option("--image-pull", type=float, default=0.0, help="Seconds for an image, on a node."),
    click.option("--start-delay", type=float, default=0.0, help="Seconds from binding to work."),
    click.option("--bind-latency", type=float, default=0.0, help="Seconds from binding to start."),
    click.option(
        "--stall-timeout",
        type=float,
        default=60.0,
        show_default=True,
        metavar="S",
        help="Real seconds that schedulers may take to come to rest.",
    ),
    click.option("--seed", type=int, default=0, help="Fix what programs draw at random."),
)


def _settings(command: Any) -> Any:
    for option in reversed(_SETTINGS):
        command = option(command)
    return command


@click.command()
@click.argument("workload")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@click.option("--hosts", "n_hosts", type=click.IntRange(min=1), help="Default: the file's header.")
@click.option("--platform", "platform_file", metavar="FILE", help="SimGrid XML, or our TOML.")
@click.option(
    "--scheduler",
    "schedulers",
    multiple=True,
    metavar="NAME=COMMAND",
    help="Another scheduler, for pods that name it.",
)
@click.option(
    "--beside",
    multiple=True,
    metavar="COMMAND",
    help="A program that schedulers talk to, such as an extender.",
)
@click.option("--attach", is_flag=True, help="Start no scheduler, but tell how to reach the API.")
@click.option("--scheduler-log", metavar="FILE", default="", help="For what programs write.")
@_settings
@click.option("--events", metavar="FILE", help="Hosts that fail, return, come and go.")
@click.option("--windows", metavar="FILE", help="Maintenances and reservations.")
@click.option("-o", "--output", metavar="DIR", help="Folder to write the run to.")
@click.option("--force", is_flag=True, help="Replace a run that is there already.")
@reading_options
@simulation_options(without=_WITHOUT)
@output_options
def kube(
    *,
    workload: str,
    words: Sequence[str],
    n_hosts: int | None,
    platform_file: str | None,
    schedulers: Sequence[str],
    beside: Sequence[str],
    attach: bool,
    scheduler_log: str,
    events: str | None,
    windows: str | None,
    output: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **others: Any,
) -> ExitCode:
    """Simulate WORKLOAD under schedulers of Kubernetes, such as an unmodified kube-scheduler."""
    from noctule import run as runs
    from noctule.kube.bridge import KubeScheduler
    from noctule.kube.settings import Settings

    settings = {name: others.pop(name) for name in Settings.__slots__ if name in others}
    reading = {name: others.pop(name) for name in runs.ReadingOptions.__struct_fields__}
    if attach:
        settings["clock"] = "real"
    with speaking(as_json=as_json, quiet=quiet) as console:
        policy = KubeScheduler(
            shlex.join(words),
            schedulers="\n".join(schedulers),
            beside="\n".join(beside),
            attach=attach,
            log=scheduler_log,
            announce=partial(click.echo, err=True),  # also where nothing else is told
            **settings,
        )
        options = runs.RunOptions(
            workload=workload,
            policy=policy.text,
            platform=runs.PlatformOptions(n_hosts, file=platform_file),
            reading=runs.ReadingOptions(**reading),
            simulation=runs.SimulationOptions(**others),
            events=events,
            windows=windows,
        )
        if output is not None:
            runs.check_target(output, force=force)
        _run(options, policy, console, output, force=force)
    return ExitCode.OK


def _run(
    options: RunOptions, policy: KubeScheduler, console: Any, output: str | None, *, force: bool
) -> None:
    from noctule import run as runs
    from noctule.printing.runs import describe_inputs, describe_run, run_result

    told = options.platform == runs.PlatformOptions()
    execution = runs.execute(
        options,
        policy=policy,
        on_read=lambda workload: console.talk.notes(describe_inputs(workload, told=told)),
        progress=console.talk.progress(),
    )
    console.talk.close()
    console.talk.notes(describe_run(execution))
    if output is not None:
        runs.write_run(output, execution, force=force)
        console.talk.note(f"{output}: written")
    console.show(run_result(execution, output))
