"""Tables, verdicts and pictures of chapter 7, from the runs of the campaign.

`report(results, folder)` writes a page and its pictures, and tells whether the published joules of
EASY come out and each claim of the thesis is judged as `claims.toml` says.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from noctule.plots import PALETTE, save_figure

HERE = Path(__file__).parent
N_HOSTS = {"kth": 100, "sdsc": 128}
IDLE, COMPUTING = 95.0, 190.738
#: What an instance is called (section 7.6.1).
FAMILIES = ("OS", "weakOS", "inertial", "inertial+OS", "prop", "prop+OS")
#: Those that keep waiting times low (section 7.6.2).
TRADE_OFFS = ("OS", "weakOS", "inertial", "inertial+OS")
MEASURES = {
    "energy": "energy / EASY's",
    "energy_then": "energy / EASY's, as billed then",
    "mean_wait": "mean waiting time (s)",
    "max_wait": "maximum waiting time (s)",
    "switches": "switches of hosts",
}


def measured(results: pd.DataFrame) -> pd.DataFrame:
    """Return a row an instance, with what the thesis measures, true and as billed then."""
    done = results[(results["bound"] == "") & (results["status"] == "done")]
    table = pd.DataFrame({"log": done["workload"].to_numpy()})
    table["family"] = [family_of(row) for _, row in done.iterrows()]
    for name in ("rho", "t_idle", "period", "run_on_period", "upper_bound", "growth"):
        table[name] = done[f"policy.{name}"].to_numpy()
    table["future_switches"] = done["policy.future_switches"].to_numpy()
    hosts = table["log"].map(N_HOSTS).to_numpy()
    busy = (done["utilisation"] * done["makespan"]).to_numpy() * hosts
    table["joules"] = done["joules"].to_numpy()
    table["joules_then"] = table["joules"] - busy * (COMPUTING - IDLE)
    all_on = done["makespan"].to_numpy() * hosts * IDLE + busy * (COMPUTING - IDLE)
    table["joules_least"] = all_on - done["offline_saving"].to_numpy()
    table["mean_wait"] = done["mean_waiting_time"].to_numpy()
    table["max_wait"] = done["max_waiting_time"].to_numpy()
    table["switches"] = done["n_switches"].to_numpy()
    easy = table[table["family"] == "EASY"].set_index("log")
    for name, part in (("energy", "joules"), ("energy_then", "joules_then")):
        table[name] = table[part] / table["log"].map(easy[part])
    table["energy_least"] = table["joules_least"] / table["log"].map(easy["joules"])
    return table


def family_of(row: Mapping[str, Any]) -> str:
    """Return what the thesis calls an instance."""
    policy = str(row["policy"]).partition("(")[0]
    if policy == "easy":
        return "EASY"
    sleeps = row["policy.t_idle"] <= 600
    if policy == "inertial":
        return "inertial+OS" if sleeps else "inertial"
    if row["policy.rho"] < 1:
        return "prop+OS" if sleeps else "prop"
    if sleeps:
        return "OS"
    return "weakOS" if row["policy.t_idle"] == 6000 else "no shutdown"


def trade_offs(table: pd.DataFrame) -> pd.DataFrame:
    """Return the instances of figures 7.2 to 7.4: rho = 1, or the lowest upper bound."""
    kept = table["family"].isin(TRADE_OFFS) & ~(table["upper_bound"] > 10_000)
    return table[kept]


def markdown(headers: list[str], rows: list[list[str]]) -> list[str]:
    """Return a table."""
    lines = [f"| {' | '.join(headers)} |", "|---" * len(headers) + "|"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def figure_lines(table: pd.DataFrame, figures: list[dict[str, Any]]) -> tuple[list[str], bool]:
    """Return EASY's joules beside the published ones, and whether they agree in their digits."""
    easy = table[table["family"] == "EASY"].set_index("log")
    rows, agree = [], True
    for figure in figures:
        ours = float(easy.loc[figure["log"], figure["measure"]])
        same = abs(ours - figure["printed"]) <= 0.005 * 10 ** np.floor(np.log10(ours))
        agree &= bool(same)
        truly = float(easy.loc[figure["log"], "joules"])
        printed = f"{figure['printed']:.3g}"
        rows.append(
            [figure["log"], printed, f"{ours:.4g}", f"{truly:.4g}", "yes" if same else "NO"]
        )
    headers = ["log", "published (J)", "ours, as billed then", "ours, truly", "the same"]
    return markdown(headers, rows), agree


