"""Runs of which pages are opened: a night under three policies, a hostile one, a large one."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import noctule as nt
from noctule.campaign import Campaign, LocalWorkers, run_campaign
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.platform import PowerModel
from noctule.report import ReportRun
from noctule.windows import Maintenance, Reservation, Windows

EXAMPLES = Path(__file__).parents[2] / "examples"
POLICIES = ("fcfs", "easy", "conservative")

SLEEPY = PowerModel(idle=100, computing=200, off=10, switch_on_seconds=600, switch_on_watts=150)

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<b>bold</b>&amp;",
    "שלום (עולם) مرحبا 12",
    "🦇 `${noctule}` 'quoted' \\u003cb",
    "=HYPERLINK(A1)",
    "w" * 3000,
)


def night_runs() -> list[ReportRun]:
    workload = nt.load_workload(EXAMPLES / "night.swf")
    platform = nt.Platform.homogeneous(128)
    return [ReportRun.of(name, nt.simulate(platform, workload, name)) for name in POLICIES]


def night_campaign(folder: Path) -> Path:
    """Three policies at three loads, four seeds each, and a policy that fails at once."""
    night = {"file": str(EXAMPLES / "night.swf"), "shake": 30, "load": [0.8, 1.0, 1.2]}
    (folder / "bad.py").write_text(
        "class Bad:\n    def decide(self, view, events): raise ValueError('<b>never</b>')\n"
    )
    campaign = Campaign.of(
        {
            "seeds": "1-4",
            "keep_jobs": True,
            "workloads": {"night": night},
            "platforms": {"full": {"hosts": 128}},
            "policies": {
                "easy": {"spec": "easy", "order": ["fcfs", "sjf"]},
                "conservative": "conservative",
                "bad": "bad.py:Bad",
            },
        },
        folder=folder,
    )
    run_campaign(campaign, folder / "out", LocalWorkers(2))
    return folder / "out"


def hostile_run(folder: Path) -> ReportRun:
    """Jobs and users with names that would break a careless page, in a file of a stranger."""
    with (folder / "jobs.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["job_id", "user", "submit_time", "start_time", "finish_time", "hosts"])
        for i, name in enumerate(HOSTILE):
            start = 100.0 * (i // 2)
            writer.writerow([name, name, 10.0 * i, max(start, 10.0 * i), start + 100.0, i % 2])
    schedule = nt.Schedule.from_jobs_csv(folder / "jobs.csv", 2)
    return ReportRun.of(HOSTILE[0], schedule)


def sleeping_run() -> ReportRun:
    """A night on hosts that sleep when nobody needs them, with windows and a failure."""
    hour = 3600.0
    windows = Windows(
        [
            Maintenance(nt.HostSet("0-31"), 24 * hour, 36 * hour, "cooling"),
            Reservation(
                nt.HostSet("96-127"), 40 * hour, 50 * hour, users=[1], name="<i>course</i>"
            ),
        ]
    )
    away = nt.HostSet("40-47")
    happened = [
        ExternalEvent(10 * hour, "failed", away),
        ExternalEvent(20 * hour, "restored", away),
    ]
    workload = nt.load_workload(EXAMPLES / "night.swf")
    platform = nt.Platform.homogeneous(128, power=SLEEPY)
    policy = "easy(t_idle=300)"
    schedule = nt.simulate(platform, workload, policy, windows=windows, energy="exact")
    return replace(
        ReportRun.of("easy", schedule),
        windows=windows,
        events=ExternalEvents.from_events(happened),
    )


def large_run(shared: Path | None) -> ReportRun:
    """Curie's log under EASY, or as many jobs of a model where the log is not at hand."""
    if shared is None:
        workload: Any = nt.synthetic.lublin(300_000, n_hosts=1024, seed=1)
        platform = nt.Platform.homogeneous(1024)
    else:
        workload = nt.load_workload(shared / "traces" / "CEA-Curie-2011-2.1-cln.swf.xz")
        platform = nt.Platform.homogeneous(93_312)
    return ReportRun.of("easy", nt.simulate(platform, workload, "easy"))
