"""A run that is watched: its page is renewed as it goes on."""

from __future__ import annotations

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
