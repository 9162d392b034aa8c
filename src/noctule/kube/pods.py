"""Jobs as Pods: a job of N hosts is N Pods alike, each for a whole host unless the job differs.

There is no API server here that fills in what a manifest leaves out, so Pods are written whole.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from noctule.errors import InputError
from noctule.kube.names import LONGEST, label_value, name_of, object_uid, untaken
from noctule.kube.nodes import RESERVATION, SHARE
from noctule.kube.pod_fields import PodFields, fields_of, read_fields
from noctule.kube.pod_groups import GroupKind, group_object, join_group
from noctule.kube.quantities import counted, parse, written
from noctule.workload import JobId, Workload

#: The label that tells to which job a Pod belongs.
JOB_LABEL = "noctule/job"
#: The label that tells how many Pods that job has.
SIZE_LABEL = "noctule/size"
#: What Batkube's workloads call the scheduler that is there anyway.
DEFAULT = "default"

_BINARY = ("memory", "ephemeral-storage")
_POD_OF_GANG = 6  # digits at the end of the name of a Pod of several, and the dash


@dataclass(frozen=True, slots=True)
class PodRules:
    """How jobs become Pods.

    Attributes:
        whole_host: what a Pod asks for whose job does not tell; see `nodes.whole_host`.
        scheduler: who decides about jobs that name none, or "default".
        grace: seconds between the deletion of a running Pod and its end.
        groups: which objects tell a scheduler that Pods belong together.
        group_timeout: seconds that such an object gives its Pods to find places.
        priority_classes: priorities by the names that jobs use.
    """

    whole_host: Mapping[str, Fraction]
    namespace: str = "default"
    scheduler: str = "default-scheduler"
    image: str = "noctule/job"
    grace: int = 30
    groups: GroupKind = GroupKind.NONE
    group_timeout: int | None = None
    gpu_resource: str = "nvidia.com/gpu"
    priority_classes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JobPods:
    """The Pods of one job: their names, and all that is needed to write them, again and again.

    Attributes:
        template: metadata and spec that the Pods have in common.
        requests: what each counts for, as a scheduler counts.
        group: the object that binds them together, without metadata of one creation; or None.
        reservation: the only nodes that they may be bound to are those of it; or None.
    """

    job_id: JobId
    name: str
    names: tuple[str, ...]
    template: Mapping[str, Any]
    requests: Mapping[str, int]
    grace: int
    group: Mapping[str, Any] | None = None
    reservation: str | None = None

    def reserved(self, name: str) -> JobPods:
        """Return the same for nodes that are kept for them."""
        spec = dict(self.template["spec"])
        value = label_value(name)
        tolerated = {"key": RESERVATION, "operator": "Equal", "value": value}
        spec["nodeSelector"] = {**spec.get("nodeSelector", {}), RESERVATION: value}
        spec["tolerations"] = [*spec.get("tolerations", ()), {**tolerated, "effect": "NoSchedule"}]
        return replace(self, template={**self.template, "spec": spec}, reservation=name)

    def pods(self, created: str, attempt: int = 0) -> list[dict[str, Any]]:
        """Return the Pods as they are created at a date, for the so-and-so-manieth time."""
        return [
            _created(self.template, name, created, object_uid("pod", name, attempt))
            for name in self.names
        ]

    def group_object(self, created: str, attempt: int = 0) -> dict[str, Any] | None:
        """Return the object that binds them together, if there is one."""
        if self.group is None:
            return None
        uid = object_uid("group", self.name, attempt)
        return _created(self.group, self.name, created, uid)


class PodWriter:
    """Makes the Pods of the jobs of one workload; no two Pods get the same name."""

    def __init__(self, workload_name: str, rules: PodRules) -> None:
        """Pods are called after the workload and the job: `w0-17`, `w0-17-0`."""
        self._prefix = workload_name
        self._rules = rules
        self._names: set[str] = set()

    def of_workload(self, workload: Workload) -> Iterator[JobPods]:
        """Yield the Pods of all jobs; a field that makes no sense is named with its job."""
        where = workload.source or f"workload {workload.name}"
        for job in workload:
            yield self.of_job(
                job.id,
                job.request.n_hosts,
                job.walltime,
                fields=fields_of(workload.raw_profiles.get(job.profile_name, {}), job.extra),
                queue=None if job.queue is None else str(job.queue),
                where=f"{where}: job {job.id}",
            )

    def of_job(
        self,
        job_id: JobId,
        n_hosts: int,
        walltime: float = math.inf,
        *,
        fields: Mapping[str, Any] | None = None,
        queue: str | None = None,
        where: str | None = None,
    ) -> JobPods:
        """Return the Pods of one job; `fields` are those of `pod_fields.fields_of`."""
        rules = self._rules
        said = read_fields(
            where or f"job {job_id}",
            fields or {},
            gpu_resource=rules.gpu_resource,
            priority_classes=rules.priority_classes,
        )
        name = self._name(job_id, n_hosts)
        names = (name,) if n_hosts == 1 else tuple(f"{name}-{i}" for i in range(n_hosts))
        self._names.update(names)
        template = _template(name, n_hosts, said, walltime, rules)
        group = None
        if rules.groups is not GroupKind.NONE:
            group = group_object(
                rules.groups,
                n_pods=n_hosts,
                timeout=rules.group_timeout,
                queue=queue,
                priority_class=said.priority_class,
            )
            group["metadata"] = {"namespace": rules.namespace}
            join_group(rules.groups, template, name)
        grace = rules.grace if said.grace is None else said.grace
        return JobPods(job_id, name, names, template, requests_of(template), grace, group)

    def _name(self, job_id: JobId, n_hosts: int) -> str:
        longest = LONGEST if n_hosts == 1 else LONGEST - _POD_OF_GANG
        wanted = name_of(f"{self._prefix}-{job_id}".replace(".", "-"))[:longest].rstrip("-")
        # The first Pod of several must not be called like the only one of another job.
        taken = self._names
        name = untaken(wanted, taken, len(taken))
        while n_hosts > 1 and any(f"{name}-{i}" in taken for i in range(n_hosts)):
            name = untaken(wanted, taken, len(taken))
        return name


def pod_objects(job: JobPods, created: str, attempt: int = 0) -> list[dict[str, Any]]:
    """Return the Pods of a job as they are created at a date."""
    return job.pods(created, attempt)


def requests_of(pod: Mapping[str, Any]) -> dict[str, int]:
    """Return what a scheduler counts a Pod for: its containers' requests, and one Pod."""
    total = {"pods": 1}
    containers: Sequence[Mapping[str, Any]] = pod["spec"]["containers"]
    for container in containers:
        for name, amount in container.get("resources", {}).get("requests", {}).items():
            total[name] = total.get(name, 0) + counted(name, parse(amount))
    return total


