"""External events: what Batsim's lists of them say, and what is refused."""

from __future__ import annotations

import pytest

from noctule import HostSet
from noctule.errors import InputError
from noctule.external_events import ExternalEvent
from noctule.formats.batsim_events import read_batsim_events


def test_each_line_is_an_event_and_blank_lines_are_none() -> None:
    text = b"""{"type": "machine_unavailable", "timestamp": 42.5, "resources": "0 3-5"}

    {"type": "machine_available", "timestamp": 50, "resources": "5 2-2 7 1-3"}
    """
    assert read_batsim_events(text, source="f") == [
        ExternalEvent(42.5, "unavailable", hosts=HostSet("0 3-5")),
        ExternalEvent(50.0, "available", hosts=HostSet("1-3 5 7")),
    ]


def test_an_unknown_type_is_refused_or_kept_as_it_is() -> None:
    line = b'{"type": "storm", "timestamp": 123, "force": [9, 10]}'
    with pytest.raises(InputError, match="f: line 1: type: got 'storm', expected machine_avail"):
        read_batsim_events(line, source="f")
    (event,) = read_batsim_events(line + b"\n", source="f", forward_unknown=True)
    assert event == ExternalEvent(123.0, "generic", data=line.decode())


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"[", "not valid JSON"),
        (b"[1]", r"got \[1\], expected an object"),
        (b"\xff", "not valid JSON"),
        (b"{}", "timestamp: missing, expected a number >= 0"),
        (b'{"type": "machine_available", "timestamp": -1}', "timestamp: got -1"),
        (b'{"type": 1, "timestamp": 1}', "type: got 1, expected a string"),
        (b'{"type": "machine_available", "timestamp": 1}', "resources: missing"),
        (
            b'{"type": "machine_available", "timestamp": 1, "resources": "5-2"}',
            "resources: got '5-2', expected hosts as in '0-3 7'",
        ),
    ],
)
def test_a_line_that_is_no_event_is_refused_with_its_number(line: bytes, complaint: str) -> None:
    with pytest.raises(InputError, match=f"^f: line 2: {complaint}"):
        read_batsim_events(b"\n" + line, source="f")
