"""A campaign as its file, or a Python program, describes it: checked whole before anything runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from noctule.campaign.grid import MAIN_AXES, Axes, Grid, grids_of
from noctule.campaign.logs import find_log_file
from noctule.campaign.specs import FileRef, MeasureSpec, PlatformSpec, Value, WorkloadSpec
from noctule.campaign.variants import (
    Place,
    PolicyChoice,
    Variant,
    placed,
    platform_variants,
    policy_variants,
    workload_variants,
)
from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.formats.event_files import load_events
from noctule.formats.rates import load_rate
from noctule.formats.toml_table import Table, read_toml
from noctule.formats.windows_toml import load_windows
from noctule.replay import draws_without_seed, session_folder, with_seed
from noctule.run import SimulationOptions
from noctule.simulation import Options

BOUNDS = ("clairvoyant", "unlimited")
#: Options whose values are files, and how these are read.
FILE_OPTIONS: Mapping[str, Callable[[str], object]] = {
    "events": load_events,
    "windows": load_windows,
}
_BLOCKS = ("grid", "zip", "run")
_NAME = re.compile(r"[^\s()*?\[\]=,$\"']+")
_SEEDS = re.compile(r"(\d+)(?:-(\d+))?")
_MOST_SEEDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Campaign:
    """Workloads, platforms, policies and options, and which combinations of them to run."""

    name: str
    source: str
    text: str
    workloads: Mapping[str, Variant[WorkloadSpec]]
    platforms: Mapping[str, Variant[PlatformSpec]]
    policies: Mapping[str, Variant[PolicyChoice]]
    seeds: Sequence[int]
    options: Mapping[str, Sequence[Value]]
    option_files: Mapping[tuple[str, str], FileRef]  # of a name and its value
    grids: Sequence[Grid]
    excluded: Sequence[Mapping[str, Any]]
    measures: MeasureSpec
    keep_jobs: bool
    bounds: tuple[str, ...]

    @classmethod
    def load(cls, path: str | Path, *, logs: str | Path | None = None) -> Campaign:
        """Read a campaign file; logs of the archive are also looked for in the folder `logs`."""
        where = Path(path)
        text = read_bytes(where)
        table = read_toml(text, str(path))
        return _described(table, where.parent, text.decode(), where.stem, logs)

    @classmethod
    def of(
        cls,
        description: Mapping[str, Any],
        *,
        folder: str | Path = ".",
        logs: str | Path | None = None,
    ) -> Campaign:
        """Take what a campaign file would say; paths are relative to `folder`."""
        table = Table("campaign", "", dict(description))
        text = msgspec.json.encode(description, order="sorted").decode()
        return _described(table, Path(folder), text, "campaign", logs)

    @property
    def varied_values(self) -> dict[str, list[Value]]:
        """Columns of the parameters that make variants (policy.order), and their values."""
        axes: dict[str, Mapping[str, Variant[Any]]] = {
            "workload": self.workloads,
            "platform": self.platforms,
            "policy": self.policies,
        }
        found: dict[str, list[Value]] = {}
        for axis, variants in axes.items():
            for variant in variants.values():
                for key, value in variant.varied.items():
                    found.setdefault(f"{axis}.{key}", []).append(value)
        return found


def _described(
    table: Table, folder: Path, text: str, name: str, logs: str | Path | None
) -> Campaign:
    constants = table.take("constants", {})
    if not isinstance(constants, dict):
        table.refuse("constants", "a table")
    place = Place(table.source, folder, constants, lambda log: find_log_file(log, folder=logs))
    workloads = _variants(table, "workloads", place, workload_variants)
    platforms = (
        _variants(table, "platforms", place, platform_variants)
        if "platforms" in table
        else {"recorded": Variant("recorded", "recorded", PlatformSpec())}
    )
    policies = _variants(table, "policies", place, policy_variants)
    seeds = _seeds(table, place)
    option_files: dict[tuple[str, str], FileRef] = {}
    options = _options(table, place, option_files)
    drawn = [label for label, one in {**workloads, **policies}.items() if one.seeded]
    drawn += [str(one) for one in options.get("replay", ()) if draws_without_seed(str(one))]
    _check_seeds(table, seeds, drawn)
    measures = _measures(table, place, options)
    axes = _axes(workloads, platforms, policies, seeds, options)
    campaign = Campaign(
        name=table.text("name", name),
        source=table.source,
        text=text,
        workloads=workloads,
        platforms=platforms,
        policies=policies,
        seeds=seeds,
        options=options,
        option_files=option_files,
        grids=_grids(table, place, axes),
        excluded=_excluded(table, place, axes),
        measures=measures,
        keep_jobs=table.flag("keep_jobs", default=False),
        bounds=_bounds(table),
    )
    table.end()
    return campaign


def _variants(table: Table, key: str, place: Place, make: Any) -> dict[str, Variant[Any]]:
    definitions = table.take(key)
    if isinstance(definitions, list) and all(isinstance(one, str) for one in definitions):
        if len(set(definitions)) < len(definitions):
            table.refuse(key, "texts that differ")
        definitions = {one: one for one in definitions}
    elif isinstance(definitions, dict):
        for name in definitions:
            if not _NAME.fullmatch(name):
                raise InputError(
                    f"{table.place(key)}: got the name {name!r}, expected one without blanks, "
                    "quotes and any of ()*?[]=,$"
                )
    if not isinstance(definitions, dict) or not definitions:
        table.refuse(key, "a table of definitions, or a list of texts")
    found: dict[str, Variant[Any]] = {}
    for name, definition in definitions.items():
        for variant in make(place, name, definition):
            if variant.label in found:
                raise InputError(f"{table.place(key)}: two are called {variant.label}")
            found[variant.label] = variant
    return found


def _seeds(table: Table, place: Place) -> Sequence[int]:
    value = place.filled(table.place("seeds"), table.take("seeds", []))
    if isinstance(value, str):
        found = _SEEDS.fullmatch(value.strip())
        if found is None:
            table.refuse("seeds", "a range such as 1-10, or an array of whole numbers")
        first, last = int(found[1]), int(found[2] or found[1])
        if not first <= last < min(first + _MOST_SEEDS, 2**63):
            table.refuse("seeds", f"a range that ascends, of {_MOST_SEEDS} seeds at most")
        return range(first, last + 1)
    if not isinstance(value, list) or not all(type(v) is int and 0 <= v < 2**63 for v in value):
        table.refuse("seeds", "a range such as 1-10, or an array of whole numbers >= 0")
    if len(set(value)) < len(value):
        table.refuse("seeds", "seeds that differ")
    return tuple(value)


def _check_seeds(table: Table, seeds: Sequence[int], drawn: Sequence[str]) -> None:
    if drawn and not seeds:
        raise InputError(
            f"{table.place('seeds')}: missing, expected some for {drawn[0]}, "
            "which is drawn at random"
        )


def _options(
    table: Table, place: Place, files: dict[tuple[str, str], FileRef]
) -> dict[str, tuple[Value, ...]]:
    where = table.place("options")
    given = place.filled(where, table.take("options", {}))
    if not isinstance(given, dict):
        table.refuse("options", "a table")
    found: dict[str, tuple[Value, ...]] = {}
    for name, value in given.items():
        values = value if isinstance(value, list) else [value]
        if not values:
            raise InputError(f"{where}.{name}: got an empty list, expected at least one value")
        if name in FILE_OPTIONS:
            found[name] = _option_files(place, where, name, values, files)
            continue
        told = [_converted(where, {name: one}, SimulationOptions) for one in values]
        for one in told:
            placed(f"{where}.{name}", _check_options, one)
        found[name] = tuple(getattr(one, name) for one in told)
        if len(set(found[name])) < len(values):
            raise InputError(f"{where}.{name}: a value is there twice")
    return found


def _check_options(given: SimulationOptions) -> None:
    replay = given.replay
    if draws_without_seed(replay):  # any seed will do to see whether the rest means something
        replay = with_seed(replay, 0)
    Options(**msgspec.structs.replace(given, replay=replay).as_keywords())
    if session_folder(replay) is not None:
        raise InputError(
            f"got {given.replay!r}, which reads session files, expected a threshold in a campaign"
        )


def _option_files(
    place: Place,
    where: str,
    name: str,
    values: Sequence[Any],
    files: dict[tuple[str, str], FileRef],
) -> tuple[Value, ...]:
    """Find the files of an option, and see whether they can be read; `none` stands for no file."""
    for value in values:
        if value == "none":
            continue
        ref = place.file(f"{where}.{name}", value)
        placed(f"{where}.{name}", FILE_OPTIONS[name], ref.path)
        files[name, value] = ref
    if len(set(values)) < len(values):
        raise InputError(f"{where}.{name}: a value is there twice")
    return tuple(values)


def _axes(
    workloads: Mapping[str, Variant[Any]],
    platforms: Mapping[str, Variant[Any]],
    policies: Mapping[str, Variant[Any]],
    seeds: Sequence[int],
    options: Mapping[str, Sequence[Value]],
) -> Axes:
    variants = {"workload": workloads, "platform": platforms, "policy": policies}
    values: dict[str, Sequence[Value]] = {axis: tuple(found) for axis, found in variants.items()}
    values["seed"] = seeds
    ordered = {axis: values[axis] for axis in MAIN_AXES} | dict(options)
    definitions: dict[str, Mapping[Value, str]] = {
        axis: {label: variant.definition for label, variant in found.items()}
        for axis, found in variants.items()
    }
    return Axes(ordered, definitions)


def _grids(table: Table, place: Place, axes: Axes) -> list[Grid]:
    grids: list[Grid] = []
    for kind in _BLOCKS:
        for block in table.tables(kind):
            fields = {key: block.take(key) for key in sorted(block.keys)}
            if not fields:
                raise InputError(f"{block.where}: empty, expected axes and their values")
            grids += grids_of(block.where, kind, place.filled(block.where, fields), axes)
    return grids or [Grid({})]


def _excluded(table: Table, place: Place, axes: Axes) -> list[Mapping[str, Any]]:
    rules = []
    for block in table.tables("exclude"):
        rule = place.filled(block.where, {key: block.take(key) for key in sorted(block.keys)})
        if not rule:
            raise InputError(f"{block.where}: empty, expected axes and what to leave out")
        for axis, wanted in rule.items():
            for one in wanted if isinstance(wanted, list) else [wanted]:
                axes.matching(block.where, axis, one)
        rules.append(rule)
    return rules


def _measures(table: Table, place: Place, options: Mapping[str, Sequence[Value]]) -> MeasureSpec:
    where = table.place("measures")
    given = place.filled(where, table.take("measures", {}))
    if not isinstance(given, dict):
        table.refuse("measures", "a table")
    rates = {
        what: _rate(f"{where}.{what}", what, given[what], place)
        for what in ("carbon", "price")
        if what in given
    }
    if rates and not any(value != "off" for value in options.get("energy", ())):
        raise InputError(
            f"{where}.{next(iter(rates))}: no energy is counted, expected energy among the options"
        )
    if given.get("offline") and not any(value != "off" for value in options.get("energy", ())):
        raise InputError(
            f"{where}.offline: no energy is counted, expected energy among the options"
        )
    measures: MeasureSpec = _converted(where, {**given, **dict.fromkeys(rates)}, MeasureSpec)
    if not (measures.warm_up >= 0 and measures.cool_down >= 0 and measures.threshold > 0):
        raise InputError(f"{where}: expected warm_up and cool_down >= 0, threshold > 0")
    return msgspec.structs.replace(measures, **rates)


def _rate(where: str, what: str, given: object, place: Place) -> FileRef | float:
    """Return a series by its file, or a number; what is wrong with it is said before any run."""
    if isinstance(given, str):
        file = place.file(where, given)
        # which date a log begins at is known once it is read
        placed(where, load_rate, Path(file.path), what, {"UnixStartTime": "0"})
        return file
    if not isinstance(given, int | float) or isinstance(given, bool):
        raise InputError(f"{where}: got {given!r}, expected the path of a file, or a number")
    return placed(where, load_rate, given, what).value[0]


def _bounds(table: Table) -> tuple[str, ...]:
    value = table.take("bounds", False)
    if isinstance(value, bool):
        return BOUNDS if value else ()
    if not isinstance(value, list) or not all(one in BOUNDS for one in value):
        table.refuse("bounds", f"true, false, or some of {', '.join(BOUNDS)}")
    return tuple(value)


def _converted(where: str, fields: Mapping[str, Any], kind: type[Any]) -> Any:
    if "" in fields:
        raise InputError(f"{where}: got an empty name")
    known = kind.__struct_fields__
    for name in fields:
        if name not in known:
            raise InputError(f"{where}.{name}: unknown key, expected {', '.join(known)}")
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise InputError(f"{where}: {error}") from None
