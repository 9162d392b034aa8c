"""Logs of the archive, fetched from a server on this machine."""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from trace_files import a_line, refusal

from noctule import archive
from noctule.archive import ArchivedLog, fetch, find_log
from noctule.compression import read_bytes
from noctule.formats import load_workload

LOG = f"; MaxProcs: 4\n{a_line()}\n".encode()
PACKED = gzip.compress(LOG, mtime=0)
SHA256 = hashlib.sha256(LOG).hexdigest()
KNOWN = ArchivedLog("known", "l_known", "Known-1.swf.gz", 4, SHA256, "Small.")
UNKNOWN = replace(KNOWN, name="unknown", file="Unknown-1.swf.gz", sha256=None)
TIMEOUT_S = 5

Answer = Callable[[BaseHTTPRequestHandler], None]


def whole(content: bytes, *, status: int = 200, length: int | None = None) -> Answer:
    """Answer with some bytes; a wrong length is that of a download that breaks off."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(content) if length is None else length))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


class Server:
    """Gives the same answer to everybody, and remembers what was asked for."""

    def __init__(self) -> None:
        self.answer: Answer = whole(PACKED)
        self.asked: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                server.answer(self)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self.thread.start()

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join(TIMEOUT_S)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, two logs that exist, and no proxy on the way to this machine."""
    monkeypatch.setattr(archive, "LOGS", (KNOWN, UNKNOWN))
    monkeypatch.setenv("NOCTULE_CACHE", str(tmp_path))
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    return tmp_path / "archive"


def files(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir()) if folder.exists() else []


def test_a_log_is_downloaded_once_and_checked(server: Server, cache: Path) -> None:
    first = fetch("known", address=server.address)
    again = fetch("KNOWN", address=server.address)

    assert server.asked == ["/l_known/Known-1.swf.gz"]
    assert (first.downloaded, again.downloaded) == (True, False)
    assert first.verified
    assert again.verified
    assert first.sha256 == again.sha256 == SHA256
    assert first.path == cache / "Known-1.swf.gz"
    assert files(cache) == ["Known-1.swf.gz"]
    assert len(load_workload(first)) == 1


def test_a_log_whose_hash_is_not_known_is_read_through_and_told(server: Server) -> None:
    fetched = fetch("unknown", address=server.address)

    assert not fetched.verified
    assert fetched.sha256 == SHA256


def test_another_folder_can_be_asked_for(server: Server, tmp_path: Path) -> None:
    fetched = fetch("known", address=f"{server.address}/", folder=tmp_path / "mine")

    assert fetched.path == tmp_path / "mine" / "Known-1.swf.gz"
    assert server.asked == ["/l_known/Known-1.swf.gz"]


def test_a_log_can_be_downloaded_again(server: Server, cache: Path) -> None:
    told: list[str] = []
    fetch("known", address=server.address)

    fetched = fetch("known", address=server.address, again=True, on_download=told.append)

    assert fetched.downloaded
    assert told == [f"{server.address}/l_known/Known-1.swf.gz"]
    assert files(cache) == ["Known-1.swf.gz"]


def test_a_damaged_log_in_the_cache_is_replaced(server: Server, cache: Path) -> None:
    path = fetch("known", address=server.address).path
    path.write_bytes(PACKED[:-10])

    assert fetch("known", address=server.address).downloaded
    assert path.read_bytes() == PACKED


def test_another_log_than_expected_is_refused(server: Server, cache: Path) -> None:
    other = LOG + b"\n"
    server.answer = whole(gzip.compress(other))

    assert refusal(fetch, "known", address=server.address) == (
        f"{server.address}/l_known/Known-1.swf.gz: "
        f"got SHA-256 {hashlib.sha256(other).hexdigest()}, expected {SHA256}"
    )
    assert files(cache) == []


def test_a_log_in_the_cache_stays_when_a_new_one_is_refused(server: Server, cache: Path) -> None:
    fetch("known", address=server.address)
    server.answer = whole(gzip.compress(b"; another"))

    assert "got SHA-256" in refusal(fetch, "known", address=server.address, again=True)
    assert files(cache) == ["Known-1.swf.gz"]
    assert (cache / "Known-1.swf.gz").read_bytes() == PACKED


@pytest.mark.parametrize(
    ("status", "words"), [(404, "404 Not Found"), (500, "500 Internal Server Error")]
)
def test_what_the_server_answers_is_told(
    server: Server, cache: Path, status: int, words: str
) -> None:
    server.answer = whole(b"no", status=status)

    assert refusal(fetch, "known", address=server.address) == (
        f"{server.address}/l_known/Known-1.swf.gz: the server answered {words}, "
        "expected Known-1.swf.gz"
    )
    assert files(cache) == []


