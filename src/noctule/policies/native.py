"""The native policies: their names, their parameters, and how one is made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from noctule import _core
from noctule.errors import InputError
from noctule.policies.budget import refuse_bad_budget
from noctule.policies.orders import Order
from noctule.policy import Parameter

# By the code of the core's Allocation.
ALLOCATIONS = (
    "first",
    "best_effort_contiguous",
    "contiguous",
    "best_effort_local",
    "local",
)

NATIVE_POLICIES = {
    "conservative": "every waiting job holds a reservation; compressed when a job ends early",
    "easy": "the first waiting job holds a reservation; others may pass it",
    "energy_budget": "easy, with an energy budget between two dates; saved energy may be spent",
    "fcfs": "jobs start in order; the first that does not fit holds back all others",
    "filler": "whatever fits starts",
    "powercap": "easy, with a power cap between two dates",
    "reduce_powercap": "energy_budget, where only the first waiting job spends saved energy",
    "replanning": "every waiting job holds a reservation; planned afresh when a job ends early",
}


@dataclass(frozen=True)
class NumberParameter:
    """A parameter that a policy has for itself; without a default it must be given."""

    default: float | None = None
    least: float = 0.0
    most: float = math.inf

    def read(self, where: str, value: Parameter | None) -> float:
        """Return the number that was given, or the default."""
        given = self.default if value is None else value
        if given is None:
            raise InputError(f"{where}: not given, expected a number {self._range}")
        if isinstance(given, str) or not self.least <= given <= self.most:
            raise InputError(f"{where}: got {given!r}, expected a number {self._range}")
        return float(given)

    @property
    def _range(self) -> str:
        if self.most == math.inf:
            return f"of at least {self.least:g}"
        return f"from {self.least:g} to {self.most:g}"


OwnParameters = Mapping[str, NumberParameter]

_T_IDLE: OwnParameters = {"t_idle": NumberParameter(default=math.inf)}
# Budget and joules are alternatives: 0 is the one that was not given.
_CAP: OwnParameters = {
    "budget": NumberParameter(0.0),
    "joules": NumberParameter(0.0),
    "budget_start": NumberParameter(),
    "budget_end": NumberParameter(),
    "idle_watts": NumberParameter(100.0),
    "computing_watts": NumberParameter(203.12),
    **_T_IDLE,
}
_BUDGET: OwnParameters = {
    **_CAP,
    "monitoring": NumberParameter(600.0),
    "reserve_above_rate": NumberParameter(0.0, most=1.0),
}

# What a policy takes besides an order and an allocation.
NUMBERS: Mapping[str, OwnParameters] = {
    **dict.fromkeys(("conservative", "easy", "fcfs", "filler", "replanning"), _T_IDLE),
    "energy_budget": _BUDGET,
    "powercap": _CAP,
    "reduce_powercap": _BUDGET,
}


def make_native(name: str, parameters: Mapping[str, Parameter]) -> _core.NativePolicy:
    """Make the native policy of this name."""
    numbers = NUMBERS.get(name, {})
    known_parameters = ("order", "allocation", *numbers)
    for parameter in parameters:
        if parameter not in known_parameters:
            raise InputError(
                f"policy {name}: unknown parameter {parameter}; known: "
                + ", ".join(known_parameters)
            )
    allocation = parameters.get("allocation", "first")
    if allocation not in ALLOCATIONS:
        known = ", ".join(ALLOCATIONS)
        raise InputError(f"policy {name}: allocation: got {allocation!r}, expected {known}")
    order = Order.compile(str(parameters.get("order", "fcfs")))
    values = {
        parameter: number.read(f"policy {name}: {parameter}", parameters.get(parameter))
        for parameter, number in numbers.items()
    }
    if "budget" in numbers:
        refuse_bad_budget(
            f"policy {name}",
            budget=values["budget"] if "budget" in parameters else None,
            joules=values["joules"] if "joules" in parameters else None,
            start=values["budget_start"],
            end=values["budget_end"],
            idle_watts=values["idle_watts"],
            computing_watts=values["computing_watts"],
            monitoring=values.get("monitoring", math.inf),
        )
    return _core.NativePolicy(name, list(order.program), ALLOCATIONS.index(str(allocation)), values)
