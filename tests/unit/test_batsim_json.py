"""Batsim's JSON workloads: what is understood, what is kept, what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from noctule.columns import KIND_PROGRAM
from noctule.errors import InputError
from noctule.formats import load_workload
from noctule.formats.batsim import read_batsim
from noctule.workload import Compute, Delay, Dependency, Profile, UnsupportedProfile, Workload

NAP = {"type": "delay", "delay": 10}


def a_job(job_id: Any = 1, **fields: Any) -> dict[str, Any]:
    return {"id": job_id, "subtime": 0, "res": 1, "profile": "nap", **fields}


def read(*jobs: Any, profiles: dict[str, Any] | None = None, **top: Any) -> Workload:
    """Read jobs as the file w.json; the profile nap is always there."""
    named = {"nap": NAP, **(profiles or {})}
    document = {"nb_res": 4, "profiles": named, "jobs": list(jobs), **top}
    return read_batsim(json.dumps(document).encode(), source="w.json")


def read_profile(**fields: Any) -> Profile:
    """Read one profile, and return what a job that asks for two hosts makes of it."""
    return read(a_job(profile="p", res=2), profiles={"p": fields})[0].profile


def refusal(*jobs: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(*jobs, **options)
    return str(caught.value)


def refusal_of_text(text: bytes) -> str:
    with pytest.raises(InputError) as caught:
        read_batsim(text, source="w.json")
    return str(caught.value)


# Jobs


def test_job_is_read() -> None:
    job = read(a_job(7, subtime=3.5, res=4, walltime=60))[0]

    assert (job.id, job.submit_time, job.request.n_hosts, job.walltime) == (7, 3.5, 4, 60.0)
    assert (job.profile, job.profile_name, job.extra) == (Delay(10.0), "nap", {})


@pytest.mark.parametrize("walltime", [{}, {"walltime": -1}, {"walltime": -1.0}])
def test_missing_walltime_and_minus_one_mean_none(walltime: dict[str, float]) -> None:
    assert read(a_job(**walltime))[0].walltime == math.inf


def test_largest_request_is_read() -> None:
    assert read(a_job(res=2**31 - 1)).n_hosts.tolist() == [2**31 - 1]


def test_ids_are_numbers_if_all_of_them_can_be() -> None:
    assert read(a_job(3), a_job("12"), a_job("-4")).job_ids.tolist() == [-4, 12, 3]


@pytest.mark.parametrize("odd", ["a", "03", " 1", "1.0", "-0", "9223372036854775808"])
def test_ids_are_all_text_if_one_has_to_be(odd: str) -> None:
    assert sorted(read(a_job(3), a_job(odd)).job_ids.tolist()) == sorted(["3", odd])


def test_full_ids_lose_the_name_of_their_own_workload() -> None:
    workload = read(a_job("w0!1"), a_job("w0!!2"), a_job(3), a_job("w04"))

    assert workload.job_ids.tolist() == ["1", "2", "3", "w04"]


def test_full_profile_names_lose_the_name_of_their_own_workload() -> None:
    assert read(a_job(profile="w0!nap"))[0].profile_name == "nap"


def test_jobs_of_the_same_time_are_in_batsims_order() -> None:
    # Batsim compares full ids as text: w0!10 is before w0!2
    workload = read(a_job(2), a_job(10), a_job(1, subtime=5), a_job(3))

    assert workload.job_ids.tolist() == [10, 2, 3, 1]
    rules = {entry.rule: entry.n_jobs for entry in workload.reading}
    assert rules == {
        "jobs read": 4,
        "order: sorted by submit time, then by id as text": 4,
        "jobs kept": 4,
    }


def test_times_are_not_shifted() -> None:
    assert read(a_job(subtime=100)).submit_time.tolist() == [100]


def test_unknown_fields_of_a_job_are_kept() -> None:
    job = read(a_job(team="blue", deep={"a": [1, None]}), a_job(2))[0]

    assert job.extra == {"team": "blue", "deep": {"a": [1, None]}}


def test_fields_of_noctule_are_understood_and_kept() -> None:
    own = {
        "user": "ada",
        "group": 7,
        "queue": None,
        "cancel_time": 99,
        "launch_delay": 1.5,
        "epilogue_delay": 2,
        "dependencies": [{"job": "w0!1", "think_time": 30}, {"job": 3}],
    }

    job = read(a_job(1), a_job(3), a_job(4, **own))[2]

    assert (job.user, job.group, job.queue) == ("ada", 7, None)
    assert (job.cancel_time, job.launch_delay, job.epilogue_delay) == (99.0, 1.5, 2.0)
    assert job.dependencies == (Dependency(1, 30.0), Dependency(3, 0.0))
    assert job.extra == own


def test_workload_without_jobs_is_read() -> None:
    assert len(read()) == 0


def test_other_fields_of_the_file_are_headers() -> None:
    assert read(description="a test", version=3).headers == {
        "nb_res": 4,
        "description": "a test",
        "version": 3,
    }


# Profiles


@pytest.mark.parametrize("name", ["delay", "DelayProfile"])
def test_delay_is_read(name: str) -> None:
    assert read_profile(type=name, delay=2.5) == Delay(2.5)


def test_return_code_is_read() -> None:
    assert read_profile(type="delay", delay=1, ret=3) == Delay(1.0, return_code=3)
    assert read_profile(type="parallel_homogeneous", cpu=1, com=0, ret=2) == Compute(1.0, 2)


@pytest.mark.parametrize("name", ["parallel_homogeneous", "ParallelTaskHomogeneousProfile"])
def test_homogeneous_task_computes_its_amount_on_every_host(name: str) -> None:
    assert read_profile(type=name, cpu=8e8, com=0) == Compute(8e8)


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "parallel_homogeneous_total"},
        {
            "type": "ParallelTaskHomogeneousProfile",
            "generation_strategy": "DefinedAmountsSpreadUniformly",
        },
    ],
    ids=["v4", "v5"],
)
def test_total_amount_is_shared_among_the_hosts_of_each_job(fields: dict[str, Any]) -> None:
    profiles = {"tot": {**fields, "cpu": 12, "com": 0}}

    workload = read(
        a_job(1, res=4, profile="tot"), a_job(2, res=3, profile="tot"), profiles=profiles
    )

    # 12 / 4 and 12 / 3
    assert [job.profile for job in workload] == [Compute(3.0), Compute(4.0)]
    assert [job.profile_name for job in workload] == ["tot", "tot"]
    assert workload.profiles["tot"] == Compute(12.0, spread=True)


def test_unknown_strategy_means_the_amount_of_each_host() -> None:
    profile = read_profile(
        type="ParallelTaskHomogeneousProfile", cpu=12, com=0, generation_strategy="Whatever"
    )

    assert profile == Compute(12.0)


def test_types_that_nobody_knows_are_kept_and_told() -> None:
    fields = {"type": "invented", "x": {"y": 1}}

    workload = read(a_job(5, profile="p", res=2), profiles={"p": fields})

    assert workload[0].profile == UnsupportedProfile("invented", fields)
    assert workload.unsupported() == [(5, "invented")]
    rules = {entry.rule: entry.n_jobs for entry in workload.reading}
    assert rules["profile: kept, of a type that cannot be simulated"] == 1


def test_profiles_are_kept_with_all_their_fields() -> None:
    profiles = {"p": {**NAP, "np": 4, "command": "./ft"}, "unused": NAP}

    workload = read(a_job(profile="p"), profiles=profiles)

    assert workload.raw_profiles == {"nap": NAP, **profiles}
    assert workload.profiles.keys() == {"nap", "p", "unused"}


# Refusals


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("walltime", -3, "got -3, expected a positive number"),
        ("walltime", 0, "got 0, expected a positive number"),
        ("walltime", "1h", "got '1h', expected a positive number"),
        ("walltime", None, "got null, expected a positive number"),
        ("subtime", -1, "got -1, expected a number >= 0"),
        ("subtime", True, "got true, expected a number >= 0"),
        ("subtime", 10**400, f"got 1{'0' * 39}..., expected a number >= 0"),
        ("res", 0, "got 0, expected a whole number >= 1"),
        ("res", 2.0, "got 2.0, expected a whole number >= 1"),
        ("res", 2**31, "got 2147483648, expected a whole number up to 2147483647"),
        ("id", 1.5, "got 1.5, expected a whole number or a string"),
        ("id", "", "got '', expected a whole number or a string"),
        ("id", "w1!3", "got 'w1!3', expected an id of workload w0"),
        ("id", "w0!3!4", "got 'w0!3!4', expected an id of workload w0"),
        ("id", "w0!", "got 'w0!', expected an id of workload w0"),
        ("profile", 3, "got 3, expected a string"),
        ("profile", "foo", "got 'foo', expected one of the 2 profiles"),
        ("profile", "w1!nap", "got 'w1!nap', expected a profile of workload w0"),
        ("user", 1.5, "got 1.5, expected a string or a whole number"),
        ("group", [], "got [], expected a string or a whole number"),
        ("queue", True, "got true, expected a string or a whole number"),
        ("cancel_time", -1, "got -1, expected a number >= 0"),
        ("launch_delay", "x" * 50, f"got '{'x' * 40}...', expected a number >= 0"),
        ("epilogue_delay", None, "got null, expected a number >= 0"),
        ("dependencies", {}, "got {}, expected an array"),
    ],
)
def test_bad_field_of_a_job_is_refused(field: str, value: Any, complaint: str) -> None:
    message = refusal(a_job(9), a_job(**{field: value}), profiles={"other": NAP})

    assert message == f"w.json: jobs[1].{field}: {complaint}"


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("id", "a whole number or a string"),
        ("subtime", "a number >= 0"),
        ("res", "a whole number >= 1"),
        ("profile", "a string"),
    ],
)
def test_missing_field_of_a_job_is_refused(field: str, expected: str) -> None:
    job = a_job()
    del job[field]

    assert refusal(job) == f"w.json: jobs[0].{field}: missing, expected {expected}"


def test_only_profile_is_named_as_such() -> None:
    message = refusal(a_job(profile="foo"))

    assert message == "w.json: jobs[0].profile: got 'foo', expected the only profile, 'nap'"


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ([3], "[0]: got 3, expected an object"),
        ([{}], "[0].job: missing, expected a whole number or a string"),
        ([{"job": 1}, {"job": 8}], "[1].job: got '8', expected the id of a job"),
        ([{"job": 1, "think_time": -2}], "[0].think_time: got -2, expected a number >= 0"),
        ([{"job": 1, "after": 2}], "[0].after: got 2, expected only job and think_time"),
    ],
)
def test_bad_dependency_is_refused(value: Any, complaint: str) -> None:
    message = refusal(a_job(1), a_job(2, dependencies=value))

    assert message == f"w.json: jobs[1].dependencies{complaint}"


def test_jobs_that_wait_for_each_other_are_refused() -> None:
    message = refusal(a_job(1, dependencies=[{"job": 2}]), a_job(2, dependencies=[{"job": 1}]))

    assert message in {f"w.json: job {i}: depends on itself, in a ring" for i in (1, 2)}


@pytest.mark.parametrize("again", [3, "3", "w0!3"])
def test_id_used_twice_is_refused(again: int | str) -> None:
    message = refusal(a_job(3), a_job(4), a_job(again))

    got = repr(again)
    expected = "an id that jobs[0] does not have already"
    assert message == f"w.json: jobs[2].id: got {got}, expected {expected}"


def test_job_that_is_not_an_object_is_refused() -> None:
    assert refusal(a_job(), [1, 2]) == "w.json: jobs[1]: got [1,2], expected an object"


def test_job_of_another_size_than_its_parallel_task_is_refused() -> None:
    task = {"type": "parallel", "cpu": [1, 1, 1], "com": [0] * 8 + [5]}

    message = refusal(a_job(res=2, profile="pt"), profiles={"pt": task})

    assert message == "w.json: jobs[0].res: got 2, expected 3, the size of profile 'pt'"


@pytest.mark.parametrize(
    ("profile", "complaint"),
    [
        (7, ": got 7, expected an object"),
        ({}, ".type: missing, expected a string"),
        ({"type": "delay"}, ".delay: missing, expected a positive number"),
        ({"type": "delay", "delay": 0}, ".delay: got 0, expected a positive number"),
        ({**NAP, "ret": -1}, ".ret: got -1, expected a whole number >= 0"),
        ({"type": "parallel_homogeneous", "cpu": 1}, ".com: missing, expected a number >= 0"),
        (
            {"type": "parallel_homogeneous_total", "cpu": -1, "com": 0},
            ".cpu: got -1, expected a number >= 0",
        ),
        (
            {"type": "parallel", "cpu": 4, "com": []},
            ".cpu: got 4, expected an array of numbers >= 0",
        ),
        ({"type": "parallel", "cpu": [], "com": []}, ".cpu: got [], expected at least one number"),
        (
            {"type": "parallel", "cpu": [1, "x"], "com": []},
            ".cpu[1]: got 'x', expected a number >= 0",
        ),
        (
            {"type": "parallel", "cpu": [1, 1], "com": [0]},
            ".com: got [0], expected 4 numbers, as there are 2 in cpu",
        ),
        ({"type": "parallel", "cpu": [1]}, ".com: missing, expected an array of numbers >= 0"),
    ],
)
def test_bad_profile_is_refused(profile: Any, complaint: str) -> None:
    assert refusal(profiles={"a b": profile}) == f"w.json: profiles['a b']{complaint}"


def test_profile_given_twice_is_refused() -> None:
    text = b'{"nb_res": 1, "jobs": [], "profiles": {"a": {"type": "x"}, "a": {"type": "y"}}}'

    assert refusal_of_text(text) == "w.json: profiles: got 'a' twice, expected it once"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{}", "nb_res: missing, expected a whole number >= 1"),
        ('{"nb_res": 0}', "nb_res: got 0, expected a whole number >= 1"),
        ('{"nb_res": 1}', "profiles: missing, expected an object"),
        ('{"nb_res": 1, "profiles": []}', "profiles: got [], expected an object"),
        ('{"nb_res": 1, "profiles": {}}', "jobs: missing, expected an array"),
        ('{"nb_res": 1, "profiles": {}, "jobs": {}}', "jobs: got {}, expected an array"),
        ("[1, 2]", "got [1,2], expected an object"),
        ('{"a": 1,\n "b": ?}', "line 2, column 7: not valid JSON: invalid character"),
        ('{"a": 1} x', "line 1, column 11: not valid JSON: trailing characters"),
        ('{"a": NaN}', "line 1, column 7: not valid JSON: invalid character"),
        ('{"a": [1, 2', "not valid JSON: input data was truncated"),
        ('{"a": 1e999}', "not valid JSON: number out of range"),
        ("[" * 100_000, "not valid JSON: nested too deeply"),
    ],
)
def test_bad_file_is_refused(text: str, complaint: str) -> None:
    assert refusal_of_text(text.encode()) == f"w.json: {complaint}"


def test_bytes_that_are_not_text_are_refused() -> None:
    expected = "w.json: not valid JSON: got bytes that are not UTF-8 text"
    assert refusal_of_text(b'{"a": "\xff"}') == expected


# Batsim's own workloads

# jobs, and those of them that are neither delays nor computations
BUNDLED = {
    **{f"example_workload_hpc_seed{i}_jobs250": (250, 0) for i in range(1, 6)},
    "test_batsim_paper_workload_seed1": (800, 0),
    "test_case_study1": (3, 0),
    "test_delays": (10, 0),
    "test_energy_minimal_load0": (2, 0),
    "test_energy_minimal_load50": (2, 2),
    "test_energy_minimal_load100": (2, 0),
    "test_long_workload": (18, 5),
    "test_one_computation_job": (1, 0),
    "test_one_computation_job_tot": (1, 0),
    "test_one_delay_job": (1, 0),
    "test_same_submit_time": (18, 0),
    "test_sequence_delay": (10, 10),
    "test_smpi_collectives": (1, 1),
    "test_smpi_compute_only": (1, 1),
    "test_smpi_compute_only_2_jobs": (2, 2),
    "test_smpi_mapping": (4, 4),
    "test_smpi_mixed_comp_comm": (1, 1),
    "test_tuto_stencil": (9, 9),
    "test_usage_trace": (12, 11),
    "test_various_profile_types": (9, 7),
    "test_walltime": (44, 0),
    "test_walltime_smpi": (22, 22),
}


def test_every_bundled_workload_is_in_the_table(shared: Path) -> None:
    folder = shared / "vectors" / "batsim" / "inputs" / "workloads"

    assert {path.stem for path in folder.glob("*.json")} == BUNDLED.keys()


@pytest.mark.parametrize("stem", BUNDLED)
def test_bundled_workload_is_read_without_losing_a_field(shared: Path, stem: str) -> None:
    path = shared / "vectors" / "batsim" / "inputs" / "workloads" / f"{stem}.json"
    document = msgspec.json.decode(path.read_bytes())

    workload = load_workload(path)

    n_programs = int((workload.table.kind == KIND_PROGRAM).sum())
    assert (len(workload), n_programs) == BUNDLED[stem]
    assert workload.unsupported() == []
    assert workload.raw_profiles == document["profiles"]
    raw_jobs = {str(raw["id"]): raw for raw in document["jobs"]}
    for job in workload:
        walltime = -1 if job.walltime == math.inf else job.walltime
        rebuilt = {
            "subtime": job.submit_time,
            "res": job.request.n_hosts,
            "profile": job.profile_name,
            "walltime": walltime,
            **job.extra,
        }
        raw = {"walltime": -1, **raw_jobs[str(job.id)]}
        del raw["id"]
        assert rebuilt == raw


def test_order_of_a_bundled_workload_is_that_of_a_recorded_run(shared: Path) -> None:
    recorded = shared / "vectors" / "batsim" / "v4" / "tiny_filler_samesubmit" / "protocol.jsonl"
    messages = [json.loads(json.loads(line)["raw"]) for line in recorded.read_text().splitlines()]
    submitted = [
        event["data"]["job_id"]
        for message in messages
        for event in message["events"]
        if event["type"] == "JOB_SUBMITTED"
    ]

    path = shared / "vectors" / "batsim" / "inputs" / "workloads" / "test_same_submit_time.json"
    workload = load_workload(path)

    assert [f"w0!{job_id}" for job_id in workload.job_ids.tolist()] == submitted


def test_converted_log_has_the_jobs_of_the_log(shared: Path) -> None:
    converted = load_workload(shared / "vectors" / "batsim" / "inputs" / "kth_compute.json.xz")
    log = load_workload(
        shared / "traces" / "KTH-SP2-1996-2.1-cln.swf.xz", processors="allocated", walltime_factor=2
    )

    assert converted.submit_time.tolist() == log.submit_time.tolist()
    assert converted.n_hosts.tolist() == log.n_hosts.tolist()
    assert converted.walltime.tolist() == log.walltime.tolist()
