"""Trackable resources: `cpu=40,mem=2G,node=4,gres/gpu=4`, as limits, requests and rows have them.

Memory is in megabytes. Generic resources with a type stand beside their sum without one, so that
the two are never added; an energy of 2^64 - 2 means that nobody measured it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_AMOUNT = re.compile(r"(-?[0-9]{1,20}(?:\.[0-9]{1,20})?)([KMGTPE]?)B?", re.ASCII)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
NO_ENERGY = (2**64 - 2, 2**64 - 1, 2**32 - 2)


def read_tres(text: str) -> dict[str, int]:
    """Return the amounts by name in lower case; raise ValueError for anything else."""
    found: dict[str, int] = {}
    for word in text.split(","):
        if not word:
            continue
        name, equals, amount = word.partition("=")
        if not (equals and name):
            raise ValueError
        name = name.strip().lower()
        found[name] = _amount(amount.strip(), is_memory=name in ("mem", "vmem"))
    energy = found.get("energy")
    if energy is not None and energy in NO_ENERGY:
        del found["energy"]
    return found


def _amount(text: str, *, is_memory: bool) -> int:
    match = _AMOUNT.fullmatch(text)
    if match is None:
        raise ValueError
    value = float(match[1]) if "." in match[1] else int(match[1])
    if not match[2]:
        return int(value)  # of memory, megabytes
    power = _POWERS[match[2]] - (2 if is_memory else 0)
    if power < 0:
        return -int(-value // 1024)
    return int(value * 1024**power)


def gres_counts(tres: Mapping[str, int]) -> dict[str, int]:
    """Return generic resources without and with their types: gpu, and gpu:tesla where told."""
    found = {}
    for name, amount in tres.items():
        if name.startswith("gres/"):
            found[name.removeprefix("gres/")] = amount
    return found
