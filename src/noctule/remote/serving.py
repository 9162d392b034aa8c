"""A policy as a program of its own: the other side of Batsim's protocol 4.

`PolicyServer` turns requests into replies, without a wire; `serve` does so over ZeroMQ until the
simulation ends. The policy is any that runs in process: it sees the same view, rebuilt from
messages, and what it decides is held to the same rules.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import msgspec

from noctule.errors import DeadlockError, DecisionError, InputError, NoctuleError, ProtocolError
from noctule.messages import Event, SimulationStarted, TimerFired
from noctule.policies import Conservative, Easy, Fcfs, Filler, make_policy
from noctule.policy import Policy, PolicySpec, View
from noctule.remote.served_calls import ROUNDING, ServedCalls
from noctule.remote.served_decisions import DecisionWriter, Said
from noctule.remote.served_registrations import ServedRegistrations
from noctule.remote.served_requests import (
    Request,
    RequestReader,
    decode_request,
    read_beginning,
    read_profiles,
)
from noctule.remote.served_view import ServedCluster, ServedView

if TYPE_CHECKING:
    from noctule.remote.endpoint import Answering

__all__ = ["PolicyServer", "make_served", "serve"]

# The native policies by the names of which their readable twins are served.
_TWINS = {"conservative": Conservative, "easy": Easy, "fcfs": Fcfs, "filler": Filler}
_MOST_CALLS_AT_ONCE = 1_000_000


def make_served(policy: str | PolicySpec) -> Policy:
    """Make the policy that a text or a spec stands for, as one in Python."""
    spec = PolicySpec.parse(policy) if isinstance(policy, str) else policy
    twin = _TWINS.get(spec.name)
    if twin is not None:
        spec = PolicySpec(f"{twin.__module__}:{twin.__name__}", spec.parameters)
    made = make_policy(spec)
    if not isinstance(made, Policy):
        raise InputError(
            f"policy {spec.name}: runs inside the engine only, expected one in Python: "
            f"{', '.join(_TWINS)}, or FILE.py:CLASS"
        )
    return made


def serve(policy: Policy, endpoint: Answering) -> PolicyServer:
    """Answer requests until the simulation ends; `endpoint` is open."""
    server = PolicyServer(policy)
    while not server.ended:
        endpoint.reply(server.answer(endpoint.receive()))
    return server


class PolicyServer:
    """Answers the requests of one simulation."""

    def __init__(self, policy: Policy, *, reject_oversized: bool = True) -> None:
        """Take a policy; jobs larger than the platform are refused for it, unless it wants them."""
        self._policy = policy
        self._reject_oversized = reject_oversized
        self._run: _Run | None = None
        self._before = 0.0  # when the next request may come at the earliest
        self.n_requests = 0
        self.ended = False

    @property
    def now(self) -> float:
        """The date of the last reply."""
        return self._before

    @property
    def n_jobs(self) -> int:
        """How many jobs have been seen."""
        return 0 if self._run is None else len(self._run.cluster.jobs)

    def answer(self, message: bytes) -> bytes:
        """Return the reply to a request."""
        number = self.n_requests
        if self.ended:
            raise ProtocolError(f"request {number}: came after SIMULATION_ENDS, expected none then")
        request = decode_request(message, number, self._before)
        begins = [i for i, told in enumerate(request.events) if told.type == "SIMULATION_BEGINS"]
        if begins != ([0] if self._run is None else []):
            raise ProtocolError(
                f"request {number}: got {[told.type for told in request.events[:5]]}, "
                "expected SIMULATION_BEGINS as the first event of the first request, and only there"
            )
        if self._run is None:
            self._run = _Run.begin(self._policy, request, reject_oversized=self._reject_oversized)
        reply = self._run.answer(request, number)
        self.n_requests += 1
        self._before = reply.now
        self.ended = self._run.ended
        return msgspec.json.encode(reply)


class _Reply(msgspec.Struct, frozen=True):
    """What is decided, and when the policy is ready again."""

    now: float
    events: list[Said]


class _Run:
    """What is known of a simulation that has begun."""

    def __init__(
        self,
        policy: Policy,
        cluster: ServedCluster,
        reader: RequestReader,
        registrations: ServedRegistrations,
    ) -> None:
        self._policy = policy
        self.cluster = cluster
        self._view = cast(View, ServedView(cluster))
        self._reader = reader
        self._calls = ServedCalls()
        self._writer = DecisionWriter(cluster, self._calls, registrations)
        self.ended = False

    @classmethod
    def begin(cls, policy: Policy, request: Request, *, reject_oversized: bool) -> _Run:
        """Read SIMULATION_BEGINS."""
        told = request.events[0]
        hosts, rules = read_beginning(told, 0)
        cluster = ServedCluster(
            request.now,
            hosts,
            submissions_ended=not told.data.get("workloads"),
            registration_open=rules.dynamic,
        )
        reader = RequestReader(cluster, read_profiles(told), reject_oversized=reject_oversized)
        registrations = ServedRegistrations(rules, reader.own_ids, reader.profiles)
        return cls(policy, cluster, reader, registrations)

    def answer(self, request: Request, number: int) -> _Reply:
        """Tell the policy what happened, and write what it decides."""
        now = max(self._exact(request), self.cluster.now)
        self.cluster.now = self._writer.busy_until = now
        events = self._events(request, number)
        if self.ended:
            return _Reply(now, [])
        self._writer.reject_oversized(self._reader.oversized)
        self._reader.oversized.clear()
        events += self._own_events()
        n_calls = 0
        while events:
            self._writer.take(self._decisions(events))
            events = self._own_events() if self._writer.busy_until <= now else []
            n_calls += 1
            if n_calls > _MOST_CALLS_AT_ONCE:
                raise DeadlockError(
                    f"t={now:.15g}: the policy was called a million times at this instant, "
                    "expected it to let time go on"
                )
        return _Reply(self._writer.busy_until, self._writer.take_said())

    def _exact(self, request: Request) -> float:
        """Return the date of a request as a policy counts it, where messages have rounded it.

        A call comes when it was asked for, a job that has run for its walltime ends then: what a
        policy has planned for these dates is due, and not in half a microsecond.
        """
        near = 2 * ROUNDING  # of the start, and of the end
        jobs = (self._reader.ended(told) for told in request.events)
        dates = [job.expected_end for job in jobs if job is not None]
        ends = [date for date in dates if abs(date - request.now) <= near]
        return max(ends, default=self._calls.exact(request.now))

    def _events(self, request: Request, number: int) -> list[Event]:
        events: list[Event] = []
        for i, told in enumerate(request.events):
            match told.type:
                case "SIMULATION_BEGINS":
                    events.append(SimulationStarted(told.timestamp))
                case "REQUESTED_CALL":
                    events += self._fired(told.timestamp)
                case "SIMULATION_ENDS":
                    self.ended = True
                case _:
                    event = self._reader.read(told, number, i)
                    if event is not None:
                        events.append(event)
        return events

    def _fired(self, date: float) -> list[Event]:
        date = self._calls.exact(date)
        tags = self._calls.due_tags(date, told=True)
        self._calls.answered(date)
        return [TimerFired(date, tag) for tag in tags]

    def _own_events(self) -> list[Event]:
        """Return what decisions caused at once, of which no message will tell."""
        now = self.cluster.now
        self._writer.apply_due(self._calls.due_decisions(now))
        events = self._writer.submitted()
        return events + [TimerFired(now, tag) for tag in self._calls.due_tags(now, told=False)]

    def _decisions(self, events: Sequence[Event]) -> list[object]:
        """Return all decisions of a call: the view stands still until the last is made."""
        try:
            answer = self._policy.decide(self._view, events)
            return [] if answer is None else list(answer)
        except NoctuleError:
            raise
        except (Exception, SystemExit) as error:
            raise DecisionError(self._complaint(error)) from error

    def _complaint(self, error: BaseException) -> str:
        frames = traceback.extract_tb(error.__traceback__)
        where = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
        name = type(self._policy).__name__
        return (
            f"t={self.cluster.now:.15g} policy {name} raised {type(error).__name__}: {error}{where}"
        )
