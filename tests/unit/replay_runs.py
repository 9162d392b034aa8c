"""Small logs of users that are replayed on machines with other run times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from session_logs import a_log
from user_replays import replayed

import noctule as nt


def with_responses(
    jobs: Sequence[tuple[float, ...]], responses: Sequence[float], **options: Any
) -> nt.Schedule:
    """Replay a log of (submission, finish[, user]) in minutes on a machine with other run times."""
    recorded = a_log(*jobs)
    sessions = nt.sessions.find_sessions(recorded, threshold=3600)
    other = a_log(*((job[0], job[0] + r, *job[2:]) for job, r in zip(jobs, responses, strict=True)))
    model = options.pop("model", nt.Feedback)
    return replayed(other, model(sessions=sessions, **options))
