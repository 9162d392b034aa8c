"""noctule slurm compare."""

from __future__ import annotations

import click

from noctule.commands.options import output_options
from noctule.commands.slurm.sites import mode_option
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
@mode_option
@output_options
def compare(
    *, path: str, phases: int, seed: int, mode: str, as_json: bool, quiet: bool
) -> ExitCode:
    """Compare the model with what a real Slurm did: the set DIR/NAME.csv, .log.gz, .slurm.conf.

    Three times: with the passes at the dates of the log; with passes that the model triggers itself
    on the ticks of the log; and free runs, whose clocks begin anywhere. With --mode bsc just once.
    """
    from noctule.printing.fidelity import bsc_result, comparison_result, describe_truth
    from noctule.slurm.truth.compare import bsc_starts, compare_with_truth
    from noctule.slurm.truth.sets import read_truth

    with speaking(as_json=as_json, quiet=quiet) as console:
        truth = read_truth(path)
        console.talk.notes(describe_truth(truth))
        if mode == "bsc":
            console.show(bsc_result(truth, bsc_starts(truth)))
            return ExitCode.OK
        comparison = compare_with_truth(truth, n_phases=phases, seed=seed)
        console.talk.notes(comparison.notes)
        console.show(comparison_result(comparison))
    return ExitCode.OK
