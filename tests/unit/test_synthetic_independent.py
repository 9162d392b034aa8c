"""Independent fields: each distribution, limits, rounding, and what a description may not say."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from noctule.errors import InputError
from noctule.synthetic import FactorWalltimes, independent
from noctule.synthetic.distributions import DISTRIBUTIONS, field_of
from noctule.synthetic.draws import generator
from noctule.synthetic.independent import LOG_COLUMNS, log_column, read_description

NIGHT = Path(__file__).parents[2] / "examples" / "night.swf"
BASIC = {
    "inter_arrival": {"distribution": "exponential", "mean": 60},
    "n_hosts": {"distribution": "choice", "values": [1, 2, 4]},
    "runtime": {"distribution": "constant", "value": 30},
}


def drawn(table, n=40_000, seed=1):
    def read_column(log, column):
        return log_column(log, column)

    return field_of("f", table, {}, read_column).draw(generator(seed), n)


@pytest.mark.parametrize(
    ("table", "mean", "variance"),
    [
        ({"distribution": "constant", "value": 7}, 7, 0),
        ({"distribution": "uniform", "low": 2, "high": 8}, 5, 3),
        ({"distribution": "exponential", "mean": 4}, 4, 16),
        ({"distribution": "normal", "mu": -3, "sigma": 2}, -3, 4),
        # e^(mu + s^2 / 2), (e^(s^2) - 1) e^(2 mu + s^2)
        (
            {"distribution": "lognormal", "mu": 1, "sigma": 0.5},
            math.exp(1.125),
            (math.exp(0.25) - 1) * math.exp(2.25),
        ),
        # scale Gamma(1 + 1/1) = scale; with shape 1 it is exponential
        ({"distribution": "weibull", "shape": 1, "scale": 3}, 3, 9),
        ({"distribution": "gamma", "shape": 4, "scale": 2}, 8, 16),
        # 0.25 x 2 + 0.75 x 6 = 5; E[x^2] = 0.25 x (2 + 4) + 0.75 x (12 + 36) = 37.5
        (
            {
                "distribution": "hyper-gamma",
                "p": 0.25,
                "shape1": 2,
                "scale1": 1,
                "shape2": 3,
                "scale2": 2,
            },
            5,
            12.5,
        ),
        ({"distribution": "choice", "values": [1, 3], "weights": [3, 1]}, 1.5, 0.75),
    ],
)
def test_a_distribution_has_its_mean_and_variance(table, mean, variance):
    values = drawn(table)
    assert values.mean() == pytest.approx(mean, abs=4 * math.sqrt(variance / 40_000) + 1e-12)
    assert values.var() == pytest.approx(variance, rel=0.08)


def test_an_empirical_distribution_draws_from_the_column_of_a_log():
    runtimes = log_column(NIGHT, "runtime")
    values = drawn({"distribution": "empirical", "log": str(NIGHT), "column": "runtime"})
    assert set(values.tolist()) <= set(runtimes.tolist())
    assert values.mean() == pytest.approx(runtimes.mean(), rel=0.05)


def test_every_column_of_a_log_can_be_drawn_from():
    for column in LOG_COLUMNS:
        if column in ("group", "queue"):
            with pytest.raises(InputError, match=f"column: got no {column}, expected at least one"):
                log_column(NIGHT, column)
        else:
            assert len(log_column(NIGHT, column)) >= 1499
    with pytest.raises(InputError, match="column: got 'speed', expected one of inter_arrival"):
        log_column(NIGHT, "speed")


@pytest.mark.parametrize(
    ("shaping", "expected"),
    [
        ({"round": 10}, [10]),
        ({"max": 9}, [9]),
        ({"min": 12.5}, [12.5]),
        ({"power_of_two": "nearest"}, [8]),
        ({"power_of_two": "down"}, [8]),
        ({"power_of_two": "up"}, [16]),
        ({"base": 2, "max": 4096}, [2048]),
        # rounding comes before the limits
        ({"round": 10, "min": 11}, [11]),
    ],
)
def test_a_value_is_shaped(shaping, expected):
    table = {"distribution": "constant", "value": 11, **shaping}
    assert sorted(set(drawn(table, 5).tolist())) == expected


@pytest.mark.parametrize("way", ["nearest", "down", "up"])
def test_a_power_of_two_stays_one(way):
    powers = [2.0**k for k in range(21)]
    table = {"distribution": "choice", "values": powers, "power_of_two": way}
    assert set(drawn(table, 2000).tolist()) <= set(powers)


def test_values_outside_are_drawn_again_if_asked():
    table = {"distribution": "normal", "mu": 0, "sigma": 1, "min": 0, "outside": "redraw"}
    values = drawn(table)
    # half a normal distribution has the mean sqrt(2 / pi) = 0.798, clipped it would have 0.399
    assert values.mean() == pytest.approx(math.sqrt(2 / math.pi), rel=0.02)
    assert drawn(table | {"outside": "clip"}).mean() == pytest.approx(0.399, rel=0.02)


def test_batsims_sizes_can_be_described():
    table = {
        "distribution": "lognormal",
        "mu": 0.25,
        "sigma": 0.5,
        "base": 2,
        "power_of_two": "down",
        "max": 32,
        "outside": "redraw",
    }
    assert sorted(set(drawn(table).tolist())) == [1, 2, 4, 8, 16, 32]


def test_a_description_in_toml_becomes_a_workload(tmp_path):
    path = tmp_path / "jobs.toml"
    path.write_text(
        '[inter_arrival]\ndistribution = "constant"\nvalue = 0.5\n'
        '[n_hosts]\ndistribution = "uniform"\nlow = 0\nhigh = 99\n'
        '[runtime]\ndistribution = "exponential"\nmean = 0.1\n'
        '[user]\ndistribution = "choice"\nvalues = [3, 4]\n'
        "[arrivals]\ncycle = [1, 0]\nperiod = 20\nburst_size = 1\n"
        '[walltime]\nmodel = "factor"\nfactor = 4\n'
    )
    workload = independent(path, 1000, seed=1, n_hosts=16)
    # runtimes are at least 1, sizes from 1 to 16
    assert set(workload.table.amount.tolist()) == {1}
    assert (workload.n_hosts.min(), workload.n_hosts.max()) == (1, 16)
    assert set(workload.walltime.tolist()) == {4}
    assert set(np.array(workload.labels("user")).tolist()) == {3, 4}
    assert not (workload.submit_time % 20 >= 10).any()
    assert workload.headers["Note"] == "independent: seed 1, described by jobs.toml"


def test_the_machine_is_as_large_as_the_largest_job_if_not_told():
    assert independent(BASIC, 100, seed=1).headers["MaxProcs"] == "4"


def test_a_log_is_looked_for_beside_the_description(tmp_path):
    (tmp_path / "night.swf").symlink_to(NIGHT)
    path = tmp_path / "jobs.toml"
    path.write_text(
        '[inter_arrival]\ndistribution = "empirical"\nlog = "night.swf"\ncolumn = "inter_arrival"\n'
        '[n_hosts]\ndistribution = "empirical"\nlog = "night.swf"\ncolumn = "n_hosts"\n'
        '[runtime]\ndistribution = "empirical"\nlog = "night.swf"\ncolumn = "runtime"\n'
    )
    workload = independent(path, 3000, seed=1)
    sizes = log_column(NIGHT, "n_hosts")
    assert workload.n_hosts.mean() == pytest.approx(sizes.mean(), rel=0.1)


def test_what_is_given_replaces_what_is_described():
    described = BASIC | {"walltime": {"model": "factor", "factor": 9}}
    given = FactorWalltimes(2)
    assert set(independent(described, 9, seed=1).walltime.tolist()) == {270}
    assert set(independent(described, 9, seed=1, walltimes=given).walltime.tolist()) == {60}


def test_the_same_seed_gives_the_same_jobs():
    assert list(independent(BASIC, 50, seed=1)) == list(independent(BASIC, 50, seed=1))
    assert list(independent(BASIC, 50, seed=1)) != list(independent(BASIC, 50, seed=2))


def without(name):
    return {key: value for key, value in BASIC.items() if key != name}


def with_runtime(**table):
    return BASIC | {"runtime": table}


@pytest.mark.parametrize(
    ("description", "message"),
    [
        (without("runtime"), "runtime: missing, expected a table with a distribution"),
        (
            BASIC | {"size": {}},
            "size: unknown, expected one of inter_arrival, n_hosts, runtime, user, group, queue, "
            "arrivals, walltime",
        ),
        (BASIC | {"runtime": 5}, "runtime: got 5, expected a table with a distribution"),
        (
            with_runtime(),
            f"runtime.distribution: missing, expected one of {', '.join(DISTRIBUTIONS)}",
        ),
        (
            with_runtime(distribution="cauchy"),
            f"runtime.distribution: got 'cauchy', expected one of {', '.join(DISTRIBUTIONS)}",
        ),
        (
            with_runtime(distribution="gamma", shape=1),
            "runtime.scale: missing, expected a number",
        ),
        (
            with_runtime(distribution="gamma", shape=-1, scale=1),
            "runtime.shape: got -1, expected a positive number",
        ),
        (
            with_runtime(distribution="constant", value=True),
            "runtime.value: got True, expected a number",
        ),
        (
            with_runtime(distribution="constant", value=1, men=1),
            "runtime.men: unknown, expected one of value, min, max, outside, round, base, "
            "power_of_two",
        ),
        (
            with_runtime(distribution="uniform", low=5, high=4),
            "runtime.high: got 4, expected at least low, 5",
        ),
        (
            with_runtime(distribution="choice", values=[]),
            "runtime.values: got [], expected a list of numbers",
        ),
        (
            with_runtime(distribution="choice", values=[1, "x"]),
            "runtime.values[1]: got 'x', expected a number",
        ),
        (
            with_runtime(distribution="choice", values=[1, 2], weights=[1]),
            "runtime.weights: got [1], expected 2 numbers, as in values",
        ),
        (
            with_runtime(distribution="choice", values=[1], weights=[0]),
            "runtime.weights: got [0], expected numbers >= 0, not all of them zero",
        ),
        (
            with_runtime(distribution="hyper-gamma", p=2, shape1=1, scale1=1, shape2=1, scale2=1),
            "runtime.p: got 2, expected a probability from 0 to 1",
        ),
        (
            with_runtime(distribution="constant", value=1, min=3, max=2),
            "runtime.max: got 2, expected at least min, 3",
        ),
        (
            with_runtime(distribution="constant", value=1, round=0),
            "runtime.round: got 0, expected a positive number",
        ),
        (
            with_runtime(distribution="constant", value=1, outside="drop"),
            "runtime.outside: got 'drop', expected 'clip' or 'redraw'",
        ),
        (
            with_runtime(distribution="constant", value=1, power_of_two="yes"),
            "runtime.power_of_two: got 'yes', expected one of nearest, down, up",
        ),
        (
            with_runtime(distribution="empirical", log=3, column="runtime"),
            "runtime.log: got 3, expected a text",
        ),
        (
            with_runtime(distribution="constant", value=9, max=5, outside="redraw"),
            "runtime: a value from 1 to 5: not drawn in 1000 attempts, expected it to be likelier",
        ),
        (BASIC | {"arrivals": 3}, "arrivals: got 3, expected a table"),
        (
            BASIC | {"arrivals": {"burst": 3}},
            "arrivals.burst: unknown, expected one of cycle, period, burst_size, burst_spacing",
        ),
        (
            BASIC | {"arrivals": {"burst_size": 0.5}},
            "arrivals: burst size: got 0.5, expected at least 1",
        ),
        (
            BASIC | {"walltime": {"model": "tsafrir", "maximum": 5}},
            "walltimes: maximum: got 5, expected at least 3600",
        ),
        (BASIC | {"walltime": {}}, "walltime.model: missing, expected the name of a model"),
        (
            BASIC | {"walltime": {"model": "exact", "f": 1}},
            "walltime: f: no parameter of exact, which has none",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(description, message):
    with pytest.raises(InputError) as error:
        independent(description, 5, seed=1)
    assert str(error.value) == f"description: {message}"


def test_a_file_that_is_no_toml_is_refused(tmp_path):
    path = tmp_path / "jobs.toml"
    path.write_text("[runtime\n")
    with pytest.raises(InputError, match=r"jobs.toml: not valid TOML: Expected ']'"):
        read_description(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"jobs.toml: not a text file, expected TOML"):
        read_description(path)
