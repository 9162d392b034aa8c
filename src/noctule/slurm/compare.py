"""The model of Slurm against what a real one did, in three ways that share nothing but the jobs.

- decisions: passes and cycles at the dates of the log, so that only what they decide is tested;
- triggers: the ticks of the background loop and the wake-ups of the backfill thread are those of
  the log, but whether a tick runs a pass, and which, is the model's. `first_instants` is the same
  with nothing but the first tick, the first full pass and the first cycle, and constant periods;
- ensemble: free runs; tick, backfill thread and full passes begin at phases drawn from
  U[0, 1 s), U[0, bf_interval) and U[0, sched_interval).
"""

from __future__ import annotations
