"""Tables, verdicts and pictures of chapter 6, from the runs of the campaign.

`report(results, folder)` writes a page and its pictures, and tells whether each claim of the
thesis holds as `claims.toml` says that it does here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from noctule.comparison import Comparison, Objective, compare, summarise
from noctule.plots import PALETTE, save_figure

HERE = Path(__file__).parent
WEEK, WINDOW = 7.0, 3.0  # days
N_HOSTS = {"kth": 100, "sdsc": 128, "curie": 80_640}
COMPUTING_WATTS = 203.12
SHUT = "_SHUT"
FAMILIES = ("powercap", "reducePC", "energyBud")
#: The first waiting job reserves only what is above the rate.
EXCESS = {"reducePC": "reducePC+", "energyBud": "energyBud+"}
MEASURES = {
    "utilisation": Objective("larger", ""),
    "bounded_slowdown": Objective("smaller", ""),
    "energy": Objective("smaller", ""),
    "n_started": Objective("larger", "jobs"),
}
AXES = ["workload", "policy", "budget"]
# table 6.2: percentage change with opportunistic shutdown, for powercap, reducePC and energyBud
PUBLISHED = {
    "bounded_slowdown": (0.16, 0.88, -8.61),
    "utilisation": (-0.05, 4.95, 5.74),
    "n_started": (-0.05, 1.4, 1.47),
    "energy": (-4.74, -1.78, -1.42),
}
TITLES = {
    "utilisation": "utilisation of the week",
    "bounded_slowdown": "AVEbsld of all jobs",
    "energy": "energy of the week / energy that could be consumed",
    "n_started": "jobs started in the week",
}


def measured(results: pd.DataFrame) -> pd.DataFrame:
    """Return a row a week, policy and budget, with what the thesis measures.

    Each is run twice: to the end of the week, for what hosts did and drew, and to the end of all
    jobs, for what these went through.
    """
    done = results[(results["bound"] == "") & (results["status"] == "done")].copy()
    done["budget"] = done["policy.budget"].fillna(1.0)
    done["policy"] = [label.partition("(")[0] for label in done["policy"]]
    cut = done["until"] == WEEK * 86_400
    week, whole = (part.set_index(AXES).sort_index() for part in (done[cut], done[~cut]))
    table = whole[["mean_bounded_slowdown"]].rename(
        columns={"mean_bounded_slowdown": "bounded_slowdown"}
    )
    table["utilisation"] = week["utilisation"]
    table["n_started"] = week["n_ended"] + week["n_running"]
    table["watts"] = week["mean_power"]
    table = table.reset_index()
    table["log"] = [label.partition("(")[0] for label in table["workload"]]
    consumable = COMPUTING_WATTS * table["log"].map(N_HOSTS)
    share = (WINDOW * table["budget"] + WEEK - WINDOW) / WEEK
    table["energy"] = table.pop("watts") / (consumable * share)
    return table


def normalised(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return means over the weeks, with intervals from which differences of weeks are removed."""
    told = table.assign(
        level=[f"{p} {b:g}" for p, b in zip(table.policy, table.budget, strict=True)]
    )
    rows = summarise(told, "level", measure, axes=["workload", "level"], unit="workload").as_table()
    levels = rows["level"].str.split(" ", expand=True)
    return pd.DataFrame(
        {
            "policy": levels[0],
            "budget": levels[1].astype(float),
            "mean": rows["normalised_mean"],
            "low": rows["normalised_low"],
            "high": rows["normalised_high"],
        }
    )


def with_reading(name: str, reading: str) -> str:
    """Return the name of a policy in a reading of what the first job reserves."""
    family, shut, _ = name.partition(SHUT)
    return (EXCESS.get(family, family) if reading == "above the rate" else family) + shut


def judged(table: pd.DataFrame, claim: Mapping[str, Any], reading: str) -> Comparison:
    """Compare two policies at the budgets that a claim is about."""
    level, than = (with_reading(claim[key], reading) for key in ("policy", "than"))
    chosen = table[table["policy"].isin([level, than])]
    chosen = chosen[chosen["budget"].isin([percent / 100 for percent in claim["budgets"]])]
    answer = compare(
        chosen[[*AXES, claim["measure"]]],
        "policy",
        claim["measure"],
        baseline=than,
        axes=AXES,
        unit="workload",
        objectives=MEASURES,
    )
    return answer.comparisons[0]


