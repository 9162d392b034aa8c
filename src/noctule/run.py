"""One run with its folder: options in, files out, and a manifest to do it again.

The folder of a run holds jobs.csv, schedule.csv and machine_states.csv, files about energy, carbon
and price where these were counted, manifest.json (what was run, with hashes of what went in and
what came out) and timing.json (wall-clock readings). It appears complete or not at all. But for
timing.json, the same inputs give the same bytes.
"""

from __future__ import annotations

import os
import platform
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from noctule.errors import InputError
from noctule.external_events import ExternalEvents
from noctule.file_hashes import FileHash, hash_of, hash_of_text, sync, write_hashed
from noctule.footprint import Footprint
from noctule.footprint_files import FOOTPRINT_FILE_NAMES, footprint_texts
from noctule.formats import load_workload
from noctule.formats.event_files import load_events
from noctule.formats.platforms import load_platform
from noctule.formats.rates import load_rates
from noctule.formats.windows_toml import load_windows
from noctule.output_file import put_folder_in_place
from noctule.platform import Platform
from noctule.policy import POLICY_FILE_NAMES, Policy, PolicySpec
from noctule.rates import NO_RATES, Rates
from noctule.replay import session_file_names, session_folder, with_sessions
from noctule.run_options import (
    FootprintOptions,
    PlatformOptions,
    ReadingOptions,
    RunOptions,
    SimulationOptions,
)
from noctule.saved.power_text import POWER_FILE_NAMES
from noctule.saved.text import FILE_NAMES
from noctule.schedule import Schedule
from noctule.simulation import ProgressReport, Simulation
from noctule.windows import Windows
from noctule.workload import Workload

__all__ = [
    "MANIFEST_FORMAT",
    "RUN_FILES",
    "Execution",
    "FileHash",
    "FootprintOptions",
    "Manifest",
    "PlatformOptions",
    "ReadingOptions",
    "Rerun",
    "RunOptions",
    "SimulationOptions",
    "Timing",
    "check_target",
    "events_again",
    "execute",
    "hosts_told_by",
    "read_manifest",
    "rerun",
    "windows_again",
    "workload_again",
    "write_run",
]

