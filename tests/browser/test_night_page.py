"""A page of three runs: a reader moves, searches, chooses, compares and exports."""

from __future__ import annotations

import csv
import io
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from page_actions import facts_in, period, place_in_gantt, settled, table_rows

from noctule.boxes import boxes_of, occupancy
from noctule.timeseries import queue_length, span_of, utilisation

EASY = 1


def view_in_address(page):
    found = parse_qs(urlsplit(page.url).fragment)
    return {name: values[0] for name, values in found.items()}


def a_long_job(schedule):
    """Return the row of the job with the most host-seconds: easily hit by a pointer."""
    size = schedule.column("runtime") * schedule.record.n_hosts
    return int(np.argmax(size))


def middle_of(schedule, row):
    date = (schedule.record.start_time[row] + schedule.record.finish_time[row]) / 2
    return float(date), schedule.record.hosts(row).intervals()[0][0] + 0.5


def test_the_page_says_what_it_is_about(open_page, night_page):
    page = open_page(night_page)
    assert page.title() == "A night under three policies"
    assert page.locator("h1").inner_text() == "A night under three policies"
    assert page.locator("#subtitle").inner_text().startswith("1,500 jobs · 128 hosts · 14 d")
    names = page.locator("figure.gantt figcaption").all_inner_texts()
    assert names == ["fcfs", "easy", "conservative"]


def test_series_are_those_of_the_schedules(open_page, night_page, night):
    page = open_page(night_page)
    for run, told in enumerate(night):
        start, end = span_of(told.schedule)
        middle = (start + end) / 2
        for name, steps in (
            ("utilisation", utilisation(told.schedule)),
            ("queue", queue_length(told.schedule)),
        ):
            found = page.evaluate(
                "([run, name, a, b]) => noctule.seriesOf(noctule.runs[run], name)"
                ".then((steps) => [steps.mean(a, b), steps.at(b)])",
                [run, name, start, middle],
            )
            assert found == pytest.approx([steps.mean(start, middle), steps.at(middle)], rel=1e-12)


def test_pixels_are_exactly_as_full_as_the_hosts_were_busy(open_page, night_page, night):
    page = open_page(night_page, "runs=1")
    raster = page.evaluate(
        """() => {
            const { raster } = noctule.gantts[1];
            const { width, height, area } = raster;
            return { width, height, ...area, share: raster.shares() };
        }"""
    )
    edges = np.linspace(raster["from"], raster["to"], raster["width"] + 1)
    boxes = boxes_of(night[EASY].schedule, raster["from"], raster["to"])
    expected = occupancy(boxes, edges, 128, raster["height"])
    found = np.array(raster["share"]).reshape(raster["height"], raster["width"])
    # single precision, in up to a hundred boxes a pixel
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_hovering_tells_the_facts_of_a_job(open_page, night_page, night):
    schedule = night[EASY].schedule
    row = a_long_job(schedule)
    page = open_page(night_page)
    page.mouse.move(*place_in_gantt(page, EASY, *middle_of(schedule, row)))
    page.wait_for_selector(".tip:not([hidden])")
    facts = facts_in(page, ".tip")
    assert facts["job"] == str(schedule.column("job_id")[row])
    assert facts["user"] == str(schedule.column("user")[row])
    assert facts["state"] == "completed"
    assert facts["hosts"] == str(schedule.column("n_hosts")[row])


def test_a_click_shows_a_job_in_all_runs_and_puts_it_in_the_address(open_page, night_page, night):
    schedule = night[EASY].schedule
    row = a_long_job(schedule)
    job_id = str(schedule.column("job_id")[row])
    page = open_page(night_page)
    page.mouse.click(*place_in_gantt(page, EASY, *middle_of(schedule, row)))
    page.wait_for_selector("#chosen:not([hidden])")
    assert page.locator("#chosen h2").inner_text() == f"Job {job_id}"
    assert page.locator("#chosen h3").all_inner_texts() == ["fcfs", "easy", "conservative"]
    hosts = facts_in(page, "#chosen .card:nth-child(2)")["on hosts"]
    assert hosts == str(schedule.record.hosts(row))
    settled(page)
    assert view_in_address(page)["job"] == job_id


def test_the_wheel_zooms_all_figures_around_the_pointer(open_page, night_page, night):
    page = open_page(night_page)
    before = period(page)
    date = before[0] + 0.25 * (before[1] - before[0])
    page.mouse.move(*place_in_gantt(page, 0, date, 64))
    page.mouse.wheel(0, -400)
    settled(page)
    start, end = period(page)
    assert end - start < 0.8 * (before[1] - before[0])
    assert (date - start) / (end - start) == pytest.approx(0.25, abs=0.01)
    ranges = page.evaluate(
        "noctule.figures.all.map(({plot}) => [plot.x_range.start, plot.x_range.end])"
    )
    assert ranges == [[start, end]] * 5


