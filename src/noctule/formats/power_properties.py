"""The power of a host, from the properties in which SimGrid and Batsim have it.

wattage_per_state: "95:190, 95:100:171", watts idle, just above idle (epsilon) and with all cores
busy, for each power state. wattage_off: watts when switched off. sleep_pstates: "13:14:15", a power
state to sleep in and those that stand for switching off and on.

Files whose properties do not fit each other are in use, by people who do not look at energy. So
nothing is refused here: what is wrong becomes a sentence, for those who ask for the power.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from noctule.platform import PowerRange, SleepState
from noctule.units import POWER, shown

PER_STATE, OFF, SLEEP = "wattage_per_state", "wattage_off", "sleep_pstates"
# Before SimGrid 3.25. A middle value meant one busy core then, so three values cannot be trusted.
_OLD_PER_STATE, _OLD_OFF = "watt_per_state", "watt_off"
_NAMES = (PER_STATE, OFF, SLEEP, _OLD_PER_STATE, _OLD_OFF)


@dataclass(frozen=True, slots=True)
class Power:
    """The power of a host, or why it cannot be known."""

    powers: tuple[PowerRange, ...] = ()
    power_off: float = 0.0
    sleep_states: tuple[SleepState, ...] = ()
    power_fault: str = ""


def read_power(
    properties: Mapping[str, str], speeds: Sequence[float], initial_state: int = 0
) -> Power:
    """Read the power of a host with these speeds, one for each power state."""
    told = tuple((name, properties[name]) for name in _NAMES if name in properties)
    return _read(told, tuple(speeds), initial_state) if told else Power()


@lru_cache(maxsize=256)  # many hosts of a file differ in something else
def _read(
    told: tuple[tuple[str, str], ...], speeds: tuple[float, ...], initial_state: int
) -> Power:
    properties = dict(told)
    try:
        sleep_states = _sleep_states(properties.get(SLEEP, ""), speeds, initial_state)
        return Power(_powers(properties, len(speeds)), _power_off(properties), sleep_states)
    except _Fault as fault:
        return Power(power_fault=str(fault))


class _Fault(Exception):  # noqa: N818  (it never leaves this module)
    """What is wrong."""


def _powers(properties: Mapping[str, str], n_states: int) -> tuple[PowerRange, ...]:
    name = PER_STATE if PER_STATE in properties else _OLD_PER_STATE
    if name not in properties:
        return ()
    entries = properties[name].split(",")
    if len(entries) != n_states:
        raise _Fault(
            f"{name}: got {_counted(len(entries), 'entry', 'entries')} "
            f"for {_counted(n_states, 'speed', 'speeds')}"
        )
    return tuple(_power_range(name, entry) for entry in entries)


def _power_range(name: str, entry: str) -> PowerRange:
    watts = [_watts(name, text) for text in entry.split(":")]
    if len(watts) == 2:
        return PowerRange(watts[0], watts[0], watts[1])
    if len(watts) == 3 and name == PER_STATE:
        return PowerRange(*watts)
    expected = "95:190 or 95:100:190" if name == PER_STATE else f"95:190; for three, {PER_STATE}"
    raise _Fault(f"{name}: got {shown(entry.strip())}, expected watts as in {expected}")


def _power_off(properties: Mapping[str, str]) -> float:
    name = OFF if OFF in properties else _OLD_OFF
    return _watts(name, properties[name]) if name in properties else 0.0


def _watts(name: str, text: str) -> float:
    found = POWER.split(text)
    if found is None:
        raise _Fault(f"{name}: got {shown(text.strip())}, expected a number of watts")
    return found[0]


def _sleep_states(text: str, speeds: Sequence[float], initial_state: int) -> tuple[SleepState, ...]:
    found = tuple(_sleep_state(entry, len(speeds)) for entry in text.split(",") if entry.strip())
    sleeping = {entry.sleep for entry in found}
    switching = {state for entry in found for state in (entry.switching_off, entry.switching_on)}
    both = sleeping & switching
    if both:
        raise _Fault(f"{SLEEP}: power state {min(both)} is for sleeping and for switching")
    if len(sleeping) < len(found):
        twice = min(state for state in sleeping if [e.sleep for e in found].count(state) > 1)
        raise _Fault(
            f"{SLEEP}: power state {twice} is there twice, expected one way to sleep in it"
        )
    if len(sleeping | switching) == len(speeds):
        raise _Fault(f"{SLEEP}: got all power states, expected one that is left to compute in")
    if initial_state in switching:
        raise _Fault(
            f"power state {initial_state}: got it as the first one, expected one to compute or to "
            "sleep in: hosts switch in it"
        )
    for state, speed in enumerate(speeds):
        _check_speed(state, speed, state in sleeping, state in switching)
    return found


def _check_speed(state: int, speed: float, is_sleeping: bool, is_switching: bool) -> None:
    if is_switching and not (speed > 0 and math.isfinite(1 / speed)):
        use = "switching takes 1 / speed seconds"
    elif speed == 0 and not is_sleeping:
        use = "jobs run in it"
    else:
        return
    raise _Fault(f"power state {state}: got speed {speed:g}, expected more: {use}")


def _sleep_state(entry: str, n_states: int) -> SleepState:
    numbers = [text.strip() for text in entry.split(":")]
    if len(numbers) != 3 or not all(text.isascii() and text.isdigit() for text in numbers):
        raise _Fault(f"{SLEEP}: got {shown(entry.strip())}, expected power states as in 13:14:15")
    states = [int(text) if len(text) < 10 else n_states for text in numbers]
    if max(states) >= n_states:
        raise _Fault(
            f"{SLEEP}: got {shown(entry.strip())}, expected power states from 0 to {n_states - 1}"
        )
    return SleepState(*states)


def _counted(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"
