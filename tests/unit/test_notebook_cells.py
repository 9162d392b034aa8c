"""Schedules in notebooks: numbers and small pictures of one, the page of several."""

from __future__ import annotations

import html
import re

import pytest
from built_schedules import Row, a_schedule

import noctule as nt
from noctule.errors import InputError
from noctule.report import explore


@pytest.fixture
def schedule() -> nt.Schedule:
    # two of four hosts are busy for 100 s, then all for 100 s; the second job waits for 50 s
    return a_schedule([Row(1, 0.0, 0.0, 100.0, "0-1"), Row(2, 50.0, 100.0, 200.0, "0-3")])


def test_a_schedule_shows_its_usual_numbers(schedule):
    text = schedule._repr_html_()
    numbers = dict(re.findall(r"<th[^>]*>([^<]*)</th><td[^>]*>([^<]*)</td>", text))
    assert numbers["jobs"] == "2"
    assert numbers["makespan (s)"] == "200.0000"
    assert numbers["utilisation"] == "0.75"
    assert numbers["mean wait (s)"] == "25.0000"


def test_its_pictures_are_as_high_as_hosts_were_busy_and_jobs_waited(schedule):
    use, queue = re.findall(r'points="([^"]*)"', schedule._repr_html_())
    heights = [float(point.partition(",")[2]) for point in use.split()[1:-1]]
    assert heights[0] == 24.0
    assert heights[-1] == 0.0
    waiting = [float(point.partition(",")[2]) for point in queue.split()[1:-1]]
    assert waiting[0] == 48.0
    assert 0.0 in waiting


def test_a_schedule_of_nothing_shows_itself_without_pictures():
    text = a_schedule([])._repr_html_()
    assert "<svg" not in text
    assert "0 jobs on 4 hosts" in text


def test_the_page_of_a_schedule_is_shown_in_a_room_of_its_own(schedule):
    pytest.importorskip("bokeh", reason="the page is drawn by BokehJS")
    cell = schedule.explore(height=500)
    shown = cell._repr_html_()
    assert 'sandbox="allow-scripts allow-downloads"' in shown
    assert 'height="500"' in shown
    assert html.unescape(shown.partition('srcdoc="')[2].removesuffix('"></iframe>')) == str(cell)


def test_names_of_runs_cannot_leave_the_cell(schedule):
    pytest.importorskip("bokeh", reason="the page is drawn by BokehJS")
    cell = explore({'"></iframe><script>alert(1)</script>': schedule})
    inside = cell._repr_html_().partition('srcdoc="')[2].removesuffix('"></iframe>')
    assert '"' not in inside
    assert "<script>alert" not in str(cell)


@pytest.mark.parametrize(("n_runs", "height", "told"), [(9, 900, "9 runs"), (1, 10, "got 10")])
def test_too_many_runs_and_too_low_cells_are_refused(schedule, n_runs, height, told):
    pytest.importorskip("bokeh", reason="the page is drawn by BokehJS")
    with pytest.raises(InputError, match=told):
        explore({str(i): schedule for i in range(n_runs)}, height=height)
