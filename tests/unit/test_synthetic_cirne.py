"""The model after Cirne and Berman: its laws, its files, and what is fitted to a log."""

from __future__ import annotations

import hashlib
import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule import load_workload
from noctule.errors import InputError
from noctule.formats.saving import save_workload
from noctule.formats.swf_writing import swf_text
from noctule.formats.toml_table import read_toml
from noctule.formats.toml_writing import toml_text
from noctule.synthetic import (
    Accuracy,
    Coefficients,
    FactorWalltimes,
    LogUniform,
    cirne,
    coefficients_of,
    fit_cirne,
)
from noctule.synthetic.summary import summary

HOUR, DAY = 3600.0, 86_400.0
PLAIN = Coefficients(
    source="by hand",
    n_hosts=64,
    mean_gap=100.0,
    hours=(1.0,),
    weekdays=(1.0,) * 7,
    sizes=LogUniform(1.0, 64.0, 1.0, 64.0),
    power_of_two=1.0,
    requested_time=LogUniform(60.0, 6000.0, 60.0, 6000.0),
    step=60.0,
    accuracy=(Accuracy(math.inf, 0.0, 1.0, 0.1),),
)


def runtimes(workload):
    return np.asarray(workload.table.amount)


def lags(workload):
    """Return after how long jobs are cancelled, of those that would be."""
    lag = np.array([job.cancel_time - job.submit_time for job in workload])
    return lag[np.isfinite(lag)]


def test_powers_of_two_are_alike_but_for_the_ends():
    # exponents are uniform from 0 to 6 and rounded: 0 and 6 get half of what 1 to 5 get
    found = cirne(60_000, seed=1, coefficients=PLAIN)
    sizes, counts = np.unique(found.n_hosts, return_counts=True)
    assert sizes.tolist() == [1, 2, 4, 8, 16, 32, 64]
    expected = np.array([1, 2, 2, 2, 2, 2, 1]) / 12
    assert counts / 60_000 == pytest.approx(expected, abs=0.005)


def test_without_the_habit_all_sizes_come():
    found = cirne(60_000, seed=1, coefficients=replace(PLAIN, power_of_two=0.0))
    assert set(found.n_hosts.tolist()) == set(range(1, 65))
    # the mean of x, whose logarithm is uniform from ln 1 to ln 64
    assert found.n_hosts.mean() == pytest.approx(63 / math.log(64), rel=0.02)


def test_requested_times_are_uniform_in_their_logarithm_and_whole_steps():
    walltime = cirne(60_000, seed=2, coefficients=PLAIN).walltime
    assert set((walltime % 60).tolist()) == {0.0}
    assert (walltime.min(), walltime.max()) == (120.0, 6000.0)  # rounded up
    # half of them below the geometric mean of 60 and 6000
    assert np.mean(walltime <= 600) == pytest.approx(0.5, abs=0.01)


def test_a_job_runs_for_a_share_of_what_it_asked_for():
    found = cirne(60_000, seed=3, coefficients=PLAIN)
    share = runtimes(found) / found.walltime
    assert share.max() <= 1
    # exponential of mean 0.1; runtimes lose half a second in the mean, which is 0.1 % of 600 s
    long = found.walltime >= 3000
    assert share[long].mean() == pytest.approx(0.1, rel=0.05)
    assert np.mean(share[long] <= 0.1) == pytest.approx(1 - math.exp(-1), abs=0.02)


def test_some_run_into_their_limits_by_class_of_requested_time():
    classes = (Accuracy(600.0, 0.3, 1.0, 0.1), Accuracy(math.inf, 0.8, 1.0, 0.1))
    found = cirne(60_000, seed=4, coefficients=replace(PLAIN, accuracy=classes))
    full = runtimes(found) == found.walltime
    short = found.walltime <= 600
    assert np.mean(full[short]) == pytest.approx(0.3, abs=0.02)
    assert np.mean(full[~short]) == pytest.approx(0.8, abs=0.02)


