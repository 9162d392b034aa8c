"""Figures of schedules: what is drawn, by hand; strange names; what cannot be drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from built_schedules import Row, a_schedule, rejected
from power_runs import night_and_day

import noctule as nt
from noctule import plots
from noctule.errors import InputError
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.metrics import Window
from noctule.plots.classes import classes_of
from noctule.plots.stretches import power_boxes
from noctule.plots.style import line_style
from noctule.plots.texts import plain
from noctule.record import JobState
from noctule.windows import Maintenance, Reservation, Windows

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure

HOUR, DAY = 3600.0, 86_400.0
HOSTILE = "<script>alert(1)</script> $\\frac{1}{0}$ 😀 日本\n\x00\ud800" + "x" * 300


@pytest.fixture
def axes():
    return Figure().subplots()


@pytest.fixture
def schedule():
    """Four hosts: A on all for 100 s, then B on 0 and 2-3 for 100 s, C beside it for 50 s."""
    return a_schedule(
        [
            Row("A", 0.0, 0.0, 100.0, "0-3"),
            Row("C", 40.0, 100.0, 150.0, "1", JobState.TIMED_OUT),
            Row("B", 20.0, 100.0, 200.0, "0 2-3"),
        ]
    )


def labels(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def stairs(axes):
    return {patch.get_label(): patch.get_data() for patch in axes.patches}


# over time


def test_a_ladder_counts_jobs_submitted_started_and_ended(axes, schedule):
    plots.draw_ladder(axes, schedule)
    assert labels(axes) == ["submitted", "started", "ended"]
    submitted, started, ended = axes.get_lines()
    dates = (submitted.get_xdata() * 60).round().tolist()
    assert dates == [0, 20, 40, 100, 150, 200]
    assert submitted.get_ydata().tolist() == [1, 2, 3, 3, 3, 3]
    assert started.get_ydata().tolist() == [1, 1, 1, 3, 3, 3]
    assert ended.get_ydata().tolist() == [0, 0, 0, 1, 2, 3]


def test_demand_is_what_runs_and_what_waits(axes, schedule):
    plots.draw_demand(axes, schedule)
    found = stairs(axes)
    # A on 4 hosts; B wants 3 from 20 s on, C 1 from 40 s on
    assert found["in use or waited for"].values.tolist() == [4, 7, 8, 4, 3]
    assert found["in use"].values.tolist() == [4, 3]
    (all_hosts,) = axes.get_lines()
    assert all_hosts.get_ydata()[0] == 4


def test_energy_is_the_power_summed_up(axes):
    plots.draw_energy(axes, night_and_day())
    (line,) = axes.get_lines()
    x, y = line.get_xdata(), line.get_ydata()
    # 250 W for 5 s, 210 for 5, 110 for 40, 250 for 10 and 400 for 20 s are 17 200 J
    assert y[-1] == pytest.approx(17_200 / 3600)
    assert np.interp(10.0, x, y) == pytest.approx((1250 + 1050) / 3600)
    assert axes.get_ylabel() == "energy (Wh)"


def test_the_horizon_falls_while_jobs_run(axes):
    run = a_schedule(
        [Row("A", 0, 0, 100, "0-3", walltime=100), Row("B", 0, 100, 200, "0-3", walltime=100)]
    )
    plots.draw_horizon(axes, run)
    values, edges, _ = axes.patches[0].get_data()
    # B waits from 0 to 100 s, and 100 s more once A is over: 150 s in the mean
    assert values.tolist() == [150 / 60, 0]
    assert edges.tolist() == [0, 100 / 60, 200 / 60]


def test_capacity_is_stacked_and_sums_to_all_hosts(axes, schedule):
    plots.draw_capacity(axes, schedule)
    found = stairs(axes)
    assert labels(axes) == ["busy", "empty queue"]
    assert found["busy"].values.tolist()[-1] == 0.75
    top = found["empty queue"]
    assert top.values.tolist() == [1] * len(top.values)
    assert top.baseline.tolist() == found["busy"].values.tolist()
    figure = plots.capacity([("a", schedule)])
    assert figure.axes[0].get_title(loc="left") == "a: 0.0% lost while jobs waited"


# heat maps


def test_a_heat_map_has_hours_of_days_and_nothing_outside_the_run(axes):
    # half of the hosts from 1:00 to 2:30, all of them on the next day from 0:00 to 1:00
    rows = [Row("A", HOUR, HOUR, 2.5 * HOUR, "0-1"), Row("B", HOUR, DAY, DAY + HOUR, "0-3")]
    image = plots.draw_load(axes, a_schedule(rows))
    cells = np.ma.filled(image.get_array(), np.nan)
    assert cells.shape == (24, 2)
    assert cells[1, 0] == 0.5
    assert cells[2, 0] == 0.25
    assert cells[3, 0] == 0
    assert cells[0, 1] == 1
    # before the first submission, and after the latest finish
    assert np.isnan([cells[0, 0], cells[1, 1]]).all()


def test_a_heat_map_of_a_week_has_the_means_of_all_weeks(axes):
    rows = [Row(i, 0.0, i * DAY, i * DAY + HOUR, "0-3") for i in (0, 7, 8)]
    image = plots.draw_load(axes, a_schedule(rows), by="week")
    cells = np.ma.filled(image.get_array(), np.nan)[::-1]
    assert cells.shape == (7, 24)
    # both first days are busy for an hour, but only one of the two second ones
    assert cells[:3, 0].tolist() == [1, 0.5, 0]
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        f"day {i}" for i in range(7, 0, -1)
    ]


def test_a_heat_map_by_host_is_exact(axes, schedule):
    image = plots.draw_load(axes, schedule, by="host")
    cells = image.get_array()
    assert cells.shape == (4, 240)
    assert cells[1].mean() == pytest.approx(150 / 200)
    with pytest.raises(InputError, match="load: by: got 'year', expected one of day, week, host"):
        plots.draw_load(axes, schedule, by="year")


# jobs


def test_waits_by_size_are_a_line_a_class(axes, schedule):
    plots.draw_waits(axes, schedule, by="size")
    found = {line.get_label(): line.get_xdata().tolist() for line in axes.get_lines()}
    # C waited for 60 s on one host, B for 80 s on three, A not at all on four
    assert found == {"1 host": [1, 60], "2–3 hosts": [1, 80], "4 hosts": [1, 1]}
    with pytest.raises(InputError, match="waits: by: got 'wait', expected one of user, state"):
        plots.draw_waits(axes, schedule, by="wait")
    with pytest.raises(InputError, match="got 2 runs, expected one in a panel of classes"):
        plots.draw_waits(axes, [("a", schedule), ("b", schedule)], by="size")


def test_classes_are_the_same_for_all_runs_of_a_figure(schedule):
    large = a_schedule([Row(1, 0.0, 0.0, 1.0, "0-999")], n_hosts=1000)
    found = classes_of("size", [schedule, large])
    assert found.labels == (
        "1–3 hosts",
        "4–15 hosts",
        "16–63 hosts",
        "64–255 hosts",
        "256–1000 hosts",
    )
    assert found.code(schedule).tolist() == [1, 0, 0]
    assert found.code(large).tolist() == [4]
    waits = classes_of("wait", [schedule])
    assert [waits.labels[i] for i in waits.code(schedule)] == ["< 1 min", "< 10 min", "< 10 min"]


def test_slowdowns_have_a_point_a_job_and_medians_of_many(axes):
    rows = [Row(i, 0.0, 100.0 * i, 100.0 * i + 100.0, "0") for i in range(10)]
    plots.draw_slowdown(axes, a_schedule(rows), against="runtime")
    points, median = axes.get_lines()
    assert points.get_ydata().tolist() == list(range(1, 11))
    assert points.get_xdata().tolist() == [100] * 10
    assert median.get_xydata().tolist() == [[pytest.approx(100), 5.5]]
    with pytest.raises(InputError, match="slowdown: against: got 'user', expected size or runtime"):
        plots.draw_slowdown(axes, a_schedule(rows), against="user")


# hosts


def test_hosts_that_sleep_are_a_ground_of_a_gantt_chart():
    boxes = power_boxes(night_and_day(), Window(0.0, 80.0))
    told = {
        name: [(b.left[i], b.right[i], b.bottom[i], b.top[i]) for i in range(len(b))]
        for name, b in boxes.items()
    }
    assert told == {
        "asleep": [(5, 50, 1, 2)],
        "switching off": [(0, 5, 1, 2)],
        "switching on": [(50, 60, 1, 2)],
    }
    figure = plots.gantt(night_and_day(), colour="state")
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["completed", "asleep", "switching on", "switching off"]


def test_windows_and_absences_are_hatched(axes, schedule):
    windows = Windows(
        [
            Maintenance(nt.HostSet("0-1"), 10.0, 60.0, "cooling"),
            Reservation(1, 100.0, 150.0, users=[3], name="a $class$"),
        ]
    )
    both = nt.HostSet("0-1")
    events = [
        ExternalEvent(5.0, "failed", both),
        ExternalEvent(9.0, "restored", both),
        ExternalEvent(50.0, "unavailable", nt.HostSet("3")),
    ]
    stretches = plots.stretches_of(windows, ExternalEvents.from_events(events), 4)
    assert stretches == [
        plots.Stretch("failed", [(0, 1)], 5.0, 9.0),
        plots.Stretch("unavailable", [(3, 3)], 50.0, math.inf),
        plots.Stretch("maintenance", [(0, 1)], 10.0, 60.0, "cooling"),
        plots.Stretch("reservation", [(3, 3)], 100.0, 150.0, "a $class$"),
    ]
    plots.draw_gantt(axes, schedule, stretches=stretches)
    boxes = [patch.get_bbox().extents * [60, 1, 60, 1] for patch in axes.patches]
    assert [box.round().tolist() for box in boxes] == [
        *([5, 0, 9, 2], [50, 3, 200, 4], [10, 0, 60, 2], [100, 3, 150, 4]),
    ]
    assert labels(axes) == ["maintenance", "reservation", "unavailable", "failed"]
    assert {"cooling", r"a \$class\$"} <= {text.get_text() for text in axes.texts}


# several runs


def test_changes_have_a_point_for_each_job_of_both(axes, schedule):
    other = a_schedule([Row("C", 40.0, 40.0, 90.0, "1"), Row("B", 20.0, 200.0, 300.0, "0 2-3")])
    plots.draw_changes(axes, schedule, other)
    _, same, earlier, later = axes.get_lines()
    assert len(same.get_xdata()) == 0
    assert earlier.get_xydata().tolist() == [[40, -60]]
    assert later.get_xydata().tolist() == [[20, 100]]
    assert axes.get_title(loc="left") == "50% earlier, 50% later, mean +20 s"
    title = (
        plots.changes([("a", schedule), ("b", other)], what="wait").axes[0].get_title(loc="left")
    )
    assert title == "b against a: 50% shorter, 50% longer, mean +20 s"


def test_runs_that_have_no_job_in_common_are_refused(axes, schedule):
    with pytest.raises(InputError, match="the two runs have no job that ran in both"):
        plots.draw_changes(axes, schedule, a_schedule([Row("Z", 0.0, 0.0, 1.0, "0")]))
    with pytest.raises(InputError, match="changes: got one run, expected the one to compare with"):
        plots.changes([("a", schedule)])


def test_the_front_has_the_runs_that_no_other_beats_in_both(axes):
    points = [
        plots.Point(*at)
        for at in ((1, 0.5), (2, 0.9), (2, 0.7), (3, 0.8), (4, 0.95), (math.nan, 1))
    ]
    front = plots.pareto_front(points[:5], "mean_waiting_time", "utilisation")
    assert [(point.x, point.y) for point in front] == [(1, 0.5), (2, 0.9), (4, 0.95)]
    plots.draw_tradeoff(axes, points, "mean_waiting_time", "utilisation")
    cloud, line = axes.get_lines()
    assert len(cloud.get_xdata()) == 5
    assert line.get_xydata().tolist() == [[1, 0.5], [2, 0.9], [4, 0.95]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("mean waiting time (s)", "utilisation")


def test_colours_tell_groups_and_shapes_tell_marks(axes):
    points = [plots.Point(i, i, f"g{i // 2}", mark=f"m{i % 2}") for i in range(4)]
    plots.draw_tradeoff(axes, points, "makespan", "joules", front=False, relative_to="easy")
    shapes = [(line.get_color(), line.get_marker()) for line in axes.get_lines()[:4]]
    assert shapes == [(plots.PALETTE[i], shape) for i in (0, 1) for shape in ("o", "s")]
    assert labels(axes) == ["g0", "g1", "m0", "m1"]
    assert axes.get_ylabel() == "energy / easy's"
    many = [plots.Point(i, i, mark=f"m{i}") for i in range(8)]
    with pytest.raises(InputError, match="tradeoff: got 8 marks, expected at most 7"):
        plots.draw_tradeoff(axes, many, "makespan", "joules")


def test_points_are_those_of_the_metrics(schedule):
    (point,) = plots.points_of([("a", schedule)], "mean_waiting_time", "makespan")
    assert (point.x, point.y, point.group) == (pytest.approx(140 / 3), 200, "a")
    with pytest.raises(InputError, match="a: no metric nothing, expected one of n_jobs, "):
        plots.points_of([("a", schedule)], "nothing", "makespan")


# names and sizes


def test_names_are_written_as_they_are():
    assert plain("$x_1$") == r"\$x_1\$"
    assert plain("a\n\tb\x00c") == "a b c"
    assert plain("日x") == "□x"
    assert plain("_x") == " _x"
    assert plain("a" * 50 + "b") == "a" * 23 + "…" + "a" * 11 + "b"


@pytest.mark.parametrize(
    "kind", [kind for kind in plots.FIGURES if kind not in ("power", "energy")]
)
def test_strange_names_a_million_hosts_and_nothing_at_all_are_drawn(kind, tmp_path):
    strange = [
        Row("$a_b^{", 0, 0, 100, "0-999999"),
        Row("😀<b>", 20, 100, math.nan, "5-7", JobState.RUNNING),
    ]
    never = [rejected("R", 0.0), Row("W", 0.0, state=JobState.WAITING, asked=1)]
    runs = [
        (HOSTILE, a_schedule(strange, n_hosts=1_000_000)),
        ("_$", a_schedule([Row("A", 0, 0, 1, "0")], n_hosts=1)),
        ("nothing ran", a_schedule(never)),
        ("", a_schedule([])),
    ]
    plots.save_figure(plots.FIGURES[kind](runs, columns=1), tmp_path / "x.png", dpi=30)


def test_figures_fit_one_or_two_columns(schedule):
    for columns, width in ((1, 3.4), (2, 7.1)):
        assert plots.waits(schedule, columns=columns).get_figwidth() == width
    with pytest.raises(InputError, match="picture: columns: got 3, expected 1 or 2"):
        plots.waits(schedule, columns=3)


def test_lines_differ_in_their_dashes_and_in_pairs_of_colour_and_dashes():
    looks = [(look["color"], str(look["linestyle"])) for look in map(line_style, range(49))]
    assert len(set(looks)) == 49
    assert len({dashes for _, dashes in looks[:7]}) == 7


def test_a_notebook_shows_a_figure_that_is_the_result_of_a_cell():
    schedule = a_schedule([Row(1, 0.0, 0.0, 100.0, "0-1")])
    assert plots.gantt([("one", schedule)])._repr_png_().startswith(b"\x89PNG")
