"""Jobs of several Pods: they start when all are bound, and hold their nodes until then.

A pure machine: it knows no clock and does no I/O. Its callers tell it what happened, and when; it
says what must follow. A gang is a job with its Pods:

- *waiting*: its Pods exist; those that are bound hold their nodes;
- *running*: all are bound, until its job has ended;
- *ending*: one of its Pods was deleted while it ran; it ends after the grace period;
- *away*: its Pods were deleted, because it waited too long or lost one, and will be created again.

At the timeout, counted from its first binding, a waiting gang goes away for a back-off, which
doubles each time; so gangs that hold a part each of what both need do not wait forever.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from noctule.errors import InputError
from noctule.kube.quantities import text_of_count
from noctule.kube.refusals import Refusal
from noctule.workload import JobId


class Ready(NamedTuple):
    """All Pods of a job are bound: it starts on these nodes, by Pod."""

    job_id: JobId
    nodes: tuple[str, ...]


class Away(NamedTuple):
    """The Pods of a waiting job are to be deleted; they come back at a date."""

    job_id: JobId
    until: float
    why: str


class Recreated(NamedTuple):
    """The Pods of a job are to be created again, for the so-and-so-manieth time."""

    job_id: JobId
    attempt: int


class Evicted(NamedTuple):
    """A job is over because one of its Pods was deleted, and forgotten here."""

    job_id: JobId
    was_running: bool


Outcome = Ready | Away | Recreated | Evicted


class Hold(NamedTuple):
    """A node that a job's Pod held while its gang was waiting."""

    job_id: JobId
    node: str
    begin: float
    end: float


