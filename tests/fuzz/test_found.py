"""What fuzzing has found once: each input is refused in one line now, or read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noctule import Schedule, load_platform, load_workload, metrics, simulate, synthetic
from noctule.errors import InputError, NoctuleError
from noctule.formats.platforms import save_platform
from noctule.formats.saving import save_workload
from noctule.platform import Platform
from noctule.run import rerun
from noctule.testing.invariants import check_schedule
from noctule.traces import find_oddities, load_raw, load_trace, trace_stats

SEEDS = Path(__file__).parent / "seeds"
JOB = '{"id": 1, "subtime": 0, "res": 1, "profile": "d"}'
PROFILES = '{"d": {"type": "delay", "delay": 1}}'


def refusal_of_platform(path: Path, text: str) -> str:
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_platform(path)
    return str(caught.value).removeprefix(f"{path}: ")


def test_a_message_is_one_line_that_prints() -> None:
    assert str(InputError("x: got a\nb\x1b[31m\u2028\udc80é")) == (
        r"x: got a\nb\x1b[31m\u2028\udc80é"
    )


def test_a_very_long_message_keeps_its_beginning_and_its_end() -> None:
    message = str(InputError("x: got " + 5000 * "9" + ", expected less"))

    assert message.startswith("x: got 999")
    assert message.endswith("999, expected less")
    assert len(message) == 1005  # 700 + " ... " + 300


def test_an_error_needs_no_message() -> None:
    assert str(NoctuleError()) == ""


def test_a_runtime_near_the_largest_number_has_no_walltime(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    log.write_text("1 0 0 1.7e308 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n")

    assert load_workload(log, walltime_factor=2).walltime[0] == float("inf")


def test_computations_that_never_end_are_not_written_as_a_log(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    log.write_text("1 0 0 1.7e308 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n")
    workload = load_workload(log, reference_speed=1e9)

    with pytest.raises(InputError, match=r"speed: got 1, at which computations never end"):
        save_workload(workload, tmp_path / "out.swf", speed=1.0)


def test_a_header_with_a_nul_is_written_as_text(tmp_path: Path) -> None:
    workload = tmp_path / "w.json"
    workload.write_text(
        f'{{"nb_res": 1, "a": "x\\u0000y", "profiles": {PROFILES}, "jobs": [{JOB}]}}'
    )

    save_workload(load_workload(workload), tmp_path / "out.swf")

    assert load_trace(tmp_path / "out.swf").headers["Note"] == r"a: x\0y"


def test_a_machine_size_of_hundreds_of_digits_is_not_believed(tmp_path: Path) -> None:
    workload = tmp_path / "w.json"
    workload.write_text(f'{{"nb_res": 1{400 * "0"}, "profiles": {PROFILES}, "jobs": [{JOB}]}}')

    assert trace_stats(load_trace(workload)).n_hosts is None


def test_times_near_the_largest_number_have_an_infinite_mean(tmp_path: Path) -> None:
    workload = tmp_path / "w.json"
    jobs = ", ".join(f'{{"id": {i}, "subtime": 0, "res": 1, "profile": "d"}}' for i in range(3))
    profiles = '{"d": {"type": "delay", "delay": 5e307}}'
    workload.write_text(f'{{"nb_res": 1, "profiles": {profiles}, "jobs": [{jobs}]}}')
    schedule = simulate(Platform.homogeneous(1), load_workload(workload), "fcfs")

    # jobs end at 5e307, 1e308 and 1.5e308 s: the sum is more than a number can hold
    assert metrics.summary(schedule)["mean_turnaround_time"] == float("inf")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[hosts]]\ncount = 99999999999999999999", "hosts[0].count: got 99999999999999999999, "
         "expected 1000000 at most"),
        ("[[hosts]]\ncount = 1\nfirst = 10000000000", "hosts[0].first: got 10000000000, "
         "expected 999999999 at most"),
        ("[[hosts]]\ncores = 2000000", "hosts[0].cores: got 2000000, expected 1000000 at most"),
        ("[[hosts]]\n[[connections]]\nkind = \"SPEEE\"\ntrace = \"t\"\nelement = \"h\"",
         "connections[0].kind: got 'SPEEE', expected HOST_AVAIL or SPEED or LINK_AVAIL or "
         "BANDWIDTH or LATENCY"),
        ("[[hosts]]\ncount = 2\n[network]\nbandwidth = 1\ntopology = { torus = [2, 4294967296] }",
         "network.topology.torus: got [2, 4294967296], expected numbers up to 999999999"),
    ],
)  # fmt: skip
def test_a_number_or_a_word_that_no_other_format_has_is_refused(
    text: str, message: str, tmp_path: Path
) -> None:
    assert refusal_of_platform(tmp_path / "p.toml", text) == message


def test_the_smallest_bandwidth_survives_being_written_and_read(tmp_path: Path) -> None:
    platform = tmp_path / "p.xml"
    platform.write_text(
        '<platform version="4.1"><zone id="z" routing="Full"><host id="h" speed="1Gf"/>'
        '<link id="l" bandwidth="5e-324Bps"/></zone></platform>'
    )

    save_platform(load_platform(platform), tmp_path / "p.toml")

    zone = load_platform(tmp_path / "p.toml").network.zones[0]
    assert zone.links[0].bandwidth == 5e-324  # type: ignore[union-attr]


def test_more_idle_hosts_than_there_can_be_are_refused(tmp_path: Path) -> None:
    for seed, name in (
        ("jobs_csv/batsim.csv", "jobs.csv"),
        ("schedule_csv/schedule.csv", "schedule.csv"),
        ("host_states_csv/machine_states.csv", "machine_states.csv"),
    ):
        (tmp_path / name).write_bytes((SEEDS / seed).read_bytes())
    states = tmp_path / "machine_states.csv"
    states.write_text(states.read_text().replace("0.000000,0,0,0,4,4", "0,0,0,0,1e300,4"))

    with pytest.raises(InputError) as caught:
        Schedule.load(tmp_path)

    assert str(caught.value) == (
        f"{states}: line 2: nb_idle: got '1e300', expected a whole number from 0 to 2147483647"
    )


def test_a_job_on_billions_of_hosts_that_do_not_exist_is_checked_at_once(tmp_path: Path) -> None:
    jobs = tmp_path / "jobs.csv"
    jobs.write_text(
        "job_id,submit_time,start_time,finish_time,hosts\n1,0,0,5,0-2147483646\n2,0,0,5,7\n"
    )

    found = check_schedule(Schedule.from_jobs_csv(jobs, 8))

    assert [violation.rule for violation in found] == ["host does not exist", "host used twice"]


@pytest.mark.parametrize(
    ("runtime", "message"),
    [
        ('distribution = "lognormal"\nmu = 1000\nsigma = 1', "runtime: drew inf, expected numbers "
         "up to 9.0072e+15"),
        ("x = " + 3000 * "[" + 3000 * "]", "not valid TOML: nested too deeply"),
        ("x = " + 5000 * "9", "got a number with thousands of digits"),
    ],
)  # fmt: skip
def test_a_description_that_draws_no_numbers_is_refused(
    runtime: str, message: str, tmp_path: Path
) -> None:
    description = tmp_path / "d.toml"
    constant = 'distribution = "constant"\nvalue = 1\n'
    description.write_text(f"[inter_arrival]\n{constant}[n_hosts]\n{constant}[runtime]\n{runtime}")

    with pytest.raises(InputError) as caught:
        synthetic.independent(description, 3, seed=1)

    assert str(caught.value) == f"{description}: {message}"


def test_a_manifest_without_its_inputs_is_refused(tmp_path: Path) -> None:
    manifest = json.loads((SEEDS / "manifest" / "manifest.json").read_text())
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(manifest | {"inputs": []}))

    with pytest.raises(InputError) as caught:
        rerun(path)

    assert str(caught.value) == f"{path}: inputs: got no log.swf, expected all of the run's"


def test_a_trace_without_a_name_survives_being_written_and_read(tmp_path: Path) -> None:
    platform = tmp_path / "p.xml"
    platform.write_text(
        '<platform version="4.1"><zone id="z" routing="Full"><host id="h" speed="1Gf"/>'
        '<trace id="" periodicity="1">0 1</trace></zone></platform>'
    )

    save_platform(load_platform(platform), tmp_path / "p.json")

    assert load_platform(tmp_path / "p.json").network.traces[0].name == ""


def test_work_that_no_number_can_hold_is_not_written_for_batsim(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    log.write_text("1 0 0 1.7e308 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n")
    workload = load_workload(log, reference_speed=1e9)

    with pytest.raises(InputError) as caught:
        save_workload(workload, tmp_path / "out.json")

    assert str(caught.value) == (
        "workload: got a computation of 1.7e+308 s at speed 1e+09, "
        "expected work that a number can hold"
    )


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ('walltime = { model = "tsafrir", n_values = 4294967295 }',
         "walltimes: n_values: got 4294967295, expected 100000 at most"),
        ('walltime = { model = "tsafrir", maximum = 1e308 }',
         "walltimes: maximum: got 1e+308, expected 9.0072e+15 at most"),
        ("arrivals = { burst_size = 1e308 }",
         "arrivals: burst size: got 1e+308, expected 9.0072e+15 at most"),
        ('user = { distribution = "constant", value = 1, power_of_two = [] }',
         "user.power_of_two: got [], expected one of nearest, down, up"),
    ],
)  # fmt: skip
def test_a_description_of_endless_work_is_refused(
    tables: str, message: str, tmp_path: Path
) -> None:
    description = tmp_path / "d.toml"
    constant = '{ distribution = "constant", value = 1 }'
    required = "".join(f"{key} = {constant}\n" for key in ("inter_arrival", "n_hosts", "runtime"))
    description.write_text(required + tables)

    with pytest.raises(InputError) as caught:
        synthetic.independent(description, 3, seed=1)

    assert str(caught.value) == f"{description}: {message}"


def test_sums_that_no_number_can_hold_are_no_reason_to_warn(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    job = "0 0 1.7e308 1.7e308 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    log.write_text(f"; MaxProcs: 4\n1 {job}2 {job}")

    assert find_oddities(load_raw(log))


def test_a_header_of_thousands_of_digits_tells_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    log.write_text(f"; MaxProcs: {5000 * '9'}\n1 0 0 1 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n")

    assert trace_stats(load_trace(log)).n_hosts is None
