"""A simulated cluster as Kubernetes sees it.

What happens in the run becomes objects, and what schedulers do to objects becomes decisions. It is
told of dates, and keeps none; the caller lets schedulers see what was written here.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from noctule.kube.catalog import CRDS
from noctule.kube.cluster_nodes import FAILED, UNAVAILABLE, ClusterNodes
from noctule.kube.gangs import Away, Evicted, Gangs, Outcome, Ready, Recreated
from noctule.kube.names import timestamp
from noctule.kube.nodes import allocatable, whole_host
from noctule.kube.pod_groups import (
    DEFAULT_QUEUE,
    GroupKind,
    group_definitions,
    group_resource,
    queue_object,
)
from noctule.kube.pod_history import PodHistory
from noctule.kube.pods import JobPods, PodRules, PodWriter, ended_status
from noctule.kube.refusals import Refusal
from noctule.kube.settings import Settings
from noctule.kube.store import PODS, Resource, Store
from noctule.messages import Decision, KillJob, RejectJob, RequeueJob, SetMetadata, StartJob
from noctule.platform import Platform
from noctule.policy import ViewJob
from noctule.record import attempted_id
from noctule.workload import JobId, Workload

_NAMESPACE = "default"
_MOST_ENDED = 500  # Pods of ended jobs that can still be looked at


class Cluster:
    """Nodes, Pods, and what follows from bindings and deletions.

    Attributes:
        pending: names of Pods that exist and are not bound.
        history: what became of each Pod.
    """

    def __init__(
        self,
        platform: Platform,
        workload: Workload,
        settings: Settings,
        store: Store,
        *,
        scheduler: str,
    ) -> None:
        """Write the Nodes; jobs that name no scheduler are for the one given."""
        self.pending: dict[str, None] = {}
        self.history = PodHistory()
        self.now = 0.0
        self._store = store
        self._settings = settings
        self._nodes = ClusterNodes(platform, store)
        self._capacities = {
            node["metadata"]["name"]: allocatable(node) for node in self._nodes.objects
        }
        self._gangs = Gangs(
            self._capacities,
            timeout=settings.gang_timeout or None,
            back_off=settings.gang_backoff,
            longest_back_off=max(300.0, settings.gang_backoff),
            requeue=settings.requeue_preempted,
        )
        self._group_kind = GroupKind(settings.groups)
        rules = PodRules(
            whole_host=whole_host(self._nodes.objects),
            scheduler=scheduler,
            grace=settings.grace,
            groups=self._group_kind,
            group_timeout=math.ceil(settings.gang_timeout) or None,
        )
        writer = PodWriter(workload.name, rules)
        self._pods_of = {str(pods.job_id): pods for pods in writer.of_workload(workload)}
        self._define_groups()
        self._jobs: dict[JobId, JobPods] = {}  # those that are submitted and not over
        self._job_of: dict[str, JobId] = {}  # by Pod
        self._creations: dict[str, int] = {}  # of a job's Pods
        self._images: dict[str, set[str]] = {}  # by node
        self._due_starts: dict[JobId, tuple[float, Ready]] = {}
        self._started: list[Ready] = []
        self._lingering: dict[JobId, str] = {}  # ended, with an epilogue
        self._decisions: list[Decision] = []
        self._ended: deque[tuple[str, str]] = deque()
        store.on_bind = self._on_bind
        store.on_delete = self._on_delete

    @property
    def schedulers(self) -> set[str]:
        """Names of the schedulers that jobs ask for."""
        return {pods.template["spec"]["schedulerName"] for pods in self._pods_of.values()}

    @property
    def held(self) -> Mapping[JobId, float]:
        """Node-seconds that bound Pods have held while others of their jobs were pending."""
        held: dict[JobId, float] = {}
        for hold in self._gangs.holds:
            held[hold.job_id] = held.get(hold.job_id, 0.0) + hold.end - hold.begin
        return held

    def take_decisions(self) -> list[Decision]:
        """Return what has been decided since the last call."""
        decided, self._decisions = self._decisions, []
        return decided

    def next_deadline(self) -> float | None:
        """Return the next date at which `pass_time` has something to do."""
        dates = [date for date, _ in self._due_starts.values()]
        deadline = self._gangs.next_deadline()
        return min(dates if deadline is None else [*dates, deadline], default=None)

    def pass_time(self, now: float) -> bool:
        """Do what is due by now; tell whether objects have changed."""
        self.now = now
        self._show_started()
        for date, ready in list(self._due_starts.values()):
            if date <= now:
                del self._due_starts[ready.job_id]
                self._start(ready)
        outcomes = self._gangs.expired(now)
        for outcome in outcomes:
            self._follow(outcome)
        return bool(outcomes)

    def submit(self, job: ViewJob) -> None:
        """Create the Pods of a job, or reject it if no empty cluster could hold them."""
        pods = replace(self._pods_of[attempted_id(job.id)], job_id=job.id)
        if job.reservation is not None:
            pods = pods.reserved(job.reservation.name)
        if not self._could_fit(pods):
            self._decisions += [
                SetMetadata(job.id, "rejected: its pods do not fit on an empty cluster"),
                RejectJob(job.id),
            ]
            return
        self._enter(pods)

    def finish(self, job_id: JobId, state: str, completing: Iterable[int]) -> None:
        """End the Pods of a job, at once or when its epilogue is over."""
        if job_id not in self._jobs:
            return  # it was evicted, and its Pods have gone
        nodes = self._gangs.nodes_of(job_id).values()
        hosts = set(completing)
        if hosts and any(self._nodes.host(node) in hosts for node in nodes):
            self._lingering[job_id] = state
        else:
            self._end(job_id, state)

    def release(self, job_id: JobId) -> None:
        """End the Pods of a job whose epilogue is over."""
        state = self._lingering.pop(job_id, None)
        if state is not None:
            self._end(job_id, state)

    def cancel(self, job_id: JobId) -> None:
        """Delete the Pods of a job that its user has given up."""
        if job_id in self._jobs:
            self._due_starts.pop(job_id, None)
            self._gangs.end(job_id, self.now)
            self._remove(job_id, "cancelled")
            del self._jobs[job_id]

    def lose(self, hosts: Iterable[int], *, failed: bool) -> None:
        """Note that hosts have failed, or take no new Pods."""
        for host in hosts:
            name = self._nodes.names[host]
            self._nodes.take(host, FAILED if failed else UNAVAILABLE)
            self._gangs.set_schedulable(name, False)
            if failed:
                self._images.pop(name, None)
                self._recall(name)
                for away in self._gangs.lose_node(name, self.now):
                    self._follow(away)

    def regain(self, hosts: Iterable[int], *, failed: bool) -> None:
        """Note that this is over."""
        for host in hosts:
            self._nodes.give_back(host, FAILED if failed else UNAVAILABLE)
            if failed:
                self._gangs.restore_node(self._nodes.names[host])
            self._gangs.set_schedulable(self._nodes.names[host], not self._nodes.is_away(host))

    def reserve(self, hosts: Iterable[int], name: str | None) -> None:
        """Keep hosts for the jobs of a reservation, or for all jobs again, without a name."""
        for host in hosts:
            node = self._nodes.names[host]
            self._nodes.reserve(host, name)
            if name is not None:
                self._recall(node, of_others_than=name)
            for away in self._gangs.reserve_node(node, name, self.now):
                self._follow(away)

    def why_stuck(self) -> str:
        """Say what pending Pods wait for, as far as schedulers have told."""
        deadlock = self._gangs.deadlocked()
        told = [] if deadlock is None else [deadlock]
        for name in list(self.pending)[:3]:
            pod = self._store.get(PODS, name, _NAMESPACE) or {}
            conditions: Sequence[Mapping[str, Any]] = pod.get("status", {}).get("conditions") or ()
            reasons = [c.get("message", "") for c in conditions if c.get("type") == "PodScheduled"]
            scheduler = pod.get("spec", {}).get("schedulerName")
            why = reasons[0] if reasons else f"{scheduler} has said nothing about it"
            told.append(f"pod {name} is pending: {why}")
        if len(self.pending) > 3:
            told.append(f"{len(self.pending) - 3} more pods are pending")
        return "; ".join(told)

    def _recall(self, node: str, of_others_than: str | None = None) -> None:
        """Let jobs wait again that are bound to a node and not started yet."""
        for job_id, (_, ready) in list(self._due_starts.items()):
            is_of = of_others_than is not None and self._jobs[job_id].reservation == of_others_than
            if node in ready.nodes and not is_of:
                del self._due_starts[job_id]
                self._gangs.recall(job_id, self.now)

    def _could_fit(self, pods: JobPods) -> bool:
        missing = len(pods.names)
        for amounts in self._capacities.values():
            missing -= min(
                amounts.get(name, 0) // count for name, count in pods.requests.items() if count
            )
            if missing <= 0:
                return True
        return False

    def _enter(self, pods: JobPods) -> None:
        job_id = pods.job_id
        self._jobs[job_id] = pods
        self._gangs.submit(job_id, pods.names, pods.requests, pods.grace, pods.reservation)
        self._create(pods)

    def _create(self, pods: JobPods) -> None:
        date = timestamp(self._store.now())
        n_before = self._creations.get(pods.name, 0)
        self._creations[pods.name] = n_before + 1
        group = pods.group_object(date, n_before)
        if group is not None:
            self._store.put(self._group_resource(), group)
        for pod in pods.pods(date, n_before):
            name = pod["metadata"]["name"]
            self._store.put(PODS, pod)
            self._job_of[name] = pods.job_id
            self.pending[name] = None
            self.history.created(pods.job_id, name, self.now)

    def _define_groups(self) -> None:
        for definition in group_definitions(self._group_kind):
            self._store.put(CRDS, definition)
        if self._group_kind is GroupKind.VOLCANO:
            group, version, _ = group_resource(self._group_kind)
            queues = Resource(group, version, "queues", namespaced=False)
            groups = (pods.group for pods in self._pods_of.values() if pods.group is not None)
            names = {DEFAULT_QUEUE, *(group["spec"]["queue"] for group in groups)}
            for name in sorted(names):
                self._store.put(queues, queue_object(name, timestamp(self._store.now())))

    def _group_resource(self) -> Resource:
        return Resource(*group_resource(self._group_kind))

    def _on_bind(self, pod: Mapping[str, Any], node: str) -> Refusal | None:
        name = pod["metadata"]["name"]
        result = self._gangs.bind(name, node, self.now)
        if isinstance(result, Refusal):
            return result
        self.pending.pop(name, None)
        self.history.bound(name, node, self.now)
        if isinstance(result, Ready):
            if self._settings.bind_latency > 0.0:
                date = self.now + self._settings.bind_latency
                self._due_starts[result.job_id] = (date, result)
            else:
                self._start(result)
        return None

    def _on_delete(self, pod: Mapping[str, Any], grace: float) -> Refusal | None:
        name = pod["metadata"]["name"]
        if name not in self._job_of:
            return None
        outcome = self._gangs.delete(name, self.now, grace)
        if isinstance(outcome, Refusal):
            return outcome
        if outcome is not None:
            self._follow(outcome)
        return None

    def _start(self, ready: Ready) -> None:
        pods = self._jobs[ready.job_id]
        places = [self._nodes.host(node) for node in ready.nodes]
        hosts = sorted(set(places))
        position = {host: i for i, host in enumerate(hosts)}
        mapping = None if places == hosts else [position[host] for host in places]
        held = self._gangs.held_by(ready.job_id)
        if held > 0.0:
            note = f"its pods held {held:.15g} node-seconds before its start"
            self._decisions.append(SetMetadata(ready.job_id, note))
        delay = self._settings.start_delay + self._pull(pods, ready.nodes)
        self._decisions.append(StartJob(ready.job_id, hosts, mapping=mapping, launch_delay=delay))
        self._started.append(ready)
        for name in pods.names:
            self.history.started(name, self.now)

    def _pull(self, pods: JobPods, nodes: Iterable[str]) -> float:
        """Return how long the slowest node takes for the images that it does not have yet."""
        seconds = self._settings.image_pull
        if not seconds:
            return 0.0
        containers = pods.template["spec"]["containers"]
        wanted = {container["image"] for container in containers}
        slowest = 0.0
        for node in nodes:
            there = self._images.setdefault(node, set())
            slowest = max(slowest, seconds * len(wanted - there))
            there |= wanted
        return slowest

    def _show_started(self) -> None:
        """Tell that the Pods of started jobs run, unless they have ended meanwhile."""
        if not self._started:
            return
        started, self._started = self._started, []
        date = timestamp(self._store.now())
        for ready in started:
            for name in self._jobs[ready.job_id].names if ready.job_id in self._jobs else ():
                pod = self._store.get(PODS, name, _NAMESPACE)
                if pod is not None:
                    status = {**pod["status"], "phase": "Running", "startTime": date}
                    self._store.put(PODS, {**pod, "status": status})

    def _follow(self, outcome: Outcome) -> None:
        """Do what must follow from a deadline or a deletion."""
        match outcome:
            case Away(job_id=job_id, why=why):
                self._remove(job_id, why)
            case Recreated(job_id=job_id):
                self._create(self._jobs[job_id])
            case Evicted(job_id=job_id, was_running=was_running):
                self._evict(job_id, was_running=was_running)
            case Ready():
                self._start(outcome)

    def _evict(self, job_id: JobId, *, was_running: bool) -> None:
        """End a job because one of its Pods was deleted."""
        why = "preempted: a pod of it was deleted"
        self._remove(job_id, "preempted")
        pods = self._jobs.pop(job_id)
        if self._due_starts.pop(job_id, None) is not None:
            was_running = False
        if was_running and self._settings.requeue_preempted:
            self._decisions.append(RequeueJob(job_id, why))
        elif was_running:
            self._decisions += [SetMetadata(job_id, why), KillJob(job_id)]
        elif self._settings.requeue_preempted:
            self._enter(pods)
        else:
            self._decisions += [SetMetadata(job_id, why), RejectJob(job_id)]

    def _remove(self, job_id: JobId, why: str) -> None:
        """Delete the Pods of a job, and their group."""
        pods = self._jobs[job_id]
        for name in pods.names:
            self._store.delete(PODS, name, _NAMESPACE)
            self._job_of.pop(name, None)
            self.pending.pop(name, None)
            self.history.ended(name, self.now, why)
        self._remove_group(pods)

    def _remove_group(self, pods: JobPods) -> None:
        if pods.group is not None:
            self._store.delete(self._group_resource(), pods.name, _NAMESPACE)

    def _end(self, job_id: JobId, state: str) -> None:
        """Show Pods as ended, for a while."""
        self._gangs.end(job_id, self.now)
        pods = self._jobs.pop(job_id)
        for name in pods.names:
            self._job_of.pop(name, None)
            self.history.ended(name, self.now, state)
            pod = self._store.get(PODS, name, _NAMESPACE)
            if pod is None:
                continue
            ended = {**pod, "status": {**pod["status"], **ended_status(state)}}
            if "deletionTimestamp" in pod["metadata"]:
                self._store.delete(PODS, name, _NAMESPACE)
                continue
            self._store.put(PODS, ended)
            self._ended.append((name, pod["metadata"]["uid"]))
        self._remove_group(pods)
        while len(self._ended) > _MOST_ENDED:
            name, uid = self._ended.popleft()
            old = self._store.get(PODS, name, _NAMESPACE)
            if old is not None and old["metadata"]["uid"] == uid:
                self._store.delete(PODS, name, _NAMESPACE)
