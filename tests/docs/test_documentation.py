"""What the pages show is what happens: their blocks are played, and their links lead somewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from played_pages import COMMANDS, FENCE, Block, blocks_of, play

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# the tutorial has tests of its own
PAGES = [ROOT / "README.md", *sorted({*DOCS.rglob("*.md")} - {DOCS / "tutorial.md"})]
# page: the first line of each block that cannot be played, or is tried elsewhere
UNPLAYED = {
    "README.md": {"git clone … noctule && cd noctule": "needs an address"},
    "docs/background/speed.md": {"what ": "printed by `make bench`"},
    "docs/background/slurm-fidelity.md": {
        "noctule slurm compare": "tests/docs/test_slurm_fidelity_page.py"
    },
    "docs/reference/slurm.md": {"noctule slurm replay": "tests/slurm/test_against_slurm.py"},
    "docs/reference/conformance.md": {
        "easy/releases tied with the shadow count": "of a policy that is not there",
        "noctule check out_jobs.csv --hosts N": "N is a number, of recordings that are not there",
    },
    "docs/howto/batsim.md": {
        "batsim -s": "of Batsim itself",
        "noctule batsim -s": "tests/unit/test_batsim_command.py",
        "noctule batsim -p": "tests/unit/test_batsim_command.py",
        "batsim -l": "of Batsim itself",
        "noctule batsim5 -l": "tests/unit/test_edc_library.py",
    },
    "docs/howto/check-with-simgrid.md": {
        "apt-get install": "needs root",
        "$ noctule verify": "tests/simgrid/test_verify.py",
    },
    "docs/howto/decide-from-another-program.md": {
        "noctule serve-policy": "tests/clients",
        "g++": "tests/clients",
    },
    "docs/reference/cli.md": {
        "noctule batsim -s": "tests/unit/test_batsim_command.py",
        "noctule batsim5": "tests/unit/test_edc_library.py",
        "noctule kube": "tests/kube/test_scheduled_runs.py",
        "noctule serve-policy": "tests/unit/test_serve_policy.py",
        "noctule sessions": "docs/howto/find-sessions.md",
        "noctule verify": "tests/simgrid/test_verify.py",
    },
    "docs/howto/kubernetes.md": {"noctule kube": "tests/docs/test_kube_page.py"},
    "docs/howto/run-on-a-cluster.md": {
        "noctule campaign run orders.toml": "tests/cluster/test_slurm.py",
        "dask scheduler": "tests/cluster/test_dask_ends.py",
    },
    "docs/howto/write-a-policy.md": {"[project.entry-points": "a part of a pyproject.toml"},
    "docs/reference/formats.md": {'{"timestamp": 3600': "tests/unit/test_failures.py"},
    "docs/reference/generators.md": {"[inter_arrival]": "what jobs.toml stands for"},
    "docs/reference/platforms.md": {
        "[[hosts]]": "tests/unit/test_platform_docs.py",
        "[[zones]]": "tests/unit/test_platform_docs.py",
        "cluster.xml: line 12, column 5": "of a file that is not there",
    },
    "docs/reference/policies.md": {"easy": "names, not commands"},
    "docs/reference/sessions.md": {'{"noctule_sessions"': "tests/unit/test_session_files.py"},
    "docs/reference/traces.md": {"from noctule import archive": "needs a network"},
}
NIGHT = ROOT / "examples" / "night.swf"
DESCRIPTION = (DOCS / "reference" / "generators.md").read_text()


def ident(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the current folder one with the examples."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


def add_stand_ins() -> None:
    """Add small files in place of those that the reference takes for granted."""
    for log in ("kth.swf", "kth.swf.xz"):
        Path(log).symlink_to(NIGHT)
    Path("mine.py").write_text("from noctule.policies import Easy as MyEasy\n")
    Path("cluster.xml").symlink_to(ROOT / "tests" / "unit" / "platforms" / "cluster512.xml")
    Path("jobs.toml").write_text(re.findall(r"```toml\n(.*?)```", DESCRIPTION, re.DOTALL)[0])
    profiles = {"short": {"type": "delay", "delay": 60}, "long": {"type": "delay", "delay": 3600}}
    Path("profiles.json").write_text(json.dumps({"nb_res": 4, "profiles": profiles, "jobs": []}))


def text_of(path: Path) -> str:
    """Return a page with its commands on one line each, and without instructions to Sphinx."""
    text = re.sub(r"^```\{.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    return FENCE.sub(joined, text)


def joined(fence: re.Match[str]) -> str:
    """Join the lines of commands that end in a backslash."""
    return fence[0].replace("\\\n", " ") if fence[1] in COMMANDS else fence[0]


def unplayed(path: Path) -> list[Block]:
    """Return the blocks of a page of which it is known why they are not played."""
    known = tuple(UNPLAYED.get(ident(path), ()))
    return [block for block in blocks_of(text_of(path)) if block.content.startswith(known)]


def is_played(block: Block, before: Block | None) -> bool:
    """Tell whether a block is run, saved, or compared with what the one before it prints."""
    if block.language == "":
        return all(line.startswith("noctule ") for line in block.commands)
    if block.language == "text":
        prints = before is not None and before.file_name is None
        return block.is_transcript or (prints and before.language in ("", "sh", "python"))
    return block.language in ("sh", "python") or block.file_name is not None


@pytest.mark.usefixtures("_folder")
@pytest.mark.parametrize("path", [p for p in PAGES if blocks_of(text_of(p))], ids=ident)
def test_a_page_does_what_it_says(path):
    text = text_of(path)
    if "plot" in text:
        pytest.importorskip("matplotlib")
    if path.parent != DOCS / "howto":
        add_stand_ins()
    for block in unplayed(path):
        text = text.replace(f"```{block.language}\n{block.content}```\n", "")
    complaints = play(text)
    if complaints:
        pytest.fail("\n".join(complaints), pytrace=False)


@pytest.mark.parametrize("path", PAGES, ids=ident)
def test_every_block_is_played_unless_it_is_known_why_not(path):
    left = unplayed(path)
    blocks = [block for block in blocks_of(text_of(path)) if block not in left]
    before = [None, *blocks]
    assert [b for b, other in zip(blocks, before, strict=False) if not is_played(b, other)] == []


@pytest.mark.parametrize("name", UNPLAYED)
def test_a_block_that_is_not_played_is_there(name):
    contents = [block.content for block in unplayed(ROOT / name)]
    for first in UNPLAYED[name]:
        assert any(content.startswith(first) for content in contents), first


def test_a_block_that_is_neither_run_nor_shown_must_be_known():
    command, text = Block("", "noctule policies\n"), Block("text", "1\n")
    assert is_played(command, None)
    assert is_played(text, command)
    assert not is_played(text, text)
    assert not is_played(text, Block("python", "# mine.py\n"))
    assert not is_played(Block("", "make docs\n"), None)
    assert not is_played(Block("console", "$ noctule policies\n"), None)
    assert not is_played(Block("toml", "a = 1\n"), None)


def test_there_are_blocks_to_play():
    played = [block for path in PAGES for block in blocks_of(text_of(path))]
    assert sum(len(block.commands) for block in played if block.language == "") >= 15
    assert sum(block.language == "python" for block in played) >= 20


# Links


def anchors(path: Path) -> set[str]:
    """Return the anchors that a forge, and the site, give to the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", [*ROOT.glob("*.md"), *DOCS.rglob("*.md")], ids=ident)
def test_links_within_the_documentation_lead_somewhere(path):
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", path.read_text()):
        if "://" in target:
            continue
        file = path.parent / target if target else path
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file), f"{target}#{anchor}"
