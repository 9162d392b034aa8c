"""How figures look: small pictures, compared with those in `figures`.

A picture may differ a little: other versions of Matplotlib smooth lines and letters otherwise. What
is another colour, a missing line or a legend elsewhere is far beyond that. To draw them anew, after
looking at them: python tests/unit/test_figure_images.py
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import noctule as nt
from noctule import plots
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.metrics import Window
from noctule.platform import PowerModel
from noctule.windows import Maintenance, Reservation, Windows
from noctule.workload import Delay, Request

pytest.importorskip("matplotlib")
from matplotlib import image
from matplotlib.figure import Figure

EXPECTED = Path(__file__).parent / "figures"
DPI = 60
#: Root of the mean square of what pixels may differ by, from 0 to 1, once both are blurred. Letters
#: that are not smoothed at all make up to 0.026, two lines that change places 0.035.
TOLERANCE = 0.03
HOUR = 3600.0
POWER = PowerModel(idle=100, computing=200, off=10, switch_on_seconds=600, switch_on_watts=150)


@cache
def run(policy: str) -> nt.Schedule:
    """Return a day of 200 jobs on 32 hosts, the same on every machine."""
    return nt.simulate(nt.Platform.homogeneous(32), workload(), policy)


@cache
def workload() -> nt.Workload:
    return nt.Workload.from_jobs(
        [
            nt.Job(
                id=i,
                submit_time=400.0 * i,
                request=Request(2 ** (i * 7 % 6)),
                profile=Delay(300.0 + (i * 7919 % 97) * 60.0),
                walltime=7200.0,
                user=i % 9,
            )
            for i in range(200)
        ]
    )


def runs() -> list[tuple[str, nt.Schedule]]:
    return [(policy, run(policy)) for policy in ("fcfs", "easy")]


def hosts() -> Figure:
    maintenance = Maintenance(nt.HostSet("0-7"), 4 * HOUR, 8 * HOUR, "cooling")
    course = Reservation(nt.HostSet("24-31"), 6 * HOUR, 9 * HOUR, users=[1], name="course")
    windows = Windows([maintenance, course])
    events = ExternalEvents.from_events(
        [
            ExternalEvent(2 * HOUR, "failed", nt.HostSet("12-15")),
            ExternalEvent(3 * HOUR, "restored", nt.HostSet("12-15")),
        ]
    )
    platform = nt.Platform.homogeneous(32, power=POWER)
    policy = "easy(t_idle=300)"
    schedule = nt.simulate(platform, workload(), policy, windows=windows, energy="exact")
    stretches = [plots.stretches_of(windows, events, 32)]
    span = Window(0.0, 12 * HOUR)
    return plots.gantt(schedule, window=span, colour="wait", stretches=stretches, columns=1)


def sleeping() -> list[tuple[str, nt.Schedule]]:
    platform = nt.Platform.homogeneous(32, power=POWER)
    policies = {"easy": "easy", "OS": "easy(t_idle=300)", "weak OS": "easy(t_idle=6000)"}
    return [
        (name, nt.simulate(platform, workload(), policy, energy="exact"))
        for name, policy in policies.items()
    ]


def cloud() -> Figure:
    points = [
        plots.Point(1000.0 * (i % 5), 0.8 + 0.01 * i, f"t_idle {i % 3}", mark=f"period {i % 4}")
        for i in range(24)
    ]
    return plots.tradeoff(points, "mean_waiting_time", "joules", relative_to="easy", columns=1)


FIGURES: Mapping[str, Callable[[], Figure]] = {
    "gantt": lambda: plots.gantt(runs(), window=Window(0, 6 * HOUR), columns=1),
    "hosts": hosts,
    "queue": lambda: plots.queue(runs(), columns=1),
    "ladder": lambda: plots.ladder(runs()[1:], columns=1),
    "capacity": lambda: plots.capacity(runs()[1:], columns=1),
    "load": lambda: plots.load(runs()[1:], by="host", columns=1),
    "waits": lambda: plots.waits(runs()[1:], by="size", columns=1),
    "slowdown": lambda: plots.slowdown(runs()[1:], columns=1),
    "changes": lambda: plots.changes(runs(), columns=1),
    "cloud": cloud,
    "months": lambda: plots.months(sleeping(), days=0.2, columns=1),
    "month-tradeoffs": lambda: plots.month_tradeoffs(
        sleeping(), days=0.4, numbers=[1, 3], columns=1
    ),
}


def pixels(figure: Figure) -> np.ndarray:
    data = io.BytesIO()
    with plots.style():
        figure.savefig(data, format="png", dpi=DPI)
    data.seek(0)
    return image.imread(data)[:, :, :3]


def blurred(picture: np.ndarray) -> np.ndarray:
    """Return means of four by four pixels: letters become grey, and colours stay."""
    height, width = (side // 4 * 4 for side in picture.shape[:2])
    cut = picture[:height, :width].reshape(height // 4, 4, width // 4, 4, 3)
    return cut.mean(axis=(1, 3))


def difference(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.sqrt(((blurred(one) - blurred(other)) ** 2).mean()))


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_looks_as_it_did(name):
    drawn, expected = pixels(FIGURES[name]()), image.imread(EXPECTED / f"{name}.png")[:, :, :3]
    assert drawn.shape == expected.shape
    assert difference(drawn, expected) < TOLERANCE


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("queue", lambda: plots.queue(runs()[::-1], columns=1)),
        ("queue", lambda: plots.queue(runs()[:1], columns=1)),
        ("load", lambda: plots.load(runs()[:1], by="host", columns=1)),
    ],
)
def test_what_looks_otherwise_is_noticed(name, other):
    expected = image.imread(EXPECTED / f"{name}.png")[:, :, :3]
    assert difference(pixels(other()), expected) > TOLERANCE


def test_pictures_are_small_and_all_are_compared():
    found = {path.stem: path.stat().st_size for path in EXPECTED.glob("*.png")}
    assert set(found) == set(FIGURES)
    assert max(found.values()) < 40_000


if __name__ == "__main__":
    for name, make in FIGURES.items():
        plots.save_figure(make(), EXPECTED / f"{name}.png", dpi=DPI)
