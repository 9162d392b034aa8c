"""Traces before any reading rule: numbers as the file has them, wrong ones too."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from noctule.columns import Floats
from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.formats.batsim import read_batsim
from noctule.formats.headers import Headers
from noctule.formats.swf import SwfLog, read_swf_log, swf_headers
from noctule.formats.swf_writing import swf_columns
from noctule.parts import Parts
from noctule.workload import Workload


@dataclass(frozen=True, slots=True)
class RawTrace:
    """The fields of a log, one row a job; `places` say where a job stands in the file."""

    log: SwfLog
    headers: Headers
    places: Sequence[str]

    @classmethod
    def of(cls, workload: Workload) -> RawTrace:
        """Take the jobs of a workload as if they were recorded."""
        parts = Parts.of(workload)
        parts.refuse_untimed()
        cells = np.column_stack([np.asarray(column, float) for column in swf_columns(parts)])
        lines = np.arange(1, len(parts) + 1, dtype=np.uint32)
        places = [f"job {job_id}" for job_id in parts.job_ids.tolist()]
        return cls(SwfLog(parts.where, cells, lines), workload.headers, places)

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.log.lines)

    def column(self, name: str) -> Floats:
        """Return one of the 18 fields of all jobs."""
        return self.log.column(name)


def load_raw(path: str | os.PathLike[str]) -> RawTrace:
    """Read a log or a Batsim workload without judging it."""
    source, text = os.fspath(path), read_bytes(path)
    first = text.lstrip()[:1]
    if not first:
        raise InputError(f"{source}: empty file, expected an SWF log or a Batsim JSON workload")
    if first in b"{[":
        return RawTrace.of(read_batsim(text, source=source))
    log = read_swf_log(text, source=source)
    places = [f"line {line}" for line in log.lines.tolist()]
    return RawTrace(log, swf_headers(text), places)
