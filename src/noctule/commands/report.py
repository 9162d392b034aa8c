"""noctule report."""

from __future__ import annotations

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
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
@output_options
def report(
    *,
    directories: tuple[str, ...],
    output: str,
    title: str | None,
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
        if campaigns:
            _write_campaign(campaigns[0], output, title=title, force=force)
        else:
            _write_runs(console, directories, output, title=title, force=force)
        size = Path(output).stat().st_size
        data: dict[str, Any] = {"output": output, "runs": list(directories), "size": size}
        line = f"{output}: written, {size / 1e6:.1f} MB; open it in a browser"
        console.show(Result(data, lines=[line]))
    return ExitCode.OK


def _write_runs(
    console: Console, directories: Sequence[str], output: str, *, title: str | None, force: bool
) -> None:
    from noctule.plots.runs import folder_names
    from noctule.report import load_report_run, write_report
    from noctule.report.page import check_report

    check_report(len(directories), output, force=force)
    names = folder_names(directories)
    runs = [load_report_run(*named) for named in zip(names, directories, strict=True)]
    for run in runs:
        console.talk.notes(f"{run.name}: {note}" for note in run.notes)
    write_report(runs, output, title=title, force=force)


def _write_campaign(folder: str, output: str, *, title: str | None, force: bool) -> None:
    from noctule.report import load_campaign, write_campaign_report
    from noctule.report.page import check_page

    check_page(output, force=force)
    write_campaign_report(load_campaign(folder), output, title=title, force=force)
