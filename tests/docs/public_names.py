"""What is public in Python, and what the pages of the reference document."""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from types import ModuleType
from typing import get_origin

from reference_pages import REFERENCE

import noctule

PAGES = [
    REFERENCE / "python.md",
    *sorted((REFERENCE / "python").glob("*.md")),
    REFERENCE / "errors.md",
]
_DIRECTIVE = re.compile(r"^( *)\.\. (?:auto)?(\w+):: ([\w.]+)", re.MULTILINE)


def public_modules() -> list[ModuleType]:
    names = [found.name for found in pkgutil.walk_packages(noctule.__path__, "noctule.")]
    modules = [importlib.import_module(name) for name in ("noctule", *names)]
    return [module for module in modules if hasattr(module, "__all__")]


MODULES = public_modules()


@cache
def documented() -> dict[str, object]:
    """Return what the pages document by its full name, members of hand-written classes included."""
    found: dict[str, object] = {}
    for path in PAGES:
        module = outer = ""
        for indent, kind, name in _DIRECTIVE.findall(path.read_text()):
            if kind in ("module", "currentmodule"):
                module = name
                if kind == "module":
                    found[name] = importlib.import_module(name)
            elif indent:
                found[f"{outer}.{name}"] = getattr(found[outer], name)
            else:
                outer = name if name.startswith("noctule.") else f"{module}.{name}"
                assert outer not in found, f"{outer}: documented twice"
                found[outer] = resolved(outer)
    return found


def resolved(name: str) -> object:
    where, _, last = name.rpartition(".")
    return getattr(importlib.import_module(where), last)


def explains_itself(value: object) -> bool:
    """Tell functions, classes and modules from constants, of which two may be one object."""
    is_alias = get_origin(value) is not None
    return (callable(value) and not is_alias) or isinstance(value, ModuleType)
