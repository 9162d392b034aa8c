"""The documentation names everything that is public, and its snippets run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import noctule
from noctule import errors, messages
from noctule.policies import known_policies
from noctule.policies.native import ALLOCATIONS
from noctule.policies.orders import NAMED_ORDERS
from noctule.simulation import Options

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def page(name: str) -> str:
    return (DOCS / "reference" / f"{name}.md").read_text()


def test_every_policy_order_and_allocation_is_documented():
    text = page("policies")
    assert [
        n for n in (*known_policies(), *NAMED_ORDERS, *ALLOCATIONS) if f"`{n}`" not in text
    ] == []


def test_every_message_is_documented():
    names = [n for n in dir(messages) if isinstance(getattr(messages, n), type) and n[0].isupper()]
    public = [n for n in names if getattr(messages, n).__module__ == messages.__name__]
    assert [n for n in public if n not in page("semantics")] == []
    assert len(public) == 12


def test_every_option_of_a_run_is_documented():
    text = page("semantics") + page("policies")
    assert [n for n in Options.__dataclass_fields__ if n not in text] == []


def test_every_public_name_exists_and_has_a_docstring():
    for name in noctule.__all__:
        assert getattr(noctule, name).__doc__, name
    for name in ("InputError", "DecisionError", "ProtocolError", "DeadlockError"):
        assert issubclass(getattr(errors, name), errors.NoctuleError)


def test_an_unknown_public_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'noctule' has no attribute 'nothing'"):
        _ = noctule.nothing


SNIPPETS = [
    (path.name, snippet)
    for path in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    for snippet in re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)
]


@pytest.mark.parametrize(("name", "snippet"), SNIPPETS)
def test_a_python_snippet_runs(name, snippet, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "mine.py").write_text("from noctule.policies import Easy as MyEasy\n")
    for log in ("kth.swf", "kth.swf.xz"):
        (tmp_path / log).symlink_to(ROOT / "examples" / "night.swf")
    monkeypatch.chdir(tmp_path)
    exec(compile(snippet, name, "exec"), {})


@pytest.mark.parametrize(
    "path", [*ROOT.glob("*.md"), *DOCS.rglob("*.md")], ids=lambda p: str(p.relative_to(ROOT))
)
def test_links_within_the_documentation_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), target
