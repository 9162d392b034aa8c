"""The page about platforms: its examples load, and it names every key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from platform_files import load_text, refusal

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "platforms.md").read_text()
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder, so that messages have short paths."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_examples_load_without_a_note(block: str) -> None:
    platform = load_text(block, "p.toml")

    assert platform.n_hosts >= 128
    assert platform.notes == ()


@pytest.mark.parametrize(
    "text",
    [
        "oops = 1",
        "[[hosts]]\noops = 1",
        "[[hosts]]\npower = { idle = 1, computing = 1, oops = 1 }",
        "[[hosts]]\nsleep = [{ off = { time = 1 }, on = { time = 1 }, oops = 1 }]",
        "[[hosts]]\ndisks = [{ read = 1, write = 1, oops = 1 }]",
        "[[hosts]]\n[network]\noops = 1",
        "[[hosts]]\n[network]\ntopology = 'flat'\nbandwidth = 1\noops = 1",
        "[[hosts]]\n[[links]]\nname = 'l'\nbandwidth = 1\noops = 1",
        "[[hosts]]\n[[routes]]\nsrc = 'host0'\ndst = 'host0'\nlinks = []\noops = 1",
        "[[hosts]]\n[[traces]]\nname = 't'\nperiodicity = 1\noops = 1",
        "[[hosts]]\n[[connections]]\nkind = 'SPEED'\ntrace = 't'\nelement = 'e'\noops = 1",
    ],
)
def test_every_key_is_documented(text: str) -> None:
    message = refusal(load_text, text, "p.toml")
    keys = message.partition("oops: unknown key, expected ")[2].split(", ")

    assert keys != [""]
    assert [key for key in keys if not re.search(rf"`\[*{key}\b", PAGE)] == []
