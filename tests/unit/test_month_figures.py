"""Figures of runs month by month, by hand."""

from __future__ import annotations

import pytest
from built_schedules import Row, a_schedule
from power_runs import run, sleeping_until_b
from small_runs import Scripted, job

from noctule import plots
from noctule.errors import InputError

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure

DAY = 86_400.0


@pytest.fixture(scope="module")
def runs():
    """Two hosts for two days: A on one for half a day, and B on both for the second day."""
    jobs = [job("A", runtime=DAY / 2), job("B", hosts=2, runtime=DAY, submit=DAY)]
    return [("awake", run("fcfs", jobs)), ("asleep", run(Scripted(sleeping_until_b), jobs))]


@pytest.fixture
def axes():
    return Figure().subplots()


# 200 W and 100 W for half a day, and 100 W or, but for 5 s at 50 W, 10 W for a day
FIRST = (160 * DAY + 200) / (250 * DAY)
# 400 W for a day, but in the other run 250 W for the 10 s in which host 1 comes back
SECOND = (400 * DAY - 1500) / (400 * DAY)


def test_months_have_the_energy_beside_the_first_run_and_the_waits_of_their_own_jobs(runs):
    awake, asleep = plots.run_months(runs, days=1)
    assert [month.number for month in asleep] == [1, 2]
    assert [month.energy for month in awake] == [1.0, 1.0]
    assert [month.energy for month in asleep] == pytest.approx([FIRST, SECOND], rel=1e-12)
    assert [month.utilisation for month in awake] == [0.25, 1.0]
    assert [month.utilisation for month in asleep] == pytest.approx([0.25, 1 - 10 / DAY])
    assert [month.mean_wait for month in awake] == [0, 0]
    # B is submitted as the second month begins, and waits for host 1
    assert [month.mean_wait for month in asleep] == [0, 10]


def test_only_whole_months_of_all_runs_count(runs):
    assert [len(months) for months in plots.run_months(runs, days=1.5)] == [1, 1]


def test_a_point_is_a_month_of_a_run_and_the_first_run_is_the_line_at_one(axes, runs):
    plots.draw_months(axes, [*runs, ("again", runs[1][1])], days=1)
    (cloud,), (whole,) = axes.collections, axes.get_lines()
    utilisation, energy = zip(*cloud.get_offsets().tolist(), strict=True)
    assert utilisation == pytest.approx([0.25, 1 - 10 / DAY] * 2)
    assert energy == pytest.approx([FIRST, SECOND] * 2)
    assert cloud.get_array().tolist() == [1, 2] * 2
    assert len(set(map(tuple, cloud.to_rgba(cloud.get_array())))) == 2
    assert list(whole.get_ydata()) == [1, 1]
    assert axes.get_ylabel() == "energy / awake's"


def test_a_month_has_runs_between_waits_and_energy(axes, runs):
    plots.draw_month_tradeoff(axes, runs, 2, days=1)
    points = [line.get_xydata().tolist() for line in axes.get_lines()]
    assert points == [[[0.0, 1.0]], [[10.0, pytest.approx(SECOND)]]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == (
        "mean waiting time (s)",
        "energy / awake's",
    )


def test_runs_of_one_name_look_alike(axes, runs):
    plots.draw_month_tradeoff(axes, [*runs, runs[1]], 2, days=1)
    assert [len(line.get_xdata()) for line in axes.get_lines()] == [1, 2]


def test_a_figure_has_a_panel_for_each_month_or_for_those_asked_for(runs):
    titles = [
        [panel.get_title(loc="left") for panel in plots.month_tradeoffs(runs, **options).axes]
        for options in ({"days": 0.4}, {"days": 0.4, "numbers": [3, 1]})
    ]
    # B alone is submitted after the first day's first two fifths, in the third of them
    assert titles[0] == [
        "month 1",
        "month 2: no job",
        "month 3",
        *(f"month {i}: no job" for i in (4, 5)),
    ]
    assert titles[1] == ["month 3", "month 1"]
    assert len(plots.month_tradeoffs(runs, days=1, columns=1).legends) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "months: all runs last 48.0 h, expected at least a month of 28 days"),
        ({"days": 0}, "months: got 0 days, expected more than none"),
        ({"days": float("nan")}, "months: got nan days, expected more than none"),
        ({"days": 1e-3}, "months: got months of 0.001 days in 48.0 h, expected at most 100 of"),
    ],
)
def test_months_that_make_no_sense_are_refused(options, message, runs):
    with pytest.raises(InputError) as error:
        plots.run_months(runs, **options)
    assert str(error.value).startswith(message)


def test_what_cannot_be_compared_is_refused(axes, runs):
    with pytest.raises(InputError, match="months: got one run, expected the one to compare with"):
        plots.months(runs[:1])
    with pytest.raises(InputError, match="month: got 3, expected one of 1 to 2"):
        plots.draw_month_tradeoff(axes, runs, 3, days=1)
    with pytest.raises(InputError, match="no energy was counted, expected a run with the option"):
        plots.months([("a", a_schedule([Row("A", 0.0, 0.0, 1.0, "0")])), runs[0]])
