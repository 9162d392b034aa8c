"""Figures of replays: what is drawn where, by hand; and what cannot be drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from built_schedules import Row
from replayed_schedules import a_replay

from noctule.errors import InputError
from noctule.formats.local_time import LocalClock
from noctule.plots import PALETTE, replays, save_figure
from noctule.plots.lateness import (
    draw_lateness_spread,
    draw_rebound,
    draw_scaling,
    draw_session_graphs,
    draw_user_lateness,
)
from noctule.plots.submissions import (
    draw_arrivals,
    draw_cumulative,
    draw_differences,
    draw_submissions,
    draw_week,
)
from noctule.sessions import Record
from noctule.sessions import find_sessions as cut

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure

HOUR, DAY = 3600.0, 86_400.0


@pytest.fixture
def axes():
    return Figure().subplots()


def days(*late, recorded=True, users=None):
    """Make jobs that are recorded one a day at noon and submitted late, each of 6 h."""
    log = [(i + 0.5) * DAY for i in range(len(late))]
    rows = [
        Row(i, at + by, at + by + HOUR, at + by + 7 * HOUR, "0")
        for i, (at, by) in enumerate(zip(log, late, strict=True))
    ]
    return a_replay(rows, log if recorded else None, users)


def lines(axes):
    return {line.get_label(): line.get_xydata().tolist() for line in axes.get_lines()}


def stairs(axes):
    return {patch.get_label(): patch.get_data() for patch in axes.patches}


# when


def test_submissions_are_counted_by_the_day_in_a_log_of_some_weeks(axes):
    run = days(*[0] * 9, 2 * DAY)
    draw_submissions(axes, [("a0", run)])
    found = stairs(axes)
    assert list(found) == ["log", "a0"]
    # from noon to noon; the last job comes two days late
    assert found["log"].values.tolist() == [*[1] * 10, 0]
    assert found["a0"].values.tolist() == [*[1] * 9, 0, 1]
    assert found["a0"].edges.tolist() == [i + 0.5 for i in range(12)]
    assert axes.get_ylabel() == "submissions a day"


def test_submissions_of_one_instant_have_one_bin(axes):
    draw_submissions(axes, [("x", days(0))])
    assert stairs(axes)["x"].values.tolist() == [24]


def test_a_run_that_moved_nothing_is_the_log(axes):
    draw_submissions(axes, [("x", days(0, 0, recorded=False))])
    assert list(stairs(axes)) == ["x"]


def test_jobs_add_up(axes):
    run = days(0, 0, 2 * DAY)
    draw_cumulative(axes, [("a0", run)])
    assert lines(axes) == {
        "log": [[0.5, 1], [1.5, 2], [2.5, 3]],
        "a0": [[0.5, 1], [1.5, 2], [4.5, 3]],
    }
    with pytest.raises(InputError, match="got 'started', expected 'submitted' or 'finished'"):
        draw_cumulative(axes, [("a0", run)], what="started")


def test_finished_jobs_add_up_too(axes):
    draw_cumulative(axes, [("a0", days(0, 0, 2 * DAY))], what="finished")
    assert [y for _, y in lines(axes)["a0"]] == [1, 2, 3]
    assert lines(axes)["a0"][0][0] == pytest.approx(0.5 + 7 / 24)


def test_differences_are_to_the_log_or_to_another_run(axes):
    late = ("late", days(*[DAY * i for i in range(11)]))
    later = ("later", days(*[DAY * (i + 3) for i in range(11)]))
    draw_differences(axes, [late, later])
    # percentiles of 0 to 10 days and of 3 to 13 days; rows go from the top down
    whiskers, boxes, marks = (
        [line.get_xdata() for line in axes.get_lines()][i:6:3] for i in range(3)
    )
    assert [list(x) for x in whiskers] == [[4, 12], [1, 9]]
    assert [list(x) for x in boxes] == [[5.5, 10.5], [2.5, 7.5]]
    assert [list(x) for x in marks] == [[8], [5]]
    other = Figure().subplots()
    draw_differences(other, [late, later], reference="late")
    assert list(other.get_lines()[2].get_xdata()) == [3]
    assert other.get_xlabel() == "later than with late (days)"
    with pytest.raises(InputError, match="no run 'a60', expected one of late, later"):
        draw_differences(other, [late, later], reference="a60")


def test_a_run_that_moved_nothing_differs_by_nothing(axes):
    draw_differences(axes, [("rigid", days(0, 7, recorded=False))])
    assert list(axes.get_lines()[0].get_xdata()) == [0, 0]


def test_hours_of_the_week_are_means_over_weeks(axes):
    run = days(*[0] * 15)  # two weeks and a moment, at noon
    draw_week(axes, [("x", run)])
    expected = np.zeros(168)
    expected[12::24] = [1.5, 1, 1, 1, 1, 1, 1]  # the first day of the week three times in 2 weeks
    assert stairs(axes)["x"].values.tolist() == expected.tolist()
    assert next(tick.get_text() for tick in axes.get_xticklabels()) == "day 1"


def test_hours_are_those_of_the_log_s_clock(axes):
    clock = LocalClock(np.array([-math.inf]), np.array([2 * DAY + HOUR]))  # a Wednesday at 1:00
    draw_week(axes, [("x", days(0))], clock=clock)
    assert np.flatnonzero(stairs(axes)["x"].values).tolist() == [48 + 13]
    assert next(tick.get_text() for tick in axes.get_xticklabels()) == "Mon"


def test_arrivals_are_first_submissions_of_users(axes):
    run = days(0, 0, 0, 5 * DAY, users=["bo", "al", "bo", None])
    draw_arrivals(axes, [("a0", run)])
    bars, ends = (collection.get_segments() for collection in axes.collections)
    assert [bar[0][0] for bar in bars] == [1.5, 0.5]  # al, bo; nobody does not arrive
    assert [end[0][0] for end in ends] == [0.5, 3.5]
    with pytest.raises(InputError, match="x: no job has a user"):
        draw_arrivals(axes, [("x", days(0, users=[None]))])


# who


def test_users_are_points(axes):
    run = days(0, 2 * DAY, 8 * DAY, users=[1, 1, 2])
    draw_user_lateness(axes, [("a0", run)])
    # user 1: two jobs, a day in the mean
    assert lines(axes)["a0"] == [[2, 1], [1, 8]]
    other = Figure().subplots()
    draw_user_lateness(other, [("a0", run)], measure="additional_lateness")
    (first, second) = lines(other)["a0"]
    assert first == [2, 2 * DAY]
    assert math.isnan(second[1])  # nothing is added by one job
    with pytest.raises(InputError, match="measure: got 'x', expected one of mean_lateness"):
        draw_user_lateness(other, [("a0", run)], measure="x")


def test_a_spread_leaves_out_users_of_one_job(axes):
    run = days(0, 2 * DAY, 8 * DAY, users=[1, 1, 2])
    draw_lateness_spread(axes, [("a0", run)])
    assert list(axes.get_lines()[2].get_xdata()) == [2 * DAY]


def test_lateness_of_users_needs_users(axes):
    with pytest.raises(InputError, match="x: no job has a user"):
        draw_user_lateness(axes, [("x", days(0, users=[None]))])


def test_graphs_of_users_are_distributions(axes):
    # user 0 has two jobs one after the other, user 1 has one
    record = Record(
        "log",
        np.arange(3),
        (10, 11),
        np.array([0, 0, 1]),
        np.array([0.0, 100.0, 50.0]),
        np.array([10.0, 110.0, 60.0]),
        {},
    )
    sessions = [("a0", cut(record, threshold=0))]
    draw_session_graphs(axes, sessions)
    assert lines(axes)["a0"] == [[1, 0.5], [2, 1]]
    arity = Figure().subplots()
    draw_session_graphs(arity, sessions, measure="arity")
    assert lines(arity)["a0"] == [[0, 0.5], [1, 1]]
    with pytest.raises(InputError, match="got 'depth', expected one of longest_path, arity"):
        draw_session_graphs(axes, sessions, measure="depth")
    assert len(replays.session_figure(sessions).axes) == 2


# how much


def test_the_rebound_is_a_bar_for_each_window(axes):
    run = days(*[0] * 101)
    draw_rebound(axes, [("a0", run)], lengths=[None, 30 * DAY])
    assert [bar.get_height() for bar in axes.patches] == [pytest.approx(1), pytest.approx(1)]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "steady window",
        "1 months",
    ]
    used = Figure().subplots()
    draw_rebound(used, [("a0", run)], measure="utilisation")
    assert used.patches[0].get_height() == pytest.approx(1 / 16)  # 6 h of 24, one host of four


def test_a_log_too_short_has_no_bar(axes):
    with pytest.raises(InputError, match="too short for a window free of edge effects"):
        draw_rebound(axes, [("a0", days(0, 0))])


def test_scaling_is_a_line_through_parts_of_a_log(axes):
    # late by 0, 1, 2 ... days: a day is added by each job
    parts = [days(*[DAY * i for i in range(n)]) for n in (4, 2)]
    draw_scaling(axes, {"a0": [*parts, (9, 7.0)]})
    assert lines(axes)["a0"] == [[2, DAY], [4, DAY], [9, 7]]


# whole figures


@pytest.mark.parametrize("kind", replays.FIGURES)
def test_every_figure_is_drawn_and_has_the_same_bytes_again(kind, tmp_path):
    runs = [("a0", days(*[HOUR * i for i in range(40)])), ("a60", days(*[HOUR] * 40))]
    pictures = []
    for name in ("x.svg", "y.svg"):
        save_figure(replays.figure(kind, [("EASY", runs)]), tmp_path / name)
        pictures.append((tmp_path / name).read_bytes())
    assert pictures[0] == pictures[1]
    assert b"<svg" in pictures[0]


def test_a_figure_has_panels_for_groups_and_parts():
    runs = [("a0", days(0, 0))]
    figure = replays.figure("cumulative", [("EASY", runs), ("FCFS", runs)])
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["EASY", "EASY", "FCFS", "FCFS"]
    assert figure.axes[0].get_lines()[-1].get_color() == PALETTE[0]


def test_unknown_figures_and_no_runs_are_refused():
    with pytest.raises(InputError, match="got 'pie', expected one of submissions, "):
        replays.figure("pie", [("", [("a0", days(0))])])
    for groups in ([], [("", [])]):
        with pytest.raises(InputError, match="got no run, expected at least one"):
            replays.figure("submissions", groups)
    with pytest.raises(InputError, match="got no sessions"):
        replays.session_figure([])