class State(StrEnum):
    """What a gang is doing."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDING = "ending"
    AWAY = "away"


@dataclass(slots=True)
class _Gang:
    job_id: JobId
    pods: tuple[str, ...]
    requests: Mapping[str, int]
    grace: float
    order: int
    reservation: str | None
    state: State = State.WAITING
    bound: dict[str, tuple[str, float]] = field(default_factory=dict)  # pod: (node, since)
    due: float = math.inf  # when it gives up, comes back or ends, by its state
    attempt: int = 0


@dataclass(slots=True)
class _Node:
    free: dict[str, int]
    present: bool = True
    schedulable: bool = True
    reserved_for: str | None = None


class Gangs:
    """All jobs that have Pods, and what is left on the nodes.

    Attributes:
        holds: what waiting gangs held, for the bill; complete once nothing waits.
    """

    def __init__(
        self,
        capacities: Mapping[str, Mapping[str, int]],
        *,
        timeout: float | None = None,
        back_off: float = 10.0,
        longest_back_off: float = 300.0,
        requeue: bool = False,
    ) -> None:
        """Give what a scheduler counts of each node, as `nodes.allocatable` does.

        Without a timeout, partial gangs wait forever. With `requeue`, a waiting gang whose Pod was
        deleted comes back after the back-off.
        """
        if timeout is not None and timeout <= 0:
            raise InputError(f"gang timeout: got {timeout}, expected seconds > 0")
        if not 0 < back_off <= longest_back_off:
            raise InputError(f"gang back-off: got {back_off}, expected 0 to {longest_back_off} s")
        self.holds: list[Hold] = []
        self._nodes = {name: _Node(dict(amounts)) for name, amounts in capacities.items()}
        self._capacities = capacities
        self._timeout = timeout
        self._back_off = back_off
        self._longest = longest_back_off
        self._requeue = requeue
        self._gangs: dict[JobId, _Gang] = {}
        self._job_of: dict[str, JobId] = {}
        self._held: dict[JobId, float] = {}
        self._dated: dict[JobId, _Gang] = {}  # those that something is due for
        self._n_submitted = 0

    def __contains__(self, job_id: JobId) -> bool:
        """Tell whether a job has been submitted and is not over."""
        return job_id in self._gangs

    def submit(
        self,
        job_id: JobId,
        pods: Iterable[str],
        requests: Mapping[str, int],
        grace: float = 30.0,
        reservation: str | None = None,
    ) -> None:
        """Enter a job, by the names of its Pods and what each counts for.

        One with a reservation can only be bound to the nodes of that.
        """
        counts = {name: count for name, count in requests.items() if count}
        gang = _Gang(job_id, tuple(pods), counts, grace, self._n_submitted, reservation)
        assert job_id not in self._gangs
        assert not any(pod in self._job_of for pod in gang.pods)
        self._n_submitted += 1
        self._gangs[job_id] = gang
        self._job_of.update(dict.fromkeys(gang.pods, job_id))

    def bind(self, pod: str, node: str, now: float) -> Refusal | Ready | None:
        """Bind a Pod to a node; the last one of its job makes it Ready."""
        found = self._bindable(pod, node)
        if isinstance(found, Refusal):
            return found
        self._take(node, found.requests)
        found.bound[pod] = (node, now)
        if len(found.bound) < len(found.pods):
            if self._timeout is not None and found.job_id not in self._dated:
                self._set_due(found, now + self._timeout)
            return None
        found.state = State.RUNNING
        self._set_due(found, math.inf)
        self._bill(found, now)
        return Ready(found.job_id, tuple(found.bound[name][0] for name in found.pods))

    def delete(self, pod: str, now: float, grace: float | None = None) -> Outcome | Refusal | None:
        """Delete a Pod, as preemption does: it ends its job, once the grace period is over.

        `grace` takes the place of the Pod's own period, as a deletion may ask; a job that is ending
        already can end sooner, not later. Nothing follows for one whose Pods are away.
        """
        gang = self._gang_of(pod)
        if gang is None:
            return _unknown_pod(pod)
        if gang.state in (State.RUNNING, State.ENDING):
            gang.state = State.ENDING
            self._set_due(gang, min(gang.due, now + (gang.grace if grace is None else grace)))
            return self._evict(gang, now) if gang.due <= now else None
        if gang.state is State.AWAY:
            return None
        if self._requeue:
            return self._send_away(gang, now, f"pod {pod} was deleted")
        return self._evict(gang, now)

    def end(self, job_id: JobId, now: float) -> tuple[str, ...]:
        """Forget a job that has ended, was cancelled or rejected; return its Pods."""
        gang = self._gangs[job_id]
        self._forget(gang, now)
        return gang.pods

    def expired(self, now: float) -> list[Outcome]:
        """Return what must happen by now, in the order of its dates, then of submission."""
        outcomes: list[Outcome] = []
        ripe = [(gang.due, gang.order, gang) for gang in self._dated.values()]
        for date, _, gang in sorted(ripe, key=lambda entry: entry[:2]):
            if date > now:
                break
            if gang.state is State.WAITING:
                bound = f"{len(gang.bound)} of {len(gang.pods)} pods bound"
                outcomes.append(self._send_away(gang, now, f"timeout with {bound}"))
            elif gang.state is State.AWAY:
                gang.state = State.WAITING
                self._set_due(gang, math.inf)
                outcomes.append(Recreated(gang.job_id, gang.attempt))
            else:
                outcomes.append(self._evict(gang, now))
        return outcomes

    def next_deadline(self) -> float | None:
        """Return the next date at which `expired` has something to tell."""
        return min((gang.due for gang in self._dated.values()), default=None)

    def state(self, job_id: JobId) -> State:
        """Return what a job's gang is doing."""
        return self._gangs[job_id].state

    def nodes_of(self, job_id: JobId) -> dict[str, str]:
        """Return the nodes of a job's bound Pods."""
        return {pod: node for pod, (node, _) in self._gangs[job_id].bound.items()}

    def held_by(self, job_id: JobId) -> float:
        """Return the node-seconds that a job's Pods held while its gang was waiting."""
        return self._held.get(job_id, 0.0)

    def free(self, node: str) -> Mapping[str, int]:
        """Return what is left on a node."""
        return self._nodes[node].free

    def set_schedulable(self, node: str, schedulable: bool) -> None:
        """Let Pods be bound to a node or not; those that are there stay."""
        self._nodes[node].schedulable = schedulable

    def lose_node(self, node: str, now: float) -> list[Away]:
        """Take a node away; waiting gangs with a Pod there lose their places.

        Running jobs on it are the engine's business: it fails them, and `end` tells.
        """
        self._nodes[node].present = False
        why = f"node {node} is gone"
        return [self._send_away(gang, now, why) for gang in self._waiting_on(node)]

    def reserve_node(self, node: str, name: str | None, now: float) -> list[Away]:
        """Keep a node for the jobs of a reservation, or for all without a name.

        Waiting gangs with a Pod there that are not of the reservation lose their places.
        """
        self._nodes[node].reserved_for = name
        if name is None:
            return []
        lost = [gang for gang in self._waiting_on(node) if gang.reservation != name]
        return [self._send_away(gang, now, f"node {node} is kept for {name}") for gang in lost]

    def recall(self, job_id: JobId, now: float) -> None:
        """Let a job wait again that was ready, and has not been started after all."""
        gang = self._gangs[job_id]
        gang.state = State.WAITING
        gang.bound = {pod: (node, now) for pod, (node, _) in gang.bound.items()}

    def restore_node(self, node: str) -> None:
        """Bring a node back."""
        self._nodes[node].present = True

    def deadlocked(self) -> str | None:
        """Name the waiting jobs that hold nodes and can never get the rest, or return None.

        All running jobs are taken to end, and no waiting one to give up: whoever then fits, starts
        and ends too. The jobs that are left wait for each other, or are too big.
        """
        partial = [g for g in self._gangs.values() if g.state is State.WAITING and g.bound]
        free = {
            name: dict(self._capacities[name]) for name, node in self._nodes.items() if node.present
        }
        for gang in partial:
            _move(free, gang, -1)
        stuck = partial
        while stuck:
            able = [gang for gang in stuck if _fits(free, gang)]
            if not able:
                return _told(stuck)
            for gang in able:
                _move(free, gang, +1)
            stuck = [gang for gang in stuck if gang not in able]
        return None

    def _waiting_on(self, node: str) -> list[_Gang]:
        return [
            gang
            for gang in self._gangs.values()
            if gang.state is State.WAITING and any(at == node for at, _ in gang.bound.values())
        ]

    def _gang_of(self, pod: str) -> _Gang | None:
        job_id = self._job_of.get(pod)
        return None if job_id is None else self._gangs[job_id]

    def _bindable(self, pod: str, node: str) -> Refusal | _Gang:
        gang = self._gang_of(pod)
        if gang is None or gang.state is State.AWAY:
            return _unknown_pod(pod)
        if pod in gang.bound:
            at = gang.bound[pod][0]
            message = f"pod {pod}: cannot be bound to {node}, it is bound to {at} already"
            return Refusal(409, message)
        place = self._nodes.get(node)
        if place is None or not place.present:
            gone = "is unknown" if place is None else "is gone"
            return Refusal(404, f"pod {pod}: cannot be bound to {node}: that node {gone}")
        closed = _why_closed(place, gang)
        if closed is not None:
            message = f"pod {pod}: cannot be bound to {node}: that node is {closed}"
            return Refusal(409, message)
        for name, count in gang.requests.items():
            left = place.free.get(name, 0)
            if count > left:
                message = (
                    f"pod {pod}: cannot be bound to {node}: it asks for "
                    f"{text_of_count(name, count)} of {name}, {text_of_count(name, left)} is left"
                )
                return Refusal(409, message)
        return gang

    def _set_due(self, gang: _Gang, date: float) -> None:
        gang.due = date
        if date < math.inf:
            self._dated[gang.job_id] = gang
        else:
            self._dated.pop(gang.job_id, None)

    def _take(self, node: str, requests: Mapping[str, int], sign: int = 1) -> None:
        free = self._nodes[node].free
        for name, count in requests.items():
            free[name] -= sign * count

    def _send_away(self, gang: _Gang, now: float, why: str) -> Away:
        self._release(gang, now)
        wait = min(self._back_off * 2.0 ** min(gang.attempt, 64), self._longest)
        gang.state = State.AWAY
        gang.attempt += 1
        self._set_due(gang, now + wait)
        return Away(gang.job_id, now + wait, why)

    def _evict(self, gang: _Gang, now: float) -> Evicted:
        was_running = gang.state is State.ENDING
        self._forget(gang, now)
        return Evicted(gang.job_id, was_running)

    def _release(self, gang: _Gang, now: float) -> None:
        if gang.state is State.WAITING:
            self._bill(gang, now)
        for node, _ in gang.bound.values():
            self._take(node, gang.requests, -1)
        gang.bound.clear()

    def _bill(self, gang: _Gang, now: float) -> None:
        for node, since in gang.bound.values():
            if now > since:
                self.holds.append(Hold(gang.job_id, node, since, now))
                self._held[gang.job_id] = self.held_by(gang.job_id) + now - since

    def _forget(self, gang: _Gang, now: float) -> None:
        self._release(gang, now)
        self._set_due(gang, math.inf)
        del self._gangs[gang.job_id]
        for pod in gang.pods:
            del self._job_of[pod]


