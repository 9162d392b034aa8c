"""What a page about a log costs: to write, to keep, to open, and to zoom, in a real Chromium.

    python bench/report.py [--quick]

KTH and Curie under EASY, from $NOCTULE_SHARED/traces (default ../shared); --quick takes KTH alone.
Needs Chromium (tests/browser/install-chromium) and playwright. Prints a table; the exit code is 1
if a bound is missed. Seconds of the browser are those of the page's own thread, beside those of
the clock; frames are counted while a wheel zooms in and out for some seconds.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measures import Measure, report

import noctule as nt
from noctule.report import ReportRun, write_report

LOGS = {"KTH-SP2": ("KTH-SP2-1996-2.1-cln", 100), "CEA-Curie": ("CEA-Curie-2011-2.1-cln", 93312)}
ZOOMING_S = 4.0
TURN = 120


def a_run(log: str) -> ReportRun:
    file, n_hosts = LOGS[log]
    shared = Path(os.environ.get("NOCTULE_SHARED", "../shared"))
    workload = nt.load_workload(shared / "traces" / f"{file}.swf.xz")
    return ReportRun.of(log, nt.simulate(nt.Platform.homogeneous(n_hosts), workload, "easy"))


def seconds_of(session: Any) -> float:
    """Return the seconds that the thread of a page has worked."""
    told = session.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in told if metric["name"] == "TaskDuration"))


def measures(log: str, browser: Any, folder: Path) -> Iterator[Measure]:
    began = time.process_time()
    run = a_run(log)
    simulated = time.process_time() - began
    path = folder / f"{log}.html"
    began = time.process_time()
    write_report([run], path)
    wrote = time.process_time() - began
    told = f"{simulated:.2f} s to read and simulate"
    yield Measure(f"{log}: writing the page", f"{wrote:.2f} s", told, wrote / simulated, math.inf)
    size = path.stat().st_size / 1e6
    yield Measure(f"{log}: its size", f"{size:.1f} MB", "30 MB", size / 30, 1.0)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-state=drawn], html[data-state=ready]", timeout=120_000)
    worked = seconds_of(session)
    yield Measure(f"{log}: first picture, its thread", f"{worked:.2f} s", "3 s", worked / 3, 1.0)
    drawn = page.evaluate("performance.getEntriesByName('drawn')[0].startTime") / 1000
    told = f"{drawn:.2f} s"
    yield Measure(f"{log}: first picture, by the clock", told, "3 s", drawn / 3, math.inf)
    page.wait_for_selector("html[data-state=ready]")
    before = seconds_of(session)
    frames, seconds = zoom(page)
    rate = frames / seconds
    yield Measure(f"{log}: frames while zooming", f"{rate:.0f} /s", "60 /s", rate / 60, math.inf)
    share = (seconds_of(session) - before) / seconds
    told = f"{100 * share:.0f} %"
    yield Measure(f"{log}: thread at work while zooming", told, "all of it", share, math.inf)
    page.close()


def zoom(page: Any) -> tuple[int, float]:
    """Turn the wheel in the middle of the chart; return the frames and the seconds it took."""
    box = page.locator("figure.gantt").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.evaluate(
        """() => {
            window.frames_seen = 0;
            const count = () => { window.frames_seen++; requestAnimationFrame(count); };
            requestAnimationFrame(count);
        }"""
    )
    began = time.monotonic()
    while (passed := time.monotonic() - began) < ZOOMING_S:
        page.mouse.wheel(0, -TURN if passed < ZOOMING_S / 2 else TURN)
    return int(page.evaluate("window.frames_seen")), time.monotonic() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="KTH alone")
    quick = parser.parse_args().quick
    program = shutil.which("chromium")
    if program is None:
        print("no Chromium here: tests/browser/install-chromium installs it")
        return 0
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.getuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        logs = list(LOGS)[: 1 if quick else None]
        code = report(told for log in logs for told in measures(log, browser, Path(folder)))
        browser.close()
    return code


if __name__ == "__main__":
    sys.exit(main())
