"""The page of a campaign, and the pages of its runs beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from noctule.campaign.store import Store
from noctule.errors import InputError
from noctule.output_file import check_folder, write_file, write_folder
from noctule.report.campaign import CampaignResults, campaign_content
from noctule.report.packing import Packer
from noctule.report.page import PageKind, bokeh_script, check_page, page_text, report_text
from noctule.report.runs import load_report_run

CAMPAIGN_PAGE = PageKind(
    main="campaign_main.html",
    help="campaign_help.html",
    scripts=(
        "columns.js",
        "numbers.js",
        "state.js",
        "colours.js",
        "tables.js",
        "tip.js",
        "frame.js",
        "figures.js",
        "panels.js",
        "campaign_data.js",
        "point_figure.js",
        "campaign_means.js",
        "campaign_verdicts.js",
        "campaign_front.js",
        "campaign_runs.js",
        "campaign_about.js",
        "campaign_page.js",
    ),
)


_RUN_PAGE = re.compile(r"[0-9a-f]{32}\.html")


def write_campaign_report(
    campaign: CampaignResults,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    most_runs: int = 0,
    force: bool = False,
) -> int:
    """Write a page about a campaign, whole or not at all; return how many pages of runs there are.

    The first `most_runs` runs whose jobs were kept get pages of their own, to which that of the
    campaign has links: for page.html they are in the folder page-runs beside it.
    """
    check_page(path, force=force)
    keys = runs_with_pages(campaign, most_runs)
    if keys:
        folder = Path(path).with_name(f"{Path(path).stem}-runs")
        files = ((f"{key}.html", _run_page(campaign, key)) for key in keys)
        write_folder(folder, files, replaceable=_is_run_page, force=force)
        pages = {key: f"{quote(folder.name)}/{key}.html" for key in keys}
        campaign = replace(campaign, pages=pages)
    write_file(path, campaign_text(campaign, title=title), force=force)
    return len(keys)


def check_campaign_report(
    path: str | os.PathLike[str], *, has_runs: bool, force: bool = False
) -> None:
    """Refuse a page that cannot be written, or pages of runs that cannot."""
    check_page(path, force=force)
    if has_runs:
        folder = Path(path).with_name(f"{Path(path).stem}-runs")
        check_folder(folder, replaceable=_is_run_page, force=force)


def runs_with_pages(campaign: CampaignResults, most: int) -> Sequence[str]:
    """Return the keys of the first runs whose jobs were kept, in the order of the results."""
    kept = [key for key in dict.fromkeys(campaign.table["key"]) if key in campaign.kept]
    if most and not kept:
        raise InputError(
            f"{campaign.folder}: the jobs of its runs are not there, expected a campaign with "
            "keep_jobs = true"
        )
    return kept[:most]


def _is_run_page(path: Path) -> bool:
    return _RUN_PAGE.fullmatch(path.name) is not None


def _run_page(campaign: CampaignResults, key: str) -> bytes:
    row = campaign.table[campaign.table["key"] == key].iloc[0].to_dict()
    run = load_report_run(_run_name(row), Store(Path(campaign.folder)).place(key))
    return "".join(report_text([run])).encode()


def _run_name(row: Mapping[Any, Any]) -> str:
    parts = [row["policy"], row["workload"], row["platform"], row["bound"]]
    if row["seed"] == row["seed"] and row["seed"] is not None:
        parts.append(f"seed {int(row['seed'])}")
    return ", ".join(str(part) for part in parts if part)


def campaign_text(campaign: CampaignResults, *, title: str | None = None) -> Iterator[str]:
    """Yield the page about a campaign, in pieces."""
    bokeh = bokeh_script()
    packer = Packer()
    content = campaign_content(campaign, packer, title or campaign.about.name)
    return page_text(CAMPAIGN_PAGE, content, packer.texts, bokeh)
