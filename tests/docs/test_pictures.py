"""The pictures of the documentation: made by a script, small, and named in the pages."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import click
import numpy as np
import pytest

from noctule.commands.generate import generate
from noctule.commands.plot import plot
from noctule.synthetic import MODELS
from noctule.synthetic.walltime_models import WALLTIME_MODELS
from noctule.timeseries import SERIES
from noctule.user_metrics import COLUMNS

pytest.importorskip("matplotlib")
from matplotlib import image

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {path.name: path.read_text() for path in DOCS.rglob("*.md")}


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(DOCS / "pictures.py"))


def test_every_picture_is_small_and_made_by_the_script(script):
    images = sorted((DOCS / "images").glob("*.png"))
    assert {image.stem for image in images} == set(script["PICTURES"])
    assert [image.name for image in images if image.stat().st_size >= 150_000] == []


def test_every_picture_is_shown_with_the_command_that_makes_it(script):
    text = "".join(PAGES[name] for name in ("generators.md", "plots.md"))
    for name in script["PICTURES"]:
        assert f"](../images/{name}.png)" in text
        assert f"`python docs/pictures.py {name}`" in text


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


def options_of(group: click.Group) -> set[str]:
    parameters = [p for command in group.commands.values() for p in command.params]
    return {text for p in parameters if isinstance(p, click.Option) for text in p.opts}


@pytest.mark.parametrize(("group", "page"), [(generate, "generators.md"), (plot, "plots.md")])
def test_every_command_and_option_is_documented(group, page):
    words = {*group.commands, *(options_of(group) - {"--json", "--quiet"})}
    text = re.sub(r"```.*?```", "", PAGES[page], flags=re.DOTALL)
    found = set(re.findall(r"[\w-]+", " ".join(re.findall(r"`[^`]+`", text))))
    assert words - found == set()


def test_every_model_series_and_column_is_documented():
    assert [name for name in MODELS if f"`{name}`" not in PAGES["generators.md"]] == []
    assert [name for name in WALLTIME_MODELS if f"`{name}`" not in PAGES["generators.md"]] == []
    assert [name for name in SERIES if f"`{name}(schedule" not in PAGES["tables.md"]] == []
    assert [name for name in COLUMNS if f"`{name}`" not in PAGES["tables.md"]] == []
