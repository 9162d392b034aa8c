"""Panels of a page: what their tables tell against what Python says of the same runs."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_runs import EXAMPLES, HOSTILE, hostile_run
from page_actions import facts_in, settled, table_rows

import noctule as nt
from noctule import metrics
from noctule.capacity import lost_capacity
from noctule.cli import main
from noctule.differences import differences
from noctule.fairness import fairness
from noctule.metrics import Window
from noctule.report import ReportRun, load_report_run, load_shares, write_report
from noctule.waits import Cause, Waits, wait_totals
from noctule.workload import Compute, Request

BRUSH = Window(20_000.0, 32_000.5)


def exported(page: Any, panel: str, table: int = 0) -> list[dict[str, str]]:
    """Return the rows that a table of a panel saves."""
    with page.expect_download() as saved:
        page.locator(f"#{panel} button", has_text="Export CSV").nth(table).click()
    with saved.value.path().open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def brush(page: Any, window: Window) -> None:
    page.evaluate("(brush) => noctule.view.set('brush', brush)", [window.start, window.end])
    settled(page)


def same(told: str, expected: float) -> bool:
    if math.isnan(expected):
        return told == ""
    return math.isclose(float(told), expected, rel_tol=1e-9, abs_tol=1e-9)


def test_metrics_of_whole_runs_are_those_of_python(open_page, night_page, night):
    page = open_page(night_page)
    rows = {row["metric"]: row for row in exported(page, "metrics")}
    for run in night:
        expected = metrics.summary(run.schedule)
        assert list(rows) == list(expected)
        for name, value in expected.items():
            assert same(rows[name][run.name], value), name


def test_metrics_follow_the_brushed_period(open_page, night_page, night):
    page = open_page(night_page)
    brush(page, BRUSH)
    assert "the chosen period" in page.locator("#metrics p").inner_text()
    rows = {row["metric"]: row for row in exported(page, "metrics")}
    for run in night:
        schedule = run.schedule
        waits = metrics.waiting_time(schedule, window=BRUSH)
        expected = {
            "n_ended": len(waits),
            "mean_waiting_time": math.fsum(waits) / len(waits),
            "utilisation": metrics.utilisation(schedule, window=BRUSH),
            "throughput": metrics.throughput(schedule, window=BRUSH),
            "max_bounded_slowdown": max(metrics.bounded_slowdown(schedule, window=BRUSH)),
        }
        for name, value in expected.items():
            assert same(rows[name][run.name], value), name


def test_metrics_have_units_and_differences_have_signs(open_page, night_page, night):
    page = open_page(night_page)
    shown = {cells[0]: cells[1:] for cells in table_rows(page, "#metrics")}
    numbers = [metrics.summary(run.schedule) for run in night]
    told = f"{3600 * numbers[0]['throughput']:.2f}".rstrip("0") + " jobs/h"
    assert shown["throughput"][0] == told
    change = 100 * (numbers[1]["utilisation"] / numbers[0]["utilisation"] - 1)
    assert shown["utilisation"][3] == f"+{change:.1f} %"
    change = 100 * (1 - numbers[1]["makespan"] / numbers[0]["makespan"])
    assert shown["makespan"][3] == f"−{change:.1f} %"


def test_what_a_run_comes_to_stands_beside_its_name(open_page, night_page, night):
    page = open_page(night_page)
    whole = [f"utilisation {100 * metrics.utilisation(run.schedule):.1f} %" for run in night]
    told = page.locator(".headline").all_inner_texts()
    assert [text.split(" · ")[0] for text in told] == whole
    brush(page, BRUSH)
    share = metrics.utilisation(night[1].schedule, window=BRUSH)
    assert (
        page.locator(".headline").nth(1).inner_text().startswith(f"utilisation {100 * share:.1f}")
    )


def test_runs_that_are_not_shown_leave_the_tables(open_page, night_page):
    page = open_page(night_page, "runs=0.2")
    head = page.locator("#metrics th").all_inner_texts()
    assert head == ["metric", "fcfs", "conservative", "conservative / fcfs"]


@pytest.mark.parametrize("window", [None, BRUSH])
def test_capacity_is_split_as_python_splits_it(window, open_page, night_page, night):
    page = open_page(night_page)
    if window is not None:
        brush(page, window)
    rows = {row["hosts were"]: row for row in exported(page, "capacity")}
    for run in night:
        expected = lost_capacity(run.schedule, window=window)
        assert {name for name, seconds in expected.items() if seconds} <= set(rows)
        for name, row in rows.items():
            assert same(row[run.name], expected[name]), name
    painted = "(e) => [...e.querySelectorAll('.swatch')].map((s) => getComputedStyle(s).background)"
    swatches = page.locator("#capacity .bar-legend").evaluate(painted)
    assert len(set(swatches)) == len(rows)


def test_shares_are_those_of_a_file(open_page, night, tmp_path):
    users = sorted({str(user) for user in night[1].schedule.column("user")})
    (tmp_path / "shares.csv").write_text(f"user,share\n{users[0]},3\n{users[1]},1\n")
    shares = load_shares(tmp_path / "shares.csv")
    write_report(night[1:2], tmp_path / "page.html", shares=shares)
    page = open_page(tmp_path / "page.html")
    assert "shares as given" in page.locator("#fairness caption").last.inner_text()
    told = {row["user"]: row for row in exported(page, "fairness", 1)}
    expected = fairness(night[1].schedule, shares=shares.of)
    for party in expected.parties:
        row = told[str(party.name)]
        assert same(row["share"], party.share)
        assert same(row["use / share"], party.use_over_share)
    assert float(told[users[0]]["share"]) == 0.75
    assert same(
        exported(page, "fairness", 0)[0]["jain_use_over_share"], expected.jain_use_over_share
    )


def test_use_by_user_is_that_of_python(open_page, night_page, night):
    page = open_page(night_page)
    brush(page, BRUSH)
    numbers = exported(page, "fairness", 0)
    parties = exported(page, "fairness", 1)
    for run, row in zip(night, numbers, strict=True):
        expected = fairness(run.schedule, window=BRUSH)
        for name in ("gini_use", "gini_waiting_time", "jain_use_over_share"):
            assert same(row[name], getattr(expected, name)), name
        told = {one["user"]: one for one in parties if one["run"] == run.name}
        assert len(told) == len(expected.parties)
        for party in expected.parties:
            one = told[str(party.name)]
            assert int(one["jobs"]) == party.n_jobs
            assert same(one["host_seconds"], party.host_seconds)
            assert same(one["use"], party.use)
            assert same(one["mean_bounded_slowdown"], party.mean_bounded_slowdown)
    assert page.locator("#fairness svg polyline").count() == len(night)


def test_the_largest_movers_are_those_of_python(open_page, night_page, night):
    page = open_page(night_page)
    rows = exported(page, "movers", 0)
    expected = differences(night[0].schedule, night[1].schedule).largest(20)
    assert [abs(float(row["wait_difference"])) for row in rows] == [
        abs(mover.wait) for mover in expected
    ]
    by_id = {mover.job_id: mover for mover in differences(*_two(night)).largest(10_000)}
    for row in rows:
        mover = by_id[row["job"]]
        assert float(row["start_difference"]) == mover.start
        longest = next(iter(mover.causes[0]), None)
        assert row["waited in fcfs"].startswith("" if longest is None else longest.value)
    assert len(exported(page, "movers", 1)) == len(night[0].schedule)


def _two(night: Any) -> Iterator[Any]:
    return (run.schedule for run in night[:2])


def test_another_pair_of_runs_can_be_compared(open_page, night_page, night):
    page = open_page(night_page)
    page.locator("#movers select").nth(0).select_option("1")
    page.locator("#movers select").nth(1).select_option("2")
    settled(page)
    rows = exported(page, "movers", 0)
    expected = differences(night[1].schedule, night[2].schedule).largest(20)
    assert len(rows) == len(expected)
    assert float(rows[0]["wait_difference"]) == expected[0].wait


def test_waits_are_told_by_cause(open_page, night_page, night):
    page = open_page(night_page)
    rows = {row["cause"]: row for row in exported(page, "waits")}
    for run in night:
        totals = wait_totals(run.schedule)
        for cause in totals.causes:
            seconds = float(totals.of(cause).sum())
            assert same(rows[cause.value][run.name], seconds) if seconds else True
        assert totals.of(Cause.BUSY).any()


def test_a_chosen_job_says_what_it_waited_for(open_page, night_page, night):
    schedule = night[0].schedule
    row = int(schedule.column("waiting_time").argmax())
    job_id = schedule.column("job_id")[row]
    longest = next(iter(Waits(schedule).totals.of_row(row)))
    page = open_page(night_page, f"job={job_id}&runs=0")
    told = facts_in(page, "#chosen")["waited for"].splitlines()
    assert told[0].startswith(f"{longest.value} ")
    assert len(told) == len(Waits(schedule).totals.of_row(row))


def test_a_run_from_a_folder_tells_how_to_do_it_again(open_page, tmp_path):
    folder = tmp_path / "easy"
    words = ["--hosts", "128", "--policy", "easy", "-o", str(folder), "--quiet"]
    assert main(["run", str(EXAMPLES / "night.swf"), *words]) == 0
    write_report([load_report_run("easy", folder)], tmp_path / "one.html")
    page = open_page(tmp_path / "one.html")
    assert facts_in(page, "#manifest")["policy"] == "easy"
    assert page.locator("#manifest code").inner_text() == "noctule rerun manifest.json"
    with page.expect_download() as saved:
        page.locator("#manifest button").click()
    copy = Path(tmp_path / "copy.json")
    saved.value.save_as(copy)
    assert main(["rerun", str(copy), "--quiet"]) == 0
    # one run alone has nobody to differ from
    assert page.locator("#movers").count() == 0


def test_strangers_names_are_texts_in_all_panels(open_page, tmp_path):
    write_report([hostile_run(tmp_path)], tmp_path / "hostile.html", title="hostile")
    page = open_page(tmp_path / "hostile.html")
    users = {cells[0] for cells in table_rows(page, "#fairness div:not(.beside) > .table-scroll")}
    assert page.locator("#panels img, #panels b, #panels script").count() == 0
    shown = {name if len(name) <= 40 else name[:39] + "…" for name in HOSTILE}
    assert shown <= users


def test_runs_in_which_nothing_ended_have_panels_too(open_page, tmp_path):
    jobs = [nt.Job(str(i), 0.0, Request(2), Compute(100)) for i in range(3)]
    platform = nt.Platform.homogeneous(2)
    stopped = nt.simulate(platform, nt.Workload.from_jobs(jobs), "fcfs", until=10)
    empty = nt.simulate(platform, nt.Workload.from_jobs([]), "fcfs")
    runs = [ReportRun.of("stopped", stopped), ReportRun.of("empty", empty)]
    write_report(runs, tmp_path / "odd.html")
    page = open_page(tmp_path / "odd.html")
    rows = {row["metric"]: row for row in exported(page, "metrics")}
    assert (rows["n_running"]["stopped"], rows["n_waiting"]["stopped"]) == ("1", "2")
    assert rows["mean_waiting_time"] == {
        "metric": "mean_waiting_time",
        "stopped": "",
        "empty": "",
        "empty / stopped": "",
    }
    assert "3 are only in the first, 0 only in the second" in page.locator("#movers p").inner_text()


def test_the_wait_of_a_chosen_job_is_told_interval_by_interval(open_page, night_page, night):
    waits = Waits(night[1].schedule)
    row = max(range(len(night[1].schedule)), key=lambda row: len(waits.explain_row(row).intervals))
    expected = waits.explain_row(row)
    assert len(expected.intervals) > 2
    page = open_page(night_page, f"job={expected.job_id}&runs=1")
    told = exported(page, "wait")
    assert [(float(one["from"]), float(one["to"]), one["cause"]) for one in told] == [
        (one.begin, one.end, one.cause.value) for one in expected.intervals
    ]
    page.evaluate("noctule.view.set('job', null)")
    settled(page)
    assert page.locator("#wait table").is_hidden()