def test_the_wheel_over_the_axis_of_hosts_zooms_hosts(open_page, night_page):
    page = open_page(night_page)
    before = period(page)
    x, y = place_in_gantt(page, 0, before[0], 64)
    page.mouse.move(x - 12, y)
    page.mouse.wheel(0, -400)
    settled(page)
    low, high = page.evaluate(
        "[...noctule.view.hostRanges.values()].flatMap(({start, end}) => [start, end])"
    )
    assert period(page) == before
    assert 0 < low < 64 < high < 128


def test_dragging_moves_and_a_double_click_shows_all(open_page, night_page):
    page = open_page(night_page, "t=200000~400000")
    x, y = place_in_gantt(page, 0, 300_000, 64)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 100, y, steps=4)
    page.mouse.up()
    settled(page)
    start, end = period(page)
    assert end - start == pytest.approx(200_000)
    assert start > 205_000
    page.mouse.dblclick(*place_in_gantt(page, 0, start + 1000, 64))
    settled(page)
    assert period(page) == page.evaluate("noctule.view.full")


def test_zoomed_in_jobs_are_boxes_with_their_exact_dates(open_page, night_page, night):
    page = open_page(night_page, "t=200000~210000&runs=1")
    found = page.evaluate("noctule.gantts[1].jobs.boxes.data")
    boxes = boxes_of(night[EASY].schedule, 198_000, 212_000)
    assert page.evaluate("noctule.gantts[1].isExact")
    corners = ("left", "right", "bottom", "top")
    shown = zip(*(found[name] for name in corners), strict=True)
    expected = zip(*(getattr(boxes, name).tolist() for name in corners), strict=True)
    assert sorted(shown) == sorted(expected)


def test_a_job_is_found_by_its_id(open_page, night_page, night):
    page = open_page(night_page)
    page.keyboard.press("/")
    page.keyboard.type("600")
    page.wait_for_selector("#hits li")
    assert page.locator("#hits li").first.inner_text() == "job 600"
    page.keyboard.press("Enter")
    page.wait_for_selector("#chosen:not([hidden])")
    settled(page)
    start, end = period(page)
    for run, told in enumerate(night):
        record = told.schedule.record
        row = told.schedule.column("job_id").tolist().index(600)
        assert start < record.submit_time[row]
        assert record.finish_time[row] < end
        marked = page.evaluate("(run) => noctule.gantts[run].chosen.data", run)
        assert marked["left"] == [record.start_time[row]] * len(record.hosts(row).intervals())


def test_a_user_is_found_and_jobs_of_others_fade(open_page, night_page, night):
    page = open_page(night_page, "t=200000~210000&runs=1")
    page.locator("#search input").fill("13")
    page.locator("#hits li", has_text="user 13").click()
    settled(page)
    assert view_in_address(page)["user"] == "13"
    page.evaluate("noctule.view.show(200000, 210000)")
    settled(page)
    faded = page.evaluate("noctule.gantts[1].jobs.boxes.data.fill_alpha").count(0.35)
    schedule = night[EASY].schedule
    users = schedule.column("user")[boxes_of(schedule, 198_000, 212_000).row]
    assert faded == np.count_nonzero(users != 13)
    page.keyboard.press("Escape")
    settled(page)
    assert "user" not in view_in_address(page)


def test_a_brushed_period_decides_what_the_table_has(open_page, night_page, night):
    page = open_page(night_page, "runs=1")
    settled(page)
    page.get_by_role("button", name="Choose a period").click()
    x0, y = place_in_gantt(page, EASY, 200_000, 64)
    x1, _ = place_in_gantt(page, EASY, 250_000, 64)
    page.mouse.move(x0, y)
    page.mouse.down()
    page.mouse.move(x1, y, steps=5)
    page.mouse.up()
    page.wait_for_selector("#brushed:not([hidden])")
    settled(page)
    first, last = page.evaluate("noctule.view.get('brush')")
    assert [first, last] == pytest.approx([200_000, 250_000], abs=2000)
    record = night[EASY].schedule.record
    inside = (record.submit_time <= last) & (record.finish_time >= first)
    told = page.locator("#jobs .table-foot [role=status]").inner_text()
    assert told == f"1–25 of {np.count_nonzero(inside)}"


