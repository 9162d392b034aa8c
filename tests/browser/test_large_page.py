"""A log of 300 000 jobs: the page is small enough, and draws no more than can be seen."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_runs import large_run
from page_actions import period, place_in_gantt, settled

from noctule.report import ReportRun, panel_data, write_report
from noctule.timeseries import utilisation
from noctule.waits import Waits

MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def large() -> ReportRun:
    beside_the_repository = Path(__file__).parents[3] / "shared"
    shared = Path(os.environ.get("NOCTULE_SHARED", beside_the_repository))
    return large_run(shared if (shared / "traces").is_dir() else None)


@pytest.fixture(scope="module")
def large_page(chromium: Any, large: ReportRun, tmp_path_factory: Any) -> Path:
    path = tmp_path_factory.mktemp("large") / "large.html"
    write_report([large], path)
    return path


def test_its_file_is_small_enough_for_a_mail(large_page):
    assert large_page.stat().st_size < 30 * MEGABYTE


def test_while_the_view_moves_the_last_picture_is_stretched(open_page, large_page):
    page = open_page(large_page)
    settled(page)
    areas = page.evaluate(
        """async () => {
            const [gantt, view] = [noctule.gantts[0], noctule.view];
            const frame = () => new Promise(requestAnimationFrame);
            const picture = gantt.area;
            // however slow the frames are, no timer is due before the view rests
            const { setTimeout } = window;
            const held = [];
            window.setTimeout = (work, _, ...given) => -held.push(() => work(...given));
            for (let n = 0; n < 6; n++) { view.zoom(0.9); await frame(); }
            const zoomed = gantt.area;
            window.setTimeout = setTimeout;
            held.forEach((work) => work());
            const deadline = performance.now() + 60_000;
            while ((gantt.area === zoomed || gantt.isDrawing) && performance.now() < deadline)
                await new Promise((looked) => setTimeout(looked, 50));
            const rested = gantt.area;
            view.zoom(3);
            return { full: view.full, picture, zoomed, rested, out: gantt.area };
        }"""
    )
    assert areas["zoomed"] == areas["picture"]
    length = areas["full"][1] - areas["full"][0]
    assert areas["rested"]["to"] - areas["rested"]["from"] == pytest.approx(1.4 * 0.9**6 * length)
    # where the last picture ends there is always that of everything
    assert areas["out"] == areas["picture"]


def test_zooming_far_in_ends_with_boxes(open_page, large_page):
    page = open_page(large_page)
    full = page.evaluate("noctule.view.full")
    middle = (full[0] + full[1]) / 2
    hosts = page.evaluate("noctule.runs[0].nHosts")
    page.mouse.move(*place_in_gantt(page, 0, middle, hosts / 2))
    for _ in range(30):
        page.mouse.wheel(0, -300)
        page.wait_for_timeout(20)
    settled(page)
    start, end = period(page)
    assert start < middle < end
    assert end - start < (full[1] - full[0]) / 1000
    assert page.evaluate("noctule.gantts[0].isExact")


def test_the_longest_wait_is_told_interval_by_interval(open_page, large_page, large):
    row = int(large.schedule.column("waiting_time").argmax())
    expected = Waits(large.schedule).explain_row(row)
    page = open_page(large_page, f"job={expected.job_id}")
    causes = page.locator("#wait tbody td:last-child").all_inner_texts()
    assert causes == [one.cause.value for one in expected.intervals][: len(causes)]
    assert 0 < len(causes) == min(25, len(expected.intervals))


def test_it_says_where_a_run_has_too_many_waits_to_tell(open_page, night, tmp_path, monkeypatch):
    monkeypatch.setattr(panel_data, "wait_intervals", lambda *_, **__: None)
    write_report(night[:1], tmp_path / "many.html")
    page = open_page(tmp_path / "many.html", "job=600")
    assert "noctule explain tells those of a job" in page.locator("#wait caption").inner_text()


def test_its_numbers_are_those_of_the_schedule(open_page, large_page, large):
    page = open_page(large_page)
    steps = utilisation(large.schedule)
    dates = np.linspace(*page.evaluate("noctule.view.full"), 200).tolist()
    found = page.evaluate(
        "(dates) => noctule.seriesOf(noctule.runs[0], 'utilisation')"
        ".then((steps) => dates.map((date) => steps.at(date)))",
        dates,
    )
    np.testing.assert_allclose(found, steps.at(dates), rtol=1e-12)
    ids = page.evaluate("noctule.runs[0].ids().then((ids) => [ids[0], ids.length])")
    assert ids[1] == len(large.schedule)
