"""The messages in the reference are those that users get, each with its exit code."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from pathlib import Path

import pytest
from reference_pages import section, table, titles

from noctule.cli import main
from noctule.console import ExitCode

POLICIES = """\
from noctule.messages import StartJob
class Helper:
    pass
class Nothing:
    def decide(self, view, events):
        return []
class Twice:
    def decide(self, view, events):
        for job in view.waiting:
            yield StartJob(job)
            yield StartJob(job)
class Greedy:
    def decide(self, view, events):
        for job in view.waiting:
            yield StartJob(job)
class Words:
    def decide(self, view, events):
        return ["start"]
class Fails:
    def decide(self, view, events):
        return 1 / 0
class Peeks:
    def decide(self, view, events):
        return [
            StartJob(job)
            for job in view.waiting if job.runtime < 10
        ]
class Sleeps:
    def decide(self, view, events):
        from noctule.messages import SetPowerState
        return [SetPowerState([0], 1)]
"""


def line(job: int, submit: int, runtime: object, size: int) -> str:
    """Return a job of a log."""
    return f"{job} {submit} -1 {runtime} {size} -1 -1 {size} 20 -1 1 1 1 -1 -1 -1 -1 -1\n"


HEADER = "; MaxProcs: 4\n"
LOG = HEADER + line(1, 0, 10, 2) + line(2, 1, 10, 4) + line(3, 2, 10, 1)


def batsim(profile: dict[str, object], *jobs: dict[str, object]) -> str:
    """Return a Batsim workload of one profile."""
    usual = {"subtime": 0, "res": 2, "profile": "p"}
    document = {"nb_res": 4, "profiles": {"p": profile}, "jobs": [usual | job for job in jobs]}
    return json.dumps(document)


def sessions(*preceding: list[int]) -> str:
    """Return a file of sessions 1, 2, ... that wait for others."""
    listed = [
        {
            "id": i,
            "first_submit_time": i,
            "preceding_sessions": others,
            "thinking_time_after_preceding_session": [0] * len(others),
            "jobs": [{"id": i, "subtime": 0}],
        }
        for i, others in enumerate(preceding, start=1)
    ]
    return json.dumps({"sessions": listed})


DELAY = {"type": "delay", "delay": 10}
FILES = {
    "log.swf": LOG,
    "empty.swf": "",
    "short.swf": HEADER + "1 2 3\n",
    "broken.swf": HEADER + line(1, 0, 10, 2) + line(2, 1, "abc", 4),
    "twice.swf": HEADER + line(1, 0, 10, 2) * 2,
    "unrun.swf": HEADER + line(1, 0, -1, 2),
    "nohosts.swf": line(1, 0, 10, 2),
    "half.json": '{"nb_res": 4,',
    "bad.json": batsim(DELAY, {"id": 1, "walltime": -3}),
    "mpi.json": batsim({"type": "parallel_homogeneous", "cpu": 1e9, "com": 1e6}, {"id": 1}),
    "odd.json": batsim({"type": "ForkJoinCompositionProfile"}, {"id": 1}),
    "trace.json": batsim({"type": "smpi", "trace": "ranks.txt"}, {"id": 1}),
    "wide.json": batsim({"type": "parallel", "cpu": [1, 2, 3], "com": [0] * 9}, {"id": 1}),
    "ring.json": batsim(
        DELAY,
        {"id": 1, "dependencies": [{"job": 2}]},
        {"id": 2, "dependencies": [{"job": 1}]},
    ),
    "circle/3.json": sessions([], [3], [2]),
    "lost/3.json": sessions([8]),
    "key.toml": '[[hosts]]\nspede = "1Gf"\n',
    "unit.toml": '[[hosts]]\nspeed = "1Gx"\n',
    "unit.xml": (
        '<?xml version="1.0"?>\n<platform version="4.1">\n<zone id="z" routing="Full">\n'
        '<host id="a" speed="1Gx"/>\n</zone></platform>\n'
    ),
    "four.toml": "[[hosts]]\ncount = 4\n",
    "watts.toml": "[[hosts]]\ncount = 4\npower = { idle = 1, computing = 2 }\n",
    "head.csv": "hour,g\n0,60\n",
    "fall.csv": "time,value\n0,60\n0,70\n",
    "minus.csv": "time,value\n0,-60\n",
    "brief.csv": "time,value\n0,60\n5,70\n",
    "dates.csv": "time,value\n2024-03-01,0.2\n",
    "good.py": POLICIES,
    "syntax.py": "class :\n",
    "notes.txt": "a note\n",
    "full/notes.txt": "a note\n",
    "few.csv": "job_id,submit_time\n1,0\n",
    "text.csv": "job_id,submit_time,start_time,finish_time,n_hosts\n1,0,soon,2,1\n",
    "jobs.toml": (
        '[inter_arrival]\ndistribution = "exponential"\nmean = 60\n'
        '[n_hosts]\ndistribution = "wiebull"\n[runtime]\ndistribution = "constant"\nvalue = 30\n'
    ),
}

# what to run for each message of a section, in the order of its table
COMMANDS: dict[str, tuple[ExitCode, list[str]]] = {
    "Command line": (
        ExitCode.USAGE,
        [
            "run log.swf",
            "run log.swf --policy easy --hosts 0",
            "run log.swf --policy easy --walltime-factor some",
            "generate lublin -n 5 --seed 1 --burst-spacing 3",
            "trace scale log.swf -o new.swf --load 2 --to-load 0.7",
        ],
    ),
    "Workloads": (
        ExitCode.INPUT,
        [
            "run kht.swf --policy easy",
            "run weeks --policy easy",
            "run empty.swf --policy easy",
            "run short.swf --policy easy",
            "run broken.swf --policy easy",
            "run twice.swf --policy easy",
            "run unrun.swf --policy easy",
            "run nohosts.swf --policy easy",
            "run cut.swf.gz --policy easy",
            "run half.json --policy easy",
            "run bad.json --policy easy",
            "run bad.json --policy easy --processors allocated",
            "run mpi.json --policy easy",
            "run odd.json --policy easy",
            "run trace.json --policy easy",
            "run wide.json --policy easy",
            "run ring.json --policy easy",
            "run log.swf --policy easy --profiles delay --reference-speed 2",
        ],
    ),
    "Platforms": (
        ExitCode.INPUT,
        [
            "run log.swf --policy easy --platform key.toml",
            "run log.swf --policy easy --platform unit.toml",
            "platform show unit.xml",
            "run log.swf --policy easy --platform four.toml --hosts 5",
            "run log.swf --policy easy --platform four.toml --speed 2",
            "platform convert four.toml out.yaml",
            "run log.swf --policy easy --platform four.toml --energy exact",
        ],
    ),
    "Carbon and price": (
        ExitCode.INPUT,
        [
            f"run log.swf --policy easy --platform watts.toml {words}"
            for words in (
                "--carbon 60",
                "--energy exact --carbon head.csv",
                "--energy exact --carbon fall.csv",
                "--energy exact --carbon minus.csv",
                "--energy exact --carbon brief.csv",
                "--energy exact --price dates.csv",
            )
        ],
    ),
    "Policies": (
        ExitCode.INPUT,
        [
            "run log.swf --policy eazy",
            "run log.swf --policy 'easy(sjf)'",
            "run log.swf --policy 'easy(ordr=sjf)'",
            "run log.swf --policy 'easy(order=short)'",
            "run log.swf --policy 'easy(allocation=best)'",
            "run log.swf --policy mine.py:Mine",
            "run log.swf --policy good.py:Missing",
            "run log.swf --policy good.py:Helper",
            "run log.swf --policy 'good.py:Nothing(alpha=2)'",
            "run log.swf --policy syntax.py:Mine",
        ],
    ),
    "Decisions": (
        ExitCode.DECISION,
        [
            f"run log.swf --policy good.py:{name}"
            for name in ("Twice", "Greedy", "Words", "Fails", "Sleeps", "Sleeps --machine", "Peeks")
        ],
    ),
    "Deadlocks": (ExitCode.DEADLOCK, ["run log.swf --policy good.py:Nothing"]),
    "Outputs": (
        ExitCode.INPUT,
        [
            "run log.swf --policy easy -o out/easy",
            "run log.swf --policy easy -o full --force",
            "run log.swf --policy easy -o notes.txt",
            "generate lublin -n 5 --seed 1 -o drawn.txt",
            "plot gantt out/easy -o gantt.jpg",
        ],
    ),
    "Runs that are read": (
        ExitCode.INPUT,
        [
            "metrics full",
            "rerun log.swf",
            "rerun out/moved/manifest.json",
            "rerun out/changed/manifest.json",
            "check few.csv --hosts 4",
            "check text.csv --hosts 4",
            "check out/easy/jobs.csv --hosts 4 --policy filler",
            "metrics out/easy --threshold 0",
            "plot gantt out/easy -o gantt.svg --from 9 --to 3",
            "plot gantt out/easy -o gantt.svg --colour user",
        ],
    ),
    "Generators and traces": (
        ExitCode.INPUT,
        [
            "generate independent jobs.toml -n 5 --seed 1",
            "generate lublin -n 5 --seed 1 --walltime exact --walltime-factor 3",
            "generate batsim2016 --runtimes mpi.json --seed 1",
            "trace slice log.swf -o new.swf --from 1997-01-01",
            "trace slice log.swf -o new.swf --users 7",
            "trace extract log.swf --length 7d",
            "trace extract log.swf --length 1s --count 3 -o part.swf",
            "trace convert log.swf -o again.swf --profiles delay",
            "trace fetch kth",
            "trace fetch kth-sp2 --folder . --address http://127.0.0.1:9",
        ],
    ),
    "Sessions": (
        ExitCode.INPUT,
        [
            "sessions log.swf --threshold 60min",
            "sessions log.swf --threshold soon",
            "sessions circle",
            "sessions lost",
            "sessions log.swf --threshold 0 -o full",
        ],
    ),
    "Replay": (
        ExitCode.INPUT,
        [
            "run log.swf --policy easy --replay feedbak",
            "run log.swf --policy easy --replay feedback",
            "run log.swf --policy easy --replay feedback(threshold=-1)",
        ],
    ),
}


@pytest.fixture
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the current folder one with all that the commands need."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    for name, text in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    Path("weeks").mkdir()
    Path("cut.swf.gz").write_bytes(gzip.compress(LOG.encode())[:40])
    for folder, log in (("easy", "log.swf"), ("moved", "gone.swf"), ("changed", "kept.swf")):
        Path(log).write_text(LOG)
        main(["run", log, "--policy", "easy", "-o", f"out/{folder}", "--quiet"])
    Path("gone.swf").unlink()
    Path("kept.swf").write_text(LOG + line(4, 3, 10, 1))


def messages(title: str) -> list[str]:
    """Return the messages that a section of the page shows."""
    return [row[0].strip("`") for row in table(section("errors", title), "message")]


def says(shown: str, printed: str) -> bool:
    """Tell whether a message is the one that is shown; `...` stands for anything."""
    pattern = ".+".join(re.escape(part) for part in shown.split("..."))
    return re.fullmatch(pattern, printed) is not None


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("title", COMMANDS)
def test_the_messages_of_a_section_are_those_that_users_get(title, capsys):
    code, commands = COMMANDS[title]
    for shown, command in zip(messages(title), commands, strict=True):
        capsys.readouterr()
        got = main(shlex.split(command))
        printed = capsys.readouterr().err.splitlines()[-1].removeprefix("noctule: ")
        assert got == code, command
        assert says(shown, printed), f"{command}\n{shown}\n{printed}"


def test_every_section_is_tried():
    text = section("errors", "Messages")
    assert [title for title in titles("errors") if f"\n### {title}\n" in text] == list(COMMANDS)


@pytest.mark.usefixtures("_files")
def test_the_text_of_an_exception_is_the_message(capsys):
    from noctule import load_workload
    from noctule.errors import InputError

    with pytest.raises(InputError) as caught:
        load_workload("kht.swf")
    assert str(caught.value) == messages("Workloads")[0]


def test_another_message_is_found_out():
    assert says(
        "a: unknown; known: ... (did you mean b?)", "a: unknown; known: b, c (did you mean b?)"
    )
    assert not says("a: got 1, expected 2", "a: got 1, expected 3")
    assert not says("a: known: ...", "a: known: ")
