"""What a real Slurm did: its log, live replays, sets of files, and the model compared with them."""
