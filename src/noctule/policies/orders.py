"""Orders of a queue: by name, or as an arithmetic expression; lower keys go first.

An expression may use `submit_time`, `waiting_time`, `walltime` and `n_hosts`, numbers, `+ - * / **`
and `min max abs log sqrt`. It is compiled to a small postfix program, never evaluated as Python.
Jobs with equal keys keep their order of submission; a key that is not a number goes last.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from noctule.errors import InputError

if TYPE_CHECKING:
    from noctule.policy import View, ViewJob

NAMED_ORDERS = {
    "fcfs": "",
    "sjf": "walltime",
    "ljf": "-walltime",
    "smallest": "n_hosts",
    "largest": "-n_hosts",
    "smallest_area": "n_hosts * walltime",
    "wfp3": "-(waiting_time / walltime) ** 3 * n_hosts",
}

# Codes of the core's OrderOp.
_CONSTANT = 0
_VARIABLES = {"submit_time": 1, "waiting_time": 2, "walltime": 3, "n_hosts": 4}
_OPERATORS: dict[type[ast.operator], int] = {
    ast.Add: 5,
    ast.Sub: 6,
    ast.Mult: 7,
    ast.Div: 8,
    ast.Pow: 9,
}
_NEGATE = 10
_FUNCTIONS = {"min": (11, 2), "max": (12, 2), "abs": (13, 1), "log": (14, 1), "sqrt": (15, 1)}
_MAX_LENGTH = 1000


def _divide(a: float, b: float) -> float:
    if b != 0:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)


def _power(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf
    except ValueError:
        if a != 0:
            return math.nan
        return math.copysign(math.inf, a) if b % 2 == 1 else math.inf


def _log(a: float) -> float:
    return math.log(a) if a > 0 else (-math.inf if a == 0 else math.nan)


def _sqrt(a: float) -> float:
    return math.sqrt(a) if a >= 0 else math.nan


# The same arithmetic as the core's, to the last bit: IEEE where Python would raise.
_BINARY: dict[int, Callable[[float, float], float]] = {
    5: lambda a, b: a + b,
    6: lambda a, b: a - b,
    7: lambda a, b: a * b,
    8: _divide,
    9: _power,
    11: min,
    12: max,
}
_UNARY: dict[int, Callable[[float], float]] = {10: lambda a: -a, 13: abs, 14: _log, 15: _sqrt}


@dataclass(frozen=True, slots=True)
class Order:
    """A compiled order."""

    text: str
    program: tuple[tuple[int, float], ...]

    @classmethod
    def compile(cls, text: str) -> Order:
        """Compile a name or an expression."""
        expression = NAMED_ORDERS.get(text, text)
        if not expression:
            return cls(text, ())
        if len(expression) > _MAX_LENGTH:
            raise InputError(f"order: got {len(expression)} characters, expected {_MAX_LENGTH}")
        try:
            tree = ast.parse(expression, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise InputError(_refusal(text)) from None
        program: list[tuple[int, float]] = []
        _emit(tree.body, program, text)
        return cls(text, tuple(program))

    def key(self, now: float, submit_time: float, walltime: float, n_hosts: int) -> float:
        """Return the key of a job."""
        values = {1: submit_time, 2: now - submit_time, 3: walltime, 4: float(n_hosts)}
        stack: list[float] = []
        for op, constant in self.program:
            if op == _CONSTANT:
                stack.append(constant)
            elif op in values:
                stack.append(values[op])
            elif op in _UNARY:
                stack.append(_UNARY[op](stack.pop()))
            else:
                b, a = stack.pop(), stack.pop()
                stack.append(_BINARY[op](a, b))
        key = stack[0] if stack else 0.0
        return math.inf if math.isnan(key) else key

    def sort(self, view: View) -> list[ViewJob]:
        """Return the waiting jobs of a view in this order."""
        jobs = list(view.waiting)
        if self.program:
            keys = [self.key(view.now, j.submit_time, j.walltime, j.n_hosts) for j in jobs]
            jobs = [jobs[i] for i in sorted(range(len(jobs)), key=keys.__getitem__)]
        return jobs


def _refusal(text: str) -> str:
    names = ", ".join(NAMED_ORDERS)
    variables = ", ".join(_VARIABLES)
    return f"order: got {text!r}, expected {names}, or an expression of {variables}"


def _constant(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _emit(node: ast.expr, program: list[tuple[int, float]], text: str) -> None:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            program.append((_CONSTANT, _constant(value)))
        case ast.Name(id=name) if name in _VARIABLES:
            program.append((_VARIABLES[name], 0.0))
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            _emit(left, program, text)
            _emit(right, program, text)
            program.append((_OPERATORS[type(operator)], 0.0))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _emit(operand, program, text)
            program.append((_NEGATE, 0.0))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if (
            name in _FUNCTIONS and len(arguments) == _FUNCTIONS[name][1]
        ):
            for argument in arguments:
                _emit(argument, program, text)
            program.append((_FUNCTIONS[name][0], 0.0))
        case _:
            raise InputError(_refusal(text))
