"""The native policies: their names, their parameters, and how one is made."""

from __future__ import annotations

from collections.abc import Mapping

from noctule import _core
from noctule.errors import InputError
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
    "fcfs": "jobs start in order; the first that does not fit holds back all others",
    "filler": "whatever fits starts",
    "replanning": "every waiting job holds a reservation; planned afresh when a job ends early",
}


def make_native(name: str, parameters: Mapping[str, Parameter]) -> _core.NativePolicy:
    """Make the native policy of this name."""
    for parameter in parameters:
        if parameter not in ("order", "allocation"):
            raise InputError(
                f"policy {name}: unknown parameter {parameter}; known: order, allocation"
            )
    allocation = parameters.get("allocation", "first")
    if allocation not in ALLOCATIONS:
        known = ", ".join(ALLOCATIONS)
        raise InputError(f"policy {name}: allocation: got {allocation!r}, expected {known}")
    order = Order.compile(str(parameters.get("order", "fcfs")))
    return _core.NativePolicy(name, list(order.program), ALLOCATIONS.index(str(allocation)))
