"""Everybody can read a page: names for what has no text, contrasts, paper, small windows."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from page_actions import settled

import noctule as nt
from noctule.platform import PowerModel
from noctule.report import ReportRun, write_report
from noctule.testing.builders import a_job

# the rules of WCAG 2.2: https://www.w3.org/TR/WCAG22/#contrast-minimum
LEAST_CONTRAST = 4.5


def luminance(colour: str) -> float:
    parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


TEXTS_WITH_GROUNDS = """() => {
    const ground = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if (colour !== "rgba(0, 0, 0, 0)" && colour !== "transparent") return colour;
        }
        return "rgb(255, 255, 255)";
    };
    const texts = [...document.querySelectorAll("body *")].filter((element) =>
        element.checkVisibility() && !element.disabled && !element.closest("script, style") &&
        [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
    return texts.map((element) =>
        [element.textContent.slice(0, 40), getComputedStyle(element).color, ground(element)]);
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_texts_stand_out_from_what_is_behind_them(theme, open_page, night_page):
    page = open_page(night_page, f"theme={theme}&job=600&brush=220000~230000")
    found = page.evaluate(TEXTS_WITH_GROUNDS)
    assert len(found) > 100
    weak = [told for told in found if contrast(told[1], told[2]) < LEAST_CONTRAST]
    assert weak == []
    labels = page.evaluate(
        "noctule.figures.all.map(({xAxis, plot}) => "
        "[xAxis.major_label_text_color, plot.background_fill_color])"
    )
    for ink, ground in labels:
        rgb = [
            f"rgb({', '.join(str(int(c[i : i + 2], 16)) for i in (1, 3, 5))})"
            for c in (ink, ground)
        ]
        assert contrast(*rgb) >= LEAST_CONTRAST


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_theme_of_the_system(scheme, open_page, night_page):
    page = open_page(night_page, color_scheme=scheme)
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    page.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
    settled(page)
    assert page.evaluate("document.documentElement.dataset.theme") != scheme


def test_all_that_can_be_used_has_a_name_and_is_reached_by_the_keyboard(open_page, night_page):
    page = open_page(night_page)
    for role in ("button", "combobox", "checkbox", "figure"):
        for used in page.get_by_role(role).all():
            name = used.evaluate(
                "(e) => e.getAttribute('aria-label') || e.innerText || e.labels?.[0]?.innerText"
            )
            assert name, used.evaluate("(e) => e.outerHTML")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "search"
    width = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert width == "3px"


def test_paper_gets_the_figures_without_the_buttons(open_page, night_page):
    page = open_page(night_page, "theme=dark")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    settled(page)
    grounds = "[...new Set(noctule.figures.all.map(({plot}) => plot.background_fill_color))]"
    assert page.evaluate(grounds) == ["#fff"]
    assert not page.locator(".controls").is_visible()
    assert page.locator("figure.gantt").first.is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_every_stop_of_the_tab_key_has_a_name(open_page, night_page):
    page = open_page(night_page)
    named = (
        "(e => e.getAttribute('aria-label') || e.innerText || e.labels?.[0]?.innerText)"
        "(document.activeElement)"
    )
    for _ in range(40):
        page.keyboard.press("Tab")
        assert page.evaluate(named), page.evaluate("document.activeElement.outerHTML")


def test_on_paper_figures_are_as_wide_as_their_panels_and_tables_are_whole(open_page, night_page):
    page = open_page(night_page, "job=600")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 720, "height": 1000})
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    widths = page.evaluate(
        "[...document.querySelectorAll('.on-paper')].map((picture) =>"
        " [picture.clientWidth, picture.parentElement.clientWidth])"
    )
    assert len(widths) == 5
    assert all(picture == panel for picture, panel in widths)
    cut = (
        "[...document.querySelectorAll('.table-scroll')].map((e) => getComputedStyle(e).overflowX)"
    )
    assert set(page.evaluate(cut)) == {"visible"}
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".on-paper").count() == 0


def colour_of(page: Any, run: int, user: str) -> str:
    """Return the colour in which the jobs of a user are painted."""
    return str(
        page.evaluate(
            """async ([run, user]) => {
                const { words, codes } = await noctule.runs[run].words("user");
                const { palette, code } = noctule.gantts[run].jobs.colouring;
                return palette[code[codes.indexOf(words.indexOf(user))]];
            }""",
            [run, user],
        )
    )


