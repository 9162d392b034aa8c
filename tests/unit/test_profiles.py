"""Profiles made in Python: what they refuse, how workloads keep them, what the core gets."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from noctule import _core
from noctule.columns import KIND_DELAY, KIND_PROGRAM, KIND_UNSUPPORTED
from noctule.errors import DecisionError, InputError
from noctule.formats.batsim import read_batsim
from noctule.formats.batsim_writing import batsim_text
from noctule.messages import JobSubmitted, RegisterJob, RejectJob, SimulationStarted
from noctule.platform import Platform
from noctule.profile_facts import kind_of, name_of, rank_counts, size_of, within
from noctule.programs import Naming, Programs
from noctule.simulation import simulate
from noctule.traces import anonymise, at_speed, merge, scale_load, scale_runtimes, select
from noctule.workload import (
    Columns,
    Compute,
    DataStaging,
    Delay,
    HomogeneousTask,
    Job,
    MpiTrace,
    ParallelTask,
    Profile,
    Receive,
    Request,
    Send,
    Sequence,
    StorageTransfer,
    UnsupportedProfile,
    Usage,
    UsageTrace,
    Workload,
)

TASK = ParallelTask((1.0, 2.0), (0.0, 3.0, 0.0, 0.0))
TRACE = UsageTrace(((Usage(0.5, 10.0),), ()))
MPI = MpiTrace(("0 init\n0 finalize\n", "1 init\n1 finalize\n"))
EVERY: list[Profile] = [
    TASK,
    HomogeneousTask(5.0, 6.0, "spread", 3),
    StorageTransfer(1.0, 2.0, "nfs", spread=True),
    DataStaging(7.0, "a", "b"),
    Send({"n": 1}),
    TRACE,
    MPI,
    Sequence((Delay(3.0), TASK, Compute(4.0, spread=True)), 1000),
    Receive("go", success=TASK, timeout=Delay(1.0)),
]


def a_job(job_id: Any = 1, profile: Profile = TASK, n_hosts: int = 2, **fields: Any) -> Job:
    return Job(job_id, 0.0, Request(n_hosts), profile, **fields)


def refusal(call: Callable[..., object], *arguments: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        call(*arguments, **options)
    return str(caught.value)


# The profiles themselves


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: ParallelTask(()), "ParallelTask: flops: got none, expected one for each host"),
        (
            lambda: ParallelTask((1, math.nan)),
            "ParallelTask: flops[1]: got nan, expected a number >= 0",
        ),
        (
            lambda: ParallelTask((1,), (-1,)),
            "ParallelTask: bytes[0]: got -1, expected a number >= 0",
        ),
        (
            lambda: ParallelTask((1, 2), (1, 2, 3)),
            "ParallelTask: bytes: got 3 numbers, expected 4, as there are 2 in flops",
        ),
        (
            lambda: HomogeneousTask(1, math.inf),
            "HomogeneousTask: bytes: got inf, expected a number >= 0",
        ),
        (
            lambda: HomogeneousTask(1, 1, "total"),
            "HomogeneousTask: amounts: got 'total', "
            "expected one of 'each', 'spread', 'spread_flops'",
        ),
        (lambda: DataStaging("3", "a", "b"), "DataStaging: bytes: got '3', expected a number >= 0"),  # type: ignore[arg-type]
        (lambda: Send({}, -1), "Send: seconds: got -1, expected a number >= 0"),
        (
            lambda: UsageTrace(((Usage(1.5, 1),),)),
            "UsageTrace: got a share of 1.5 and 1 flops, "
            "expected a share from 0 to 1 and flops >= 0",
        ),
        (lambda: UsageTrace(()), "UsageTrace: ranks: got none, expected at least one"),
        (lambda: MpiTrace(()), "MpiTrace: ranks: got none, expected at least one"),
        (lambda: MpiTrace(("",), ("a", "b")), "MpiTrace: sources: got 2, expected 1"),
        (lambda: Sequence(()), "Sequence: parts: got none, expected at least one"),
        (lambda: Sequence((3,)), "Sequence: part 0: got 3, expected a profile"),  # type: ignore[arg-type]
        (
            lambda: Sequence((TASK,), 0),
            "Sequence: repeat: got 0, expected a whole number from 1 to 4294967295",
        ),
        (
            lambda: Sequence((TASK, Delay(1.0), ParallelTask((1, 2, 3)))),
            "Sequence: part 2: got a profile for 3 hosts, expected one for 2, as those before it",
        ),
        (
            lambda: Receive(poll_seconds=0),
            "Receive: poll_seconds: got 0, expected a positive number",
        ),
    ],
)
def test_profile_that_makes_no_sense_is_refused(
    make: Callable[[], Profile], complaint: str
) -> None:
    assert refusal(make) == complaint


def test_arrays_and_lists_become_tuples_of_numbers() -> None:
    assert ParallelTask(np.array([1, 2]), [0, 3, 0, 0]) == TASK  # type: ignore[arg-type]


def test_profiles_know_their_size() -> None:
    assert [size_of(profile) for profile in EVERY] == [2, *[None] * 6, 2, 2]


def test_kind_of_a_profile_is_that_of_the_worst_of_its_parts() -> None:
    assert {kind_of(profile) for profile in EVERY} == {KIND_PROGRAM}
    assert kind_of(Delay(1.0)) == KIND_DELAY
    odd = Sequence((Receive(failure=UnsupportedProfile("odd", {})),))
    assert kind_of(odd) == KIND_UNSUPPORTED


def test_parts_come_before_wholes_and_once() -> None:
    inner = Sequence((TASK, TASK))

    assert list(within(Sequence((inner, TASK, inner)))) == [
        TASK,
        inner,
        Sequence((inner, TASK, inner)),
    ]


def test_ranks_of_all_traces_in_a_profile_are_counted() -> None:
    assert rank_counts(Sequence((TRACE, Receive(success=MpiTrace(("", "", "")))))) == {2, 3}


def test_profiles_made_of_others_are_equal_if_all_parts_are() -> None:
    one = Sequence((Receive("a", success=Delay(1.0)), TASK))

    assert one == Sequence((Receive("a", success=Delay(1.0)), TASK))
    assert hash(one) == hash(Sequence((Receive("a", success=Delay(1.0)), TASK)))
    for other in (
        Sequence((Receive("a", success=Delay(2.0)), TASK)),
        Sequence((Receive("a", failure=Delay(1.0)), TASK)),
        Sequence((Receive("b", success=Delay(1.0)), TASK)),
        Sequence((TASK, Receive("a", success=Delay(1.0)))),
        Sequence((Receive("a", success=Delay(1.0)), TASK), 2),
        Sequence((Receive("a", success=Delay(1.0)),)),
        Delay(1.0),
        Receive("a"),
    ):
        assert one != other
        assert other != one


@pytest.mark.parametrize("profile", EVERY, ids=name_of)
def test_profiles_can_be_pickled(profile: Profile) -> None:
    assert pickle.loads(pickle.dumps(profile)) == profile


# In workloads


@pytest.mark.parametrize("profile", EVERY, ids=name_of)
def test_workload_gives_back_the_profiles_of_its_jobs(profile: Profile) -> None:
    workload = Workload.from_jobs([a_job(1, profile), a_job(2, profile), a_job(3, Delay(1.0))])

    assert workload[0].profile is profile
    assert workload[1].profile is profile
    assert workload.table.kind.tolist() == [KIND_PROGRAM, KIND_PROGRAM, KIND_DELAY]
    assert workload.table.program_index(0) == workload.table.program_index(1)
    assert workload.table.program_index(2) is None
    assert workload.unsupported() == []


def test_return_code_of_a_program_makes_its_job_fail() -> None:
    workload = Workload.from_jobs([a_job(1, Sequence((Delay(1.0),), return_code=3))])

    assert workload.table.failing.tolist() == [1]


def test_job_of_another_size_is_refused() -> None:
    assert refusal(Workload.from_jobs, [a_job(n_hosts=3)]) == (
        "workload w0: job 1: n_hosts: got 3, expected 2, the size of its profile"
    )


def test_part_that_makes_no_sense_is_refused() -> None:
    assert refusal(Workload.from_jobs, [a_job(1, Sequence((Delay(-1.0),)))]) == (
        "workload w0: profile 'delay:-1.0': delay: got -1, expected a number >= 0"
    )
    odd = Send({"what": object()})
    assert "expected what JSON can hold" in refusal(Workload.from_jobs, [a_job(1, odd)])
    assert "return_code" in refusal(
        Workload.from_jobs, [a_job(1, Sequence((Delay(1.0, return_code=2**31),)))]
    )


def test_ranks_run_where_the_job_says() -> None:
    late = Job(1, 5.0, Request(2), TRACE, rank_hosts=(1, 0))

    workload = Workload.from_jobs([late, a_job(2)])

    assert [job.rank_hosts for job in workload] == [(), (1, 0)]
    assert [workload.table.rank_hosts(i) for i in range(2)] == [[], [1, 0]]
    assert refusal(Workload.from_jobs, [a_job(1, TRACE, rank_hosts=(0, 2))]) == (
        "workload w0: job 1: rank_hosts[1]: got 2, expected a whole number from 0 to 1"
    )
    assert refusal(Workload.from_jobs, [a_job(1, TRACE, rank_hosts=(0,))]) == (
        "workload w0: job 1: rank_hosts: got 1 numbers, expected 2, as its trace has 2 ranks"
    )


def test_kind_without_a_profile_is_refused() -> None:
    columns = Columns([1], [0.0], [2], [0.0], kind=[KIND_PROGRAM])  # type: ignore[list-item]

    assert refusal(Workload, columns) == (
        "workload w0: job 1: kind: got 2, expected that of its profile, ''"
    )


# Names


def test_parts_have_the_names_of_the_workload_or_others() -> None:
    nap, other, task = Delay(3.0), Delay(3.0), ParallelTask((1.0, 2.0))
    naming = Naming({"nap": nap, "ParallelTask": TASK})

    assert naming.of(nap) == "nap"
    assert naming.of(other) == "delay:3.0"
    assert naming.of(Delay(3.0)) == "delay:3.0"
    assert naming.of(task) == "ParallelTask#2"
    assert naming.of(task) == "ParallelTask#2"
    assert list(naming.profiles) == ["nap", "ParallelTask", "delay:3.0", "ParallelTask#2"]


def test_parts_are_in_the_table_once() -> None:
    programs = Programs("here", {})
    whole = Sequence((TASK, TASK, Delay(1.0)))

    assert programs.add(whole) == 2
    assert programs.add(Sequence((whole, TASK))) == 3
    assert programs.add(TASK) == 0
    assert len(programs.table) == 4


def test_native_table_refuses_parts_that_are_not_there() -> None:
    table = _core.ProgramTable()

    assert refusal(table.add_sequence, "s", 0, [0], 1) == (
        "program s: got part 0, expected one of the 0 programs before it"
    )


# Tools


def test_tools_that_do_not_change_runtimes_keep_programs() -> None:
    workload = Workload.from_jobs([a_job(1, EVERY[7]), a_job(2, TRACE, rank_hosts=(1, 1))])

    for changed in (scale_load(workload, 2), select(workload, users=None), merge([workload] * 2)):
        assert changed[0].profile == EVERY[7]
        assert [job.rank_hosts for job in changed if job.profile == TRACE][-1] == (1, 1)


@pytest.mark.parametrize(
    "change",
    [
        lambda workload: scale_runtimes(workload, 2),
        lambda workload: at_speed(workload, 2.0),
        lambda workload: anonymise(workload, seed=1),
    ],
)
def test_tools_that_need_runtimes_refuse_programs(change: Callable[[Workload], object]) -> None:
    assert refusal(change, Workload.from_jobs([a_job(3)])) == (
        "workload w0: job 3: a profile whose run time is not known, "
        "expected delays and computations"
    )


def test_merged_sequences_have_the_parts_of_their_own_workload() -> None:
    def with_nap(seconds: float) -> Workload:
        text = (
            '{"nb_res": 1, "profiles": {"nap": {"type": "delay", "delay": %r},'
            ' "s": {"type": "composed", "seq": ["nap"]}},'
            ' "jobs": [{"id": 1, "subtime": 0, "res": 1, "profile": "s"}]}'
        )
        return read_batsim((text % seconds).encode(), source="w.json")

    merged = merge([with_nap(1), with_nap(2)])
    again = read_batsim("".join(batsim_text(merged)).encode(), source="again.json")

    expected = [Sequence((Delay(1.0),)), Sequence((Delay(2.0),))]
    assert [job.profile for job in merged] == expected
    assert [job.profile for job in again] == expected


def test_trace_that_is_in_no_file_cannot_be_written() -> None:
    assert refusal(lambda: list(batsim_text(Workload.from_jobs([a_job(1, TRACE)])))) == (
        "profile 'UsageTrace:1': got a trace that is in no file, "
        "expected one that was read from files, which a workload can name"
    )


def test_task_of_many_hosts_that_send_nothing_is_written_without_a_matrix() -> None:
    task = ParallelTask(range(100_000))  # type: ignore[arg-type]

    text = "".join(batsim_text(Workload.from_jobs([a_job(1, task, 100_000)])))

    assert len(text) < 10**6
    assert read_batsim(text.encode(), source="w.json")[0].profile == task


# In runs


class _Registering:
    """Adds a job of its own, and rejects all that are submitted."""

    def __init__(self, *jobs: Job) -> None:
        self.jobs = jobs

    def decide(self, view: Any, events: Any) -> Any:
        for event in events:
            if isinstance(event, SimulationStarted):
                yield from (RegisterJob(job) for job in self.jobs)
            elif isinstance(event, JobSubmitted):
                yield RejectJob(event.job)


def test_registered_jobs_take_their_programs_with_them() -> None:
    workload = Workload.from_jobs([a_job(1)])
    jobs = [
        a_job(2, EVERY[7]),
        a_job(3, EVERY[7]),
        a_job(4, TRACE, rank_hosts=(0, 1)),
        a_job(5, Delay(1.0)),
    ]

    schedule = simulate(Platform.homogeneous(4), workload, _Registering(*jobs), machine=True)

    assert schedule.column("state").tolist() == ["rejected"] * 5
    assert len(workload.table.programs()) == 1


def test_registered_job_of_another_size_is_refused() -> None:
    policy = _Registering(a_job(2, n_hosts=3))
    with pytest.raises(DecisionError, match="got 3, expected 2, the size of its profile"):
        simulate(Platform.homogeneous(4), Workload.from_jobs([]), policy, machine=True)
