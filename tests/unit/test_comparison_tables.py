"""What is a pair, a level and a unit in a table of results, and which tables are refused."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from results_tables import a_table, noisy

from noctule import metrics
from noctule.comparison import Objective, compare, objective_of, summarise
from noctule.comparison.objectives import is_metric
from noctule.errors import InputError

WAIT = "mean_waiting_time"


def test_every_metric_is_known_with_its_unit():
    for metric in metrics.METRICS:
        assert is_metric(metric.name), metric.name
        assert objective_of(metric.name).unit == metric.unit, metric.name
        assert objective_of(f"trimmed_{metric.name}") == objective_of(metric.name)


def test_more_is_better_for_a_few_metrics_only():
    larger = [m.name for m in metrics.METRICS if objective_of(m.name).better == "larger"]
    neither = [m.name for m in metrics.METRICS if objective_of(m.name).better is None]
    assert larger == ["n_ended", "n_completed", "utilisation", "throughput"]
    assert neither == ["n_jobs", "n_running", "n_zero_runtime"]
    assert objective_of("consumed_energy") == Objective("smaller", "")


def test_runs_are_partners_if_they_agree_in_all_other_axes():
    table = a_table({"easy": [1, 2, 3], "fcfs": [11, 22, 33]})
    (comparison,) = compare(table, "policy", WAIT).comparisons
    assert (comparison.level, comparison.reference) == ("easy", "fcfs")
    assert (comparison.mean, comparison.reference_mean) == (2.0, 22.0)
    assert comparison.difference.value == -20.0
    assert comparison.relative is not None
    assert comparison.relative.value == pytest.approx(100 * -20 / 22)
    assert (comparison.n_pairs, comparison.n_units, comparison.unit) == (3, 3, "seed")


def test_runs_without_a_partner_or_a_number_are_left_out_and_counted():
    table = a_table({"easy": [1, 2, 3, 4, math.nan, 6], "fcfs": [11, 22, 33, math.nan, math.nan]})
    (comparison,) = compare(table, "policy", WAIT).comparisons
    # easy's 4 lost its partner, and its 6 never had one; three numbers are missing
    assert (comparison.n_pairs, comparison.n_unpaired, comparison.n_missing) == (3, 2, 3)
    assert comparison.difference.value == -20.0
    assert comparison.notes == (
        "2 runs are left out: without a partner",
        f"3 runs are left out: without {WAIT}",
    )


def test_a_number_that_is_not_there_may_be_written_in_any_way():
    table = a_table({"easy": [1, 2], "fcfs": [11, 22]}).astype({WAIT: object})
    table.loc[0, WAIT] = None
    (comparison,) = compare(table, "policy", WAIT).comparisons
    assert (comparison.n_pairs, comparison.n_missing) == (1, 1)


def test_two_rows_of_one_run_are_refused():
    table = a_table({"easy": [1, 2], "fcfs": [11, 22]})
    with pytest.raises(InputError) as error:
        compare(pd.concat([table, table.iloc[[1]]]), "policy", WAIT)
    assert str(error.value) == (
        "table: two runs with policy=easy, workload=kth, seed=2; "
        "expected one, or an axis that tells them apart"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"by": "polcy"},
            "by: no column 'polcy' in the table, expected one of "
            "workload, seed, policy, mean_waiting_time",
        ),
        ({"metric": "wait"}, "metric: no column 'wait' in the table, expected one of "),
        ({"within": "host"}, "within: no column 'host' in the table, expected one of "),
        ({"axes": ["host"]}, "axes: no column 'host' in the table, expected one of "),
        ({"by": "workload"}, "workload: got one level (kth), expected at least two"),
        ({"by": []}, "comparison: got no column or no metric, expected at least one of each"),
        ({"metric": []}, "comparison: got no column or no metric, expected at least one of each"),
        ({"baseline": "best"}, "baseline: got 'best', expected one of easy, fcfs"),
        ({"within": "policy"}, "within: 'policy' is compared by, expected another column"),
        ({"metric": "policy"}, "metric: 'policy' is compared by, expected another column"),
        ({"metric": "workload"}, "workload: got a text, expected numbers"),
        ({"confidence": 1.0}, "confidence: got 1.0, expected a number between 0 and 1"),
        ({"n_draws": 99}, "n_draws: got 99, expected a whole number >= 100"),
        ({"seed": 1.5}, "seed: got 1.5, expected a whole number >= 0"),
        ({"unit": "host"}, "unit: got 'host', expected one of seed, workload"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments, message):
    table = a_table({"easy": [1, 2], "fcfs": [11, 22]})
    with pytest.raises(InputError) as error:
        compare(table, **{"by": "policy", "metric": WAIT, **arguments})
    assert str(error.value).startswith(message)


def test_a_table_without_runs_is_refused():
    table = a_table({"easy": [1]}).iloc[:0]
    with pytest.raises(InputError, match=r"^table: got no run, expected at least one$"):
        summarise(table, "policy", WAIT)


def test_columns_with_odd_names_or_cells_are_refused():
    table = a_table({"easy": [1], "fcfs": [2]})
    with pytest.raises(InputError, match=r"^table: two columns 'seed', expected one"):
        compare(pd.concat([table, table[["seed"]]], axis=1), "policy", WAIT)
    with pytest.raises(InputError, match=r"^table: got a column 0, expected texts as names$"):
        compare(table.rename(columns={"seed": 0}), "policy", WAIT)
    table["hosts"] = [[1], [2]]
    with pytest.raises(InputError, match=r"^hosts: got \[1\], expected a text or a number a row$"):
        compare(table, "policy", WAIT)


def test_a_column_that_is_no_axis_is_named_when_nothing_has_a_partner():
    table = a_table({"easy": [1, 2], "fcfs": [11, 22]})
    table["run"] = ["a", "b", "c", "d"]
    with pytest.raises(InputError) as error:
        compare(table, "policy", WAIT)
    assert str(error.value) == (
        "table: none of 4 runs has a partner, expected pairs with the same workload, seed, run; "
        "run is another one in each run (axes= names the columns that must agree)"
    )
    found = compare(table, "policy", WAIT, axes=["workload", "policy", "seed"])
    assert found.comparisons[0].n_pairs == 2


def test_a_metric_without_any_number_is_refused():
    table = a_table({"easy": [math.nan], "fcfs": [math.nan]})
    with pytest.raises(InputError, match=f"^{WAIT}: got no number in 2 runs, expected some$"):
        compare(table, "policy", WAIT)


def test_other_metrics_of_the_table_are_no_axes():
    table = a_table({"easy": [1, 2], "fcfs": [11, 22]})
    table["p95_slowdown"] = [1.0, 2.0, 3.0, 4.0]
    table["energy"] = [5.0, 6.0, 7.0, 8.0]
    found = compare(table, "policy", WAIT, objectives={"energy": Objective("smaller", "J")})
    assert found.comparisons[0].n_pairs == 2


def test_parameters_of_a_policy_make_levels_of_their_own():
    table = pd.concat(
        [
            a_table({"easy": [1, 2]}, **{"policy.order": "sjf", "policy.depth": 3}),
            a_table({"easy": [3, 4]}, **{"policy.order": "fcfs", "policy.depth": 3}),
            a_table({"fcfs": [11, 22]}),
        ]
    )
    found = compare(table, "policy", WAIT, baseline="fcfs").comparisons
    # the depth is the same in all runs of easy, and fcfs has neither
    assert [c.level for c in found] == ["easy(order=fcfs)", "easy(order=sjf)"]
    assert [c.n_pairs for c in found] == [2, 2]
    orders = compare(table.iloc[:4], "policy.order", WAIT).comparisons
    assert [(c.level, c.reference, c.n_pairs) for c in orders] == [("sjf", "fcfs", 2)]


def test_levels_may_be_made_of_two_columns():
    table = pd.concat(
        [
            a_table({"easy": [1, 2], "fcfs": [3, 4]}, shutdown=False),
            a_table({"easy": [5, 6], "fcfs": [7, 8]}, shutdown=True),
        ]
    )
    summaries = summarise(table, ["policy", "shutdown"], WAIT).levels
    assert [s.level for s in summaries] == [
        "easy, False",
        "easy, True",
        "fcfs, False",
        "fcfs, True",
    ]


def test_a_number_is_the_same_axis_value_whatever_its_type():
    table = a_table({"easy": [1, 2], "fcfs": [11, 22]}).astype({"seed": object})
    table.loc[0, "seed"] = 1.0
    table.loc[1, "seed"] = np.int32(2)
    assert compare(table, "policy", WAIT).comparisons[0].n_pairs == 2


def test_results_are_kept_apart_only_if_asked():
    table = pd.concat(
        [
            a_table({"easy": [1, 2, 3], "fcfs": [2, 3, 4]}, platform="A"),
            a_table({"easy": [1, 2, 3], "fcfs": [6, 7, 8]}, platform="B"),
            a_table({"easy": [1]}, platform="C"),
        ]
    )
    together = compare(table, "policy", WAIT)
    assert [c.difference.value for c in together.comparisons] == [-3.0]
    apart = compare(table, "policy", WAIT, within="platform")
    assert [(c.within, c.difference.value) for c in apart.comparisons] == [
        ({"platform": "A"}, -1.0),
        ({"platform": "B"}, -5.0),
    ]
    assert apart.notes == ("platform=C: nothing is compared, without runs of two levels",)
    assert apart.as_table()["platform"].tolist() == ["A", "B"]


def test_seeds_are_drawn_within_workloads_if_each_has_two():
    table = noisy({"easy": 0, "fcfs": 5}, n_workloads=3, n_seeds=4)
    (comparison,) = compare(table, "policy", WAIT).comparisons
    assert (comparison.unit, comparison.n_units) == ("seed", 12)


def test_workloads_are_drawn_if_one_has_a_single_seed():
    table = noisy({"easy": 0, "fcfs": 5}, n_workloads=3, n_seeds=4)
    table = table[(table["workload"] != "w1") | (table["seed"] == 0)]
    (comparison,) = compare(table, "policy", WAIT).comparisons
    assert (comparison.unit, comparison.n_units, comparison.n_pairs) == ("workload", 3, 9)


def test_a_unit_can_be_asked_for():
    table = noisy({"easy": 0, "fcfs": 5}, n_workloads=3, n_seeds=4)
    (comparison,) = compare(table, "policy", WAIT, unit="workload").comparisons
    assert (comparison.unit, comparison.n_units) == ("workload", 3)
    once = table[table["seed"] == 0]
    with pytest.raises(InputError, match=r"^unit: a workload has one seed only, expected two"):
        compare(once, "policy", WAIT, unit="seed")


def test_shakes_of_one_seed_are_units_but_seeds_come_first():
    rng = np.random.default_rng(2)
    rows = [
        {"workload": "kth", "seed": s, "shake": k, "policy": p, WAIT: rng.normal()}
        for s in range(3)
        for k in range(4)
        for p in ("easy", "fcfs")
    ]
    table = pd.DataFrame(rows)
    assert compare(table, "policy", WAIT).comparisons[0].n_units == 3
    one_seed = compare(table[table["seed"] == 0], "policy", WAIT).comparisons[0]
    assert (one_seed.unit, one_seed.n_units) == ("shake", 4)


def test_more_platforms_with_the_same_seeds_are_no_more_evidence():
    once = noisy({"easy": 0, "fcfs": 1}, n_seeds=8, noise=2.0)
    (one,) = compare(once.assign(platform="A"), "policy", WAIT).comparisons
    copies = pd.concat([once.assign(platform=name) for name in "ABCD"])
    (four,) = compare(copies, "policy", WAIT).comparisons
    assert (one.n_pairs, four.n_pairs) == (8, 32)
    assert four.n_units == one.n_units == 8
    assert four.p_value == one.p_value
    assert four.difference.low == pytest.approx(one.difference.low)
    assert four.difference.high == pytest.approx(one.difference.high)


def test_the_only_pair_of_a_workload_is_left_out_where_others_have_more():
    table = noisy({"easy": 0, "fcfs": 5}, n_workloads=2, n_seeds=3)
    failed = (table["workload"] == "w1") & (table["policy"] == "easy") & (table["seed"] > 0)
    (comparison,) = compare(table[~failed], "policy", WAIT).comparisons
    assert (comparison.unit, comparison.n_units, comparison.n_pairs) == ("seed", 3, 3)
    assert comparison.notes == (
        "2 runs are left out: without a partner",
        "2 runs are left out: of the only seed of a workload",
    )


def test_workloads_weigh_the_same_whatever_their_number_of_seeds():
    table = pd.concat(
        [
            a_table({"easy": [1, 1, 1, 1], "fcfs": [2, 2, 2, 2]}, workload="kth"),
            a_table({"easy": [1, 1], "fcfs": [8, 8]}, workload="sdsc"),
        ]
    )
    # differences of -1 and -7
    assert compare(table, "policy", WAIT).comparisons[0].difference.value == -4.0


def test_parameters_of_a_workload_make_another_workload():
    table = pd.concat(
        [
            a_table({"easy": [1, 2], "fcfs": [3, 5]}, **{"workload.load": load})
            for load in (0.7, 0.9)
        ]
    )
    (comparison,) = compare(table, "policy", WAIT).comparisons
    assert (comparison.unit, comparison.n_units) == ("seed", 4)
    assert comparison.verdict.startswith("no significant difference with 2 seeds of each of 2 work")
