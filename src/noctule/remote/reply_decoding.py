"""Replies as typed values, and sentences about what is wrong with those that are none."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from noctule.errors import ProtocolError
from noctule.formats.json_object import shown_json

_LONGEST_QUOTE = 60
_Reply = TypeVar("_Reply")
_WORDS = {
    "float": "a number",
    "int": "a whole number",
    "str": "a text",
    "object": "an object",
    "array": "an array",
    "bool": "true or false",
    "null": "nothing",
}


def decoded(
    decode: Callable[[bytes], _Reply], text: bytes, where: str, kinds: tuple[str, str]
) -> _Reply:
    """Decode a reply; `where` begins the sentences about what is wrong.

    `kinds` are how the path of an event's type ends, and the types that there are.
    """
    try:
        return decode(text)
    except msgspec.ValidationError as error:
        raise ProtocolError(f"{where}: {_misfit(text, str(error), kinds)}") from None
    except msgspec.DecodeError as error:
        raise ProtocolError(f"{where}: {_malformed(text, str(error))}") from None
    except UnicodeDecodeError as error:
        raise ProtocolError(f"{where}: {_not_text(text, error)}") from None
    except RecursionError:
        raise ProtocolError(
            f"{where}: got {quoted(text)}, which is nested too deeply, expected a reply"
        ) from None


def quoted(text: bytes, at: int = 0) -> str:
    """Show a few characters of a text, from a position on."""
    start = max(0, at - _LONGEST_QUOTE // 2) if at else 0
    piece = text[start : start + _LONGEST_QUOTE].decode("utf-8", "backslashreplace")
    before = "..." if start else ""
    after = "..." if start + _LONGEST_QUOTE < len(text) else ""
    return f"{before}{piece!r}{after}" if piece else "nothing"


def _malformed(text: bytes, message: str) -> str:
    if "truncated" in message:
        if not text.strip():
            return "got nothing, expected a reply"
        end = quoted(text, len(text))
        return f"got {len(text)} bytes that end with {end}, expected all of a reply"
    match = re.fullmatch(r"JSON is malformed: (.*) \(byte (\d+)\)", message)
    if match is None:
        return f"got {quoted(text)}, which is no JSON: {message}"
    at = int(match[2])
    return f"got {quoted(text, at)}, which is no JSON: {match[1]} (byte {at})"


def _not_text(text: bytes, error: UnicodeDecodeError) -> str:
    at = text.find(error.object[: error.end]) + error.start
    return f"got {quoted(text, max(at, 0))}, which is not UTF-8"


def _misfit(text: bytes, message: str, kinds: tuple[str, str]) -> str:
    """Say what is wrong with a part of the reply, and show it."""
    problem, _, path = message.partition(" - at ")
    is_key = path.startswith("`key`")
    path = path.replace("`key` in ", "").replace("`", "").removeprefix("$").removeprefix(".")
    found = _found(text, path)
    where = f"{path}: " if path else ""
    unknown = re.fullmatch("Object contains unknown field `(.*)`", problem, re.DOTALL)
    missing = re.fullmatch("Object missing required field `(.*)`", problem, re.DOTALL)
    wanted = re.match("Expected `(.*?)`", problem)
    if unknown:
        expected = f"no field `{unknown[1]}` in it"
    elif missing:
        expected = f"a field `{missing[1]}` in it"
    elif path.endswith(kinds[0]):
        expected = f"one of {kinds[1]}"
    elif "out of range" in problem:
        expected = "a number of a usual size"
    elif wanted:
        names = [_WORDS.get(name.strip(), name.strip()) for name in wanted[1].split("|")]
        expected = " or ".join(name for name in names if name != "nothing")
        expected += " as each key" if is_key else ""
    else:
        expected = f"another one: {problem[:1].lower()}{problem[1:]}"
    return f"{where}got {found}, expected {expected}"


def _found(text: bytes, path: str) -> str:
    """Show the part of a reply that stands at a path such as events[3].data."""
    try:
        part = msgspec.json.decode(text)
        for key, index in re.findall(r"([^.\[\]]+)|\[(\d+|\.\.\.)\]", path):
            if index == "...":
                break
            part = part[int(index)] if index else part[key]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, LookupError, TypeError):
        return quoted(text)
    return shown_json(part) if not isinstance(part, dict | list) else _shown_whole(part)


def _shown_whole(part: Mapping[str, Any] | list[Any]) -> str:
    return quoted(msgspec.json.encode(part)).strip("'")
