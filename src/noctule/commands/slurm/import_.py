"""noctule slurm import."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from noctule.commands.options import output_options
from noctule.console import ExitCode, Result, speaking

if TYPE_CHECKING:
    from noctule.slurm.site.reading import SiteFiles

_FILES = {
    "running": "Rows of sacct of the jobs that ran when those of --jobs begin.",
    "associations": "What sacctmgr dump wrote: accounts, users, shares and limits.",
    "qos": "The table of sacctmgr --parsable2 show qos.",
    "topology": "topology.conf.",
    "gres": "gres.conf.",
    "events": "The table of sacctmgr show event: when nodes were down.",
    "reservations": "The table of sacctmgr show reservation.",
    "usage": "The table of sshare at the start.",
}


def site_file_options(command: click.decorators.FC) -> click.decorators.FC:
    """Add an option for each optional file of a site."""
    for name, text in reversed(_FILES.items()):
        command = click.option(f"--{name}", metavar="FILE", help=text)(command)
    return command


@click.command(name="import")
@click.option("--conf", metavar="FILE", help="slurm.conf; files it includes lie beside it.")
@click.option(
    "--jobs", metavar="FILE", help="Rows of sacct, an SWF log, a trace of BSC, or a workload."
)
@site_file_options
@click.option("-o", "--output", metavar="DIR", help="Folder for platform, jobs and report.")
@click.option("--force", is_flag=True, help="Replace a site that is there already.")
@click.option("--time-zone", metavar="ZONE", help="Of local times, such as Europe/Paris.")
@click.option(
    "--processors",
    type=click.Choice(["cpus", "nodes"]),
    help="What the processors of a log or workload are in Slurm.",
)
@click.option("--commands", "since", metavar="DATE", help="Print what exports a site since a date.")
@output_options
def import_(
    *,
    conf: str | None,
    jobs: str | None,
    output: str | None,
    force: bool,
    time_zone: str | None,
    processors: str | None,
    since: str | None,
    as_json: bool,
    quiet: bool,
    **files: str | None,
) -> ExitCode:
    """Turn a site's own files into a platform and a workload, and say what was dropped and why."""
    from noctule.slurm.site.reading import SiteFiles

    with speaking(as_json=as_json, quiet=quiet) as console:
        if since is not None:
            console.show(_commands(since))
            return ExitCode.OK
        if conf is None or jobs is None or output is None:
            raise click.UsageError("expected --conf, --jobs and --output, or --commands DATE")
        where = SiteFiles(conf, jobs, **files)
        console.show(_import(where, output, time_zone, processors, force=force))
    return ExitCode.OK


def _commands(since: str) -> Result:
    from noctule.slurm.jobs.sacct import export_command
    from noctule.slurm.site.extras import EVENT_COMMAND, RESERVATION_COMMAND, SHARE_COMMAND

    lines = [
        f"{export_command(since)} > sacct.txt",
        "sacctmgr dump CLUSTER file=associations.txt",
        "sacctmgr --parsable2 show qos > qos.txt",
        f"{EVENT_COMMAND.format(start=since)} > events.txt",
        f"{RESERVATION_COMMAND.format(start=since)} > reservations.txt",
        f"{SHARE_COMMAND} > usage.txt",
    ]
    return Result({"commands": lines}, lines=lines)


def _import(
    files: SiteFiles, output: str, time_zone: str | None, processors: str | None, *, force: bool
) -> Result:
    from noctule.slurm.jobs.stamps import find_zone
    from noctule.slurm.site.folder import check_site_folder, save_site
    from noctule.slurm.site.reading import read_site

    check_site_folder(output, force=force)
    zone = None if time_zone is None else find_zone(time_zone, "--time-zone")
    found = read_site(files, zone=zone, processors=processors)
    names = save_site(
        found.site, output, found.conf, found.report, copies=found.copies, force=force
    )
    site = found.site
    data = {
        "output": output,
        "files": names,
        "hosts": site.platform.n_hosts,
        "nodes": len(site.settings.nodes),
        "partitions": [partition.name for partition in site.settings.partitions],
        "origin": site.origin,
        **found.report.document(),
    }
    lines = [*found.report.lines(), f"{output}: {len(names)} files written"]
    return Result(data, lines=lines)
