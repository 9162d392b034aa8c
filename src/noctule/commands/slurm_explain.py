"""noctule slurm explain."""

from __future__ import annotations

from typing import Any

import click

from noctule.commands.options import output_options
from noctule.commands.slurm_sites import open_site, site_options
from noctule.console import ExitCode, speaking


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
@output_options
def explain(
    *,
    job_ids: tuple[str, ...],
    recorded: bool,
    seed: int,
    as_json: bool,
    quiet: bool,
    **where: Any,
) -> ExitCode:
    """Say why jobs waited: intervals, each with its cause, that sum to the wait."""
    from noctule.explain_reports import explanation_result
    from noctule.slurm.clocks import Clocks
    from noctule.slurm.explain import Explainer
    from noctule.slurm.lifetimes import recorded_lifetimes, simulated_lifetimes
    from noctule.slurm.site_run import phase_seeds, run_site

    with speaking(as_json=as_json, quiet=quiet) as console:
        site, _, talk = open_site(**where)
        console.talk.notes(talk)
        if recorded:
            lifetimes = recorded_lifetimes(site)
        else:
            clocks = Clocks.drawn(phase_seeds(1, seed)[0], site.settings)
            lifetimes = simulated_lifetimes(run_site(site, clocks, keep_passes=True))
        explainer = Explainer(site, lifetimes)
        found = [explainer.explain_id(job_id) for job_id in job_ids]
        basis = "the record" if recorded else f"the model, seed {seed}"
        console.show(explanation_result(found, basis=basis, notes=list(explainer.notes())))
    return ExitCode.OK
