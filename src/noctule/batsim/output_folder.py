"""Where the files of a run go, and what the folder looks like before it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from noctule.errors import InputError

#: What the names of files end with that tell of a run which did not come to its end.
PARTIAL = ".partial"


def prepare_files(prefix: str, names: Sequence[str], *, make_folder: bool = False) -> None:
    """Remove the files of an earlier run; a folder that is not there is refused, or made."""
    folder = Path(f"{prefix}x").parent
    try:
        if make_folder:
            folder.mkdir(parents=True, exist_ok=True)
        if not folder.is_dir():
            shown = prefix.removesuffix("_")
            raise InputError(f"--export: {shown}: there is no folder {folder}, expected one")
        for name in names:
            for suffix in ("", PARTIAL):
                Path(f"{prefix}{name}{suffix}").unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"--export: {prefix}: {error.strerror or error}") from None
