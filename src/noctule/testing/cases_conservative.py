"""Conformance cases of conservative backfilling, and of planning afresh.

*Conservative*: every waiting job holds a reservation, the earliest that fits the plan when it
is submitted. When a job ends early the plan is compressed: one pass in queue order, each job
moving earlier if it can and never later. *Replanning* drops all reservations at every call and
plans again in queue order: a job can lose the date it was promised. Rows are (id, submit, hosts,
runtime, walltime if it is not the runtime).
"""

from __future__ import annotations

from noctule.testing.case import Case, rows

PLAN = (
    Case(
        name="every waiting job is protected",
        policy="conservative",
        hosts=4,
        jobs=rows(("A", 0, 2, 100), ("B", 1, 3, 50), ("C", 2, 4, 50), ("D", 3, 1, 300)),
        expected={"A": 0, "B": 100, "C": 150, "D": 200},
        trap="only the first job is protected, which is EASY",
        trapped={"A": 0, "D": 3, "B": 100, "C": 303},
        arithmetic="B is promised 100 and C, which needs all, 150; D needs 300 s without a break "
        "and finds them after C, at 200",
    ),
    Case(
        name="a short job fills the hole before the first reservation",
        policy="conservative",
        hosts=4,
        jobs=rows(("A", 0, 3, 100), ("B", 1, 4, 50), ("C", 2, 1, 98)),
        expected={"A": 0, "C": 2, "B": 100},
        trap="no backfilling",
        trapped={"A": 0, "B": 100, "C": 150},
        arithmetic="1 host is free until B's reservation at 100, and 2 + 98 = 100",
    ),
    Case(
        name="a job fills a hole exactly",
        policy="conservative",
        hosts=4,
        jobs=rows(("A", 0, 4, 10), ("B", 1, 3, 50), ("C", 2, 4, 50), ("D", 3, 1, 50)),
        expected={"A": 0, "B": 10, "D": 10, "C": 60},
        trap="a hole must be longer than the job",
        trapped={"A": 0, "B": 10, "C": 60, "D": 110},
        arithmetic="B is promised 10 and C 60, so 1 host is free from 10 to 60: D needs it for 50",
    ),
    Case(
        name="a hole must last",
        policy="conservative",
        hosts=4,
        jobs=rows(("A", 0, 4, 10), ("B", 1, 3, 50), ("C", 2, 4, 50), ("D", 3, 1, 51)),
        expected={"A": 0, "B": 10, "C": 60, "D": 110},
        trap="only the beginning of a hole is looked at",
        trapped={"A": 0, "B": 10, "D": 10, "C": 61},
        arithmetic="1 host is free from 10 to 60 and D needs it for 51 s, so it comes after C",
    ),
    Case(
        name="a candidate is planned by its walltime",
        policy="conservative",
        hosts=4,
        jobs=rows(("A", 0, 3, 100), ("B", 1, 4, 50), ("C", 2, 1, 50, 200)),
        expected={"A": 0, "B": 100, "C": 150},
        trap="true runtimes used as estimates",
        trapped={"A": 0, "C": 2, "B": 100},
        arithmetic="C would end at 52, but it asks for 200 s, and the hole ends at 100",
    ),
    Case(
        name="the plan is made of walltimes",
        policy="conservative",
        hosts=4,
        jobs=rows(("A", 0, 3, 50, 100), ("B", 1, 4, 50), ("C", 2, 1, 80)),
        expected={"A": 0, "C": 2, "B": 82},
        trap="true runtimes used as estimates",
        trapped={"A": 0, "B": 50, "C": 100},
        arithmetic="A asks for 100 s, so B is promised 100 and C fits before (until 82); A ends at "
        "50 and B moves to 82, when C ends",
    ),
)

