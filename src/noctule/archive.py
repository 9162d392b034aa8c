"""Logs of the Parallel Workloads Archive, fetched when they are asked for and kept in a cache.

The archive is kept by Dror Feitelson at the Hebrew University of Jerusalem; a log's own header and
page say whom to thank for it. A log is checked when it is downloaded and each time it is fetched
again: against the SHA-256 of its decompressed text where that is known. Where it is not, the log
is only read through, and the hash that it had is told.
"""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noctule.archive_logs import LOGS, ArchivedLog
from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.formats.swf import read_swf_log

#: Where the archive is.
ARCHIVE = "https://www.cs.huji.ac.il/labs/parallel/workload"
CACHE_VARIABLE = "NOCTULE_CACHE"
TIMEOUT_S = 60
_PIECE = 1 << 16

__all__ = ["ARCHIVE", "LOGS", "ArchivedLog", "Fetched", "cache_folder", "fetch", "find_log"]


@dataclass(frozen=True, slots=True)
class Fetched:
    """A log in the cache; it can be given to `load_workload` as it is.

    `sha256` is that of the decompressed log, and `verified` says whether it was known before.
    """

    log: ArchivedLog
    path: Path
    sha256: str
    verified: bool
    downloaded: bool

    def __fspath__(self) -> str:
        """Return the path of the file."""
        return str(self.path)


def find_log(name: str) -> ArchivedLog:
    """Return the log of a name, or of a file name, in any case of letters."""
    wanted = name.lower().removesuffix(".gz").removesuffix(".swf")
    for log in LOGS:
        if wanted in (log.name, log.file.lower().removesuffix(".swf.gz")):
            return log
    names = [log.name for log in LOGS]
    close = difflib.get_close_matches(wanted, names, n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    raise InputError(f"{name}: unknown log; known logs: {', '.join(names)}{hint}")


def cache_folder() -> Path:
    """Return where logs are kept: $NOCTULE_CACHE, or the place that the system has for that."""
    told = os.environ.get(CACHE_VARIABLE)
    return (Path(told) if told else Path(_pooch().os_cache("noctule"))) / "archive"


def fetch(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    address: str = ARCHIVE,
    again: bool = False,
    on_download: Callable[[str], object] | None = None,
) -> Fetched:
    """Return a log of the archive, downloaded unless it is in the cache already.

    Args:
        name: as in LOGS.
        folder: where logs are kept, instead of `cache_folder()`.
        address: of the archive, or of a copy of it.
        again: download it even if it is in the cache.
        on_download: called with the address before a download begins.
    """
    log = find_log(name)
    kept = Path(folder) if folder is not None else cache_folder()
    path = kept / log.file
    if path.is_file() and not again:
        try:
            sha256 = _checked(path, log, str(path))
        except InputError:
            pass  # damaged since it was put there: a fresh one replaces it
        else:
            return Fetched(log, path, sha256, log.sha256 is not None, downloaded=False)
    url = f"{address.rstrip('/')}/{log.folder}/{log.file}"
    if on_download is not None:
        on_download(url)
    sha256 = _download(url, path, log)
    return Fetched(log, path, sha256, log.sha256 is not None, downloaded=True)


def _download(url: str, path: Path, log: ArchivedLog) -> str:
    """Put a log into the cache if it is what it should be, else leave the cache as it is."""
    pooch = _pooch()
    hashes = []

    def get_and_check(address: str, file: str, _: object) -> None:
        with _failures_told(url, log):
            _get(address, Path(file))
        hashes.append(_checked(Path(file), log, url))

    # pooch leaves a file that is there already alone
    new = path.with_name(f"{path.name}.new") if path.exists() else path
    try:
        if new != path:
            new.unlink(missing_ok=True)
        # no hash for pooch: it would take that of the compressed file, which is not known
        pooch.retrieve(url, None, fname=new.name, path=path.parent, downloader=get_and_check)
        if new != path:
            new.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{path}: cannot be written: {reason}") from error
    return hashes[0]


def _get(url: str, path: Path) -> None:
    """Download a file; pooch's own way would leave the connection open if that fails."""
    import requests

    with requests.get(url, stream=True, timeout=TIMEOUT_S) as response:
        response.raise_for_status()
        with path.open("wb") as target:
            for piece in response.iter_content(_PIECE):
                target.write(piece)


@contextmanager
def _failures_told(url: str, log: ArchivedLog) -> Iterator[None]:
    """Say in one line why a download failed."""
    from requests import exceptions

    try:
        yield
    except exceptions.HTTPError as error:
        response = error.response
        answer = "an error" if response is None else f"{response.status_code} {response.reason}"
        raise InputError(f"{url}: the server answered {answer}, expected {log.file}") from None
    except exceptions.Timeout:
        raise InputError(f"{url}: no answer in {TIMEOUT_S} s") from None
    except exceptions.ChunkedEncodingError:
        raise InputError(f"{url}: the download broke off") from None
    except exceptions.ConnectionError:
        raise InputError(f"{url}: cannot be reached, expected a connection to it") from None
    except exceptions.RequestException as error:
        raise InputError(f"{url}: cannot be downloaded: {error}") from None


def _checked(path: Path, log: ArchivedLog, where: str) -> str:
    """Return the hash of a log, or refuse what is broken, another one, or no log at all."""
    try:
        text = read_bytes(path)
    except InputError as error:
        reason = str(error).removeprefix(f"{path}: ")
        raise InputError(f"{where}: {reason}, expected {log.file}") from None
    sha256 = hashlib.sha256(text).hexdigest()
    if log.sha256 is None:
        read_swf_log(text, source=where)
    elif sha256 != log.sha256:
        raise InputError(f"{where}: got SHA-256 {sha256}, expected {log.sha256}")
    return sha256


def _pooch() -> Any:
    try:
        import pooch  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(
            "pooch: not installed, expected it for logs of the archive: pip install pooch"
        ) from None
    # it reports every step on its own; what matters is told by who calls
    pooch.get_logger().setLevel("ERROR")
    return pooch
