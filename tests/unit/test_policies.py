"""Where policies come from, orders and allocations."""

from __future__ import annotations

import math
import sys

import pytest
from small_runs import hosts_of, job, run, starts

from noctule.errors import InputError
from noctule.policies import Easy, Fcfs, known_policies, make_policy
from noctule.policies.orders import NAMED_ORDERS, Order

TEN_LINES = """
from noctule.messages import StartJob

class Mine:
    def __init__(self, most: int = 9):
        self.most = most

    def decide(self, view, events):
        n_free = view.n_free
        for job in view.waiting:
            if job.n_hosts <= min(n_free, self.most):
                n_free -= job.n_hosts
                yield StartJob(job)
"""


@pytest.fixture
def policy_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(TEN_LINES)
    return path


def test_a_policy_of_ten_lines_works_from_a_file(policy_file):
    assert starts(run(f"{policy_file}:Mine", [job("A"), job("B", submit=2)])) == {"A": 0, "B": 2}


def test_a_policy_takes_parameters_from_the_text(policy_file):
    assert make_policy(f"{policy_file}:Mine(most=3)").most == 3


def test_a_policy_can_be_a_class_an_instance_or_a_module():
    jobs = [job("A"), job("B", submit=2)]
    for policy in (Fcfs, Easy(order="sjf"), "noctule.policies.fcfs:Fcfs"):
        assert starts(run(policy, jobs)) == {"A": 0, "B": 2}


def test_a_policy_can_come_from_the_entry_point_of_another_package(tmp_path, monkeypatch):
    info = tmp_path / "their_policies-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-policies\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[noctule.policies]\ntheirs = their_policies:Theirs\n")
    (tmp_path / "their_policies.py").write_text(TEN_LINES.replace("Mine", "Theirs"))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert known_policies()["theirs"] == "from their_policies:Theirs"
    assert starts(run("theirs(most=2)", [job("A")])) == {"A": 0}
    sys.modules.pop("their_policies")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "eazy",
            "policy eazy: unknown; known policies: conservative, easy, energy_bf, energy_budget, "
            "fcfs, filler, idle_sleeper, inertial, powercap, proportional, reduce_powercap, "
            "replanning, sleeper (did you mean easy?)",
        ),
        (
            "easy(ordre=sjf)",
            "policy easy: unknown parameter ordre; known: order, allocation, t_idle",
        ),
        (
            "easy(allocation=spread)",
            "policy easy: allocation: got 'spread', "
            "expected first, best_effort_contiguous, contiguous, best_effort_local, local",
        ),
        (
            "easy(order=shortest)",
            "order: got 'shortest', expected fcfs, sjf, ljf, smallest, largest, smallest_area, "
            "wfp3, or an expression of submit_time, waiting_time, walltime, n_hosts",
        ),
        (":X", "policy: got ':X', expected FILE.py:CLASS or MODULE:CLASS"),
        ("nowhere.py:Mine", "policy nowhere.py: no such file"),
        (
            "noctule.policies:Nobody",
            "policy noctule.policies:Nobody: noctule.policies has no Nobody",
        ),
        ("no.such.module:Mine", "policy no.such.module: No module named 'no'"),
        ("math:pi", "policy math:pi: no method decide(view, events)"),
        ("os:system(command=exit)", "policy os:system: no method decide(view, events)"),
        (
            "noctule.policies:Easy(size=3)",
            "policy noctule.policies:Easy: got an unexpected keyword argument 'size'",
        ),
    ],
)
def test_a_policy_that_cannot_be_made_is_refused(spec, message):
    with pytest.raises(InputError) as error:
        make_policy(spec)
    assert str(error.value) == message


