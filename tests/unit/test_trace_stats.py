"""Numbers about traces."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from trace_files import a_line, a_trace, refusal

from noctule.testing.builders import a_job, a_workload
from noctule.traces import load_trace, trace_stats
from noctule.traces.stats import STATISTICS
from noctule.workload import Workload


def test_counts_load_and_shares_are_those_of_jobs_that_ran() -> None:
    stats = trace_stats(
        a_trace(
            "; MaxProcs: 8",
            a_line(1, 0, run_time=10, requested_processors=1, user=1, requested_time=10),
            a_line(2, 50, run_time=20, requested_processors=6, user=2, requested_time=40),
            a_line(3, 100, run_time=30, requested_processors=8, user=1, requested_time=-1),
            a_line(4, 100, run_time=0, requested_processors=8, user=1),
        )
    )

    assert (stats.n_jobs, stats.n_ran, stats.n_users, stats.n_groups) == (4, 3, 2, None)
    # 1 x 10 + 6 x 20 + 8 x 30 = 370 host-seconds of 8 x 100
    assert stats.area == 370
    assert stats.load == 370 / 800
    assert math.isnan(stats.utilisation)
    assert (stats.serial, stats.powers_of_two) == (1 / 3, 2 / 3)
    # of the two that asked for a time, one used all of it
    assert stats.at_walltime == 0.5
    assert stats.distributions["accuracy"]["mean"] == 0.75
    assert stats.distributions["size"]["median"] == 6
    assert tuple(stats.distributions["runtime"]) == STATISTICS
    assert "waiting_time" not in stats.distributions


def test_utilisation_is_that_of_recorded_starts() -> None:
    stats = trace_stats(
        a_trace(a_line(1, 0, wait_time=5), a_line(2, 0, wait_time=15), a_line(3, 60)), n_hosts=8
    )

    # two jobs of 4 hosts for 10 s, from 5 to 25; the wait of the third is not known
    assert stats.utilisation == 80 / 160
    assert stats.distributions["waiting_time"]["max"] == 15


def test_submissions_are_counted_by_the_clock_of_the_machine() -> None:
    # 1996-09-23, a Monday, 14:00:31 in Stockholm; 14 h later it is Tuesday, 04:00:31
    headers = ["; UnixStartTime: 843480031", "; TimeZoneString: Europe/Stockholm"]

    stats = trace_stats(a_trace(*headers, a_line(1), a_line(2, 50_400)))

    assert [hour for hour, n in enumerate(stats.by_hour) if n] == [4, 14]
    assert stats.by_weekday == (1, 1, 0, 0, 0, 0, 0)
    assert stats.time_zone == "Europe/Stockholm"
    assert stats.first_date == "1996-09-23 14:00:31+02:00"


def test_hours_are_counted_from_time_0_if_no_date_is_told() -> None:
    stats = trace_stats(a_trace(a_line(1), a_line(2, 90_000)))

    # 90 000 s are 25 h
    assert [hour for hour, n in enumerate(stats.by_hour) if n] == [0, 1]
    assert (stats.by_weekday, stats.time_zone, stats.first_date) == (None, None, None)


def test_dates_that_no_calendar_has_are_left_out() -> None:
    stats = trace_stats(a_trace("; UnixStartTime: 0", a_line(1), a_line(2, 1e15)))

    assert sum(stats.by_hour) == 1


def test_users_are_listed_by_what_they_used() -> None:
    stats = trace_stats(
        a_trace(
            a_line(1, user=3, run_time=10, requested_time=40),
            a_line(2, user=5, run_time=90, requested_time=100),
            a_line(3, user=3, run_time=30, requested_time=40),
            a_line(4, user=8, run_time=0),
            a_line(5, user=-1, run_time=10, requested_time=-1),
        )
    )

    first, second, third, last = stats.users
    assert (first.user, first.n_jobs, first.area) == (5, 1, 360)
    assert first.share == 360 / 560
    assert (second.user, second.n_jobs, second.median_runtime) == (3, 2, 20)
    assert (second.mean_size, second.accuracy) == (4, 0.5)
    assert third.user is None
    assert math.isnan(third.accuracy)
    assert (last.user, last.n_jobs, last.area) == (8, 1, 0)
    assert math.isnan(last.median_runtime)


def test_names_of_users_count_too() -> None:
    workload = a_workload(a_job(1, user="eve"), a_job(2, user=None), a_job(3, user="eve"))

    stats = trace_stats(workload, n_hosts=2)

    assert stats.n_users == 1
    assert [(user.user, user.n_jobs) for user in stats.users] == [("eve", 2), (None, 1)]
    # all at once: there is no time to have a load in
    assert math.isnan(stats.load)


def test_an_empty_workload_has_no_statistics() -> None:
    message = "workload w0: got no job, expected at least one"
    assert refusal(trace_stats, Workload.from_jobs([])) == message


@pytest.mark.parametrize(
    ("name", "counts", "shares"),
    [
        ("KTH-SP2-1996-2.1-cln", (28_467, 214), (0.7011, 0.7012)),
        ("SDSC-SP2-1998-4.2-cln", (54_034, 437), (0.8341, 0.8338)),
        ("CEA-Curie-2011-2.1-cln", (295_540, 582), (0.6276, 0.6203)),
    ],
)
def test_real_logs(
    name: str, counts: tuple[int, int], shares: tuple[float, float], shared: Path
) -> None:
    workload = load_trace(shared / "traces" / f"{name}.swf.xz", processors="allocated")

    stats = trace_stats(workload)

    assert (stats.n_ran, stats.n_users) == counts
    assert (stats.load, stats.utilisation) == pytest.approx(shares, abs=1e-4)


def test_numbers_too_large_to_add_up_are_infinite() -> None:
    stats = trace_stats(a_trace(a_line(1, run_time=1e308), a_line(2, run_time=1e308)), n_hosts=4)

    assert stats.area == math.inf
    assert stats.distributions["runtime"]["max"] == 1e308
