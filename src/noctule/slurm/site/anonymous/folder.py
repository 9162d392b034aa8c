"""All files of a site without names, as a folder that `noctule slurm import` reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from noctule.compression import read_bytes
from noctule.output_file import check_folder, write_folder
from noctule.slurm.conf.lines import read_conf
from noctule.slurm.conf.settings import settings_from
from noctule.slurm.jobs.sacct_rows import text_lines
from noctule.slurm.site.anonymous.conf import anonymous_conf
from noctule.slurm.site.anonymous.files import (
    anonymous_dump,
    anonymous_gres,
    anonymous_qos,
    anonymous_sacct,
    anonymous_table,
    anonymous_topology,
)
from noctule.slurm.site.anonymous.names import Names
from noctule.slurm.site.reading import SiteFiles

_FILES = {
    "conf": "slurm.conf",
    "jobs": "sacct.txt",
    "running": "running.txt",
    "associations": "associations.txt",
    "qos": "qos.txt",
    "topology": "topology.conf",
    "gres": "gres.conf",
    "events": "events.txt",
    "reservations": "reservations.txt",
    "usage": "usage.txt",
}


def save_anonymous(
    files: SiteFiles, folder: str | os.PathLike[str], key: bytes, *, force: bool = False
) -> list[str]:
    """Write the files that there are without names; return the names of the new ones."""
    check_folder(folder, replaceable=_is_ours, force=force)
    texts = dict(anonymous_files(files, key))
    contents = ((name, "".join(pieces).encode()) for name, pieces in texts.items())
    write_folder(folder, contents, replaceable=_is_ours, force=force)
    return list(texts)


def anonymous_files(files: SiteFiles, key: bytes) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the name and the pieces of each new file."""
    conf = read_conf(files.conf)
    sets = {line.values()["nodeset"] for line in conf.lines if "nodeset" in line.values()}
    names = Names(key, [node.name for node in settings_from(conf).nodes], sets)
    yield _FILES["conf"], anonymous_conf(conf, names)
    for option in ("jobs", "running"):
        path = getattr(files, option)
        if path is not None:
            yield _FILES[option], anonymous_sacct(text_lines(path), names)
    if files.associations is not None:
        yield _FILES["associations"], anonymous_dump(_text(files.associations), names)
    if files.qos is not None:
        yield _FILES["qos"], anonymous_qos(_text(files.qos), names)
    if files.topology is not None:
        yield _FILES["topology"], anonymous_topology(read_conf(files.topology), names)
    if files.gres is not None:
        yield _FILES["gres"], anonymous_gres(read_conf(files.gres), names)
    for option in ("events", "reservations", "usage"):
        path = getattr(files, option)
        if path is not None:
            yield _FILES[option], anonymous_table(option, _text(path), names)


def _text(path: str) -> str:
    return read_bytes(path).decode(errors="replace")


def _is_ours(path: Path) -> bool:
    return path.is_file() and path.name in _FILES.values()
