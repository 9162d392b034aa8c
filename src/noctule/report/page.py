"""The page itself: data, style and scripts put together in one file that asks for nothing else.

A policy in its head (Content-Security-Policy) forbids all network, and all scripts but those whose
hashes it names: names from a workload are data, whatever they look like.
"""

from __future__ import annotations

import base64
import html
import importlib.util
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

from noctule.errors import InputError
from noctule.output_file import check_file, write_file
from noctule.report.content import content_of
from noctule.report.packing import Packer
from noctule.report.runs import ReportRun
from noctule.report.shares import Shares

#: The most runs that one page compares.
MAX_RUNS = 8

_STYLES = ("page.css", "panels.css")
_BOKEH_SCRIPTS = ("bokeh.min.js", "bokeh-api.min.js")


@dataclass(frozen=True, slots=True)
class PageKind:
    """What pages of one kind have in common, as names of assets.

    Scripts are in the order in which they build on each other; they share one scope.
    """

    main: str
    help: str
    scripts: Sequence[str]
    search: str | None = None


RUNS_PAGE = PageKind(
    main="runs_main.html",
    help="runs_help.html",
    search="runs_search.html",
    scripts=(
        "columns.js",
        "numbers.js",
        "state.js",
        "grounds.js",
        "run.js",
        "view.js",
        "colours.js",
        "raster.js",
        "steps.js",
        "tables.js",
        "tip.js",
        "frame.js",
        "figures.js",
        "gantt.js",
        "series.js",
        "panels.js",
        "jobs.js",
        "measures.js",
        "panel_metrics.js",
        "panel_waits.js",
        "panel_intervals.js",
        "panel_capacity.js",
        "panel_fairness.js",
        "panel_movers.js",
        "panel_manifest.js",
        "search.js",
        "keyboard.js",
        "page.js",
    ),
)


def write_report(
    runs: Sequence[ReportRun],
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    shares: Shares | None = None,
    force: bool = False,
) -> None:
    """Write a page about one to eight runs, whole or not at all; without `shares`, all have one."""
    check_report(len(runs), path, force=force)
    write_file(path, report_text(runs, title=title, shares=shares), force=force)


def check_report(n_runs: int, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Refuse a page that cannot be written, before the runs are read."""
    _check_number(n_runs)
    check_page(path, force=force)


def check_page(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Refuse a file that is no page, or cannot be written."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path}: got no page to write, expected a name that ends with .html")
    check_file(path, force=force)


def report_text(
    runs: Sequence[ReportRun], *, title: str | None = None, shares: Shares | None = None
) -> Iterator[str]:
    """Yield the page about one to eight runs, in pieces."""
    _check_number(len(runs))
    names = [run.name for run in runs]
    bokeh = bokeh_script()
    packer = Packer()
    content = content_of(runs, packer, title or ", ".join(names), shares)
    return page_text(RUNS_PAGE, content, packer.texts, bokeh)


def _check_number(n_runs: int) -> None:
    if not 1 <= n_runs <= MAX_RUNS:
        raise InputError(f"report: got {n_runs} runs, expected 1 to {MAX_RUNS}")


def page_text(
    kind: PageKind, content: Mapping[str, Any], texts: Mapping[str, str], bokeh: str
) -> Iterator[str]:
    """Yield the page that shows some content; `texts` are its packed columns."""
    scripts = {"BOKEH": bokeh, "SCRIPTS": own_script(kind.scripts)}
    title = html.escape(content["title"])
    parts = {
        "TITLE": title,
        "SEARCH": "" if kind.search is None else _asset(kind.search),
        "MAIN": _asset(kind.main),
        "HELP": _asset(kind.help),
        "CONTENT": json_for_script(content),
        "COLUMNS": "".join(_column_element(key, text) for key, text in texts.items()),
        **scripts,
    }
    return _document(title, _policy(scripts.values()), _STYLES, _filled("page.html", parts))


def frame_text(title: str) -> Iterator[str]:
    """Yield a page that shows others one after the other, as a server offers them."""
    script = own_script(("live.js",))
    policy = _policy([script], "connect-src 'self'", "frame-src 'self'")
    body = _filled("live.html", {"SCRIPTS": script})
    return _document(html.escape(title), policy, ["live.css"], body)


def _document(title: str, policy: str, styles: Iterable[str], body: Iterator[str]) -> Iterator[str]:
    """Yield what all pages have around their bodies."""
    style = "".join(map(_asset, styles))
    parts: dict[str, str | Iterator[str]]
    parts = {"TITLE": title, "POLICY": policy, "STYLES": style, "BODY": body}
    return _filled("document.html", parts)


def _filled(name: str, parts: Mapping[str, str | Iterator[str]]) -> Iterator[str]:
    # split once, so that what is put in is never looked into
    for piece in _asset(name).split("{{"):
        place, found, rest = piece.partition("}}")
        if found:
            part = parts[place]
            yield from (part,) if isinstance(part, str) else part
        yield rest if found else piece


def json_for_script(value: Any) -> str:
    """Return JSON that can stand in a script element: nothing in it ends the element."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def own_script(names: Iterable[str]) -> str:
    """Return the scripts of a page as one, in a scope of its own."""
    return "(() => {\n" + '"use strict";\n' + "".join(map(_asset, names)) + "})();\n"


def bokeh_script() -> str:
    """Return BokehJS as the installed package has it."""
    found = importlib.util.find_spec("bokeh")
    if found is None or found.origin is None:
        raise InputError(
            "report: the package bokeh is not installed, expected it: pip install noctule[report]"
        )
    folder = Path(found.origin).parent / "server" / "static" / "js"
    try:
        texts = [(folder / name).read_text(encoding="utf-8") for name in _BOKEH_SCRIPTS]
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be read: {error.strerror}") from error
    return "\n".join(texts)


def _policy(scripts: Iterable[str], *allowed: str) -> str:
    hashes = (base64.b64encode(sha256(text.encode()).digest()).decode() for text in scripts)
    return "; ".join(
        (
            "default-src 'none'",
            "script-src " + " ".join(f"'sha256-{told}'" for told in hashes),
            # BokehJS styles its figures by elements that it makes
            "style-src 'unsafe-inline'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            *allowed,
        )
    )


def _column_element(key: str, text: str) -> str:
    return f'<script type="text/plain" id="column-{key}">{text}</script>\n'


def _asset(name: str) -> str:
    return resources.files("noctule.report").joinpath("assets", name).read_text(encoding="utf-8")
