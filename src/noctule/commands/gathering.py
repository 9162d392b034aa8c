"""Options that several commands share, given to them as one object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any

from noctule.console import ExitCode


def gathering(
    kind: type[Any], argument: str, command: Callable[..., ExitCode]
) -> Callable[..., ExitCode]:
    """Make a command take one object of a dataclass instead of the options that are in it."""
    names = [field.name for field in fields(kind)]

    @wraps(command)
    def gathered(**values: Any) -> ExitCode:
        values[argument] = kind(**{name: values.pop(name) for name in names})
        return command(**values)

    return gathered
