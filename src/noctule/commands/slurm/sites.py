"""What the commands about a site have in common: where its files are, and the phases of clocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from noctule.commands.options import Command
from noctule.commands.slurm.import_ import site_file_options

if TYPE_CHECKING:
    from noctule.slurm.conf.lines import Conf
    from noctule.slurm.site.site import SlurmSite


def site_options(command: Command) -> Command:
    """Add the options that say where a site is: an imported folder, or its own files."""
    for option in (
        click.option(
            "--boot",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help="What nodes take to boot, with power saving; by default ResumeTimeout.",
        ),
        click.option(
            "--boot-failures",
            type=click.FloatRange(0, 1, max_open=True),
            default=0.0,
            metavar="SHARE",
            help="Of boots that never end, below 1.",
        ),
        click.option(
            "--repair",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help="Until a node that did not boot in time is put right; by default never.",
        ),
        click.option("--time-zone", metavar="ZONE", help="Of local times, such as Europe/Paris."),
        site_file_options,
        click.option("--jobs", metavar="FILE", help="Rows of sacct, a log, a trace or a workload."),
        click.option("--conf", metavar="FILE", help="slurm.conf; files it includes lie beside it."),
        click.option("--site", metavar="DIR", help="What noctule slurm import wrote, instead."),
    ):
        command = option(command)
    return command


def mode_option(command: Command) -> Command:
    """Add whose clocks run."""
    return click.option(
        "--mode",
        type=click.Choice(["slurm", "bsc"]),
        default="slurm",
        show_default=True,
        help="Clocks of Slurm's daemons, or the steps of BSC's simulator, which has no phases.",
    )(command)


def phase_options(command: Command) -> Command:
    """Add the options of an ensemble of phases."""
    for option in (
        mode_option,
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=1,
            show_default=True,
            help="Of the phases.",
        ),
        click.option(
            "--phases",
            type=click.IntRange(min=1),
            default=8,
            show_default=True,
            metavar="N",
            help="Runs of each configuration, each with its own phases of the clocks.",
        ),
    ):
        command = option(command)
    return command


def open_site(
    boot: float | None, boot_failures: float, repair: float | None, **where: Any
) -> tuple[SlurmSite, Conf, Sequence[str]]:
    """Return a site, the lines of its configuration, and what to say about its files."""
    from dataclasses import replace

    from noctule.slurm.site.boots import Boots

    site, conf, talk = _read_site(**where)
    boots = Boots(boot, boot_failures, repair)
    return replace(site, extras=replace(site.extras, boots=boots)), conf, talk


def _read_site(
    site: str | None, conf: str | None, jobs: str | None, time_zone: str | None, **files: Any
) -> tuple[SlurmSite, Conf, Sequence[str]]:
    from pathlib import Path

    from noctule.slurm.conf.lines import read_conf
    from noctule.slurm.jobs.stamps import find_zone
    from noctule.slurm.site.folder import load_site
    from noctule.slurm.site.reading import SiteFiles, read_site

    if site is not None:
        given = [f"--{name}" for name, file in files.items() if file is not None]
        if conf is not None or jobs is not None or given:
            raise click.UsageError("expected --site, or --conf and --jobs, not both")
        return load_site(site), read_conf(Path(site) / "slurm.conf"), ()
    if conf is None or jobs is None:
        raise click.UsageError("expected --conf and --jobs, or --site")
    zone = None if time_zone is None else find_zone(time_zone, "--time-zone")
    found = read_site(SiteFiles(conf, jobs, **files), zone=zone)
    talk = [line for line in found.report.lines() if not line.startswith("note: ")]
    return found.site, found.conf, talk
