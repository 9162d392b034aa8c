"""noctule slurm explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from noctule.commands.options import output_options
from noctule.commands.slurm.sites import mode_option, open_site, site_options
from noctule.console import ExitCode, speaking

if TYPE_CHECKING:
    from noctule.slurm.model.site_run import Mode


@click.command()
@click.argument("job_ids", metavar="JOBID...", nargs=-1, required=True)
@site_options
@click.option(
    "--recorded", is_flag=True, help="Explain the waits of the record, not those of the model."
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Of the phases of the clocks.",
)
@mode_option
@output_options
def explain(
    *,
    job_ids: tuple[str, ...],
    recorded: bool,
    seed: int,
    mode: Mode,
    as_json: bool,
    quiet: bool,
    **where: Any,
) -> ExitCode:
    """Say why jobs waited: intervals, each with its cause, that sum to the wait."""
    from noctule.printing.explanations import explanation_result
    from noctule.slurm.answers.waits.explain import explain_waits

    with speaking(as_json=as_json, quiet=quiet) as console:
        site, _, talk = open_site(**where)
        console.talk.notes(talk)
        found, notes = explain_waits(site, job_ids, seed=seed, mode=mode, recorded=recorded)
        model = "BSC's steps" if mode == "bsc" else f"the model, seed {seed}"
        basis = "the record" if recorded else model
        console.show(explanation_result(found, basis=basis, notes=notes))
    return ExitCode.OK
