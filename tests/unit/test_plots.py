"""Pictures: what is drawn where, what it looks like in pixels, and that bytes are the same."""

from __future__ import annotations

import io
import itertools
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from built_schedules import Row, a_schedule, rejected
from power_runs import night_and_day

import noctule as nt
from noctule import metrics, plots
from noctule.errors import InputError
from noctule.metrics import Window
from noctule.rates import Rate, Rates
from noctule.record import JobState, PlainJobs, PlainRecord, host_states_of

pytest.importorskip("matplotlib")
from matplotlib import image
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex, to_rgb

# the others need energy as well
OF_JOBS = [kind for kind in plots.FIGURES if kind not in ("power", "energy")]
NIGHT = Path(__file__).parents[2] / "examples" / "night.swf"


@pytest.fixture
def schedule() -> nt.Schedule:
    """Four hosts: A on all for 100 s, then B on 0 and 2-3 for 100 s, C beside it for 50 s."""
    return a_schedule(
        [
            Row("A", 0.0, 0.0, 100.0, "0-3"),
            rejected("R", 0.0),
            Row("C", 40.0, 100.0, 150.0, "1", JobState.TIMED_OUT),
            Row("B", 20.0, 100.0, 200.0, "0 2-3"),
        ]
    )


def large_schedule(n_jobs: int, n_hosts: int = 64) -> nt.Schedule:
    """Jobs of one host and 5 s, one after the other on each host, with 5 s between them."""
    job = np.arange(n_jobs, dtype=np.uint32)
    start = (job // n_hosts) * 10.0
    held = np.ones(n_jobs, dtype=np.uint32)
    hosts = [nt.HostSet([host]) for host in range(n_hosts)]
    record = PlainRecord(
        job,
        np.full(n_jobs, JobState.COMPLETED, dtype=np.uint8),
        held,
        np.zeros(n_jobs),
        start,
        start + 5.0,
        [hosts[i % n_hosts] for i in range(n_jobs)],
        *host_states_of(n_hosts, start, start + 5.0, held),
    )
    table = PlainJobs("w0", job.astype(np.int64), held, np.full(n_jobs, 9.0), ["p"] * n_jobs)
    return nt.Schedule(nt.Platform.homogeneous(n_hosts), [table], record)


def pixels(figure):
    """Render a figure; return its pixels, and a function from data to the pixel there."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=100)
    data.seek(0)
    picture = image.imread(data)[:, :, :3]

    def at(axes, x, y):
        column, row = axes.transData.transform((x, y))
        return to_hex(picture[picture.shape[0] - 1 - round(row), round(column)])

    return picture, at


# gantt


def test_a_gantt_chart_has_a_box_for_each_run_of_hosts(schedule):
    figure = plots.gantt([("easy", schedule)])
    (axes,) = figure.axes
    (boxes,) = (c for c in axes.collections if isinstance(c, PolyCollection))
    extents = [path.get_extents().extents.tolist() for path in boxes.get_paths()]
    # time is shown in minutes: 200 s
    minutes = [[round(x * 60), y0, round(x1 * 60), y1] for x, y0, x1, y1 in extents]
    assert minutes == [[0, 0, 100, 4], [100, 1, 150, 2], [100, 0, 200, 1], [100, 2, 200, 4]]
    assert axes.get_xlabel() == "time (min)"
    assert axes.get_title(loc="left") == "easy"
    assert axes.get_ylim() == (0, 4)
    assert sorted(text.get_text() for text in axes.texts) == ["A", "B", "C"]


def test_jobs_have_the_colour_of_their_turn_and_idle_hosts_none(schedule):
    figure = plots.gantt([("easy", schedule)])
    (axes,) = figure.axes
    _, at = pixels(figure)
    by_start = {"A": (20, 3.5), "C": (110, 1.5), "B": (190, 3.5)}
    for colour, (x, y) in zip(plots.PALETTE, by_start.values(), strict=False):
        assert at(axes, x / 60, y) == colour.lower()
    # both boxes of B are alike; host 1 is idle after 150 s
    assert at(axes, 120 / 60, 0.5) == plots.PALETTE[2].lower()
    assert at(axes, 175 / 60, 1.5) == "#f2f2f0"


def test_states_have_colours_of_their_own_and_a_legend(schedule):
    figure = plots.gantt([("easy", schedule)], colour="state")
    (axes,) = figure.axes
    _, at = pixels(figure)
    assert at(axes, 20 / 60, 3.5) == at(axes, 190 / 60, 3.5) == "#0072b2"
    assert at(axes, 110 / 60, 1.5) == "#e69f00"
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["completed", "timed out"]


def test_users_with_the_most_host_seconds_have_colours_and_the_others_are_grey():
    rows = [Row(i, 0.0, 10.0 * i, 10.0 * i + 10 - i, "0") for i in range(8)]
    plain = a_schedule(rows)
    (table,) = plain.tables
    users = [f"u{i}" for i in range(8)]
    named = PlainJobs(
        table.name, table.job_ids, table.n_hosts, table.walltime, table.profile_names, users
    )
    schedule = nt.Schedule(plain.platform, [named], plain.record)
    figure = plots.gantt([("easy", schedule)], colour="user")
    (axes,) = figure.axes
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == [*(f"user u{i}" for i in range(6)), "others"]
    _, at = pixels(figure)
    assert at(axes, 5, 0.5) == plots.PALETTE[0].lower()
    assert at(axes, 71.5, 0.5) == "#bbbbbb"


def test_users_that_are_not_told_have_no_colours(schedule):
    with pytest.raises(InputError) as error:
        plots.gantt([("easy", schedule)], colour="user")
    assert str(error.value) == (
        "classes: got 'user' for a schedule that does not tell users, expected one that does "
        "(Parquet folders do, Batsim's CSV files do not)"
    )


def test_many_jobs_become_a_map_whose_mean_is_the_utilisation():
    schedule = large_schedule(20_000)
    figure = plots.gantt([("large", schedule)])
    axes = figure.axes[0]
    (cells,) = (picture.get_array() for picture in axes.images)
    assert cells.shape == (64, 1200)
    assert cells.mean() == pytest.approx(metrics.utilisation(schedule), rel=1e-9)
    assert not axes.collections
    # cells of 3125 / 1200 = 2.604 s: in use up to 5 s, so all of the first, 2.396 s of the next
    assert cells[0, :3].tolist() == pytest.approx([1, 0.92, 0])


def test_a_part_of_a_large_schedule_is_drawn_job_by_job():
    schedule = large_schedule(20_000)
    (axes,) = plots.gantt([("large", schedule)], window=Window(1000.0, 1100.0)).axes
    (boxes,) = axes.collections
    assert len(boxes.get_paths()) == 64 * 10


def test_runs_are_drawn_one_above_the_other_on_one_axis(schedule):
    later = a_schedule([Row("A", 0.0, 300.0, 400.0, "0-3")])
    figure = plots.gantt([("easy", schedule), ("fcfs", later)])
    first, second = figure.axes
    assert first.get_xlim() == second.get_xlim() == (0, 400 / 60)
    assert first.get_position().y0 > second.get_position().y1
    assert (first.get_xlabel(), second.get_xlabel()) == ("", "time (min)")


@pytest.mark.parametrize("n_jobs", [10, 1000, 100_000])
def test_any_number_of_jobs_fills_the_picture_and_not_the_disk(n_jobs, tmp_path):
    figure = plots.gantt([("run", large_schedule(n_jobs))])
    picture, _ = pixels(figure)
    coloured = (np.ptp(picture, axis=2) > 0.2).mean()
    assert coloured > 0.05
    plots.save_figure(figure, tmp_path / "x.pdf")
    assert (tmp_path / "x.pdf").stat().st_size < 400_000


# over time


def test_utilisation_is_drawn_as_steps_with_its_mean(schedule):
    figure = plots.utilisation([("easy", schedule)])
    (axes,) = figure.axes
    (steps,) = axes.patches
    values, edges, _ = steps.get_data()
    # 4 of 4 hosts, and 3 from 150 s on
    assert values.tolist() == [1, 0.75]
    assert (edges * 60).round().tolist() == [0, 150, 200]
    assert axes.get_title(loc="left") == "easy: mean 0.938"
    (mean,) = axes.lines
    assert mean.get_ydata()[0] == (400 + 200 + 150) / 800
    _, at = pixels(figure)
    assert at(axes, 190 / 60, 0.3) != at(axes, 190 / 60, 0.9) == "#ffffff"


def test_many_steps_are_shown_by_exact_means():
    schedule = large_schedule(64 * 2000)
    (axes,) = plots.utilisation([("large", schedule)]).axes
    (steps,) = axes.patches
    values, edges, _ = steps.get_data()
    assert len(values) == 400
    mean = float((values * np.diff(edges)).sum() / (edges[-1] - edges[0]))
    assert mean == pytest.approx(metrics.utilisation(schedule), rel=1e-9)


def test_the_queue_of_each_run_is_a_line(schedule):
    other = a_schedule([Row("A", 0.0, 50.0, 60.0, "0")])
    (axes,) = plots.queue([("easy", schedule), ("fcfs", other)]).axes
    first, second = axes.patches
    # B waits from 20 s on, C from 40 s, both until 100 s
    values, edges, _ = first.get_data()
    assert values.tolist() == [0, 1, 2, 0]
    assert (edges * 60).round().tolist() == [0, 20, 40, 100, 200]
    assert second.get_data().values.tolist() == [1, 0]
    assert first.get_edgecolor() != second.get_edgecolor()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["easy", "fcfs"]
    assert all(float(tick).is_integer() for tick in axes.get_yticks())


def test_the_queue_can_be_counted_in_hosts(schedule):
    (axes,) = plots.queue([("easy", schedule)], unit="hosts").axes
    assert axes.patches[0].get_data().values.tolist() == [0, 3, 4, 0]
    assert axes.get_ylabel() == "hosts that waiting jobs ask for"


# waits


def test_waits_are_a_distribution(schedule):
    # A waited 0 s, C 60 s, B 80 s
    (axes,) = plots.waits([("easy", schedule)]).axes
    (line,) = axes.lines
    assert line.get_xdata().tolist() == [1, 1, 60, 80]
    assert line.get_ydata() == pytest.approx([0, 1 / 3, 2 / 3, 1])
    labels = [text.get_text() for text in axes.get_xticklabels()]
    assert labels == ["1 s", "10 s", "1 min"]
    assert axes.get_legend().get_texts()[0].get_text() == "easy (mean 47 s)"


def test_the_distribution_of_many_waits_is_thinned_and_keeps_its_ends():
    schedule = large_schedule(20_000)
    (axes,) = plots.waits([("large", schedule)]).axes
    (line,) = axes.lines
    x, y = line.get_xdata(), line.get_ydata()
    assert len(x) <= 2001
    assert (x[-1], y[-1]) == (metrics.waiting_time(schedule).max(), 1)
    # the median wait
    assert np.interp(0.5, y, x) == pytest.approx(
        np.median(metrics.waiting_time(schedule)), rel=0.01
    )


def test_waits_in_a_window_are_of_jobs_submitted_in_it(schedule):
    (axes,) = plots.waits([("easy", schedule)], window=Window(10.0, 30.0)).axes
    assert axes.lines[0].get_xdata().tolist() == [1, 80]


# power


def test_power_is_a_line_a_run_in_kilowatts():
    """250 W up to 5 s, 210 up to 10, 110 up to 50, 250 up to 60, 400 up to 80."""
    (axes,) = plots.power([("one", night_and_day()), ("other", night_and_day())]).axes
    for line in axes.patches:
        values, edges, _ = line.get_data()
        assert values == pytest.approx([0.25, 0.21, 0.11, 0.25, 0.4])
        assert edges.tolist() == [0, 5, 10, 50, 60, 80]
    assert axes.get_ylabel() == "kW"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "other"]


def test_rates_are_panels_below_the_power():
    rates = Rates(Rate((0.0, 20.0), (300.0, 50.0), 50.0), Rate((0.0, 30.0, 85.0), (0.1, -0.2, 1.0)))
    power, carbon, price = plots.power([("one", night_and_day())], rates=rates).axes
    assert [axes.get_ylabel() for axes in (power, carbon, price)] == [
        *("kW", "g CO2 / kWh", "EUR / kWh"),
    ]
    values, edges, _ = carbon.patches[0].get_data()
    assert (values.tolist(), edges.tolist()) == ([300, 50, 300, 50], [0, 20, 50, 70, 80])
    values, edges, _ = price.patches[0].get_data()
    assert (values.tolist(), edges.tolist()) == ([0.1, -0.2], [0, 30, 80])
    assert (carbon.get_ylim()[0], price.get_ylim()[0] < -0.2) == (0, True)
    shown = plots.power([("one", night_and_day())], rates=rates, window=Window(10.0, 40.0)).axes[1]
    assert shown.patches[0].get_data().edges.tolist() == [10, 20, 40]


def test_a_rate_of_many_steps_is_shown_by_exact_means():
    rates = Rates(carbon=Rate((0.0, 0.01), (100.0, 300.0), 0.02))
    _, axes = plots.power([("one", night_and_day())], rates=rates).axes
    values, edges, _ = axes.patches[0].get_data()
    assert len(edges) == 401
    assert values == pytest.approx([200] * 400)


def test_power_needs_energy(schedule):
    with pytest.raises(InputError, match="schedule: no energy was counted"):
        plots.power([("easy", schedule)])


# all of them


@pytest.mark.parametrize("kind", plots.FIGURES)
def test_the_same_runs_give_the_same_bytes(kind, schedule, tmp_path):
    if kind not in OF_JOBS:
        schedule = night_and_day()
    for ending in plots.FORMATS if kind == "gantt" else ("svg",):
        for name in ("a", "b"):
            figure = plots.FIGURES[kind]([("easy", schedule)])
            plots.save_figure(figure, tmp_path / name / f"x.{ending}")
        texts = [(tmp_path / name / f"x.{ending}").read_bytes() for name in ("a", "b")]
        assert texts[0] == texts[1]
        begins = {"pdf": b"%PDF", "png": b"\x89PNG", "svg": b"<?xml"}
        assert texts[0].startswith(begins[ending])
        if ending == "pdf":
            assert b"/FontFile2" in texts[0]  # letters are embedded


@pytest.mark.parametrize("kind", plots.FIGURES)
def test_no_run_is_refused(kind):
    with pytest.raises(InputError, match="picture: got no run, expected at least one"):
        plots.FIGURES[kind]([])


def test_drawing_leaves_the_settings_of_matplotlib_alone(schedule):
    import matplotlib as mpl

    def settings():
        # to ask for the backend would choose one
        return {key: mpl.rcParams[key] for key in mpl.rcParams if key != "backend"}

    before = settings()
    plots.gantt([("easy", schedule)])
    assert settings() == before
    assert "matplotlib.pyplot" not in sys.modules


def test_an_unknown_colouring_is_refused(schedule):
    with pytest.raises(InputError) as error:
        plots.gantt([("easy", schedule)], colour="queue")
    assert str(error.value) == (
        "gantt: colour: got 'queue', expected one of "
        "job, user, state, wait, profile, size, runtime, walltime"
    )


def test_an_unknown_ending_is_refused(schedule, tmp_path):
    figure = plots.waits([("easy", schedule)])
    for name in ("x.jpg", "x"):
        with pytest.raises(InputError) as error:
            plots.save_figure(figure, tmp_path / name)
        assert str(error.value) == (
            f"{tmp_path / name}: got no known ending, expected .pdf, .png, .svg"
        )


def test_a_picture_that_cannot_be_written_is_an_input_error(schedule, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"x\.png: cannot be written: "):
        plots.save_figure(plots.waits([("easy", schedule)]), tmp_path / "file" / "x.png")


def test_without_the_library_the_message_says_how_to_get_it(schedule, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError) as error:
        plots.waits([("easy", schedule)])
    assert str(error.value) == (
        "pictures: matplotlib is not installed, expected it from pip install 'noctule[plots]'"
    )


# Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision
# deficiency", IEEE TVCG 15(6), 2009: severity 1, on linear RGB.
DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}


def lab(colour, deficiency):
    """Return a colour as such eyes see it, in CIE L*a*b*."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(deficiency @ linear, 0, 1)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ linear / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("name", DEFICIENCIES)
def test_all_readers_can_tell_the_colours_apart(name):
    # a distance of 2.3 is just noticeable; the smallest here is 17.9
    seen = [lab(colour, DEFICIENCIES[name]) for colour in plots.PALETTE]
    distances = [math.dist(a, b) for a, b in itertools.combinations(seen, 2)]
    assert min(distances) > 15
