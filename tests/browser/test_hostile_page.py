"""Names from strangers: a page shows them as text, runs nothing, and stays in shape."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from browser_runs import HOSTILE, hostile_run
from page_actions import facts_in, place_in_gantt, settled, table_rows

from noctule.report import write_report


@pytest.fixture(scope="module")
def hostile_page(chromium: Any, tmp_path_factory: Any) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    write_report([hostile_run(folder)], folder / "hostile.html", title=HOSTILE[0])
    return folder / "hostile.html"


def test_names_are_shown_letter_by_letter(open_page, hostile_page):
    page = open_page(hostile_page)
    assert page.title() == HOSTILE[0]
    assert page.locator("h1").inner_text() == HOSTILE[0]
    assert page.locator("figcaption").first.inner_text() == HOSTILE[0]
    shown = [cells[0] for cells in table_rows(page, "#jobs")]
    assert shown == [name if len(name) <= 40 else name[:39] + "…" for name in HOSTILE]
    assert page.locator("img, b").count() == 0
    assert page.locator("main script").count() == 0


def test_hostile_jobs_can_be_pointed_at_chosen_and_searched(open_page, hostile_page):
    page = open_page(hostile_page, "colour=user")
    for row, name in enumerate(HOSTILE):
        date = page.evaluate("(row) => noctule.runs[0].finish[row] - 20", row)
        host = page.evaluate("(row) => noctule.runs[0].boxFirst[row] + 0.5", row)
        page.mouse.move(*place_in_gantt(page, 0, date, host))
        shown = name if len(name) <= 48 else name[:47] + "…"
        page.locator(".tip dd", has_text=shown).first.wait_for()
        assert facts_in(page, ".tip")["job"] == shown
        page.mouse.click(*place_in_gantt(page, 0, date, host))
        page.locator("#chosen h2", has_text=name[:50]).wait_for()
        assert page.evaluate("noctule.view.get('job')") == name
        page.keyboard.press("Escape")
        page.locator("#search input").fill(name[:20])
        page.locator("#hits li", has_text=name[:20]).first.wait_for()
        page.keyboard.press("Enter")
        page.wait_for_selector("#chosen:not([hidden])")
        assert page.evaluate("noctule.view.get('job')") == name
        page.keyboard.press("Escape")
        page.keyboard.press("0")
        settled(page)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.viewport_size["width"]


def test_a_spreadsheet_takes_no_name_for_a_formula(open_page, hostile_page):
    page = open_page(hostile_page)
    with page.expect_download() as saved:
        page.locator("#jobs button", has_text="Export CSV").click()
    with saved.value.path().open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(io.StringIO(file.read())))
    names = [row["job"] for row in rows]
    assert names == [f"'{name}" if name.startswith("=") else name for name in HOSTILE]
