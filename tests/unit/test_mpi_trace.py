"""Time-independent traces of MPI programs: what is read, what is refused, and why."""

from __future__ import annotations

import pytest

from noctule import _core
from noctule.errors import InputError


def a_trace(*texts: str | bytes) -> _core.MpiTrace:
    return _core.MpiTrace(list(texts), [f"rank{number}.txt" for number in range(len(texts))])


def refusal_of(*texts: str | bytes) -> str:
    with pytest.raises(InputError) as refusal:
        a_trace(*texts)
    return str(refusal.value)


def test_lines_may_begin_with_their_rank_or_not() -> None:
    trace = a_trace("init\ncompute 1e9\nfinalize\n", b"1 init\n\n# a comment\n  1 compute 5\r\n")
    assert (trace.n_ranks, trace.n_actions) == (2, 2)


def test_one_text_may_hold_all_ranks() -> None:
    trace = a_trace("0 compute 1\n2 compute 1\n1 barrier\n0 barrier\n2 barrier\n")
    assert (trace.n_ranks, trace.n_actions) == (3, 5)


def test_lines_of_other_ranks_are_passed_over_where_each_rank_has_its_text() -> None:
    shared = "0 compute 1\n1 compute 1\n0 compute 2\n"
    assert a_trace(shared, shared).n_actions == 3


def test_actions_that_take_no_time_are_not_kept() -> None:
    text = "init 1\ncomm_size 4\ncomm_split 1\ncomm_dup 1\nlocation main.c 3\nfinalize\n"
    assert a_trace(text).n_actions == 0
    assert a_trace("").n_actions == 0


@pytest.mark.parametrize(
    "line",
    [
        "compute 1.5e9",
        "sleep 0",
        "send 1 0 1e6",
        "send 1 -3 10 26",
        "isend 1 0 10 6",
        "recv 1 -444 -1",
        "irecv 1 0 10",
        "sendRecv 10 1 10 1",
        "sendRecv 10 1 10 1 6 6",
        "test 0 1 0",
        "waitall",
        "barrier",
        "bcast 10",
        "bcast 10 1 0",
        "reduce 10 1e6 1 0",
        "allreduce 10 1e6 0",
        "alltoall 10 10 0 0",
        "alltoallv 3 1 2 3 1 2",
        "alltoallv 3 1 2 3 1 2 0 0",
        "gather 10 10 1 0 0",
        "gatherv 1 1 2 0 6 6",
        "allgather 10 10 0 0",
        "allgatherv 1 1 2",
        "allgatherv 1 1 2 6 6",
        "allgatherv 1 1 2 6 0 1",
        "scatter 10 10 1 0 0",
        "scatterv 1 2 1 0 6 6",
        "reducescatter 1 2 1e6 0",
        "scan 10 1e6 0",
        "exscan 10 1e6 0",
    ],
)
def test_every_action_is_read(line: str) -> None:
    assert a_trace(line, "").n_actions == 1


@pytest.mark.parametrize(
    ("line", "found_and_expected"),
    [
        ("compute x", "compute: got 'x', expected a number of flops"),
        ("compute nan", "compute: got 'nan', expected a number of flops"),
        ("compute -1", "compute: got '-1', expected a number of flops"),
        ("compute inf", "compute: got 'inf', expected a number of flops"),
        ("sleep -1", "sleep: got '-1', expected a number of seconds"),
        ("compute", "compute: got 0 arguments, expected 1"),
        ("send 1 0", "send: got 2 arguments, expected 3 to 4"),
        ("send 2 0 10", "send: got '2', expected a rank from 0 to 1"),
        ("send -1 0 10", "send: got '-1', expected a rank from 0 to 1"),
        ("send 1 0.5 10", "send: got '0.5', expected a tag, which is an integer"),
        ("send 1 0 -1", "send: got '-1', expected a number of elements"),
        ("send 1 0 1e16", "send: got '1e16', expected at most 2^53 elements"),
        ("send 1 0 10 99", "send: got '99', expected a datatype from 0 to 58"),
        ("bcast 10 2", "bcast: got '2', expected a rank from 0 to 1"),
        ("gatherv 1 1", "gatherv: got 2 arguments, expected 3 to 6"),
        ("allgatherv 1 1 2 3 4 5 6 7", "allgatherv: got 8 arguments, expected 3 to 7"),
        ("wait 0 1 0", "wait: got no isend or irecv before it, expected what it waits for"),
        ("2 compute 1", "got '2', expected a rank from 0 to 1"),
        ("0", "got only a rank, expected an action after it"),
    ],
)
def test_mistakes_are_named_with_their_place(line: str, found_and_expected: str) -> None:
    assert refusal_of(f"init\n{line}\n", "") == f"rank0.txt:2: {found_and_expected}"


def test_an_unknown_action_is_told_with_the_known_ones() -> None:
    assert refusal_of("0 recieve 1 0 10").startswith(
        "rank0.txt:1: got 'recieve', expected one of init, finalize, comm_size,"
    )


def test_waits_are_for_messages_of_the_rank() -> None:
    assert refusal_of("", "isend 0 0 1\nwait 0 2 0", "") == (
        "rank1.txt:2: wait: got a message from rank 0 to rank 2, expected one of rank 1"
    )


def test_texts_without_lines_of_their_rank_are_refused() -> None:
    assert refusal_of("1 compute 1", "0 compute 1") == (
        "rank0.txt: got no line of rank 0, expected its actions"
    )
    assert refusal_of("0 compute 1\n1000000000 compute 1") == (
        "rank0.txt: got lines of rank 1000000000 but none of rank 1, expected lines of all ranks"
    )
    assert refusal_of("0 compute 1\ncompute 1\n1 compute 1") == (
        "rank0.txt:2: got 'compute', expected a rank, as other lines of this text have one"
    )


def test_what_is_no_text_is_refused() -> None:
    assert refusal_of(b"compute 1\n\0") == (
        "rank0.txt:2: not a text file: got a NUL byte, expected actions of ranks"
    )
    assert refusal_of("\ud800") == "rank0.txt: got no text, expected the actions of a rank"
    assert refusal_of(b"\xff\xfe").startswith("rank0.txt:1: got '??', expected one of init")
    with pytest.raises(InputError, match="got no text, expected one a rank"):
        _core.MpiTrace([], [])
    with pytest.raises(InputError, match="got 1 sources of 2 texts, expected one for each"):
        _core.MpiTrace(["", ""], ["a"])
