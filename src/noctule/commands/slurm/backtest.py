"""noctule slurm backtest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from noctule.commands.options import output_options
from noctule.commands.slurm.sites import open_site, phase_options, site_options
from noctule.console import ExitCode, speaking

if TYPE_CHECKING:
    from noctule.slurm.model.site_run import Mode


@click.command()
@site_options
@phase_options
@click.option("--csv", "csv_file", metavar="FILE", help="Write the classes as a table too.")
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
@output_options
def backtest(
    *,
    phases: int,
    seed: int,
    mode: Mode,
    csv_file: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **where: Any,
) -> ExitCode:
    """Replay a site's log under its present configuration: simulated against recorded waits.

    By partition, size and account. The error of a class is what an effect of a change must exceed
    before noctule slurm whatif believes it.
    """
    from noctule.output_file import check_file
    from noctule.printing.slurm import backtest_result, write_rows
    from noctule.slurm.answers.backtest import backtest_site, class_rows

    with speaking(as_json=as_json, quiet=quiet) as console:
        if csv_file is not None:
            check_file(csv_file, force=force)
        site, _, talk = open_site(**where)
        console.talk.notes(talk)
        found = backtest_site(site, n_phases=phases, seed=seed, mode=mode)
        if csv_file is not None:
            write_rows(csv_file, class_rows(found.classes), force=force)
        console.show(backtest_result(found))
    return ExitCode.OK
