"""A Kubernetes API in front of a simulated cluster: its schedulers decide, the engine runs jobs."""
