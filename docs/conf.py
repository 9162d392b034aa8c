"""How the site of the documentation is built: `make docs`."""

from __future__ import annotations

import re
from importlib import metadata
from typing import TYPE_CHECKING, get_args

from docutils.nodes import Text

from noctule import messages

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

project = "Noctule"
author = "The Noctule developers"
release = metadata.version("noctule")
html_title = f"Noctule {release}"
html_theme = "furo"
html_show_copyright = False

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
highlight_language = "text"
smartquotes = False

# docstrings write `code` as Markdown does
default_role = "code"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_attr_annotations = False
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90

# There is no network, hence no inventory of other projects to link to.
_OTHERS = "collections|datetime|hypothesis|matplotlib|msgspec|numpy|os|pandas|pathlib|typing"
nitpick_ignore_regex = [(r"py:.*", rf"({_OTHERS})\..*")]
# what a module imports only if it is needed, so that autodoc knows no more than this
nitpick_ignore = [
    ("py:class", name)
    for name in (
        *("Axes", "Figure", "pd.DataFrame", "NetworkPlan"),
        *("noctule._core.MpiTrace", "noctule._core.Shortcut", "noctule._core.GroupPlan"),
        "noctule._core.SlurmClocks",
        # parts of results that are looked at, not made
        *("About", "noctule.campaign.about.About", "noctule.formats.toml_table.Table"),
        *("noctule.slurm.site.extras.Usage", "noctule.slurm.model.policy.ReasonChange"),
    )
]


def _union(alias: object) -> str:
    return " | ".join(f"~noctule.messages.{kind.__name__}" for kind in get_args(alias))


_SHORTER = (
    # not Python, so that Sphinx could not tell one parameter from the next
    (re.escape("<factory>"), "..."),
    (re.escape("mappingproxy({})"), "{}"),
    (
        r"~numpy\.ndarray\[tuple\[~typing\.Any, \.\.\.\], ~numpy\.dtype\[(.+?)\]\]",
        r"~numpy.typing.NDArray[\1]",
    ),
    (re.escape(_union(messages.Event)), "~noctule.messages.Event"),
    (re.escape(_union(messages.Decision)), "~noctule.messages.Decision"),
)


def setup(app: Sphinx) -> None:
    """Add what is particular to these pages."""
    app.connect("source-read", _link_within_the_site)
    app.connect("autodoc-process-docstring", _keep_colons, priority=400)
    app.connect("autodoc-process-signature", _shorten)
    app.connect("autodoc-skip-member", _skip)
    app.connect("doctree-read", _write_dashes)


def _link_within_the_site(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Lead links to files in the folder above to the pages that show them."""
    files = r"((?:ARCHITECTURE|CHANGELOG|CONTRIBUTING)\.md)"
    source[0] = re.sub(rf"\]\((?:\.\./)+{files}", r"](/\1", source[0])


def _keep_colons(
    _app: Sphinx, what: str, _name: str, _object: object, _options: object, lines: list[str]
) -> None:
    """Show a property's "this: that" as it stands.

    Napoleon would take what is in front of the first colon for a type; now that is nothing.
    """
    if what in ("attribute", "data", "property") and lines:
        lines[0] = f": {lines[0]}"


def _shorten(
    _app: Sphinx,
    _what: str,
    _name: str,
    _object: object,
    _options: object,
    signature: str | None,
    returned: str | None,
) -> tuple[str | None, str | None]:
    """Write types as their modules do, not as Python takes them apart."""
    for long, short in _SHORTER:
        signature = signature and re.sub(long, short, signature)
        returned = returned and re.sub(long, short, returned)
    return signature, returned


def _skip(
    _app: Sphinx, _what: str, _name: str, member: object, _skipped: bool, _options: object
) -> bool | None:
    """Leave out the fields of named tuples, which only say that they are fields."""
    return True if type(member).__name__ == "_tuplegetter" else None


def _write_dashes(_app: Sphinx, document: nodes.document) -> None:
    """Write a dash between the name and the meaning of a parameter; Sphinx has two hyphens."""
    for text in list(document.findall(lambda node: isinstance(node, Text) and node == " -- ")):
        text.parent.replace(text, Text(" – "))
