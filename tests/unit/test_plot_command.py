"""noctule plot: runs in folders become a picture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from noctule import Platform, load_workload, simulate
from noctule.cli import main
from noctule.commands.plot import plot
from noctule.errors import InputError

pytest.importorskip("matplotlib")
from matplotlib import image

NIGHT = Path(__file__).parents[2] / "examples" / "night.swf"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    workload = load_workload(NIGHT)
    for policy in ("fcfs", "easy"):
        simulate(Platform.homogeneous(128), workload, policy).save(folder / policy)
    return folder


@pytest.fixture(autouse=True)
def current(runs, monkeypatch):
    monkeypatch.chdir(runs)


def run(*words):
    return CliRunner().invoke(plot, [str(word) for word in words], catch_exceptions=False)


@pytest.mark.parametrize("kind", ["gantt", "utilisation", "queue", "waits"])
def test_runs_become_a_picture(kind, tmp_path):
    target = tmp_path / "deep" / f"{kind}.png"
    answer = run(kind, "fcfs", "easy", "-o", target, "--dpi", 50)
    assert (answer.exit_code, answer.stdout) == (0, f"{target}: written\n")
    assert target.read_bytes().startswith(b"\x89PNG")
    # again, over the first one
    assert run(kind, "fcfs", "-o", target, "--quiet", "--dpi", 50).output == ""


@pytest.mark.parametrize(
    "words",
    [
        ("capacity", "easy", "--columns", "1"),
        ("changes", "fcfs", "easy", "--what", "wait"),
        ("tradeoff", "fcfs", "easy", "--y", "max_slowdown", "--no-front"),
        ("load", "easy", "--by", "week", "--log", NIGHT),
        ("waits", "fcfs", "easy", "--by", "runtime"),
    ],
)
def test_other_pictures_have_options_of_their_own(words, tmp_path):
    answer = run(*words, "-o", tmp_path / "x.png", "--dpi", 50)
    assert answer.exit_code == 0
    width = image.imread(tmp_path / "x.png").shape[1]
    assert width == (170 if "--columns" in words else 355)


def test_the_kinds_of_pictures_are_in_the_help():
    from noctule.plots import FIGURES

    listed = run("--help").stdout
    assert [
        kind
        for kind in (*FIGURES, "changes", "tradeoff", "curves", "months", "month-tradeoffs")
        if kind not in listed
    ] == []


def test_windows_and_failures_of_a_run_are_drawn_while_their_files_are_there(tmp_path):
    (tmp_path / "w.toml").write_text(
        '[[maintenance]]\nhosts = "0-31"\nfrom = "100000s"\nto = "300000s"\n'
    )
    lines = [
        json.dumps({"type": kind, "timestamp": date, "resources": "90-99"})
        for kind, date in (("machine_failed", 50_000), ("machine_restored", 90_000))
    ]
    (tmp_path / "e.txt").write_text("\n".join(lines) + "\n")
    files = ("--windows", str(tmp_path / "w.toml"), "--events", str(tmp_path / "e.txt"))
    target = str(tmp_path / "out")
    words = ("run", str(NIGHT), "--hosts", "128", "--policy", "easy", *files, "-o", target)
    assert main([*words, "--quiet"]) == 0
    texts = []
    for name in ("a.svg", "b.svg"):
        answer = run("gantt", target, "-o", tmp_path / name)
        texts.append(answer.stderr)
        (tmp_path / "w.toml").unlink(missing_ok=True)
    assert texts[0] == ""
    assert "out: not all that happened to hosts is shown: " in texts[1]
    sizes = [(tmp_path / name).read_text().count("url(#h") for name in ("a.svg", "b.svg")]
    assert sizes[0] > sizes[1] > 0


def powered_run(folder, *words):
    (folder / "p.toml").write_text("[[hosts]]\ncount = 128\npower = { idle = 1, computing = 2 }\n")
    policy = ("--platform", str(folder / "p.toml"), "--policy", "easy", "--energy", "exact")
    target = folder / "-".join(["run", *words]).replace("--", "")
    assert main(["run", str(NIGHT), *policy, *words, "-o", str(target), "--quiet"]) == 0
    return target


def test_power_is_drawn_with_the_rates_of_the_runs(tmp_path):
    plain, carbon = powered_run(tmp_path), powered_run(tmp_path, "--carbon", "50")
    sizes = []
    for folders in ([plain], [plain, carbon]):
        assert run("power", *folders, "-o", tmp_path / "x.png", "--dpi", 50).exit_code == 0
        sizes.append(image.imread(tmp_path / "x.png").shape[0])
    assert sizes[0] == 135  # 0.5 inches and a panel of 2.2
    assert sizes[1] == 175  # 0.5 and two of 1.5
    other = powered_run(tmp_path, "--carbon", "60")
    with pytest.raises(InputError, match="got runs with different series of carbon or price"):
        run("power", carbon, other, "-o", tmp_path / "x.png")


def test_months_of_runs_are_drawn(tmp_path):
    folders = [powered_run(tmp_path), powered_run(tmp_path, "--carbon", "50")]
    for kind in (("months",), ("month-tradeoffs", "--month", "2", "--month", "1")):
        target = tmp_path / f"{kind[0]}.png"
        answer = run(*kind, *folders, "--days", 1, "-o", target, "--dpi", 50)
        assert (answer.exit_code, answer.stdout) == (0, f"{target}: written\n")
    with pytest.raises(InputError, match="month: got 99, expected one of 1 to "):
        run("month-tradeoffs", *folders, "--days", 1, "--month", 99, "-o", target)


def test_json_tells_what_was_drawn(tmp_path):
    target = str(tmp_path / "x.svg")
    answer = run("waits", "easy", "-o", target, "--json")
    assert json.loads(answer.stdout) == {"output": target, "runs": ["easy"]}
    text = Path(target).read_text()
    assert "<svg" in text


def test_runs_have_the_names_of_their_folders_unless_these_are_the_same(tmp_path):
    from noctule.plots.runs import folder_names

    assert folder_names(("out/fcfs", "out/easy/")) == ["fcfs", "easy"]
    assert folder_names(("a/easy", "b/easy")) == ["a/easy", "b/easy"]


def test_a_part_of_the_time_is_another_picture(tmp_path):
    for name, window in (("all", ()), ("part", ("--from", 90_000, "--to", 100_000))):
        run("gantt", "easy", "-o", tmp_path / f"{name}.png", *window, "--dpi", 40)
    assert (tmp_path / "all.png").read_bytes() != (tmp_path / "part.png").read_bytes()


def test_options_of_single_pictures(tmp_path):
    assert run("gantt", "easy", "--colour", "state", "-o", tmp_path / "a.svg").exit_code == 0
    assert run("queue", "easy", "--unit", "hosts", "-o", tmp_path / "b.svg").exit_code == 0
    assert run("waits", "easy", "--unit", "hosts", "-o", tmp_path / "c.svg").exit_code == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing",), "nothing: no file jobs.csv, expected a folder with "),
        (("easy", "-o", "x.gif"), "x.gif: got no known ending, expected .pdf, .png, .svg"),
        (
            ("easy", "--from", 50, "--to", 50),
            "--from, --to: got 50.0 to 50.0, expected a later second to end with",
        ),
        (
            ("easy", "--from", "nan"),
            "--from, --to: got nan to ",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(words, message, tmp_path):
    output = () if "-o" in words else ("-o", tmp_path / "x.png")
    with pytest.raises(InputError) as error:
        run("gantt", *words, *output)
    assert str(error.value).startswith(message)


def test_a_picture_needs_a_name_and_a_run():
    assert run("gantt", "easy").exit_code == 2
    assert run("gantt", "-o", "x.png").exit_code == 2
