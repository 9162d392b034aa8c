"""Workloads survive being written and read, taken apart and put together."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from noctule.formats.batsim import read_batsim
from noctule.formats.batsim_writing import batsim_text
from noctule.formats.swf import FIELDS, read_swf, read_swf_log
from noctule.formats.swf_writing import swf_text
from noctule.parts import REPEATED, Parts
from noctule.testing.strategies import workloads
from noctule.traces import anonymise, extract, find_extracts, merge, scale_load, select
from noctule.traces.flurries import find_flurries
from noctule.traces.reading import AS_RECORDED
from noctule.workload import Delay, Job, Workload

whole = st.integers(-1, 50)
times = st.one_of(whole, st.floats(-1, 1e6, allow_nan=False))
fields = st.fixed_dictionaries(
    {
        "submit time": st.one_of(st.integers(0, 1000), st.floats(0, 1e6)),
        "wait time": times,
        "run time": times,
        "allocated processors": whole,
        "average CPU time": times,
        "used memory": times,
        "requested processors": whole,
        "requested time": times,
        "requested memory": times,
        "status": st.sampled_from([-1, 0, 1, 5]),
        "user": whole,
        "group": whole,
        "executable": whole,
        "queue": whole,
        "partition": whole,
        "preceding job": whole,
        "think time": times,
    }
)
logs = st.lists(fields, min_size=1, max_size=12)
labels = st.one_of(st.none(), st.integers(0, 9), st.text("ab", min_size=1, max_size=2))


def text_of(rows: list[dict[str, Any]]) -> bytes:
    """Write rows as a log, by submission, so that reading does not have to sort."""
    ordered = sorted(rows, key=lambda row: float(row["submit time"]))
    numbered = [{"job number": 3 * i + 1, **row} for i, row in enumerate(ordered)]
    return "\n".join(" ".join(repr(row[name]) for name in FIELDS) for row in numbered).encode()


@given(logs)
def test_any_log_is_written_as_it_was_recorded(rows: list[dict[str, Any]]) -> None:
    text = text_of(rows)
    workload = read_swf(text, AS_RECORDED, source="log")

    again = "".join(swf_text(workload)).encode()

    before, after = read_swf_log(text, source="log").cells, read_swf_log(again, source="w").cells
    # labels below -1 do not occur here; all else is the same to the last bit
    assert np.array_equal(before, after)


@st.composite
def rich_workloads(draw: st.DrawFn) -> Workload:
    """Workloads with all that a job can have, and few that are submitted together."""
    plain = draw(workloads(dependencies=True, unlimited=True, cancellations=True, delays=True))
    jobs: list[Job] = []
    for i, job in enumerate(plain):
        profile = Delay(draw(st.sampled_from([0.5, 3.0]))) if draw(st.booleans()) else job.profile
        jobs.append(
            replace(
                job,
                submit_time=job.submit_time + i / 16,
                profile=profile,
                profile_name="",
                user=draw(labels),
                queue=draw(labels),
                extra=draw(st.dictionaries(st.sampled_from(["x", "y"]), st.integers(0, 3))),
            )
        )
    return Workload.from_jobs(jobs, headers={"nb_res": 8, "Note": "any\nthing"})


def without_repetitions(job: Job) -> Job:
    return replace(job, extra={k: v for k, v in job.extra.items() if k not in REPEATED})


@given(rich_workloads())
def test_any_workload_is_read_back_from_batsims_format(workload: Workload) -> None:
    text = "".join(batsim_text(workload))

    again = read_batsim(text.encode(), source="w.json")

    assert list(map(without_repetitions, again)) == list(workload)
    assert again.headers == workload.headers
    assert "".join(batsim_text(again)) == text


@given(rich_workloads())
def test_taking_a_workload_apart_changes_nothing(workload: Workload) -> None:
    again = Parts.of(workload).workload()

    assert list(again) == list(workload)
    assert again.profiles == workload.profiles


@given(logs, st.floats(0, 1000))
def test_parts_make_the_whole(rows: list[dict[str, Any]], date: float) -> None:
    whole_log = read_swf(text_of(rows), AS_RECORDED, source="log")
    submit = whole_log.submit_time
    if not (submit < date).any() or not (submit >= date).any():
        return

    merged = merge([select(whole_log, end=date), select(whole_log, start=date)], apart=False)

    before, after = ("".join(swf_text(one)).encode() for one in (whole_log, merged))
    assert np.array_equal(
        read_swf_log(before, source="a").cells, read_swf_log(after, source="b").cells
    )


@given(logs, st.integers(0, 5))
def test_what_is_anonymous_has_the_same_shape(rows: list[dict[str, Any]], seed: int) -> None:
    log = read_swf_log(text_of(rows), source="log")
    workload = read_swf(text_of(rows), AS_RECORDED, source="log")

    text = "".join(swf_text(anonymise(workload, seed=seed))).encode()

    hidden = read_swf_log(text, source="hidden")
    for name in ("submit time", "run time", "queue", "status", "used memory"):
        assert hidden.column(name).tolist() == log.column(name).tolist()
    for name in ("user", "group", "executable"):
        before, after = log.column(name), hidden.column(name)
        assert ((before < 0) == (after < 0)).all()
        pairs = set(zip(before.tolist(), after.tolist(), strict=True))
        assert len(pairs) == len(set(before.tolist())) == len(set(after.tolist()))


@given(logs, st.floats(0.25, 4))
def test_load_changes_only_when_jobs_are_submitted(
    rows: list[dict[str, Any]], factor: float
) -> None:
    workload = read_swf(text_of(rows), AS_RECORDED, source="log")

    scaled = scale_load(workload, factor)

    first, last = workload.submit_time[0], workload.submit_time[-1]
    assert scaled.submit_time[0] == first
    assert math.isclose(
        scaled.submit_time[-1] - first, (last - first) / factor, rel_tol=1e-9, abs_tol=1e-9
    )
    assert scaled.n_hosts.tolist() == workload.n_hosts.tolist()


@given(logs, st.integers(1, 400), st.integers(1, 100))
def test_extracts_are_disjoint_and_hold_what_they_say(
    rows: list[dict[str, Any]], length: int, step: int
) -> None:
    workload = read_swf(text_of(rows), AS_RECORDED, source="log")
    submit = workload.submit_time
    span = float(submit[-1] - submit[0])
    if not length <= span <= 100 * step:
        return

    found = find_extracts(workload, 4, length=length, step=step, measure="load")

    starts = [one.start for one in found]
    assert all(b - a >= length for a, b in pairwise(starts))
    for one in found:
        if one.n_jobs:
            assert len(extract(workload, one.start, one.length)) == one.n_jobs


@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 40)), max_size=30),
    st.integers(1, 4),
    st.integers(1, 10),
)
def test_flurries_are_what_counting_by_hand_finds(
    jobs: list[tuple[int, int]], n_jobs: int, window: int
) -> None:
    user = np.array([who for who, _ in jobs], dtype=float)
    submit = np.array([date for _, date in jobs], dtype=float)

    found = find_flurries(user, submit, n_jobs=n_jobs, window=window)

    expected = set()
    for who, date in jobs:
        crowd = [
            i
            for i, (other, d) in enumerate(jobs)
            if other == who >= 0 and date <= d < date + window
        ]
        if len(crowd) > n_jobs:
            expected |= set(crowd)
    assert {row for one in found for row in one.rows.tolist()} == expected
