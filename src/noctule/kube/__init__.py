"""A Kubernetes API in front of a simulated cluster: its schedulers decide, the engine runs jobs."""

from noctule.kube.bridge import KubeScheduler
from noctule.kube.settings import Settings

__all__ = ["KubeScheduler", "Settings"]