def test_jobs_come_as_fast_as_the_polynomial_and_the_weekday_say():
    # rate 1 + t: none at midnight, twice the mean at the next; nobody works at weekends
    said = replace(PLAIN, hours=(1.0, 1.0), weekdays=(1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0))
    submit = cirne(100_000, seed=5, coefficients=said).submit_time
    day = (submit // DAY) % 7
    assert set(day.tolist()) == {0.0, 1.0, 2.0, 3.0, 4.0}
    time_of_day = submit % DAY
    assert np.mean(time_of_day < DAY / 2) == pytest.approx(0.25, abs=0.01)
    assert submit[-1] / 100_000 == pytest.approx(100.0, rel=0.03)


def test_a_share_of_the_jobs_is_cancelled_unless_they_start_in_time():
    said = replace(PLAIN, cancelled=0.25, cancellation=LogUniform(10.0, 1000.0, 1.0, 5000.0))
    given_up = lags(cirne(40_000, seed=6, coefficients=said))
    assert len(given_up) / 40_000 == pytest.approx(0.25, abs=0.01)
    assert (given_up.min(), given_up.max()) == (10.0, 999.0)
    assert np.mean(given_up < 100) == pytest.approx(0.5, abs=0.02)


def test_sizes_grow_with_the_machine_or_with_the_largest_job():
    assert cirne(5000, seed=1, coefficients=PLAIN, n_hosts=1024).n_hosts.max() == 1024
    found = cirne(5000, seed=1, coefficients=PLAIN, n_hosts=1024, largest=128)
    assert (found.n_hosts.max(), found.headers["MaxProcs"]) == (128, "1024")
    assert cirne(500, seed=1, coefficients=PLAIN, n_hosts=1).n_hosts.max() == 1


def test_the_load_is_the_work_over_what_the_machine_does_while_jobs_come():
    for load in (0.5, 2.0):
        found = cirne(20_000, seed=1, coefficients=PLAIN, n_hosts=256, largest=64, load=load)
        assert summary(found)["offered_load"] == pytest.approx(load, rel=1e-4)


def test_other_walltimes_can_replace_the_requested_ones():
    found = cirne(100, seed=1, coefficients=PLAIN, walltimes=FactorWalltimes(3.0))
    assert found.walltime.tolist() == (3 * runtimes(found)).tolist()


@pytest.mark.parametrize(
    ("pattern", "digest"),
    [("kth", "105a4f913e7cc023"), ("sdsc", "7549224474c34855")],
)
def test_a_seed_means_the_same_jobs_for_ever(pattern, digest):
    text = "".join(swf_text(cirne(2000, seed=7, pattern=pattern)))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == digest


def test_cancellations_survive_a_file(tmp_path):
    save_workload(cirne(400, seed=1, pattern="sdsc"), tmp_path / "drawn.json")
    assert 10 < len(lags(load_workload(tmp_path / "drawn.json"))) < 80


def test_a_file_of_coefficients_gives_them_back(tmp_path):
    said = coefficients_of("sdsc")
    said.save(tmp_path / "c.toml")
    assert coefficients_of(coefficients=tmp_path / "c.toml") == said


LINES = "".join(toml_text(coefficients_of("sdsc").document()))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("n_hosts = 128", "n_hosts = 0", "model.n_hosts: got 0, expected a whole number >= 1"),
        ("[sizes]", "[size]", "sizes: missing, expected a table"),
        ("mean_gap = 1056.5", "mean_gap = -1", "arrivals.mean_gap: got -1, expected a number from"),
        ("mean_gap", "gap", "arrivals.mean_gap: missing, expected a number"),
        (
            "hours = [1.716,",
            "hours = [-1.716,",
            "expected a rate >= 0 at all times; it is ",
        ),
        ("weekdays = [", "weekdays = [1.0, ", "expected seven numbers >= 0, from Monday on"),
        ("power_of_two = 0.7", "power_of_two = 1.7", "expected a share from 0 to 1"),
        ("high = 61.7505", "high = 0.1", "sizes.high: got 0.1, expected at least low, 0.549858"),
        ("most = 128.0", "most = 0.5", "sizes.most: got 0.5, expected at least `least`, 1"),
        ("up_to = 14400.0", "up_to = 60.0", "accuracy: got [{'up_to': 3600.0"),
        ("shape = 0.678522", "shape = 1e9", "accuracy[0].shape: got 1000000000.0, expected a num"),
        ("scale = 0.305619", "scale = 1e9", "expected one that makes a share of at most 1 likely"),
        ("probability", "chance", "cancellation.probability: missing, expected a number"),
        ("step = 300.0", "step = 300.0\nfloor = 2", "requested_time.floor: unknown key, expected"),
        ("step = 300.0", "step = true", "requested_time.step: got true, expected a number"),
    ],
)
def test_coefficients_that_cannot_be_are_refused(tmp_path, old, new, said):
    assert LINES.count(old) >= 1
    path = tmp_path / "c.toml"
    path.write_text(LINES.replace(old, new, 1))
    with pytest.raises(InputError) as refused:
        cirne(10, seed=1, coefficients=path)
    assert str(refused.value).startswith(f"{path}: ")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pattern": "anl"}, "cirne: pattern: got 'anl', expected kth or sdsc"),
        ({"n_hosts": 8, "largest": 9}, "largest: got 9, expected at most the 8 hosts there are"),
        ({"load": 0.0}, "load: got 0, expected a positive number"),
    ],
)
def test_arguments_that_cannot_be_are_refused(options, said):
    with pytest.raises(InputError, match="^" + said.replace("(", "\\(")):
        cirne(10, seed=1, **options)


