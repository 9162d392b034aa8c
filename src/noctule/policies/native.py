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
    "energy_bf": "easy, with idle hosts asleep but for those kept for the first job",
    "energy_budget": "easy, with an energy budget between two dates; saved energy may be spent",
    "fcfs": "jobs start in order; the first that does not fit holds back all others",
    "filler": "whatever fits starts",
    "idle_sleeper": "easy, with hosts put to sleep that are idle for too long when a period ends",
    "inertial": "easy, with hosts switched off and on as the load falls and rises",
    "powercap": "easy, with a power cap between two dates",
    "proportional": "easy, with a part of the hosts switched off most of the time",
    "reduce_powercap": "energy_budget, where only the first waiting job spends saved energy",
    "replanning": "every waiting job holds a reservation; planned afresh when a job ends early",
    "sleeper": "one job at a time, with all other hosts asleep",
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


@dataclass(frozen=True)
class ChoiceParameter:
    """A parameter with some values only, each with the number that the core knows it by."""

    choices: Mapping[str, float]
    default: str

    def read(self, where: str, value: Parameter | None) -> float:
        """Return the number of the value that was given, or of the default."""
        given = self.default if value is None else value
        written = str(given).lower() if isinstance(given, bool) else str(given)
        if written not in self.choices:
            known = " or ".join(self.choices)
            raise InputError(f"{where}: got {given!r}, expected {known}")
        return self.choices[written]


def _flag(default: str) -> ChoiceParameter:
    return ChoiceParameter({"true": 1, "false": 0}, default)


OwnParameters = Mapping[str, NumberParameter | ChoiceParameter]

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
    "reserve_above_rate": _flag("false"),
}
_PERIODIC: OwnParameters = {
    **_T_IDLE,
    "period": NumberParameter(default=60, least=1),
    "run_on_period": _flag("true"),
}

# What a policy takes besides an order and an allocation.
NUMBERS: Mapping[str, OwnParameters] = {
    **dict.fromkeys(("conservative", "easy", "fcfs", "filler", "replanning"), _T_IDLE),
    "energy_budget": _BUDGET,
    "powercap": _CAP,
    "reduce_powercap": _BUDGET,
    "idle_sleeper": {
        "t_idle": NumberParameter(default=0),
        "period": NumberParameter(default=30, least=1),
        "at_events": _flag("false"),
    },
    "inertial": {
        **_PERIODIC,
        "upper_bound": NumberParameter(default=10_000),
        "growth": ChoiceParameter({"increment": 1, "double": 2}, "increment"),
        "future_switches": _flag("true"),
    },
    "proportional": {**_PERIODIC, "rho": NumberParameter(most=1)},
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
