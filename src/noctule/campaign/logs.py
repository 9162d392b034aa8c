"""Where logs of the Parallel Workloads Archive are on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from noctule.archive import cache_folder, find_log
from noctule.errors import InputError

SHARED_VARIABLE = "NOCTULE_SHARED"
_ENDINGS = (".swf", ".swf.gz", ".swf.xz", ".swf.bz2")


def find_log_file(name: str, *, folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the file of a log: in a folder that is given, in $NOCTULE_SHARED, or in the cache."""
    log = find_log(name)
    stem = log.file.removesuffix(".gz").removesuffix(".swf")
    folders = [Path(folder)] if folder is not None else []
    shared = os.environ.get(SHARED_VARIABLE)
    if shared:
        folders.append(Path(shared) / "traces")
    folders.append(cache_folder())
    for place in folders:
        for ending in _ENDINGS:
            if (place / f"{stem}{ending}").is_file():
                return place / f"{stem}{ending}"
    looked = ", ".join(map(str, folders))
    raise InputError(
        f"{log.name}: no {stem}.swf (.gz, .xz, .bz2) in {looked}; "
        f"`noctule trace fetch {log.name}` downloads it, --logs DIR names another folder"
    )
