"""Traces with other accidents: submissions moved by seconds, ties in another order.

A policy that is better on one log may be so by luck: a job that comes a second later can change the
schedule of weeks. Shaken copies of a log tell how much of a difference is such luck.

Tsafrir, Ouaknine and Feitelson, "Reducing performance evaluation sensitivity and variability by
input shaking", MASCOTS 2007.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from noctule.columns import shown
from noctule.errors import InputError
from noctule.parts import Parts
from noctule.workload import Workload


def shake(workload: Workload, seconds: float, *, seed: int) -> Workload:
    """Return the workload with each submission moved by up to so many seconds, either way.

    Jobs submitted at the same time come in a random order, also if `seconds` is 0. Dates stay
    whole where all of them are, and none comes before 0. A user gives up as long after the
    submission as before.
    """
    parts = Parts.of(workload)
    if not (math.isfinite(seconds) and seconds >= 0):
        raise InputError(f"{parts.where}: shake: got {shown(seconds)}, expected a number >= 0")
    rng = np.random.Generator(np.random.PCG64(seed))
    submit = parts.submit_time
    u, tie = rng.random(len(submit)), rng.random(len(submit))
    if bool(np.all(submit == np.floor(submit))):
        move = np.floor(u * (2 * math.floor(seconds) + 1)) - math.floor(seconds)
    else:
        move = (2 * u - 1) * seconds
    moved = np.maximum(submit + move, 0.0)
    shaken = replace(parts, submit_time=moved, cancel_time=moved + (parts.cancel_time - submit))
    return shaken.rows(np.lexsort((tie, moved))).workload()
