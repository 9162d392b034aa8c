"""Batsim's profiles: each type under each of its names, and what is refused, with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from batsim_profiles import NAP, PAIR, SPREAD, TRIO, profile_of, read, refusal

from noctule.columns import KIND_COMPUTE, KIND_PROGRAM
from noctule.formats import load_workload
from noctule.formats.saving import save_workload
from noctule.workload import (
    Compute,
    DataStaging,
    Delay,
    HomogeneousTask,
    ParallelTask,
    Receive,
    Send,
    Sequence,
    StorageTransfer,
)


@pytest.mark.parametrize("kind", ["parallel", "msg_par", "ParallelTaskProfile"])
def test_parallel_task(kind: str) -> None:
    assert profile_of(**{**PAIR, "type": kind}) == ParallelTask((4.0, 9.0), (0.0, 1.0, 2.0, 0.0))


def test_parallel_task_of_batsim_5_may_only_communicate() -> None:
    profile = profile_of(type="ParallelTaskProfile", com=[0, 1, 2, 0])

    assert profile == ParallelTask((0.0, 0.0), (0.0, 1.0, 2.0, 0.0))


@pytest.mark.parametrize("kind", ["parallel", "ParallelTaskProfile"])
def test_parallel_task_without_communication_is_a_computation_if_all_hosts_do_the_same(
    kind: str,
) -> None:
    same = {"type": kind, "cpu": [9, 9], "com": [0] * 4}

    assert profile_of(**same) == Compute(9.0)
    # on hosts of speeds 1 and 3 it takes max(4 / 1, 9 / 3) = 4, not 9 / 1
    assert profile_of(**{**same, "cpu": [4, 9]}) == ParallelTask((4.0, 9.0))
    assert profile_of(type="ParallelTaskProfile", cpu=[4, 9]) == ParallelTask((4.0, 9.0))


@pytest.mark.parametrize(
    ("fields", "amounts"),
    [
        ({"type": "parallel_homogeneous"}, "each"),
        ({"type": "msg_par_hg"}, "each"),
        ({"type": "parallel_homogeneous_total"}, "spread_flops"),
        ({"type": "msg_par_hg_tot"}, "spread_flops"),
        ({"type": "ParallelTaskHomogeneousProfile"}, "each"),
        ({"type": "ParallelTaskHomogeneousProfile", "generation_strategy": "no such"}, "each"),
        ({"type": "ParallelTaskHomogeneousProfile", "generation_strategy": SPREAD}, "spread"),
    ],
)
def test_homogeneous_task(fields: dict[str, Any], amounts: str) -> None:
    assert profile_of(**fields, cpu=8, com=3) == HomogeneousTask(8.0, 3.0, amounts)
    assert profile_of(**fields, cpu=0, com=3, ret=2) == HomogeneousTask(0.0, 3.0, amounts, 2)
    alone = read(**fields, cpu=8, com=0)
    assert alone.profiles["p"] == Compute(8.0, spread=amounts != "each")
    assert alone.table.kind.tolist() == [KIND_COMPUTE]


@pytest.mark.parametrize(
    "kind",
    ["parallel_homogeneous_pfs", "msg_par_hg_pfs", "ParallelTaskOnStorageHomogeneousProfile"],
)
def test_storage_transfer(kind: str) -> None:
    assert profile_of(type=kind, bytes_to_read=5) == StorageTransfer(5.0, 0.0, "pfs")
    assert profile_of(type=kind, bytes_to_write=6, storage="nfs") == StorageTransfer(
        0.0, 6.0, "nfs"
    )
    assert profile_of(type=kind, bytes_to_write=6, host="old") == StorageTransfer(0.0, 6.0, "old")
    spread = profile_of(type=kind, bytes_to_read=5, bytes_to_write=6, generation_strategy=SPREAD)
    assert spread == StorageTransfer(5.0, 6.0, "pfs", spread=True)


@pytest.mark.parametrize(
    "kind",
    ["parallel_homogeneous_pfs_multiple_tiers", "msg_par_hg_pfs_tiers", "msg_par_hg_pfs0"],
)
def test_storage_transfer_of_old_goes_one_way(kind: str) -> None:
    assert profile_of(type=kind, size=5) == StorageTransfer(0.0, 5.0, "pfs")
    for word in ("to_storage", "from_node_to_storage"):
        profile = profile_of(type=kind, size=5, direction=word, storage="s")
        assert profile == StorageTransfer(0.0, 5.0, "s")
    for word in ("from_storage", "from_storage_to_node"):
        profile = profile_of(type=kind, size=5, direction=word, ret=1)
        assert profile == StorageTransfer(5.0, 0.0, "pfs", return_code=1)


@pytest.mark.parametrize("kind", ["data_staging", "ParallelTaskDataStagingBetweenStoragesProfile"])
@pytest.mark.parametrize("amount", ["nb_bytes", "size"])
def test_data_staging(kind: str, amount: str) -> None:
    fields = {"type": kind, amount: 7, "from": "a", "to": "b"}

    assert profile_of(**fields) == DataStaging(7.0, "a", "b")


def test_send_and_its_usual_time() -> None:
    assert profile_of(type="send", msg={"a": [1]}) == Send({"a": [1]}, 1e-7)
    assert profile_of(type="send", msg={}, sleeptime=0.5) == Send({}, 0.5)


def test_receive_and_what_it_goes_on_with() -> None:
    fields = {"type": "recv", "regex": "go.*", "success": "nap", "timeout": "pair", "polltime": 1}

    assert profile_of(**fields, others={"pair": PAIR}) == Receive(
        "go.*", Delay(10.0), None, ParallelTask((4.0, 9.0), (0.0, 1.0, 2.0, 0.0)), 1.0
    )
    assert profile_of(type="recv", failure="") == Receive(".*", poll_seconds=0.005)


@pytest.mark.parametrize("kind", ["composed", "SequentialCompositionProfile"])
def test_sequence(kind: str) -> None:
    others = {"inner": {"type": kind, "seq": ["nap"]}}

    workload = read(type=kind, seq=["inner", "w0!nap", "inner"], repeat=3, others=others)

    inner = Sequence((Delay(10.0),))
    assert workload[0].profile == Sequence((inner, Delay(10.0), inner), 3)
    assert workload.table.kind.tolist() == [KIND_PROGRAM]
    assert profile_of(type=kind, seq=["nap"], nb=4) == Sequence((Delay(10.0),), 4)


def test_parts_are_the_profiles_of_the_workload_and_may_come_after_the_whole() -> None:
    workload = read(type="composed", seq=["late", "nap"], others={"late": {**NAP, "delay": 1}})

    profile = workload[0].profile
    assert isinstance(profile, Sequence)
    assert profile.parts[0] is workload.profiles["late"]
    assert list(workload.profiles) == ["nap", "p", "late"]


def test_sequences_that_double_at_every_level_are_read_compared_and_written(tmp_path: Path) -> None:
    levels = 90
    others = {f"l{i}": {"type": "composed", "seq": [f"l{i + 1}"] * 2} for i in range(levels)}
    others[f"l{levels}"] = NAP

    one, other = (read(type="composed", seq=["l0", "l0"], others=others) for _ in range(2))

    assert one[0].profile == other[0].profile
    assert repr(one[0].profile) == "Sequence(parts=(Sequence, Sequence), repeat=1)"
    save_workload(one, tmp_path / "w.json")
    assert load_workload(tmp_path / "w.json")[0].profile == one[0].profile


@pytest.mark.parametrize("kind", ["ForkJoinCompositionProfile", "invented"])
def test_sequence_with_a_part_that_cannot_run_cannot_run_either(kind: str) -> None:
    workload = read(type="composed", seq=["nap", "odd"], others={"odd": {"type": kind}})

    assert workload.unsupported() == [(1, kind)]


# Refusals


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({**PAIR, "cpu": [1, -2]}, ".cpu[1]: got -2, expected a number >= 0"),
        (
            {**PAIR, "com": [0, 1, 2]},
            ".com: got [0,1,2], expected 4 numbers, as there are 2 in cpu",
        ),
        ({**PAIR, "com": [0, 1, 2, "x"]}, ".com[3]: got 'x', expected a number >= 0"),
        ({**PAIR, "cpu": []}, ".cpu: got [], expected at least one number"),
        (
            {"type": "ParallelTaskProfile", "com": [1, 2, 3]},
            ".com: got [1,2,3], expected the square of a number of hosts, as there is no cpu",
        ),
        (
            {"type": "ParallelTaskProfile"},
            ".com: missing, expected the square of a number of hosts, as there is no cpu",
        ),
        (
            {"type": "parallel_homogeneous_pfs"},
            ".bytes_to_read: missing, expected it or bytes_to_write",
        ),
        (
            {"type": "parallel_homogeneous_pfs", "bytes_to_read": -1},
            ".bytes_to_read: got -1, expected a number >= 0",
        ),
        (
            {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1, "storage": 3},
            ".storage: got 3, expected a string",
        ),
        (
            {"type": "msg_par_hg_pfs0", "size": 1, "direction": "up"},
            ".direction: got 'up', expected to_storage or from_storage",
        ),
        ({"type": "data_staging", "nb_bytes": 1, "from": "a"}, ".to: missing, expected a string"),
        ({"type": "send", "msg": "hi"}, ".msg: got 'hi', expected an object"),
        (
            {"type": "send", "msg": {}, "sleeptime": 0},
            ".sleeptime: got 0, expected a positive number",
        ),
        ({"type": "recv", "polltime": -1}, ".polltime: got -1, expected a positive number"),
        ({"type": "recv", "success": "no"}, ".success: got 'no', expected the name of a profile"),
        (
            {"type": "composed"},
            ".seq: missing, expected an array of at least one name of a profile",
        ),
        (
            {"type": "composed", "seq": []},
            ".seq: got [], expected an array of at least one name of a profile",
        ),
        (
            {"type": "composed", "seq": ["nap", "w1!nap"]},
            ".seq[1]: got 'w1!nap', expected the name of a profile",
        ),
        ({"type": "composed", "seq": [7]}, ".seq[0]: got 7, expected the name of a profile"),
        (
            {"type": "composed", "seq": ["nap"], "repeat": 0},
            ".repeat: got 0, expected a whole number >= 1",
        ),
        (
            {"type": "composed", "seq": ["nap"], "repeat": 2**32},
            ": Sequence: repeat: got 4294967296, expected a whole number from 1 to 4294967295",
        ),
        (
            {"type": "composed", "seq": ["pair", "trio"]},
            ".seq[1]: got 'trio', a profile for 3 hosts, expected one for 2, as those before it",
        ),
        (
            {"type": "TraceReplayProfile", "filename": "x"},
            ".trace_type: missing, expected SMPI or FractionalComputation",
        ),
        ({**NAP, "ret": -1}, ".ret: got -1, expected a whole number >= 0"),
        ({**NAP, "ret": 2**31}, ".ret: got 2147483648, expected a whole number up to 2147483647"),
    ],
)
def test_bad_profile_is_refused(fields: dict[str, Any], complaint: str) -> None:
    others = {"pair": PAIR, "trio": TRIO}

    assert refusal(read, others=others, **fields) == f"w.json: profiles['p']{complaint}"


def test_job_of_another_size_than_its_profile_is_refused() -> None:
    expected = "w.json: jobs[0].res: got 3, expected 2, the size of profile 'p'"

    assert refusal(read, n_hosts=3, **PAIR) == expected
    others = {"pair": PAIR}
    assert refusal(read, n_hosts=3, others=others, type="composed", seq=["pair"]) == expected


def test_bad_pattern_is_refused() -> None:
    message = refusal(read, type="recv", regex="a(")

    assert message == ("w.json: profile 'p': pattern: got 'a(', expected a regular expression")
    message = refusal(read, type="recv", regex="(" * 100_000)
    assert message.endswith("pattern: got 100000 characters, expected at most 1000")


@pytest.mark.parametrize(
    ("others", "ring"),
    [
        ({}, "p -> p"),
        ({"a": {"type": "composed", "seq": ["nap", "p"]}}, "p -> a -> p"),
        ({"a": {"type": "recv", "failure": "b"}, "b": {"type": "composed", "seq": ["p"]}}, None),
    ],
)
def test_profile_that_contains_itself_is_refused(others: dict[str, Any], ring: str | None) -> None:
    part = "a" if others else "p"

    message = refusal(read, others=others, type="composed", seq=["nap", part])

    assert message == f"w.json: profiles['p']: contains itself: {ring or 'p -> a -> b -> p'}"


def test_ring_is_told_without_those_that_only_lead_to_it() -> None:
    others = {
        "a": {"type": "composed", "seq": ["b"]},
        "b": {"type": "composed", "seq": ["a"]},
    }

    message = refusal(read, others=others, type="composed", seq=["b"])

    assert message == "w.json: profiles['b']: contains itself: b -> a -> b"


def test_too_many_levels_are_refused() -> None:
    chain = {f"l{i}": {"type": "composed", "seq": [f"l{i + 1}"]} for i in range(5000)}

    message = refusal(read, others={**chain, "l5000": NAP}, type="composed", seq=["l0"])

    assert message.endswith("Sequence: got more than 100 levels of parts of parts")


def test_every_input_of_batsim_is_read(shared: Path) -> None:
    inputs = shared / "vectors" / "batsim" / "inputs"
    paths = sorted([*inputs.glob("*.json"), *inputs.glob("*.json.xz")])
    paths += sorted((inputs / "workloads" / "untested").glob("*.json"))
    read_ones = [path for path in paths if path.name != "energy_conf.json"]

    assert len(read_ones) >= 9
    for path in read_ones:
        assert load_workload(path).unsupported() == []
