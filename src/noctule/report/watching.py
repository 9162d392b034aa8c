"""Runs and campaigns that are watched: their pages are renewed as they go on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from noctule.campaign.about import About
from noctule.campaign.description import Campaign
from noctule.campaign.results import results_so_far
from noctule.campaign.running import Look, Tally
from noctule.campaign.store import Store
from noctule.report.campaign import CampaignResults, kept_keys
from noctule.report.campaign_page import campaign_text
from noctule.report.live import LivePage
from noctule.report.page import report_text
from noctule.report.runs import ReportRun
from noctule.run import Execution
from noctule.simulation import Progress, ProgressReport, Simulation


class RunWatch:
    """Shows a run on a live page: what has happened so far, in the end all of it."""

    def __init__(self, page: LivePage, name: str, progress: ProgressReport | None = None) -> None:
        """Show a run under a name; tell `progress` as well how far it is."""
        self._page = page
        self._name = name
        self._progress = progress
        self._simulation: Simulation | None = None

    def begin(self, simulation: Simulation) -> None:
        """Take the simulation to look at."""
        self._simulation = simulation

    def renew(self, state: Progress) -> None:
        """Show what has happened, if somebody waits for it."""
        if self._progress is not None:
            self._progress(state)
        if self._simulation is not None and self._page.is_awaited:
            run = ReportRun.of(self._name, self._simulation.schedule())
            done = f"{state.n_ended} of {state.n_jobs} jobs have ended"
            self._page.show(lambda: report_text([run]), f"At {state.now:.0f} s: {done}.")

    def end(self, execution: Execution) -> None:
        """Show the whole run."""
        told = ReportRun.of(self._name, execution.schedule)
        run = ReportRun(told.name, told.schedule, execution.manifest, told.labels)
        status = f"The run has ended, at {execution.schedule.end:.0f} s of its own time."
        self._page.show(lambda: report_text([run]), status, is_last=True)


class CampaignWatch:
    """Shows a campaign on a live page: the runs that are done so far, in the end all of them."""

    def __init__(self, page: LivePage, campaign: Campaign, folder: str, look: Look) -> None:
        """Show a campaign whose results go to a folder; let `look` see how far it is as well."""
        self._page = page
        self._campaign = campaign
        self._folder = folder
        self._look = look
        self._about: About | None = None
        self._n_shown = -1

    def begin(self, about: About) -> None:
        """Take what the campaign says of itself."""
        self._about = about

    def renew(self, tally: Tally) -> None:
        """Show what is done, if there is more of it and somebody waits for it."""
        self._look(tally)
        n_over = tally.n_found + tally.n_done
        if self._about is not None and n_over > self._n_shown and self._page.is_awaited:
            self._n_shown = n_over
            failed = f", {tally.n_failed} have failed" if tally.n_failed else ""
            self._page.show(self._text, f"{n_over} of {tally.n_runs} runs are over{failed}.")

    def end(self, tally: Tally) -> None:
        """Show the whole campaign."""
        failed = f" {tally.n_failed} runs have failed." if tally.n_failed else ""
        status = f"All {tally.n_runs} runs are over.{failed}"
        self._page.show(self._text, status, is_last=True)

    def _text(self) -> Iterator[str]:
        assert self._about is not None
        table = results_so_far(self._campaign, Store(Path(self._folder)))
        kept = kept_keys(self._folder, table)
        return campaign_text(CampaignResults(self._folder, self._about, table, kept))