def test_a_broken_policy_file_is_refused(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("def decide(:\n")
    with pytest.raises(InputError, match=r"broken\.py: SyntaxError: "):
        make_policy(f"{path}:Mine")


def test_a_policy_file_that_has_changed_is_read_again(tmp_path):
    path = tmp_path / "sweep.py"
    for most in (1, 2, 3):  # within one second, and of one size
        path.write_text(TEN_LINES.replace("most: int = 9", f"most: int = {most}"))
        assert make_policy(f"{path}:Mine").most == most


def test_a_policy_that_exits_is_refused(tmp_path):
    path = tmp_path / "leaves.py"
    path.write_text("raise SystemExit(0)\n")
    with pytest.raises(InputError, match=r"leaves\.py: SystemExit: 0"):
        make_policy(f"{path}:Mine")


def test_files_of_one_name_are_two_policies(tmp_path):
    for folder, most in (("x", 1), ("y", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(TEN_LINES.replace("= 9", f"= {most}"))
    made = [make_policy(f"{tmp_path / folder}/mine.py:Mine") for folder in ("x", "y")]
    assert [type(policy)().most for policy in made] == [1, 2]


def test_an_object_without_decide_is_refused():
    with pytest.raises(InputError, match=r"policy object: no method decide\(view, events\)"):
        make_policy(object())


@pytest.mark.parametrize(
    ("order", "first"),
    [
        ("fcfs", "long and narrow"),
        ("sjf", "short and wide"),
        ("ljf", "long and narrow"),
        ("smallest", "long and narrow"),
        ("largest", "short and wide"),
        ("smallest_area", "middling"),
        ("'abs(n_hosts - 2)'", "middling"),
    ],
)
def test_orders_by_name_and_by_expression(order, first):
    # all wait behind X until 10; areas are 1 x 30, 2 x 12 and 4 x 8
    jobs = [
        job("X", hosts=4, runtime=10, walltime=10),
        job("long and narrow", hosts=1, runtime=30, walltime=30, submit=1),
        job("middling", hosts=2, runtime=12, walltime=12, submit=2),
        job("short and wide", hosts=4, runtime=8, walltime=8, submit=3),
    ]
    schedule = run(f"fcfs(order={order})", jobs)
    behind = {name: start for name, start in starts(schedule).items() if name != "X"}
    assert min(behind, key=lambda name: (behind[name], hosts_of(schedule)[name])) == first


def test_wfp3_lets_waiting_wear_off_the_length_of_a_job():
    # at 100, (wait / walltime)^3 x hosts: old (99/50)^3 = 7.8, young (10/2)^3 = 125
    jobs = [
        job("X", hosts=1, runtime=100, walltime=100),
        job("old", runtime=50, walltime=50, submit=1),
        job("young", runtime=2, walltime=2, submit=90),
    ]
    assert starts(run("fcfs(order=wfp3)", jobs, hosts=1)) == {"X": 0, "young": 100, "old": 102}


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os')",
        "walltime.real",
        "lambda: 1",
        "walltime if n_hosts else 1",
        "'text'",
        "True",
        "min(walltime)",
        "open(walltime, 1)",
        "1 < 2",
        "walltime // 2",
        "(" * 300 + "1" + ")" * 300,
        "1" + "+1" * 2000,
    ],
)
def test_an_expression_is_arithmetic_and_nothing_else(expression):
    with pytest.raises(InputError, match="order: got "):
        Order.compile(expression)


@pytest.mark.parametrize(
    ("expression", "key"),
    [
        ("n_hosts / (submit_time - 2)", math.inf),  # 4 / 0
        ("-n_hosts / (submit_time - 2)", -math.inf),
        ("(submit_time - 2) / (submit_time - 2)", math.inf),  # 0 / 0: last
        ("sqrt(-n_hosts)", math.inf),
        ("log(submit_time - 2)", -math.inf),
        ("(-n_hosts) ** 0.5", math.inf),
        ("10 ** 400", math.inf),
        ("min(walltime, waiting_time) - 2 ** 3", -5),  # min(9, 3) - 8
        ("1e3 * n_hosts", 4000),
    ],
)
def test_keys_are_ieee_arithmetic(expression, key):
    # submitted at 2, looked at at 5, walltime 9, 4 hosts
    assert Order.compile(expression).key(5, 2, 9, 4) == key


def test_named_orders_are_expressions():
    assert all(Order.compile(name).program for name in NAMED_ORDERS if name != "fcfs")


# 0-3 free, A takes 1 on host 0, B 1 on host 1, C 2 on 2-3; A and C end at 5: free are 0, 2, 3.
FRAGMENTED = [
    job("A", runtime=5, walltime=5),
    job("B", runtime=50, walltime=50),
    job("C", hosts=2, runtime=5, walltime=5),
    job("D", hosts=2, runtime=9, walltime=9, submit=6),
    job("E", hosts=3, runtime=9, walltime=9, submit=20),
]


def test_first_hosts_are_the_lowest_free_ones():
    assert hosts_of(run("fcfs", FRAGMENTED))["D"] == "0 2"


def test_best_effort_contiguous_takes_neighbours_where_there_are_some():
    schedule = run("fcfs(allocation=best_effort_contiguous)", FRAGMENTED)
    assert hosts_of(schedule)["D"] == "2-3"
    assert hosts_of(schedule)["E"] == "0 2-3"
    assert starts(schedule)["E"] == 20


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "replanning", "filler"])
def test_contiguous_waits_for_neighbours(policy):
    # E needs three in a row: only when B has left host 1, at 50
    schedule = run(f"{policy}(allocation=contiguous)", FRAGMENTED)
    assert hosts_of(schedule)["D"] == "2-3"
    assert starts(schedule)["E"] == 50
    assert hosts_of(schedule)["E"] == "0-2"


def test_contiguous_easy_keeps_a_long_job_off_the_run_reserved_for_the_first():
    # 6 hosts: A on 0-1 until 10, B on 2 until 100. C wants 3: 3-5 are free, it starts at 0.
    # D wants 3 in a row: 3-5 at 20. E, 1 host for 30 s, may use 0 or 1 but not 3-5.
    jobs = [
        job("A", hosts=2, runtime=10, walltime=10),
        job("B", hosts=1, runtime=100, walltime=100),
        job("C", hosts=2, runtime=20, walltime=20),
        job("D", hosts=3, runtime=5, walltime=5, submit=1),
        job("E", hosts=1, runtime=30, walltime=30, submit=2),
    ]
    schedule = run("easy(allocation=contiguous)", jobs, hosts=6)
    assert (starts(schedule)["D"], hosts_of(schedule)["D"]) == (20, "3-5")
    assert (starts(schedule)["E"], hosts_of(schedule)["E"]) == (10, "0")
