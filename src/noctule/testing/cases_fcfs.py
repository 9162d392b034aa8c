"""Conformance cases of policies without reservations, and of orders of the queue.

FCFS starts jobs strictly in order of arrival, each as soon as its hosts are free. The filler
starts, in order of arrival, whatever fits. Times are seconds; rows are (id, submit, hosts,
runtime, walltime if it is not the runtime).
"""

from __future__ import annotations

from noctule.testing.case import Case, rows

FCFS = (
    Case(
        name="nobody overtakes",
        policy="fcfs",
        hosts=4,
        jobs=rows(("A", 0, 3, 100), ("B", 1, 4, 50), ("C", 2, 1, 10)),
        expected={"A": 0, "B": 100, "C": 150},
        trap="a job that fits overtakes the first one",
        trapped={"A": 0, "C": 2, "B": 100},
        arithmetic="B needs 4 hosts and has them when A ends, at 100; C fits on the free host at 2 "
        "but is behind B, and B leaves no host before 100 + 50 = 150",
    ),
    Case(
        name="several starts at one instant",
        policy="fcfs",
        hosts=4,
        jobs=rows(("A", 0, 2, 10), ("B", 0, 2, 10), ("C", 0, 2, 10), ("D", 0, 2, 10)),
        expected={"A": 0, "B": 0, "C": 10, "D": 10},
        trap="one start an event",
        trapped={"A": 0, "B": 10, "C": 20, "D": 30},
        arithmetic="2 + 2 hosts start at 0, all end at 10, and 2 + 2 hosts start again",
    ),
    Case(
        name="the last host counts",
        policy="fcfs",
        hosts=4,
        jobs=rows(("A", 0, 3, 10), ("B", 0, 1, 10)),
        expected={"A": 0, "B": 0},
        trap="a job must need fewer hosts than are free",
        trapped={"A": 0, "B": 10},
        arithmetic="4 - 3 = 1 host is free at 0, and B needs 1",
    ),
    Case(
        name="equal dates keep the order of the file",
        policy="fcfs",
        hosts=4,
        jobs=rows(("C", 0, 3, 10), ("A", 0, 2, 20), ("B", 0, 1, 5)),
        expected={"C": 0, "A": 10, "B": 10},
        trap="jobs submitted together are sorted by their ids",
        trapped={"A": 0, "B": 0, "C": 20},
        arithmetic="C takes 3 of 4 hosts; A needs 2, so it waits for 10, and B waits behind it",
    ),
    Case(
        name="the order is that of dates",
        policy="fcfs",
        hosts=4,
        jobs=rows(("A", 10, 4, 5), ("B", 0, 4, 7)),
        expected={"B": 0, "A": 10},
        trap="the order of the file is taken for that of arrivals",
        trapped={"A": 10, "B": 15},
        arithmetic="B is submitted at 0 and ends at 7; A is submitted at 10, when all is free",
    ),
    Case(
        name="hosts are free when a job ends",
        policy="fcfs",
        hosts=4,
        jobs=rows(("A", 0, 4, 10, 100), ("B", 1, 4, 5)),
        expected={"A": 0, "B": 10},
        trap="hosts are held until the walltime",
        trapped={"A": 0, "B": 100},
        arithmetic="A asked for 100 s but ends at 10; B starts at 10",
    ),
    Case(
        name="a job that can never fit is refused",
        policy="fcfs",
        hosts=4,
        jobs=rows(("A", 0, 5, 10), ("B", 1, 4, 5)),
        expected={"B": 1},
        trap="a job larger than the platform blocks the queue",
        trapped={},
        arithmetic="A needs 5 of 4 hosts: it is refused, and B starts when it is submitted",
    ),
)

FILLER = (
    Case(
        name="whatever fits starts",
        policy="filler",
        hosts=4,
        jobs=rows(("A", 0, 3, 100), ("B", 1, 4, 50), ("C", 2, 1, 200)),
        expected={"A": 0, "C": 2, "B": 202},
        trap="the first job is protected",
        trapped={"A": 0, "B": 100, "C": 150},
        arithmetic="C fits on the free host at 2 and holds it until 202, so B, which needs all 4, "
        "waits for 202",
    ),
    Case(
        name="the search goes on behind a job that does not fit",
        policy="filler",
        hosts=4,
        jobs=rows(("A", 0, 4, 10), ("B", 1, 3, 10), ("C", 2, 2, 10), ("D", 3, 1, 10)),
        expected={"A": 0, "B": 10, "D": 10, "C": 20},
        trap="the search stops at the first job that does not fit",
        trapped={"A": 0, "B": 10, "C": 20, "D": 20},
        arithmetic="at 10, B takes 3 of 4 hosts, C needs 2 and does not fit, D needs 1 and does",
    ),
    Case(
        name="who came first is asked first",
        policy="filler",
        hosts=4,
        jobs=rows(("A", 0, 4, 10), ("B", 1, 2, 10), ("C", 2, 3, 10)),
        expected={"A": 0, "B": 10, "C": 20},
        trap="the largest job that fits is taken first",
        trapped={"A": 0, "C": 10, "B": 20},
        arithmetic="at 10, B comes first and takes 2 of 4 hosts; C needs 3 and waits for 20",
    ),
)

ORDERS = (
    Case(
        name="shortest first",
        policy="fcfs(order=sjf)",
        hosts=4,
        jobs=rows(("A", 0, 4, 100), ("B", 1, 4, 50), ("C", 2, 4, 10)),
        expected={"A": 0, "C": 100, "B": 110},
        trap="the order is ignored",
        trapped={"A": 0, "B": 100, "C": 150},
        arithmetic="at 100 both wait; C asks for 10 s and B for 50",
    ),
    Case(
        name="shortest by request",
        policy="fcfs(order=sjf)",
        hosts=4,
        jobs=rows(("A", 0, 4, 100), ("B", 1, 4, 50, 60), ("C", 2, 4, 10, 90)),
        expected={"A": 0, "B": 100, "C": 150},
        trap="the queue is sorted by true runtimes",
        trapped={"A": 0, "C": 100, "B": 110},
        arithmetic="B asks for 60 s and C for 90, so B is first although C would end sooner",
    ),
    Case(
        name="the shortest job is the protected one",
        policy="easy(order=sjf)",
        hosts=4,
        jobs=rows(("A", 0, 3, 100), ("B", 1, 2, 90), ("C", 2, 4, 20), ("D", 3, 1, 97)),
        expected={"A": 0, "D": 3, "C": 100, "B": 120},
        trap="the order is ignored",
        trapped={"A": 0, "D": 3, "B": 100, "C": 190},
        arithmetic="C is the shortest, so it is first: shadow 100; D ends at 3 + 97 = 100 and "
        "passes; at 100 C starts, and B, the longer one, waits for 120",
    ),
)