MANIFEST_FILE = "manifest.json"
TIMING_FILE = "timing.json"
_OUTPUTS = (*FILE_NAMES, *POWER_FILE_NAMES, *FOOTPRINT_FILE_NAMES, *POLICY_FILE_NAMES)
#: The files in the folder of a run; some of them only where energy, carbon or price was counted,
#: or where schedulers of Kubernetes decided.
RUN_FILES = (*_OUTPUTS, MANIFEST_FILE, TIMING_FILE)
#: The format of the manifests that are written and read.
MANIFEST_FORMAT = 1
# headers of a workload file that tell how many hosts there were, the best first
HOST_HEADERS = ("MaxProcs", "MaxNodes", "nb_res")


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was run, and what came out."""

    format: int
    versions: dict[str, str]
    options: RunOptions
    inputs: tuple[FileHash, ...]
    seed: int | None = None
    outputs: tuple[FileHash, ...] = ()


class Timing(msgspec.Struct, frozen=True):
    """Wall-clock seconds spent on each part."""

    read_s: float
    simulate_s: float
    write_s: float = 0.0

    @property
    def total_s(self) -> float:
        """Seconds spent on all parts."""
        return self.read_s + self.simulate_s + self.write_s


@dataclass(frozen=True)
class Execution:
    """A run that has been done, in memory."""

    schedule: Schedule
    manifest: Manifest
    timing: Timing
    rates: Rates = NO_RATES
    policy_files: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def footprint(self) -> Footprint | None:
        """What the run emitted and cost, if that was asked for."""
        return None if self.rates == NO_RATES else Footprint(self.schedule, self.rates)

    def texts(self) -> Iterator[tuple[str, Iterator[str]]]:
        """Yield the name and the text, in pieces, of each file that the run gives."""
        yield from self.schedule.texts()
        if self.footprint is not None:
            yield from footprint_texts(self.footprint)
        yield from ((name, iter([text])) for name, text in self.policy_files.items())


@dataclass(frozen=True, slots=True)
class Rerun:
    """A run that has been done again.

    `differing` files came out differently; `altered` ones, beside the manifest, are no longer what
    the run wrote.
    """

    manifest: Manifest
    differing: tuple[str, ...]
    altered: tuple[str, ...] = ()


def execute(
    options: RunOptions,
    *,
    policy: Policy | None = None,
    on_read: Callable[[Workload], None] | None = None,
    on_start: Callable[[Simulation], None] | None = None,
    progress: ProgressReport | None = None,
) -> Execution:
    """Read the inputs, call `on_read` with the workload, and simulate.

    `policy` is what the text in the options stands for, if it has been made already. `on_start` is
    given the simulation before its first step, to look into it from `progress`.
    """
    began = time.perf_counter()
    inputs = tuple(hash_of(path) for path in _input_paths(options))
    workload = load_workload(options.workload, **msgspec.structs.asdict(options.reading))
    hosts = _platform(options.platform, workload)
    rates = _rates(options, workload)
    beside = (*workload.files, *hosts.files, *session_file_names(options.simulation.replay))
    inputs += tuple(hash_of(path) for path in beside)
    events = None if options.events is None else load_events(options.events)
    windows = None if options.windows is None else load_windows(options.windows)
    read = time.perf_counter()
    if on_read is not None:
        on_read(workload)
    keywords = options.simulation.as_keywords()
    before = time.perf_counter()
    simulation = Simulation(
        hosts, workload, policy or options.policy, events, windows=windows, **keywords
    )
    if on_start is not None:
        on_start(simulation)
    schedule = simulation.run(progress)
    timing = Timing(read_s=read - began, simulate_s=time.perf_counter() - before)
    rates.demand(0.0, schedule.end)
    told = msgspec.structs.replace(options.platform, n_hosts=hosts.n_hosts)
    manifest = Manifest(
        format=MANIFEST_FORMAT,
        versions=_versions(),
        options=msgspec.structs.replace(options, platform=told),
        inputs=inputs,
    )
    return Execution(schedule, manifest, timing, rates, simulation.policy_files())


def _rates(options: RunOptions, workload: Workload) -> Rates:
    """Read what a kilowatt-hour emits and costs; refuse at once what cannot be enough."""
    given = options.footprint
    rates = load_rates(given.carbon, given.price, workload.headers)
    if rates != NO_RATES and options.simulation.energy == "off":
        name = "--price" if given.carbon is None else "--carbon"
        raise InputError(f"{name}: no energy is counted, expected --energy exact or simgrid")
    last = float(workload.submit_time[-1]) if len(workload) else 0.0
    until = options.simulation.until
    rates.demand(0.0, last if until is None else min(last, until))
    return rates


def _platform(options: PlatformOptions, workload: Workload) -> Platform:
    if options.file is None:
        n_hosts = hosts_told_by(workload)[0] if options.n_hosts is None else options.n_hosts
        return Platform.homogeneous(n_hosts, options.speed)
    if options.speed != 1.0:
        raise InputError("--speed: goes with --hosts, a platform file has speeds of its own")
    read = load_platform(options.file, host_order=options.host_order)
    if options.n_hosts not in (None, read.n_hosts):
        raise InputError(
            f"{options.file}: got {read.n_hosts} hosts, expected {options.n_hosts} (--hosts)"
        )
    return read


def _versions() -> dict[str, str]:
    """Return the versions of what a run depends on."""
    packages = {name: metadata.version(name) for name in ("noctule", "numpy")}
    return {"python": platform.python_version()} | packages


def hosts_told_by(workload: Workload) -> tuple[int, str]:
    """Return how many hosts the headers of a workload's file tell, and which header does."""
    for name in HOST_HEADERS:
        text = str(workload.headers.get(name, "")).strip()
        if text.isascii() and text.isdigit() and int(text) > 0:
            return int(text), name
    raise InputError(
        f"{workload.source or workload.name}: no header {', '.join(HOST_HEADERS)} "
        "tells how many hosts there are, expected --hosts"
    )


