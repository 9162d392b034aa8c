"""The page of a campaign, and the pages of its runs beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from noctule.output_file import write_file
from noctule.report.campaign import CampaignResults, campaign_content
from noctule.report.packing import Packer
from noctule.report.page import PageKind, bokeh_script, check_page, page_text

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


def write_campaign_report(
    campaign: CampaignResults,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    force: bool = False,
) -> None:
    """Write a page about a campaign, whole or not at all."""
    check_page(path, force=force)
    write_file(path, campaign_text(campaign, title=title), force=force)


def campaign_text(campaign: CampaignResults, *, title: str | None = None) -> Iterator[str]:
    """Yield the page about a campaign, in pieces."""
    bokeh = bokeh_script()
    packer = Packer()
    content = campaign_content(campaign, packer, title or campaign.about.name)
    return page_text(CAMPAIGN_PAGE, content, packer.texts, bokeh)
