"""noctule trace, in this process: what it prints, what it writes, how it ends."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from trace_files import a_line

from noctule import archive, cli
from noctule.cli import ExitCode, main
from noctule.formats import load_workload
from noctule.formats.swf import read_swf_log

Capture = pytest.CaptureFixture[str]

# 100 s on 8 hosts; job 3 never ran, job 4 has no processors and is the only one of user 2
LOG = "\n".join(
    [
        "; UnixStartTime: 843480031",
        "; TimeZoneString: Europe/Stockholm",
        "; MaxProcs: 8",
        a_line(1, 0, wait_time=0, run_time=40, user=1, group=1, queue=0, status=1),
        a_line(2, 20, wait_time=0, run_time=50, user=1, group=1, queue=1, status=1),
        a_line(3, 30, wait_time=10, run_time=0, user=1, group=2, status=5),
        a_line(4, 60, requested_processors=-1, allocated_processors=-1, user=2, wait_time=0),
        a_line(5, 100, wait_time=0, run_time=90, user=3, requested_time=60, status=0),
    ]
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log in the current folder, and the command where the command line finds it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(cli.COMMANDS, "trace", ("trace", "Work on recorded workloads."))
    (tmp_path / "log.swf").write_text(LOG)
    return tmp_path


def trace(*arguments: str) -> int:
    return main(["trace", *arguments])


def failure(capsys: Capture, *arguments: str) -> str:
    """The line that a command ends with that was given something wrong."""
    assert trace(*arguments) == ExitCode.INPUT
    out, err = capsys.readouterr()
    assert out == ""
    return err.splitlines()[-1]


def ids_in(path: str) -> list[int]:
    log = read_swf_log(Path(path).read_bytes(), source=path)
    return [int(number) for number in log.column("job number").tolist()]


def as_json(capsys: Capture, *arguments: str) -> Any:
    assert trace(*arguments, "--json", "--quiet") == ExitCode.OK
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


# stats and check


def test_stats_prints_tables_for_people(capsys: Capture) -> None:
    assert trace("stats", "log.swf") == ExitCode.OK

    out, err = capsys.readouterr()
    assert err == "log.swf: processors: 1, as none are known: 1\n"
    lines = out.splitlines()
    assert " ".join(lines[0].split()) == "of jobs that ran mean min p25 median p75 p95 max"
    rows = dict(line.rsplit(maxsplit=1) for line in lines if line)
    assert rows["jobs"] == "5"
    assert rows["jobs that ran"] == "3"
    # (40 + 50 + 90) x 4 of 8 x 100 s
    assert ["load", "90.00", "%"] in [line.split() for line in lines]
    assert "submissions by hour, Europe/Stockholm" in lines
    assert "  14  5  ########################################" in lines
    assert any(line.split()[:2] == ["3", "1"] for line in lines if line)


def test_stats_as_json_has_all_users(capsys: Capture) -> None:
    data = as_json(capsys, "stats", "log.swf", "--hosts", "16", "--users", "0")

    assert data["file"] == "log.swf"
    assert (data["n_jobs"], data["n_hosts"], data["load"]) == (5, 16, 0.45)
    assert len(data["by_hour"]) == 24
    assert [user["user"] for user in data["users"]] == [1, 3, 2]


def test_stats_of_work_needs_the_speed_of_the_hosts(capsys: Capture) -> None:
    assert trace("convert", "log.swf", "-o", "w.json", "--quiet") == ExitCode.OK

    data = as_json(capsys, "stats", "w.json", "--speed", "2")

    assert data["distributions"]["runtime"]["max"] == 45


def test_check_lists_oddities_and_ends_well(capsys: Capture) -> None:
    assert trace("check", "log.swf") == ExitCode.OK

    out = capsys.readouterr().out
    names = [line.split()[0] for line in out.splitlines()[1:] if line]
    assert names == ["size-unknown", "run-zero", "over-request", "log.swf:"]
    assert out.endswith("log.swf: 5 jobs, oddities: 1 missing, 2 unusual\n")


def test_check_fails_if_it_is_strict_and_something_is_wrong(capsys: Capture) -> None:
    assert trace("check", "log.swf", "--strict") == ExitCode.CHECK_FAILED
    Path("fine.swf").write_text(
        "; UnixStartTime: 0\n; MaxProcs: 8\n" + a_line(1, user=1, wait_time=0)
    )
    capsys.readouterr()

    assert trace("check", "fine.swf", "--strict") == ExitCode.OK
    assert capsys.readouterr().out == "fine.swf: 1 job, nothing odd\n"


def test_check_sees_what_no_other_command_reads(capsys: Capture) -> None:
    Path("bad.swf").write_text(a_line(1, -5) + "\n" + a_line(1, 3))

    data = as_json(capsys, "check", "bad.swf", "--hosts", "2", "--examples", "1")

    names = {oddity["name"]: oddity["examples"] for oddity in data["oddities"]}
    assert names["submit-negative"] == ["line 1"]
    assert names["job-twice"] == ["line 2"]
    assert names["too-large"] == ["line 1"]
    assert failure(capsys, "stats", "bad.swf") == (
        "noctule: bad.swf: line 1: field 2 (submit time): got -5, expected a number >= 0"
    )


def test_flurries_are_what_the_options_say(capsys: Capture) -> None:
    data = as_json(capsys, "check", "log.swf", "--flurry-jobs", "2", "--flurry-window", "31s")

    (flurry,) = [oddity for oddity in data["oddities"] if oddity["name"] == "flurry"]
    assert flurry["n_jobs"] == 3


# slice, scale, merge, anonymise


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--from", "20", "--to", "60"], [2, 3]),
        (["--from", "1996-09-23T14:01:00"], [3, 4, 5]),
        (["--jobs", "1,4-9"], [1, 4, 5]),
        (["--positions", "-2:"], [4, 5]),
        (["--users", "2,3"], [4, 5]),
        (["--users", "2", "--users", "3", "--exclude"], [1, 2, 3]),
        (["--groups", "2"], [3]),
        (["--queues", "0"], [1]),
        (["--ran"], [1, 2, 5]),
    ],
)
def test_slice_writes_what_is_asked_for(options: list[str], expected: list[int]) -> None:
    assert trace("slice", "log.swf", "-o", "part.swf", *options) == ExitCode.OK

    assert ids_in("part.swf") == expected


def test_slice_says_what_it_wrote(capsys: Capture) -> None:
    assert trace("slice", "log.swf", "--jobs", "2,5", "--from-zero", "-o", "a.swf.gz") == 0

    out = capsys.readouterr().out
    assert out == (
        "a.swf.gz: 2 jobs, submitted from 1996-09-23 14:00:51+02:00 to 1996-09-23 14:02:11+02:00\n"
    )
    assert b"; UnixStartTime: 843480051\n" in gzip.decompress(Path("a.swf.gz").read_bytes())


def test_a_log_becomes_a_batsim_workload_by_the_rules_of_a_run(capsys: Capture) -> None:
    assert trace("slice", "log.swf", "--from", "20", "-o", "part.json") == ExitCode.OK

    err = capsys.readouterr().err
    assert "log.swf: dropped: run time not positive: 1\n" in err
    workload = load_workload("part.json")
    # time 0 is the submission of job 2; the walltime of job 5 is raised to its run time
    assert workload.job_ids.tolist() == [2, 5]
    assert workload.submit_time.tolist() == [0, 80]
    assert workload.walltime.tolist() == [60, 90]


def test_scale_does_all_that_is_asked_for(capsys: Capture) -> None:
    arguments = ["--load", "2", "--runtimes", "0.5", "--sizes", "3", "--whole-seconds"]
    assert trace("scale", "log.swf", "-o", "s.swf", *arguments) == ExitCode.OK

    log = read_swf_log(Path("s.swf").read_bytes(), source="s.swf")
    assert log.column("submit time").tolist() == [0, 10, 15, 30, 50]
    assert log.column("run time").tolist() == [20, 25, 0, 5, 45]
    # three times 4, but there are 8 hosts
    assert log.column("requested processors").tolist() == [8, 8, 8, -1, 8]
    assert log.column("requested time").tolist() == [30, 30, 30, 30, 30]


def test_scale_aims_at_a_load(capsys: Capture) -> None:
    assert trace("scale", "log.swf", "-o", "s.swf", "--to-load", "0.45") == ExitCode.OK
    assert "log.swf: times between submissions divided by 0.5\n" in capsys.readouterr().err

    assert as_json(capsys, "stats", "s.swf")["load"] == pytest.approx(0.45)


def test_scale_takes_one_way_to_a_load(capsys: Capture) -> None:
    assert trace("scale", "log.swf", "-o", "s.swf", "--load", "1", "--to-load", "1") == (
        ExitCode.USAGE
    )
    assert "--load and --to-load: expected one of them" in capsys.readouterr().err


def test_merge_keeps_users_apart(capsys: Capture) -> None:
    data = as_json(capsys, "merge", "log.swf", "log.swf", "-o", "two.swf.xz")

    assert data["inputs"] == ["log.swf", "log.swf"]
    assert data["outputs"][0]["n_jobs"] == 10
    assert as_json(capsys, "stats", "two.swf.xz")["n_users"] == 6
    assert trace("merge", "log.swf", "log.swf", "-o", "j.swf", "--joined", "--align", "start") == 0
    capsys.readouterr()
    assert as_json(capsys, "stats", "j.swf")["n_users"] == 3


def test_anonymise_drops_names_and_dates() -> None:
    arguments = ["log.swf", "-o", "a.swf", "--seed", "5", "--drop-dates"]
    assert trace("anonymise", *arguments) == ExitCode.OK

    text = Path("a.swf").read_text()
    assert "Unix" not in text
    assert "Stockholm" not in text
    assert sorted(ids_in("a.swf")) == [1, 2, 3, 4, 5]


# extract


def test_extract_lists_windows(capsys: Capture) -> None:
    arguments = ["--length", "50s", "--step", "10", "--count", "2"]
    assert trace("extract", "log.swf", *arguments) == ExitCode.OK

    out = capsys.readouterr().out
    # [0, 50) holds 4 x 40 + 4 x 30 of 400; [50, 100) 4 x 20
    assert [line.split()[1:2] + line.split()[-3:] for line in out.splitlines()[1:]] == [
        ["0", "70.00", "%", "3"],
        ["50", "20.00", "%", "1"],
    ]


def test_extract_writes_a_file_a_window(capsys: Capture) -> None:
    arguments = ["--length", "50s", "--step", "10", "--count", "2", "-o", "w/{}.swf"]
    data = as_json(capsys, "extract", "log.swf", *arguments)

    assert [one["file"] for one in data["extracts"]] == ["w/1.swf", "w/2.swf"]
    assert ids_in("w/1.swf") == [1, 2, 3]
    assert ids_in("w/2.swf") == [4]


def test_extract_continues_jobs_if_it_is_told_to(capsys: Capture) -> None:
    arguments = ["--length", "50s", "--step", "50", "--utilisation", ":0.5", "-o", "w.swf"]
    assert trace("extract", "log.swf", *arguments, "--at-the-start", "continue") == ExitCode.OK

    log = read_swf_log(Path("w.swf").read_bytes(), source="w.swf")
    # at 50, job 2 has 20 of 50 s left
    assert log.column("job number").tolist() == [2, 4]
    assert log.column("run time").tolist() == [20, 10]


def test_extract_says_if_there_are_fewer(capsys: Capture) -> None:
    arguments = ["--length", "50", "--step", "10", "--utilisation", "0.5:", "--count", "3"]
    assert trace("extract", "log.swf", *arguments) == ExitCode.OK

    assert "log.swf: 1 such stretches, 3 were asked for\n" in capsys.readouterr().err


def test_extract_falls_back_to_the_load(capsys: Capture) -> None:
    Path("new.swf").write_text("\n".join([a_line(1), a_line(2, 50), a_line(3, 100)]))

    data = as_json(capsys, "extract", "new.swf", "--length", "50", "--hosts", "4")

    assert data["extracts"][0]["utilisation"] == 0.2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--count", "2", "-o", "w.swf"],
            "w.swf: got one name for 2 files, expected {} in it",
        ),
        (["--length", "1y"], "--length: got '1y', expected a positive duration such as 3600 or 7d"),
        (["--utilisation", "0.8"], "--utilisation: got '0.8', expected such as 0.8:0.95 or 0.8:"),
        (
            ["-o", "w.txt"],
            "w.txt: got no known ending, expected .swf or .json, "
            "and .gz, .xz or .bz2 behind it if it is to be compressed",
        ),
    ],
)
def test_extract_refuses_what_it_cannot_do(
    capsys: Capture, arguments: list[str], message: str
) -> None:
    assert failure(capsys, "extract", "log.swf", *arguments) == f"noctule: {message}"


# convert


def test_convert_compresses_a_log_and_leaves_it_as_it_is() -> None:
    assert trace("convert", "log.swf", "-o", "log.swf.bz2") == ExitCode.OK
    assert trace("convert", "log.swf.bz2", "-o", "again.swf") == ExitCode.OK

    before, after = (read_swf_log(Path(p).read_bytes(), source=p) for p in ("log.swf", "again.swf"))
    assert before.cells.tolist() == after.cells.tolist()


def test_convert_reads_by_the_rules_given() -> None:
    arguments = ["--walltime-factor", "2", "--profiles", "delay", "--hosts", "9"]
    assert trace("convert", "log.swf", "-o", "w.json", *arguments) == ExitCode.OK

    document = json.loads(Path("w.json").read_text())
    assert document["nb_res"] == 9
    assert document["profiles"]["delay:40.0"] == {"type": "delay", "delay": 40}
    assert [job["walltime"] for job in document["jobs"]] == [80, 100, 180]


def test_convert_times_work_at_a_speed(capsys: Capture) -> None:
    arguments = ["--reference-speed", "1e9"]
    assert trace("convert", "log.swf", "-o", "w.json", *arguments) == ExitCode.OK
    assert trace("convert", "w.json", "-o", "w.swf", "--speed", "2e9") == ExitCode.OK

    log = read_swf_log(Path("w.swf").read_bytes(), source="w.swf")
    assert log.column("run time").tolist() == [20, 25, 45]


def test_convert_writes_what_happened_in_a_run(capsys: Capture) -> None:
    assert main(["run", "log.swf", "--policy", "fcfs", "-o", "out", "--quiet"]) == ExitCode.OK

    data = as_json(capsys, "convert", "out", "-o", "out.swf")

    assert data["outputs"] == [{"file": "out.swf", "n_jobs": 3}]
    log = read_swf_log(Path("out.swf").read_bytes(), source="out.swf")
    assert log.column("wait time").tolist() == [0, 0, 0]
    assert log.column("run time").tolist() == [40, 50, 90]


def test_convert_refuses_options_that_would_change_nothing(capsys: Capture) -> None:
    assert failure(capsys, "convert", "log.swf", "-o", "x.swf", "--walltime-factor", "2") == (
        "noctule: x.swf: walltime_factor=2.0: an option of .json, "
        "got a log, which is written as it was recorded"
    )
    assert failure(capsys, "convert", "log.swf", "-o", "x.swf", "--hosts", "2") == (
        "noctule: x.swf: n_hosts=2: an option of .json, "
        "got a log, which is written as it was recorded"
    )
    assert failure(capsys, "convert", "log.swf", "-o", "x.json", "--speed", "2") == (
        "noctule: x.json: speed=2.0: an option of .swf, got a JSON file"
    )


def test_what_a_format_cannot_hold_is_told(capsys: Capture) -> None:
    document = {
        "nb_res": 4,
        "profiles": {"p": {"type": "delay", "delay": 5}},
        "jobs": [{"id": "a", "subtime": 0, "res": 1, "profile": "p", "cancel_time": 9}],
    }
    Path("w.json").write_text(json.dumps(document))

    assert trace("convert", "w.json", "-o", "w.swf") == ExitCode.OK
    assert capsys.readouterr().err == (
        "w.swf: id: text, written as a number: 1\nw.swf: cancel_time: not written: 1\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["slice", "log.swf"],
        ["scale", "log.swf", "--load", "2"],
        ["merge", "log.swf"],
        ["anonymise", "log.swf"],
        ["convert", "log.swf"],
        ["extract", "log.swf", "--length", "50"],
    ],
)
def test_nothing_is_overwritten_without_force(capsys: Capture, arguments: list[str]) -> None:
    Path("mine.swf").write_text("mine")

    message = failure(capsys, *arguments, "-o", "mine.swf")
    assert message == "noctule: mine.swf: exists already; --force replaces it"
    assert Path("mine.swf").read_text() == "mine"

    assert trace(*arguments, "-o", "mine.swf", "--force", "--quiet") == ExitCode.OK
    assert Path("mine.swf").read_text().startswith("; ")


# fetch


def test_fetch_lists_the_logs(capsys: Capture) -> None:
    assert trace("fetch") == ExitCode.OK

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["log", "hosts", "hash", "known", "file", "notes"]
    assert len(lines) == 1 + len(archive.LOGS)
    assert len(as_json(capsys, "fetch")["logs"]) == len(archive.LOGS)


def test_fetch_says_where_a_log_is_and_whether_it_is_the_right_one(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = archive.ArchivedLog("small", "l_small", "Small-1.swf.gz", notes="Made up.")
    monkeypatch.setattr(archive, "LOGS", (log,))

    def get(url: str, path: Path) -> None:
        assert url == "http://here/l_small/Small-1.swf.gz"
        path.write_bytes(gzip.compress(LOG.encode()))

    monkeypatch.setattr(archive, "_get", get)
    assert trace("fetch", "small", "--folder", "logs", "--address", "http://here") == ExitCode.OK

    out, err = capsys.readouterr()
    assert out == "logs/Small-1.swf.gz\n"
    downloading, checked, notes = err.splitlines()
    assert downloading == "http://here/l_small/Small-1.swf.gz: downloading"
    assert checked.startswith("small: unverified, SHA-256 of the log ")
    assert notes == "small: Made up."
    data = as_json(capsys, "fetch", "small", "--folder", "logs")
    assert (data["verified"], data["downloaded"]) == (False, False)


def test_fetch_of_an_unknown_log_fails(capsys: Capture) -> None:
    assert failure(capsys, "fetch", "kth").endswith("(did you mean kth-sp2?)")
