"""What a served policy wants to happen later: calls by tag, and decisions with a date.

Batsim's calls have no names and cannot be taken back. So tags are kept here: a request with a call
fires those that are due, which may be none. A decision for later is kept as well, and told when its
call comes: the policy is called meanwhile, as it would be in process.
"""

from __future__ import annotations

from collections.abc import Iterable

from noctule.messages import Decision

# Messages tell dates to the microsecond: one that was asked for may come back so much earlier.
ROUNDING = 6e-7


class ServedCalls:
    """Dates at which something is to be done."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._tags: dict[str, float] = {}
        self._decisions: list[tuple[float, Decision]] = []
        self._asked: set[float] = set()  # dates of which the simulator has been told

    def ask(self, tag: str, date: float) -> None:
        """Call at a date; a second call with the same tag replaces the first."""
        self._tags.pop(tag, None)
        self._tags[tag] = date

    def cancel(self, tag: str) -> None:
        """Forget the call with this tag."""
        self._tags.pop(tag, None)

    def keep(self, date: float, decision: Decision) -> None:
        """Keep a decision until its date."""
        self._decisions.append((date, decision))

    def exact(self, date: float) -> float:
        """Return the date that was asked for, if this is how messages round it."""
        near = [asked for asked in self._asked if abs(asked - date) <= ROUNDING]
        return max(near, default=date)

    def answered(self, date: float) -> None:
        """Note that the simulator has called at a date."""
        self._asked = {asked for asked in self._asked if asked > date + ROUNDING}

    def due_tags(self, date: float, *, told: bool) -> list[str]:
        """Return the tags that fire by a date, in order, and forget them.

        Those of which the simulator has been `told` fire when it calls, others at once.
        """
        due = [
            tag
            for tag, when in self._tags.items()
            if when <= date and (told or when not in self._asked)
        ]
        due.sort(key=self._tags.__getitem__)
        for tag in due:
            del self._tags[tag]
        return due

    def due_decisions(self, date: float) -> list[tuple[float, Decision]]:
        """Return the decisions whose date has come, in order, and forget them."""
        due = sorted((one for one in self._decisions if one[0] <= date), key=lambda one: one[0])
        self._decisions = [one for one in self._decisions if one[0] > date]
        return due

    def to_ask(self, now: float, *, with_tags: bool, also: Iterable[float] = ()) -> list[float]:
        """Return the dates of which the simulator must still be told.

        Without tags if nothing else will happen: what was asked for would keep the run alive.
        """
        wanted = {*also, *(date for date, _ in self._decisions)}
        if with_tags:
            wanted.update(self._tags.values())
        new = sorted(date for date in wanted if date > now and date not in self._asked)
        self._asked.update(new)
        return new

    def has_due(self, now: float) -> bool:
        """Tell whether something of which the simulator does not know is due."""
        dates = (*self._tags.values(), *(date for date, _ in self._decisions))
        return any(date <= now and date not in self._asked for date in dates)
