"""The way past Python for schedulers that speak Batsim's protocols, where only the usual is said.

The core writes the usual messages and reads the usual replies by itself (cpp/protocol). They mean
there what they mean here; all else is left to Python, which then first hears of what has happened.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from noctule._core import Shortcut
from noctule.policy import View
from noctule.remote.batsim_names import NamesInReplies
from noctule.remote.batsim_registry import Registry
from noctule.remote.edc_library import EdcLibrary
from noctule.remote.endpoint import MOST_BYTES

#: Sends a message, and returns the reply to it.
Channel = Callable[[bytes], bytes]


class WayPast:
    """The shortcut of one scheduler, and what happened there.

    Attributes:
        shortcut: None as long as there is none.
    """

    def __init__(self, registry: Registry, names: NamesInReplies, channel: Channel) -> None:
        """Take what is told and may be named, and the way to the scheduler."""
        self.shortcut: Shortcut | None = None
        self._registry = registry
        self._names = names
        self._channel = channel

    @property
    def n_messages(self) -> int:
        """How many were sent without Python."""
        return 0 if self.shortcut is None else self.shortcut.n_messages

    @property
    def seconds(self) -> float:
        """Time that replies to them took."""
        return 0.0 if self.shortcut is None else self.shortcut.seconds

    def open(
        self,
        view: View,
        *,
        is_batsim4: bool,
        exact_dates: bool = False,
        hosts_sleep: bool = False,
        profile_text: Callable[[str], str] | None = None,
    ) -> None:
        """Make the shortcut for a run of the engine that has begun."""
        if not isinstance(view, View):
            return
        channel = self._channel
        self.shortcut = Shortcut(
            view,
            self._registry.objects,
            channel.address if type(channel) is EdcLibrary else channel,
            is_batsim4=is_batsim4,
            exact_dates=exact_dates,
            hosts_sleep=hosts_sleep,
            n_resources=self._names.n_resources,
            longest=MOST_BYTES,
            profile_text=profile_text,
            named=[job for job in self._names.jobs.values() if not isinstance(job, str)],
        )
        self._names.dropped.clear()

    def catch_up(self) -> bytes | None:
        """Hear of what happened there; return the reply, if the events of now were told there."""
        if self.shortcut is None:
            return None
        told, rejected, ended = self.shortcut.take_journal()
        jobs = self._names.jobs
        for job_id in told:
            self._registry.tell(job_id)
            jobs[job_id] = job_id
        for job_id in rejected:
            del jobs[job_id]
        for job_id in ended:
            self._names.end(job_id)
            self._registry.forget(job_id)
        answer = self.shortcut.take_answer()
        if isinstance(answer, tuple):
            assert isinstance(self._channel, EdcLibrary)
            return self._channel.reply_of(*answer)
        return answer

    def go_on(self) -> None:
        """Say which jobs can no longer be named, as a reply has decided that was read here."""
        if self.shortcut is not None:
            for job_id in self._names.dropped:
                self.shortcut.drop_named(job_id)
        self._names.dropped.clear()


class AskingPolicy:
    """What policies have in common that ask a scheduler: in Python, or past it."""

    def __init__(self, registry: Registry, names: NamesInReplies, channel: Channel) -> None:
        """Take what is told and may be named, and the way to the scheduler."""
        self._registry = registry
        self._channel = channel
        self._past = WayPast(registry, names, channel)
        self._n_asked = 0
        self._seconds_asked = 0.0

    @property
    def n_messages(self) -> int:
        """How many messages the scheduler was sent."""
        return self._n_asked + self._past.n_messages

    @property
    def seconds(self) -> float:
        """Time spent waiting for replies, by the clock on the wall."""
        return self._seconds_asked + self._past.seconds

    @property
    def shortcut(self) -> Shortcut | None:
        """What decides in place of this class, where it can."""
        return self._past.shortcut

    def _reply_to(self, message: str) -> bytes:
        began = time.perf_counter()
        reply = self._channel(message.encode())
        self._seconds_asked += time.perf_counter() - began
        self._n_asked += 1
        return reply
