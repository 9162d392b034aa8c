"""Inputs that are nearly right: texts of a small corpus, damaged in ways that formats notice.

Input number i of a reader depends on the seed, the reader and i, and on nothing else.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

SEEDS = Path(__file__).parent / "seeds"
LONGEST = 200_000

_TOKEN = re.compile(rb'"[^"\n]*"|[A-Za-z_][\w.!-]*|[+-]?\d[\w.+-]*|[^\s\w]')
_NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_PAIR = re.compile(rb'"\w+"\s*:\s*[^,{}\[\]]+|\w+="[^"]*"|^\w+ = .*$', re.MULTILINE)

NUMBERS = (
    b"0 -0 -1 1 2 3 7 0.5 -0.0 1e-300 5e-324 1e308 1.7976931348623157e308 1e309 -1e308 -1e309 "
    b"nan NaN -nan inf -inf Infinity -Infinity 1e5 1e16 9007199254740993 2147483647 2147483648 "
    b"4294967295 4294967296 9223372036854775807 9223372036854775808 -9223372036854775809 "
    b"18446744073709551616 1000000000 1000001 99999 0x7f 0xffffffffffffffffffffffffffffffff "
    b"1_000 +5 .5 5. 1e 007 1.5.2 \xc2\xb2 \xd9\xa3 1e+400 1d3 0b1 0o7 1979-05-27 07:32:00 "
    b"1979-05-27T07:32:00Z"
).split()
VALUES = (
    b'"" "x" [] {} null true false [1] ["a"] {"a":1} [[]] [{}] [null] "\\u0000" "\\ud800" "\\n" '
    b'"a\\nb" "\\u2028" "\xe2\x80\xa8" \'\' \'x\' """\n""" {a=1} "1" "nan" "1e999" "-" '
    b'"\xf0\x9f\xa6\x87"'
).split(b" ")
_PIECES = (
    b"\0 \n \r \r\n \t \x0b \x0c \x1c \x85 \x1b[31m \x7f \xff \xc3\x28 \xed\xa0\x80 \xef\xbb\xbf "
    b"\xc2\x85 \xe2\x80\xa8 &amp; &x; &#0; &#10; &#x2028; <!-- --> <![CDATA[ ]]> <?x?> ; # // /* : "
    b", . = \" ' \\ ( ) [ ] { } < > \xff\xfe \xfe\xff \xf4\x90\x80\x80"
).split(b" ")
_BOMB = (
    b'<!DOCTYPE platform [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
    b'<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY f SYSTEM "file:///etc/hostname">]>'
)
_OPENINGS = (
    b"[",
    b"{",
    b"(",
    b'{"a":',
    b"[{",
    b'<zone id="q" routing="Full">',
    b"-",
    b"a.",
    b"x=[",
)
_LONG = (b"9", b"a", b" ", b"\n", b"1,", b"0-1 ", b"\xc3\xa9", b"a.", b"(1+", b"0.", b";\n")


@dataclass
class Damage:
    """One text on its way to an input, and all that it may be damaged with."""

    rng: random.Random
    data: bytes
    seeds: Sequence[bytes]
    words: Sequence[bytes]

    def place(self, pattern: re.Pattern[bytes]) -> tuple[int, int] | None:
        """Return where one of the matches of a pattern begins and ends."""
        found = [match.span() for match in pattern.finditer(self.data)]
        return self.rng.choice(found) if found else None

    def replaced(self, span: tuple[int, int], by: bytes) -> bytes:
        return self.data[: span[0]] + by + self.data[span[1] :]

    def span(self, longest: int = 40) -> tuple[int, int]:
        begin = self.rng.randrange(len(self.data) + 1)
        return begin, min(len(self.data), begin + self.rng.randint(1, longest))

    def word(self) -> bytes:
        kind = self.rng.random()
        return self.rng.choice(NUMBERS if kind < 0.3 else VALUES if kind < 0.5 else self.words)


def _flip_bit(d: Damage) -> bytes:
    if not d.data:
        return b"\0"
    i = d.rng.randrange(len(d.data))
    return d.replaced((i, i + 1), bytes([d.data[i] ^ 1 << d.rng.randrange(8)]))


def _set_bytes(d: Damage) -> bytes:
    return d.replaced(d.span(3), d.rng.randbytes(d.rng.randint(1, 3)))


def _insert_piece(d: Damage) -> bytes:
    i = d.rng.randrange(len(d.data) + 1)
    return d.replaced((i, i), d.rng.choice(_PIECES))


def _cut(d: Damage) -> bytes:
    return d.replaced(d.span(), b"")


def _repeat(d: Damage) -> bytes:
    begin, end = d.span()
    return d.replaced((begin, begin), d.data[begin:end] * d.rng.choice((1, 1, 2, 10)))


def _truncate(d: Damage) -> bytes:
    i = d.rng.randrange(len(d.data) + 1)
    return d.data[:i] if d.rng.random() < 0.8 else d.data[i:]


def _splice(d: Damage) -> bytes:
    other = d.rng.choice(d.seeds)
    i, j = d.rng.randrange(len(d.data) + 1), d.rng.randrange(len(other) + 1)
    return d.data[:i] + other[j:]


def _replace_token(d: Damage) -> bytes:
    span = d.place(_TOKEN)
    return d.replaced(span, d.word()) if span else d.word()


def _drop_token(d: Damage) -> bytes:
    span = d.place(_TOKEN)
    return d.replaced(span, b"") if span else d.data


def _swap_tokens(d: Damage) -> bytes:
    one, two = d.place(_TOKEN), d.place(_TOKEN)
    if one is None or two is None or one == two:
        return d.data
    (a, b), (c, e) = sorted((one, two))
    return d.data[:a] + d.data[c:e] + d.data[b:c] + d.data[a:b] + d.data[e:]


def _extreme_number(d: Damage) -> bytes:
    span = d.place(_NUMBER)
    return d.replaced(span, d.rng.choice(NUMBERS)) if span else d.rng.choice(NUMBERS)


def _near_number(d: Damage) -> bytes:
    span = d.place(_NUMBER)
    if span is None:
        return d.data
    number = b"%g" % (float(d.data[slice(*span)]) + d.rng.choice((-1, 1, -0.5, 0.25, 3)))
    return d.replaced(span, number)


def _wrong_type(d: Damage) -> bytes:
    span = d.place(_NUMBER if d.rng.random() < 0.5 else _TOKEN)
    return d.replaced(span, d.rng.choice(VALUES)) if span else d.rng.choice(VALUES)


def _change_lines(d: Damage) -> bytes:
    lines = d.data.splitlines(keepends=True)
    if not lines:
        return b"\n"
    i, j = d.rng.randrange(len(lines)), d.rng.randrange(len(lines))
    match d.rng.randrange(4):
        case 0:
            del lines[i]
        case 1:
            lines.insert(i, lines[j])
        case 2:
            lines[i], lines[j] = lines[j], lines[i]
        case 3:
            lines.insert(i, d.rng.choice(d.rng.choice(d.seeds).splitlines(keepends=True)))
    return b"".join(lines)


def _repeat_pair(d: Damage) -> bytes:
    """Give a key, an attribute or a setting twice, the second time perhaps as something else."""
    span = d.place(_PAIR)
    if span is None:
        return d.data
    pair = d.data[slice(*span)]
    between = b" " if b'="' in pair else b", " if pair[:1] == b'"' else b"\n"
    if d.rng.random() < 0.3:
        return d.replaced(span, b"")
    return d.replaced(span, pair + between + _replace_token(Damage(d.rng, pair, d.seeds, d.words)))


def _damage_encoding(d: Damage) -> bytes:  # noqa: PLR0911
    match d.rng.randrange(7):
        case 0:
            return b"\xef\xbb\xbf" * d.rng.choice((1, 1, 2)) + d.data
        case 1:
            text = d.data.decode("utf-8", "replace")
            return text.encode(
                d.rng.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7"))
            )
        case 2:
            return d.data.replace(
                b"\n", d.rng.choice((b"\r", b"\r\n", b"\n\n", b"\x0b", b"", b"\x85"))
            )
        case 3:
            name = d.rng.choice(
                (b"latin-1", b"utf-16", b"ascii", b"nope", b"idna", b"cp1252", b"koi8-r")
            )
            return b'<?xml version="1.0" encoding="' + name + b'"?>' + d.data
        case 4:
            return (
                d.rng.choice((b" ", b"\n", b"\t\r\n", b"\0", b"\x1f\x8b", b"BZh9", b"\xfd7zXZ\0"))
                + d.data
            )
        case 5:
            return d.data + d.rng.choice(
                (b"\0", b"\x1a", b" x", b"}", b"</platform>", b"\\", b"\xff")
            )
        case _:
            return d.data.upper() if d.rng.random() < 0.5 else d.data.swapcase()


def _add_entities(d: Damage) -> bytes:
    span = d.place(_TOKEN) or (0, 0)
    entity = d.rng.choice((b"&c;", b"&f;", b"&nope;", b"&lt;", b"&#49;", b"&#xA;"))
    data = d.replaced(span, b'"' + entity + b'"' if d.rng.random() < 0.5 else entity)
    return _BOMB + data if d.rng.random() < 0.5 else data


def _nest(d: Damage) -> bytes:
    """Nest something deeply; now and then so deeply that no stack can hold it."""
    opening = d.rng.choice(_OPENINGS)
    depth = d.rng.choice((2, 5, 50, 101, 990, 3000) if d.rng.random() < 0.95 else (30_000, 100_000))
    closing = {b"[": b"]", b"{": b"}", b"(": b")", b'{"a":': b"}", b"[{": b"}]", b"x=[": b"]"}.get(
        opening, b"</zone>" if opening[:1] == b"<" else b""
    )
    span = d.place(_TOKEN) or (0, 0)
    inside = d.data[slice(*span)]
    if d.rng.random() < 0.5:
        closing = b""
    return d.replaced(span, opening * depth + inside + closing * depth)


def _lengthen(d: Damage) -> bytes:
    span = d.place(_TOKEN) or (0, 0)
    n = d.rng.choice((50, 309, 1000, 4301, 5000) if d.rng.random() < 0.9 else (20_000, 100_000))
    return d.replaced(span, d.rng.choice(_LONG) * n)


def _change_tree(d: Damage) -> bytes:
    """Put an odd value somewhere into a JSON document."""
    try:
        document = json.loads(d.data)
    except (ValueError, RecursionError):
        return _wrong_type(d)
    at: Any = document
    while isinstance(at, dict | list) and at:
        key = d.rng.choice(list(at)) if isinstance(at, dict) else d.rng.randrange(len(at))
        inside = at[key]
        if not (isinstance(inside, dict | list) and inside) or d.rng.random() < 0.25:
            if d.rng.random() < 0.15:
                del at[key]
            else:
                at[key] = d.rng.choice(_ODD)
            break
        at = inside
    return json.dumps(document).encode()


_ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2,
        2**31,
        2**53 + 1,
        2**63,
        2**64,
        10**400,
        -(10**400),
        0.5,
        -0.0,
    ),
    *(
        1e308,
        -1e308,
        5e-324,
        float("nan"),
        float("inf"),
        "",
        "x",
        "w0!1",
        "a\nb",
        "\0",
        "é",
        "w1!x",
    ),
    *([], {}, [1], [0, 0], ["a"], {"a": 1}, [[]], [{}], {"": ""}, "d", "1", "delay", [None], 1e400),
)

# (how often, what)
_DAMAGES: tuple[tuple[int, Callable[[Damage], bytes]], ...] = (
    (6, _flip_bit),
    (3, _set_bytes),
    (6, _insert_piece),
    (5, _cut),
    (4, _repeat),
    (3, _truncate),
    (4, _splice),
    (14, _replace_token),
    (6, _drop_token),
    (8, _swap_tokens),
    (14, _extreme_number),
    (6, _near_number),
    (8, _wrong_type),
    (8, _change_lines),
    (5, _repeat_pair),
    (2, _damage_encoding),
    (1, _add_entities),
)
# Costly ones, which are rarer and done once an input at most.
_RARE = ((2, _nest), (2, _lengthen))


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def _compressed(rng: random.Random, data: bytes) -> bytes:
    pack = rng.choice((_gzip, bz2.compress, lzma.compress))
    packed = pack(data)
    match rng.randrange(5):
        case 0:
            return packed
        case 1:
            return packed[: rng.randrange(len(packed))]
        case 2:
            return packed + rng.choice(
                (b"\0\0\0\0", b"\0", b"x", packed, packed[: len(packed) // 2])
            )
        case 3:
            return pack(packed)
        case _:
            i = rng.randrange(len(packed))
            return packed[:i] + rng.randbytes(rng.randint(1, 4)) + packed[i + 1 :]


@dataclass(frozen=True)
class Corpus:
    """The good texts of a reader, and the inputs that are made of them."""

    reader: str
    seeds: tuple[bytes, ...]

    @classmethod
    def of(cls, reader: str) -> Corpus:
        """Read the texts of a reader, in the order of their names."""
        return cls(reader, tuple(path.read_bytes() for path in sorted((SEEDS / reader).iterdir())))

    @cached_property
    def words(self) -> list[bytes]:
        """All that stands in the texts."""
        return sorted({word for seed in self.seeds for word in _TOKEN.findall(seed)})

    def input(self, seed: int, index: int) -> bytes:
        """Return input number `index`; the first ones are the texts as they are."""
        if index < len(self.seeds):
            return self.seeds[index]
        rng = random.Random(f"{seed} {self.reader} {index}")
        return self.damaged(rng, rng.choice(self.seeds))

    def damaged(self, rng: random.Random, data: bytes) -> bytes:
        """Damage a text, once or several times."""
        kinds = (*_DAMAGES, (12, _change_tree)) if data[:1] == b"{" else _DAMAGES
        weights, damages = zip(*kinds, strict=True)
        n = 1 + min(int(rng.expovariate(0.8)), 8)
        for damage in rng.choices(damages, weights, k=n):
            data = damage(Damage(rng, data, self.seeds, self.words))
        chance = rng.random()
        if chance < 0.01:
            data = rng.choice(_RARE)[1](Damage(rng, data, self.seeds, self.words))
        elif chance < 0.04:
            data = _compressed(rng, data)
        return data[:LONGEST]
