"""Lublin and Feitelson's model against its exact means, and against published check values."""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule.errors import InputError
from noctule.formats.swf_writing import swf_text
from noctule.synthetic import Arrivals, cycle_named, lublin
from noctule.synthetic.draws import gamma_cdf
from noctule.synthetic.lublin import ALL_ALIKE, BATCH, INTERACTIVE, Stream, daily_cycle
from noctule.synthetic.summary import summary

# specs: 20 000 typed jobs on 128 hosts
CHECK_VALUES = {
    "mean_n_hosts": 9.0,
    "mean_runtime": 1673,
    "mean_inter_arrival_time": 572,
    "offered_load": 0.38,
    "serial_share": 0.17,
}


def mean_of_exp(shape: float, scale: float, most: float) -> tuple[float, float]:
    """Return the integral of e^g over g <= most, for a gamma variate g, and its probability."""
    part = (1 - scale) ** -shape * gamma_cdf(shape, most * (1 - scale) / scale)
    return part, gamma_cdf(shape, most / scale)


def exact_means(stream: Stream) -> dict[str, float]:
    """Work out the means of a stream on 128 hosts by integration instead of drawing."""
    area, probability = mean_of_exp(stream.a_gap * stream.rush_ratio, stream.b_gap, 13)
    middle = (np.arange(20_000) + 0.5) / 20_000
    sizes, weights = [np.ones(1)], [np.array([stream.serial])]
    for stage, low, high in (
        (stream.first_stage, stream.low, stream.middle),
        (1 - stream.first_stage, stream.middle, stream.high),
    ):
        x = low + (high - low) * middle
        others = 1 - stream.serial - stream.power_of_two
        for share, exponent in ((stream.power_of_two, np.floor(x + 0.5)), (others, x)):
            sizes.append(np.floor(2**exponent + 0.5))
            weights.append(np.full(len(x), stage * share / len(x)))
    size, weight = np.concatenate(sizes), np.concatenate(weights)
    first = np.clip(stream.pa * size + stream.pb, 0, 1)
    (area1, p1), (area2, p2) = (
        mean_of_exp(a, b, 12) for a, b in ((stream.a1, stream.b1), (stream.a2, stream.b2))
    )
    runtime = (first * area1 + (1 - first) * area2) / (first * p1 + (1 - first) * p2)
    return {
        "mean_inter_arrival_time": area / probability,
        "mean_n_hosts": float((size * weight).sum()),
        "mean_runtime": float((runtime * weight).sum()),
        "mean_work": float((size * runtime * weight).sum()),
        "serial_share": stream.serial,
    }


@pytest.mark.parametrize("stream", [BATCH, INTERACTIVE, ALL_ALIKE])
def test_a_stream_has_the_means_that_integration_gives(stream):
    drawn = summary(lublin(300_000, seed=1, streams=(stream,)))
    exact = exact_means(stream)
    for name in ("mean_inter_arrival_time", "mean_n_hosts", "serial_share"):
        assert drawn[name] == pytest.approx(exact[name], rel=0.02), name
    # runtimes are cut to whole seconds, half a second less on average; their tail is heavy
    assert drawn["mean_runtime"] == pytest.approx(exact["mean_runtime"] - 0.5, rel=0.03)


def test_the_check_values_are_those_of_one_sample_and_another_comes_within_two_per_cent():
    # 20 000 jobs are few: over 1200 seeds, 95 % of the means lie in the ranges below. The exact
    # means are 8.92 hosts, 1626 s, 527 s, load 0.40 and 17.5 % serial jobs.
    ranges = {
        "mean_n_hosts": (8.67, 9.19),
        "mean_runtime": (1334, 1960),
        "mean_inter_arrival_time": (464, 600),
        "offered_load": (0.321, 0.491),
        "serial_share": (0.168, 0.182),
    }
    for name, value in CHECK_VALUES.items():
        assert ranges[name][0] <= value <= ranges[name][1], name
    drawn = summary(lublin(20_000, seed=2097))
    for name, value in CHECK_VALUES.items():
        assert drawn[name] == pytest.approx(value, rel=0.02), name


def test_both_streams_together_have_the_exact_means_within_two_per_cent():
    batch, interactive = exact_means(BATCH), exact_means(INTERACTIVE)
    rates = [1 / stream["mean_inter_arrival_time"] for stream in (batch, interactive)]
    share = rates[0] / sum(rates)

    def joint(name: str) -> float:
        return share * batch[name] + (1 - share) * interactive[name]

    assert 1 / sum(rates) == pytest.approx(526.6, abs=0.1)
    assert joint("mean_work") * sum(rates) / 128 == pytest.approx(0.4005, abs=0.0005)
    samples = [summary(lublin(200_000, seed=seed)) for seed in range(4)]
    for name in ("mean_n_hosts", "mean_runtime", "serial_share"):
        mean = sum(sample[name] for sample in samples) / 4
        assert mean == pytest.approx(joint(name), rel=0.02), name
    gap = sum(sample["mean_inter_arrival_time"] for sample in samples) / 4
    assert gap == pytest.approx(1 / sum(rates), rel=0.02)


def test_typed_jobs_tell_their_stream_by_their_queue():
    workload = lublin(20_000, seed=3)
    queue = np.array(workload.labels("queue"))
    assert set(queue.tolist()) == {0, 1}
    # interactive jobs (0) go up to 2^5.5 = 45 hosts, batch jobs (1) are some 15 % of all
    assert workload.n_hosts[queue == 0].max() <= 45
    assert workload.n_hosts[queue == 1].max() == 128
    assert 0.12 < (queue == 1).mean() < 0.18
    assert lublin(10, seed=3, typed=False).labels("queue") is None


