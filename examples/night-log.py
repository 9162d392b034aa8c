"""Draw the log that the demo replays: a week of a 128-processor machine, busiest in the afternoon.

python examples/night-log.py > examples/night.swf
"""

import numpy as np

N_JOBS, N_PROCESSORS, WEEK, DAY = 1500, 128, 7 * 86400, 86400


def main() -> None:
    """Print a Standard Workload Format log."""
    rng = np.random.default_rng(1758)  # the year in which Daubenton named the noctule
    dates = rng.uniform(0, WEEK, 20 * N_JOBS)
    busy = 0.55 + 0.45 * np.cos((dates % DAY - 15 * 3600) * 2 * np.pi / DAY)
    submit = np.sort(dates[rng.random(len(dates)) < busy][:N_JOBS].astype(int))
    sizes = 2 ** rng.integers(0, 8, N_JOBS)
    sizes[rng.random(N_JOBS) < 0.4] = 1
    runtimes = np.ceil(np.exp(rng.normal(6.6, 1.5, N_JOBS))).astype(int).clip(5, 12 * 3600)
    requests = (np.ceil(runtimes * rng.choice([1, 1.2, 2, 5], N_JOBS) / 300) * 300).astype(int)
    users = rng.integers(1, 25, N_JOBS)
    print("; Version: 2.2")
    print("; Computer: none; drawn by examples/night-log.py")
    print(f"; MaxJobs: {N_JOBS}")
    print(f"; MaxProcs: {N_PROCESSORS}")
    for i in range(N_JOBS):
        shape = f"{sizes[i]} -1 -1 {sizes[i]} {requests[i]}"
        print(f"{i + 1} {submit[i]} -1 {runtimes[i]} {shape} -1 1 {users[i]} -1 -1 -1 -1 -1 -1")


if __name__ == "__main__":
    main()
