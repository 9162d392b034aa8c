"""Programs whose runtime looks at the clock all the time come to rest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from noctule.kube.session import Session
from noctule.vclock.program import Idle


class Spinning:
    """Seems to have run if anybody else was looked at since it was looked at anew."""

    name, pid, exit_status, is_virtual = "spinning", 1, None, True
    seen: Spinning | None = None
    now = 0.0

    def set_ticking(self, on: bool) -> None:
        pass

    def glance(self) -> Idle | None:
        Spinning.seen = None
        return Idle(0.000_01)

    def rests_again(self) -> bool:
        Spinning.seen = self
        return True

    def has_rested(self) -> bool:
        return Spinning.seen is self

    def advance(self, to: float) -> None:
        pass

    def stop(self, grace: float = 2.0) -> int:
        return 0

    def blocked_report(self) -> str:
        return "spins"


class Patient(Spinning):
    """Waits for nothing but the API, or for what talks to it."""

    def glance(self) -> Idle | None:
        return Idle(None)

    def rests_again(self) -> bool:
        return True

    def has_rested(self) -> bool:
        return True


@pytest.fixture
def session() -> Iterator[Session]:
    session = Session(is_virtual=True, stall_timeout=2.0)
    session.open()
    yield session
    session.close()


@pytest.mark.parametrize("kinds", [[Spinning], [Spinning, Spinning], [Patient, Spinning]])
def test_programs_rest_though_their_timers_are_nearly_due(
    session: Session, kinds: list[type[Spinning]]
) -> None:
    session.own([kind() for kind in kinds])
    session.settle()
    # the first date of the grid that is a millisecond after the timers, or more
    assert session.next_timer == 0.005
