"""Conformance cases of EASY backfilling.

The first waiting job has a reservation: its *shadow* is the first instant at which it fits if
running jobs end at start + walltime; *extra* is what is then free, all releases dated no later
than the shadow counted, less its need. A later job passes if it fits now and either
now + walltime <= shadow, or its size <= extra (then extra shrinks by it). Both are computed again
at every call. Rows are (id, submit, hosts, runtime, walltime if it is not the runtime).
"""

from __future__ import annotations

from noctule.testing.case import Case, rows

PROTECTION = (
    Case(
        name="a short job passes",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 3, 100), ("B", 1, 4, 50), ("C", 2, 1, 50), ("D", 2, 4, 10)),
        expected={"A": 0, "C": 2, "B": 100, "D": 150},
        trap="no backfilling",
        trapped={"A": 0, "B": 100, "C": 150, "D": 200},
        arithmetic="B waits for A, so shadow = 100; C ends at 2 + 50 = 52 <= 100",
    ),
    Case(
        name="the first job is protected",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 3, 100), ("B", 1, 4, 50), ("C", 2, 1, 200), ("D", 2, 4, 10)),
        expected={"A": 0, "B": 100, "C": 150, "D": 350},
        trap="no protection of the first job",
        trapped={"A": 0, "C": 2, "B": 202, "D": 252},
        arithmetic="shadow = 100, extra = 4 - 4 = 0; C would end at 202 and needs 1 > 0, so it "
        "waits for B, 100 + 50 = 150; then D needs all 4 and waits for 150 + 200",
    ),
    Case(
        name="one job behind the first is enough",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 3, 100), ("B", 1, 4, 50), ("C", 2, 1, 50)),
        expected={"A": 0, "C": 2, "B": 100},
        trap="backfilling only when more than two jobs wait",
        trapped={"A": 0, "B": 100, "C": 150},
        arithmetic="only B and C wait; shadow = 100 and C ends at 2 + 50 = 52 <= 100",
    ),
    Case(
        name="a job may end at the shadow",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 3, 100), ("B", 1, 4, 50), ("C", 2, 1, 98)),
        expected={"A": 0, "C": 2, "B": 100},
        trap="a backfilled job must end before the shadow, not at it",
        trapped={"A": 0, "B": 100, "C": 150},
        arithmetic="shadow = 100 and C ends at 2 + 98 = 100 <= 100",
    ),
    Case(
        name="all waiting jobs are tried",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 3, 100), ("B", 1, 4, 50), ("C", 2, 1, 200), ("D", 2, 1, 50)),
        expected={"A": 0, "D": 2, "B": 100, "C": 150},
        trap="only the job behind the first is tried",
        trapped={"A": 0, "B": 100, "C": 150, "D": 150},
        arithmetic="shadow = 100, extra = 0: C (until 202) may not pass, D (until 52) may",
    ),
    Case(
        name="candidates keep their order",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 2, 100), ("B", 1, 4, 50), ("C", 2, 2, 90), ("D", 2, 1, 50)),
        expected={"A": 0, "C": 2, "B": 100, "D": 150},
        trap="the shortest or smallest candidate is tried first",
        trapped={"A": 0, "D": 2, "B": 100, "C": 150},
        arithmetic="2 hosts are free at 2 and shadow = 100: C is tried first, takes both until "
        "92; then D would end at 92 + 50 = 142 > 100 with extra = 0, so it waits for 150",
    ),
    Case(
        name="only the first job is protected",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 2, 100), ("B", 1, 3, 50), ("C", 2, 4, 50), ("D", 3, 1, 300)),
        expected={"A": 0, "D": 3, "B": 100, "C": 303},
        trap="every waiting job is protected, which is conservative backfilling",
        trapped={"A": 0, "B": 100, "C": 150, "D": 200},
        arithmetic="shadow of B = 100, extra = 4 - 3 = 1: D (1 host) passes although C, second in "
        "the queue, then waits for 3 + 300",
    ),
)

