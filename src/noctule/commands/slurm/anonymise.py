"""noctule slurm anonymise."""

from __future__ import annotations

import click

from noctule.commands.options import output_options
from noctule.commands.slurm.import_ import site_file_options
from noctule.console import ExitCode, Result, speaking


@click.command()
@click.option("--conf", required=True, metavar="FILE", help="slurm.conf.")
@click.option("--jobs", required=True, metavar="FILE", help="Rows of sacct.")
@site_file_options
@click.option("-o", "--output", required=True, metavar="DIR", help="Folder for the new files.")
@click.option(
    "--key",
    required=True,
    metavar="FILE",
    help="The secret of the hashes; made if it is not there. Keep it to yourself.",
)
@click.option("--force", is_flag=True, help="Replace files that are there already.")
@output_options
def anonymise(
    *,
    conf: str,
    jobs: str,
    output: str,
    key: str,
    force: bool,
    as_json: bool,
    quiet: bool,
    **files: str | None,
) -> ExitCode:
    """Replace all names of a site's files by keyed hashes; times and structure stay."""
    from noctule.slurm.site.anonymous.folder import save_anonymous
    from noctule.slurm.site.anonymous.names import read_key
    from noctule.slurm.site.reading import SiteFiles

    with speaking(as_json=as_json, quiet=quiet) as console:
        names = save_anonymous(SiteFiles(conf, jobs, **files), output, read_key(key), force=force)
        lines = [f"{output}: {len(names)} files written; {key} is secret"]
        console.show(Result({"output": output, "files": names, "key": key}, lines=lines))
    return ExitCode.OK
