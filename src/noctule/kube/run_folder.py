"""The folder of a run, for files that programs read: it goes with the run.

A run that is killed cannot remove its own; the next one does. Whose run goes on is told by a lock,
which the kernel takes from a process that dies.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

_PREFIX = "noctule-kube-run-"
_YOUNG = 60.0  # seconds in which a folder may not be locked yet


class RunFolder:
    """A folder that only its user can read."""

    def __init__(self) -> None:
        """Make one, and remove those of runs that were killed."""
        remove_left_ones(Path(tempfile.gettempdir()))
        self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX)
        self.path = Path(self._folder.name)
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def close(self) -> None:
        """Remove it."""
        self._folder.cleanup()
        os.close(self._lock)


def remove_left_ones(parent: Path) -> None:
    """Remove the folders of this user's runs that go on no more."""
    for folder in sorted(parent.glob(f"{_PREFIX}*")):
        # what cannot be looked at or removed is somebody else's, or is just being removed
        with contextlib.suppress(OSError):
            if _may_be_left(folder):
                _remove_unlocked(folder)


def _may_be_left(folder: Path) -> bool:
    found = folder.lstat()
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return is_ours and time.time() - found.st_mtime > _YOUNG


def _remove_unlocked(folder: Path) -> None:
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
    finally:
        os.close(lock)
