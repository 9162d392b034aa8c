"""Columns as text inside a page: whole numbers, their bytes in planes, gzip, base64.

Dates are whole numbers of a unit that loses nothing (seconds, milliseconds, microseconds), or else
doubles as they are. A column may be told as its distance from another one, so that what runs of
one workload share gives the same text; equal texts are stored once.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from noctule.record import Floats

Integers = npt.NDArray[np.int64]
#: How a column stands in the data of a page.
PackedColumn = dict[str, Any]

# beyond, not every whole number is a double
_LARGEST = 2.0**53
_SCALES = (1, 1_000, 1_000_000)


def scale_of(*columns: Floats) -> int | None:
    """Return how many units a second has in which all dates are whole; None if there is none."""
    values = np.concatenate(columns)
    known = values[np.isfinite(values)]
    largest = np.abs(known).max(initial=0.0)
    if np.isneginf(values).any():
        return None
    for scale in _SCALES:
        if largest < _LARGEST / scale and (np.rint(known * scale) / scale == known).all():
            return scale
    return None


@dataclass(slots=True)
class Packer:
    """Packs columns; `texts` are what the page must hold, by their keys."""

    texts: dict[str, str] = field(default_factory=dict)

    def integers(self, values: npt.ArrayLike, *, delta: bool = False) -> PackedColumn:
        """Pack whole numbers; with `delta`, as the steps from each one to the next."""
        whole = np.asarray(values, dtype=np.int64)
        told = np.diff(whole, prepend=np.int64(0)) if delta else whole
        planes, data = _planes_of(told)
        return {"n": len(whole), "planes": planes, "delta": delta, "key": self._keep(data)}

    def numbers(
        self,
        values: Floats,
        *,
        scale: int | None = None,
        base: tuple[str, Floats] | None = None,
        delta: bool = False,
    ) -> PackedColumn:
        """Pack numbers that may be missing (NaN) or infinite.

        `scale` is what `scale_of` said of them; `base` is the name of another column, and the
        column, from which the distance is told: it has the same scale.
        """
        if scale is None:
            return {"n": len(values), "doubles": True, "key": self._keep(_double_planes(values))}
        known = np.isfinite(values)
        units = np.zeros(len(values), dtype=np.int64)
        units[known] = np.rint(values[known] * scale).astype(np.int64)
        packed: PackedColumn = {}
        if base is not None:
            name, others = base
            from_there = known & np.isfinite(others)
            units[from_there] -= np.rint(others[from_there] * scale).astype(np.int64)
            packed["base"] = name
        packed |= self.integers(units, delta=delta) | {"scale": scale}
        for word, where in (("missing", np.isnan(values)), ("infinite", np.isposinf(values))):
            if where.any():
                packed[word] = self.integers(np.flatnonzero(where), delta=True)
        return packed

    def codes(self, values: Sequence[Any]) -> PackedColumn:
        """Pack texts of which many are equal: the different ones in order, and codes for them.

        What is None has the code of nothing, which is the number of different texts.
        """
        texts = sorted({str(value) for value in values if value is not None}, key=_natural)
        place = {text: i for i, text in enumerate(texts)}
        nothing = len(texts)
        codes = [nothing if value is None else place[str(value)] for value in values]
        return {"words": self.strings(texts), "codes": self.integers(codes)}

    def strings(self, texts: Sequence[str]) -> PackedColumn:
        """Pack texts as they are."""
        data = json.dumps(list(texts), separators=(",", ":")).encode("ascii")
        return {"n": len(texts), "strings": True, "key": self._keep(data)}

    def _keep(self, data: bytes) -> str:
        key = sha256(data).hexdigest()[:16]
        if key not in self.texts:
            self.texts[key] = base64.b64encode(gzip.compress(data, 6, mtime=0)).decode("ascii")
        return key


def _natural(text: str) -> tuple[bool, int, str]:
    """Sort numbers by their size, before words."""
    is_number = text.isascii() and text.isdigit() and len(text) < 19
    return (not is_number, int(text) if is_number else 0, text)


def _planes_of(values: Integers) -> tuple[int, bytes]:
    """Return how many bytes each number needs, and the first bytes of all, the second, ...

    Small negative numbers become small positive ones first (zigzag).
    """
    folded = ((values << 1) ^ (values >> 63)).view(np.uint64)
    largest = int(folded.max()) if len(folded) else 0
    n_planes = max(1, (largest.bit_length() + 7) // 8)
    planes = folded.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :n_planes]
    return n_planes, planes.T.tobytes()


def _double_planes(values: Floats) -> bytes:
    planes = np.ascontiguousarray(values, dtype="<f8").view(np.uint8).reshape(-1, 8)
    return planes.T.tobytes()
