"""Compare policies on one log, in Python: load once, simulate many times, measure.

python examples/compare-policies.py
"""

from pathlib import Path

import noctule as nt

LOG = Path(__file__).parent / "night.swf"


def main() -> None:
    """Print the mean and the longest wait under some policies."""
    workload = nt.load_workload(LOG)
    platform = nt.Platform.homogeneous(128)
    print(f"{'policy':38} {'mean wait (s)':>14} {'max wait (s)':>13}")
    for policy in (
        "fcfs",
        "easy",
        "easy(order=sjf)",
        'easy(order="walltime * n_hosts ** 2")',
        "conservative",
        "conservative(allocation=contiguous)",
    ):
        numbers = nt.metrics.summary(nt.simulate(platform, workload, policy))
        waits = numbers["mean_waiting_time"], numbers["max_waiting_time"]
        print(f"{policy:38} {waits[0]:14.1f} {waits[1]:13.0f}")


if __name__ == "__main__":
    main()
