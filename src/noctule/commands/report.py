"""noctule report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from noctule.commands.options import output_options
from noctule.console import Console, ExitCode, Result, speaking
from noctule.errors import InputError


@click.command()
@click.argument("directories", nargs=-1, required=True, metavar="DIR...")
@click.option("-o", "--output", required=True, metavar="FILE", help="The .html file to write.")
@click.option("--title", metavar="TEXT", help="Title of the page; by default the runs' names.")
@click.option("--shares", metavar="FILE", help="Shares of users, groups or queues, for fairness.")
@click.option(
    "--runs",
    metavar="N|all",
    help="Of a campaign: also pages of its first N runs whose jobs were kept.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
@output_options
def report(
    *,
    directories: tuple[str, ...],
    output: str,
    title: str | None,
    shares: str | None,
    runs: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Write one interactive page about the runs in DIR..., one to eight, or about a campaign."""
    from noctule.plots.campaign_runs import is_campaign

    with speaking(as_json=as_json, quiet=quiet) as console:
        campaigns = [folder for folder in directories if is_campaign(folder)]
        if campaigns and len(directories) > 1:
            raise InputError(
                f"{campaigns[0]}: a campaign among {len(directories)} folders, expected it alone: "
                "a page is about one campaign, or about runs"
            )
        most = _most_runs(runs)
        if most and not campaigns:
            raise InputError("--runs: got runs themselves, expected a campaign")
        if shares and campaigns:
            raise InputError("--shares: got a campaign, expected runs")
        if campaigns:
            n = _write_campaign(campaigns[0], output, title=title, most_runs=most, force=force)
            if n:
                folder = Path(output).with_suffix("")
                console.talk.note(f"{folder}-runs: {n} pages of runs, to which the page has links")
        else:
            _write_runs(console, directories, output, title=title, shares=shares, force=force)
        size = Path(output).stat().st_size
        data: dict[str, Any] = {"output": output, "runs": list(directories), "size": size}
        line = f"{output}: written, {size / 1e6:.1f} MB; open it in a browser"
        console.show(Result(data, lines=[line]))
    return ExitCode.OK


def _write_runs(
    console: Console,
    directories: Sequence[str],
    output: str,
    *,
    title: str | None,
    shares: str | None,
    force: bool,
) -> None:
    from noctule.plots.runs import folder_names
    from noctule.report import load_report_run, write_report
    from noctule.report.page import check_report
    from noctule.report.shares import load_shares

    check_report(len(directories), output, force=force)
    entitled = None if shares is None else load_shares(shares)
    names = folder_names(directories)
    runs = [load_report_run(*named) for named in zip(names, directories, strict=True)]
    for run in runs:
        console.talk.notes(f"{run.name}: {note}" for note in run.notes)
    write_report(runs, output, title=title, shares=entitled, force=force)


def _write_campaign(
    folder: str, output: str, *, title: str | None, most_runs: int, force: bool
) -> int:
    from noctule.report import load_campaign, write_campaign_report
    from noctule.report.campaign_page import check_campaign_report

    check_campaign_report(output, has_runs=most_runs > 0, force=force)
    campaign = load_campaign(folder)
    return write_campaign_report(campaign, output, title=title, most_runs=most_runs, force=force)


def _most_runs(told: str | None) -> int:
    if told is None:
        return 0
    if told == "all":
        return sys.maxsize
    if not told.isdecimal() or int(told) < 1:
        raise click.UsageError(f"--runs: got {told!r}, expected a number >= 1 or all")
    return int(told)
