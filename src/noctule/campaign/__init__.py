"""Many runs: a grid of workloads, platforms, policies and options, done in parallel, resumable.

from noctule.campaign import Campaign, LocalWorkers, load_results, run_campaign
campaign = Campaign.load("campaign.toml")
run_campaign(campaign, "out/study", LocalWorkers())
load_results("out/study")  # a pandas DataFrame, one row a run
"""

from __future__ import annotations

from noctule.campaign.description import Campaign
from noctule.campaign.execution import Outcome
from noctule.campaign.local import LocalWorkers
from noctule.campaign.plan import Plan, PlannedRun
from noctule.campaign.results import load_results
from noctule.campaign.running import Progress, Tally, Task, Workers, run_campaign
from noctule.campaign.specs import FileRef, RunSpec

__all__ = [
    "Campaign",
    "FileRef",
    "LocalWorkers",
    "Outcome",
    "Plan",
    "PlannedRun",
    "Progress",
    "RunSpec",
    "Tally",
    "Task",
    "Workers",
    "load_results",
    "run_campaign",
]
