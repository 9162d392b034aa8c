"""Sessions of users: stretches of work, what each waited for, and how long the users thought.

`find_sessions` finds them in a log, `load_sessions` and `save_sessions` read and write them as
files. All are columns, for replays that give users feedback: flat arrays that nothing changes.
"""

from __future__ import annotations

from noctule.formats.local_time import LocalClock
from noctule.sessions.activity import Activity, weekly_activity
from noctule.sessions.graph import SessionGraph
from noctule.sessions.partition import (
    Batches,
    Sessions,
    find_batches,
    find_sessions,
    sessions_on,
)
from noctule.sessions.reading import load_sessions
from noctule.sessions.record import Record
from noctule.sessions.statistics import SessionStats, UserSessions, session_stats
from noctule.sessions.think_times import ThinkTimeModel, fit_think_times
from noctule.sessions.writing import save_sessions

__all__ = [
    "Activity",
    "Batches",
    "LocalClock",
    "Record",
    "SessionGraph",
    "SessionStats",
    "Sessions",
    "ThinkTimeModel",
    "UserSessions",
    "find_batches",
    "find_sessions",
    "fit_think_times",
    "load_sessions",
    "save_sessions",
    "session_stats",
    "sessions_on",
    "weekly_activity",
]
