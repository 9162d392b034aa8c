"""The model of Slurm's schedulers: settings and requests as the core takes them, and runs."""
