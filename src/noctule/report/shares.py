"""Shares that users, groups or queues are entitled to, as a file tells them."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from noctule.errors import InputError
from noctule.fairness import LABELS


@dataclass(frozen=True, slots=True)
class Shares:
    """Numbers of any sum for the parties of one of LABELS; parties without one have none."""

    by: str
    of: Mapping[str, float]


def load_shares(path: str | os.PathLike[str]) -> Shares:
    """Read a CSV file of two columns: user, group or queue, and share."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as CSV: {error}") from error
    header = rows[0] if rows else []
    if len(header) != 2 or header[0] not in LABELS or header[1] != "share":
        expected = " or ".join(f"{label},share" for label in LABELS)
        raise InputError(f"{path}: line 1: got {','.join(header)!r}, expected {expected}")
    shares: dict[str, float] = {}
    for number, row in enumerate(rows[1:], start=2):
        where = f"{path}: line {number}"
        if len(row) != 2:
            raise InputError(f"{where}: got {len(row)} fields, expected 2")
        if row[0] in shares:
            raise InputError(f"{where}: got {row[0]} once more, expected each {header[0]} once")
        shares[row[0]] = _share(row[1], where)
    if not sum(shares.values()) > 0:
        raise InputError(f"{path}: got no share above 0, expected at least one")
    return Shares(header[0], shares)


def _share(text: str, where: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not (math.isfinite(share) and share >= 0):
        raise InputError(f"{where}: share: got {text!r}, expected a number >= 0")
    return share
