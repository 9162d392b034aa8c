"""Requests out of bytes: whole ones, ones in pieces, damaged ones."""

from __future__ import annotations

import itertools
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule.kube.http_reading import LONGEST_BODY, LONGEST_HEAD, Request, RequestReader
from noctule.kube.refusals import Refusal

POST = b"POST /api/v1/pods?a=b%20c&d= HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = (
    b"PATCH /x%2Fy HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3\r\nhel\r\n2;some=thing\r\nlo\r\n0\r\n\r\n"
)
GET = b"GET /a/b HTTP/1.0\r\nAccept: a\r\nACCEPT: b\r\n\r\n"


def read(data: bytes) -> list[Request]:
    reader = RequestReader()
    reader.feed(data)
    found = []
    while (request := reader.next()) is not None:
        found.append(request)
    assert not reader.waiting
    return found


def test_requests_one_after_the_other_are_read() -> None:
    post, patch, get = read(POST + CHUNKED + b"\r\n" + GET)
    assert (post.method, post.steps, post.body) == ("POST", ["api", "v1", "pods"], b"hello")
    assert post.query == {"a": "b c", "d": ""}
    assert (patch.method, patch.steps, patch.body) == ("PATCH", ["x/y"], b"hello")
    assert (get.keep_alive, get.old_version, patch.keep_alive) == (False, True, True)
    assert get.headers == {"accept": "a, b"}
    assert not read(GET.replace(b"1.0", b"1.1").replace(b"Accept: a", b"Connection: Close"))[
        0
    ].keep_alive


@given(st.lists(st.integers(0, len(POST + CHUNKED + GET)), max_size=6))
def test_it_does_not_matter_in_which_pieces_bytes_come(cuts: list[int]) -> None:
    data = POST + CHUNKED + GET
    places = [0, *sorted(cuts), len(data)]
    reader = RequestReader()
    found = []
    for start, end in itertools.pairwise(places):
        reader.feed(data[start:end])
        while (request := reader.next()) is not None:
            found.append(request)
    assert found == read(data)


def test_a_client_that_waits_for_a_word_before_its_body_is_seen_once() -> None:
    reader = RequestReader()
    reader.feed(b"PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    assert reader.next() is None
    assert [reader.expects_continue(), reader.expects_continue()] == [True, False]
    reader.feed(b"ok")
    request = reader.next()
    assert request is not None
    assert request.body == b"ok"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"hello\r\n\r\n", 400),
        (b"GET http://x/ HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno header\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n", 400),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"0" * 2000, 400),
        (b"GET / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (LONGEST_BODY + 1), 413),
        (b"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", 413),
        (b"GET /" + b"a" * LONGEST_HEAD, 431),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 201 + b"\r\n", 431),
    ],
)
def test_what_is_no_request_is_refused(data: bytes, code: int) -> None:
    with pytest.raises(Refusal) as refusal:
        read(data)
    assert refusal.value.code == code


def test_more_parameters_than_anybody_needs_are_refused() -> None:
    (request,) = read(b"GET /?" + b"a=b&" * 101 + b" HTTP/1.1\r\n\r\n")
    with pytest.raises(Refusal, match="more than 100 parameters"):
        _ = request.query


@given(st.data())
def test_damaged_bytes_are_read_or_refused(data: st.DataObject) -> None:
    good = bytearray(POST + CHUNKED)
    for _ in range(data.draw(st.integers(1, 4))):
        good[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))
    reader = RequestReader()
    reader.feed(bytes(good))
    with suppress(Refusal):
        while (request := reader.next()) is not None:
            assert request.query is not None
            assert all("\n" not in value for value in request.headers.values())
