"""noctule slurm compare."""

from __future__ import annotations

import click

from noctule.commands.options import output_options
from noctule.console import ExitCode, speaking


@click.command()
@click.argument("path", metavar="DIR/NAME")
@click.option(
    "--phases",
    type=click.IntRange(min=1),
    default=24,
    show_default=True,
    metavar="N",
    help="Free runs, each with its own phases of the clocks.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of the phases."
)
@output_options
def compare(*, path: str, phases: int, seed: int, as_json: bool, quiet: bool) -> ExitCode:
    """Compare the model with what a real Slurm did: the set DIR/NAME.csv, .log.gz, .slurm.conf.

    Three times: with the passes at the dates of the log; with passes that the model triggers itself
    on the ticks of the log; and free runs, whose clocks begin anywhere.
    """
    from noctule.fidelity_reports import comparison_result, describe_truth
    from noctule.slurm.truth.compare import compare_with_truth
    from noctule.slurm.truth.sets import read_truth

    with speaking(as_json=as_json, quiet=quiet) as console:
        truth = read_truth(path)
        console.talk.notes(describe_truth(truth))
        comparison = compare_with_truth(truth, n_phases=phases, seed=seed)
        console.talk.notes(comparison.notes)
        console.show(comparison_result(comparison))
    return ExitCode.OK
