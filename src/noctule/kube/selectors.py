"""Field and label selectors: which objects a list or a watch is about.

Field selectors compare the text of any path (`spec.nodeName=n1,status.phase!=Failed`); a path that
leads nowhere is the empty text, as in Kubernetes. Label selectors know equality, sets and presence
(`app=web,tier in (a,b),!canary`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from noctule.kube.names import is_label_value
from noctule.kube.refusals import Refusal

_Test = Callable[[dict[str, Any]], bool]

_FIELD_TERM = re.compile(r"\s*([^=!,\\]+?)\s*(!=|==|=)((?:[^,=\\]|\\.)*)\s*", re.DOTALL)
_LABEL_NAME = (
    r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
)
_LABEL_TERM = re.compile(
    rf"\s*(?:(?P<absent>!)\s*(?P<missing>{_LABEL_NAME})"
    rf"|(?P<key>{_LABEL_NAME})(?:\s*(?P<sign>!=|==|=)\s*(?P<value>[^\s,()!=]*)"
    rf"|\s+(?P<set>in|notin)\s*\((?P<values>[^()]*)\)"
    rf"|\s*(?P<order>[<>])\s*(?P<bound>\d+))?)\s*"
)


@dataclass(frozen=True, slots=True)
class Selector:
    """All of some tests of an object; without tests, every object is selected."""

    tests: tuple[_Test, ...] = ()

    def matches(self, obj: dict[str, Any]) -> bool:
        """Whether the object is one of those selected."""
        return all(test(obj) for test in self.tests)


EVERYTHING = Selector()


def parse_selector(fields: str = "", labels: str = "") -> Selector:
    """Read a field selector and a label selector; raises `Refusal` where one is not readable."""
    if not fields and not labels:
        return EVERYTHING
    terms = [_field_test(path, wanted, equal) for path, wanted, equal in _field_terms(fields)]
    return Selector((*terms, *_label_tests(labels)))


def _field_terms(text: str) -> list[tuple[str, str, bool]]:
    terms: list[tuple[str, str, bool]] = []
    at = 0
    while at < len(text):
        found = _FIELD_TERM.match(text, at)
        if found is None or (found.end() < len(text) and text[found.end()] != ","):
            raise Refusal(
                400,
                f"fieldSelector {text!r}: expected terms such as spec.nodeName=n1 or "
                f"status.phase!=Failed, separated by commas",
            )
        path, sign, value = found.groups()
        terms.append((path, re.sub(r"\\(.)", r"\1", value), sign != "!="))
        at = found.end() + 1
    return terms


def _field_test(path: str, wanted: str, equal: bool) -> _Test:
    steps = path.split(".")

    def test(obj: dict[str, Any]) -> bool:
        value: Any = obj
        for step in steps:
            value = value.get(step) if isinstance(value, dict) else None
        return (_field_text(value) == wanted) is equal

    return test


def _field_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _label_tests(text: str) -> list[_Test]:
    tests: list[_Test] = []
    if not text.strip():
        return tests
    at = 0
    while at <= len(text):
        found = _LABEL_TERM.match(text, at)
        if found is None or (found.end() < len(text) and text[found.end()] != ","):
            raise Refusal(
                400,
                f"labelSelector {text!r}: expected terms such as app=web, tier in (a,b), "
                f"tier notin (a), app or !app, separated by commas",
            )
        tests.append(_label_test(found, text))
        at = found.end() + 1
    return tests


def _label_test(term: re.Match[str], text: str) -> _Test:
    if term["absent"]:
        missing = term["missing"]
        return lambda obj: missing not in _labels(obj)
    key = term["key"]
    if term["sign"] or term["set"]:
        wanted = [term["value"]] if term["sign"] else term["values"].split(",")
        values = frozenset(_value(value.strip(), text) for value in wanted)
        among = (term["sign"] or term["set"]) in ("=", "==", "in")
        return lambda obj: (_labels(obj).get(key) in values) is among
    if term["order"]:
        bound, above = int(term["bound"]), term["order"] == ">"
        return lambda obj: _beyond(_labels(obj).get(key), bound, above)
    return lambda obj: key in _labels(obj)


def _value(text: str, selector: str) -> str:
    if not is_label_value(text):
        raise Refusal(
            400,
            f"labelSelector {selector!r}: {text!r} is not a value of a label: at most 63 letters, "
            f"digits, '-', '_' and '.', with a letter or a digit at both ends",
        )
    return text


def _beyond(value: Any, bound: int, above: bool) -> bool:
    try:
        number = int(value)
    except (TypeError, ValueError):
        return False
    return number > bound if above else number < bound


def _labels(obj: dict[str, Any]) -> dict[str, Any]:
    labels = obj["metadata"].get("labels")
    return labels if isinstance(labels, dict) else {}
