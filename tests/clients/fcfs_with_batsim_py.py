"""FCFS with batsim-py, which starts the `batsim` that it finds: PLATFORM WORKLOAD."""

import sys

from batsim_py import SimulatorHandler

simulator = SimulatorHandler()
simulator.start(platform=sys.argv[1], workload=sys.argv[2], verbosity="quiet")
starts = {}
while simulator.is_running:
    for job in list(simulator.queue):
        free = [host.id for host in simulator.platform.get_not_allocated_hosts()]
        if job.res > len(free):
            break
        simulator.allocate(job.id, free[: job.res])
        starts[job.id] = simulator.current_time
    simulator.proceed_time()
sys.stdout.write("".join(f"{job_id} {date}\n" for job_id, date in starts.items()))