COMPRESSION = (
    Case(
        name="an early end moves the whole plan",
        policy="conservative",
        hosts=4,
        jobs=rows(("A", 0, 4, 50, 100), ("B", 1, 2, 50), ("C", 2, 2, 50), ("D", 3, 4, 10)),
        expected={"A": 0, "B": 50, "C": 50, "D": 100},
        trap="reservations fixed once and never moved",
        trapped={"A": 0, "B": 100, "C": 100, "D": 150},
        arithmetic="B and C are promised 100 and D 150; A ends 50 s early and all move by 50",
    ),
    Case(
        name="compression is in queue order",
        policy="conservative",
        hosts=4,
        jobs=rows(("A", 0, 4, 10, 100), ("B", 1, 3, 50), ("C", 2, 2, 50)),
        expected={"A": 0, "B": 10, "C": 60},
        trap="compression begins with the last job",
        trapped={"A": 0, "C": 10, "B": 60},
        arithmetic="B is promised 100 and C 150 (3 + 2 > 4); A ends at 10, B is asked first and "
        "moves to 10, C to 60",
    ),
    Case(
        name="compression reaches behind a job that stays",
        policy="conservative",
        hosts=4,
        jobs=rows(("A", 0, 2, 100), ("B", 1, 4, 50), ("C", 2, 2, 20, 98), ("D", 3, 2, 60)),
        expected={"A": 0, "C": 2, "D": 22, "B": 100},
        trap="compression stops at the first job that cannot move",
        trapped={"A": 0, "C": 2, "B": 100, "D": 150},
        arithmetic="B is promised 100, D 150; C ends at 22: B cannot move (A holds 2 until 100), D "
        "can, 22 + 60 <= 100",
    ),
    Case(
        name="the plan is compressed before a newcomer is placed",
        policy="conservative",
        hosts=4,
        jobs=rows(("A", 0, 4, 10, 100), ("B", 1, 3, 50), ("C", 10, 2, 50)),
        expected={"A": 0, "B": 10, "C": 60},
        trap="a newcomer is placed before the plan is compressed",
        trapped={"A": 0, "C": 10, "B": 60},
        arithmetic="at 10 A ends early and B moves from 100 to 10; C, submitted at 10, finds 1 "
        "host beside B and waits for 60",
    ),
    Case(
        name="one pass, and a start where nothing else happens",
        policy="conservative",
        hosts=4,
        jobs=rows(
            ("V", 0, 2, 60),
            ("Y", 0, 2, 50, 100),
            ("X", 1, 4, 50),
            ("Z", 2, 2, 40),
            ("W", 120, 1, 10),
        ),
        expected={"V": 0, "Y": 0, "Z": 50, "X": 100, "W": 150},
        trap="reservations are looked at only when something else happens",
        trapped={"V": 0, "Y": 0, "Z": 50, "X": 120, "W": 170},
        arithmetic="X is promised 100, Z the hole from 60 to 100; Y ends early at 50: X cannot "
        "move (Z has 2 hosts until 100), then Z moves to 50 and ends, on time, at 90; X keeps 100",
    ),
    Case(
        name="a pass is not repeated",
        policy="conservative",
        hosts=4,
        jobs=rows(("A", 0, 4, 10, 30), ("B", 0, 2, 50), ("C", 1, 4, 40), ("D", 2, 2, 50)),
        expected={"A": 0, "B": 10, "D": 10, "C": 80},
        trap="passes are repeated until nothing moves, or made when no job ended early",
        trapped={"A": 0, "B": 10, "D": 10, "C": 60},
        arithmetic="B and D are promised 30 to 80, and C 80; A ends at 10: B moves to 10, C cannot "
        "move (D has 2 hosts until 80), D moves to 10; B and D end on time at 60: no new pass",
    ),
    Case(
        name="the next early end moves who stayed",
        policy="conservative",
        hosts=4,
        jobs=rows(("V", 0, 2, 60), ("Y", 0, 2, 50, 100), ("X", 1, 4, 50), ("Z", 2, 2, 30, 40)),
        expected={"V": 0, "Y": 0, "Z": 50, "X": 80},
        trap="the plan is compressed once only",
        trapped={"V": 0, "Y": 0, "Z": 50, "X": 100},
        arithmetic="as before, X stays at 100 when Y ends at 50; Z, started at 50, ends at 80, "
        "before its 90: X moves to 80",
    ),
    Case(
        name="a promise is kept",
        policy="conservative",
        hosts=4,
        jobs=rows(("V", 0, 2, 60), ("Y", 0, 2, 50, 100), ("X", 1, 4, 50), ("Z", 55, 2, 40)),
        expected={"V": 0, "Y": 0, "X": 60, "Z": 110},
        trap="a newcomer may push back a reservation",
        trapped={"V": 0, "Y": 0, "Z": 55, "X": 95},
        arithmetic="X is promised 100 and, as Y ends at 50, moves to 60; Z comes at 55, finds 2 "
        "hosts for 5 s only, and waits for 60 + 50",
    ),
    Case(
        name="compression is not planning afresh",
        policy="conservative",
        hosts=4,
        jobs=rows(("A", 0, 1, 40, 100), ("B", 0, 3, 80), ("C", 1, 4, 50), ("D", 2, 3, 10)),
        expected={"A": 0, "B": 0, "D": 80, "C": 90},
        trap="planning afresh instead of compressing",
        trapped={"A": 0, "B": 0, "C": 80, "D": 130},
        arithmetic="C is promised 100 and D the hole from 80 to 90; A ends at 40: C moves to 90, "
        "behind D, which keeps 80; planned afresh, C would take 80 and D lose its promise",
    ),
)

