"""Lists of hosts as Slurm writes them: `n[1-3,05],login` and back.

Brackets hold numbers and ranges of numbers; leading zeros say how many digits a number has. Several
pairs of brackets in one name are a product, the leftmost turning slowest: `rack[0-1]blade[0-3]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product

from noctule.errors import InputError
from noctule.units import shown

_MOST_HOSTS = 1_000_000
_LONGEST_NUMBER = 18
_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?", re.ASCII)
_NUMBERED = re.compile(r"(.*?)([0-9]{1,18})", re.ASCII | re.DOTALL)


def expand_hosts(text: str, where: str = "hosts") -> list[str]:
    """Return the names that a list of hosts stands for, in its order."""
    names: list[str] = []
    for part in split_outside_brackets(text):
        word = part.strip()
        if not word:
            continue
        names += _expand_word(word, f"{where}: got {shown(text)}", _MOST_HOSTS - len(names))
    return names


def compress_hosts(names: Iterable[str]) -> str:
    """Write names as one list of hosts, in their order; it expands to the same names."""
    groups: list[_Group] = []
    for name in names:
        match = _NUMBERED.fullmatch(name)
        prefix, digits = match.groups() if match else (name, "")
        if not (groups and groups[-1].takes(prefix, digits)):
            groups.append(_Group(prefix, digits))
        groups[-1].add(digits)
    return ",".join(map(str, groups))


def split_outside_brackets(text: str, separator: str = ",") -> Iterator[str]:
    """Yield the parts between separators, but for separators within brackets."""
    depth = begin = 0
    for i, letter in enumerate(text):
        if letter == "[":
            depth += 1
        elif letter == "]":
            depth -= 1
        elif letter == separator and depth <= 0:
            yield text[begin:i]
            begin = i + 1
    yield text[begin:]


class _Group:
    """Hosts of one prefix that share a pair of brackets."""

    def __init__(self, prefix: str, digits: str) -> None:
        self.prefix = prefix
        # how many digits a number may be padded to so that every one is written as it was
        self.fewest, self.most = _paddings(digits)
        self.ranges: list[list[int]] = []

    def takes(self, prefix: str, digits: str) -> bool:
        if prefix != self.prefix or not (digits and self.ranges):
            return False
        fewest, most = _paddings(digits)
        return max(fewest, self.fewest) <= min(most, self.most)

    def add(self, digits: str) -> None:
        if not digits:
            return
        fewest, most = _paddings(digits)
        self.fewest, self.most = max(fewest, self.fewest), min(most, self.most)
        number = int(digits)
        if self.ranges and self.ranges[-1][1] + 1 == number:
            self.ranges[-1][1] = number
        else:
            self.ranges.append([number, number])

    def __str__(self) -> str:
        if not self.ranges:
            return self.prefix
        numbers = [
            f"{first:0{self.fewest}d}" + (f"-{last:0{self.fewest}d}" if last > first else "")
            for first, last in self.ranges
        ]
        if len(numbers) == 1 and "-" not in numbers[0]:
            return self.prefix + numbers[0]
        return f"{self.prefix}[{','.join(numbers)}]"


def _paddings(digits: str) -> tuple[int, int]:
    if len(digits) > 1 and digits[0] == "0":
        return len(digits), len(digits)
    return 0, len(digits)


def _expand_word(word: str, where: str, most: int) -> list[str]:
    pieces: list[list[str]] = []
    rest = word
    n_names = 1
    while rest:
        before, bracket, rest = rest.partition("[")
        if "]" in before:
            raise InputError(f"{where}: a ']' without its '[', expected a list such as n[1-3,5]")
        pieces.append([before])
        if not bracket:
            break
        inside, closing, rest = rest.partition("]")
        if not closing or "[" in inside:
            raise InputError(f"{where}: a '[' without its ']', expected a list such as n[1-3,5]")
        numbers = _expand_numbers(inside, where, most // n_names)
        n_names *= len(numbers)
        pieces.append(numbers)
    return ["".join(parts) for parts in product(*pieces)]


def _expand_numbers(inside: str, where: str, most: int) -> list[str]:
    numbers: list[str] = []
    for word in inside.split(","):
        match = _RANGE.fullmatch(word.strip())
        if match is None or max(map(len, filter(None, match.groups()))) > _LONGEST_NUMBER:
            raise InputError(
                f"{where}: {shown(word)} between brackets, expected a number or a range such as 1-3"
            )
        first, last = match[1], match[2] or match[1]
        n_numbers = int(last) - int(first) + 1
        if n_numbers < 1:
            raise InputError(f"{where}: the range {word.strip()} ends before it begins")
        if len(numbers) + n_numbers > most:
            raise InputError(f"{where}: expected at most {_MOST_HOSTS} hosts")
        width = len(first)
        numbers += [f"{number:0{width}d}" for number in range(int(first), int(last) + 1)]
    return numbers
