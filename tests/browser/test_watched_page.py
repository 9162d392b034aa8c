"""A page that follows a run, in a real browser: it is renewed, and keeps what is looked at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from noctule.report import ReportRun, campaign_text, load_campaign, report_text
from noctule.report.live import LivePage


@pytest.fixture
def live() -> Any:
    page = LivePage("a night")
    yield page
    page.close(patience=0.0)


@pytest.fixture
def browser_page(chromium: Any) -> Any:
    context = chromium.new_context()
    page = context.new_page()
    trouble: list[str] = []
    page.on("console", lambda said: trouble.append(said.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    yield page
    context.close()
    assert trouble == []


def heading(page: Any) -> str:
    return page.frame_locator("iframe.shown").locator("h1").inner_text()


def shown(live: LivePage, run: ReportRun, title: str, **options: bool) -> None:
    live.show(lambda: report_text([run], title=title), f"{title} is shown.", **options)


def test_a_newer_page_takes_the_place_of_the_older_with_the_same_view(live, browser_page, night):
    shown(live, night[0], "The first half")
    browser_page.goto(live.address)
    browser_page.wait_for_selector("iframe.shown")
    assert heading(browser_page) == "The first half"
    frame = browser_page.frame_locator("iframe.shown")
    frame.locator("#colour").select_option("user")
    frame.locator("body").evaluate("() => new Promise((done) => setTimeout(done, 400))")

    shown(live, night[1], "The whole", is_last=True)
    browser_page.wait_for_selector("#status.over", timeout=30_000)
    assert browser_page.locator("#status").inner_text() == "The whole is shown."
    assert browser_page.locator("iframe").count() == 1
    assert heading(browser_page) == "The whole"
    assert browser_page.frame_locator("iframe.shown").locator("#colour").input_value() == "user"


def test_a_run_that_is_broken_off_is_told_and_the_page_stays(live, browser_page, night):
    shown(live, night[0], "So far")
    browser_page.goto(live.address)
    browser_page.wait_for_selector("iframe.shown")
    live.close(patience=0.0)
    browser_page.wait_for_selector("#status.over", timeout=30_000)
    assert browser_page.locator("#status").inner_text().endswith("Then it was broken off.")
    assert heading(browser_page) == "So far"


def test_a_page_in_the_cell_of_a_notebook_can_be_zoomed(browser_page, night, tmp_path):
    notebook = tmp_path / "notebook.html"
    notebook.write_text("<!doctype html>" + night[0].schedule.explore()._repr_html_())
    browser_page.goto(notebook.as_uri())
    page = browser_page.frame_locator("iframe")
    page.locator("html[data-state=ready]").wait_for(timeout=30_000)
    before = page.locator("#period").inner_text()
    page.get_by_role("button", name="Zoom in").click()
    # the address is written some time after a change
    browser_page.wait_for_timeout(500)
    assert page.locator("#period").inner_text() != before


def test_a_campaign_is_followed_and_keeps_what_is_chosen(live, browser_page, campaign):
    found = load_campaign(campaign)
    half = replace(found, table=found.table.iloc[:20])
    live.show(lambda: campaign_text(half), "20 of 48 runs are over.")
    browser_page.goto(live.address)
    browser_page.wait_for_selector("iframe.shown", timeout=30_000)
    frame = browser_page.frame_locator("iframe.shown")
    assert "20 runs" in frame.locator("#subtitle").inner_text()
    frame.locator("#metric").select_option("makespan")
    frame.locator("body").evaluate("() => new Promise((done) => setTimeout(done, 400))")
    live.show(lambda: campaign_text(found), "All 48 runs are over.", is_last=True)
    browser_page.wait_for_selector("#status.over", timeout=30_000)
    frame = browser_page.frame_locator("iframe.shown")
    assert "48 runs" in frame.locator("#subtitle").inner_text()
    assert frame.locator("#metric").input_value() == "makespan"