def ended_status(state: str) -> dict[str, str]:
    """Return the phase of a Pod whose job ended in one of the engine's states, and why."""
    if state == "completed":
        return {"phase": "Succeeded"}
    if state == "timed_out":
        message = "the job reached its walltime"
        return {"phase": "Failed", "reason": "DeadlineExceeded", "message": message}
    if state in ("failed", "killed", "rejected", "cancelled"):
        return {"phase": "Failed", "reason": "Error", "message": f"the job ended {state}"}
    raise InputError(f"status of a pod: got {state!r}, expected the state of an ended job")


def _template(
    name: str, n_hosts: int, said: PodFields, walltime: float, rules: PodRules
) -> dict[str, Any]:
    amounts = dict(said.amounts or rules.whole_host)
    if SHARE in rules.whole_host:
        amounts.setdefault(SHARE, Fraction(1))
    texts = {key: written(value, binary=key in _BINARY) for key, value in amounts.items()}
    scheduler = said.scheduler or DEFAULT
    spec: dict[str, Any] = {
        "schedulerName": rules.scheduler if scheduler == DEFAULT else scheduler,
        "priority": said.priority,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": rules.grace if said.grace is None else said.grace,
        "containers": [
            {
                "name": "job",
                "image": said.image or rules.image,
                "resources": {"requests": texts, "limits": dict(texts)},
            }
        ],
        **_placed(name, said.placement),
    }
    if said.priority_class is not None:
        spec["priorityClassName"] = said.priority_class
    if said.preemption_policy is not None:
        spec["preemptionPolicy"] = said.preemption_policy
    if math.isfinite(walltime):
        spec["activeDeadlineSeconds"] = max(1, math.ceil(walltime))
    metadata: dict[str, Any] = {
        "namespace": rules.namespace,
        "labels": {JOB_LABEL: name, SIZE_LABEL: str(n_hosts), **said.labels},
    }
    if said.annotations:
        metadata["annotations"] = dict(said.annotations)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": "Pending"},
    }


def _placed(name: str, placement: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a spec that say where Pods may go.

    Constraints on the spread of Pods are about the job's own ones where they do not say of which.
    """
    parts = copy.deepcopy(dict(placement))
    for constraint in parts.get("topologySpreadConstraints", ()):
        constraint.setdefault("labelSelector", {"matchLabels": {JOB_LABEL: name}})
    return parts


def _created(template: Mapping[str, Any], name: str, created: str, uid: str) -> dict[str, Any]:
    made: dict[str, Any] = copy.deepcopy(dict(template))
    made["metadata"] = {
        "name": name,
        "uid": uid,
        "creationTimestamp": created,
        **made["metadata"],
    }
    return made
