"""The options of SimGrid that a platform file may set.

All that a file sets is kept. An unknown one is most probably mistyped, or gone from SimGrid like
network/coordinates: it gets a note, since nothing will ever look at it.
"""

from __future__ import annotations

_FAMILIES = frozenset(
    (
        "bmf",
        "contexts",
        "cpu",
        "debug",
        "disk",
        "exception",
        "maxmin",
        "model-check",
        "msg",
        "ns3",
        "precision",
        "smpi",
        "storage",
        "surf",
        "tracing",
        "vm",
        "watch",
    )
)
_NAMES = frozenset(
    (
        "host/model",
        "host/solver",
        "model-check",
        "network/TCP-gamma",
        "network/bandwidth-factor",
        "network/crosstraffic",
        "network/latency-factor",
        "network/loopback-bw",
        "network/loopback-lat",
        "network/maxmin-selective-update",
        "network/model",
        "network/optim",
        "network/solver",
        "network/weight-S",
        "path",
        "plugin",
        "tracing",
    )
)


def is_known_option(name: str) -> bool:
    """Say whether SimGrid has, or had under another spelling, an option of this name."""
    plain = name.replace("_", "-")
    family, slash, _ = plain.partition("/")
    return plain in _NAMES or (bool(slash) and family in _FAMILIES)
