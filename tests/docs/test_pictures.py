"""The pictures of the documentation: made by a script, small, and named in the pages."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from matplotlib import image

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [path.read_text() for path in (DOCS.parent / "README.md", *DOCS.rglob("*.md"))]


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(DOCS / "pictures.py"))


def test_every_picture_is_small_and_made_by_the_script(script):
    images = sorted((DOCS / "images").glob("*.png"))
    assert {image.stem for image in images} == set(script["PICTURES"])
    assert [image.name for image in images if image.stat().st_size >= 150_000] == []


def test_every_picture_is_shown_with_the_command_that_makes_it(script):
    for name in script["PICTURES"]:
        shown = re.compile(rf"\]\((\.\./|docs/|)images/{name}\.png\)")
        command = f"`python docs/pictures.py {name}`"
        assert [page for page in PAGES if shown.search(page) and command in page], name


def test_a_picture_that_needs_no_log_comes_out_as_it_is_shown(script, tmp_path, monkeypatch):
    monkeypatch.setitem(script["main"].__globals__, "IMAGES", tmp_path)
    assert script["main"](["queue-night"]) == 0
    drawn, shown = (
        image.imread(folder / "queue-night.png") for folder in (tmp_path, DOCS / "images")
    )
    assert drawn.shape == shown.shape
    # another version of the library may smooth lines and letters otherwise
    assert np.abs(drawn - shown).mean() < 0.02


def test_without_the_logs_a_picture_is_left_as_it_is(script, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("NOCTULE_SHARED", str(tmp_path))
    monkeypatch.setitem(script["main"].__globals__, "IMAGES", tmp_path)
    assert script["main"](["lublin"]) == 0
    assert "lublin: left as it is: no " in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert script["main"](["nothing"]) == 2
