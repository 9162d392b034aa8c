"""The page of runs: what is packed in it, what it refuses, and that names cannot break it."""

from __future__ import annotations

import base64
import importlib.util
import math
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from built_schedules import Row, a_schedule, rejected
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from power_runs import night_and_day
from report_pages import Page, allowed_hashes, unpacked

import noctule as nt
from noctule.cli import main
from noctule.errors import InputError
from noctule.record import JobState
from noctule.report import ReportRun, load_report_run, write_report
from noctule.report.packing import Packer, scale_of

pytest.importorskip("bokeh")

NIGHT = Path(__file__).parents[2] / "examples" / "night.swf"
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!--<script>",
    "{{SCRIPTS}}",
    "\u202egnp.exe",
    "🦇\u2028\u2029",
    "x" * 5000,
)


@pytest.fixture
def schedule() -> nt.Schedule:
    """Four hosts: A on all for 100 s, then B on 0 and 2-3 for 100 s, C beside it for 50 s."""
    return a_schedule(
        [
            Row("A", 0.0, 0.0, 100.0, "0-3"),
            rejected("R", 0.0),
            Row("C", 40.0, 100.0, 150.5, "1", JobState.TIMED_OUT),
            Row("B", 20.0, 100.0, 200.0, "0 2-3"),
        ]
    )


def test_columns_of_a_page_are_those_of_the_schedule_by_submission_and_id(schedule):
    page = Page(ReportRun.of("one", schedule))
    assert page.column("job_id") == ["A", "R", "B", "C"]
    assert page.column("submit").tolist() == [0.0, 0.0, 20.0, 40.0]
    np.testing.assert_array_equal(page.column("start"), [0.0, math.nan, 100.0, 100.0])
    np.testing.assert_array_equal(page.column("finish"), [100.0, math.nan, 200.0, 150.5])
    states = page.content["states"]
    words = [states[int(code)] for code in page.column("state")]
    assert words == ["completed", "rejected", "completed", "timed_out"]
    assert page.column("intervals").tolist() == [1, 0, 2, 1]
    # from 0 to 0, from 3 back to 0, from 0 to 2, from 3 back to 1
    assert page.column("interval_gap").tolist() == [0, -3, 2, -2]
    assert page.column("interval_size").tolist() == [4, 1, 2, 1]


def test_runs_of_one_workload_share_what_is_the_same(schedule):
    one = Page(ReportRun.of("one", schedule))
    both = Page(ReportRun.of("one", schedule), ReportRun.of("two", schedule))
    assert both.texts.keys() == one.texts.keys()


def test_power_is_in_the_page_where_it_was_counted():
    schedule = night_and_day()
    page = Page(ReportRun.of("night", schedule))
    packed = page.content["runs"][0]["power"]
    steps = nt.timeseries.power(schedule)
    np.testing.assert_array_equal(unpacked(packed["time"], page.texts, {}), steps.time)
    np.testing.assert_array_equal(unpacked(packed["value"], page.texts, {}), steps.value)


@given(arrays.arrays(np.float64, st.integers(0, 20)))
def test_any_numbers_come_back_as_they_were(values):
    packer = Packer()
    packed = packer.numbers(values, scale=scale_of(values))
    np.testing.assert_array_equal(unpacked(packed, packer.texts, {}), values)


@given(st.lists(st.integers(-(2**52), 2**52)), st.booleans())
def test_any_whole_numbers_come_back_as_they_were(values, delta):
    packer = Packer()
    packed = packer.integers(values, delta=delta)
    assert unpacked(packed, packer.texts, {}).tolist() == values


