"""Recorded workloads: measured, cut, scaled, joined, made anonymous, and looked at for oddities.

Every function takes a Workload and returns another one, or a table; none changes what it is given.
`load_trace` reads a log as it was recorded, with the jobs that a simulation would have to drop.
"""

from __future__ import annotations

from noctule.formats.swf import SwfRules
from noctule.traces.anonymity import anonymise
from noctule.traces.extraction import Extract, extract, find_extracts
from noctule.traces.merging import merge
from noctule.traces.oddities import Oddity, OddityLimits, find_oddities
from noctule.traces.raw import RawTrace, load_raw
from noctule.traces.reading import load_trace
from noctule.traces.scaling import at_speed, scale_load, scale_runtimes, scale_sizes
from noctule.traces.selection import from_zero, select
from noctule.traces.shaking import shake
from noctule.traces.stats import TraceStats, UserStats, trace_stats
from noctule.traces.walltimes import exact_walltimes

__all__ = [
    "Extract",
    "Oddity",
    "OddityLimits",
    "RawTrace",
    "SwfRules",
    "TraceStats",
    "UserStats",
    "anonymise",
    "at_speed",
    "exact_walltimes",
    "extract",
    "find_extracts",
    "find_oddities",
    "from_zero",
    "load_raw",
    "load_trace",
    "merge",
    "scale_load",
    "scale_runtimes",
    "scale_sizes",
    "select",
    "shake",
    "trace_stats",
]
