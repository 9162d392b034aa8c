"""SimGrid's platform XML, versions 4.0 and 4.1, as a stream of elements.

Nothing but the file itself is read: a DOCTYPE may name simgrid.dtd, but it is not fetched, and one
that declares anything of its own is refused, so that entities can neither grow nor reach out.
"""

from __future__ import annotations

import re
from typing import NoReturn
from xml.parsers import expat

from noctule.errors import InputError
from noctule.formats.platform_draft import PlatformDraft
from noctule.formats.simgrid_building import BUILDERS, Builder
from noctule.formats.simgrid_elements import Element
from noctule.formats.simgrid_tags import GONE, SYNONYMS, TAGS

_LATE_DECLARATION = re.compile(rb"(\s+)(<\?xml\s[^>]*\?>)")
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_ENTITY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);|#)[^\s;<&\"']{1,40};")


def read_simgrid(text: bytes, *, source: str) -> PlatformDraft:
    """Read the elements of a platform file into a draft."""
    draft = PlatformDraft(source)
    reader = _Reader(draft, text)
    try:
        reader.parser.Parse(_with_its_declaration_first(text), True)
    except expat.ExpatError as error:
        where = f"{source}: line {error.lineno}, column {error.offset + 1}"
        raise InputError(f"{where}: not valid XML: {expat.ErrorString(error.code)}") from None
    except (LookupError, ValueError):
        if reader.has_begun:  # it is not about the first line
            raise
        raise InputError(f"{source}: line 1: got an encoding that cannot be read") from None
    return draft


def _with_its_declaration_first(text: bytes) -> bytes:
    """Move blanks in front of the XML declaration behind it, which lines do not notice.

    XML forbids them, but SimGrid does not mind, and some of Batsim's own platforms have them.
    """
    match = _LATE_DECLARATION.match(text)
    return text if match is None else match[2] + match[1] + text[match.end() :]


def _refuse_entities(text: bytes, source: str) -> None:
    """Refuse references that nobody defines: the parser leaves them out of attributes, silently."""
    if b"&" not in text:
        return
    hidden = _COMMENT.sub(lambda comment: re.sub(rb"[^\n]", b" ", comment[0]), text)
    match = _ENTITY.search(hidden)
    if match:
        line = text.count(b"\n", 0, match.start()) + 1
        column = match.start() - (text.rfind(b"\n", 0, match.start()) + 1) + 1
        found = match[0].decode(errors="replace")
        raise InputError(
            f"{source}: line {line}, column {column}: got the entity {found}, expected none"
        )


class _Reader:
    """Checks each element against the table of tags and hands it to its builder when it ends."""

    def __init__(self, draft: PlatformDraft, text: bytes) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.has_begun = False
        self._text = text
        self._draft = draft
        self._stack: list[Element] = []
        self._builder = Builder(draft)

    def _doctype(
        self, _name: str, _system_id: str | None, _public_id: str | None, has_subset: bool
    ) -> None:
        if has_subset:
            self._refuse("got declarations in the DOCTYPE, expected none: no entity is expanded")

    def _refuse(self, what: str) -> NoReturn:
        line, column = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1
        raise InputError(f"{self._draft.source}: line {line}, column {column}: {what}")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = SYNONYMS.get(tag, tag)
        stack = self._stack
        parent = stack[-1] if stack else None
        if parent is None:
            self.has_begun = True
            _refuse_entities(self._text, self._draft.source)
        if tag not in (TAGS[parent.tag].children if parent else ("platform",)):
            self._refuse_tag(tag, parent)
        parser = self.parser
        position = (parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)
        element = Element(tag, attributes, self._draft, position, parent)
        rule = TAGS[tag]
        if not rule.required <= attributes.keys() <= rule.allowed:
            self._refuse_attributes(element)
        stack.append(element)
        if tag == "zone":
            self._builder.begin_zone(element)
        elif tag == "platform":
            self._builder.begin_platform(element)
        elif tag == "trace":
            parser.CharacterDataHandler = element.text.append

    def _end(self, _tag: str) -> None:
        element = self._stack.pop()
        build = BUILDERS.get(element.tag)
        if build is not None:
            build(self._builder, element)
        if element.tag == "trace":
            self.parser.CharacterDataHandler = None

    def _refuse_tag(self, tag: str, parent: Element | None) -> NoReturn:
        if tag in GONE:
            self._refuse(f"got <{tag}>, which SimGrid no longer has, expected {GONE[tag]}")
        if parent is None:
            self._refuse(f"got <{tag}>, expected <platform>")
        known = ", ".join(sorted(TAGS[parent.tag].children)) or "nothing"
        self._refuse(f"got <{tag}> in <{parent.tag}>, expected {known}")

    def _refuse_attributes(self, element: Element) -> NoReturn:
        rule = TAGS[element.tag]
        missing = sorted(rule.required - element.attributes.keys())
        if missing:
            raise InputError(f"{element.where}: {missing[0]}: missing")
        unknown = next(name for name in element.attributes if name not in rule.allowed)
        known = ", ".join(sorted(rule.allowed))
        raise InputError(f"{element.where}: {unknown}: unknown, expected {known}")
