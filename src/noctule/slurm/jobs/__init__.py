"""Jobs and what they ask of Slurm, from accounting, logs and traces."""
