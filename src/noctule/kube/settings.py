"""How a run under schedulers of Kubernetes behaves: clocks, gangs, delays, patience."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from noctule.errors import InputError
from noctule.kube.pod_groups import GroupKind

CLOCKS = ("virtual", "real")
MODES = ("window", "exact")


@dataclass(frozen=True, slots=True)
class Settings:
    """How schedulers are run, and what happens to Pods; all times are in seconds.

    Attributes:
        clock: `virtual` puts schedulers on simulated time; `real` leaves them the wall clock.
        speed: simulated seconds that pass in a real one, with the real clock.
        mode: which timers of schedulers are waited for while Pods are pending: all of them
            (`exact`), or those within `window` after something has changed and before something
            does: retries between them are in vain, but move the back-offs of Pods.
        window: how long schedulers go on after a change, and how long before the next one they are
            woken, in the mode of that name: a little more than their longest back-off.
        gang_timeout: how long bound Pods of a job hold their nodes while others of it are pending;
            0 is forever.
        gang_backoff: after how long such a job's Pods are created again, doubling each time.
        groups: which objects tell that Pods belong together: none, coscheduling, volcano, workload,
            pod-group.
        requeue_preempted: submit jobs again whose Pods a scheduler has deleted.
        image_pull: how long a node takes for an image that it does not have yet.
        start_delay: how long Pods take from their binding to their work, images apart.
        bind_latency: how long after a binding its job starts.
        grace: how long running Pods go on that are deleted, unless they say.
        serial: tell schedulers one thing at a time, so that they cannot see two in another order.
        stall_timeout: real seconds that schedulers may take to come to rest, or to begin.
        seed: makes the random choices of some programs the same in each run; 0 leaves them random.
    """

    clock: str = "virtual"
    speed: float = 10.0
    mode: str = "window"
    window: float = 12.0
    gang_timeout: float = 600.0
    gang_backoff: float = 10.0
    groups: str = "none"
    requeue_preempted: bool = False
    image_pull: float = 0.0
    start_delay: float = 0.0
    bind_latency: float = 0.0
    grace: int = 30
    serial: bool = True
    stall_timeout: float = 60.0
    seed: int = 0

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Settings:
        """Make settings of keywords; one that does not exist is named."""
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                hint = f" (did you mean {close[0]}?)" if close else ""
                raise InputError(f"kube: {name}: unknown; known are {', '.join(known)}{hint}")
        return cls(**given)

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        groups = tuple(kind.value for kind in GroupKind)
        for name, words in (("clock", CLOCKS), ("mode", MODES), ("groups", groups)):
            if getattr(self, name) not in words:
                raise InputError(
                    f"kube: {name}: got {getattr(self, name)!r}, expected {' or '.join(words)}"
                )
        for name in ("gang_timeout", "image_pull", "start_delay", "bind_latency", "grace"):
            self._check(name, 0.0 <= getattr(self, name) < math.inf, "a number >= 0")
        for name in ("speed", "window", "gang_backoff", "stall_timeout"):
            self._check(name, 0.0 < getattr(self, name) < math.inf, "a number above 0")
        self._check("seed", 0 <= self.seed < 2**128, "a whole number >= 0")

    def _check(self, name: str, is_right: bool, expected: str) -> None:
        if not is_right:
            raise InputError(f"kube: {name}: got {getattr(self, name)}, expected {expected}")