def test_a_download_that_breaks_off_leaves_nothing(server: Server, cache: Path) -> None:
    server.answer = whole(PACKED[:-10], length=len(PACKED))

    message = refusal(fetch, "known", address=server.address)

    assert message == f"{server.address}/l_known/Known-1.swf.gz: the download broke off"
    assert files(cache) == []
    server.answer = whole(PACKED)
    assert fetch("known", address=server.address).downloaded


def test_a_log_that_is_truncated_on_the_server_is_refused(server: Server, cache: Path) -> None:
    server.answer = whole(PACKED[:-10])

    assert refusal(fetch, "unknown", address=server.address) == (
        f"{server.address}/l_known/Unknown-1.swf.gz: truncated or corrupt gzip data, "
        "expected Unknown-1.swf.gz"
    )
    assert files(cache) == []


def test_a_page_instead_of_a_log_is_refused(server: Server, cache: Path) -> None:
    server.answer = whole(b"<html>moved</html>")

    assert refusal(fetch, "unknown", address=server.address) == (
        f"{server.address}/l_known/Unknown-1.swf.gz: line 1: field 1 (job number): "
        "got '<html>moved</html>', expected a number"
    )
    assert files(cache) == []


def test_a_log_that_the_server_unpacks_on_the_way_is_the_same_log(server: Server) -> None:
    def unpacking(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Encoding", "gzip")
        handler.send_header("Content-Length", str(len(PACKED)))
        handler.end_headers()
        handler.wfile.write(PACKED)

    server.answer = unpacking

    fetched = fetch("known", address=server.address)
    assert fetched.verified
    assert read_bytes(fetched) == LOG


def test_a_download_that_is_interrupted_leaves_nothing(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: str, path: Path) -> None:
        path.write_bytes(PACKED[:10])
        raise KeyboardInterrupt

    get = archive._get
    monkeypatch.setattr(archive, "_get", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch("known", address=server.address)
    assert files(cache) == []

    monkeypatch.setattr(archive, "_get", get)
    assert fetch("known", address=server.address).downloaded


def test_a_server_that_is_not_there_is_told(server: Server) -> None:
    server.close()

    assert refusal(fetch, "known", address=server.address) == (
        f"{server.address}/l_known/Known-1.swf.gz: cannot be reached, expected a connection to it"
    )


def test_a_server_that_does_not_answer_is_told(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    asleep = threading.Event()
    server.answer = lambda _: asleep.wait(TIMEOUT_S) and None
    monkeypatch.setattr(archive, "TIMEOUT_S", 0.2)

    message = refusal(fetch, "known", address=server.address)
    asleep.set()

    assert message == f"{server.address}/l_known/Known-1.swf.gz: no answer in 0.2 s"


def test_an_address_that_is_none_is_told() -> None:
    message = refusal(fetch, "known", address="nowhere")

    assert message.startswith("nowhere/l_known/Known-1.swf.gz: cannot be downloaded: ")


def test_a_cache_that_cannot_be_written_is_told(server: Server, cache: Path) -> None:
    cache.parent.mkdir(exist_ok=True)
    cache.write_text("a file")

    message = refusal(fetch, "known", address=server.address)

    assert message.startswith(f"{cache / 'Known-1.swf.gz'}: cannot be written: ")


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    assert refusal(find_log, "knwon") == (
        "knwon: unknown log; known logs: known, unknown (did you mean known?)"
    )
    assert refusal(find_log, "zzz") == "zzz: unknown log; known logs: known, unknown"
    assert find_log("Known-1.swf.gz") is KNOWN


def test_pooch_is_asked_for_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pooch", None)

    assert refusal(fetch, "known") == (
        "pooch: not installed, expected it for logs of the archive: pip install pooch"
    )


# The registry


def test_names_and_files_of_the_archive_are_unique(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()

    assert len({log.name for log in archive.LOGS}) == len(archive.LOGS) == 40
    assert len({log.file for log in archive.LOGS}) == len(archive.LOGS)
    for log in archive.LOGS:
        assert log.name == log.name.lower()
        assert log.file.endswith(".swf.gz")
        assert log.folder.startswith("l_")
        assert find_log(log.file) is log


@pytest.mark.parametrize("name", ["kth-sp2", "sdsc-sp2", "cea-curie"])
def test_hashes_are_those_of_the_logs_at_hand(
    name: str, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    log = find_log(name)

    path = shared / "traces" / log.file.replace(".gz", ".xz")

    assert hashlib.sha256(read_bytes(path)).hexdigest() == log.sha256
    assert load_workload(path).headers["MaxProcs"] == str(log.n_hosts)
