"""Named workloads, platforms and policies; a list in a definition makes a variant of each value.

    lublin = { model = "lublin", n_jobs = [1000, 5000] }

stands for `lublin(n_jobs=1000)` and `lublin(n_jobs=5000)`.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from noctule.campaign.inputs import file_ref
from noctule.campaign.specs import FileRef, PlatformSpec, Value, WorkloadSpec
from noctule.errors import InputError, NoctuleError
from noctule.formats import files_named_in, load_workload
from noctule.formats.host_choice import HOST_ORDERS
from noctule.formats.platforms import load_platform
from noctule.formats.swf import SwfRules
from noctule.policies import make_policy
from noctule.policy import PolicySpec
from noctule.run import ReadingOptions
from noctule.synthetic import named
from noctule.traces.extraction import AT_THE_START
from noctule.workload import Workload

Spec = TypeVar("Spec")
LogFinder = Callable[[str], Path]

Result = TypeVar("Result")

SEED = "$seed"
_A_FEW = 20
_CONSTANT = re.compile(r"\$(\$|[A-Za-z_]\w*)")
_SOURCES = ("file", "log", "model")
_STRETCH = ("start", "length", "at_the_start")


@dataclass(frozen=True, slots=True)
class Variant(Generic[Spec]):
    """A definition with one value for everything in it; `varied` are those that make it differ."""

    definition: str
    label: str
    spec: Spec
    seeded: bool = False
    varied: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PolicyChoice:
    """A policy in text, and its file if it has one."""

    text: str
    file: FileRef | None = None

    def with_seed(self, seed: int | None) -> str:
        """Return the text with the seed of a run filled in."""
        if seed is None or SEED not in self.text:
            return self.text
        spec = PolicySpec.parse(self.text)
        filled: dict[str, Value] = {}
        for key, value in spec.parameters.items():
            text = value.replace(SEED, str(seed)) if isinstance(value, str) else value
            filled[key] = seed if value == SEED else text
        return str(PolicySpec(spec.name, filled))


@dataclass(frozen=True, slots=True)
class Place:
    """Where definitions stand: the file that messages name, its folder, and its constants."""

    source: str
    folder: Path
    constants: Mapping[str, Any]
    find_log: LogFinder
    logs: dict[str, Workload] = field(default_factory=dict)  # that were read, by content

    def log(self, ref: FileRef) -> Workload:
        """Return the workload of a file, read once."""
        if ref.sha256 not in self.logs:
            self.logs[ref.sha256] = load_workload(ref.path)
        return self.logs[ref.sha256]

    def file(self, where: str, path: object) -> FileRef:
        """Return the file of a path, which is relative to the folder."""
        if not isinstance(path, str) or not path:
            raise InputError(f"{where}: got {path!r}, expected the path of a file")
        return file_ref(self.folder / path, where)

    def filled(self, where: str, value: Any) -> Any:
        """Return a value with constants in the place of their names."""
        if isinstance(value, list):
            return [self.filled(where, part) for part in value]
        if isinstance(value, dict):
            return {name: self.filled(where, part) for name, part in value.items()}
        if not isinstance(value, str) or "$" not in value:
            return value
        alone = _CONSTANT.fullmatch(value)
        if alone and alone[1] in self.constants:
            return self.constants[alone[1]]
        return _CONSTANT.sub(lambda found: self._text(where, found[1]), value)

    def _text(self, where: str, name: str) -> str:
        if name in ("$", "seed"):
            return f"${name}" if name == "seed" else "$"
        if name not in self.constants:
            known = ", ".join(self.constants) or "none"
            raise InputError(f"{where}: ${name}: no such constant; the constants are {known}")
        return str(self.constants[name])


def expanded(
    where: str, name: str, fields: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Value], dict[str, Any]]]:
    """Yield the label, the varied values and all fields of each variant of a definition."""
    varying = {key: value for key, value in fields.items() if isinstance(value, list)}
    for key, values in varying.items():
        if not values:
            raise InputError(f"{where}.{key}: got an empty list, expected at least one value")
        if not all(isinstance(value, bool | int | float | str) for value in values):
            raise InputError(f"{where}.{key}: expected a list of numbers or texts")
        if len(set(map(repr, values))) < len(values):
            raise InputError(f"{where}.{key}: a value is there twice")
    for key, value in fields.items():
        for one in value if isinstance(value, list) else [value]:
            _check_value(f"{where}.{key}", one)
    for chosen in itertools.product(*varying.values()):
        varied = dict(zip(varying, chosen, strict=True))
        yield str(PolicySpec(name, varied)), varied, dict(fields) | varied


def _check_value(where: str, value: object) -> None:
    """Refuse what has no place in a policy's text, or in a table of results."""
    if not isinstance(value, bool | int | float | str):
        raise InputError(f"{where}: got {value!r}, expected a number, true, false or a text")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise InputError(f"{where}: got a number of {len(str(abs(value)))} digits, expected less")
    if isinstance(value, str) and '"' in value and "'" in value:
        raise InputError(f"{where}: got {value}, expected a text without both kinds of quotes")


