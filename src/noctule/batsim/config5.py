"""Batsim 5's options in a file, as CLI11 has them: TOML, or INI if the name ends so.

Keys are the long names of options. In INI several values stand one after the other.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from noctule.batsim.options import BatsimError, Given, Takes
from noctule.batsim.options5 import ALL_OPTIONS, Batsim5Code
from noctule.output_file import write_file
from noctule.units import shown

_OPTIONS = {option.name.removeprefix("--"): option for option in ALL_OPTIONS}
# what is about the file itself, or asks for an answer at once
_LEFT_OUT = ("config", "gen-config", "help")


def with_config(given: Given) -> Given:
    """Add the options of the file that a command line names; its own come first."""
    if "--config" not in given:
        return given
    path = given.one("--config", "")
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise _wrong(f"--config: {path}: got bytes that are not UTF-8 text") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise _wrong(f"--config: {path}: cannot be read: {reason}") from None
    fields = _ini(path, text) if path.endswith(".ini") else _toml(path, text)
    found = Given(dict(given.values))
    for key, value in fields.items():
        if key not in _OPTIONS or key in _LEFT_OUT:
            raise _wrong(f"--config: {path}: {shown(key)}: no such option")
        option = _OPTIONS[key]
        values = _texts(f"--config: {path}: {key}", value)
        if option.takes is Takes.NOTHING:
            if values not in (["true"], ["false"]):
                raise _wrong(f"--config: {path}: {key}: got {values}, expected true or false")
            if values == ["false"]:
                continue
            values = []
        elif option.takes is Takes.ONE and len(values) != 1:
            raise _wrong(f"--config: {path}: {key}: got {len(values)} values, expected one")
        found.values.setdefault(option.name, values)
    return found


def write_config(given: Given, path: str) -> None:
    """Write all options that were given."""
    is_ini = path.endswith(".ini")
    lines = []
    for name, values in given.values.items():
        key = name.removeprefix("--")
        if key in _LEFT_OUT:
            continue
        quoted = [json.dumps(value, ensure_ascii=False) for value in values]
        takes = _OPTIONS[key].takes
        if takes is Takes.NOTHING:
            lines.append(f"{key}=true\n")
        elif takes is Takes.ONE:
            lines.append(f"{key}={quoted[0]}\n")
        elif is_ini:
            lines.append(f"{key}={' '.join(quoted)}\n")
        else:
            lines.append(f"{key}=[{', '.join(quoted)}]\n")
    write_file(path, iter(lines), force=True)


def _toml(path: str, text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _wrong(f"--config: {path}: not valid TOML: {error}") from None
    except RecursionError:
        raise _wrong(f"--config: {path}: not valid TOML: nested too deeply") from None


def _ini(path: str, text: str) -> Mapping[str, Any]:
    fields: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or re.match(r"\s*[;#\[]", line):
            continue
        key, equals, value = line.partition("=")
        if not equals:
            raise _wrong(f"--config: {path}: line {number}: got {shown(line)}, expected key=value")
        try:
            fields[key.strip()] = shlex.split(value)
        except ValueError as error:
            raise _wrong(f"--config: {path}: line {number}: {error}") from None
    return fields


def _texts(where: str, value: Any) -> list[str]:
    """Return values as words of a command line; lists may stand in a list."""
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, str | int | float):
        return [str(value)]
    if isinstance(value, Sequence):
        return [text for one in value for text in _texts(where, one)]
    raise _wrong(f"{where}: got {shown(str(value))}, expected texts")


def _wrong(message: str) -> BatsimError:
    return BatsimError(message, Batsim5Code.USAGE)