def test_a_colour_means_the_same_user_in_all_runs(open_page, tmp_path: Path):
    # alone, ann would be the largest user of the one run, bob of the other
    runs = []
    for name, runtimes in (("one", {"ann": 50, "bob": 20}), ("other", {"ann": 10, "bob": 100})):
        jobs = [a_job(user, hosts=1, runtime=s, user=user) for user, s in runtimes.items()]
        workload = nt.Workload.from_jobs(jobs)
        schedule = nt.simulate(nt.Platform.homogeneous(2), workload, "fcfs")
        runs.append(ReportRun.of(name, schedule))
    write_report(runs, tmp_path / "two.html")
    page = open_page(tmp_path / "two.html", "colour=user")
    assert page.locator("#legend li").all_inner_texts() == ["bob", "ann"]
    assert colour_of(page, 0, "bob") == colour_of(page, 1, "bob")
    assert colour_of(page, 0, "ann") == colour_of(page, 1, "ann") != colour_of(page, 0, "bob")


def test_users_beyond_the_colours_of_the_legend_are_grey(open_page, night_page):
    page = open_page(night_page, "colour=user")
    entries = page.locator("#legend li").all_inner_texts()
    assert (len(entries), entries[-1]) == (9, "16 others")
    shown = entries[:-1]
    users = page.evaluate("noctule.runs[0].words('user').then(({ words }) => words)")
    assert len(users) == 24
    for user in users:
        assert (colour_of(page, 0, user) == "#9a9a9a") == (user not in shown)


def test_power_is_drawn_where_it_was_counted(open_page, tmp_path):
    power = PowerModel(idle=100, computing=200)
    platform = nt.Platform.homogeneous(4, power=power)
    jobs = [a_job(1, hosts=2, runtime=100), a_job(2, hosts=4, runtime=100)]
    schedule = nt.simulate(platform, nt.Workload.from_jobs(jobs), "fcfs", energy="exact")
    write_report([ReportRun.of("warm", schedule)], tmp_path / "warm.html")
    page = open_page(tmp_path / "warm.html")
    # two hosts compute and two idle, then all four compute
    assert page.locator("figcaption").all_inner_texts()[-1] == "Power"
    drawn = page.evaluate("noctule.series.power.lines[0].exact.data")
    assert drawn["y"][:2] == [600, 800]
    assert drawn["x"][:2] == [0, 100]


def test_a_job_that_still_runs_reaches_the_end_of_the_picture(open_page, tmp_path):
    jobs = [a_job(1, hosts=2, runtime=100), a_job(2, hosts=4, runtime=500)]
    platform = nt.Platform.homogeneous(4)
    schedule = nt.simulate(platform, nt.Workload.from_jobs(jobs), "fcfs", until=300)
    write_report([ReportRun.of("stopped", schedule)], tmp_path / "stopped.html")
    page = open_page(tmp_path / "stopped.html")
    end = page.evaluate("noctule.view.full[1]")
    boxes = page.evaluate("noctule.gantts[0].jobs.boxes.data")
    assert boxes["left"] == [0, 100]
    assert boxes["right"][0] == 100
    assert boxes["right"][1] > end >= 300


def test_a_small_window_needs_no_sideways_scrolling(open_page, night_page):
    page = open_page(night_page)
    page.set_viewport_size({"width": 480, "height": 800})
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 480


JOBS = "job_id,submit_time,start_time,finish_time,hosts\n"
ODD = {
    "no jobs": (JOBS, 4, "There are no jobs to show."),
    "one job on one host": (JOBS + "1,0,5,100,0\n", 1, ""),
    "a million hosts": (JOBS + "1,0,5,100,0-999999\n2,3,100,200,7\n", 1_000_000, ""),
    "jobs without hosts": (
        "job_id,submit_time,start_time,finish_time,n_hosts\n1,0,5,100,2\n",
        4,
        "Hosts of jobs are not told.",
    ),
    "only a job that never started": (JOBS + "1,7,,,\n", 4, ""),
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_runs_have_a_sensible_page(kind, open_page, tmp_path: Path):
    text, n_hosts, note = ODD[kind]
    (tmp_path / "jobs.csv").write_text(text)
    schedule = nt.Schedule.from_jobs_csv(tmp_path / "jobs.csv", n_hosts)
    other = nt.Schedule.from_jobs_csv(tmp_path / "jobs.csv", n_hosts + 1)
    runs = [ReportRun.of("odd", schedule), ReportRun.of("other platform", other)]
    write_report(runs, tmp_path / "odd.html")
    page: Any = open_page(tmp_path / "odd.html")
    assert page.locator("#notes").inner_text() == note
    start, end = page.evaluate("noctule.view.full")
    assert math.isfinite(start)
    assert start < end
    page.keyboard.press("+")
    settled(page)
    assert page.locator("#trouble").is_hidden()
