"""What jobs say about their Pods: fields of jobs and of their profiles, read and checked.

A job's own field takes the place of its profile's. The fields are those of FIELDS; all others are
nobody's business here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from noctule.errors import InputError
from noctule.kube.names import is_label_value, is_qualified_name
from noctule.kube.quantities import parse
from noctule.units import shown

#: Fields of jobs and profiles that Pods are made from.
FIELDS = (
    "affinity",
    "annotations",
    "cpu",
    "gpu",
    "image",
    "labels",
    "memory",
    "nodeSelector",
    "preemptionPolicy",
    "priority",
    "priorityClass",
    "resourceClaims",
    "resources",
    "scheduler",
    "terminationGracePeriodSeconds",
    "tolerations",
    "topologySpreadConstraints",
)
HIGHEST_PRIORITY = 1_000_000_000
SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}

_AFFINITIES = ("nodeAffinity", "podAffinity", "podAntiAffinity")
_TOLERATION = ("key", "operator", "value", "effect", "tolerationSeconds")
_OPERATORS = ("Exists", "Equal", "Lt", "Gt")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")


@dataclass(frozen=True, slots=True)
class PodFields:
    """What a job says about its Pods; None and empty where it says nothing.

    `amounts` is what each Pod asks for; empty means a whole host. `placement` are parts of a Pod's
    spec, as they stand in the job.
    """

    amounts: Mapping[str, Fraction] = field(default_factory=dict)
    scheduler: str | None = None
    priority: int = 0
    priority_class: str | None = None
    preemption_policy: str | None = None
    grace: int | None = None
    image: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    placement: Mapping[str, Any] = field(default_factory=dict)


def fields_of(profile: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of FIELDS that a job has, from its profile and from itself.

    `cpu` of a profile is what Batkube's delays ask for; elsewhere it is work, in flops.
    """
    found = {name: profile[name] for name in FIELDS if name in profile}
    if profile.get("type") != "delay":
        found.pop("cpu", None)
    return found | {name: extra[name] for name in FIELDS if name in extra}


def read_fields(
    where: str,
    fields: Mapping[str, Any],
    *,
    gpu_resource: str = "nvidia.com/gpu",
    priority_classes: Mapping[str, int] | None = None,
) -> PodFields:
    """Check what `fields_of` gave; `where` stands in front of the errors' texts."""
    if "resourceClaims" in fields:
        raise InputError(
            f"{where}: resourceClaims: dynamic resource allocation is not simulated; "
            "ask for devices as extended resources, with gpu or resources"
        )
    classes = {**SYSTEM_CLASSES, **(priority_classes or {})}
    priority_class = _text(where, fields, "priorityClass")
    return PodFields(
        amounts=_amounts(where, fields, gpu_resource),
        scheduler=_text(where, fields, "scheduler"),
        priority=_priority(where, fields, priority_class, classes),
        priority_class=priority_class,
        preemption_policy=_choice(
            where, fields, "preemptionPolicy", ("PreemptLowerPriority", "Never")
        ),
        grace=_seconds(where, fields, "terminationGracePeriodSeconds"),
        image=_text(where, fields, "image"),
        labels=_labels(where, fields, "labels"),
        annotations=_texts(where, fields, "annotations"),
        placement=_placement(where, fields),
    )


def _amounts(where: str, fields: Mapping[str, Any], gpu_resource: str) -> dict[str, Fraction]:
    named = fields.get("resources", {})
    _expect(where, "resources", named, isinstance(named, Mapping), "amounts by resource")
    asked = {**named} | {name: fields[name] for name in ("cpu", "memory") if name in fields}
    if "gpu" in fields:
        asked[gpu_resource] = fields["gpu"]
    amounts = {}
    for name, amount in asked.items():
        at = f"{where}: {'gpu' if name == gpu_resource and 'gpu' in fields else name}"
        if not is_qualified_name(name):
            raise InputError(f"{where}: resources: got {shown(name)}, expected a resource")
        amounts[name] = parse(amount, at)
        if amounts[name] < 0:
            raise InputError(f"{at}: got {amount}, expected >= 0")
        if "/" in name and amounts[name].denominator != 1:
            raise InputError(f"{at}: got {amount}, expected a whole number")
    if "pods" in amounts:
        raise InputError(f"{where}: resources: pods are counted, not asked for")
    return amounts