EXTRA = (
    Case(
        name="a long job passes on extra hosts",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 2, 100), ("B", 1, 3, 50), ("C", 2, 1, 500)),
        expected={"A": 0, "C": 2, "B": 100},
        trap="no rule for extra hosts",
        trapped={"A": 0, "B": 100, "C": 100},
        arithmetic="at shadow = 100 all 4 hosts are free and B needs 3: extra = 1; C needs 1",
    ),
    Case(
        name="extra shrinks within a pass",
        policy="easy",
        hosts=5,
        jobs=rows(("A", 0, 3, 100), ("B", 1, 4, 50), ("C", 2, 1, 500), ("D", 2, 1, 500)),
        expected={"A": 0, "C": 2, "B": 100, "D": 150},
        trap="extra is not reduced by the jobs that use it",
        trapped={"A": 0, "C": 2, "D": 2, "B": 502},
        arithmetic="extra = 5 - 4 = 1: C uses it, nothing is left for D, which waits for B to end "
        "at 150",
    ),
    Case(
        name="a job that ends in time leaves extra alone",
        policy="easy",
        hosts=5,
        jobs=rows(("A", 0, 3, 100), ("B", 1, 4, 50), ("C", 2, 1, 50), ("D", 2, 1, 500)),
        expected={"A": 0, "C": 2, "D": 2, "B": 100},
        trap="extra is reduced by every backfilled job",
        trapped={"A": 0, "C": 2, "D": 52, "B": 100},
        arithmetic="shadow = 100, extra = 5 - 4 = 1: C ends at 52 <= 100 and gives its host back, "
        "so extra is still 1 for D",
    ),
    Case(
        name="releases tied with the shadow count",
        policy="easy",
        hosts=5,
        jobs=rows(("A", 0, 2, 100), ("B", 40, 2, 60), ("C", 41, 3, 50), ("D", 42, 1, 500)),
        expected={"A": 0, "B": 40, "D": 42, "C": 100},
        trap="releases tied with the shadow are not counted",
        trapped={"A": 0, "B": 40, "C": 100, "D": 100},
        arithmetic="A ends at 0 + 100 and B at 40 + 60: either gives C its 3 hosts at shadow = "
        "100, both leave 5 - 3 = 2 extra; D needs 1",
    ),
    Case(
        name="extra hosts have no names",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 2, 10), ("B", 0, 2, 100), ("H", 1, 3, 50), ("C", 2, 1, 500)),
        expected={"A": 0, "B": 0, "C": 10, "H": 100},
        trap="the reservation of the first job is for certain hosts",
        trapped={"A": 0, "B": 0, "H": 100, "C": 100},
        arithmetic="A ends at 10 and leaves hosts 0 and 1; at shadow = 100 all 4 are free and H "
        "needs any 3, extra = 1, so C passes; with hosts 0 to 2 set aside for H it could not",
    ),
    Case(
        name="extra used up by a job that has ended is there again",
        policy="easy",
        hosts=5,
        jobs=rows(("A", 0, 3, 100), ("B", 1, 4, 50), ("C", 2, 1, 10, 500), ("D", 20, 1, 500)),
        expected={"A": 0, "C": 2, "D": 20, "B": 100},
        trap="extra is carried over from one event to the next",
        trapped={"A": 0, "C": 2, "B": 100, "D": 100},
        arithmetic="C uses the extra host at 2 and ends early, at 12; at 20 extra is again "
        "5 - 4 = 1 and D passes",
    ),
    Case(
        name="extra can be less than it was",
        policy="easy",
        hosts=6,
        jobs=rows(
            ("P", 0, 1, 40),
            ("Q", 0, 2, 10, 100),
            ("S", 0, 1, 100),
            ("H", 1, 5, 50),
            ("C", 11, 1, 500),
        ),
        expected={"P": 0, "Q": 0, "S": 0, "H": 40, "C": 90},
        trap="extra is carried over from one event to the next",
        trapped={"P": 0, "Q": 0, "S": 0, "C": 11, "H": 100},
        arithmetic="at 1, H (5 hosts) has shadow 100 (2 free + 1 at 40 + 3 at 100) and extra 1; "
        "Q ends early at 10, so shadow = 40 (4 + 1) and extra = 0: C waits for H to end at 90",
    ),
)

