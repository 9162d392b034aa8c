"""Figures that notebooks show by themselves, without pyplot and its state."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

_DPI = 110


class InlineFigure(Figure):
    """A figure that is shown where it is the result of a cell."""

    def _repr_png_(self) -> bytes:
        drawn = io.BytesIO()
        self.savefig(drawn, format="png", dpi=_DPI)
        return drawn.getvalue()
