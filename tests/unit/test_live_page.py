"""Pages that follow a run: who sees them, when they are made, and when they are gone."""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from noctule.cli import cli
from noctule.report.live import LivePage

pytest.importorskip("bokeh", reason="the page is drawn by BokehJS")
NIGHT = Path(__file__).parents[2] / "examples" / "night.swf"


@pytest.fixture
def page() -> Iterator[LivePage]:
    live = LivePage("a run")
    yield live
    live.close(patience=0.0)


def fetched(page: LivePage, name: str, *, host: str | None = None) -> tuple[int, str]:
    parts = urlsplit(page.address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    headers = {} if host is None else {"Host": host}
    connection.request("GET", name if name.startswith("/") else parts.path + name, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_the_address_is_on_loopback_and_differs_each_time(page):
    other = LivePage("another")
    other.close()
    assert page.address.startswith("http://127.0.0.1:")
    assert urlsplit(other.address).path != urlsplit(page.address).path


@pytest.mark.parametrize(
    "target", ["/", "/page", "/wrong/page", "/wrong/state?after=0", "/../page"]
)
def test_nothing_is_told_without_the_token(page, target):
    page.show(lambda: ["secret"], "running")
    status, text = fetched(page, target)
    assert status == 404
    assert "secret" not in text


def test_another_name_for_this_machine_is_not_answered(page):
    assert fetched(page, "", host="evil.example")[0] == 404
    assert fetched(page, "")[0] == 200


def test_a_page_is_made_only_when_it_is_asked_for(page):
    made = []
    page.show(lambda: [made.append(1) or "<p>1</p>"], "first")
    page.show(lambda: [made.append(2) or "<p>2</p>"], "second")
    assert made == []
    assert fetched(page, "page") == (200, "<p>2</p>")
    assert made == [2]


def test_the_state_tells_the_newest_page_and_how_far_things_are(page):
    page.show(list, "10 of 20 jobs have ended.")
    page.show(list, "All is done.", is_last=True)
    told = json.loads(fetched(page, "state?after=0")[1])
    assert told == {"revision": 2, "status": "All is done.", "is_last": True}


def test_a_reader_is_awaited_only_while_it_waits_for_something_newer(page):
    assert not page.is_awaited
    answers = []
    reader = threading.Thread(target=lambda: answers.append(fetched(page, "state?after=0")))
    reader.start()
    while not page.is_awaited:
        time.sleep(0.001)
    page.show(list, "now")
    reader.join()
    assert json.loads(answers[0][1])["revision"] == 1
    assert not page.is_awaited


def test_the_frame_allows_only_its_own_script_and_its_own_server(page):
    text = fetched(page, "")[1]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]


def test_names_from_strangers_are_escaped_in_the_frame():
    live = LivePage("<script>alert(1)</script>")
    text = fetched(live, "")[1]
    live.close()
    assert "<script>alert" not in text


def test_nothing_listens_once_it_is_closed(page):
    address = urlsplit(page.address)
    page.close()
    with pytest.raises(ConnectionError):
        http.client.HTTPConnection(address.hostname, address.port, timeout=5).request("GET", "/")


def test_a_watched_run_writes_what_an_unwatched_one_does(tmp_path, monkeypatch):
    monkeypatch.setattr("noctule.report.live._FAREWELL_S", 0.0)
    arguments = ["run", str(NIGHT), "--policy", "easy", "-o"]
    CliRunner().invoke(cli, [*arguments, str(tmp_path / "plain")])
    watched = CliRunner().invoke(cli, [*arguments, str(tmp_path / "watched"), "--watch"])
    assert watched.exit_code == 0
    assert "watch it at http://127.0.0.1:" in watched.stderr
    for name in ("jobs.csv", "schedule.csv", "manifest.json"):
        plain = (tmp_path / "plain" / name).read_bytes()
        assert (tmp_path / "watched" / name).read_bytes() == plain
