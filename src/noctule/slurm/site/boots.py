"""How nodes boot that power saving had switched off, which no file of a site tells."""

from __future__ import annotations

import math
from dataclasses import dataclass

from noctule.errors import InputError


@dataclass(frozen=True, slots=True)
class Boots:
    """What a boot takes, and how often it fails.

    Attributes:
        seconds: that a boot takes; by default ResumeTimeout.
        failures: share of boots that never end.
        repair: seconds until a node that did not boot in time is put right; None: never.
    """

    seconds: float | None = None
    failures: float = 0.0
    repair: float | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        for name, value in (("seconds", self.seconds), ("repair", self.repair)):
            if value is not None and not 0 < value < math.inf:
                raise InputError(f"boots: {name}: got {value:g}, expected more than 0")
        if not 0 <= self.failures < 1:  # otherwise nothing would ever end
            raise InputError(f"boots: failures: got {self.failures:g}, expected a share below 1")


#: Boots as the configuration has them.
USUAL_BOOTS = Boots()
