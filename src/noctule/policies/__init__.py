"""Deciders in this process: by name, from a file, or from another package.

`noctule.policies.Fcfs`, `Easy`, `Conservative`, `Filler`, `Proportional`, `Inertial`, `Powercap`,
`EnergyBudget` and `ReducePowercap` are the readable Python versions of the native policies of the
same names: examples to copy, with the same schedules to the last bit. `Opportunistic` is what
`t_idle` is to native ones.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import inspect
import sys
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from noctule._core import NativePolicy
from noctule.errors import InputError
from noctule.policies.conservative import Conservative
from noctule.policies.easy import Easy
from noctule.policies.energy_budget import EnergyBudget, Powercap, ReducePowercap
from noctule.policies.fcfs import Fcfs
from noctule.policies.filler import Filler
from noctule.policies.inertial import Inertial
from noctule.policies.native import NATIVE_POLICIES, make_native
from noctule.policies.opportunistic import Opportunistic
from noctule.policies.proportional import Proportional
from noctule.policy import Parameter, Policy, PolicySpec

ENTRY_POINTS = "noctule.policies"

__all__ = [
    "Conservative",
    "Easy",
    "EnergyBudget",
    "Fcfs",
    "Filler",
    "Inertial",
    "NativePolicy",
    "Opportunistic",
    "Powercap",
    "Proportional",
    "ReducePowercap",
    "known_policies",
    "make_policy",
]


def make_policy(policy: str | PolicySpec | type | Policy) -> Policy | NativePolicy:
    """Make the policy that a text, a spec, a class or an object stands for.

    Texts are `name`, `name(parameter=value)`, `file.py:Class` or `package.module:Class`; names are
    those of the native policies and of the entry points of other packages.
    """
    if isinstance(policy, str):
        policy = PolicySpec.parse(policy)
    if not isinstance(policy, PolicySpec):
        name = policy.__name__ if isinstance(policy, type) else type(policy).__name__
        return _instance(name, policy, {})
    if policy.name in NATIVE_POLICIES:
        return make_native(policy.name, policy.parameters)
    return _instance(policy.name, _find(policy.name), policy.parameters)


def known_policies() -> dict[str, str]:
    """Return the names that can be used, each with a line about it."""
    known = dict(NATIVE_POLICIES)
    for entry in entry_points(group=ENTRY_POINTS):
        known.setdefault(entry.name, f"from {entry.value}")
    return dict(sorted(known.items()))


def _find(name: str) -> object:
    if ":" in name:
        source, _, attribute = name.rpartition(":")
        if not source or not attribute:
            raise InputError(f"policy: got {name!r}, expected FILE.py:CLASS or MODULE:CLASS")
        module = _load_file(Path(source)) if source.endswith(".py") else _import(source)
        if not hasattr(module, attribute):
            raise InputError(f"policy {name}: {source} has no {attribute}")
        return getattr(module, attribute)
    for entry in entry_points(group=ENTRY_POINTS, name=name):
        try:
            return entry.load()
        except (Exception, SystemExit) as error:
            raise InputError(f"policy {name}: {type(error).__name__}: {error}") from error
    if name.endswith(".py"):
        raise InputError(f"policy {name}: got a file alone, expected {name}:CLASS")
    known = known_policies()
    close = difflib.get_close_matches(name, known, n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    raise InputError(f"policy {name}: unknown; known policies: {', '.join(known)}{hint}")


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError(f"policy {path}: no such file")
    # Files of one name in two folders are two modules.
    place = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
    name = f"noctule_policy_{path.stem}_{place}"
    module = ModuleType(name)
    module.__file__ = str(path)
    # Dataclasses and pickling look their module up by name.
    sys.modules[name] = module
    try:
        # Not through the import system: its cache may run a file as it was a second ago.
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise InputError(f"policy {path}: {type(error).__name__}: {error}") from error
    return module


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(f"policy {name}: {error}") from error
    except (Exception, SystemExit) as error:
        raise InputError(f"policy {name}: {type(error).__name__}: {error}") from error


def _instance(
    name: str, found: object, parameters: Mapping[str, Parameter]
) -> Policy | NativePolicy:
    if isinstance(found, NativePolicy):
        return found
    # Only what decides is ever called: a spec may come from a stranger's file.
    if not callable(getattr(found, "decide", None)):
        raise InputError(f"policy {name}: no method decide(view, events)")
    if isinstance(found, type):
        try:
            inspect.signature(found).bind(**parameters)
        except TypeError as error:
            raise InputError(f"policy {name}: {error}") from None
        try:
            found = found(**parameters)
        except InputError:
            raise
        except (Exception, SystemExit) as error:
            raise InputError(f"policy {name}: {type(error).__name__}: {error}") from error
    elif parameters:
        raise InputError(f"policy {name}: an object takes no parameters, expected a class")
    assert isinstance(found, Policy)
    return found
