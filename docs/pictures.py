"""Draw the pictures of the documentation into docs/images.

python docs/pictures.py            all of them
python docs/pictures.py lublin     one of them

Pictures that show a real log need the logs of the Parallel Workloads Archive: NOCTULE_SHARED names
a folder with `traces/KTH-SP2-1996-2.1-cln.swf.xz` and the like. Without it they are left as they
are.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from noctule import (
    HostSet,
    Platform,
    Schedule,
    Workload,
    load_platform,
    load_workload,
    metrics,
    plots,
    sessions,
    simulate,
    synthetic,
)
from noctule.compression import read_bytes
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.formats.headers import zone_told
from noctule.formats.local_time import LocalClock
from noctule.formats.rates import load_rates
from noctule.formats.saving import save_schedule, save_workload
from noctule.platform import PowerModel
from noctule.plots.style import figure_of
from noctule.policy import PolicySpec
from noctule.traces import extract, find_extracts, load_trace
from noctule.windows import Maintenance, Reservation, Windows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HERE = Path(__file__).parent
IMAGES = HERE / "images"
NIGHT = HERE.parent / "examples" / "night.swf"
LOGS = {
    "KTH-SP2": "KTH-SP2-1996-2.1-cln.swf.xz",
    "SDSC-SP2": "SDSC-SP2-1998-4.2-cln.swf.xz",
    "CEA-Curie": "CEA-Curie-2011-2.1-cln.swf.xz",
}
HOUR, DAY = 3600.0, 86_400.0
DURATIONS = {1: "1 s", 60: "1 min", HOUR: "1 h", DAY: "1 day", 10 * DAY: "10 days"}
Floats = npt.NDArray[np.float64]


class NoLogError(Exception):
    """The real logs are not on this machine."""


def log_path(name: str) -> Path:
    """Return where a real log is."""
    shared = Path(os.environ.get("NOCTULE_SHARED", HERE.parents[1] / "shared"))
    path = shared / "traces" / LOGS[name]
    if not path.is_file():
        raise NoLogError(f"no {path}; NOCTULE_SHARED names its folder")
    return path


@cache
def log(name: str) -> Workload:
    """Return a real log, by the processors that its jobs were given."""
    return load_workload(log_path(name), processors="allocated")


@cache
def local_dates(name: str) -> list[datetime]:
    """Return the dates of submission of a real log, where its machine stood."""
    lines = read_bytes(log_path(name)).decode("latin-1").splitlines()
    headers = dict(line[1:].strip().split(": ", 1) for line in lines if line.startswith("; U"))
    start, zone = int(headers["UnixStartTime"]), zone_told(log(name).headers)[0]
    seconds = [int(float(line.split()[1])) for line in lines if line and line[0] != ";"]
    return [datetime.fromtimestamp(start + second, zone) for second in seconds]


def figure(n_rows: int, n_columns: int, height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure and its panels, row by row."""
    from matplotlib.figure import Figure as NewFigure

    made = NewFigure(figsize=(8.0, height), layout="constrained")
    panels = made.subplots(n_rows, n_columns, squeeze=False)
    for axes in panels.flat:
        axes.grid(color="0.92")
        axes.set_axisbelow(True)
        axes.tick_params(labelsize=8)
    return made, list(panels.flat)


def distribution(axes: Axes, values: Floats, label: str, i: int) -> None:
    """Draw which share of the values is at most so large."""
    ordered = np.sort(values)
    rank = np.unique(np.linspace(0, len(ordered) - 1, 1500).astype(int))
    share = (rank + 1) / len(ordered)
    colour = plots.PALETTE[i]
    axes.step(ordered[rank], share, where="post", label=label, color=colour, linewidth=1.3)
    axes.set_ylim(0, 1)


def duration_axis(axes: Axes, title: str, *, most: float = 10 * DAY) -> None:
    """Make an axis of durations."""
    axes.set_xscale("log")
    ticks = {at: text for at, text in DURATIONS.items() if at <= most}
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.minorticks_off()
    axes.set_xlim(1, most)
    axes.set_title(title, fontsize=9, loc="left")


