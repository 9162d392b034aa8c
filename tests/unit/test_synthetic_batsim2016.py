"""The workloads of Batsim's validation: gaps, sizes, and programs that fit the sizes."""

from __future__ import annotations

import json
import math
from collections import Counter
from statistics import NormalDist

import numpy as np
import pytest

from noctule import Platform, simulate
from noctule.errors import InputError
from noctule.synthetic import (
    Arrivals,
    Bursts,
    FactorWalltimes,
    NoWalltimes,
    Program,
    Programs,
    batsim2016,
    read_programs,
)
from noctule.workload import Compute, Delay, ParallelTask, UnsupportedProfile

MANY = 40_000


def test_gaps_are_weibull_of_shape_two_and_scale_fifteen():
    submit = batsim2016(MANY, seed=1, runtimes=[10]).submit_time
    gaps = np.diff(submit)
    # mean 15 sqrt(pi) / 2 = 13.29, variance 15^2 (1 - pi / 4) = 48.3; dates are cut to seconds
    assert gaps.mean() == pytest.approx(15 * math.sqrt(math.pi) / 2, rel=0.01)
    assert gaps.var() == pytest.approx(225 * (1 - math.pi / 4), rel=0.03)


def test_sizes_are_powers_of_two_by_a_lognormal_exponent():
    sizes = Counter(batsim2016(MANY, seed=1, runtimes=[10]).n_hosts.tolist())
    assert sorted(sizes) == [1, 2, 4, 8, 16, 32]
    log = NormalDist(0.25, 0.5)
    below = [0.0, *(log.cdf(math.log(k)) for k in range(1, 7))]
    for k in range(6):
        # kept if floor(u) <= 5
        expected = (below[k + 1] - below[k]) / below[6]
        assert sizes[2**k] / MANY == pytest.approx(expected, abs=0.006), k


def test_eight_hundred_jobs_by_default():
    workload = batsim2016(seed=1, runtimes=[10, 20])
    assert len(workload) == 800
    assert set(workload.table.amount.tolist()) == {10, 20}
    assert workload.headers["MaxProcs"] == "32"


def test_fewer_hosts_mean_smaller_jobs():
    assert batsim2016(2000, seed=1, runtimes=[10], n_hosts=12).n_hosts.max() == 8
    assert batsim2016(200, seed=1, runtimes=[10], n_hosts=1).n_hosts.max() == 1


def test_runtimes_may_depend_on_the_size():
    by_size = {2**k: [100.0 * (k + 1)] for k in range(6)}
    workload = batsim2016(500, seed=1, runtimes=by_size)
    for job in workload:
        assert job.profile.duration == 100 * (math.log2(job.request.n_hosts) + 1)


def test_programs_of_one_size_are_equally_likely():
    drawn = Counter(batsim2016(MANY, seed=2, runtimes=[1.5, 2.5, 3.5, 4.5]).table.amount.tolist())
    assert all(n / MANY == pytest.approx(0.25, abs=0.01) for n in drawn.values())


def test_a_delay_is_over_before_its_exact_walltime():
    workload = batsim2016(100, seed=1, runtimes=[10, 12.5])
    limits = {(job.profile.duration, job.walltime) for job in workload}
    assert limits == {(10, 11), (12.5, 13)}
    states = simulate(Platform.homogeneous(32), workload, "easy").column("state")
    assert set(states.tolist()) == {"completed"}


def test_walltimes_by_a_factor_and_none():
    assert batsim2016(9, seed=1, runtimes=[10], walltimes=FactorWalltimes(3)).walltime[0] == 30
    assert np.isinf(batsim2016(9, seed=1, runtimes=[10], walltimes=NoWalltimes()).walltime).all()


def test_bursts_can_be_laid_over():
    arrivals = Arrivals(bursts=Bursts(20.0, 0.0))
    submit = batsim2016(1000, seed=1, runtimes=[10], arrivals=arrivals).submit_time
    assert len(np.unique(submit)) < 100


