"""The page of a campaign in a real browser: what it shows is what Python's tables hold."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from browser_runs import HOSTILE
from page_actions import facts_in, settled, table_rows

from noctule.campaign import load_results
from noctule.plots import Point, pareto_front
from noctule.printing.campaigns import show_result
from noctule.report import load_campaign, write_campaign_report


def shown_number(text: str) -> float:
    return float(text.replace(",", ""))


def saved_rows(page: Any, selector: str) -> list[dict[str, str]]:
    with page.expect_download() as saved:
        page.locator(f"{selector} button", has_text="Export CSV").click()
    with saved.value.path().open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(io.StringIO(file.read())))


def point_at(page: Any, figure: str, i: int) -> None:
    page.locator(f"#{figure}").scroll_into_view_if_needed()
    place = page.evaluate(
        """([name, i]) => {
            const figure = noctule[name];
            const [x, y] = figure.placeOf(figure.points[i]);
            const { left, top } = figure.target.getBoundingClientRect();
            return [left + x, top + y];
        }""",
        [figure, i],
    )
    page.mouse.move(place[0] + 3, place[1])
    page.wait_for_selector(".tip:not([hidden])")


def test_means_and_verdicts_are_those_of_the_command_line(open_page, campaign, campaign_page):
    page = open_page(campaign_page, "metric=mean_bounded_slowdown")
    data = show_result(campaign, "policy", ["mean_bounded_slowdown"]).data
    saved = saved_rows(page, "#means")
    assert [row["policy"] for row in saved] == [one["level"] for one in data["levels"]]
    assert [float(row["mean"]) for row in saved] == [one["mean"]["value"] for one in data["levels"]]
    assert [float(row["high"]) for row in saved] == [one["mean"]["high"] for one in data["levels"]]
    verdicts = [cells[0] for cells in table_rows(page, "#verdicts")]
    assert verdicts == [one["verdict"] for one in data["comparisons"]]


def test_a_choice_of_metric_parameter_and_colours_stands_in_the_address(
    open_page, campaign, campaign_page
):
    page = open_page(campaign_page)
    page.locator("#metric").select_option("utilisation")
    page.locator("#by").select_option("workload.load")
    page.locator("#within").select_option("policy")
    settled(page)
    heading = "utilisation by workload.load, coloured by policy"
    assert page.locator("#means h2").inner_text() == heading
    data = show_result(campaign, "workload.load", ["utilisation"], within=["policy"]).data
    saved = saved_rows(page, "#means")
    assert [float(row["mean"]) for row in saved] == [one["mean"]["value"] for one in data["levels"]]
    again = open_page(campaign_page, page.url.partition("#")[2])
    assert again.locator("#means h2").inner_text() == heading
    assert again.locator("#within").input_value() == "policy"


def test_keys_choose_metrics_parameters_and_colours(open_page, campaign_page):
    page = open_page(campaign_page)
    before = page.locator("#metric").input_value()
    page.keyboard.press("m")
    page.keyboard.press("p")
    page.keyboard.press("c")
    settled(page)
    assert page.locator("#metric").input_value() != before
    assert page.locator("#by").input_value() == "workload"
    assert page.locator("#within").input_value() == "policy"
    page.keyboard.press("Shift+M")
    settled(page)
    assert page.locator("#metric").input_value() == before


def test_pointing_at_a_mean_tells_its_numbers(open_page, campaign, campaign_page):
    page = open_page(campaign_page, "metric=mean_slowdown")
    level = show_result(campaign, "policy", ["mean_slowdown"]).data["levels"][1]
    point_at(page, "means", 1)
    facts = facts_in(page, ".tip")
    assert facts["policy"] == level["level"]
    assert shown_number(facts["mean"]) == pytest.approx(level["mean"]["value"], abs=0.006)
    assert facts["runs"] == "12 runs"


def test_the_front_is_that_of_the_means_and_its_points_have_names(
    open_page, campaign, campaign_page
):
    x, y = "mean_waiting_time", "utilisation"
    page = open_page(campaign_page, f"within=workload.load&x={x}&y={y}")
    data = show_result(campaign, "policy", [x, y], within=["workload.load"]).data["levels"]
    means = {
        metric: {
            (one["level"], str(one["within"]["workload.load"])): one["mean"]["value"]
            for one in data
            if one["metric"] == metric
        }
        for metric in (x, y)
    }
    points = [Point(means[x][key], means[y][key], *key) for key in means[x]]
    expected = {(p.group, p.name) for p in pareto_front(points, x, y)}
    rows = saved_rows(page, "#front")
    assert len(rows) == len(points)
    found = {(r["policy"], r["workload.load"]) for r in rows if r["on the front"] == "yes"}
    assert found == expected
    point_at(page, "front", 2)
    facts = facts_in(page, ".tip")
    assert (facts["policy"], facts["workload.load"]) == (
        rows[2]["policy"],
        rows[2]["workload.load"],
    )


def test_runs_sort_filter_and_export_with_all_digits(open_page, campaign, campaign_page):
    page = open_page(campaign_page)
    table = load_results(campaign)
    page.locator("#runs-table th button", has_text="mean_waiting_time").click()
    first = table_rows(page, "#runs-table")[0]
    assert f"{table['mean_waiting_time'].max():,.0f}" in first
    page.keyboard.press("/")
    # the key works outside of tables only, in which arrows scroll
    page.locator("#filter").fill("policy=conservative seed=2")
    settled(page)
    rows = saved_rows(page, "#runs-table")
    wanted = table[(table["policy"] == "conservative") & (table["seed"] == 2)]
    assert sorted(row["key"] for row in rows) == sorted(wanted["key"])
    saved = sorted(float(row["p95_slowdown"]) for row in rows)
    assert saved == sorted(wanted["p95_slowdown"])
    page.locator("#filter").press("Escape")
    settled(page)
    assert page.evaluate("noctule.runsTable.rows.length") == len(table)


def test_failed_runs_are_told_with_their_messages(open_page, campaign_page):
    page = open_page(campaign_page)
    rows = table_rows(page, "#failures")
    assert len(rows) == 10
    assert "<b>never</b>" in rows[0][0]
    assert "12 of 48 runs have failed" in page.locator("#notes").inner_text()


def test_hostile_levels_are_shown_letter_by_letter(open_page, campaign, tmp_path):
    found = load_campaign(campaign)
    table = found.table.copy()
    table["policy"] = table["policy"].replace("conservative", HOSTILE[0])
    table["policy"] = table["policy"].replace("easy(order=sjf)", "$$x$$ " + HOSTILE[4])
    hostile = type(found)(HOSTILE[1], found.about, table, found.kept)
    write_campaign_report(hostile, tmp_path / "hostile.html", title=HOSTILE[0])
    page = open_page(tmp_path / "hostile.html", "within=workload.load")
    assert page.locator("h1").inner_text() == HOSTILE[0]
    levels = {cells[0] for cells in table_rows(page, "#means")}
    assert levels == {HOSTILE[0], "$$x$$ " + HOSTILE[4], "easy(order=fcfs)"}
    assert page.locator("img, b, main script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_a_campaign_of_which_nothing_is_done_has_runs_and_messages(open_page, campaign, tmp_path):
    found = load_campaign(campaign)
    failed = found.table[found.table["status"] == "failed"]
    write_campaign_report(type(found)("out", found.about, failed), tmp_path / "failed.html")
    page = open_page(tmp_path / "failed.html")
    assert page.evaluate("document.documentElement.dataset.state") == "ready"
    assert page.locator("section.panel h2").all_inner_texts() == [
        "Failed runs",
        "Runs",
        "Methods",
        "How to do it again",
    ]


def test_every_control_has_a_name_and_paper_is_light(open_page, campaign_page):
    page = open_page(campaign_page, "theme=dark")
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("select, input, button")]
            .filter((one) => !one.labels?.length && !one.ariaLabel && !one.textContent.trim())
            .map((one) => one.outerHTML)"""
    )
    assert unnamed == []
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


