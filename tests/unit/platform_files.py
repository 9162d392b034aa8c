"""Platform files for tests, written short."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from noctule.errors import InputError
from noctule.formats.platforms import load_platform
from noctule.network import Cluster, Zone
from noctule.platform import Platform

HERE = Path(__file__).parent / "platforms"
DOCTYPE = '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
# where the content of a_platform begins: line 4, column 1
HEAD = f"""<?xml version='1.0'?>
{DOCTYPE}
<platform version="4.1"><zone id="z" routing="{{}}">
"""


def a_platform(content: str, routing: str = "Full") -> str:
    """The XML of a platform with one zone of that content, which begins on line 4."""
    return f"{HEAD.format(routing)}{content}\n</zone></platform>\n"


def a_host(name: str = "h", more: str = "", **properties: str) -> str:
    """A host of 1 Gf."""
    props = "".join(f'<prop id="{key}" value="{value}"/>' for key, value in properties.items())
    return f'<host id="{name}" speed="1Gf" {more}>{props}</host>'


def _written(attributes: dict[str, str]) -> str:
    return " ".join(f'{key}="{value}"' for key, value in attributes.items())


def a_cluster(name: str = "c", radical: str = "0-3", **more: str) -> str:
    """A cluster of hosts called n0, n1, ..."""
    attributes = {
        "id": name,
        "prefix": "n",
        "suffix": "",
        "radical": radical,
        "speed": "1Gf",
        "bw": "1GBps",
        "lat": "5us",
        **more,
    }
    return f"<cluster {_written(attributes)}/>"


def load_text(text: str, name: str = "p.xml", **options: Any) -> Platform:
    """Read a text as a file of the current folder."""
    Path(name).write_text(text)
    return load_platform(name, **options)


def refusal(call: Callable[..., object], *args: Any, **options: Any) -> str:
    """The text of the error that a call must raise."""
    with pytest.raises(InputError) as caught:
        call(*args, **options)
    return str(caught.value)


def zone_of(platform: Platform) -> Zone:
    zone = platform.network.zones[0]
    assert isinstance(zone, Zone)
    return zone


def cluster_of(platform: Platform) -> Cluster:
    cluster = zone_of(platform).zones[0]
    assert isinstance(cluster, Cluster)
    return cluster
