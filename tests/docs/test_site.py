"""The site is built without a warning, has every page, and explains every public name."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from public_names import documented

for _package in ("sphinx", "myst_parser", "furo"):
    pytest.importorskip(_package, reason="the site is built with pip install 'noctule[docs]'")

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The site as `make docs` builds it, and what is said on the way."""
    target = tmp_path_factory.mktemp("site")
    makefile = (ROOT / "Makefile").read_text()
    command = re.search(r"sphinx-build (.*) -d \S+ docs build/docs", makefile)
    assert command is not None
    options = command[1].split()
    assert {"-n", "-W"} <= set(options)
    folders = ["-d", target / "doctrees", DOCS, target / "html"]
    words = [sys.executable, "-m", "sphinx", *options, *folders]
    built = subprocess.run(words, capture_output=True, text=True, check=False)
    return target / "html", "" if built.returncode == 0 else built.stdout + built.stderr


@pytest.fixture
def site(build: tuple[Path, str]) -> Path:
    return build[0]


class Links(HTMLParser):
    """The links and the anchors of a page of the site."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id":
                self.anchors.add(value)
            elif name in ("href", "src"):
                self.targets.append(value)


def test_the_site_is_built_without_a_warning(build):
    assert build[1] == ""


def test_every_page_is_in_the_site(site):
    pages = [path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")]
    assert len(pages) > 30
    assert [page for page in pages if not (site / page).is_file()] == []


@pytest.mark.parametrize("name", ["ARCHITECTURE", "CONTRIBUTING", "CHANGELOG"])
def test_the_pages_of_the_repository_are_shown(site, name):
    title = (ROOT / f"{name}.md").read_text().splitlines()[0].removeprefix("# ")
    assert f"<h1>{title}<" in (site / f"{name}.html").read_text()


def test_every_link_leads_to_a_page_and_an_anchor(site):
    pages = {path.resolve(): Links(path) for path in site.rglob("*.html")}
    broken = []
    for path, links in pages.items():
        for target in links.targets:
            if re.match(r"\w+:", target):
                continue
            name, _, anchor = unquote(target).partition("#")
            file = (path.parent / name.partition("?")[0]).resolve() if name else path
            lost = anchor and file in pages and anchor not in pages[file].anchors
            if lost or not file.exists():
                broken.append(f"{path.name}: {target}")
    assert broken == []


def test_nothing_is_fetched_from_elsewhere(site):
    loaded = re.compile(r'<(?:script|img|link)[^>]*(?:src|href)="((?:https?:)?//[^"]*)"')
    found = {url for path in site.rglob("*.html") for url in loaded.findall(path.read_text())}
    assert found == set()


def test_every_public_name_is_in_the_inventory(site):
    from sphinx.util.inventory import InventoryFile

    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    known = {name for kind in inventory.data.values() for name in kind}
    assert [name for name in documented() if name not in known] == []
