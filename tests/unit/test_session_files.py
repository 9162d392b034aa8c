"""Session files: what is written, what is read, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from session_logs import FIGURE_1, a_log, edges_of, job_sets, sessions_of
from trace_files import refusal

from noctule.sessions import find_batches, find_sessions, load_sessions, save_sessions
from noctule.workload import Delay, Job, Request, Workload

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder, so that messages have short paths."""
    monkeypatch.chdir(tmp_path)


def a_session(number: int = 1, start: float = 0, jobs: int = 1, **fields: Any) -> dict[str, Any]:
    """A session of jobs named after it, whose first is submitted at its start."""
    return {
        "id": number,
        "first_submit_time": start,
        "preceding_sessions": [],
        "thinking_time_after_preceding_session": [],
        "jobs": [{"id": f"{number}-{i}", "subtime": 5 * i} for i in range(jobs)],
        **fields,
    }


def after(*others: int, think: float = 1) -> dict[str, Any]:
    return {
        "preceding_sessions": list(others),
        "thinking_time_after_preceding_session": [think] * len(others),
    }


def a_file(*sessions: dict[str, Any], name: str = "users/3.json", **fields: Any) -> Path:
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({**fields, "sessions": list(sessions)}))
    return path


# --- writing


def test_a_user_is_a_file_and_a_session_a_line():
    assert save_sessions(sessions_of(*FIGURE_1[:3], (500, 501, 2)), "users") == [
        "user-1.json",
        "user-2.json",
    ]
    assert Path("users/user-1.json").read_text().splitlines() == [
        '{"noctule_sessions":1,"user":1,"cut":"arrival","threshold":3600,"sessions":[',
        '{"id":1,"first_submit_time":0,"preceding_sessions":[],'
        '"thinking_time_after_preceding_session":[],"nb_jobs":2,'
        '"jobs":[{"id":1,"subtime":0,"finish_time":6000},'
        '{"id":2,"subtime":1800,"finish_time":9000}]},',
        '{"id":2,"first_submit_time":7200,"preceding_sessions":[],'
        '"thinking_time_after_preceding_session":[],"nb_jobs":1,'
        '"jobs":[{"id":3,"subtime":0,"finish_time":15600}]}',
        "]}",
    ]


def test_names_of_users_cannot_leave_the_folder():
    users = ["../../up", "a/b", "Zoë", ".."]
    jobs = [
        Job(i, float(i), Request(1), Delay(5), user=user, extra={"wait_time": 0})
        for i, user in enumerate(users)
    ]
    sessions = find_sessions(Workload.from_jobs(jobs), threshold=0)
    names = save_sessions(sessions, "out/users")
    assert sorted(path.name for path in Path("out/users").iterdir()) == sorted(names)
    assert [path.name for path in Path("out").iterdir()] == ["users"]
    assert set(load_sessions("out/users").record.users) == set(users)


def test_users_that_would_have_one_file_are_refused():
    jobs = [
        Job(i, float(i), Request(1), Delay(5), user=user, extra={"wait_time": 0})
        for i, user in enumerate(["3", 3])
    ]
    sessions = find_sessions(Workload.from_jobs(jobs), threshold=0)
    assert refusal(save_sessions, sessions, "users") == "users: users 3 and '3' have one file name"
    assert not Path("users").exists()


def test_nobodys_sessions_are_a_file_too():
    save_sessions(sessions_of((0, 1, 5), (2, 3, -1), (4, 5, -1)), "users")
    again = load_sessions("users")
    assert again.graph.user.tolist() == [0, -1, -1]
    assert json.loads(Path("users/nobody.json").read_text())["user"] is None


def test_the_same_sessions_give_the_same_bytes():
    save_sessions(sessions_of(*FIGURE_1), "one")
    save_sessions(load_sessions("one"), "two")
    assert Path("one/user-1.json").read_bytes() == Path("two/user-1.json").read_bytes()


def test_the_file_in_the_reference_is_what_is_written():
    page = (DOCS / "reference" / "sessions.md").read_text()
    Path("user-1.json").write_text(page.split("```json\n", 1)[1].split("```", 1)[0])
    sessions = load_sessions("user-1.json")
    assert edges_of(sessions) == {(2, 1): 40}
    save_sessions(sessions, "users")
    assert Path("users/user-1.json").read_bytes() == Path("user-1.json").read_bytes()


def test_a_folder_is_replaced_only_by_force_and_only_if_it_holds_sessions():
    sessions = sessions_of(*FIGURE_1)
    save_sessions(sessions, "users")
    assert refusal(save_sessions, sessions, "users") == "users: exists already; --force replaces it"
    save_sessions(sessions_of((0, 1, 8)), "users", force=True)
    assert [path.name for path in Path("users").iterdir()] == ["user-8.json"]
    Path("users/notes.txt").write_text("mine")
    assert refusal(save_sessions, sessions, "users", force=True) == (
        "users: not replaced: it holds notes.txt, expected nothing but what is replaced"
    )
    assert Path("users/user-8.json").exists()


