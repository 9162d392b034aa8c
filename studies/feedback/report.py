"""Tables, verdicts and pictures of the article on replay with feedback, from the study's campaigns.

`report_campaigns(folders, pages)` writes a page and its pictures, and tells whether the published
figures of KTH-SP2 come out, or their difference is within what a second here or there changes, and
whether the ranking of section 7.1 does.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd

from noctule.campaign import load_results
from noctule.campaign.about import read_about
from noctule.formats import load_workload
from noctule.formats.local_time import LocalClock
from noctule.metrics import steady_window, throughput, utilisation
from noctule.plots import save_figure
from noctule.plots.campaign_runs import kept_jobs
from noctule.plots.lateness import MONTH, draw_scaling
from noctule.plots.replays import figure, session_figure
from noctule.plots.style import figure_of
from noctule.schedule import Schedule
from noctule.sessions import find_sessions

HERE = Path(__file__).parent
DAY = 86_400.0
REPLAYS = {"rigid": "rigid", "feedback(threshold=0)": "a0", "feedback(threshold=60min)": "a60"}
EXPERIMENTS = ("EASY", "FCFS", "perf×2", "perf/2", "infra×2", "infra/2")
#: Rows that have to come out to one unit of the last digit; all others within 5 %.
EXACT = ("perf×2", "infra×2")
TOLERANCE = 0.05
UNITS = {"relative_lateness": 1.0, "additional_lateness": 1.0}
HEADERS = {
    "makespan": "makespan",
    "mean_waiting_time": "mean wait",
    "max_waiting_time": "max wait",
    "mean_lateness": "mean lateness",
    "relative_lateness": "relative",
    "additional_lateness": "additional (s)",
}
Luck = Mapping[tuple[str, str], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Figure:
    """A printed figure beside ours, and between what ours lies when seconds are moved."""

    row: str
    metric: str
    printed: Decimal
    ours: float
    luck: tuple[float, float]

    @property
    def unit(self) -> float:
        """One unit of the last printed digit."""
        exponent = self.printed.as_tuple().exponent
        assert isinstance(exponent, int)
        return 10.0**exponent

    @property
    def difference(self) -> float:
        return self.ours - float(self.printed)

    @property
    def digits(self) -> bool:
        return abs(self.difference) <= 0.5 * self.unit * (1 + 1e-9)

    @property
    def near(self) -> bool:
        """Whether it is as close as it has to be."""
        if self.row.partition(" ")[0] in EXACT:
            return abs(round(self.difference / self.unit, 6)) <= 1.5
        return self.digits or abs(self.difference) <= TOLERANCE * abs(float(self.printed))

    @property
    def by_luck(self) -> bool:
        low, high = self.luck
        return low - self.unit <= float(self.printed) <= high + self.unit

    @property
    def agrees(self) -> bool:
        return self.near or self.by_luck

    @property
    def ours_text(self) -> str:
        places = max(0, -int(self.printed.as_tuple().exponent))
        text = f"{self.ours:.{places}f}"
        return text if self.near else f"**{text}**"


def labelled(folder: Path) -> pd.DataFrame:
    """Return the runs of a campaign with the names that the article gives them."""
    table = load_results(folder)
    table = table[(table["bound"] == "") & (table["status"] == "done")].copy()
    table["log"] = [label.partition("(")[0] for label in table["workload"]]
    table["experiment"] = [experiment_of(row) for _, row in table.iterrows()]
    table["row"] = table["experiment"] + " " + table["replay"].map(replay_name)
    # jobs that are larger than the machine have not waited, but count in the means of the article
    table["mean_waiting_time"] *= table["n_ended"] / table["n_jobs"]
    return table


def experiment_of(row: Mapping[str, Any]) -> str:
    """Return what the article calls an infrastructure with its policy."""
    return str(row["platform"]).partition("-")[2] or str(row["policy"])


def replay_name(replay: str) -> str:
    return REPLAYS.get(replay, replay)


def grouped(folder: Path) -> dict[str, dict[str, dict[str, Schedule]]]:
    """Return the kept runs of a campaign by log, infrastructure and replay."""
    found: dict[str, dict[str, dict[str, Schedule]]] = {}
    for row, schedule in kept_jobs(folder):
        of_log = found.setdefault(row["workload"], {})
        of_log.setdefault(experiment_of(row), {})[replay_name(row["replay"])] = schedule
    return found


def in_units(metric: str, seconds: float) -> float:
    return seconds / UNITS.get(metric, DAY)


def luck_of(table: pd.DataFrame, metrics: Sequence[str]) -> Luck:
    """Return the least and the largest value of each figure among the shaken runs."""
    found = {}
    for row, runs in table.groupby("row"):
        for metric in metrics:
            low, high = float(runs[metric].min()), float(runs[metric].max())
            found[str(row), metric] = in_units(metric, low), in_units(metric, high)
    return found


def figures_of(
    published: Mapping[str, Any], log: str, table: pd.DataFrame, luck: Luck
) -> Iterator[Figure]:
    ours = table[table["log"] == log].set_index("row")
    for row, printed in published[log].items():
        for metric, value in zip(published["metrics"], printed, strict=False):
            mine = in_units(metric, float(ours.loc[row, metric]))
            known = luck.get((row, metric), (mine, mine)) if log == "kth" else (mine, mine)
            yield Figure(row, metric, value, mine, known)


def markdown(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(headers)} |", "|---" * len(headers) + "|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def beside(figures: Sequence[Figure], metrics: Sequence[str]) -> str:
    """Return published figures and ours, one line a run."""
    headers = ["run"]
    for metric in metrics:
        headers += [HEADERS[metric], "ours"]
    rows = []
    for row in dict.fromkeys(one.row for one in figures):
        mine = {one.metric: one for one in figures if one.row == row}
        if not all(metric in mine for metric in metrics):
            continue
        cells = [row]
        for metric in metrics:
            cells += [str(mine[metric].printed), mine[metric].ours_text]
        rows.append(cells)
    return markdown(headers, rows)


def reasons(figures: Sequence[Figure]) -> str:
    """Return the figures that are not as close as asked, and between what luck moves ours."""
    rows = [
        [
            one.row,
            HEADERS[one.metric],
            str(one.printed),
            f"{one.ours:.3f}",
            f"{one.difference / float(one.printed):+.1%}" if one.printed else "-",
            f"{one.luck[0]:.3f} to {one.luck[1]:.3f}",
            "yes" if one.by_luck else "**NO**",
        ]
        for one in figures
        if not one.near
    ]
    headers = ["run", "figure", "published", "ours", "difference", "ours, shaken", "luck"]
    return markdown(headers, rows) if rows else "None."


def variants(figures: Sequence[Figure], table: pd.DataFrame) -> str:
    """Return what reservations on hosts change, beside those on numbers of hosts."""
    other = table.set_index("row")
    rows = []
    for row in other.index:
        cells = [row]
        for one in figures:
            if one.row == row and one.metric in ("makespan", "max_waiting_time", "mean_lateness"):
                mine = in_units(one.metric, float(other.loc[row, one.metric]))
                cells += [str(one.printed), f"{one.ours:.2f}", f"{mine:.2f}"]
        rows.append(cells + [""] * (10 - len(cells)))
    headers = ["run"]
    for metric in ("makespan", "max_waiting_time", "mean_lateness"):
        headers += [HEADERS[metric], "numbers", "hosts"]
    compared = [one for one in figures if one.row in other.index and one.printed]
    by_number = [one.difference for one in compared]
    by_host = [
        in_units(one.metric, float(other.loc[one.row, one.metric])) - float(one.printed)
        for one in compared
    ]
    numbers, hosts = (
        sum(abs(d / float(one.printed)) for d, one in zip(found, compared, strict=True))
        / len(compared)
        for found in (by_number, by_host)
    )
    text = (
        f"Mean distance to the published figures: {numbers:.1%} with reservations of numbers, "
        f"{hosts:.1%} of hosts."
    )
    return f"{markdown(headers, rows)}\n\n{text}"


def ranking(published: Mapping[str, Any], table: pd.DataFrame) -> tuple[str, bool]:
    """Return the infrastructures from the earliest to the latest submissions."""
    rows, holds = [], True
    without = [name for name in published["ranking"]["kth"] if name != "FCFS"]
    for log in ("kth", "sdsc"):
        for replay in ("a0", "a60"):
            runs = table[(table["log"] == log) & (table["row"].str.endswith(f" {replay}"))]
            found = runs.sort_values("mean_lateness")["experiment"].tolist()
            ranked = [name for name in found if name != "FCFS"] == without
            exact = found == published["ranking"][log]
            holds &= ranked
            verdict = "the same" if exact else "the same but for FCFS" if ranked else "**DIFFERS**"
            rows.append([log, replay, " < ".join(found), verdict])
    return markdown(["log", "replay", "from the earliest to the latest", "article"], rows), holds


def rebound(groups: Mapping[str, Mapping[str, Schedule]]) -> str:
    """Return throughput and utilisation in windows of 4, 6 and 8 months (figure 9)."""
    rows = []
    for title in EXPERIMENTS:
        for name, schedule in groups[title].items():
            cells = [title, name]
            for measure, unit in ((throughput, DAY), (utilisation, 1.0)):
                values = [
                    measure(schedule, window=steady_window(schedule, length=n * MONTH)) * unit
                    for n in (4, 6, 8)
                ]
                cells += [f"{value:.3g}" for value in values]
            rows.append(cells)
    headers = [
        "run",
        "replay",
        "jobs a day: 4 months",
        "6",
        "8",
        "hosts in use: 4 months",
        "6",
        "8",
    ]
    return markdown(headers, rows)


def scalability(table: pd.DataFrame) -> str:
    """Return the additional lateness of ever longer parts of the logs (section 7.6)."""
    lines = []
    for log, runs in table.groupby("log", sort=False):
        sizes = sorted(runs["n_jobs"].unique().tolist())
        rows = []
        for experiment in dict.fromkeys(runs["experiment"]):
            mine = runs[runs["experiment"] == experiment].set_index("n_jobs")
            late = [float(mine.loc[size, "additional_lateness"]) for size in sizes]
            change = late[-1] / late[len(late) // 2] - 1
            rows.append([experiment, *(f"{value:.1f}" for value in late), f"{change:+.0%}"])
        headers = [str(log), *(f"{size} jobs" for size in sizes), "from the middle on"]
        lines.append(markdown(headers, rows))
    return "\n\n".join(lines)


def models(table: pd.DataFrame, groups: Mapping[str, Mapping[str, Schedule]]) -> str:
    """Return what each replay model makes of the same change."""
    rows = []
    for replay in dict.fromkeys(table["replay"]):
        for experiment in ("EASY", "perf×2", "perf/2"):
            run = table[(table["replay"] == replay) & (table["experiment"] == experiment)].iloc[0]
            schedule = groups[experiment][replay_name(replay)]
            steady = steady_window(schedule)
            rows.append(
                [
                    f"`{replay}`",
                    experiment,
                    f"{run['makespan'] / DAY:.1f}",
                    f"{run['mean_waiting_time'] / DAY:.3f}",
                    f"{run['max_waiting_time'] / DAY:.2f}",
                    "0" if replay == "rigid" else f"{run['mean_lateness'] / DAY:.2f}",
                    "1" if replay == "rigid" else f"{run['submission_stretch']:.3f}",
                    f"{throughput(schedule, window=steady) * DAY:.1f}",
                    f"{utilisation(schedule, window=steady):.3f}",
                ]
            )
    headers = ["replay", "hosts", "makespan", "mean wait", "max wait", "mean lateness", "stretch"]
    return markdown([*headers, "jobs a day", "hosts in use"], rows)


def pictures(kth: Mapping[str, Mapping[str, Schedule]], log: Path, pages: Path) -> None:
    """Draw figures 2 to 10 of KTH-SP2."""

    def groups(*replays: str) -> list[tuple[str, list[tuple[str, Schedule]]]]:
        return [(name, [(replay, kth[name][replay]) for replay in replays]) for name in EXPERIMENTS]

    a60 = [("", [(name, kth[name]["a60"]) for name in EXPERIMENTS])]
    every = [
        (f"{name} {replay}", kth[name][replay]) for name in EXPERIMENTS for replay in kth[name]
    ]
    workload = load_workload(log, processors="requested", walltime_factor=2)
    clock = LocalClock.of(workload.headers, until=1000 * DAY)
    months = [n * MONTH for n in (4, 6, 8)]
    drawn = {
        "2": figure("submissions", groups("rigid", "a60")),
        "3": figure("cumulative", groups("rigid", "a60")),
        "4": figure("mean-lateness", groups("a60")),
        "5": figure("additional-lateness", groups("a60")),
        "5c": figure("lateness-spread", a60),
        "6": session_figure(
            [(name, find_sessions(workload, threshold=t)) for name, t in (("a0", 0), ("a60", 3600))]
        ),
        "7": figure("differences", a60),
        "7b": figure("differences", groups("a0", "a60"), reference="a60"),
        "8": figure("week", groups("rigid", "a60")[:1], clock=clock),
        "9": figure("rebound", [("", every)], lengths=months),
        "10": figure("arrivals", [("", [("log", kth["EASY"]["rigid"])])]),
    }
    for number, picture in drawn.items():
        save_figure(picture, pages / f"figure-{number}.svg")


def model_pictures(kth: Mapping[str, Mapping[str, Schedule]], log: Path, pages: Path) -> None:
    """Draw what the models make of hosts that are half as fast."""
    clock = LocalClock.of(load_workload(log).headers, until=1000 * DAY)
    slow = list(kth["perf/2"].items())
    save_figure(figure("submissions", [("perf/2", slow)]), pages / "models-submissions.svg")
    save_figure(figure("differences", [("perf/2", slow)]), pages / "models-differences.svg")
    weeks = [(name, [(name, schedule)]) for name, schedule in slow]
    save_figure(figure("week", weeks, clock=clock), pages / "models-week.svg")


def scaling_picture(table: pd.DataFrame, pages: Path) -> None:
    """Draw figure 11."""
    with figure_of(2, 3.0, share_x=False) as (drawn, panels):
        for axes, (log, runs) in zip(panels, table.groupby("log", sort=False), strict=True):
            series = {
                str(name): list(zip(mine["n_jobs"], mine["additional_lateness"], strict=True))
                for name, mine in runs.groupby("experiment", sort=False)
            }
            draw_scaling(axes, series)
            axes.set_title(str(log))
        save_figure(drawn, pages / "figure-11.svg")


def n_jobs_of(figures: Sequence[Figure]) -> str:
    """Return how many jobs the published additional latenesses are of: 2 mean / additional + 1."""
    low, high = 0.0, math.inf
    for row in dict.fromkeys(one.row for one in figures):
        mine = {one.metric: one for one in figures if one.row == row}
        if "additional_lateness" not in mine:
            continue
        mean, added = (
            abs(float(mine[m].printed)) for m in ("mean_lateness", "additional_lateness")
        )
        low = max(low, 2 * (mean - 0.005) * DAY / (added + 0.005) + 1)
        high = min(high, 2 * (mean + 0.005) * DAY / (added - 0.005) + 1)
    return f"{math.ceil(low)} to {math.floor(high)}"


def report_campaigns(folders: Mapping[str, Path], pages: Path) -> bool:
    """Write the page and the pictures; tell whether all is as expected."""
    published = tomllib.loads((HERE / "published.toml").read_text(), parse_float=Decimal)
    table, lucky = labelled(folders["campaign"]), labelled(folders["campaign-luck"])
    parts, all_models = labelled(folders["campaign-parts"]), labelled(folders["campaign-models"])
    variant = labelled(folders["campaign-variant"])
    luck = luck_of(pd.concat([lucky, table[table["log"] == "kth"]]), published["metrics"])
    kth, sdsc = (list(figures_of(published, log, table, luck)) for log in ("kth", "sdsc"))
    ranks, ranked = ranking(published, table)
    runs = grouped(folders["campaign"])["kth"]
    told = read_about(folders["campaign"]).workloads["kth"].spec.file
    assert told is not None
    pictures(runs, Path(told.path), pages)
    scaling_picture(parts, pages)
    model_runs = grouped(folders["campaign-models"])["kth"]
    model_pictures(model_runs, Path(told.path), pages)
    classical, late = published["metrics"][:3], published["metrics"][3:]
    fields = {
        "n_runs": str(sum(map(len, (table, lucky, parts, all_models, variant)))),
        "n_jobs": n_jobs_of(kth),
        "n_rejected": str(
            table.set_index(["log", "row"]).loc["kth", "infra/2 rigid"]["n_rejected"]
        ),
        "near": f"{sum(one.near for one in kth)} of {len(kth)}",
        "table_1": beside(kth, classical),
        "table_2": beside(kth, late),
        "sdsc_1": beside(sdsc, classical),
        "sdsc_2": beside(sdsc, late),
        "reasons": reasons(kth),
        "variants": variants(kth, variant),
        "ranking": ranks,
        "rebound": rebound(runs),
        "scalability": scalability(parts),
        "models": models(all_models, model_runs),
    }
    page = (HERE / "page.md").read_text()
    for name, text in fields.items():
        page = page.replace(f"{{{{{name}}}}}", text)
    (pages / "index.md").write_text(page)
    print("\n\n".join(fields[n] for n in ("table_1", "table_2", "reasons", "ranking", "models")))
    print(f"\n{fields['near']} published figures are as close as asked")
    return ranked and all(one.agrees for one in kth)
