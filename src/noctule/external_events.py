"""What happens to a platform from outside, at known dates: hosts come and go, and anything else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import msgspec

from noctule._core import HostSet
from noctule.errors import InputError

__all__ = ["ExternalEvent", "ExternalEvents"]

Kind = Literal["restored", "available", "failed", "unavailable", "generic"]
#: In the order in which events of one date occur.
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class ExternalEvent:
    """One event: hosts that fail, are restored, come or go, or the JSON text of another."""

    time: float
    kind: Kind
    hosts: HostSet | None = None
    data: str | None = None


@dataclass(frozen=True, slots=True)
class ExternalEvents:
    """Events in the order in which they occur, as columns.

    Attributes:
        times: dates, none before the one in front of it.
        kinds: restored, available, failed, unavailable or generic.
        hosts: hosts that this happens to; None for generic events.
        data: JSON texts of generic events; None for others.
        source: where they come from, for errors.
    """

    times: tuple[float, ...] = ()
    kinds: tuple[Kind, ...] = ()
    hosts: tuple[HostSet | None, ...] = ()
    data: tuple[str | None, ...] = ()
    source: str = "external events"

    def __post_init__(self) -> None:
        """Refuse columns that do not fit together, and events that make no sense."""
        columns = (self.times, self.kinds, self.hosts, self.data)
        if len({len(column) for column in columns}) != 1:
            lengths = ", ".join(str(len(column)) for column in columns)
            raise InputError(
                f"{self.source}: got columns of {lengths} events, expected equally many"
            )
        before = 0.0
        for number, event in enumerate(self):
            self._check(f"{self.source}: event {number}", event)
            if event.time < before:
                raise InputError(
                    f"{self.source}: event {number}: got the date {event.time} behind {before}, "
                    "expected events in the order of their dates"
                )
            before = event.time

    @classmethod
    def from_events(
        cls, events: Iterable[ExternalEvent], *, source: str = "external events"
    ) -> ExternalEvents:
        """Take events in any order; those of one date occur in the order of their kinds."""
        listed = list(events)
        for number, event in enumerate(listed):
            cls._check(f"{source}: event {number}", event)
        listed.sort(key=lambda event: (event.time, KINDS.index(event.kind)))
        return cls(
            times=tuple(float(event.time) for event in listed),
            kinds=tuple(event.kind for event in listed),
            hosts=tuple(event.hosts for event in listed),
            data=tuple(event.data for event in listed),
            source=source,
        )

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.times)

    def __iter__(self) -> Iterator[ExternalEvent]:
        """Yield the events."""
        for row in zip(self.times, self.kinds, self.hosts, self.data, strict=True):
            yield ExternalEvent(*row)

    @staticmethod
    def _check(where: str, event: ExternalEvent) -> None:
        """Refuse an event that makes no sense."""
        if not (math.isfinite(event.time) and event.time >= 0):
            raise InputError(f"{where}: time: got {event.time}, expected a number >= 0")
        if event.kind not in KINDS:
            raise InputError(f"{where}: kind: got {event.kind!r}, expected {' or '.join(KINDS)}")
        if event.kind != "generic":
            if event.hosts is None or event.data is not None:
                found = "no hosts" if event.hosts is None else "data"
                raise InputError(f"{where}: got {found}, expected hosts that are {event.kind}")
            return
        if event.data is None or event.hosts is not None:
            found = "no data" if event.data is None else "hosts"
            raise InputError(f"{where}: got {found}, expected the JSON text of an event")
        try:
            msgspec.json.decode(event.data)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
            raise InputError(f"{where}: data: {error}, expected JSON text") from None
