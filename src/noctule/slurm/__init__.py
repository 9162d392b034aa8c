"""Slurm: a site's configuration and accounting log, read and written."""
