"""The tutorial, from its first command to its last: what it shows is what is printed.

`played_pages` has the rules. Where the page fetches logs of the archive, those at hand are served
from this machine; without them, the sections that need one are skipped.
"""

from __future__ import annotations

import gzip
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from played_pages import blocks_of, is_shown, play

from noctule import archive
from noctule.compression import read_bytes

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
# Building and downloading packages is what `make demo` is tested for.
INSTALLATION = (
    "git clone ADDRESS noctule",
    "cd noctule",
    "python3 -m venv .venv",
    ". .venv/bin/activate",
    "pip install '.[plots,archive,testing]' pytest",
)
FETCHED = ("kth-sp2", "sdsc-sp2")
ARCHIVE = archive.ARCHIVE


@dataclass
class Section:
    """A part of the page, and what went wrong in it; None if it was not played."""

    title: str
    text: str
    complaints: list[str] | None = field(default=None)

    @property
    def needs_a_log(self) -> bool:
        """Whether it fetches a real log, or follows one that does."""
        return "trace fetch" in PAGE[: PAGE.index(self.text) + len(self.text)]

    def play(self, address: str = ARCHIVE) -> None:
        """Do what it says."""
        self.complaints = play(
            self.text,
            left_out=INSTALLATION,
            translated=lambda printed: printed.replace(address, ARCHIVE),
        )


SECTIONS = [
    Section(*part.split("\n", 1)) for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
]


@contextmanager
def copy_of_the_archive(folder: Path, shared: Path) -> Iterator[str]:
    """Serve the real logs from this machine."""
    for name in FETCHED:
        log = archive.find_log(name)
        (folder / log.folder).mkdir(parents=True)
        text = read_bytes(shared / "traces" / log.file.replace(".gz", ".xz"))
        (folder / log.folder / log.file).write_bytes(gzip.compress(text, compresslevel=1))

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def reference_material() -> Path | None:
    shared = Path(os.environ.get("NOCTULE_SHARED", ROOT.parent / "shared"))
    return shared if (shared / "traces").is_dir() else None


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> list[Section]:
    """The sections, once their commands were run; without the logs, those that need none."""
    pytest.importorskip("matplotlib")
    folder, shared = tmp_path_factory.mktemp("lab"), reference_material()
    (folder / "examples").symlink_to(ROOT / "examples")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in ("NO_PROXY", "no_proxy"):
            patch.setenv(name, "127.0.0.1")
        if shared is None:
            for section in SECTIONS:
                if not section.needs_a_log:
                    section.play()
            return SECTIONS
        with copy_of_the_archive(tmp_path_factory.mktemp("archive"), shared) as address:
            patch.setattr(archive, "ARCHIVE", address)
            for section in SECTIONS:
                section.play(address)
    return SECTIONS


@pytest.mark.parametrize("i", range(len(SECTIONS)), ids=[s.title for s in SECTIONS])
def test_a_section_does_what_it_says(played: list[Section], i: int) -> None:
    complaints = played[i].complaints
    if complaints is None:
        pytest.skip("no logs in place of the archive; NOCTULE_SHARED can name their folder")
    if complaints:
        pytest.fail("\n".join(complaints), pytrace=False)


def test_nothing_but_the_installation_is_left_out() -> None:
    blocks = blocks_of(PAGE)
    shell = [line for block in blocks if block.language == "sh" for line in block.commands]
    assert [line for line in shell if line in INSTALLATION] == list(INSTALLATION)
    assert len(shell) > len(INSTALLATION)
    assert {block.language for block in blocks} == {"", "sh", "text", "python", "py"}
    assert [b for b in blocks if b.language in ("python", "py") and b.file_name is None] == []


def test_a_page_that_shows_something_else_is_found_out() -> None:
    printed = "a 1.25\n2 jobs simulated in 0.100 s, 20 jobs/s\nb\n"
    assert is_shown("...\n2 jobs simulated in 9.300 s, 7 jobs/s\n...\n", printed)
    assert not is_shown("...\n3 jobs simulated in 0.100 s, 20 jobs/s\n...\n", printed)
    assert not is_shown("a 1.26\n...\n", printed)
    assert not is_shown("a 1.25\n", printed)


def test_the_sentence_for_the_paper_follows_from_the_tables() -> None:
    section = next(s.text for s in SECTIONS if s.title.startswith("8."))
    told = re.search(
        r"the mean wait by (\d+) % and (\d+) % .* by (\d+) % and (\d+) %, "
        r"for longest waits that were (\d+) % and (\d+) % longer",
        " ".join(section.split()),
    )
    assert told is not None
    rows = re.findall(r"^ *([\d.]+) +(\d+) +([\d.]+)  easy", section, flags=re.MULTILINE)
    assert len(rows) == 8
    mean, longest, slowdown = (
        [round(abs(float(rows[i + 2][k]) / float(rows[i][k]) - 1) * 100) for i in (0, 4)]
        for k in range(3)
    )
    assert [int(number) for number in told.groups()] == [*mean, *slowdown, *longest]