@given(
    seed=st.integers(0, 2**32),
    n_hosts=st.integers(1, 5000),
    share=st.floats(1e-3, 1.0),
    pattern=st.sampled_from(["kth", "sdsc"]),
)
def test_every_job_fits_the_machine_and_its_limit(seed, n_hosts, share, pattern):
    largest = max(1, int(n_hosts * share))
    found = cirne(50, seed=seed, pattern=pattern, n_hosts=n_hosts, largest=largest)
    assert (found.n_hosts >= 1).all()
    assert (found.n_hosts <= largest).all()
    assert (runtimes(found) >= 1).all()
    assert (runtimes(found) <= found.walltime).all()
    assert (np.diff(found.submit_time) >= 0).all()


def as_log(workload, path):
    """Write a workload as a log of jobs that ran as drawn, from a Monday on."""
    lines = ["; MaxProcs: 64\n; UnixStartTime: 345600\n"]  # 1970-01-05
    rows = zip(
        workload.submit_time, runtimes(workload), workload.n_hosts, workload.walltime, strict=True
    )
    for i, (submit, runtime, size, walltime) in enumerate(rows):
        lines.append(
            f"{i + 1} {submit:.0f} 5 {runtime:.0f} {size} -1 -1 {size} {walltime:.0f}"
            " -1 1 1 1 -1 -1 -1 -1 -1\n"
        )
    path.write_text("".join(lines))


def test_what_was_drawn_is_fitted_again(tmp_path):
    said = replace(
        PLAIN,
        hours=(1.25, 0.4, -0.75),
        weekdays=(1.2, 1.2, 1.2, 1.2, 1.2, 0.5, 0.5),
        power_of_two=0.7,
        accuracy=(Accuracy(math.inf, 0.1, 0.8, 0.3),),
    )
    as_log(cirne(40_000, seed=8, coefficients=said), tmp_path / "log.swf")
    found = fit_cirne(tmp_path / "log.swf")
    assert found.n_hosts == 64
    assert found.mean_gap == pytest.approx(100, rel=0.03)
    assert found.weekdays == pytest.approx(said.weekdays, abs=0.05)
    wanted, got = np.array(said.rate_of_day()), np.array(found.rate_of_day())
    assert got == pytest.approx(wanted, abs=0.12)
    assert found.power_of_two == pytest.approx(0.7, abs=0.03)
    assert math.log2(found.sizes.high) == pytest.approx(6, abs=0.3)
    assert found.requested_time.high == pytest.approx(6000, rel=0.1)
    assert found.step == 60
    law = found.accuracy[0]
    assert (law.at_limit, law.shape) == (pytest.approx(0.1, abs=0.02), pytest.approx(0.8, rel=0.1))
    assert law.scale == pytest.approx(0.3, rel=0.15)
    assert found.cancellation is None


def test_without_a_date_time_0_is_a_mondays_midnight(tmp_path):
    path = tmp_path / "log.swf"
    as_log(cirne(2000, seed=8, coefficients=PLAIN), path)
    dated = fit_cirne(path)  # which begins on a Monday
    path.write_text(path.read_text().replace("; UnixStartTime: 345600\n", ""))
    undated = fit_cirne(path)
    assert undated.source.endswith("days, time 0 taken for a Monday's midnight")
    assert replace(undated, source="") == replace(dated, source="")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("; UnixStartTime: 0\n", "no header MaxProcs or MaxNodes tells the size of the machine"),
        ("; MaxProcs: 4\n", "got 1 jobs with processors, requested time and"),
    ],
)
def test_logs_that_say_too_little_are_refused(tmp_path, text, said):
    path = tmp_path / "log.swf"
    path.write_text(text + "1 0 5 10 4 -1 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n")
    with pytest.raises(InputError, match=said):
        fit_cirne(path)


SHARED = Path(os.environ.get("NOCTULE_SHARED", Path(__file__).parents[3] / "shared"))
LOGS = {"kth": "KTH-SP2-1996-2.1-cln.swf.xz", "sdsc": "SDSC-SP2-1998-4.2-cln.swf.xz"}


@pytest.mark.parametrize("pattern", LOGS)
def test_the_patterns_are_what_is_fitted_to_their_logs(pattern):
    path = SHARED / "traces" / LOGS[pattern]
    if not path.is_file():
        pytest.skip(f"no {path}; NOCTULE_SHARED names its folder")
    again = Coefficients.of(read_toml("".join(toml_text(fit_cirne(path).document())).encode(), "x"))
    assert again == coefficients_of(pattern)