def workload_variants(
    place: Place, name: str, definition: object
) -> Iterator[Variant[WorkloadSpec]]:
    """Yield the workloads of one definition."""
    where = f"{place.source}: workloads.{name}"
    definition = place.filled(where, definition)
    filled = _table(where, {"file": definition} if isinstance(definition, str) else definition)
    for label, varied, chosen in expanded(where, name, filled):
        spec = _workload(place, where, chosen)
        seeded = spec.model is not None or spec.shake is not None
        yield Variant(name, label, spec, seeded, varied)


def _workload(place: Place, where: str, fields: dict[str, Any]) -> WorkloadSpec:
    sources = [key for key in _SOURCES if key in fields]
    if len(sources) != 1:
        found = " and ".join(sources) or "none of them"
        raise InputError(f"{where}: got {found}, expected one of {', '.join(_SOURCES)}")
    load = _positive(where, "load", fields.pop("load", 1.0))
    shake = _shake(where, fields.pop("shake", None))
    source = _model if "model" in fields else _recorded
    return msgspec.structs.replace(source(place, where, fields), load=load, shake=shake)


def _recorded(place: Place, where: str, fields: dict[str, Any]) -> WorkloadSpec:
    if "log" in fields:
        file = file_ref(placed(where, place.find_log, str(fields.pop("log"))), where)
    else:
        file = place.file(f"{where}.file", fields.pop("file"))
    stretch = _stretch(where, {key: fields.pop(key) for key in _STRETCH if key in fields})
    in_time = fields.pop("in_time", False)
    if not isinstance(in_time, bool):
        raise InputError(f"{where}.in_time: got {in_time!r}, expected true or false")
    first_jobs = fields.pop("first_jobs", None)
    if first_jobs is not None and (type(first_jobs) is not int or first_jobs < 1):
        raise InputError(f"{where}.first_jobs: got {first_jobs!r}, expected a whole number >= 1")
    if fields.get("walltime_factor") == "none":
        fields["walltime_factor"] = None
    reading = _converted(where, fields, ReadingOptions)
    placed(where, lambda: SwfRules(**msgspec.structs.asdict(reading)))
    named = placed(where, files_named_in, file.path)
    beside = tuple(file_ref(Path(path), where) for path in named)
    return WorkloadSpec(
        file=file,
        beside=beside,
        reading=reading,
        in_time=in_time,
        first_jobs=first_jobs,
        **stretch,
    )


def _model(place: Place, where: str, fields: dict[str, Any]) -> WorkloadSpec:
    model = fields.pop("model")
    named.check_parameters(where, model, fields)
    files = {
        key: _model_file(place, f"{where}.{key}", key, fields.pop(key))
        for key in named.FILES
        if key in fields
    }
    _draw_a_few(place, where, model, fields, files)
    return WorkloadSpec(model=model, parameters=fields, files=files)


def _model_file(place: Place, where: str, key: str, value: object) -> FileRef:
    """Return a file that a model draws from; the name of a log has neither a dot nor a slash."""
    if key in named.LOGS and isinstance(value, str) and not set("./\\") & set(value):
        return file_ref(placed(where, place.find_log, value), where)
    return place.file(where, value)


def _draw_a_few(
    place: Place, where: str, model: str, parameters: dict[str, Any], files: dict[str, FileRef]
) -> None:
    """See whether the parameters are what the model can draw from."""
    few = dict(parameters) | {name: ref.path for name, ref in files.items()}
    for name in files.keys() & set(named.LOGS):
        few[name] = placed(where, place.log, files[name])
    n_jobs = few.get("n_jobs")
    if type(n_jobs) is int and n_jobs > _A_FEW:
        few["n_jobs"] = _A_FEW
    placed(where, lambda: named.draw(where, model, few, seed=0))


def platform_variants(
    place: Place, name: str, definition: object
) -> Iterator[Variant[PlatformSpec]]:
    """Yield the platforms of one definition."""
    where = f"{place.source}: platforms.{name}"
    definition = place.filled(where, definition)
    if isinstance(definition, str):
        definition = {"file": definition}
    elif type(definition) is int:
        definition = {"hosts": definition}
    filled = _table(where, definition)
    for label, varied, chosen in expanded(where, name, filled):
        yield Variant(name, label, _platform(place, where, chosen), varied=varied)


