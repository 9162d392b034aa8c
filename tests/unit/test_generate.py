"""noctule generate: files of drawn jobs, and what it says of them."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from noctule import load_workload
from noctule.commands.generate import generate
from noctule.errors import InputError

TOML = """
[inter_arrival]
distribution = "exponential"
mean = 60
[n_hosts]
distribution = "choice"
values = [1, 2]
[runtime]
distribution = "lognormal"
mu = 5
sigma = 1
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.toml").write_text(TOML)
    (tmp_path / "runtimes.txt").write_text("10\n20\n")
    return tmp_path


def run(*words):
    return CliRunner().invoke(generate, [str(word) for word in words], catch_exceptions=False)


COMMANDS = {
    "lublin": ("lublin", "-n", 300, "--hosts", 128, "--seed", 1),
    "cirne": ("cirne", "-n", 300, "--pattern", "sdsc", "--load", 0.8, "--seed", 1),
    "batsim2016": ("batsim2016", "-n", 300, "--runtimes", "runtimes.txt", "--seed", 1),
    "independent": ("independent", "jobs.toml", "-n", 300, "--seed", 1, "--hosts", 4),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("ending", ["swf", "json", "swf.xz"])
def test_a_file_is_written_that_can_be_read_again(folder, command, ending):
    answer = run(*command, "-o", f"out.{ending}", "--quiet")
    assert (answer.exit_code, answer.output) == (0, "")
    assert len(load_workload(f"out.{ending}")) == 300


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_the_same_seed_gives_the_same_bytes(folder, command):
    for name in ("a.swf", "b.swf"):
        run(*command, "-o", name, "--quiet")
    run(*command, "--seed", 2, "-o", "c.swf", "--quiet")
    first, second, other = ((folder / name).read_bytes() for name in ("a.swf", "b.swf", "c.swf"))
    assert first == second != other


def test_the_summary_is_a_table_and_with_json_an_object():
    answer = run(*COMMANDS["lublin"])
    rows = dict(line.split() for line in answer.stdout.splitlines())
    assert rows["n_jobs"] == "300"
    assert answer.stderr == "lublin: jobs drawn: 300\n"
    data = json.loads(run(*COMMANDS["lublin"], "--json").stdout)
    assert data["output"] is None
    assert list(data["workload"]) == [name for name in rows if name != "workload"]
    load = data["workload"]["offered_load"]
    assert 0 < load == pytest.approx(float(rows["offered_load"]), rel=1e-5)


def test_walltimes_can_be_chosen():
    def walltimes(*options):
        answer = run(*COMMANDS["independent"], "--json", *options)
        numbers = json.loads(answer.stdout)["workload"]
        return numbers["mean_walltime"], numbers["mean_runtime"]

    walltime, runtime = walltimes()
    assert walltime == runtime
    assert walltimes("--walltime", "none")[0] is None
    assert walltimes("--walltime", "factor", "--walltime-factor", 3)[0] == pytest.approx(
        3 * runtime
    )
    assert runtime < walltimes("--walltime", "uniform", "--walltime-factor", 3)[0] < 4 * runtime
    assert walltimes("--walltime", "tsafrir", "--max-walltime", 86_400)[0] > 5 * runtime


def test_arrivals_can_be_chosen(folder):
    options = ("--cycle", "weekly", "--burst-size", 10, "--burst-spacing", 0)
    run(*COMMANDS["batsim2016"], *options, "-o", "out.swf", "--quiet")
    submit = load_workload("out.swf").submit_time
    assert len(set(submit.tolist())) < 60


def test_one_type_of_jobs_has_no_queues():
    run(*COMMANDS["lublin"], "--untyped", "-o", "out.swf", "--quiet")
    assert load_workload("out.swf").labels("queue") is None


def test_delays_can_be_asked_for():
    run(*COMMANDS["lublin"], "--profiles", "delay", "-o", "out.json", "--quiet")
    assert "delay" in load_workload("out.json").profile_names[0]


def test_a_file_is_not_replaced_unless_forced(folder):
    (folder / "out.swf").write_text("precious")
    with pytest.raises(InputError, match=r"out.swf: exists already; --force replaces it"):
        run(*COMMANDS["lublin"], "-o", "out.swf")
    assert (folder / "out.swf").read_text() == "precious"
    assert run(*COMMANDS["lublin"], "-o", "out.swf", "--force").exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--burst-spacing", 2), "--burst-spacing: expected --burst-size with it"),
        (("--walltime-factor", 2), "--walltime-factor: expected --walltime with it"),
        (("--max-walltime", 7200), "--max-walltime: expected --walltime with it"),
        (("-n", 0), "Invalid value for '-n'"),
    ],
)
def test_options_that_do_not_go_together_are_a_wrong_usage(words, message):
    answer = run(*COMMANDS["lublin"], *words)
    assert answer.exit_code == 2
    assert message in answer.stderr


def test_a_seed_is_needed():
    answer = run("lublin", "-n", 10)
    assert answer.exit_code == 2
    assert "Missing option '--seed'" in answer.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--walltime", "exact", "--walltime-factor", 2),
            "--walltime: factor: no parameter of exact, which has none",
        ),
        (
            ("-o", "out.csv"),
            "out.csv: got no known ending, expected .swf or .json, and .gz, .xz or .bz2 behind it "
            "if it is to be compressed",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(words, message):
    with pytest.raises(InputError) as error:
        run(*COMMANDS["lublin"], *words)
    assert str(error.value) == message
