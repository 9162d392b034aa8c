"""One page about runs or about a campaign, for any browser: pictures to zoom, tables to sort.

The page is one file without network, server or foreign script: BokehJS, as the installed package
`bokeh` has it, and the data are inside. The same runs give the same bytes.
"""

from noctule.report.campaign import CampaignResults, load_campaign
from noctule.report.campaign_page import campaign_text, write_campaign_report
from noctule.report.cell import Cell, explore
from noctule.report.page import MAX_RUNS, report_text, write_report
from noctule.report.runs import ReportRun, load_report_run
from noctule.report.shares import Shares, load_shares

__all__ = [
    "MAX_RUNS",
    "CampaignResults",
    "Cell",
    "ReportRun",
    "Shares",
    "campaign_text",
    "explore",
    "load_campaign",
    "load_report_run",
    "load_shares",
    "report_text",
    "write_campaign_report",
    "write_report",
]
