"""Any log that is written in the Standard Workload Format is read back as it was."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from noctule.formats.swf import FIELDS, SwfRules, read_swf
from noctule.workload import Compute

whole = st.integers(0, 10**9)
reals = st.floats(0.001, 1e9, allow_nan=False)
blanks = st.sampled_from([" ", "\t", "   ", " \t "])
rows = st.fixed_dictionaries(
    {
        "submit time": whole | reals,
        "run time": reals | st.integers(1, 10**9),
        "requested processors": st.integers(1, 2**31 - 1),
        "requested time": st.integers(1, 10**9),
        "user": whole,
        "wait time": whole | reals,
    }
)


@given(st.lists(rows, min_size=1, max_size=8), blanks, st.sampled_from(["\n", "\r\n", "\n; x\n\n"]))
def test_what_is_written_is_read_back(
    jobs: list[dict[str, Any]], blank: str, line_end: str
) -> None:
    lines = [
        blank.join(repr({**job, "job number": i}.get(name, -1)) for name in FIELDS)
        for i, job in enumerate(jobs)
    ]

    workload = read_swf(line_end.join(lines).encode(), SwfRules(walltime_factor=None), source="log")

    order = sorted(range(len(jobs)), key=lambda i: jobs[i]["submit time"])
    first = float(jobs[order[0]]["submit time"])
    assert workload.job_ids.tolist() == order
    for got, i in zip(workload, order, strict=True):
        job = jobs[i]
        assert got.submit_time == float(job["submit time"]) - first
        assert got.profile == Compute(float(job["run time"]))
        assert got.request.n_hosts == job["requested processors"]
        assert got.walltime == job["requested time"]
        assert got.user == job["user"]
        assert got.extra["wait_time"] == job["wait time"]
