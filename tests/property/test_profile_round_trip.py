"""Any profile that is written as Batsim's JSON is read back as it was, whatever it is made of."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from noctule.formats.batsim import read_batsim
from noctule.formats.batsim_writing import batsim_text
from noctule.workload import (
    Compute,
    DataStaging,
    Delay,
    HomogeneousTask,
    Job,
    ParallelTask,
    Profile,
    Receive,
    Request,
    Send,
    Sequence,
    StorageTransfer,
    Workload,
)

N_HOSTS = 3
amounts = st.one_of(st.integers(0, 10**15).map(float), st.floats(0, 1e300))
positive = amounts.filter(lambda value: value > 0)
codes = st.integers(0, 255)
labels = st.text(max_size=5)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
# A task that computes the same everywhere and sends nothing is read as a computation.
tasks = st.builds(
    ParallelTask,
    st.tuples(*[amounts] * N_HOSTS),
    st.just(()) | st.tuples(*[amounts] * N_HOSTS**2).filter(any),
    codes,
).filter(lambda task: bool(task.bytes) or len(set(task.flops)) > 1)
leaves: st.SearchStrategy[Profile] = st.one_of(
    st.builds(Delay, positive, codes),
    st.builds(Compute, amounts, codes, st.just(False)),
    tasks,
    st.builds(
        HomogeneousTask,
        amounts,
        positive,
        st.sampled_from(["each", "spread", "spread_flops"]),
        codes,
    ),
    st.builds(StorageTransfer, amounts, amounts, labels, st.booleans(), codes),
    st.builds(DataStaging, amounts, labels, labels, codes),
    st.builds(Send, st.dictionaries(st.text(max_size=3), values, max_size=3), positive, codes),
)


def wholes(parts: st.SearchStrategy[Profile]) -> st.SearchStrategy[Profile]:
    some = st.none() | parts
    return st.one_of(
        st.builds(
            Sequence,
            st.lists(parts, min_size=1, max_size=4).map(tuple),
            st.integers(1, 2**32 - 1),
            codes,
        ),
        st.builds(Receive, st.just("a.*"), some, some, some, positive, codes),
    )


profiles = st.recursive(leaves, wholes, max_leaves=8)


@given(st.lists(profiles, min_size=1, max_size=4))
def test_what_is_written_is_read_back(made: list[Profile]) -> None:
    jobs = [
        Job(i, float(i), Request(N_HOSTS), profile, profile_name=f"p{i}")
        for i, profile in enumerate(made)
    ]
    text = "".join(batsim_text(Workload.from_jobs(jobs)))

    again = read_batsim(text.encode(), source="w.json")

    assert [job.profile for job in again] == made
    assert "".join(batsim_text(again)) == text
