"""Schedulers of Kubernetes as a policy: they see a cluster, and what they bind is started.

At each call the clock of the schedulers is set to the date of the run, they are told what happened,
one thing after the other, and are let come to rest; what they have bound or deleted meanwhile are
the decisions. While Pods are pending the policy asks to be called when the schedulers' next timer
is due: they retry by timers.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from noctule import messages
from noctule.errors import InputError
from noctule.kube.cluster import Cluster
from noctule.kube.pod_history import PODS_FILE
from noctule.kube.schedulers import (
    DEFAULT_NAME,
    Attached,
    Launcher,
    commands_of,
    words_of,
    write_kubeconfig,
)
from noctule.kube.session import Access, Program, Session
from noctule.kube.settings import Settings
from noctule.messages import CallAt, CancelCall, Decision, Event
from noctule.platform import Platform
from noctule.policy import OutsidePolicy, PolicySpec, View
from noctule.workload import JobId, Workload

__all__ = ["KubeScheduler"]

_TIMER = "timer of a scheduler"
_DEADLINE = "deadline of pods"
_LONGEST_IDLE = 900.0  # seconds of retries on a cluster on which nothing runs
_REAL_STEP = 0.05  # real seconds between two looks at schedulers in real time

Announce = Callable[[str], object]


class KubeScheduler(OutsidePolicy):
    """Decides what schedulers of Kubernetes decide, which it starts and ends.

    Attributes:
        settings: how they are run.
        commands: who they are.
    """

    shares_hosts = True

    def __init__(
        self,
        command: str = "",
        *,
        schedulers: str = "",
        beside: str = "",
        attach: bool = False,
        log: str = "",
        announce: Announce | None = None,
        **settings: Any,
    ) -> None:
        """Take what to start; see Settings for the other keywords.

        Args:
            command: of the scheduler that Pods are for which name none.
            schedulers: others, a line `NAME=COMMAND` each, for Pods with that `schedulerName`.
            beside: programs that schedulers talk to, such as extenders, a command a line.
            attach: start none, but let the user do it; needs the real clock.
            log: a file for what the programs write.
            announce: called with sentences on the way, such as where the API is.
            settings: see Settings.
        """
        self.settings = Settings.read(settings)
        self.commands = [*commands_of(command), *commands_of(schedulers)]
        self._beside = [words_of("beside", line) for line in beside.splitlines() if line.strip()]
        self._attach = attach
        self._log = log
        self._announce = announce or (lambda _: None)
        self._check()
        self._stack = ExitStack()
        self._session: Session | None = None
        self._cluster: Cluster | None = None
        self._inputs: tuple[Platform, Workload] | None = None
        self._last_change = 0.0
        self._is_timed = self._has_deadline = False
        self._notes: list[str] = []
        self._tellers: Mapping[type, Callable[[Cluster, View, Any], None]] = _TELLERS

    @property
    def text(self) -> str:
        """What stands for this policy in a manifest."""
        given: dict[str, Any] = {"schedulers": "\n".join(map(str, self.commands))}
        if self._beside:
            given["beside"] = "\n".join(map(shlex.join, self._beside))
        if self._attach:
            given["attach"] = True
        usual = Settings()
        for name in Settings.__slots__:
            value = getattr(self.settings, name)
            if value != getattr(usual, name):
                given[name] = value
        text = str(PolicySpec("noctule.kube:KubeScheduler", given))
        if PolicySpec.parse(text).parameters != given:
            raise InputError(
                "kube: got a command with both kinds of quotes, expected one that a manifest can "
                "hold: put it into a script"
            )
        return text

    def prepare(self, platform: Platform, workload: Workload) -> None:
        """Take the hosts and the jobs."""
        self._inputs = (platform, workload)

    def decide(self, view: View, events: Sequence[Event]) -> list[Decision]:
        """Tell schedulers what happened, and return what they do about it."""
        now = view.now
        if self._session is None:
            self._open()
        session, cluster = self._session, self._cluster
        assert session is not None
        assert cluster is not None
        timer = session.next_timer
        if not cluster.pending and not session.is_virtual:
            session.skip_to(now)
        elif cluster.pending and self.settings.mode == "window":
            self._catch_up(now)
            timer = session.next_timer
        session.advance(now)
        is_resting = session.is_virtual and (timer is None or timer > now)
        if cluster.pass_time(now):
            self._last_change = now
            is_resting = False
        is_resting = self._tell(view, events, is_resting=is_resting)
        if not is_resting:
            session.settle()
        decisions = cluster.take_decisions()
        if decisions:
            self._last_change = now
        return [*decisions, *self._calls(view)]

    def explain_deadlock(self) -> str:
        """Say what Pods wait for."""
        if self._cluster is None or self._session is None:
            return ""
        refused = self._session.refused
        told = self._cluster.why_stuck()
        return f"{told}; the last binding that was refused: {refused.last}" if refused.n else told

    def warnings(self) -> list[str]:
        """Return what was odd, and who decided."""
        told = list(self._notes)
        if self._session is not None and self._session.refused.n:
            refused = self._session.refused
            many = "1 binding was" if refused.n == 1 else f"{refused.n} bindings were"
            told.append(f"{many} refused, the last of them: {refused.last}")
        held = math.fsum(self.held().values())
        if held > 0.0:
            told.append(
                f"pods held {held:.15g} node-seconds while others of their jobs were pending"
            )
        return told

    def held(self) -> Mapping[JobId, float]:
        """Return the node-seconds that the bound Pods of jobs have held before all were bound."""
        return {} if self._cluster is None else self._cluster.held

    def files(self) -> Mapping[str, str]:
        """Return what became of each Pod, as CSV."""
        cluster = self._cluster
        return {} if cluster is None else {PODS_FILE: "".join(cluster.history.text())}

    def close(self) -> None:
        """End the schedulers and the API."""
        self._stack.close()

    def _check(self) -> None:
        if self._attach and self.commands:
            raise InputError("kube: attach: got a command as well, expected one or the other")
        if not self._attach and not self.commands:
            raise InputError("kube: got no scheduler, expected a command such as kube-scheduler")
        if self._attach and self.settings.clock != "real":
            raise InputError(
                "kube: attach: got the virtual clock, expected clock real: only programs that are "
                "started here can be put on simulated time"
            )
        names = [command.name for command in self.commands]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"kube: scheduler {name}: given twice, expected it once")

    def _open(self) -> None:
        assert self._inputs is not None
        platform, workload = self._inputs
        settings = self.settings
        session = Session(
            is_virtual=settings.clock == "virtual",
            stall_timeout=settings.stall_timeout,
            # clients of Go hand the objects of such a list on in the order of a hash table
            watch_lists=not settings.seed,
        )
        self._stack.callback(session.close)
        access = session.open()
        write_kubeconfig(access)
        names = [command.name for command in self.commands]
        default = DEFAULT_NAME if DEFAULT_NAME in names or not names else names[0]
        cluster = Cluster(platform, workload, settings, session.store, scheduler=default)
        self._refuse_unknown(cluster, names)
        self._start_programs(session, access)
        self._session, self._cluster = session, cluster

    def _refuse_unknown(self, cluster: Cluster, names: Sequence[str]) -> None:
        """Refuse jobs for schedulers that nobody starts: a file of profiles may know more names."""
        has_profiles = any(
            word.partition("=")[0] == "--config" for c in self.commands for word in c.words
        )
        unknown = sorted(cluster.schedulers - set(names))
        if names and unknown and not has_profiles:
            raise InputError(
                f"kube: jobs ask for the scheduler {unknown[0]}, which is not started; "
                f"started are {', '.join(names)}"
            )

    def _start_programs(self, session: Session, access: Access) -> None:
        if self._attach:
            self._announce(f"API at {access.url}")
            self._announce(f"kubeconfig: {access.kubeconfig}")
            self._announce("waiting for a scheduler that watches pods")
            session.begin([Attached(self.settings.speed)], is_awaited=True)
            return
        path = Path(self._log) if self._log else access.folder / "scheduler.log"
        try:
            log = self._stack.enter_context(path.open("wb"))
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from None
        launcher = Launcher(access, self.settings, log)
        self._stack.callback(launcher.close)
        # in that order: what schedulers talk to must be there before them
        started: list[Program] = []
        session.own(started, [path])
        started.extend(launcher.start_beside(words) for words in self._beside)
        n_beside = len(started)
        started.extend(launcher.start(command) for command in self.commands)
        self._notes += [f"{name}: {version}" for name, version in launcher.versions.items()]
        session.begin(started[n_beside:])

    def _catch_up(self, now: float) -> None:
        """Let timers that were skipped be due early enough, so that nobody retries only now."""
        session = self._session
        assert session is not None
        begin = now - self.settings.window
        if session.next_timer is None or session.next_timer > begin:
            return
        session.advance(begin)
        session.settle()
        while session.next_timer is not None and session.next_timer < now:
            session.advance(session.next_timer)
            session.settle()

    def _tell(self, view: View, events: Sequence[Event], *, is_resting: bool) -> bool:
        """Tell one thing after the other; return whether schedulers rest as they did before."""
        session, cluster = self._session, self._cluster
        assert session is not None
        assert cluster is not None
        is_serial = self.settings.serial and session.is_virtual
        for event in events:
            teller = self._tellers.get(type(event))
            if teller is None:
                continue
            if not is_resting and is_serial:
                session.settle()
            is_resting = False
            teller(cluster, view, event)
            self._last_change = view.now
        return is_resting

    def _calls(self, view: View) -> list[Decision]:
        """Ask to be called for what will happen by itself, and no longer for what will not."""
        cluster = self._cluster
        assert cluster is not None
        calls: list[Decision] = []
        timer = self._next_look(view)
        if timer is not None:
            calls.append(CallAt(max(timer, view.now), _TIMER))
        elif self._is_timed:
            calls.append(CancelCall(_TIMER))
        self._is_timed = timer is not None
        deadline = cluster.next_deadline()
        if deadline is not None:
            calls.append(CallAt(max(deadline, view.now), _DEADLINE))
        elif self._has_deadline:
            calls.append(CancelCall(_DEADLINE))
        self._has_deadline = deadline is not None
        return calls

    def _next_look(self, view: View) -> float | None:
        """Return when schedulers will go on by themselves with Pods that are pending."""
        session, cluster = self._session, self._cluster
        assert session is not None
        assert cluster is not None
        if not cluster.pending:
            return None
        idle_for = view.now - self._last_change
        is_idle = not len(view.running)
        if is_idle and idle_for > max(_LONGEST_IDLE, self.settings.window):
            return None
        if not session.is_virtual:
            return max(session.now, view.now + _REAL_STEP * self.settings.speed)
        if self.settings.mode == "window" and idle_for > self.settings.window:
            return None
        return session.next_timer


def _window(cluster: Cluster, event: messages.WindowBegan | messages.WindowEnded) -> None:
    window, has_begun = event.window, isinstance(event, messages.WindowBegan)
    if window.kind == "reservation":
        cluster.reserve(window.hosts, window.name if has_begun else None)
    elif has_begun:
        cluster.lose(window.hosts, failed=False)
    else:
        cluster.regain(window.hosts, failed=False)


_TELLERS: Mapping[type, Callable[[Cluster, View, Any], None]] = {
    messages.JobSubmitted: lambda cluster, _, event: cluster.submit(event.job),
    messages.JobFinished: lambda cluster, view, event: cluster.finish(
        event.job.id, event.state, view.completing
    ),
    messages.HostsReleased: lambda cluster, _, event: cluster.release(event.job.id),
    messages.JobCancelled: lambda cluster, _, event: cluster.cancel(event.job.id),
    messages.HostFailed: lambda cluster, _, event: cluster.lose([event.host], failed=True),
    messages.HostRestored: lambda cluster, _, event: cluster.regain([event.host], failed=True),
    messages.HostsUnavailable: lambda cluster, _, event: cluster.lose(event.hosts, failed=False),
    messages.HostsAvailable: lambda cluster, _, event: cluster.regain(event.hosts, failed=False),
    messages.WindowBegan: lambda cluster, _, event: _window(cluster, event),
    messages.WindowEnded: lambda cluster, _, event: _window(cluster, event),
}