def _priority(
    where: str, fields: Mapping[str, Any], name: str | None, classes: Mapping[str, int]
) -> int:
    priority = fields.get("priority")
    if priority is None:
        if name is None:
            return 0
        known = ", ".join(sorted(classes))
        _expect(where, "priorityClass", name, name in classes, f"one of {known}, or a priority")
        return classes[name]
    fits = isinstance(priority, int) and not isinstance(priority, bool)
    fits = fits and -(2**31) <= priority <= max(HIGHEST_PRIORITY, *classes.values())
    _expect(where, "priority", priority, fits, f"a whole number up to {HIGHEST_PRIORITY}")
    return int(priority)


def _placement(where: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    checks = {
        "nodeSelector": _check_selector,
        "affinity": _check_affinity,
        "tolerations": _check_tolerations,
        "topologySpreadConstraints": _check_spread,
    }
    for name, check in checks.items():
        if name in fields:
            check(where, name, fields[name])
    return {name: fields[name] for name in checks if fields.get(name)}


def _check_selector(where: str, name: str, value: Any) -> None:
    _labels(where, {name: value}, name)


def _check_affinity(where: str, name: str, value: Any) -> None:
    fits = isinstance(value, Mapping) and all(
        key in _AFFINITIES and isinstance(part, Mapping) for key, part in value.items()
    )
    _expect(where, name, value, fits, f"an object of {', '.join(_AFFINITIES)}")


def _check_tolerations(where: str, name: str, value: Any) -> None:
    _expect(where, name, value, isinstance(value, list), "a list")
    for i, entry in enumerate(value):
        at = f"{name}[{i}]"
        fits = isinstance(entry, Mapping) and all(key in _TOLERATION for key in entry)
        _expect(where, at, entry, fits, f"an object of {', '.join(_TOLERATION)}")
        _choice(where, entry, "operator", _OPERATORS, at)
        _choice(where, entry, "effect", _EFFECTS, at)


def _check_spread(where: str, name: str, value: Any) -> None:
    _expect(where, name, value, isinstance(value, list), "a list")
    for i, entry in enumerate(value):
        at = f"{name}[{i}]"
        fits = isinstance(entry, Mapping) and isinstance(entry.get("topologyKey"), str)
        _expect(where, at, entry, fits, "an object with a topologyKey")
        skew = entry.get("maxSkew")
        fits = isinstance(skew, int) and not isinstance(skew, bool) and skew > 0
        _expect(where, f"{at}.maxSkew", skew, fits, "a whole number > 0")
        unsatisfiable = entry.get("whenUnsatisfiable")
        known = unsatisfiable in _UNSATISFIABLE
        expected = f"one of {', '.join(_UNSATISFIABLE)}"
        _expect(where, f"{at}.whenUnsatisfiable", unsatisfiable, known, expected)


def _text(where: str, fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    _expect(where, name, value, value is None or (isinstance(value, str) and value != ""), "a name")
    return value


def _texts(where: str, fields: Mapping[str, Any], name: str) -> dict[str, str]:
    value = fields.get(name, {})
    fits = isinstance(value, Mapping) and all(
        isinstance(key, str) and is_qualified_name(key) and isinstance(text, str)
        for key, text in value.items()
    )
    _expect(where, name, value, fits, "texts by name, as Kubernetes allows them")
    return dict(value)


def _labels(where: str, fields: Mapping[str, Any], name: str) -> dict[str, str]:
    labels = _texts(where, fields, name)
    fits = all(is_label_value(value) for value in labels.values())
    _expect(where, name, labels, fits, "values as Kubernetes allows them for labels")
    return labels


def _choice(
    where: str, fields: Mapping[str, Any], name: str, known: tuple[str, ...], at: str = ""
) -> str | None:
    value: str | None = fields.get(name)
    fits = value is None or value in known
    _expect(where, f"{at}.{name}" if at else name, value, fits, f"one of {', '.join(known)}")
    return value


def _seconds(where: str, fields: Mapping[str, Any], name: str) -> int | None:
    value: int | None = fields.get(name)
    whole = isinstance(value, int) and not isinstance(value, bool)
    fits = value is None or (whole and 0 <= value < 2**31)
    _expect(where, name, value, fits, "whole seconds >= 0")
    return value


def _expect(where: str, name: str, value: Any, fits: bool, expected: str) -> None:
    if not fits:
        got = shown(value if isinstance(value, str) else repr(value))
        raise InputError(f"{where}: {name}: got {got}, expected {expected}")