ESTIMATES = (
    Case(
        name="a candidate is judged by its walltime",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 3, 100), ("B", 1, 4, 50), ("C", 2, 1, 50, 200)),
        expected={"A": 0, "B": 100, "C": 150},
        trap="true runtimes used as estimates",
        trapped={"A": 0, "C": 2, "B": 100},
        arithmetic="C would end at 52, but it asks for 200 s: 2 + 200 > 100, extra = 0",
    ),
    Case(
        name="the shadow is made of walltimes",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 3, 50, 100), ("B", 1, 4, 50), ("C", 2, 1, 80)),
        expected={"A": 0, "C": 2, "B": 82},
        trap="true runtimes used as estimates",
        trapped={"A": 0, "B": 50, "C": 100},
        arithmetic="A asks for 100 s, so shadow = 100 and C (until 82) passes; nobody can know "
        "that A will end at 50, and B waits for C, 82",
    ),
    Case(
        name="running jobs are sorted by their ends",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 2, 100), ("B", 50, 1, 70), ("C", 51, 3, 10), ("D", 52, 1, 500)),
        expected={"A": 0, "B": 50, "C": 100, "D": 110},
        trap="running jobs sorted by time limit instead of end",
        trapped={"A": 0, "B": 50, "D": 52, "C": 120},
        arithmetic="A ends at 100, B (limit 70) at 120: C has 1 + 2 = 3 hosts at shadow = 100 and "
        "extra = 0; sorted by limit, B comes first and extra seems to be 1",
    ),
    Case(
        name="the shadow is the first end that is enough",
        policy="easy",
        hosts=5,
        jobs=rows(("A", 0, 2, 100), ("B", 50, 2, 70), ("H", 51, 3, 10), ("C", 52, 1, 60)),
        expected={"A": 0, "B": 50, "H": 100, "C": 110},
        trap="running jobs sorted by time limit instead of end",
        trapped={"A": 0, "B": 50, "C": 52, "H": 112},
        arithmetic="A ends at 100, B (limit 70) at 120: shadow = 100, extra = 0, and C would end "
        "at 52 + 60 = 112; sorted by limit, B comes first and the shadow seems to be 120",
    ),
)

EVENTS = (
    Case(
        name="the reservation follows an early end",
        policy="easy",
        hosts=4,
        jobs=rows(("P", 0, 2, 10, 100), ("Q", 0, 1, 60), ("H", 1, 4, 50), ("C", 11, 1, 60)),
        expected={"P": 0, "Q": 0, "H": 60, "C": 110},
        trap="a reservation fixed once and never recomputed",
        trapped={"P": 0, "Q": 0, "C": 11, "H": 71},
        arithmetic="at 1, shadow of H = 100 (P's walltime); P ends at 10, so shadow = 60: C would "
        "end at 11 + 60 = 71 > 60 and waits for H to end at 110",
    ),
    Case(
        name="a reservation is no appointment",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 3, 50, 100), ("B", 1, 4, 50)),
        expected={"A": 0, "B": 50},
        trap="the first job waits for the date it was promised",
        trapped={"A": 0, "B": 100},
        arithmetic="B was promised 100, A ends at 50, and B fits",
    ),
    Case(
        name="an end lets jobs pass too",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 2, 100), ("B", 0, 2, 20), ("H", 1, 4, 50), ("C", 2, 1, 50)),
        expected={"A": 0, "B": 0, "C": 20, "H": 100},
        trap="backfilling only when a job is submitted",
        trapped={"A": 0, "B": 0, "H": 100, "C": 150},
        arithmetic="nothing is free at 2; B ends at 20, shadow = 100, C ends at 20 + 50 = 70",
    ),
    Case(
        name="backfilling follows a start at once",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 4, 10), ("B", 1, 3, 100), ("C", 2, 4, 50), ("D", 3, 1, 50)),
        expected={"A": 0, "B": 10, "D": 10, "C": 110},
        trap="no backfilling at an instant when the first job starts",
        trapped={"A": 0, "B": 10, "C": 110, "D": 160},
        arithmetic="at 10 B starts, C is first and has shadow 110; D ends at 10 + 50 = 60",
    ),
    Case(
        name="ends come before submissions",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 3, 10, 100), ("B", 1, 4, 50), ("C", 10, 1, 50)),
        expected={"A": 0, "B": 10, "C": 60},
        trap="a submission is handled before an end of the same instant",
        trapped={"A": 0, "C": 10, "B": 60},
        arithmetic="at 10 A ends and B starts on all 4 hosts; C, submitted at 10, waits for 60",
    ),
    Case(
        name="ends of one instant are one event",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 2, 10, 100), ("B", 0, 2, 10, 100), ("H", 1, 4, 50), ("C", 2, 1, 50)),
        expected={"A": 0, "B": 0, "H": 10, "C": 60},
        trap="simultaneous ends are seen one by one",
        trapped={"A": 0, "B": 0, "C": 10, "H": 60},
        arithmetic="A and B both end at 10 and H starts; after one of the two ends alone, shadow "
        "would be 100 and C (until 60) would pass",
    ),
    Case(
        name="a job that can never fit is refused",
        policy="easy",
        hosts=4,
        jobs=rows(("A", 0, 3, 100), ("X", 1, 5, 10), ("B", 2, 4, 50), ("C", 3, 1, 200)),
        expected={"A": 0, "B": 100, "C": 150},
        trap="a job larger than the platform blocks the queue",
        trapped={"A": 0},
        arithmetic="X needs 5 of 4 hosts and is refused; B is first, shadow = 100, extra = 0, and "
        "C (until 203) waits for 150",
    ),
)

EASY = PROTECTION + EXTRA + ESTIMATES + EVENTS
