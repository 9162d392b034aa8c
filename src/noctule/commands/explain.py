"""noctule explain."""

from __future__ import annotations

import click

from noctule.commands.options import output_options
from noctule.console import ExitCode, speaking


@click.command()
@click.argument("directory", metavar="DIR")
@click.argument("job_ids", metavar="JOB...", nargs=-1, required=True)
@output_options
def explain(*, directory: str, job_ids: tuple[str, ...], as_json: bool, quiet: bool) -> ExitCode:
    """Say why jobs of the run in DIR waited: intervals, each with its cause."""
    from noctule.printing.explanations import explanation_result
    from noctule.run_waits import load_waits

    with speaking(as_json=as_json, quiet=quiet) as console:
        waits, notes = load_waits(directory)
        rows = [row for job_id in job_ids for row in waits.attempts(job_id)]
        found = [waits.explain_row(row) for row in rows]
        notes = (*notes, *waits.notes(rows))
        console.show(explanation_result(found, basis=f"the schedule in {directory}", notes=notes))
    return ExitCode.OK
