"""Traces whose users know how long their jobs run: a bound on what better estimates could give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from noctule.columns import KIND_DELAY
from noctule.parts import Parts
from noctule.workload import Workload


def exact_walltimes(workload: Workload) -> Workload:
    """Return the workload with the walltime of each job equal to its runtime.

    A delay that equals its walltime has timed out: it is given the next larger number.
    """
    parts = Parts.of(workload)
    parts.refuse_untimed()
    tiny = np.finfo(float).tiny
    shortest = np.maximum(parts.runtime, tiny)
    exact = np.where(parts.kind == KIND_DELAY, np.nextafter(shortest, np.inf), shortest)
    return replace(parts, walltime=exact).workload()