def test_runs_can_be_left_out_and_shown_side_by_side(open_page, night_page):
    page = open_page(night_page)
    page.get_by_label("fcfs", exact=True).uncheck()
    settled(page)
    assert page.locator("figure.gantt:visible").count() == 2
    assert view_in_address(page) == {"runs": "1.2"}
    wide = page.locator("figure.gantt:visible").first.bounding_box()["width"]
    page.get_by_role("button", name="Side by side").click()
    settled(page)
    left, right = (figure.bounding_box() for figure in page.locator("figure.gantt:visible").all())
    assert left["y"] == right["y"]
    assert left["width"] < 0.6 * wide


def test_the_table_sorts_and_exports_what_the_schedules_say(open_page, night_page, night):
    page = open_page(night_page, "runs=1")
    page.locator("#jobs th button", has_text="waiting_time").click()
    schedule = night[EASY].schedule
    longest = schedule.column("waiting_time").max()
    with page.expect_download() as saved:
        page.locator("#jobs button", has_text="Export CSV").click()
    assert saved.value.suggested_filename == "jobs.csv"
    text = saved.value.path().read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(schedule)
    assert float(rows[0]["waiting_time"]) == longest
    assert page.locator("#jobs th[aria-sort=descending]").inner_text().startswith("waiting_time")
    expected = schedule.jobs.set_index("job_id")
    for row in rows:
        job = expected.loc[int(row["job"])]
        for name in ("submit_time", "start_time", "finish_time", "waiting_time", "runtime"):
            assert float(row[name]) == job[name]
        assert row["state"] == job["state"]
        assert row["user"] == str(job["user"])
    shown = table_rows(page, "#jobs")
    assert [cells[1] for cells in shown] == [row["job"] for row in rows[:25]]


def test_an_address_shows_the_same_view_again(open_page, night_page):
    view = "t=200000~300000&h128=10~60&runs=0.2&colour=state&brush=220000~230000&job=600&theme=dark"
    page = open_page(night_page, view)
    assert period(page) == [200_000, 300_000]
    assert page.locator("figure.gantt:visible").count() == 2
    assert page.locator("#colour").input_value() == "state"
    assert page.locator("#chosen h2").inner_text() == "Job 600"
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.evaluate("noctule.view.pan(0)")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    settled(page)
    found = view_in_address(page)
    assert found["h128"] == "10~60"
    assert found["runs"] == "0.2"
    assert found["brush"] == "220000~230000"
    assert found["theme"] == "dark"


@pytest.mark.parametrize(
    "view", ["t=nonsense&runs=99&colour=%3Cb%3E&brush=5~1&theme=pink", "%%%", "t=NaN~Infinity"]
)
def test_an_address_without_sense_shows_all(view, open_page, night_page):
    page = open_page(night_page, view)
    assert period(page) == page.evaluate("noctule.view.full")
    assert page.locator("figure.gantt:visible").count() == 3


def test_keys_move_zoom_and_help(open_page, night_page):
    page = open_page(night_page, "t=200000~300000")
    page.keyboard.press("ArrowRight")
    assert period(page) == pytest.approx([220_000, 320_000])
    page.keyboard.press("+")
    start, end = period(page)
    assert end - start == pytest.approx(100_000 / 1.5)
    page.keyboard.press("-")
    assert period(page) == pytest.approx([220_000, 320_000])
    page.keyboard.press("0")
    assert period(page) == page.evaluate("noctule.view.full")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


def test_up_and_down_move_over_hosts_that_are_out_of_sight(open_page, night_page):
    page = open_page(night_page, "h128=10~60")
    hosts = (
        "Object.values((({ start, end }) => ({ start, end }))(noctule.view.hostRanges.get(128)))"
    )
    page.keyboard.press("ArrowUp")
    assert page.evaluate(hosts) == [20, 70]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(hosts) == [0, 50]
    settled(page)
    assert page.evaluate("scrollY") == 0
    # with no hosts further down, the key scrolls the page as ever
    page.keyboard.press("ArrowDown")
    settled(page)
    assert page.evaluate("scrollY") > 0
    assert page.evaluate(hosts) == [0, 50]


def test_jumping_to_a_table_keeps_the_view(open_page, night_page):
    page = open_page(night_page, "t=200000~300000&job=600")
    page.get_by_role("navigation").get_by_role("button", name="Jobs", exact=True).click()
    settled(page)
    assert 0 <= page.locator("#jobs").bounding_box()["y"] < 200
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    settled(page)
    assert page.evaluate("document.activeElement.id") == "panels"
    assert period(page) == [200_000, 300_000]
    assert view_in_address(page)["job"] == "600"