def test_what_cannot_be_written_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch):
    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    text = refusal(save_sessions, sessions_of(*FIGURE_1), "users")
    assert text == "users: cannot be written: No space left on device"
    assert list(Path().iterdir()) == []


def test_a_file_in_the_way_is_refused():
    Path("users").write_text("")
    assert refusal(save_sessions, sessions_of(*FIGURE_1), "users") == (
        "users: exists and is not a folder, expected a folder to create"
    )
    assert refusal(save_sessions, sessions_of(*FIGURE_1), "users/in") == (
        "users/in: cannot be written: users is not a folder"
    ).replace("users is", f"{Path('users').absolute()} is")


# --- reading


def test_sessions_are_read_back_as_they_were():
    sessions = sessions_of(*FIGURE_1, (40, 50, 2), (300, 500, 2))
    save_sessions(sessions, "users")
    again = load_sessions("users", a_log(*FIGURE_1, (40, 50, 2), (300, 500, 2)))
    assert (again.cut, again.threshold) == ("arrival", 3600)
    for name in type(sessions.graph).__slots__:
        expected, found = getattr(sessions.graph, name), getattr(again.graph, name)
        assert np.array_equal(expected, found), name
    assert np.array_equal(sessions.record.finish_time, again.record.finish_time)


def test_a_file_of_others_needs_no_more_than_sessions():
    # neither users nor ends; and fields that are not ours
    extra = {"nb_res": 4, "profiles": {}, "description": "a workload"}
    path = a_file(a_session(7, 100, jobs=2), a_session(9, 300, **after(7)), **extra)
    sessions = load_sessions(path)
    assert sessions.record.users == (3,)
    assert job_sets(sessions) == [["7-0", "7-1"], ["9-0"]]
    assert sessions.record.submit_time.tolist() == [100, 105, 300]
    assert edges_of(sessions) == {(2, 1): 1 / 60}
    assert (sessions.cut, sessions.threshold) == (None, None)
    assert refusal(find_batches, sessions).startswith("users/3.json: no job tells")


def test_sessions_may_stand_in_any_order():
    a_file(a_session(2, 50, **after(5)), a_session(5, 10), a_session(1, 30, **after(5)))
    sessions = load_sessions("users")
    assert job_sets(sessions) == [["5-0"], ["1-0"], ["2-0"]]
    assert sessions.graph.dependency.tolist() == [0, 0]


def test_a_session_comes_after_what_it_depends_on_whatever_the_dates():
    a_file(a_session(1, 0, **after(2)), a_session(2, 100))
    sessions = load_sessions("users")
    assert job_sets(sessions) == [["2-0"], ["1-0"]]
    assert sessions.graph.depths().tolist() == [1, 2]


def test_users_are_told_by_the_file_or_by_its_name():
    a_file(a_session(1), name="users/3.json", user="ann")
    a_file(a_session(2), name="users/bob.json")
    assert load_sessions("users").record.users == ("ann", "bob")


def test_numbers_that_are_texts_are_the_ids_of_a_log():
    a_file(a_session(1, jobs=0) | {"jobs": [{"id": "1", "subtime": 0}]})
    assert load_sessions("users", a_log((0, 1))).graph.jobs.tolist() == [0]


def test_dates_that_do_not_add_up_exactly_are_read_back():
    # no double added to the first gives the second, but one gives its neighbour
    first, second = 0.5827702593820442, 1.811594843157309
    assert first + (second - first) > second
    jobs = [
        Job(i, date, Request(1), Delay(0), user=1, extra={"wait_time": 0})
        for i, date in enumerate((first, second))
    ]
    workload = Workload.from_jobs(jobs)
    save_sessions(find_sessions(workload, threshold=10), "users")
    again = load_sessions("users", workload)
    assert again.record.submit_time.tolist() == [first, second]
    assert again.record.finish_time.tolist() == [first, second]


# --- refusals

