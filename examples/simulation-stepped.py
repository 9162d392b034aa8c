"""Look into a run while it goes on: stop it when the queue is long, and see who waits.

python examples/simulation-stepped.py
"""

from pathlib import Path

import noctule as nt

LOG = Path(__file__).parent / "night.swf"


def main() -> None:
    """Step until twenty jobs wait."""
    simulation = nt.Simulation(nt.Platform.homogeneous(128), nt.load_workload(LOG), "easy")
    while len(simulation.view.waiting) < 20 and simulation.step():
        pass
    view = simulation.view
    print(f"t={view.now:.0f}: {len(view.running)} jobs run, {view.n_free} hosts are free")
    for job in list(view.waiting)[:3]:
        since = f"{job.submit_time:.0f}"
        print(f"job {job.id} of user {job.user} waits since {since} for {job.n_hosts} hosts")
    schedule = simulation.run()
    print(f"in the end: {nt.metrics.summary(schedule)['n_completed']} jobs completed")


if __name__ == "__main__":
    main()