def claim_lines(table: pd.DataFrame, claims: list[dict[str, Any]]) -> tuple[list[str], bool]:
    """Return the claims with our means, and whether all are judged as expected."""
    chosen = trade_offs(table)
    rows, expected = [], True
    for claim in claims:
        mine = chosen[chosen["log"] == claim["log"]]
        low, high = (
            float(mine[mine["family"] == claim[side]][claim["measure"]].mean())
            for side in ("low", "high")
        )
        holds = low < high
        expected &= holds == claim.get("here", True)
        verdict = "holds" if holds else "does not hold"
        if holds != claim.get("here", True):
            verdict += " (**unexpected**)"
        ours = f"{claim['low']} {low:.5g}, {claim['high']} {high:.5g}"
        rows.append([claim["section"], claim["says"], MEASURES[claim["measure"]], ours, verdict])
    return markdown(["section", "the thesis finds", "mean of", "ours", ""], rows), expected


def saving_lines(table: pd.DataFrame) -> list[str]:
    """Return, for each family, what it saves at best and in the mean, and what could be saved."""
    rows = []
    for log in N_HOSTS:
        for family in FAMILIES:
            mine = table[(table["log"] == log) & (table["family"] == family)]
            best = mine.loc[mine["joules"].idxmin()]
            rows.append(
                [
                    log,
                    family,
                    str(len(mine)),
                    f"{1 - mine['energy_then'].min():.1%}",
                    f"{1 - mine['energy'].min():.1%}",
                    f"{1 - best['energy_least']:.1%}",
                    f"{1 - mine['energy'].mean():.1%}",
                    f"{best['mean_wait']:.0f}",
                    f"{best['switches']:.0f}",
                ]
            )
    headers = ["log", "family", "instances", "best, as billed then", "best, truly"]
    headers += ["offline, same schedule", "mean", "wait of the best (s)", "its switches"]
    return markdown(headers, rows)


def equal_wait_lines(table: pd.DataFrame) -> list[str]:
    """Return the best true saving of each family among instances that wait no longer than so."""
    rows = []
    for log in N_HOSTS:
        of_log = table[table["log"] == log]
        easy = float(of_log[of_log["family"] == "EASY"]["mean_wait"].iloc[0])
        for factor in (1.0, 1.02, 1.05, 1.1, 1.25, 1.5, 2.0):
            cells = [log, f"{factor * easy:.0f} ({factor:g} x EASY)"]
            for family in FAMILIES:
                mine = of_log[(of_log["family"] == family) & (of_log["mean_wait"] <= factor * easy)]
                if mine.empty:
                    cells.append("none")
                    continue
                best = mine.loc[mine["joules"].idxmin()]
                cells.append(f"{1 - best['energy']:.1%} ({best['switches']:.0f})")
            rows.append(cells)
    return markdown(["log", "mean wait at most (s)", *FAMILIES], rows)


def effect_lines(table: pd.DataFrame) -> list[str]:
    """Return what each parameter changes, all others as they are (sections 7.6.5 to 7.6.7)."""
    cases = [("OS", "t_idle"), ("inertial", "upper_bound"), ("inertial", "period")]
    cases += [("inertial+OS", "t_idle"), ("prop", "rho"), ("inertial", "growth")]
    cases += [("inertial", "future_switches"), ("inertial", "run_on_period")]
    rows = []
    for log in N_HOSTS:
        for family, name in cases:
            mine = table[(table["log"] == log) & (table["family"] == family)]
            means = mine.groupby(name)[["energy", "mean_wait", "switches"]].mean()
            told = [
                f"{_value(value)}: {row['energy']:.4f}, {row['mean_wait']:.0f} s, "
                f"{row['switches']:.0f}"
                for value, row in means.iterrows()
            ]
            rows.append([log, family, name, "; ".join(told)])
    return markdown(["log", "family", "parameter", "energy, mean wait, switches by value"], rows)