def test_the_same_seed_gives_the_same_jobs():
    one, other = (list(batsim2016(50, seed=5, runtimes=[10, 20])) for _ in range(2))
    assert one == other
    assert one != list(batsim2016(50, seed=6, runtimes=[10, 20]))


# lists of programs


def test_profiles_of_a_batsim_file_are_kept_with_all_their_fields(tmp_path):
    path = tmp_path / "profiles.json"
    profiles = {
        "short": {"type": "delay", "delay": 5, "np": "any"},
        "pair": {"type": "parallel", "cpu": [4.0, 4.0], "com": [0, 1e6, 0, 0]},
        "all": {"type": "parallel_homogeneous_total", "cpu": 64, "com": 0},
    }
    path.write_text(json.dumps({"profiles": profiles}))
    programs = read_programs(path)
    kinds = {program.name: type(program.profile) for program in programs.programs}
    assert kinds == {"short": Delay, "pair": ParallelTask, "all": Compute}
    workload = batsim2016(400, seed=1, runtimes=programs, walltimes=NoWalltimes())
    assert workload.raw_profiles == profiles
    # a program of two processes runs on two hosts and nowhere else
    sizes = {job.request.n_hosts for job in workload if job.profile_name == "pair"}
    assert sizes == {2}
    # work that is spread: 64 on four hosts are 16 on each
    assert {job.profile.work for job in workload if job.profile_name == "all"} >= {64, 32, 16}


def test_a_list_of_runtimes_may_tell_sizes(tmp_path):
    path = tmp_path / "runtimes.txt"
    path.write_text("# size runtime\n1 10\n2 20.5  # two\n\n30\n")
    assert read_programs(path).programs == (
        Program("delay:10.0", Delay(10), 1),
        Program("delay:20.5", Delay(20.5), 2),
        Program("delay:30.0", Delay(30)),
    )


def test_the_runtimes_of_a_log_are_a_list(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(
        "; MaxProcs: 4\n"
        "1 0 -1 100 3 -1 -1 3 100 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
        "2 1 -1 10 4 -1 -1 4 20 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    )
    durations = [program.profile.duration for program in read_programs(path).programs]
    assert durations == [100, 10]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "got no runtime, expected at least one"),
        ("abc\n", "line 1: got 'abc', expected a runtime, or a number of hosts and a runtime"),
        (
            "5\n1.5 7\n",
            "line 2: got '1.5 7', expected a runtime, or a number of hosts and a runtime",
        ),
        (
            "5\n1 2 3\n",
            "line 2: got '1 2 3', expected a runtime, or a number of hosts and a runtime",
        ),
        ("-5\n", "got -5, expected positive runtimes"),
        ("nan\n", "got nan, expected positive runtimes"),
        ("0 5\n", "got 0 hosts, expected at least 1"),
        ("{}", "profiles: missing, expected an object with at least one profile"),
        ("{", "not valid JSON: Input data was truncated"),
    ],
)
def test_a_list_that_makes_no_sense_is_refused(tmp_path, text, message):
    path = tmp_path / "list"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_programs(path)
    assert str(error.value) == f"{path}: {message}"


def test_a_binary_file_is_refused(tmp_path):
    path = tmp_path / "list"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="list: not a text file, expected a runtime"):
        read_programs(path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"runtimes": {1: [5.0]}},
            "runtimes: got none for jobs of 2 hosts, expected one for each power of two",
        ),
        ({"scale": 0}, "batsim2016: scale: got 0, expected a positive number"),
        ({"runtimes": []}, "runtimes: got no runtime, expected at least one"),
        (
            {"runtimes": Programs((Program("mpi", UnsupportedProfile("smpi", {})),))},
            "profile 'mpi': got one whose runtime is not known beforehand, "
            "expected a delay, or no walltimes",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(InputError) as error:
        batsim2016(50, **{"seed": 1, "runtimes": [5.0]} | arguments)
    assert str(error.value) == message