def test_the_table_of_runs_leads_to_the_page_of_a_run(open_page, campaign, tmp_path):
    write_campaign_report(load_campaign(campaign), tmp_path / "page.html", most_runs=1)
    page = open_page(tmp_path / "page.html")
    (link,) = page.locator("#runs-table td a").all()
    (run,) = (tmp_path / "page-runs").iterdir()
    assert link.evaluate("(link) => link.href") == run.as_uri()
    without = page.locator("#runs-table td code").first.inner_text()
    assert without.startswith(f"noctule report {campaign}/runs/")
    title = open_page(run).locator("h1").inner_text()
    assert title == "easy(order=fcfs), night(load=0.8), full, seed 1"


@pytest.mark.parametrize(("by", "side"), [("policy", "x"), ("workload.load", "y")])
def test_means_can_have_a_logarithmic_axis(by, side, open_page, campaign_page):
    page = open_page(campaign_page, f"by={by}")
    scale = f"noctule.means.figure.view.frame.{side}_scale.type"
    range_ = f"noctule.means.figure.plot.{side}_range.start"
    assert page.evaluate(scale) == "LinearScale"
    page.locator("#axis").select_option("logarithmic")
    settled(page)
    assert page.evaluate(scale) == "LogScale"
    assert page.evaluate(range_) > 0
    point_at(page, "means", 0)
    assert "axis=logarithmic" in page.evaluate("location.hash")
    page.keyboard.press("Escape")
    page.locator("#axis").blur()
    page.keyboard.press("l")
    settled(page)
    assert page.evaluate(scale) == "LinearScale"


def test_a_metric_with_zeros_keeps_its_linear_axis(open_page, campaign_page):
    page = open_page(campaign_page, "metric=n_killed&axis=logarithmic")
    assert page.evaluate("noctule.view.get('metric')") == "n_killed"
    assert page.evaluate("noctule.means.figure.view.frame.x_scale.type") == "LinearScale"
