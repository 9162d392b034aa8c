"""Expressions over features of nodes, as `--constraint` has them: which nodes they allow.

`a&b`, `a|b` and parentheses are understood; so are alternatives in brackets, where all nodes must
have the same one, as long as they are read node by node. Counts (`a*2`) are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from noctule.errors import InputError
from noctule.slurm.conf.nodes import Node
from noctule.units import shown

_TOKEN = re.compile(r"\s*([A-Za-z0-9_.:/=-]+|[&|()\[\],])")

_Test = Callable[[frozenset[str]], bool]


def nodes_with(text: str, nodes: Sequence[Node], where: str) -> list[int]:
    """Return the positions of the nodes that an expression allows."""
    test = _Parser(text, where).parse()
    return [i for i, node in enumerate(nodes) if test(frozenset(node.features))]


class _Parser:
    def __init__(self, text: str, where: str) -> None:
        self._text = text
        self._where = where
        self._tokens: list[str] = []
        at = 0
        while at < len(text.rstrip()):
            match = _TOKEN.match(text, at)
            if match is None:
                raise self._error()
            self._tokens.append(match[1])
            at = match.end()

    def _error(self) -> InputError:
        return InputError(
            f"{self._where}: got {shown(self._text)}, expected features joined by & and |"
        )

    def _next(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def parse(self) -> _Test:
        test = self._any(0)
        if self._tokens:
            raise self._error()
        return test

    def _any(self, depth: int) -> _Test:
        tests = [self._all(depth)]
        while self._next() == "|":
            self._tokens.pop(0)
            tests.append(self._all(depth))
        return tests[0] if len(tests) == 1 else lambda features: any(t(features) for t in tests)

    def _all(self, depth: int) -> _Test:
        tests = [self._one(depth)]
        while self._next() in ("&", ","):
            self._tokens.pop(0)
            tests.append(self._one(depth))
        return tests[0] if len(tests) == 1 else lambda features: all(t(features) for t in tests)

    def _one(self, depth: int) -> _Test:
        token = self._tokens.pop(0) if self._tokens else ""
        if token in ("(", "[") and depth < 50:
            inner = self._any(depth + 1)
            if self._next() != {"(": ")", "[": "]"}[token]:
                raise self._error()
            self._tokens.pop(0)
            return inner
        if not token or not (token[0].isalnum() or token[0] in "_.:/=-"):
            raise self._error()
        return lambda features: token in features
