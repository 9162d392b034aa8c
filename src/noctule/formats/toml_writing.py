"""Documents as TOML text; the standard library only reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_BARE = re.compile("[A-Za-z0-9_-]+")
_WIDTH = 100


def toml_text(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the pieces of a document of tables and arrays of tables; all below is inline."""
    gap = ""
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield f"{gap}[{_key(name)}]\n{_lines(value)}"
        else:
            for entry in value:
                yield f"{gap}[[{_key(name)}]]\n{_lines(entry)}"
                gap = "\n"
        gap = "\n"


def _lines(table: Mapping[str, Any]) -> str:
    return "".join(_line(key, value) for key, value in table.items())


def _line(key: str, value: Any) -> str:
    line = f"{_key(key)} = {_value(value)}"
    if isinstance(value, list) and len(line) > _WIDTH:
        line = f"{_key(key)} = [\n" + "".join(f"  {_value(item)},\n" for item in value) + "]"
    return line + "\n"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        if not value:
            return "{}"
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return _text(value)
    return repr(value).lower()


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    # the escapes of JSON are those of TOML, which wants one more character escaped
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
