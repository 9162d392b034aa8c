"""Whether a difference between policies is real: statistics of a table with one row a run.

    from noctule.comparison import compare, summarise
    summarise(table, "policy", "mean_waiting_time").as_table()
    compare(table, "policy", "mean_waiting_time", baseline="easy").verdicts

All are pure functions: the same rows give the same numbers, in whatever order they stand. Reasons
for the methods are in docs/background/statistics.md.
"""

from noctule.comparison.intervals import Estimate
from noctule.comparison.objectives import Objective, objective_of
from noctule.comparison.paired import Comparison, Comparisons, compare, compare_each
from noctule.comparison.summaries import LevelSummary, Summaries, summarise

__all__ = [
    "Comparison",
    "Comparisons",
    "Estimate",
    "LevelSummary",
    "Objective",
    "Summaries",
    "compare",
    "compare_each",
    "objective_of",
    "summarise",
]
