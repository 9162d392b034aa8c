"""What one run of a campaign depends on, and nothing else: plain values that travel to any worker.

The key of a run is a hash of its spec: contents of files instead of their paths, and the version of
Noctule. Runs of one key give the same result, wherever and whenever they are done.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import metadata

import msgspec

from noctule.run import ReadingOptions, SimulationOptions

Value = bool | int | float | str
SPEC_FORMAT = 1


class FileRef(msgspec.Struct, frozen=True, order=True):
    """A file by its content; the path is where it was when the campaign was planned."""

    sha256: str
    path: str


class WorkloadSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """A workload: read from a file or drawn from a model, then changed in this order.

    `beside` are files that the file names, in the order in which it does. Of a log, only the jobs
    may be taken that were submitted from `start` on, for `length` seconds, with or without those
    that were there `at_the_start`, or only those whose runtime is below their walltime (`in_time`);
    of those, only the first so many (`first_jobs`).
    """

    file: FileRef | None = None
    beside: tuple[FileRef, ...] = ()
    reading: ReadingOptions = ReadingOptions()
    start: float | None = None
    length: float | None = None
    in_time: bool = False
    first_jobs: int | None = None
    at_the_start: str = "drop"
    model: str | None = None
    parameters: dict[str, Value] = {}
    files: dict[str, FileRef] = {}
    seed: int | None = None
    load: float = 1.0
    shake: float | None = None
    exact_walltimes: bool = False

    @property
    def input_files(self) -> tuple[FileRef, ...]:
        """The files that must be there to make it."""
        read = () if self.file is None else (self.file, *self.beside)
        return (*read, *self.files.values())


class PlatformSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """A platform file, or a number of hosts; without both, as many as the workload tells.

    `beside` are files that the file names, in the order in which it does.
    """

    file: FileRef | None = None
    beside: tuple[FileRef, ...] = ()
    host_order: str = "natural"
    n_hosts: int | None = None
    speed: float = 1.0
    unlimited: bool = False


class MeasureSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a schedule is measured; the trimmed figures stand beside the whole ones.

    `carbon` and `price` are what a kilowatt-hour emits and costs: a series in a file, or a number.
    `offline` asks what sleeping could have saved.
    """

    warm_up: float = 0.0
    cool_down: float = 0.0
    threshold: float = 10.0
    carbon: FileRef | float | None = None
    price: FileRef | float | None = None
    offline: bool = False

    @property
    def trims(self) -> bool:
        """Whether anything is cut off."""
        return self.warm_up > 0 or self.cool_down > 0

    @property
    def has_rates(self) -> bool:
        """Whether carbon or price is asked for."""
        return self.carbon is not None or self.price is not None

    @property
    def input_files(self) -> tuple[FileRef, ...]:
        """The files that must be there to measure."""
        return tuple(one for one in (self.carbon, self.price) if isinstance(one, FileRef))


class RunSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """One run. The path of a policy file in `policy` stands for `policy_file`."""

    workload: WorkloadSpec
    platform: PlatformSpec
    policy: str
    policy_file: FileRef | None = None
    options: SimulationOptions = SimulationOptions()
    measures: MeasureSpec = MeasureSpec()
    keep_jobs: bool = False
    events: FileRef | None = None
    windows: FileRef | None = None

    @property
    def input_files(self) -> tuple[FileRef, ...]:
        """The files that must be there to do it."""
        platform = (self.platform.file, *self.platform.beside)
        others = (*platform, self.policy_file, self.events, self.windows)
        named = (*self.workload.input_files, *self.measures.input_files)
        return (*named, *(file for file in others if file is not None))

    @property
    def key(self) -> str:
        """The name of the run's result: equal for equal contents, wherever files are."""
        return hashlib.sha256(_canonical(self)).hexdigest()[:32]


def workload_key(spec: WorkloadSpec) -> str:
    """Return what two equal workloads have in common."""
    return hashlib.sha256(_canonical(spec)).hexdigest()[:32]


def _canonical(spec: RunSpec | WorkloadSpec) -> bytes:
    plain = _without_paths(msgspec.to_builtins(spec))
    identity = {"format": SPEC_FORMAT, "noctule": _version(), "spec": plain}
    return msgspec.json.encode(identity, order="sorted")


def _without_paths(value: object) -> object:
    if isinstance(value, list):
        return [_without_paths(part) for part in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"sha256", "path"}:
        return value["sha256"]
    plain = {name: _without_paths(part) for name, part in value.items()}
    if "policy_file" in plain:
        # the file may lie elsewhere: what counts is its content and the class in it
        plain["policy"] = str(plain["policy"]).partition(".py:")[2]
    return plain


@cache
def _version() -> str:
    return metadata.version("noctule")
