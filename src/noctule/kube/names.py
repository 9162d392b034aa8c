"""Names, labels and dates as Kubernetes allows them."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime

#: Longest name of an object, as Noctule gives them: it fits into a label too.
LONGEST = 63

_PART = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"
_NAME = re.compile(rf"{_PART}(\.{_PART})*")
_LABEL = re.compile(r"([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?")
_SPACE = uuid.UUID("b5a9c7de-2f6b-5d0e-9b57-0d3b0a3f6c11")


def name_of(text: str, otherwise: str = "x") -> str:
    """Return the text as a name: lower case letters, digits, dashes and dots, at most 63."""
    if len(text) <= LONGEST and _NAME.fullmatch(text):
        return text
    parts = (part.strip("-") for part in re.sub(r"[^a-z0-9.-]", "-", text.lower()).split("."))
    return ".".join(filter(None, parts))[:LONGEST].strip("-.") or otherwise


def unique(texts: Iterable[str], otherwise: str = "x") -> list[str]:
    """Return a name for each text; where two would be the same, the position tells them apart.

    A text that is a name already keeps it.
    """
    wanted = list(texts)
    names = [name_of(text, otherwise) for text in wanted]
    taken: set[str] = set()
    kept = [False] * len(names)
    for i, (text, name) in enumerate(zip(wanted, names, strict=True)):
        if text == name and name not in taken:
            taken.add(name)
            kept[i] = True
    for i, name in enumerate(names):
        if not kept[i]:
            names[i] = untaken(name, taken, i)
    return names


def untaken(name: str, taken: set[str], number: int) -> str:
    """Return the name, with a number behind it if it is taken, and take it."""
    found = name
    while found in taken:
        found = f"{name[: LONGEST - len(str(number)) - 1].rstrip('-.')}-{number}"
        number += 1
    taken.add(found)
    return found


def is_label_value(text: str) -> bool:
    """Tell whether a label may have this value."""
    return len(text) <= LONGEST and _LABEL.fullmatch(text) is not None


def is_qualified_name(text: str) -> bool:
    """Tell whether labels, annotations and resources may be called so: name or domain/name."""
    domain, slash, name = text.rpartition("/")
    if slash and not (len(domain) <= 253 and _NAME.fullmatch(domain)):
        return False
    return bool(name) and is_label_value(name)


def label_value(text: str) -> str:
    """Return the text as the value of a label."""
    if is_label_value(text):
        return text
    return re.sub(r"[^A-Za-z0-9._-]", "-", text)[:LONGEST].strip("-._")


def object_uid(*parts: object) -> str:
    """Return a UUID that depends on nothing but these parts."""
    return str(uuid.uuid5(_SPACE, "\0".join(map(str, parts))))


def timestamp(seconds: float) -> str:
    """Return a date, in seconds since 1970, as objects have it: whole seconds of UTC."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
