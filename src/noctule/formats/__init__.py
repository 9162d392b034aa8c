"""Workload files: the format and the compression are recognised by content, not by name."""

from __future__ import annotations

import os
from dataclasses import fields

from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.formats.batsim import read_batsim
from noctule.formats.swf import SwfRules, read_swf
from noctule.workload import Workload

__all__ = ["load_workload"]


def load_workload(
    path: str | os.PathLike[str],
    *,
    processors: str = "requested",
    walltime_factor: float | None = 1,
    profiles: str = "compute",
    reference_speed: float | None = None,
    dependencies: bool = False,
    name: str = "w0",
) -> Workload:
    """Read a log in the Standard Workload Format, or a Batsim JSON workload.

    The options are the reading rules of SWF logs: a Batsim workload leaves nothing to be chosen,
    and refuses them.

    Args:
        path: a plain, gzip, xz or bzip2 file.
        processors: "requested" or "allocated"; the other number is taken where one is missing.
        walltime_factor: walltime = max(requested time, factor x run time), so that no computation
            is killed; None keeps the requested times.
        profiles: "compute" (run time x reference speed of work) or "delay" (a fixed duration).
        reference_speed: speed of the hosts on which the log was recorded; None means that of the
            platform on which it is simulated.
        dependencies: whether a job waits for its preceding job and think time.
        name: name of the workload.
    """
    rules = SwfRules(processors, walltime_factor, profiles, reference_speed, dependencies)
    source = os.fspath(path)
    text = read_bytes(path)
    first = text[:4096].lstrip()[:1] or text.lstrip()[:1]
    if not first:
        raise InputError(f"{source}: empty file, expected an SWF log or a Batsim JSON workload")
    if first in b"{[":
        _refuse_swf_options(source, rules)
        return read_batsim(text, source=source, name=name)
    return read_swf(text, rules, source=source, name=name)


def files_named_in(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the files that a workload file names; logs name none, and are not read for it."""
    text = read_bytes(path)
    if text[:4096].lstrip()[:1] not in (b"{", b"["):
        return ()
    return read_batsim(text, source=os.fspath(path)).files


def _refuse_swf_options(source: str, rules: SwfRules) -> None:
    usual = SwfRules()
    for option in fields(rules):
        value = getattr(rules, option.name)
        if value != getattr(usual, option.name):
            raise InputError(
                f"{source}: {option.name}={value!r}: an option of SWF logs, "
                "got a Batsim JSON workload"
            )
