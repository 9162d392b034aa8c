"""noctule slurm export."""

from __future__ import annotations

import click

from noctule.commands.options import output_options
from noctule.console import ExitCode, Result, speaking


@click.command()
@click.argument("site", metavar="SITE")
@click.argument("run", metavar="RUN")
@click.option("-o", "--output", required=True, metavar="FILE", help="May end in .gz, .xz or .bz2.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["swf", "sacct", "completion-log"]),
    default="sacct",
    show_default=True,
    help="As a log, as rows of sacct, or as jobcomp/filetxt writes it.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
@output_options
def export(
    *, site: str, run: str, output: str, kind: str, force: bool, as_json: bool, quiet: bool
) -> ExitCode:
    """Write what happened in RUN, the folder of a run of SITE's jobs, as Slurm would have."""
    from noctule.formats.schedule_swf import schedule_swf_text
    from noctule.output_file import check_file, write_file
    from noctule.schedule import Schedule
    from noctule.slurm.site.export import completion_text, sacct_text
    from noctule.slurm.site.folder import load_site

    with speaking(as_json=as_json, quiet=quiet) as console:
        check_file(output, force=force)
        schedule = Schedule.load(run)
        if kind == "swf":
            pieces = schedule_swf_text(schedule)
        else:
            write = sacct_text if kind == "sacct" else completion_text
            pieces = write(load_site(site), schedule)
        write_file(output, pieces, force=force)
        data = {"output": output, "format": kind, "jobs": len(schedule)}
        console.show(Result(data, lines=[f"{output}: {len(schedule)} jobs written"]))
    return ExitCode.OK
