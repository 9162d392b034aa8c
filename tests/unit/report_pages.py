"""Pages of reports, read again in Python: what the scripts of the page do, in NumPy."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np

from noctule.report import ReportRun, report_text


class Elements(HTMLParser):
    """The elements of a page as browsers find them: scripts with their contents, and other tags."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self._open: dict[str, str | None] | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "script":
            self._open = dict(attrs)
            self.scripts.append((self._open, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._open = None

    def handle_data(self, data: str) -> None:
        if self._open is None:
            self.texts.append(data)
        else:
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)


class Page:
    """A page, its data and its columns."""

    def __init__(self, *runs: ReportRun, title: str | None = None) -> None:
        self.text = "".join(report_text(runs, title=title))
        self.elements = Elements(self.text)
        by_id = {told.get("id"): text for told, text in self.elements.scripts}
        self.content: dict[str, Any] = json.loads(by_id["content"])
        self.texts = {
            str(name).removeprefix("column-"): text for name, text in by_id.items() if name
        }

    def column(self, name: str, run: int = 0) -> Any:
        """Return a column of a run: numbers, or texts of which None is nothing."""
        columns = self.content["runs"][run]["columns"]
        return unpacked(columns[name], self.texts, columns)


def unpacked(packed: dict[str, Any], texts: dict[str, str], columns: dict[str, Any]) -> Any:
    if "words" in packed:
        words = unpacked(packed["words"], texts, columns)
        codes = unpacked(packed["codes"], texts, columns)
        return [None if code == len(words) else words[int(code)] for code in codes.tolist()]
    data = gzip.decompress(base64.b64decode(texts[packed["key"]]))
    if packed.get("strings"):
        return json.loads(data)
    n = packed["n"]
    if packed.get("doubles"):
        return np.frombuffer(data, np.uint8).reshape(8, n).T.copy().view("<f8").ravel()
    return units(packed, texts, columns) / packed.get("scale", 1)


def units(packed: dict[str, Any], texts: dict[str, str], columns: dict[str, Any]) -> Any:
    """Return the whole numbers of a column, as doubles: some may be missing or infinite."""
    data = gzip.decompress(base64.b64decode(texts[packed["key"]]))
    planes = np.frombuffer(data, np.uint8).reshape(packed["planes"], packed["n"])
    folded = sum(plane.astype(np.uint64) << np.uint64(8 * i) for i, plane in enumerate(planes))
    folded = np.asarray(folded, dtype=np.uint64)
    values = (folded >> np.uint64(1)).astype(np.int64) ^ -(folded & np.uint64(1)).astype(np.int64)
    found = (np.cumsum(values) if packed["delta"] else values).astype(np.float64)
    if "base" in packed:
        base = units(columns[packed["base"]], texts, columns)
        found = np.where(np.isnan(base), found, found + base)
    for word, value in (("missing", np.nan), ("infinite", np.inf)):
        if word in packed:
            found[units(packed[word], texts, columns).astype(int)] = value
    return found


def allowed_hashes(page: str) -> list[str]:
    """Return the hashes of scripts that the policy of a page allows."""
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    return re.findall(r"'sha256-([^']*)'", policy[1])
