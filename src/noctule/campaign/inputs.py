"""Where the input files of runs are on this machine, found by content."""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from noctule.campaign.specs import FileRef
from noctule.errors import InputError


def file_ref(path: Path, where: str) -> FileRef:
    """Hash a file; `where` is what messages say of who names it."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
    except FileNotFoundError:
        raise InputError(f"{where}: no file {path}") from None
    except IsADirectoryError:
        raise InputError(f"{where}: {path} is a folder, expected a file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{where}: {str(path)!r}: cannot be read: {reason}") from None
    return FileRef(digest.hexdigest(), str(path))


class InputFiles:
    """Files by content: where they were planned, or in a folder that they were sent to."""

    def __init__(self, received: Path | None = None) -> None:
        self._received = received
        self._found: dict[str, str] = {}
        self._lock = threading.Lock()

    def path_of(self, ref: FileRef, beside: Sequence[FileRef] = ()) -> str:
        """Return the path of a file with this content, and with those that it names beside it."""
        if beside and not all(map(self._is_in_place, (ref, *beside))):
            return self._put_together(ref, beside)
        with self._lock:
            if ref.sha256 not in self._found:
                self._found[ref.sha256] = self._search(ref)
            return self._found[ref.sha256] if not beside else ref.path

    def has(self, ref: FileRef) -> bool:
        """Tell whether a file with this content is here."""
        try:
            self.path_of(ref)
        except InputError:
            return False
        return True

    def receive(self, ref: FileRef, content: bytes) -> None:
        """Keep a file that was sent."""
        assert self._received is not None
        if self.has(ref):
            return
        if hashlib.sha256(content).hexdigest() != ref.sha256:
            raise InputError(f"{ref.path}: arrived with another content than it was sent with")
        self._place(ref).parent.mkdir(parents=True, exist_ok=True)
        partial = self._place(ref).with_suffix(f".{threading.get_ident()}.partial")
        partial.write_bytes(content)
        partial.replace(self._place(ref))

    def _is_in_place(self, ref: FileRef) -> bool:
        place = Path(ref.path)
        return place.is_file() and file_ref(place, ref.path).sha256 == ref.sha256

    def _put_together(self, ref: FileRef, beside: Sequence[FileRef]) -> str:
        """Lay files out as they were where they were planned, as seen from each other."""
        files = (ref, *beside)
        found = [Path(self.path_of(file)) for file in files]
        assert self._received is not None
        places = [Path(os.path.normpath(Path.cwd() / file.path)) for file in files]
        common = os.path.commonpath([place.parent for place in places])
        relative = [os.path.relpath(place, common) for place in places]
        told = [[file.sha256, name] for file, name in zip(files, relative, strict=True)]
        folder = self._received / hashlib.sha256(repr(told).encode()).hexdigest()
        with self._lock:
            if not folder.is_dir():
                partial = folder.with_suffix(f".{threading.get_ident()}.partial")
                for source, name in zip(found, relative, strict=True):
                    (partial / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(source, partial / name)
                with suppress(OSError):  # another process was faster
                    partial.rename(folder)
        return str(folder / relative[0])

    def _search(self, ref: FileRef) -> str:
        places = [Path(ref.path)]
        if self._received is not None:
            places.append(self._place(ref))
        for place in places:
            if place.is_file() and file_ref(place, str(place)).sha256 == ref.sha256:
                return str(place)
        if places[0].is_file():
            raise InputError(f"{ref.path}: has changed since the campaign was planned")
        raise InputError(f"{ref.path}: no such file any more")

    def _place(self, ref: FileRef) -> Path:
        assert self._received is not None
        return self._received / ref.sha256 / Path(ref.path).name
