"""slurm.conf and the files beside it, as typed settings."""