def test_names_from_strangers_stay_data():
    rows = [Row(name, 0.0, 0.0, 10.0, "0") for name in HOSTILE]
    run = ReportRun(HOSTILE[0], a_schedule(rows), labels={"user": HOSTILE})
    harmless = Page(ReportRun.of("one", a_schedule([Row("A", 0.0, 0.0, 10.0, "0")])))
    page = Page(run, title=HOSTILE[0])
    assert sorted(page.column("job_id")) == sorted(HOSTILE)
    assert sorted(page.column("user")) == sorted(HOSTILE)
    assert page.content["runs"][0]["name"] == HOSTILE[0]

    def run_by_browsers(some: Page) -> list[str]:
        return [text for told, text in some.elements.scripts if "type" not in told]

    assert run_by_browsers(page) == run_by_browsers(harmless)
    assert len(run_by_browsers(page)) == 2
    assert [tag for tag in page.elements.tags if tag != "script"] == [
        tag for tag in harmless.elements.tags if tag != "script"
    ]
    assert HOSTILE[0] in page.elements.texts


def test_only_the_scripts_of_the_page_may_run_and_nothing_may_be_asked_for(schedule):
    page = Page(ReportRun.of("one", schedule))
    scripts = [text for told, text in page.elements.scripts if "type" not in told]
    hashes = [base64.b64encode(sha256(text.encode()).digest()).decode() for text in scripts]
    assert allowed_hashes(page.text) == hashes
    assert "default-src 'none'" in page.text
    assert "unsafe-eval" not in page.text.partition("</head>")[0]


def test_the_same_runs_give_the_same_bytes(schedule, tmp_path):
    for name in ("a.html", "b.html"):
        write_report([ReportRun.of("one", schedule)], tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [rejected("R", 5.0)],
        [Row("A", 0.0, 3.0, math.nan, "0", JobState.RUNNING)],
        [Row("A", 0.0, math.nan, math.nan, "", JobState.WAITING)],
    ],
    ids=["nothing", "rejected", "without an end", "never started"],
)
def test_schedules_with_little_in_them_have_a_page(rows):
    schedule = a_schedule(rows)
    page = Page(ReportRun.of("little", schedule))
    np.testing.assert_array_equal(page.column("finish"), schedule.column("finish_time"))


def test_users_of_a_run_are_read_from_its_workload(tmp_path, monkeypatch):
    monkeypatch.chdir(NIGHT.parents[1])
    words = ["run", "examples/night.swf", "--policy", "easy", "-o", str(tmp_path / "run")]
    assert main([*words, "--quiet"]) == 0
    run = load_report_run("night", tmp_path / "run")
    workload = nt.load_workload(NIGHT)
    expected = dict(zip(workload.job_ids.tolist(), workload.labels("user").tolist(), strict=True))
    found = dict(zip(run.schedule.column("job_id").tolist(), run.labels["user"], strict=True))
    assert found == expected
    monkeypatch.chdir(tmp_path)
    elsewhere = load_report_run("night", tmp_path / "run")
    assert "user" not in elsewhere.labels
    assert elsewhere.notes[0].startswith("users are not known: examples/night.swf: an input of")


def test_the_command_writes_a_page_and_says_where(tmp_path, schedule, capsys):
    schedule.save(tmp_path / "one")
    target = tmp_path / "page.html"
    words = ["report", str(tmp_path / "one"), "-o", str(target), "--title", "Nights"]
    assert main(words) == 0
    size = target.stat().st_size / 1e6
    assert capsys.readouterr().out == f"{target}: written, {size:.1f} MB; open it in a browser\n"
    assert "<title>Nights</title>" in target.read_text()
    assert main(words) == 3
    assert capsys.readouterr().err == (f"noctule: {target}: exists already; --force replaces it\n")
    assert main([*words, "--force", "--quiet"]) == 0


@pytest.mark.parametrize(
    ("n_runs", "name", "sentence"),
    [
        (9, "page.html", "report: got 9 runs, expected 1 to 8"),
        (1, "page.pdf", "page.pdf: got no page to write, expected a name that ends with .html"),
    ],
)
def test_what_cannot_be_written_is_refused_first(n_runs, name, sentence, schedule, tmp_path):
    with pytest.raises(InputError, match=sentence):
        write_report([ReportRun.of("one", schedule)] * n_runs, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_without_bokeh_the_sentence_says_what_to_install(schedule, tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"bokeh is not installed.*pip install noctule\[report\]"):
        write_report([ReportRun.of("one", schedule)], tmp_path / "page.html")