CONSERVATIVE = PLAN + COMPRESSION

REPLANNING = (
    Case(
        name="every waiting job is protected",
        policy="replanning",
        hosts=4,
        jobs=rows(("A", 0, 2, 100), ("B", 1, 3, 50), ("C", 2, 4, 50), ("D", 3, 1, 300)),
        expected={"A": 0, "B": 100, "C": 150, "D": 200},
        trap="only the first job is protected, which is EASY",
        trapped={"A": 0, "D": 3, "B": 100, "C": 303},
        arithmetic="in queue order: B at 100, C (all hosts) at 150, D (300 s) after it, at 200",
    ),
    Case(
        name="a promise can be broken",
        policy="replanning",
        hosts=4,
        jobs=rows(("A", 0, 1, 40, 100), ("B", 0, 3, 80), ("C", 1, 4, 50), ("D", 2, 3, 10)),
        expected={"A": 0, "B": 0, "C": 80, "D": 130},
        trap="compressing instead of planning afresh",
        trapped={"A": 0, "B": 0, "D": 80, "C": 90},
        arithmetic="C is promised 100 and D 80; A ends at 40 and all is planned again: C at 80, "
        "when B ends, then D at 80 + 50",
    ),
    Case(
        name="no hole is left in front of the first job",
        policy="replanning",
        hosts=4,
        jobs=rows(("A", 0, 4, 10, 30), ("B", 0, 2, 50), ("C", 1, 4, 40), ("D", 2, 2, 50)),
        expected={"A": 0, "B": 10, "D": 10, "C": 60},
        trap="compressing instead of planning afresh",
        trapped={"A": 0, "B": 10, "D": 10, "C": 80},
        arithmetic="A ends at 10 and all is planned again: B at 10, C (all hosts) at 60, and D "
        "fits beside B from 10 to 60",
    ),
    Case(
        name="who comes first is planned first",
        policy="replanning",
        hosts=4,
        jobs=rows(("V", 0, 2, 60), ("Y", 0, 2, 50, 100), ("X", 1, 4, 50), ("Z", 2, 2, 40)),
        expected={"V": 0, "Y": 0, "X": 60, "Z": 110},
        trap="compressing instead of planning afresh",
        trapped={"V": 0, "Y": 0, "Z": 50, "X": 100},
        arithmetic="X is promised 100 and Z 60; Y ends at 50 and all is planned again: X at 60, "
        "when V ends, and Z finds 2 hosts for 10 s only before it, so 60 + 50",
    ),
    Case(
        name="the plan is made of walltimes",
        policy="replanning",
        hosts=4,
        jobs=rows(("A", 0, 3, 50, 100), ("B", 1, 4, 50), ("C", 2, 1, 80)),
        expected={"A": 0, "C": 2, "B": 82},
        trap="true runtimes used as estimates",
        trapped={"A": 0, "B": 50, "C": 100},
        arithmetic="A asks for 100 s, so C (until 82) fits before B; A ends at 50, B at 82",
    ),
)
