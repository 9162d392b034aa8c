"""noctule slurm whatif."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from noctule.commands.options import output_options
from noctule.commands.slurm.sites import open_site, phase_options, site_options
from noctule.console import ExitCode, speaking

if TYPE_CHECKING:
    from noctule.slurm.model.site_run import Mode

_CHANGES = """\b
CHANGE is one of, or several with semicolons between them:
  SchedulerParameters.bf_interval=60   a scheduler parameter (=no: a flag off)
  PartitionName.batch.MaxTime=2-0      a key of a partition
  NodeName.n[1-4].RealMemory=64000     a key of nodes; NodeName.ALL: of all
  PriorityWeightAge=1000               any other key of slurm.conf
  nodes+20%, nodes-4                   more or fewer nodes, of each kind alike
  load*1.1                             jobs come that many times as fast
"""


@click.command(epilog=_CHANGES)
@site_options
@click.option(
    "--set",
    "changes",
    metavar="CHANGE",
    multiple=True,
    required=True,
    help="A change; parts between semicolons are made together. May be repeated: each is compared.",
)
@phase_options
@click.option(
    "--most-changed",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="Tell the N jobs whose waits change most, and why.",
)
@click.option("--csv", "csv_file", metavar="FILE", help="Write the effects as a table too.")
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
@output_options
def whatif(
    *,
    changes: tuple[str, ...],
    phases: int,
    seed: int,
    mode: Mode,
    most_changed: int,
    csv_file: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **where: Any,
) -> ExitCode:
    """Compare a site's present configuration with one or many changes.

    An effect smaller than the backtest error of its class is not distinguishable.
    """
    from noctule.output_file import check_file
    from noctule.printing.slurm import write_rows
    from noctule.printing.whatif import effect_rows, whatif_result
    from noctule.slurm.answers.whatif import what_if

    with speaking(as_json=as_json, quiet=quiet) as console:
        if csv_file is not None:
            check_file(csv_file, force=force)
        site, conf, talk = open_site(**where)
        console.talk.notes(talk)
        found = what_if(
            site,
            conf,
            changes,
            n_phases=phases,
            seed=seed,
            n_jobs=most_changed,
            mode=mode,
            say=console.talk.note,
        )
        if csv_file is not None:
            write_rows(csv_file, effect_rows(found), force=force)
        console.show(whatif_result(found))
    return ExitCode.OK
