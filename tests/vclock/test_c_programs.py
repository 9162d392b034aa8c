"""Small C programs: what they read, how they wait, what they get back."""

import hashlib
import tempfile

import pytest
from virtual_runs import SECOND, START, UPTIME, follow_timers, printed_numbers, run_to_end

from noctule.vclock.program import VirtualProgram


def test_all_clocks_show_the_start(sleeper):
    assert printed_numbers([sleeper, "readings"]) == [
        START * SECOND,
        START * SECOND,
        START * 1_000_000,
        START,
        0,  # time() stores what it returns
        0,
        0,  # the machine never slept
        1,  # the time that the program used is real
        -1,  # there is no such clock
    ]


def test_the_start_can_be_chosen(sleeper):
    numbers = printed_numbers([sleeper, "readings"], start=1_600_000_000.25)
    assert numbers[0] == 1_600_000_000_250_000_000
    assert numbers[2:4] == [1_600_000_000_250_000, 1_600_000_000]


def test_readings_of_the_wall_clock_are_strictly_ordered(sleeper):
    text, _ = run_to_end([sleeper, "readings"])
    first, second = [int(line) for line in text.split()[:2]]
    assert (first, second) == (START * SECOND, START * SECOND + 1)


@pytest.mark.parametrize("how", ["nanosleep", "date"])
def test_sleeps_take_exactly_their_time(sleeper, how):
    assert printed_numbers([sleeper, how, "3600", "5"]) == [
        UPTIME + hour * 3600 * SECOND for hour in (1, 2, 3, 4, 5)
    ]


@pytest.mark.parametrize(
    ("how", "returned"),
    [
        ("sleep", [0]),
        ("poll", [0]),
        ("ppoll", [0]),
        ("select", [0, 0, 0]),  # nothing ready, not in the set either, no time left
        ("epoll", [0]),
        ("condition", [1]),
        ("semaphore", [1]),
        ("signal", [1]),
    ],
)
def test_a_wait_ends_when_its_time_is_over_and_says_so(sleeper, how, returned):
    assert printed_numbers([sleeper, how, "86400"]) == [*returned, UPTIME + 86_400 * SECOND]


def test_a_sleep_until_a_date_in_the_past_is_none(sleeper):
    assert printed_numbers([sleeper, "past", "10"]) == [UPTIME]


def test_threads_wake_in_the_order_of_their_timers(sleeper):
    text, _ = run_to_end([sleeper, "threads"], tick=False)
    lines = [line.split(" at ") for line in text.splitlines()]
    woken = [(int(date) - UPTIME, int(period)) for period, date in lines]
    assert sorted(woken) == [
        (2 * SECOND, 2),
        (3 * SECOND, 3),
        (4 * SECOND, 2),
        (6 * SECOND, 2),
        (6 * SECOND, 3),
    ]
    assert [date for date, _ in woken] == sorted(date for date, _ in woken)


def test_a_thread_outlives_the_first_one(sleeper):
    assert printed_numbers([sleeper, "leaderless", "50"]) == [UPTIME + 50 * SECOND]


def test_a_system_call_made_without_the_library_escapes(sleeper):
    (seconds,) = printed_numbers([sleeper, "escape"])
    assert seconds != START


def test_the_random_bytes_of_the_kernel_can_be_fixed(sleeper):
    text, _ = run_to_end([sleeper, "random"], seed=b"seven")
    assert bytes.fromhex(text) == hashlib.sha256(b"seven").digest()[:16]


def test_environment_and_arguments_arrive_as_they_are(sleeper):
    text, _ = run_to_end([sleeper, "environment", "a b", "", "ö"], env={"A": "b=c", "B": ""})
    assert text.splitlines() == ["A=b=c", "B=", "a b", "", "ö"]


def test_a_thread_that_looks_at_the_clock_all_the_time_does_not_keep_others_from_rest(sleeper):
    with tempfile.TemporaryFile() as output:
        with VirtualProgram([sleeper, "restless", "10"], stdout=output) as program:
            for second in range(1, 11):
                idle = program.settle(timeout=60)
                assert 0 < idle.next_timer <= 0.000_02
                program.advance(second)
            assert "exit status 0" in follow_timers(program)
        output.seek(0)
        assert int(output.read()) == UPTIME + 10 * SECOND
