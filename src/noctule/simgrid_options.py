"""The options of SimGrid that change what a platform does, with SimGrid's defaults.

A platform file may set many more; those that are not here are kept, and change nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from noctule.errors import InputError
from noctule.units import shown

__all__ = ["SimgridOptions", "simgrid_options"]


@dataclass(frozen=True, slots=True)
class SimgridOptions:
    """What the models of computation and communication are told.

    Attributes:
        tcp_gamma: bytes of a TCP window: no flow is faster than half of it in a latency.
        work_precision: work below which nothing is left to do.
        time_precision: seconds below which two dates are the same.
        loopback_bandwidth: from a host to itself where the zone has nothing else; bytes a second.
        loopback_latency: likewise, in seconds.
    """

    tcp_gamma: float = 4_194_304.0
    work_precision: float = 1e-5
    time_precision: float = 1e-9
    loopback_bandwidth: float = 10e9
    loopback_latency: float = 0.0


# The names of SimGrid 4, and older ones that it still takes.
_NAMES = {
    "network/TCP-gamma": "tcp_gamma",
    "precision/work-amount": "work_precision",
    "maxmin/precision": "work_precision",
    "precision/timing": "time_precision",
    "surf/precision": "time_precision",
    "network/loopback-bw": "loopback_bandwidth",
    "network/loopback-lat": "loopback_latency",
}


def simgrid_options(options: Mapping[str, str], source: str = "platform") -> SimgridOptions:
    """Read the options that matter, of all that a file sets."""
    values: dict[str, float] = {}
    for name, text in options.items():
        field = _NAMES.get(name.replace("_", "-"))
        if field is not None:
            values[field] = _amount(text, f"{source}: option {name}")
    return SimgridOptions(**values)


def _amount(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise InputError(f"{where}: got {shown(text)}, expected a number, not negative")
    return value
