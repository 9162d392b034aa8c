"""Batsim 5's command line: what it asks for, checked, as one value."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from noctule.batsim.log import Verbosity
from noctule.batsim.option_values import ROLES, simgrid_options_of, timeout_of, whole_number
from noctule.batsim.options import BatsimError, Given
from noctule.batsim.options5 import Batsim5Code, read_words5
from noctule.remote.edc_library import LOAD_METHODS, LoadMethod
from noctule.units import shown

_MASTER = "master_host"
_VERBOSITIES = {
    "quiet": Verbosity.QUIET,
    "info": Verbosity.INFORMATION,
    "debug": Verbosity.DEBUG,
}
_COMPONENTS = (
    "--edc-library-str",
    "--edc-library-file",
    "--edc-socket-str",
    "--edc-socket-file",
)


@dataclass(frozen=True, slots=True)
class Component:
    """Where the decision component is: a library or an endpoint, and what it gets first."""

    is_library: bool
    place: str
    text: str
    is_text_in_file: bool = False

    @property
    def init(self) -> bytes:
        """The bytes that initialise it."""
        if not self.is_text_in_file:
            return self.text.encode()
        try:
            return Path(self.text).read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise _wrong(f"--edc-...-file: {self.text}: cannot be read: {reason}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batsim5Run:
    """All that a command line of Batsim 5 asks for; `mmax` is 0 where all hosts are offered."""

    platform: str
    workloads: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    component: Component
    load_method: LoadMethod = "dlopen"
    export_prefix: str = "out/"
    trace_host_states: bool = False
    trace_power_states: bool = False
    master_host: str = _MASTER
    roles: Mapping[str, str]
    mmax: int = 0
    mmax_workload: bool = False
    energy: bool = False
    simgrid_options: Mapping[str, str]
    verbosity: Verbosity = Verbosity.INFORMATION
    timeout: float | None = None
    words: tuple[str, ...] = ()


def read_arguments5(words: Sequence[str] | Given, told: Sequence[str] = ()) -> Batsim5Run:
    """Read a command line; whether its files can be read, `refuse_unreadable5` tells.

    `told` are the words that the component will see.
    """
    given = words if isinstance(words, Given) else read_words5(words)
    try:
        return _run(given, told)
    except BatsimError as error:
        raise _wrong(str(error)) from None


def _run(given: Given, told: Sequence[str]) -> Batsim5Run:
    for name in ("--energy", "--energy-link"):
        if name in given:
            raise _wrong(f"{name}: not implemented, as in Batsim; --energy-host counts hosts")
    component = _component(given)
    if "--platform" not in given and "--dump-execution-context" not in given:
        raise _wrong("--platform: missing, expected a platform to simulate; --help lists all")
    _one_of(given, "--trace-probe-data", ("auto", "always", "never"))
    method = _one_of(given, "--edc-library-load-method", LOAD_METHODS)
    prefix = given.one("--export", "out/")
    if not prefix:
        raise _wrong("--export: got nothing, expected what the names of files begin with")
    return Batsim5Run(
        platform=given.one("--platform", ""),
        workloads=given.all("--workload"),
        events=given.all("--external-events"),
        component=component,
        load_method="dlmopen" if method == "dlmopen" else "dlopen",
        export_prefix=prefix,
        trace_host_states="--trace-machine-state" in given,
        trace_power_states="--trace-pstate-changes" in given,
        master_host=given.one("--master-host", _MASTER),
        roles=_roles(given),
        mmax=whole_number(given, "--mmax", 0),
        mmax_workload="--mmax-workload" in given,
        energy="--energy-host" in given,
        simgrid_options=simgrid_options_of(given),
        verbosity=_verbosity(given),
        timeout=timeout_of(given),
        words=tuple(told),
    )


def refuse_unreadable5(run: Batsim5Run) -> None:
    """Refuse inputs that cannot be read."""
    named = {
        "--platform": [run.platform],
        "--workload": run.workloads,
        "--external-events": run.events,
    }
    if run.component.is_text_in_file:
        named["--edc-...-file"] = [run.component.text]
    for option, paths in named.items():
        for path in paths:
            if not (Path(path).is_file() and os.access(path, os.R_OK)):
                raise _wrong(f"{option}: {path}: cannot be read, expected a file")


def execution_context5(run: Batsim5Run) -> str:
    """Return what --dump-execution-context prints."""
    endpoint = "" if run.component.is_library else run.component.place
    context = {"socket_endpoint": endpoint, "export_prefix": run.export_prefix}
    return json.dumps(context, separators=(",", ":"), ensure_ascii=False)


def _component(given: Given) -> Component:
    found = [(name, given.all(name)) for name in _COMPONENTS if name in given]
    n_found = sum(len(values) // 2 for _, values in found)
    if n_found != 1:
        raise _wrong(
            f"decision component: got {n_found}, expected exactly one of -l, -L, -s and -S"
        )
    name, (place, text) = found[0]
    return Component("library" in name, place, text, name.endswith("-file"))


def _verbosity(given: Given) -> Verbosity:
    if "--quiet" in given:
        if "--verbosity" in given:
            raise _wrong("--quiet: got --verbosity as well, expected one of the two")
        return Verbosity.QUIET
    return _VERBOSITIES[_one_of(given, "--verbosity", ("info", "quiet", "debug"))]


def _one_of(given: Given, name: str, words: Sequence[str]) -> str:
    """Return a word that is one of some; the first of them is the usual one."""
    text = given.one(name, words[0])
    if text not in words:
        raise _wrong(f"{name}: got {shown(text)}, expected one of {', '.join(words)}")
    return text


def _roles(given: Given) -> dict[str, str]:
    """Read roles by the name of the host; later ones replace earlier ones."""
    words = given.all("--add-role")
    roles = dict(zip(words[::2], words[1::2], strict=True))
    for role in roles.values():
        if role not in ROLES:
            raise _wrong(f"--add-role: got {shown(role)}, expected one of {', '.join(ROLES)}")
    return roles


def _wrong(message: str) -> BatsimError:
    return BatsimError(message, Batsim5Code.USAGE)
