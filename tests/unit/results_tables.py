"""Small results tables for tests: one row a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd


def a_table(
    values: Mapping[str, Sequence[float]],
    *,
    unit: str = "seed",
    metric: str = "mean_waiting_time",
    **constants: object,
) -> pd.DataFrame:
    """Return runs of policies: the i-th value of each is that of the i-th seed (or workload)."""
    rows = [
        {"workload": "kth", "seed": 1, **constants, "policy": policy, unit: i, metric: value}
        for policy, numbers in values.items()
        for i, value in enumerate(numbers, start=1)
    ]
    return pd.DataFrame(rows)


def noisy(
    effects: Mapping[str, float],
    *,
    n_workloads: int = 1,
    n_seeds: int = 10,
    noise: float = 1.0,
    seed: int = 0,
) -> pd.DataFrame:
    """Return runs of policies that wait for 100 s or more, plus an effect and noise."""
    rng = np.random.default_rng(seed)
    rows = []
    for workload in range(n_workloads):
        for replicate in range(n_seeds):
            shared = 100.0 * (workload + 1) + rng.normal(0.0, 10.0)
            rows += [
                {
                    "workload": f"w{workload}",
                    "seed": replicate,
                    "policy": policy,
                    "mean_waiting_time": shared + effect + rng.normal(0.0, noise),
                }
                for policy, effect in effects.items()
            ]
    return pd.DataFrame(rows)