def _value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def is_optimal(table: pd.DataFrame) -> pd.Series:
    """Tell which instances no other one of the log beats in both energy and mean waiting time."""
    optimal = pd.Series(data=False, index=table.index)
    for log in N_HOSTS:
        of_log = table[table["log"] == log].sort_values(["joules", "mean_wait"])
        best = np.minimum.accumulate(of_log["mean_wait"].to_numpy())
        before = np.concatenate([[np.inf], best[:-1]])
        optimal[of_log.index] = of_log["mean_wait"].to_numpy() < before
    return optimal


def pareto_lines(table: pd.DataFrame) -> list[str]:
    """Return how many instances of each family are Pareto-optimal."""
    optimal = table[is_optimal(table)]
    rows = [
        [family]
        + [
            f"{((optimal['log'] == log) & (optimal['family'] == family)).sum()} of "
            f"{((table['log'] == log) & (table['family'] == family)).sum()}"
            for log in N_HOSTS
        ]
        for family in FAMILIES
    ]
    return markdown(["family", *N_HOSTS], rows)


def draw(table: pd.DataFrame, measure: str, *, families: tuple[str, ...] = TRADE_OFFS) -> Figure:
    """Return energy against a measure, a panel a log, a point an instance."""
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    for place, log in enumerate(N_HOSTS, start=1):
        axes = figure.add_subplot(1, 2, place)
        for family in families:
            mine = table[(table["log"] == log) & (table["family"] == family)]
            colour = PALETTE[FAMILIES.index(family)]
            axes.plot(mine[measure], mine["energy"], ".", ms=4, color=colour, label=family)
            axes.plot(mine[measure], mine["energy_least"], "_", ms=3, color=colour, alpha=0.4)
        easy = table[(table["log"] == log) & (table["family"] == "EASY")]
        axes.plot(easy[measure], easy["energy"], "k*", label="EASY")
        axes.set_title(log)
        axes.set_xlabel(MEASURES[measure])
        axes.set_ylabel(MEASURES["energy"])
    axes.legend(fontsize=7)
    return figure


def report(results: pd.DataFrame, folder: Path) -> bool:
    """Write the page and the pictures; tell whether all is as expected."""
    table = measured(results)
    told = tomllib.loads((HERE / "claims.toml").read_text())
    figures, agree = figure_lines(table, told["figure"])
    verdicts, expected = claim_lines(table, told["claim"])
    low = pd.concat([trade_offs(table), table[table["family"] == "EASY"]])
    for number, measure in (("7-2", "mean_wait"), ("7-3", "max_wait"), ("7-4", "switches")):
        save_figure(draw(low, measure), folder / f"figure-{number}.svg")
    save_figure(draw(table, "mean_wait", families=FAMILIES), folder / "figure-7-5.svg")
    fields = {
        "n_runs": str(len(results)),
        "figures": "\n".join(figures),
        "verdicts": "\n".join(verdicts),
        "savings": "\n".join(saving_lines(table)),
        "equal_waits": "\n".join(equal_wait_lines(table)),
        "pareto": "\n".join(pareto_lines(table)),
        "effects": "\n".join(effect_lines(table)),
    }
    page = (HERE / "page.md").read_text()
    for name, text in fields.items():
        page = page.replace(f"{{{{{name}}}}}", text)
    (folder / "index.md").write_text(page)
    print("\n\n".join(fields[name] for name in ("figures", "verdicts", "savings", "equal_waits")))
    return agree and expected
