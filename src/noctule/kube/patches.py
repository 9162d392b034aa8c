"""JSON patches (RFC 6902) and merge patches (RFC 7386).

Patches give a new value and leave the old one as it is; both share what the patch does not touch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from noctule.kube.refusals import Refusal

_MOST_OPERATIONS = 10_000
_MOST_COPIED = 100_000
_DEEPEST = 100


def check_depth(value: Any) -> Any:
    """Give a value back unless it is nested deeper than objects are."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [inner for outer in level if isinstance(outer, dict | list) for inner in _in(outer)]
        if not level:
            return value
    raise Refusal(400, f"nested deeper than {_DEEPEST} levels")


def _in(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value


def merge_patch(value: Any, patch: Any) -> Any:
    """Put a merge patch onto a value: objects are merged, null removes, all else replaces."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(value) if isinstance(value, dict) else {}
    for name, part in patch.items():
        if part is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), part)
    return merged


def json_patch(value: Any, operations: Any) -> Any:
    """Carry out the operations of a JSON patch, all of them or none."""
    if not isinstance(operations, list):
        raise Refusal(400, "JSON patch: expected a list of operations")
    if len(operations) > _MOST_OPERATIONS:
        raise Refusal(
            413, f"JSON patch: {len(operations)} operations, expected at most {_MOST_OPERATIONS}"
        )
    copied = 0
    for number, operation in enumerate(operations):
        try:
            if isinstance(operation, dict) and operation.get("op") == "copy":
                copied += _size(_find(value, _steps(operation, "from")), _MOST_COPIED - copied)
            value = _apply(value, operation)
        except _ImpossibleError as problem:
            raise Refusal(problem.code, f"JSON patch: operation {number}: {problem}") from None
    return check_depth(value)


class _ImpossibleError(Exception):
    def __init__(self, message: str, code: int = 422) -> None:
        super().__init__(message)
        self.code = code


def _apply(value: Any, operation: Any) -> Any:
    if not isinstance(operation, dict):
        raise _ImpossibleError("expected an object with op and path", 400)
    name = operation.get("op")
    path = _steps(operation, "path")
    if name == "remove":
        return _changed(value, path, _remove)
    if name in ("move", "copy"):
        return _moved(value, operation, path)
    if name not in ("add", "replace", "test"):
        raise _ImpossibleError(
            f"op {name!r}, expected add, remove, replace, move, copy or test", 400
        )
    if "value" not in operation:
        raise _ImpossibleError(f"{name} without a value", 400)
    operand = operation["value"]
    if name == "add":
        return _changed(value, path, lambda at, step: _add(at, step, operand))
    if name == "replace":
        return _changed(value, path, lambda at, step: _replace(at, step, operand))
    if not _same(_find(value, path), operand):
        raise _ImpossibleError(f"test failed: {operation['path']} has another value")
    return value


def _moved(value: Any, operation: dict[str, Any], path: list[str]) -> Any:
    source = _steps(operation, "from")
    moved = _find(value, source)
    if operation["op"] == "move":
        if len(path) > len(source) and path[: len(source)] == source:
            raise _ImpossibleError(f"{operation['from']} cannot move into itself")
        value = _changed(value, source, _remove)
    return _changed(value, path, lambda at, step: _add(at, step, moved))


def _size(value: Any, most: int) -> int:
    """How many values there are in one, which copies of copies can make very many."""
    left = [value]
    size = 0
    while left:
        size += 1
        if size > most:
            raise _ImpossibleError(f"more than {_MOST_COPIED} values copied", 413)
        inner = left.pop()
        if isinstance(inner, dict | list):
            left.extend(_in(inner))
    return size


def _steps(operation: dict[str, Any], name: str) -> list[str]:
    pointer = operation.get(name)
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise _ImpossibleError(f"{name} {pointer!r}, expected a path such as /spec/nodeName", 400)
    if pointer.count("/") > _DEEPEST:
        raise _ImpossibleError(f"{name} has more than {_DEEPEST} steps")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _find(value: Any, path: list[str]) -> Any:
    for step in path:
        value = value[_place(value, step)]
    return value


def _changed(value: Any, path: list[str], change: Callable[[Any, str | None], Any]) -> Any:
    """The value with a change made at a path; copies only what leads there."""
    if not path:
        return change(value, None)
    if len(path) == 1:
        return change(value, path[0])
    place = _place(value, path[0])
    copy = value.copy()
    copy[place] = _changed(value[place], path[1:], change)
    return copy


def _add(at: Any, step: str | None, operand: Any) -> Any:
    if step is None:
        return operand
    if isinstance(at, list):
        place = len(at) if step == "-" else _index(step, len(at))
        return [*at[:place], operand, *at[place:]]
    if isinstance(at, dict):
        return {**at, step: operand}
    raise _ImpossibleError(f"{step!r} is inside a plain value")


def _replace(at: Any, step: str | None, operand: Any) -> Any:
    if step is None:
        return operand
    place = _place(at, step)
    copy = at.copy()
    copy[place] = operand
    return copy


def _remove(at: Any, step: str | None) -> Any:
    if step is None:
        return None
    place = _place(at, step)
    copy = at.copy()
    del copy[place]
    return copy


def _place(at: Any, step: str) -> Any:
    if isinstance(at, list):
        return _index(step, len(at) - 1)
    if isinstance(at, dict):
        if step in at:
            return step
        raise _ImpossibleError(f"there is no {step!r}")
    raise _ImpossibleError(f"{step!r} is inside a plain value")


def _index(step: str, last: int) -> int:
    well_written = step.isascii() and step.isdigit() and (step == "0" or step[0] != "0")
    if well_written and len(step) < 10 and int(step) <= last:
        return int(step)
    raise _ImpossibleError(f"there is no element {step!r}")


def _same(left: Any, right: Any) -> bool:
    """Equality of JSON, where true is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)
