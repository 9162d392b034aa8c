"""One page about runs, to be opened in any browser: pictures to zoom, tables to sort.

The page is one file without network, server or foreign script: BokehJS, as the installed package
`bokeh` has it, and the data of the runs are inside. The same runs give the same bytes.
"""

from noctule.report.cell import Cell, explore
from noctule.report.page import MAX_RUNS, report_text, write_report
from noctule.report.runs import ReportRun, load_report_run

__all__ = [
    "MAX_RUNS",
    "Cell",
    "ReportRun",
    "explore",
    "load_report_run",
    "report_text",
    "write_report",
]
