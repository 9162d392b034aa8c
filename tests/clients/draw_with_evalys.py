"""Read the files of a run with evalys and draw them: draw_with_evalys.py PREFIX FOLDER."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from evalys.jobset import JobSet
from evalys.mstates import MachineStatesChanges
from evalys.pstates import PowerStatesChanges
from evalys.visu.gantt import plot_gantt
from evalys.visu.legacy import plot_mstates, plot_pstates

prefix, folder = sys.argv[1], Path(sys.argv[2])
jobs = JobSet.from_csv(f"{prefix}_jobs.csv")
states = MachineStatesChanges(f"{prefix}_machine_states.csv")
power_states = PowerStatesChanges(f"{prefix}_pstate_changes.csv")
plot_gantt(jobs)
plt.savefig(folder / "gantt.png")
jobs.plot(with_details=True)
plt.savefig(folder / "summary.png")
figure, axes = plt.subplots()
plot_mstates(states.df, axes)
figure.savefig(folder / "states.png")
figure, axes = plt.subplots()
plot_pstates(power_states, float(jobs.df["finish_time"].max()), axes)
figure.savefig(folder / "power-states.png")
sys.stdout.write(f"{len(jobs.df)} {jobs.MaxProcs}\n")
