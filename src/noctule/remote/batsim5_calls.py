"""When a decision component of Batsim 5 wants to hear something: calls and probes.

Those with a period are due at absolute multiples of it; all that are due at one date are told in
one message. As in Batsim, of any two periods one must be a multiple of the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from noctule.errors import InputError
from noctule.formats.json_object import shown_json
from noctule.messages import CallAt, CancelCall, Decision
from noctule.policy import View
from noctule.remote.batsim5_reading import ProbeData, When
from noctule.remote.batsim5_writing import json_text

_UNITS = {"Second": 1000, "Millisecond": 1}
_AGGREGATIONS = {
    "NoResourcesAggregation": "none",
    "Sum": "sum",
    "ArithmeticMean": "mean",
}
# Beyond this, doubles cannot tell milliseconds apart.
_LARGEST = 2**53
_TICK, _CALL = "tick", "call "


@dataclass(slots=True)
class _Entity:
    """Something with a period, in milliseconds; `left` counts the times to come, None for ever."""

    name: str
    period: int
    due: int
    left: int | None = None


@dataclass(slots=True)
class _Probe(_Entity):
    hosts: Sequence[int] = ()
    hosts_text: str = ""
    aggregation: str = "none"
    has_begun: bool = field(default=False)

    def value(self, view: View) -> str:
        """Write what is measured: the joules of the hosts since the beginning of time."""
        joules = [view.host_energy(host) for host in self.hosts]
        if self.aggregation == "none":
            kind, data = "VectorialProbeData", json_text(joules)
        else:
            total = math.fsum(joules)
            kind = "AggregatedProbeData"
            data = repr(total if self.aggregation == "sum" else total / len(joules))
        return (
            f'{{"probe_id":{json_text(self.name)},"resources_type":"HostResources",'
            f'"resources":{{"host_ids":{json_text(self.hosts_text)}}},"metrics":"Power",'
            f'"data_type":"{kind}","data":{{"data":{data}}},'
            '"manually_triggered":false,"nb_emitted":0,"nb_triggered":0}'
        )


class Calls:
    """All calls and probes that were asked for and are not over."""

    def __init__(self) -> None:
        """Begin without any."""
        self._once: dict[str, str] = {}
        self._periodic: dict[str, _Entity] = {}
        self._probes: dict[str, _Probe] = {}
        self._n_calls = 0

    def ask(self, name: str, kind: str, when: When, date: float) -> list[Decision]:
        """Enter a call, as it was asked for at a date."""
        if name in self._periodic or name in self._once.values():
            raise InputError(f"call_me_later_id: got {shown_json(name)}, which is still to come")
        if kind == "OneShot":
            time = _milliseconds("when.time", when.time, when.time_unit) / 1000
            self._n_calls += 1
            tag = f"{_CALL}{self._n_calls}"
            self._once[tag] = name
            return [CallAt(max(time, date), tag)]
        self._periodic[name] = _Entity(name, *self._timing("when", kind, when, date))
        return self._next_tick(date)

    def stop_call(self, name: str, date: float) -> list[Decision]:
        """Forget a call."""
        for tag, other in self._once.items():
            if other == name:
                del self._once[tag]
                return [CancelCall(tag)]
        if self._periodic.pop(name, None) is None:
            raise InputError(
                f"call_me_later_id: got {shown_json(name)}, expected one that is still to come"
            )
        return self._next_tick(date)

    def create_probe(self, data: ProbeData, hosts: Sequence[int], date: float) -> list[Decision]:
        """Enter a probe, as it was asked for at a date."""
        if data.probe_id in self._probes:
            raise InputError(f"probe_id: got {shown_json(data.probe_id)}, which is taken")
        _refuse_other_probes(data)
        policy = data.measurement_triggering_policy
        timing = self._timing(
            "temporal_trigger", policy.temporal_trigger_type, policy.temporal_trigger, date
        )
        aggregation = _AGGREGATIONS[data.resources_aggregation_function_type]
        self._probes[data.probe_id] = _Probe(
            data.probe_id, *timing, hosts, data.resources.host_ids, aggregation
        )
        return self._next_tick(date)

    def stop_probe(self, name: str, date: float) -> list[Decision]:
        """Forget a probe."""
        if self._probes.pop(name, None) is None:
            raise InputError(f"probe_id: got {shown_json(name)}, expected a probe that there is")
        return self._next_tick(date)

    def fired(self, tag: str, view: View) -> tuple[list[str], list[Decision]]:
        """Return the events that a timer makes, and the timers that follow."""
        if tag != _TICK:
            name = self._once.pop(tag, None)
            return ([] if name is None else [_call(name, is_last=True, periodic=False)]), []
        now = round(view.now * 1000)
        told = [*self._due_calls(now), *self._due_probes(now, view)]
        return told, self._next_tick(view.now)

    def _due_calls(self, now: int) -> Iterator[str]:
        for name, entity in list(self._periodic.items()):
            if entity.due <= now:
                is_last = _advance(entity)
                if is_last:
                    del self._periodic[name]
                yield _call(name, is_last=is_last)

    def _due_probes(self, now: int, view: View) -> Iterator[str]:
        for name, probe in list(self._probes.items()):
            if probe.due > now:
                continue
            if _advance(probe):
                del self._probes[name]
            # as in Batsim, the first date only begins to measure
            if probe.has_begun:
                yield f'"ProbeDataEmittedEvent","event":{probe.value(view)}'
            probe.has_begun = True

    def _timing(self, key: str, kind: str, when: When, date: float) -> tuple[int, int, int | None]:
        """Return the period, the first date from then on, and how often it comes."""
        if kind != "Periodic":
            raise InputError(
                f"{key}_type: got {shown_json(kind)}, expected OneShot or Periodic"
                if key == "when"
                else f"{key}_type: got {shown_json(kind)}, expected Periodic"
            )
        period = _milliseconds(f"{key}.period", when.period, when.time_unit)
        if period < 1:
            raise InputError(f"{key}.period: got {when.period}, expected a positive number")
        if when.offset != 0:
            raise InputError(f"{key}.offset: got {when.offset}, expected 0, as Batsim does")
        for other in (*self._periodic.values(), *self._probes.values()):
            if max(period, other.period) % min(period, other.period):
                raise InputError(
                    f"{key}.period: got {period} ms beside {other.period} ms of "
                    f"{shown_json(other.name)}, expected one to be a multiple of the other"
                )
        left = None
        if when.mode_type == "FinitePeriodNumber":
            left = when.mode.nb_periods if when.mode is not None else 0
            if left < 1:
                raise InputError(f"{key}.mode.nb_periods: got {left}, expected at least 1")
        elif when.mode_type != "Infinite":
            raise InputError(
                f"{key}.mode_type: got {shown_json(when.mode_type)}, "
                "expected Infinite or FinitePeriodNumber"
            )
        n = math.floor(date * 1000 / period)
        while n * period / 1000 <= date:
            n += 1
        return period, n * period, left

    def _next_tick(self, date: float) -> list[Decision]:
        entities = (*self._periodic.values(), *self._probes.values())
        if not entities:
            return [CancelCall(_TICK)]
        return [CallAt(max(min(one.due for one in entities) / 1000, date), _TICK)]


def _advance(entity: _Entity) -> bool:
    """Go on to the next date of something, and say whether there is none."""
    entity.due += entity.period
    if entity.left is None:
        return False
    entity.left -= 1
    return entity.left == 0


def _call(name: str, *, is_last: bool, periodic: bool = True) -> str:
    last = "true" if is_last and periodic else "false"
    return (
        f'"RequestedCallEvent","event":{{"call_me_later_id":{json_text(name)},'
        f'"last_periodic_call":{last}}}'
    )


def _milliseconds(key: str, value: int, unit: str) -> int:
    if unit not in _UNITS:
        raise InputError(f"{key}: got the unit {shown_json(unit)}, expected {' or '.join(_UNITS)}")
    if not 0 <= value * _UNITS[unit] <= _LARGEST:
        raise InputError(f"{key}: got {value}, expected a number from 0 to {_LARGEST}")
    return value * _UNITS[unit]


def _refuse_other_probes(data: ProbeData) -> None:
    """Refuse what Batsim does not measure either."""
    known = {
        "metrics": (data.metrics, ("Power",)),
        "resources_type": (data.resources_type, ("HostResources",)),
        "data_accumulation_strategy_type": (
            data.data_accumulation_strategy_type,
            ("ProbeDataAccumulation",),
        ),
        "data_accumulation_strategy.reset_mode_type": (
            data.data_accumulation_strategy.reset_mode_type
            if data.data_accumulation_strategy
            else "NoReset",
            ("NoReset",),
        ),
        "measurement_triggering_policy_type": (
            data.measurement_triggering_policy_type,
            ("TemporalTriggerWrapper",),
        ),
        "resources_aggregation_function_type": (
            data.resources_aggregation_function_type,
            tuple(_AGGREGATIONS),
        ),
        "temporal_aggregation_function_type": (
            data.temporal_aggregation_function_type,
            ("NoTemporalAggregation",),
        ),
        "emission_filtering_policy_type": (data.emission_filtering_policy_type, ("NoFiltering",)),
    }
    for key, (found, words) in known.items():
        if found not in words:
            raise InputError(f"{key}: got {shown_json(found)}, expected {' or '.join(words)}")
