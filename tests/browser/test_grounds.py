"""What hosts did without jobs, and what happened to them, on the ground of a page's Gantt chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_runs import sleeping_run
from page_actions import facts_in, place_in_gantt, settled

from noctule.boxes import boxes_of, occupancy
from noctule.metrics import Window
from noctule.plots.stretches import power_boxes
from noctule.report import ReportRun, write_report

HOUR = 3600.0


@pytest.fixture(scope="module")
def sleeping() -> ReportRun:
    return sleeping_run()


@pytest.fixture(scope="module")
def sleeping_page(chromium: Any, sleeping: ReportRun, tmp_path_factory: Any) -> Path:
    path = tmp_path_factory.mktemp("sleeping") / "sleeping.html"
    write_report([sleeping], path)
    return path


def test_the_legend_names_what_is_on_the_ground(open_page, sleeping_page):
    page = open_page(sleeping_page)
    assert page.locator("#legend li").all_inner_texts() == [
        *("asleep", "switching on", "switching off"),
        *("maintenance", "reservation", "failed"),
    ]


def test_the_ground_has_the_power_states_of_the_schedule(open_page, sleeping_page, sleeping):
    page = open_page(sleeping_page, f"t={24 * HOUR}~{25 * HOUR}")
    settled(page)
    found = page.evaluate(
        """() => {
            const { left, right, bottom, top, fill_color } = noctule.gantts[0].ground.boxes.data;
            return left.map((_, i) => [left[i], right[i], bottom[i], top[i], fill_color[i]]);
        }"""
    )
    expected = power_boxes(sleeping.schedule, Window(23.8 * HOUR, 25.2 * HOUR))
    colours = {"asleep": "#7c88a6", "switching on": "#e6a117", "switching off": "#b5679a"}
    told = [
        (*(float(column[i]) for column in (b.left, b.right, b.bottom, b.top)), colours[kind])
        for kind, b in expected.items()
        for i in range(len(b))
    ]
    assert sorted(map(tuple, found)) == sorted(told)
    assert len(told) > 10


def test_pixels_hold_the_shares_of_jobs_and_of_hosts_asleep(open_page, sleeping_page, sleeping):
    page = open_page(sleeping_page)
    raster = page.evaluate(
        """() => {
            const { width, height, area } = noctule.gantts[0].raster;
            return { width, height, ...area, share: noctule.gantts[0].raster.shares() };
        }"""
    )
    first, last = raster["from"], raster["to"]
    edges = np.linspace(first, last, raster["width"] + 1)
    span = Window(*page.evaluate("noctule.runs[0].span"))
    expected = occupancy(boxes_of(sleeping.schedule, first, last), edges, 128, raster["height"])
    for boxes in power_boxes(sleeping.schedule, span).values():
        expected += 0.45 * occupancy(boxes, edges, 128, raster["height"])
    found = np.array(raster["share"]).reshape(raster["height"], raster["width"])
    np.testing.assert_allclose(found, expected, atol=2e-5)


def test_what_happened_to_hosts_is_hatched(open_page, sleeping_page):
    page = open_page(sleeping_page)
    hatched = page.evaluate(
        """() => {
            const { left, right, bottom, top, pattern } = noctule.gantts[0].outside.boxes.data;
            return left.map((_, i) => [left[i], right[i], bottom[i], top[i], pattern[i]]);
        }"""
    )
    assert hatched == [
        [10 * HOUR, 20 * HOUR, 40, 48, "diagonal_cross"],
        [24 * HOUR, 36 * HOUR, 0, 32, "right_diagonal_line"],
        [40 * HOUR, 50 * HOUR, 96, 128, "dot"],
    ]


def test_pointing_at_the_ground_tells_what_it_is(open_page, sleeping_page):
    page = open_page(sleeping_page)
    page.mouse.move(*place_in_gantt(page, 0, 43 * HOUR, 104))
    settled(page)
    facts = facts_in(page, ".tip")
    assert facts["what"] == "reservation: <i>course</i>"
    page.mouse.move(*place_in_gantt(page, 0, 30 * HOUR, 10))
    settled(page)
    facts = facts_in(page, ".tip")
    assert facts == {
        "hosts": "0-31",
        "what": "maintenance: cooling",
        "from": "day 1 00:00:00",
        "to": "day 1 12:00:00",
    }