def _platform(place: Place, where: str, fields: dict[str, Any]) -> PlatformSpec:
    known = ("file", "host_order", "hosts", "speed")
    order = fields.get("host_order", "natural")
    if order not in HOST_ORDERS or ("host_order" in fields and "file" not in fields):
        raise InputError(
            f"{where}.host_order: got {order!r}, expected {' or '.join(HOST_ORDERS)} with a file"
        )
    for key in fields:
        if key not in known:
            raise InputError(f"{where}.{key}: unknown key, expected {', '.join(known)}")
    if "file" in fields and ("hosts" in fields or "speed" in fields):
        raise InputError(f"{where}: got a file and hosts or speed, expected one of them")
    hosts = fields.get("hosts")
    if hosts is not None and (type(hosts) is not int or hosts < 1):
        raise InputError(f"{where}.hosts: got {hosts!r}, expected a whole number >= 1")
    file = place.file(f"{where}.file", fields["file"]) if "file" in fields else None
    named = () if file is None else placed(where, load_platform, file.path).files
    return PlatformSpec(
        file=file,
        beside=tuple(file_ref(Path(path), where) for path in named),
        host_order=str(fields.get("host_order", "natural")),
        n_hosts=hosts,
        speed=_positive(where, "speed", fields.get("speed", 1.0)),
    )


def policy_variants(place: Place, name: str, definition: object) -> Iterator[Variant[PolicyChoice]]:
    """Yield the policies of one definition; each is made once, to see whether it can be."""
    where = f"{place.source}: policies.{name}"
    definition = place.filled(where, definition)
    filled = _table(where, {"spec": definition} if isinstance(definition, str) else definition)
    if "spec" not in filled:
        raise InputError(f"{where}.spec: missing, expected the text of a policy")
    for label, varied, chosen in expanded(where, name, filled):
        choice = _policy(place, where, chosen)
        yield Variant(name, label, choice, SEED in choice.text, varied)


def _policy(place: Place, where: str, fields: dict[str, Any]) -> PolicyChoice:
    text = fields.pop("spec")
    if not isinstance(text, str):
        raise InputError(f"{where}.spec: got {text!r}, expected the text of a policy")
    try:
        told = PolicySpec.parse(text)
        spec = PolicySpec(told.name, {**told.parameters, **fields})
        path, colon, attribute = spec.name.rpartition(":")
        file = place.file(where, path) if colon and path.endswith(".py") else None
        choice = PolicyChoice(str(spec), file)
        found = spec.name if file is None else f"{file.path}:{attribute}"
        sample = PolicySpec.parse(choice.with_seed(0))
        make_policy(PolicySpec(found, sample.parameters))
    except NoctuleError as error:
        raise _at(where, error) from None
    return choice


def placed(where: str, call: Callable[..., Result], *arguments: Any) -> Result:
    """Return what a call gives; what it refuses is told with its place."""
    try:
        return call(*arguments)
    except NoctuleError as error:
        raise _at(where, error) from None


def _at(where: str, error: NoctuleError) -> InputError:
    message = str(error)
    return InputError(message if message.startswith(where) else f"{where}: {message}")


def _table(where: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where}: got {value!r}, expected a table")
    return dict(value)


def _positive(where: str, key: str, value: object) -> float:
    number = _number(value)
    if number is None or number <= 0:
        raise InputError(f"{where}.{key}: got {value!r}, expected a positive number")
    return number


def _stretch(where: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Check which stretch of a log is asked for, if one is."""
    if not fields:
        return {}
    for key in ("start", "length"):
        if key not in fields:
            raise InputError(f"{where}.{key}: missing, expected start and length of an extract")
    start = _number(fields["start"])
    if start is None:
        raise InputError(f"{where}.start: got {fields['start']!r}, expected seconds, as in the log")
    kept = fields.get("at_the_start", "drop")
    if kept not in AT_THE_START:
        raise InputError(
            f"{where}.at_the_start: got {kept!r}, expected {' or '.join(AT_THE_START)}"
        )
    length = _positive(where, "length", fields["length"])
    return {"start": start, "length": length, "at_the_start": kept}


def _shake(where: str, value: object) -> float | None:
    number = None if value is None else _number(value)
    if value is not None and (number is None or number < 0):
        raise InputError(f"{where}.shake: got {value!r}, expected seconds >= 0")
    return number


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _converted(where: str, fields: dict[str, Any], kind: type[Spec]) -> Spec:
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise InputError(f"{where}: {error}") from None
