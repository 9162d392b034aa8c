"""The folder of a campaign: one folder a run, named after its key.

A result carries its own hash: what a kill, a full disk or a power cut leaves of one is not taken
for a result, and the run is done again. Results are brought to the disk in batches; a run counts
as recorded once its batch is there.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from noctule import _core
from noctule.campaign.about import CAMPAIGN_FILE
from noctule.campaign.execution import Outcome
from noctule.campaign.specs import RunSpec
from noctule.errors import InputError

LOCK_FILE = ".lock"
RESULTS_FILE = "results.parquet"
RUNS_FOLDER = "runs"
RESULT_FILE = "result.json"
JOBS_FILE = "jobs.parquet"
_MARK = b'{"sha256":"'
_CONTENT_AT = len(_MARK) + 64 + len(b'",')


Kind = TypeVar("Kind", bound="Numbers")
# the key and the spec of a run, and what came out
Result = tuple[str, RunSpec, Outcome]


class Numbers(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came out of a run: an error or metrics, and the hash of the table of jobs."""

    metrics: dict[str, float | int | None] = {}
    error: str = ""
    jobs_sha256: str = ""


class Recorded(Numbers, frozen=True, omit_defaults=True, kw_only=True):
    """A result as it is kept, with all that the run depended on."""

    spec: RunSpec


class Store:
    """The runs of a campaign's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs = folder / RUNS_FOLDER

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Make the folder, and keep others out of it."""
        self._refuse_foreign()
        with _writing(self._runs):
            self._runs.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / LOCK_FILE).open("w")
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(f"{self.folder}: another process runs a campaign in it") from None
            for left in self.folder.glob(f".{RESULTS_FILE}.*.partial"):
                left.unlink(missing_ok=True)
            yield

    def describe(self, content: bytes) -> None:
        """Replace what the folder says of itself."""
        partial = self.folder / f".{CAMPAIGN_FILE}.partial"
        with _writing(self.folder):
            _write(partial, content)
            partial.replace(self.folder / CAMPAIGN_FILE)

    def place(self, key: str) -> Path:
        """Return where the folder of a run is, or will be."""
        return self._runs / key[:2] / key

    def read(self, key: str) -> Recorded | None:
        """Return a result; None if there is none, or only a part of one."""
        content = self._contents([key])[0]
        return None if content is None else _decoded(content, Recorded)

    def numbers(self, key: str) -> Numbers | None:
        """Return the numbers of a result alone, or None."""
        content = self._contents([key])[0]
        return None if content is None else _decoded(content, Numbers)

    def complete(self, keys: Sequence[str]) -> list[Numbers | None]:
        """Return the numbers of results whose tables of jobs, if they have any, are whole."""
        found = [
            None if content is None else _decoded(content, Numbers)
            for content in self._contents(keys)
        ]
        return [
            one if one is None or self._has_jobs(key, one) else None
            for key, one in zip(keys, found, strict=True)
        ]

    def write(self, results: Sequence[Result]) -> list[Numbers]:
        """Put results in place; they are complete there at once, and on the disk after `sync`."""
        files: list[tuple[str, bytes]] = []
        recorded: list[Numbers] = []
        for key, spec, outcome in results:
            jobs = hashlib.sha256(outcome.jobs).hexdigest() if outcome.jobs else ""
            one = Recorded(outcome.metrics, outcome.error, jobs, spec=spec)
            content = msgspec.json.encode(one)
            mark = _MARK + hashlib.sha256(content).hexdigest().encode() + b'",'
            if outcome.jobs:
                files.append((self._path(key, JOBS_FILE), outcome.jobs))
            files.append((self._path(key, RESULT_FILE), mark + content[1:]))
            recorded.append(one)
        position, error = _core.write_small_files(files)
        if error:
            reason = os.strerror(error)
            raise InputError(f"{files[position][0]}: cannot be written: {reason}")
        return recorded

    def _path(self, key: str, name: str) -> str:
        return f"{self._runs}/{key[:2]}/{key}/{name}"

    def _contents(self, keys: Sequence[str]) -> list[bytes | None]:
        paths = [self._path(key, RESULT_FILE) for key in keys]
        return [None if text is None else _checked(text) for text in _core.read_small_files(paths)]

    def _has_jobs(self, key: str, numbers: Numbers) -> bool:
        if not numbers.jobs_sha256:
            return True
        return _sha256_of(self.place(key) / JOBS_FILE) == numbers.jobs_sha256

    def forget(self, key: str) -> None:
        """Remove a result, so that its run is done again."""
        with _writing(self.place(key)):
            shutil.rmtree(self.place(key))

    def sync(self) -> None:
        """Bring to the disk what was written."""
        with _writing(self._runs):
            descriptor = os.open(self._runs, os.O_RDONLY)
            try:
                _sync_file_system(descriptor)
            finally:
                os.close(descriptor)

    def __iter__(self) -> Iterator[str]:
        """Yield the keys of all results, sorted."""
        if self._runs.is_dir():
            for part in sorted(entry.name for entry in os.scandir(self._runs)):
                if len(part) == 2:
                    yield from sorted(entry.name for entry in os.scandir(self._runs / part))

    def _refuse_foreign(self) -> None:
        if not self.folder.exists():
            return
        if not self.folder.is_dir():
            raise InputError(f"{self.folder}: got a file, expected a folder to write to")
        with _writing(self.folder):
            present = {entry.name for entry in os.scandir(self.folder)}
        if present and RUNS_FOLDER not in present:
            some = ", ".join(sorted(present)[:3])
            raise InputError(f"{self.folder}: holds {some}, expected a campaign or nothing")


def _write(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        while content:
            content = content[os.write(descriptor, content) :]
    finally:
        os.close(descriptor)


def _checked(text: bytes) -> bytes | None:
    """Return a result without its hash, if that is right."""
    content = b"{" + text[_CONTENT_AT:]
    mark = _MARK + hashlib.sha256(content).hexdigest().encode() + b'",'
    return content if text[:_CONTENT_AT] == mark else None


def _decoded(content: bytes, kind: type[Kind]) -> Kind | None:
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.MsgspecError:
        return None


def _sha256_of(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


class _writing:  # noqa: N801  (reads as a verb where it is used)
    """Turns what the system says of a failed write into an InputError."""

    def __init__(self, where: Path) -> None:
        self._where = where

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            raise InputError(f"{self._where}: cannot be written: {reason}") from error


def _sync_file_system(descriptor: int) -> None:
    """One call for all files of a batch, where the system has it."""
    library = ctypes.CDLL(None, use_errno=True)
    if hasattr(library, "syncfs"):
        if library.syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    else:
        os.sync()
