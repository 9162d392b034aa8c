"""The command that serves a policy, over a real socket."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path

import pytest
from served_runs import beginning, request, submitted, told

from noctule.cli import main
from noctule.console import ExitCode

zmq = pytest.importorskip("zmq")


def free_endpoint() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{probe.getsockname()[1]}"


def asked(endpoint: str, *messages: bytes) -> list[bytes]:
    """Send requests, and leave; those that are not answered in time have no reply."""
    context = zmq.Context()
    peer = context.socket(zmq.REQ)
    peer.setsockopt(zmq.RCVTIMEO, 3000)
    replies = []
    try:
        peer.connect(endpoint)
        for message in messages:
            peer.send(message)
            replies.append(peer.recv())
    except zmq.Again:
        pass
    finally:
        peer.close(linger=0)
        context.term()
    return replies


def serve(
    *messages: bytes, policy: str = "fcfs", options: tuple[str, ...] = ()
) -> tuple[int, list]:
    """Return the exit code of the command, and the replies that a simulator got."""
    endpoint = free_endpoint()
    replies: list[bytes] = []
    simulator = threading.Thread(target=lambda: replies.extend(asked(endpoint, *messages)))
    simulator.start()
    code = main(["serve-policy", policy, "--endpoint", endpoint, "--timeout", "20", *options])
    simulator.join()
    return code, [json.loads(reply) for reply in replies]


BEGIN = request(0, beginning())
END = request(9, told("SIMULATION_ENDS", 9))


def test_a_policy_decides_until_the_simulation_ends(capsys: pytest.CaptureFixture[str]):
    code, replies = serve(BEGIN, request(1, submitted("w0!A", 1)), END)
    assert code == ExitCode.OK
    assert [len(reply["events"]) for reply in replies] == [0, 1, 0]
    printed = capsys.readouterr()
    assert printed.out == "fcfs: 3 requests, 1 job, until 9\n"
    assert "fcfs waits for a simulator" in printed.err


def test_what_it_did_can_be_had_as_json(capsys: pytest.CaptureFixture[str]):
    code, _ = serve(BEGIN, END, options=("--json", "--quiet"))
    assert code == ExitCode.OK
    assert json.loads(capsys.readouterr().out) == {
        "policy": "fcfs",
        "n_requests": 2,
        "n_jobs": 0,
        "end": 9,
    }


def test_parameters_are_given_as_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "mine.py").write_text(
        "class Mine:\n"
        "    def __init__(self, depth: int, name: str) -> None:\n"
        "        assert (depth, name) == (4, 'a')\n"
        "    def decide(self, view, events):\n"
        "        return []\n"
    )
    policy = f"{tmp_path / 'mine.py'}:Mine(name=a)"
    assert serve(BEGIN, END, policy=policy, options=("--option", "depth=4"))[0] == ExitCode.OK


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["easy", "--option", "order"], "policy easy: got 'order', expected parameter=value"),
        (["easy(order=sjf)", "--option", "order=fcfs"], "policy easy: parameter order given twice"),
        (["eazy"], "policy eazy: unknown; known policies:"),
        (["replanning"], "policy replanning: runs inside the engine only"),
        (["easy", "--endpoint", "28000"], "endpoint: got '28000', expected one such as"),
        (["easy", "--timeout", "-1"], "timeout: got -1"),
    ],
)
def test_what_cannot_be_served_is_said(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["serve-policy", *arguments]) == ExitCode.INPUT
    assert complaint in capsys.readouterr().err


def test_nobody_who_asks_is_said(capsys: pytest.CaptureFixture[str]):
    code = main(["serve-policy", "fcfs", "--endpoint", free_endpoint(), "--timeout", "0.3"])
    assert code == ExitCode.PROTOCOL
    assert "no request came, after 0.3 s of waiting" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([BEGIN], "the peer went away"),
        ([BEGIN[:50]], "expected a message of Batsim"),
        ([BEGIN, b'{"now": 1}'], "missing required field `events`"),
        ([BEGIN, request(1, told("WHAT", 1))], "got 'WHAT'"),
    ],
)
def test_a_simulator_that_dies_or_talks_nonsense_ends_it(
    messages: list[bytes], complaint: str, capsys: pytest.CaptureFixture[str]
):
    code, _ = serve(*messages)
    assert code == ExitCode.PROTOCOL
    assert complaint in capsys.readouterr().err


def test_a_wrong_decision_ends_it_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "mine.py").write_text(
        "from noctule.messages import StartJob\n"
        "class Mine:\n"
        "    def decide(self, view, events):\n"
        "        return [StartJob('w0!Z')]\n"
    )
    code, replies = serve(BEGIN, policy=f"{tmp_path / 'mine.py'}:Mine")
    assert (code, replies) == (ExitCode.DECISION, [])
    assert "t=0 StartJob(job_id='w0!Z'): no job has this id" in capsys.readouterr().err


def test_an_endpoint_beyond_this_machine_is_warned_of(capsys: pytest.CaptureFixture[str]):
    endpoint = free_endpoint().replace("127.0.0.1", "*")
    assert main(["serve-policy", "fcfs", "--endpoint", endpoint, "--timeout", "0.2"]) != 0
    assert "warning: endpoint tcp://*:" in capsys.readouterr().err