HASH = """
import hashlib, numpy as np
from noctule.synthetic import *
w = lublin(N, seed=1, walltimes=TsafrirWalltimes(), arrivals=Arrivals(None, Bursts(3.0, 5.0)))
columns = np.stack([w.submit_time, w.n_hosts, w.table.amount, w.walltime]).astype("<i8")
print(hashlib.sha256(columns.tobytes()).hexdigest())
"""


def test_the_same_seed_gives_the_same_jobs_as_when_this_was_written():
    workload = lublin(1000, seed=1)
    columns = np.stack([workload.submit_time, workload.n_hosts, workload.table.amount])
    assert columns[:, :3].tolist() == [[64, 80, 114], [16, 32, 8], [2573, 39, 1]]
    digest = hashlib.sha256(columns.astype("<i8").tobytes()).hexdigest()
    assert digest == "102b8fa97f01ad5df70c3f498e75bae1aa392a0b0e4414485e3b675d08f4de45"


def test_a_generator_gives_what_its_seed_gives():
    text = "".join(swf_text(lublin(200, seed=1)))
    again = "".join(swf_text(lublin(200, seed=np.random.default_rng(1))))
    assert again.replace("a generator given", "seed 1") == text
    assert "".join(swf_text(lublin(200, seed=2))) != text


def test_a_processor_without_vector_instructions_gives_the_same_jobs():
    # without them, NumPy's logarithms and powers differ in their last bits
    environment = os.environ | {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"}
    command = [sys.executable, "-W", "ignore", "-c", HASH.replace("N", "20_000", 1)]
    plain, other = (
        subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout
        for env in (os.environ, environment)
    )
    assert len(plain) == 65
    assert plain == other


def test_gamma_cdf_agrees_with_closed_forms():
    # shape 1 is the exponential distribution; shape 2: 1 - e^-x (1 + x)
    for x in (0.1, 1.0, 7.5, 30.0):
        assert gamma_cdf(1.0, x) == pytest.approx(1 - math.exp(-x), rel=1e-12)
        assert gamma_cdf(2.0, x) == pytest.approx(1 - math.exp(-x) * (1 + x), rel=1e-12)
    assert gamma_cdf(3.0, 0.0) == 0.0
    assert gamma_cdf(639.1, 639.1) == pytest.approx(0.505, abs=0.001)


def test_most_jobs_come_in_the_afternoon_and_fewest_before_dawn():
    for stream in (BATCH, INTERACTIVE, ALL_ALIKE):
        weights = daily_cycle(stream).weights
        assert len(weights) == 48
        # the mode of a gamma density is at (shape - 1) x scale, here 27 to 29 half-hours
        mode = (stream.a_day - 1) * stream.b_day
        assert abs(int(np.argmax(weights)) + 1 - mode) <= 1
        assert int(np.argmin(weights)) in (8, 9, 10)


@given(n_hosts=st.integers(1, 5000), seed=st.integers(0, 5))
def test_no_job_is_larger_than_the_machine(n_hosts, seed):
    workload = lublin(50, seed=seed, n_hosts=n_hosts)
    assert 1 <= workload.n_hosts.min() <= workload.n_hosts.max() <= n_hosts
    assert (workload.table.amount >= 1).all()
    assert (workload.walltime == workload.table.amount).all()
    assert workload.job_ids.tolist() == list(range(1, 51))


def test_larger_machines_get_larger_jobs():
    means = [lublin(5000, seed=1, n_hosts=n).n_hosts.mean() for n in (32, 128, 1024)]
    assert means[0] < means[1] < means[2]


def test_a_power_of_two_does_not_outgrow_a_machine_of_another_size():
    workload = lublin(20_000, seed=1, n_hosts=100)
    sizes = workload.n_hosts
    powers = sizes[(sizes & (sizes - 1)) == 0]
    assert powers.max() == 64


def test_a_weekly_cycle_can_be_laid_over_the_models_own_day():
    weekly = Arrivals(cycle_named("weekly"))
    submit = lublin(30_000, seed=1, arrivals=weekly).submit_time
    weekday = submit // 86_400 % 7
    # Saturday and Sunday weigh 0.53 and 0.59, the mean of the others is 1.18
    weekend = np.isin(weekday, (5, 6)).sum() / 2
    assert weekend / (np.isin(weekday, range(5)).sum() / 5) == pytest.approx(0.56 / 1.18, rel=0.1)


def test_headers_tell_where_the_jobs_come_from():
    headers = lublin(10, seed=4, n_hosts=64, typed=False).headers
    assert headers["MaxProcs"] == "64"
    assert headers["Note"] == "lublin: seed 4, jobs of one type"


def test_constants_can_be_replaced():
    serial = replace(ALL_ALIKE, serial=1.0)
    assert lublin(100, seed=1, streams=(serial,)).n_hosts.max() == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_jobs": 0}, "n_jobs: got 0, expected a whole number >= 1"),
        ({"n_hosts": 0}, "n_hosts: got 0, expected a whole number >= 1"),
        ({"streams": ()}, "lublin: streams: got none, expected at least one"),
        ({"profiles": "x"}, "profiles: got 'x', expected 'compute' or 'delay'"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(InputError) as error:
        lublin(**{"n_jobs": 5, "seed": 1} | arguments)
    assert str(error.value) == message


def test_delays_end_before_their_walltimes():
    workload = lublin(100, seed=1, profiles="delay")
    assert (workload.walltime == workload.table.amount + 1).all()