def check_target(directory: str | os.PathLike[str], *, force: bool = False) -> None:
    """Refuse a folder that a run must not be written to.

    An existing one is only replaced by `force`, and only if it is empty or holds a run.
    """
    target = Path(directory)
    if not target.exists():
        parent = next(parent for parent in target.parents if parent.exists())
        if not parent.is_dir():
            raise InputError(f"{target}: cannot be written: {parent} is not a folder")
        if not os.access(parent, os.W_OK):
            raise InputError(f"{target}: cannot be written: no permission to write in {parent}")
        return
    if not target.is_dir():
        raise InputError(f"{target}: exists and is not a folder, expected a folder to create")
    if not force:
        raise InputError(f"{target}: exists already; --force replaces it")
    present = sorted(path.name for path in target.iterdir())
    if not present:
        return
    if MANIFEST_FILE not in present:
        raise InputError(
            f"{target}: not replaced: it holds files but no {MANIFEST_FILE}, expected a run"
        )
    foreign = [name for name in present if name not in RUN_FILES]
    if foreign:
        raise InputError(
            f"{target}: not replaced: it holds {', '.join(foreign[:3])}, expected only a run"
        )
    read_manifest(target / MANIFEST_FILE)


def write_run(
    directory: str | os.PathLike[str], execution: Execution, *, force: bool = False
) -> Manifest:
    """Write the folder of a run, whole or not at all; return its manifest."""
    check_target(directory, force=force)
    # a link is followed, so that what it points to is replaced and not the link
    target = _resolved(Path(directory))
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.mkdir()
        try:
            manifest = _fill(partial, execution)
            put_folder_in_place(partial, target, force=force)
            sync(target.parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{Path(directory)}: cannot be written: {reason}") from error
    return manifest


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError as error:
        raise InputError(f"{path}: cannot be written: {error}") from None


def read_manifest(path: str | os.PathLike[str]) -> Manifest:
    """Read a manifest.json."""
    where = Path(path)
    try:
        manifest = msgspec.json.decode(where.read_bytes(), type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(f"{where}: not the manifest of a run: {error}") from None
    except OSError as error:
        raise InputError(f"{where}: cannot be read: {error.strerror or error}") from None
    if manifest.format != MANIFEST_FORMAT:
        raise InputError(f"{where}: format: got {manifest.format}, expected {MANIFEST_FORMAT}")
    names = tuple(file.path for file in manifest.outputs)
    if not set(FILE_NAMES) <= set(names) <= set(_OUTPUTS):
        raise InputError(
            f"{where}: outputs: got {', '.join(names) or 'none'}, expected {', '.join(FILE_NAMES)}"
        )
    return manifest


def rerun(
    manifest_path: str | os.PathLike[str], *, progress: ProgressReport | None = None
) -> Rerun:
    """Do a run again and compare its files with the hashes of the manifest; write nothing.

    Paths of inputs are taken from the current folder or, if the file is not there, from the
    manifest's own.
    """
    manifest = read_manifest(manifest_path)
    folder = Path(manifest_path).parent
    named = {file.path: file for file in manifest.inputs}
    for path in _input_paths(manifest.options):
        if path not in named:
            raise InputError(f"{manifest_path}: inputs: got no {path}, expected all of the run's")
    moved = {path: _found_again(named[path], folder) for path in _input_paths(manifest.options)}
    options = _with_sessions(_with_paths(manifest.options, moved), folder)
    execution = execute(options, progress=progress)
    _refuse_changes(manifest.inputs, execution.manifest.inputs)
    found = {name: hash_of_text(name, pieces) for name, pieces in execution.texts()}
    expected = {file.path: file for file in manifest.outputs}
    differing = tuple(
        name for name in {**expected, **found} if found.get(name) != expected.get(name)
    )
    altered = tuple(
        file.path
        for file in manifest.outputs
        if (folder / file.path).is_file() and hash_of(str(folder / file.path)).sha256 != file.sha256
    )
    return Rerun(manifest, differing, altered)


def workload_again(manifest: Manifest, folder: str | os.PathLike[str]) -> Workload:
    """Read the workload of a run once more, from where `rerun` would; refuse one that changed."""
    options = manifest.options
    path = _input_again(manifest, options.workload, folder)
    return load_workload(path, **msgspec.structs.asdict(options.reading))


def windows_again(manifest: Manifest, folder: str | os.PathLike[str]) -> Windows | None:
    """Read the windows of a run once more, if it had some; refuse those that changed."""
    path = manifest.options.windows
    return None if path is None else load_windows(_input_again(manifest, path, folder))


def events_again(manifest: Manifest, folder: str | os.PathLike[str]) -> ExternalEvents | None:
    """Read the external events of a run once more, if it had some; refuse those that changed."""
    path = manifest.options.events
    return None if path is None else load_events(_input_again(manifest, path, folder))


def _input_again(manifest: Manifest, path: str, folder: str | os.PathLike[str]) -> str:
    named = {file.path: file for file in manifest.inputs}
    if path not in named:
        raise InputError(f"{folder}: inputs: got no {path}, expected all of the run's")
    return _found_again(named[path], Path(folder))


def _refuse_changes(before: Sequence[FileHash], now: Sequence[FileHash]) -> None:
    """Refuse other inputs than a run had: files that the named ones name may have changed."""
    for old, new in zip(before, now, strict=False):
        if old.sha256 != new.sha256:
            raise _changed(new.path, new.sha256, old.sha256)
    if len(before) != len(now):
        raise InputError(
            f"{now[0].path}: has changed since the run: it and others name {len(now)} files, "
            f"expected {len(before)}"
        )


def _changed(path: object, got: str, expected: str) -> InputError:
    return InputError(f"{path}: has changed since the run: got sha256 {got}, expected {expected}")


def _input_paths(options: RunOptions) -> list[str]:
    policy = _policy_file(PolicySpec.parse(options.policy))
    paths = (
        options.workload,
        options.platform.file,
        policy,
        *options.footprint.files,
        options.events,
        options.windows,
    )
    return [path for path in paths if path is not None]


def _policy_file(spec: PolicySpec) -> str | None:
    """Return the Python file of a policy such as mine.py:Mine, or None."""
    path, _, _ = spec.name.rpartition(":")
    return path if path.endswith(".py") else None


def _with_paths(options: RunOptions, moved: Mapping[str, str]) -> RunOptions:
    """Replace the paths of inputs by those where they were found."""
    spec = PolicySpec.parse(options.policy)
    path = _policy_file(spec)
    if path is not None:
        spec = PolicySpec(moved[path] + spec.name.removeprefix(path), spec.parameters)
    file = options.platform.file
    platform_options = msgspec.structs.replace(
        options.platform, file=None if file is None else moved[file]
    )
    carbon, price = options.footprint.carbon, options.footprint.price
    return msgspec.structs.replace(
        options,
        workload=moved[options.workload],
        policy=str(spec),
        platform=platform_options,
        footprint=FootprintOptions(
            None if carbon is None else moved.get(carbon, carbon),
            None if price is None else moved.get(price, price),
        ),
        events=None if options.events is None else moved[options.events],
        windows=None if options.windows is None else moved[options.windows],
    )


def _with_sessions(options: RunOptions, folder: Path) -> RunOptions:
    """Take session files from the manifest's folder if they are not where they were."""
    sessions = session_folder(options.simulation.replay)
    if sessions is None or Path(sessions).exists():
        return options
    if not (folder / sessions).exists():
        raise InputError(f"{sessions}: an input of the run, not found here nor in {folder}")
    replay = with_sessions(options.simulation.replay, str(folder / sessions))
    moved = msgspec.structs.replace(options.simulation, replay=replay)
    return msgspec.structs.replace(options, simulation=moved)


def _found_again(file: FileHash, folder: Path) -> str:
    """Return where an input is now, if it is still the same file."""
    places = [place for place in (Path(file.path), folder / file.path) if place.is_file()]
    if not places:
        raise InputError(f"{file.path}: an input of the run, not found here nor in {folder}")
    for place in places:
        if hash_of(str(place)).sha256 == file.sha256:
            return str(place)
    raise _changed(places[0], hash_of(str(places[0])).sha256, file.sha256)


def _fill(folder: Path, execution: Execution) -> Manifest:
    began = time.perf_counter()
    outputs = tuple(write_hashed(folder / name, pieces) for name, pieces in execution.texts())
    manifest = msgspec.structs.replace(execution.manifest, outputs=outputs)
    write_hashed(folder / MANIFEST_FILE, [_json_text(manifest)])
    timing = msgspec.structs.replace(execution.timing, write_s=time.perf_counter() - began)
    readings = msgspec.structs.asdict(timing) | {"total_s": timing.total_s}
    write_hashed(folder / TIMING_FILE, [_json_text(readings)])
    sync(folder)
    return manifest


def _json_text(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"