def _why_closed(node: _Node, gang: _Gang) -> str | None:
    if not node.schedulable:
        return "unschedulable"
    if node.reserved_for == gang.reservation:
        return None
    return f"not of {gang.reservation}" if gang.reservation else f"kept for {node.reserved_for}"


def _unknown_pod(pod: str) -> Refusal:
    return Refusal(404, f"pod {pod}: not found")


def _move(free: dict[str, dict[str, int]], gang: _Gang, sign: int) -> None:
    for node, _ in gang.bound.values():
        if node in free:
            for name, count in gang.requests.items():
                free[node][name] += sign * count


def _fits(free: Mapping[str, Mapping[str, int]], gang: _Gang) -> bool:
    missing = len(gang.pods) - len(gang.bound)
    for amounts in free.values():
        missing -= min(amounts.get(name, 0) // count for name, count in gang.requests.items())
        if missing <= 0:
            return True
    return False


def _told(stuck: list[_Gang]) -> str:
    parts = []
    for gang in stuck[:5]:
        nodes = ", ".join(dict.fromkeys(node for node, _ in gang.bound.values()))
        bound = f"{len(gang.bound)} of {len(gang.pods)} pods bound"
        parts.append(f"job {gang.job_id} has {bound} and holds {nodes}")
    if len(stuck) > 5:
        parts.append(f"{len(stuck) - 5} more")
    return (
        "partial gangs that can never be complete hold nodes on which nothing runs: "
        + "; ".join(parts)
    )
