"""Elements of a SimGrid platform file, whose attributes are checked when they are taken."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import NoReturn

from noctule.errors import InputError
from noctule.formats.platform_draft import MAX_LISTED_HOSTS, PlatformDraft, ZoneDraft
from noctule.formats.ranges import read_ranges
from noctule.network import NumberedNames
from noctule.platform import Disk
from noctule.units import Dimension, shown

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class Element:
    """An element: its attributes, where it stands, and what its children added to it."""

    __slots__ = (
        "_column",
        "_draft",
        "_line",
        "attributes",
        "disks",
        "hops",
        "parent",
        "properties",
        "tag",
        "text",
        "zone",
    )

    def __init__(
        self,
        tag: str,
        attributes: dict[str, str],
        draft: PlatformDraft,
        position: tuple[int, int],
        parent: Element | None,
    ) -> None:
        self.tag = tag
        self.attributes = attributes
        self.parent = parent
        self.zone: ZoneDraft | None = parent.zone if parent else None
        self.properties: dict[str, str] = {}
        self.hops: list[tuple[str, str]] = []
        self.disks: list[Disk] = []
        self.text: list[str] = []
        self._draft = draft
        self._line, self._column = position

    @property
    def where(self) -> str:
        """The place of the element, for messages."""
        place = f"{self._draft.source}: line {self._line}, column {self._column}: {self.tag}"
        name = self.attributes.get("id")
        if name is None and "src" in self.attributes:
            name = f"{self.attributes['src']} -> {self.attributes.get('dst')}"
        return f"{place} {shown(name)}" if name else place

    def __str__(self) -> str:
        return self.where

    @property
    def in_zone(self) -> ZoneDraft:
        """The zone around an element that cannot stand elsewhere."""
        assert self.zone is not None
        return self.zone

    def refuse(self, key: str, expected: str) -> NoReturn:
        """Say what is wrong with an attribute."""
        found = f"got {shown(self.attributes[key])}" if key in self.attributes else "missing"
        raise InputError(f"{self.where}: {key}: {found}, expected {expected}")

    def quantity(
        self,
        key: str,
        dimension: Dimension,
        *,
        default: float | None = None,
        positive: bool = False,
    ) -> float:
        """Return a quantity; a bare number is in base units, and noted. "" means the default."""
        text = self.attributes.get(key, "")
        if not text and default is not None:
            return default
        return self.amount(key, text, dimension, positive=positive)

    def amount(self, key: str, text: str, dimension: Dimension, *, positive: bool = False) -> float:
        """Return the quantity that one part of an attribute gives."""
        found = dimension.split(text)
        if found is None or (positive and found[0] == 0):
            self.refuse(key, dimension.expected)
        value, unit = found
        if not unit and value != 0:
            self._draft.note(
                f"{self.tag} {key} without unit",
                f"{self.where}: {key}: got {shown(text)} without a unit, taken as {dimension.base}",
            )
        return value

    def whole(self, key: str, *, least: int, default: int) -> int:
        """Return a whole number, which may be written as 0.0."""
        text = self.attributes.get(key, "").strip()
        if not text:
            return default
        number = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not (number >= least and number <= MAX_LISTED_HOSTS and number.is_integer()):
            self.refuse(key, f"a whole number from {least} on")
        return int(number)

    def numbers(self, key: str) -> tuple[float, ...]:
        """Return numbers with blanks between them."""
        texts = self.attributes.get(key, "").split()
        if not all(_NUMBER.fullmatch(text) and math.isfinite(float(text)) for text in texts):
            self.refuse(key, "numbers as in 25.5 9.4 1.4")
        return tuple(map(float, texts))

    def choice(self, key: str, known: Iterable[str], default: str = "") -> str:
        """Return one of some words."""
        value = self.attributes.get(key, default)
        if value not in known:
            self.refuse(key, " or ".join(known))
        return value

    def names(self) -> NumberedNames:
        """Return the names of the hosts of a cluster or a cabinet."""
        numbers = read_ranges(self.attributes["radical"])
        if numbers is None:
            self.refuse("radical", "numbers as in 0-7,12")
        if sum(map(len, numbers)) > MAX_LISTED_HOSTS:
            self.refuse("radical", f"{MAX_LISTED_HOSTS} hosts at most")
        return NumberedNames(self.attributes["prefix"], numbers, self.attributes["suffix"])
