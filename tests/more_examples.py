"""How many examples a property looks at, where some are too few."""

from __future__ import annotations

from hypothesis import settings


def times_as_many(factor: int) -> settings:
    """Ask for so many times the examples of the profile: some in `make test`, then many."""
    return settings(max_examples=factor * settings.default.max_examples)
