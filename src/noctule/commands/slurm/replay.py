"""noctule slurm replay."""

from __future__ import annotations

import click

from noctule.commands.options import output_options
from noctule.console import ExitCode, speaking


@click.command()
@click.argument("workload", metavar="WORKLOAD")
@click.option(
    "--conf",
    required=True,
    metavar="FILE",
    help="The slurm.conf of the Slurm that is to run it; kept with what happened.",
)
@click.option(
    "-o", "--output", required=True, metavar="DIR/NAME", help="The set of files to write."
)
@click.option("--force", is_flag=True, help="Replace a set that is there already.")
@click.option(
    "--unit",
    type=click.Choice(["nodes", "cpus"]),
    default="nodes",
    show_default=True,
    help="What a host of a workload stands for.",
)
@click.option("--partition", default="", metavar="NAME", help="For jobs that name none.")
@click.option("--first", type=click.IntRange(min=1), metavar="N", help="Only the first N jobs.")
@click.option("--log", metavar="FILE", help="Log of the controller, if not as it says itself.")
@click.option(
    "--patience",
    type=click.FloatRange(min=1),
    default=600.0,
    show_default=True,
    metavar="S",
    help="Cancel what is left when nothing has changed for so long.",
)
@output_options
def replay(
    *,
    workload: str,
    conf: str,
    output: str,
    force: bool,
    unit: str,
    partition: str,
    first: int | None,
    log: str | None,
    patience: float,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Submit WORKLOAD to a live Slurm at its dates, and collect what happens.

    The jobs sleep as long as those of WORKLOAD run: it takes as long as the workload does. Ctrl-C
    cancels the jobs that were submitted.
    """
    from noctule.printing.fidelity import replay_result
    from noctule.slurm.truth.controller import Controller
    from noctule.slurm.truth.live import LogFile, advice
    from noctule.slurm.truth.live import replay as replay_live
    from noctule.slurm.truth.submissions import load_submissions
    from noctule.slurm.truth.writing import beside_conf, check_truth, conf_text, write_truth

    with speaking(as_json=as_json, quiet=quiet) as console:
        check_truth(output, force=force)
        text = conf_text(conf)
        jobs = load_submissions(workload, unit=unit, partition=partition)[:first]
        controller = Controller(conf)
        settings = controller.settings()
        console.talk.notes(advice(settings))
        beside = beside_conf(conf, settings, controller)
        run = replay_live(
            controller,
            jobs,
            LogFile.of(log or settings.get("SlurmctldLogFile", "")),
            say=console.talk.note,
            patience=patience,
            completions=settings.get("JobCompLoc"),
        )
        files = write_truth(output, run, text, beside=beside, force=force)
        console.show(replay_result(output, run, files))
    return ExitCode.OK