def holds(claim: Mapping[str, Any], found: Comparison) -> bool:
    """Tell whether a difference is what a claim says: of a sign, or none to speak of."""
    if claim["is"] == "same":
        relative = found.relative
        return found.difference.value == 0 or (
            relative is not None and max(abs(relative.low), abs(relative.high)) <= claim["within"]
        )
    sign = 1 if claim["is"] == "larger" else -1
    return bool(found.significant) and found.difference.value * sign > 0


def shown(found: Comparison) -> str:
    """Return a difference in per cent, with its interval."""
    if found.difference.value == 0:
        return "none"
    if found.relative is None:
        return f"{found.difference.value:+.3g}"
    relative = found.relative
    return f"{relative.value:+.1f} % ({relative.low:+.1f} to {relative.high:+.1f})"


READINGS = ("whole", "above the rate")


def claim_lines(table: pd.DataFrame, claims: list[dict[str, Any]]) -> tuple[list[str], bool]:
    """Return the table of claims, and whether all are as they are expected to be here."""
    lines = [
        "| section | the thesis finds | reserved: whole | reserved: above the rate |",
        "|---|---|---|---|",
    ]
    expected = True
    for claim in claims:
        cells = []
        for reading, here in zip(READINGS, claim["here"], strict=True):
            found = judged(table, claim, reading)
            answer = holds(claim, found)
            expected &= answer == here
            surprise = "" if answer == here else " (**unexpected**)"
            cells.append(f"{'holds' if answer else 'does not hold'}: {shown(found)}{surprise}")
        budgets = ", ".join(str(percent) for percent in claim["budgets"])
        text = f"{claim['says']} ({TITLES[claim['measure']]}; {budgets} %)"
        lines.append(f"| {claim['section']} | {text} | {' | '.join(cells)} |")
    return lines, expected


def shutdown_lines(table: pd.DataFrame) -> list[str]:
    """Return the effect of opportunistic shutdown beside table 6.2."""
    names = [*FAMILIES, *EXCESS.values()]
    lines = [
        "| change with shutdown | " + " | ".join(names) + " |",
        "|---" * (len(names) + 1) + "|",
    ]
    means = table.groupby(["policy", "budget"])[list(MEASURES)].mean()
    for measure, printed in PUBLISHED.items():
        cells = []
        for i, name in enumerate(names):
            with_it, without = means.loc[name + SHUT][measure], means.loc[name][measure]
            change = float(((with_it - without) / without).mean()) * 100
            told = f" (published {printed[i]:+g} %)" if i < len(printed) else ""
            cells.append(f"{change:+.2f} %{told}")
        lines.append(f"| {TITLES[measure]} | {' | '.join(cells)} |")
    return lines


def baseline(table: pd.DataFrame, budget: float) -> float:
    """Return the utilisation of EASY if it fell as the budget does (section 6.5.6)."""
    easy = float(table[table["policy"] == "EASY"]["utilisation"].mean())
    return easy * (WINDOW / WEEK * budget + (WEEK - WINDOW) / WEEK)


def efficiency_lines(table: pd.DataFrame) -> list[str]:
    """Return from which budget on each policy lies above the line of figure 6.2."""
    lines = ["| policy | budgets at which utilisation falls less than the budget |", "|---|---|"]
    means = table.groupby(["policy", "budget"])["utilisation"].mean()
    for policy in _in_order(table):
        above = [
            f"{budget:.0%}"
            for budget, value in means.loc[policy].sort_index(ascending=False).items()
            if budget < 1 and value > baseline(table, budget)
        ]
        lines.append(f"| {policy} | {', '.join(above) or 'none'} |")
    return lines


