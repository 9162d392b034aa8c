"""The pages of the reference, taken apart: sections, tables, words in code."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
_HEADING = re.compile(r"^(#+) (.*)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

Row = tuple[str, ...]


@cache
def page(name: str) -> str:
    """Return the text of a page without its fenced blocks."""
    return _FENCED.sub("", (REFERENCE / f"{name}.md").read_text())


def titles(name: str) -> list[str]:
    """Return the headings of a page."""
    return [title for _, title in _HEADING.findall(page(name))]


def section(name: str, title: str) -> str:
    """Return what stands under a heading of a page, up to the next one that is as high."""
    text = page(name)
    for heading in _HEADING.finditer(text):
        if heading[2] == title:
            rest = text[heading.end() :]
            following = re.search(rf"^#{{1,{len(heading[1])}}} ", rest, re.MULTILINE)
            return rest[: following.start()] if following else rest
    raise AssertionError(f"{name}.md: no heading {title!r}")


def table(text: str, header: str) -> list[Row]:
    """Return the rows of the first table whose first column is headed so."""
    rows = _rows(text, header)
    assert rows, f"no table with a first column {header!r}"
    return rows[0]


def tables(text: str, header: str) -> list[Row]:
    """Return the rows of all tables whose first column is headed so."""
    return [row for rows in _rows(text, header) for row in rows]


def _rows(text: str, header: str) -> list[list[Row]]:
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    found = [[_cells(line) for line in block.splitlines()] for block in blocks]
    return [rows[2:] for rows in found if rows[0][0] == header]


def _cells(line: str) -> Row:
    """Split a line of a table; a bar with a backslash is a bar."""
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return tuple(cell.replace("\\|", "|").strip() for cell in cells)


def names(text: str) -> list[str]:
    """Return what code in a text begins with: an option, or a name without its arguments."""
    return [
        found[0] for code in re.findall(r"`([^`]+)`", text) if (found := re.match(r"[\w.-]+", code))
    ]


def column(rows: list[Row], i: int = 0) -> list[str]:
    """Return the names in one column of a table."""
    return [name for row in rows for name in names(row[i])]