def by_hour(axes: Axes, hours: Floats, label: str, i: int) -> None:
    """Draw how many jobs came in each hour of the day, the mean being 1."""
    counts = np.bincount(hours.astype(int) % 24, minlength=24)
    rate = np.append(counts, counts[-1]) / counts.mean()
    colour = plots.PALETTE[i]
    axes.step(np.arange(25), rate, where="post", label=label, color=colour, linewidth=1.3)
    axes.set_title("submissions by hour, mean 1", fontsize=9, loc="left")
    axes.set_xticks([0, 6, 12, 18, 24])
    axes.set_ylim(bottom=0)


def compared(drawn: Mapping[str, Workload], *logs: str) -> Figure:
    """Draw sizes, runtimes, gaps and hours of drawn workloads and of real logs."""
    made, (sizes, runtimes, gaps, hours) = figure(2, 2, 5.0)
    everything = {name: log(name) for name in logs} | dict(drawn)
    for i, (name, workload) in enumerate(everything.items()):
        distribution(sizes, workload.n_hosts.astype(float), name, i)
        distribution(runtimes, np.maximum(workload.table.amount, 1.0), name, i)
        distribution(gaps, np.maximum(np.diff(workload.submit_time), 1.0), name, i)
        if name in logs:
            by_hour(hours, np.array([date.hour for date in local_dates(name)]), name, i)
        else:
            by_hour(hours, workload.submit_time // HOUR, name, i)
    sizes.set_xscale("log", base=2)
    sizes.set_title("hosts of a job: share of jobs at most so large", fontsize=9, loc="left")
    duration_axis(runtimes, "runtime")
    duration_axis(gaps, "time between two submissions")
    runtimes.legend(fontsize=8, frameon=False)
    return made


def lublin() -> Figure:
    """Draw Lublin and Feitelson's model beside the logs of two machines of its time."""
    drawn = {"lublin": synthetic.lublin(50_000, seed=1)}
    return compared(drawn, "KTH-SP2", "SDSC-SP2")


def cirne() -> Figure:
    """Draw the model after Cirne and Berman beside the logs that its patterns were fitted to."""
    drawn = {
        f"cirne, {pattern}": synthetic.cirne(50_000, seed=1, pattern=pattern)
        for pattern in ("kth", "sdsc")
    }
    return compared(drawn, "KTH-SP2", "SDSC-SP2")


def batsim2016() -> Figure:
    """Draw Batsim's validation workload, with the runtimes of KTH-SP2, beside that log."""
    programs = synthetic.read_programs(log_path("KTH-SP2"))
    drawn = {"batsim2016": synthetic.batsim2016(19_500, seed=1, runtimes=programs)}
    return compared(drawn, "KTH-SP2")


def independent() -> Figure:
    """Draw the description of docs/reference/generators.md beside KTH-SP2."""
    page = (HERE / "reference" / "generators.md").read_text()
    description = page.split("```toml\n", 1)[1].split("```", 1)[0]
    import tomllib

    drawn = synthetic.independent(tomllib.loads(description), 30_000, seed=1, n_hosts=100)
    return compared({"independent": drawn}, "KTH-SP2")


def arrivals() -> Figure:
    """Draw the named cycles beside the hours and weekdays of three logs, and what bursts do."""
    made, (hours, days, gaps) = figure(1, 3, 3.0)
    steady = np.arange(200_000, dtype=np.float64) * 300.0
    weekly = synthetic.cycle_named("weekly").bent(steady)
    for i, name in enumerate(LOGS):
        dates = local_dates(name)
        by_hour(hours, np.array([date.hour for date in dates]), name, i)
        counts = np.bincount([date.weekday() for date in dates], minlength=7)
        days.plot(counts / counts.mean(), "o-", color=plots.PALETTE[i], linewidth=1, markersize=3)
    by_hour(hours, weekly // HOUR, 'cycle "weekly"', 3)
    counts = np.bincount((weekly // DAY).astype(int) % 7)
    days.plot(counts / counts.mean(), "o-", color=plots.PALETTE[3], linewidth=1.6, markersize=4)
    days.set_xticks(range(7), ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"])
    days.set_ylim(bottom=0)
    days.set_title("submissions by weekday, mean 1", fontsize=9, loc="left")
    distribution(gaps, np.maximum(np.diff(log("KTH-SP2").submit_time), 1.0), "", 0)
    drawn = synthetic.independent(EXPONENTIAL, 30_000, seed=1)
    distribution(gaps, np.maximum(np.diff(drawn.submit_time), 1.0), "exponential", 4)
    bursts = synthetic.Arrivals(synthetic.cycle_named("weekly"), synthetic.Bursts(2.5, 120.0))
    drawn = synthetic.independent(EXPONENTIAL, 30_000, seed=1, arrivals=bursts)
    label = "exponential, weekly, in bursts of 2.5 jobs 120 s apart"
    distribution(gaps, np.maximum(np.diff(drawn.submit_time), 1.0), label, 5)
    duration_axis(gaps, "time between two submissions", most=DAY)
    made.legend(fontsize=8, frameon=False, loc="outside lower center", ncols=3)
    return made


EXPONENTIAL: Mapping[str, Any] = {
    "inter_arrival": {"distribution": "exponential", "mean": 1000},
    "n_hosts": {"distribution": "constant", "value": 1},
    "runtime": {"distribution": "constant", "value": 1},
}


def walltimes() -> Figure:
    """Draw walltimes for the runtimes of SDSC-SP2 beside those that its users asked for."""
    made, (asked, accuracy) = figure(1, 2, 3.0)
    workload = load_workload(log_path("SDSC-SP2"), walltime_factor=None)
    known = np.isfinite(workload.walltime) & (workload.walltime >= workload.table.amount)
    known &= workload.walltime <= 18 * HOUR
    runtime, recorded = workload.table.amount[known], workload.walltime[known]
    rng = np.random.Generator(np.random.PCG64(1))
    models: Mapping[str, synthetic.WalltimeModel] = {
        "tsafrir, maximum 18 h": synthetic.TsafrirWalltimes(18 * HOUR),
        "uniform, f = 2": synthetic.UniformWalltimes(2.0),
        "factor 3": synthetic.FactorWalltimes(3.0),
    }
    drawn = {name: model.draw(runtime, rng).walltime for name, model in models.items()}
    for i, (name, values) in enumerate(({"SDSC-SP2": recorded} | drawn).items()):
        distribution(asked, values, name, i)
        distribution(accuracy, runtime / values, name, i)
    duration_axis(asked, "walltime: share of jobs that ask for at most so much", most=2 * DAY)
    accuracy.set_title("accuracy: runtime / walltime", fontsize=9, loc="left")
    accuracy.set_xlim(0, 1.02)
    asked.legend(fontsize=8, frameon=False)
    return made


@cache
def night_runs() -> tuple[tuple[str, Schedule], ...]:
    """Return the runs of the log that comes with Noctule."""
    workload, platform = load_workload(NIGHT), Platform.homogeneous(128)
    policies = ("fcfs", "easy", "conservative")
    return tuple((policy, simulate(platform, workload, policy)) for policy in policies)


def night_sessions() -> Figure:
    """Draw the sessions of one user of that log, as EASY ran it."""
    from noctule.plots.session_boxes import sessions_figure

    with TemporaryDirectory() as folder:
        path = Path(folder) / "recorded.swf"
        save_schedule(night_runs()[1][1], path)
        found = sessions.find_sessions(load_workload(path), threshold=HOUR)
    return sessions_figure(found, 7)


def host_gantt() -> Figure:
    """Draw three days in which hosts sleep, are maintained, kept for a user, and fail."""
    off = {"off": 9.75, "switch_off_seconds": 6.1, "switch_off_watts": 101.0}
    on = {"switch_on_seconds": 151.52, "switch_on_watts": 125.17}
    power = PowerModel(idle=95.0, computing=190.74, **off, **on)
    platform, workload = Platform.homogeneous(128, power=power), load_workload(NIGHT)
    windows = Windows(
        [
            Maintenance(HostSet("0-23"), 5.5 * DAY, 6.2 * DAY, "new switches"),
            Reservation(HostSet("100-127"), 6.5 * DAY, 7 * DAY, users=[13], name="course"),
        ]
    )
    failed = HostSet("60-71")
    happens = [
        ExternalEvent(6.25 * DAY, "failed", failed),
        ExternalEvent(6.7 * DAY, "restored", failed),
    ]
    events = ExternalEvents.from_events(happens)
    schedule = simulate(
        platform, workload, "easy(t_idle=300)", events, windows=windows, energy="exact"
    )
    return plots.gantt(
        schedule,
        window=metrics.Window(5.3 * DAY, 8 * DAY),
        colour="wait",
        stretches=[plots.stretches_of(windows, events, 128)],
    )


def kth_load() -> Figure:
    """Draw how busy KTH-SP2 was under EASY, by the hours of its days and of its weeks."""
    schedule = simulate(Platform.homogeneous(100), log("KTH-SP2"), "easy")
    clock = LocalClock.of(log("KTH-SP2").headers, until=3.2e8)
    with figure_of(2, 1.5, share_x=False) as (made, panels):
        for axes, by in zip(panels, ("day", "week"), strict=True):
            shown = plots.draw_load(axes, schedule, by=by, clock=clock)
        made.colorbar(shown, ax=panels, label="hosts in use", pad=0.01)
        return made


def night_tradeoff() -> Figure:
    """Draw policies with many orders between what most jobs see and what the worst off see."""
    platform, workload = Platform.homogeneous(128), load_workload(NIGHT)
    orders = ("fcfs", "sjf", "ljf", "smallest", "largest", "smallest_area", "wfp3")
    drawn = ("mean_bounded_slowdown", "max_waiting_time")
    points = []
    for policy in ("easy", "conservative"):
        for order in orders:
            told = metrics.summary(simulate(platform, workload, f"{policy}(order={order})"))
            points.append(plots.Point(told[drawn[0]], told[drawn[1]], policy, order))
    return plots.tradeoff(points, *drawn)


def sdsc_gantt() -> Figure:
    """Draw two years of SDSC-SP2 under EASY."""
    schedule = simulate(Platform.homogeneous(128), log("SDSC-SP2"), "easy")
    return plots.gantt([("SDSC-SP2, easy", schedule)])


@cache
def busy_month() -> Workload:
    """Return the busiest thirty days of KTH-SP2, as in docs/tutorial.md."""
    whole = load_trace(log_path("KTH-SP2"))
    (found,) = find_extracts(whole, 100, length=30 * DAY, count=1)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "month.swf"
        save_workload(extract(whole, found.start, found.length), path)
        return load_workload(path)


def tutorial_waits() -> Figure:
    """Draw the figure of the tutorial; its policy is written as an order of native EASY here."""
    due = "easy(order='submit_time + 10 * n_hosts * walltime / 100')"
    policies = {"easy": "easy", "area": "easy(order=smallest_area)", "due": due}
    platform = Platform.homogeneous(100)
    return plots.waits([(n, simulate(platform, busy_month(), p)) for n, p in policies.items()])


def readme() -> Figure:
    """Draw four days of that month under FCFS and EASY, jobs on neighbouring hosts if they can."""
    runs = []
    for name in ("fcfs", "easy"):
        policy = f"{name}(allocation=best_effort_contiguous)"
        schedule = simulate(Platform.homogeneous(100), busy_month(), policy)
        hours = metrics.summary(schedule)["mean_waiting_time"] / HOUR
        runs.append((f"{name}: jobs wait for {hours:.1f} h in the mean", schedule))
    return plots.gantt(runs, window=metrics.Window(5 * DAY, 9 * DAY))


def power_night() -> Figure:
    """Draw the two runs of docs/howto/carbon-and-price.md, whose files are taken from there."""
    page = (HERE / "howto" / "carbon-and-price.md").read_text()
    with TemporaryDirectory() as folder:
        for language, name in (("toml", "cluster.toml"), ("python", "patient.py")):
            text = page.split(f"```{language}\n# {name}\n", 1)[1].split("```", 1)[0]
            (Path(folder) / name).write_text(text)
        series = NIGHT.with_name("carbon-day.csv")
        patient = PolicySpec(f"{folder}/patient.py:Patient", {"series": str(series), "most": 300})
        platform, workload = load_platform(Path(folder) / "cluster.toml"), load_workload(NIGHT)
        runs = [
            (name, simulate(platform, workload, policy, energy="exact"))
            for name, policy in {"filler": "filler", "patient": patient}.items()
        ]
    rates = load_rates(str(series), str(NIGHT.with_name("price-day.csv")))
    return plots.power(runs, rates=rates, window=metrics.Window(2 * DAY, 6 * DAY))


@cache
def sleeping_kth() -> list[tuple[str, Schedule]]:
    """Return KTH-SP2 under EASY and under three ways to switch hosts off."""
    platform = load_platform(HERE.parent / "studies/shutdown/platforms/taurus-100.toml")
    policies = {
        "EASY": "easy",
        "OS": "easy(t_idle=300)",
        "weakOS": "easy(t_idle=6000)",
        "inertial": "inertial(upper_bound=10000, period=300)",
    }
    workload = load_workload(log_path("KTH-SP2"))
    return [(n, simulate(platform, workload, p, energy="exact")) for n, p in policies.items()]


PICTURES: Mapping[str, Callable[[], Figure]] = {
    "gantt-night": lambda: plots.gantt(night_runs()),
    "utilisation-night": lambda: plots.utilisation(night_runs()),
    "queue-night": lambda: plots.queue(night_runs()),
    "waits-night": lambda: plots.waits(night_runs()),
    "power-night": power_night,
    "sessions-night": night_sessions,
    "gantt-sdsc": sdsc_gantt,
    "gantt-hosts": host_gantt,
    "ladder-night": lambda: plots.ladder(night_runs()[:2]),
    "load-kth": kth_load,
    "capacity-night": lambda: plots.capacity(night_runs()[:2]),
    "waits-by-size": lambda: plots.waits(night_runs()[:2], by="size"),
    "slowdown-night": lambda: plots.slowdown(night_runs()[:2]),
    "changes-night": lambda: plots.changes(night_runs()[::-1][:2]),
    "tradeoff-night": night_tradeoff,
    "months-kth": lambda: plots.months(sleeping_kth()),
    "month-tradeoffs-kth": lambda: plots.month_tradeoffs(sleeping_kth(), numbers=[2, 5, 9, 11]),
    "lublin": lublin,
    "cirne": cirne,
    "batsim2016": batsim2016,
    "independent": independent,
    "arrivals": arrivals,
    "walltimes": walltimes,
    "waits-tutorial": tutorial_waits,
    "readme": readme,
}
SHARP = ("readme",)


def main(names: list[str]) -> int:
    """Draw the pictures of these names, or all."""
    unknown = [name for name in names if name not in PICTURES]
    if unknown:
        sys.stderr.write(f"{unknown[0]}: unknown, expected one of {', '.join(PICTURES)}\n")
        return 2
    for name in names or PICTURES:
        try:
            dpi = 120 if name in SHARP else 80
            plots.save_figure(PICTURES[name](), IMAGES / f"{name}.png", dpi=dpi)
            sys.stderr.write(f"{IMAGES / name}.png: written\n")
        except NoLogError as reason:
            sys.stderr.write(f"{name}: left as it is: {reason}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