def mean_lines(table: pd.DataFrame, measure: str) -> list[str]:
    """Return normalised means with half the width of their intervals, a row a policy."""
    rows = normalised(table, measure)
    budgets = sorted(rows["budget"].unique(), reverse=True)
    lines = [
        f"| {TITLES[measure]} | " + " | ".join(f"{budget:.0%}" for budget in budgets) + " |",
        "|---" * (len(budgets) + 1) + "|",
    ]
    for policy in ["EASY", *_in_order(table)]:
        mine = rows[rows["policy"] == policy].set_index("budget")
        cells = [
            f"{mine['mean'][b]:.4g} ± {(mine['high'][b] - mine['low'][b]) / 2:.2g}"
            if b in mine.index
            else ""
            for b in budgets
        ]
        lines.append(f"| {policy} | {' | '.join(cells)} |")
    return lines


def _in_order(table: pd.DataFrame) -> list[str]:
    there = set(table["policy"])
    names = [name + shut for name in (*FAMILIES, *EXCESS.values()) for shut in ("", SHUT)]
    return [name for name in names if name in there]


def _lines(table: pd.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each policy with how it is drawn: a colour each family, dashes without shutdown."""
    families = [*FAMILIES, *EXCESS.values()]
    for policy in _in_order(table):
        family, shut, _ = policy.partition(SHUT)
        style = {"color": PALETTE[families.index(family)], "marker": "o", "markersize": 3}
        yield policy, style | {"linestyle": "-" if shut else "--"}


def draw_along_budgets(table: pd.DataFrame, measure: str) -> Figure:
    """Return a measure against the budget, as figures 6.2 to 6.4."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    rows = normalised(table, measure)
    for policy, style in _lines(table):
        mine = rows[rows["policy"] == policy].sort_values("budget")
        errors = [mine["mean"] - mine["low"], mine["high"] - mine["mean"]]
        axes.errorbar(mine["budget"] * 100, mine["mean"], errors, label=policy, lw=1, **style)
    if measure == "utilisation":
        budgets = sorted(table["budget"].unique())
        line = [baseline(table, budget) for budget in budgets]
        axes.plot([b * 100 for b in budgets], line, color="black", lw=1, label="as the budget")
    easy = rows[rows["policy"] == "EASY"]
    axes.plot(easy["budget"] * 100, easy["mean"], "k*", label="EASY")
    axes.set_xlabel("energy budget (%)")
    axes.set_ylabel(TITLES[measure])
    figure.legend(loc="outside right upper", fontsize=7)
    return figure


def draw_trade_offs(table: pd.DataFrame) -> Figure:
    """Return utilisation and AVEbsld against energy, as figure 6.5."""
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    means = table.groupby(["policy", "budget"])[list(MEASURES)].mean()
    for place, measure in enumerate(("utilisation", "bounded_slowdown"), start=1):
        axes = figure.add_subplot(1, 2, place)
        for policy, style in _lines(table):
            mine = means.loc[policy].sort_index()
            axes.plot(mine["energy"], mine[measure], label=policy, lw=1, **style)
        axes.set_xlabel(TITLES["energy"])
        axes.set_ylabel(TITLES[measure])
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper", fontsize=7)
    return figure


def report(results: pd.DataFrame, folder: Path) -> bool:
    """Write the page and the pictures; tell whether every claim is judged as expected."""
    table = measured(results)
    claims = tomllib.loads((HERE / "claims.toml").read_text())["claim"]
    verdicts, expected = claim_lines(table, claims)
    for number, measure in (("6-2", "utilisation"), ("6-3", "bounded_slowdown"), ("6-4", "energy")):
        save_figure(draw_along_budgets(table, measure), folder / f"figure-{number}.svg")
    save_figure(draw_trade_offs(table), folder / "figure-6-5.svg")
    weeks = table.groupby("log")["workload"].nunique()
    fields = {
        "n_runs": str(len(results)),
        "weeks": ", ".join(f"{n} of {log}" for log, n in weeks.items()),
        "verdicts": "\n".join(verdicts),
        "shutdown": "\n".join(shutdown_lines(table)),
        "efficiency": "\n".join(efficiency_lines(table)),
        "means": "\n\n".join(
            "\n".join(mean_lines(table, measure))
            for measure in ("utilisation", "bounded_slowdown", "energy")
        ),
    }
    page = (HERE / "page.md").read_text()
    for name, text in fields.items():
        page = page.replace(f"{{{{{name}}}}}", text)
    (folder / "index.md").write_text(page)
    print("\n".join([*verdicts, "", *shutdown_lines(table), "", *efficiency_lines(table)]))
    return expected
