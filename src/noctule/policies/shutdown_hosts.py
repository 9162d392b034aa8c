"""The hosts of a policy that switches them: what they do at a call, and what is decided there."""

from __future__ import annotations

from collections.abc import Collection

from noctule.messages import Decision, SetPowerState, StartJob
from noctule.policy import View, ViewJob


class Switches:
    """The dates at which hosts are off, and on, after what was last asked of them."""

    def __init__(self) -> None:
        """Begin with hosts that nobody has switched."""
        self.off_date: dict[int, float] = {}
        self.on_date: dict[int, float] = {}


class Hosts:
    """Free hosts by what they do, and running jobs, with all that a call has decided so far.

    Attributes:
        awake, waking, off: free hosts that jobs may have: those that run, those that are being
            switched on, and those that sleep or are being switched off.
        reserved: free hosts that are off and to stay so.
        switching_on, switching_off: hosts, free or not, on their way.
        running: jobs with their expected ends and their hosts.
        decisions: what is to be done.
    """

    def __init__(self, view: View, reserved: set[int], switches: Switches) -> None:
        """Look at the view."""
        self.now = view.now
        self.reserved = reserved
        self.decisions: list[Decision] = []
        self.running = {job: (job.expected_end, set(job.hosts)) for job in view.running}
        self._view = view
        self._switches = switches
        free, switching = set(view.free), set(view.switching)
        self.switching_off = {h for h in switching if view.now < switches.off_date.get(h, 0)}
        self.switching_on = switching - self.switching_off
        self.awake = free - set(view.asleep) - switching
        self.waking = free & self.switching_on
        self.off = free - self.awake - self.waking - reserved

    @property
    def n_usable(self) -> int:
        """Number of hosts that any job may have."""
        return len(self.awake) + len(self.waking) + len(self.off)

    @property
    def all(self) -> set[int]:
        """Every host of the platform."""
        return set(range(self._view.n_hosts))

    def next_hosts(self, n: int) -> list[int]:
        """Return what a job would get: awake hosts first, then those that can be so soonest."""
        pools = (
            self.awake,
            self.waking,
            self.off - self.switching_off,
            self.off & self.switching_off,
        )
        return [host for pool in pools for host in sorted(pool)][:n]

    def ready_date(self, n: int) -> float:
        """Return when the next n hosts are awake, if they are switched on as soon as can be."""
        return max(self._awake_date(host) for host in self.next_hosts(n))

    def start(self, job: ViewJob) -> None:
        """Start a job on the next hosts, which wakes those that sleep."""
        hosts = self.next_hosts(job.n_hosts)
        self.running[job] = (self.ready_date(job.n_hosts) + job.walltime, set(hosts))
        self.switching_on |= (self.off - self.switching_off) & set(hosts)
        for pool in (self.awake, self.waking, self.off):
            pool.difference_update(hosts)
        self.decisions.append(StartJob(job, hosts))

    def switch_off(self, hosts: Collection[int], *, reserve: bool) -> None:
        """Switch awake hosts off, into the reservation or not."""
        if not hosts:
            return
        self.decisions.append(SetPowerState(sorted(hosts), self._view.sleep_state(min(hosts))))
        self.awake.difference_update(hosts)
        self.switching_off.update(hosts)
        (self.reserved if reserve else self.off).update(hosts)
        for host in hosts:
            self._switches.off_date[host] = self.now + self._view.switch_off_seconds(host)

    def wake(self, hosts: Collection[int]) -> None:
        """Switch sleeping hosts of the reservation on, for any job."""
        if not hosts:
            return
        self.decisions.append(SetPowerState(sorted(hosts), self._view.computing_state(min(hosts))))
        self.reserved.difference_update(hosts)
        self.waking.update(hosts)
        self.switching_on.update(hosts)
        for host in hosts:
            self._switches.on_date[host] = self.now + self._view.switch_on_seconds(host)

    def coming(self) -> list[tuple[float, int]]:
        """Return when free hosts that are being switched on will be awake."""
        return [(self._switches.on_date[host], 1) for host in self.waking]

    def _awake_date(self, host: int) -> float:
        if host in self.awake:
            return self.now
        if host in self.waking:
            return self._switches.on_date[host]
        begin = self._switches.off_date[host] if host in self.switching_off else self.now
        return begin + self._view.switch_on_seconds(host)
