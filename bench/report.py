"""What a page about a log costs: to write, to keep, to open, and to zoom, in a real Chromium.

    python bench/report.py [--quick]

KTH and Curie under EASY, from $NOCTULE_SHARED/traces (default ../shared); --quick takes KTH alone.
Needs Chromium (tests/browser/install-chromium) and playwright. Prints a table; the exit code is 1
if a bound is missed. Seconds of the browser are those of the page's own thread, beside those of
the clock. A wheel turns once in every frame: it zooms in and out, then pans there and back. The
page of a campaign is about 10 000 runs (--quick: 1000): 100 of a small log, told again with other
seeds and with numbers spread by a tenth.
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
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from measures import Measure, report

import noctule as nt
from noctule.campaign import Campaign, LocalWorkers, run_campaign
from noctule.metrics import METRICS
from noctule.report import (
    CampaignResults,
    ReportRun,
    load_campaign,
    write_campaign_report,
    write_report,
)

LOGS = {"KTH-SP2": ("KTH-SP2-1996-2.1-cln", 100), "CEA-Curie": ("CEA-Curie-2011-2.1-cln", 93312)}
EXAMPLES = Path(__file__).parents[1] / "examples"
FRAMES = 160
# turns the wheel in the middle of the chart, half of the frames one way, half the other; resolves
# to the milliseconds that it took
TURNING = """([frames, sideways]) => new Promise((done) => {
    const target = document.querySelector("figure.gantt .figure-body");
    const { left, top, width, height } = target.getBoundingClientRect();
    const [clientX, clientY] = [left + width / 2, top + height / 2];
    const began = performance.now();
    let n = 0;
    const turn = () => {
        if (n === frames) return done(performance.now() - began);
        const way = n++ < frames / 2 ? -40 : 40;
        const delta = sideways ? { deltaX: way } : { deltaY: way };
        const bubbling = { bubbles: true, cancelable: true };
        target.dispatchEvent(new WheelEvent("wheel", { ...bubbling, clientX, clientY, ...delta }));
        requestAnimationFrame(turn);
    };
    requestAnimationFrame(turn);
})"""


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
    for what, sideways in (("zooming", False), ("panning", True)):
        yield from frames(f"{log}: {what}", page, session, sideways=sideways)
    page.close()


def frames(what: str, page: Any, session: Any, *, sideways: bool) -> Iterator[Measure]:
    """Turn the wheel once a frame, and tell what a frame took."""
    before = seconds_of(session)
    clock = page.evaluate(TURNING, [FRAMES, sideways]) / 1000
    worked = 1000 * (seconds_of(session) - before) / FRAMES
    yield Measure(f"{what}, its thread", f"{worked:.1f} ms", "25 ms a frame", worked / 25, 1.0)
    rate = FRAMES / clock
    yield Measure(f"{what}, by the clock", f"{rate:.0f} /s", "30 frames/s", rate / 30, math.inf)


def a_campaign(folder: Path, n_runs: int) -> CampaignResults:
    night = {"file": "night.swf", "shake": 30, "load": [0.6, 0.8, 1.0, 1.2, 1.4]}
    easy = {"spec": "easy", "order": ["fcfs", "sjf", "ljf"]}
    campaign = Campaign.of(
        {
            "seeds": "1-2",
            "workloads": {"night": night},
            "platforms": {"narrow": {"hosts": 128}, "wide": {"hosts": 160}},
            "policies": {"easy": easy, "conservative": "conservative", "fcfs": "fcfs"},
        },
        folder=EXAMPLES,
    )
    run_campaign(campaign, folder / "campaign", LocalWorkers(1))
    small = load_campaign(folder / "campaign")
    runs, rng = small.table, np.random.default_rng(1)
    times = range(n_runs // len(runs))
    table = pd.concat([runs.assign(seed=runs["seed"] + 2 * k) for k in times], ignore_index=True)
    for name in (metric.name for metric in METRICS if metric.name in table.columns):
        table[name] = table[name] * rng.lognormal(0.0, 0.1, len(table))
    keys = [f"{row:032x}" for row in range(len(table))]
    return replace(small, table=table.assign(key=keys))


def campaign_measures(folder: Path, n_runs: int) -> Iterator[Measure]:
    campaign = a_campaign(folder, n_runs)
    what, path = f"campaign of {len(campaign.table)} runs", folder / "campaign.html"
    began = time.process_time()
    write_campaign_report(campaign, path)
    wrote = time.process_time() - began
    yield Measure(f"{what}: writing the page", f"{wrote:.1f} s", "15 s", wrote / 15, math.inf)
    size = path.stat().st_size / 1e6
    yield Measure(f"{what}: its size", f"{size:.1f} MB", "30 MB", size / 30, 1.0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="KTH alone, and a campaign of 1000 runs"
    )
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
        place = Path(folder)
        of_logs = (told for log in logs for told in measures(log, browser, place))
        code = report(chain(of_logs, campaign_measures(place, 1000 if quick else 10_000)))
        browser.close()
    return code


if __name__ == "__main__":
    sys.exit(main())