BAD = {
    "a_session_twice": (
        [a_session(1), a_session(1, 5)],
        "sessions[1].id: got 1, which is the id of sessions[0]",
    ),
    "a_circle": (
        [a_session(4), a_session(1, 5, **after(4, 3)), a_session(3, 9, **after(1))],
        "sessions[1].preceding_sessions: sessions wait for each other in a circle: 1 -> 3 -> 1",
    ),
    "itself": (
        [a_session(1, **after(1))],
        "sessions[0].preceding_sessions: sessions wait for each other in a circle: 1 -> 1",
    ),
    "an_unknown_session": (
        [a_session(1), a_session(2, **after(8))],
        "sessions[1].preceding_sessions: got 8, expected the id of a session of the file",
    ),
    "a_dependency_twice": (
        [a_session(1), a_session(2, **after(1, 1))],
        "sessions[1].preceding_sessions: got [1,1], expected each session once",
    ),
    "a_negative_think_time": (
        [a_session(1), a_session(2, **after(1, think=-3))],
        "sessions[1].thinking_time_after_preceding_session[0]: got -3, expected a number >= 0",
    ),
    "too_few_think_times": (
        [a_session(1), a_session(2, preceding_sessions=[1])],
        "sessions[1].thinking_time_after_preceding_session: got [], "
        "expected 1 values, as there are preceding_sessions",
    ),
    "no_job": ([a_session(1, jobs=0)], "sessions[0].jobs: got [], expected at least one job"),
    "another_number_of_jobs": (
        [a_session(1, nb_jobs=2)],
        "sessions[0].nb_jobs: got 2, expected 1, as there are jobs",
    ),
    "a_job_without_a_date": (
        [a_session(1) | {"jobs": [{"id": 1}]}],
        "sessions[0].jobs[0].subtime: missing, expected a number >= 0",
    ),
    "a_job_without_an_id": (
        [a_session(1) | {"jobs": [{"id": True, "subtime": 0}]}],
        "sessions[0].jobs[0].id: got true, expected a whole number or a text",
    ),
    "dates_that_are_not_relative": (
        [a_session(1, 100) | {"jobs": [{"id": 1, "subtime": 100}]}],
        'sessions[0].jobs: got [{"id":1,"subtime":100}], '
        "expected a first subtime of 0: they are seconds after first_submit_time",
    ),
    "a_finish_before_the_submission": (
        [a_session(1, 9) | {"jobs": [{"id": 1, "subtime": 0, "finish_time": 8}]}],
        "sessions[0].jobs[0].finish_time: got 8, expected a date that is not before the submission",
    ),
    "a_date_beyond_all_numbers": (
        [a_session(1, 1.7e308) | {"jobs": [{"id": 1, "subtime": 1.7e308}]}],
        "sessions[0].jobs[0].subtime: got 1.7e308, "
        "expected seconds that can be added to first_submit_time",
    ),
    "a_start_that_is_text": (
        [a_session(1, start="soon")],  # type: ignore[arg-type]
        "sessions[0].first_submit_time: got 'soon', expected a number >= 0",
    ),
    "an_id_that_is_text": (
        [a_session(1, id="x")],
        "sessions[0].id: got 'x', expected a whole number >= 0",
    ),
    "dependencies_that_are_text": (
        [a_session(1, preceding_sessions=["1"])],
        'sessions[0].preceding_sessions: got ["1"], expected an array of ids of sessions',
    ),
    "nothing": ([], "sessions: got [], expected at least one session"),
    "a_job_twice": (
        [a_session(1), a_session(2) | {"jobs": [{"id": "1-0", "subtime": 0}]}],
        "sessions[1]: job 1-0 is also in users/3.json: sessions[0]",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_makes_no_sense_is_refused_with_its_place(name):
    sessions, text = BAD[name]
    a_file(*sessions)
    assert refusal(load_sessions, "users") == f"users/3.json: {text}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "users/3.json: not valid JSON: Input data was truncated"),
        ("[1]", "users/3.json: got [1], expected an object"),
        ("{}", "users/3.json: sessions: missing, expected an array"),
        (
            '{"noctule_sessions": 2}',
            "users/3.json: noctule_sessions: got 2, expected 1, the format that is known here",
        ),
        (
            '{"noctule_sessions": 1, "cut": "day"}',
            "users/3.json: cut: got 'day', expected one of arrival, last, max, or null",
        ),
        (
            '{"noctule_sessions": 1, "threshold": -1}',
            "users/3.json: threshold: got -1, expected a number >= 0",
        ),
        ('{"sessions": [3]}', "users/3.json: sessions[0]: got 3, expected an object"),
    ],
)
def test_what_is_no_session_file_is_refused(text, message):
    Path("users").mkdir()
    Path("users/3.json").write_text(text)
    assert refusal(load_sessions, "users") == message


def test_a_user_in_two_files_is_refused():
    a_file(a_session(1), name="users/3.json")
    a_file(a_session(2), name="users/4.json", user=3)
    assert refusal(load_sessions, "users") == "users/4.json: user 3 is also that of users/3.json"


def test_a_user_that_is_none_is_refused():
    a_file(a_session(1), user=-3)
    assert refusal(load_sessions, "users") == (
        "users/3.json: user: got -3, expected a number >= 0, a name, or null"
    )


def test_an_empty_folder_is_refused():
    Path("users").mkdir()
    assert refusal(load_sessions, "users") == (
        "users: got no .json file, expected one with the sessions of each user"
    )
    assert refusal(load_sessions, "absent.json") == "absent.json: no such file"
