"""The live table of a campaign, on standard error if that is a terminal."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noctule.campaign import Tally

_EVERY_S = 0.25


def duration_text(seconds: float) -> str:
    """Write a duration for people: 0.4 s, 12 s, 3 min 5 s, 2 h 10 min."""
    if not math.isfinite(seconds):
        return "-"
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, s = divmod(round(seconds), 60)
    hours, m = divmod(minutes, 60)
    if hours:
        return f"{hours} h {m} min"
    return f"{m} min {s} s" if m else f"{s} s"


class CampaignDisplay:
    """Shows a tally a few times a second; nothing where nobody looks."""

    def __init__(self, *, silent: bool) -> None:
        self._visible = not silent and sys.stderr.isatty()
        self._live: Any = None
        self._shown = 0.0

    def look(self, tally: Tally) -> None:
        """Show how far the campaign is."""
        now = time.monotonic()
        if not self._visible or now - self._shown < _EVERY_S:
            return
        self._shown = now
        if self._live is None:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(file=sys.stderr), transient=True, auto_refresh=False)
            self._live.start()
        self._live.update(_table(tally), refresh=True)

    def close(self) -> None:
        """Take the table away."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def _table(tally: Tally) -> Any:
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("runs", "", "found", "done", "failed", "runs/s", "time left"):
        table.add_column(name, justify="right")
    n_over = tally.n_found + tally.n_done
    table.add_row(
        f"{n_over}/{tally.n_runs}",
        ProgressBar(total=max(tally.n_runs, 1), completed=n_over, width=30),
        str(tally.n_found),
        str(tally.n_done),
        f"[red]{tally.n_failed}[/red]" if tally.n_failed else "0",
        f"{tally.rate:.1f}",
        duration_text(tally.seconds_left),
    )
    if tally.last_failure:
        table.caption = f"last failure: {tally.last_failure[:200]}".replace("[", "\\[")
    return table
