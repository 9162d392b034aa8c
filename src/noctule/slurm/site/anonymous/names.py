"""Names replaced by keyed hashes, so that a site can give a failing case away.

Nodes are numbered in the order of the configuration, so that lists of hosts stay short; users,
accounts, partitions, QOS and all other names become a letter and a hash of the name with a secret
key: the same name gives the same hash in every file, and without the key nobody can test a guess.
Times, sizes, limits and job numbers stay.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
from collections.abc import Collection, Sequence
from hashlib import sha256
from pathlib import Path

from noctule.errors import InputError
from noctule.slurm.conf.gres import parse_gres
from noctule.slurm.conf.hostlist import compress_hosts, expand_hosts, split_outside_brackets
from noctule.slurm.conf.tres import read_tres

_DIGITS = 12
_SHORTEST_KEY = 16
# words that mean the same everywhere
_RESOURCES = frozenset(("cpu", "mem", "node", "billing", "energy", "vmem", "pages", "fs/disk"))
_GRES = frozenset(("gpu", "mps", "shard", "nic", "craynetwork", "bandwidth", "tmpfs"))
_NO_NAME = frozenset(("", "ALL", "DEFAULT", "NONE", "none", "None", "root", "N/A"))
_WORD = re.compile(r"[A-Za-z_][\w.-]*")
_NUMBERS = re.compile(r"[-+0-9.,:%KMGTPkmg@]*", re.ASCII)


class Names:
    """Hashes of names under one key."""

    def __init__(
        self, key: bytes, nodes: Sequence[str] = (), node_sets: Collection[str] = ()
    ) -> None:
        """Take the key, the nodes in their order, and the names of sets of them."""
        self._node_sets = node_sets
        self._key = key
        self._known: dict[tuple[str, str], str] = {}
        self._nodes = {name: f"n{i}" for i, name in enumerate(nodes, start=1)}

    def name(self, kind: str, text: str) -> str:
        """Return what stands for a name; `kind` is the letter it begins with."""
        if text in _NO_NAME:
            return text
        known = self._known.get((kind, text))
        if known is None:
            digest = hmac.new(self._key, f"{kind}:{text}".encode(), sha256).hexdigest()
            known = self._known[kind, text] = kind + digest[:_DIGITS]
        return known

    def names(self, kind: str, text: str, separator: str = ",") -> str:
        """Return what stands for names between separators."""
        words = (word.strip() for word in text.split(separator))
        return separator.join(self.name(kind, word) for word in words if word)

    def node(self, name: str) -> str:
        """Return the number of a node; one that the configuration lacks has a hash."""
        return self._nodes.get(name) or self.name("x", name)

    def nodes(self, text: str, where: str = "nodes") -> str:
        """Return a list of hosts of numbers."""
        if text.upper() in ("ALL", "DEFAULT", "NONE ASSIGNED", ""):
            return text
        words = list(split_outside_brackets(text))
        sets = [self.name("p", word) for word in words if word in self._node_sets]
        hosts = ",".join(word for word in words if word not in self._node_sets)
        numbers = compress_hosts(self.node(name) for name in expand_hosts(hosts, where))
        return ",".join([*sets, *filter(None, [numbers])])

    def tres(self, text: str) -> str:
        """Return resources with their names replaced, but for those that all sites have."""
        try:
            amounts = read_tres(text)
        except ValueError:
            return ""
        return ",".join(
            f"{self.resource(name)}={amount}{'M' if name == 'mem' else ''}"
            for name, amount in amounts.items()
        )

    def resource(self, name: str) -> str:
        """Return the name of a resource: `cpu`, `gres/gpu:t1a2b3c`."""
        if name in _RESOURCES:
            return name
        family, slash, rest = name.partition("/")
        if not slash or family not in ("gres", "license", "fs", "bb", "ic"):
            return self.name("g", name)
        if family != "gres":
            return f"{family}/{self.name('l', rest)}"
        first, colon, kind = rest.partition(":")
        return f"gres/{self.gres_name(first)}" + (f":{self.name('t', kind)}" if colon else "")

    def gres_name(self, name: str) -> str:
        """Return the name of a generic resource; `gpu` and the like stay."""
        return name if name.lower() in _GRES else self.name("g", name)

    def gres(self, text: str) -> str:
        """Return generic resources such as `gpu:t1a2b3c:2`."""
        try:
            found = parse_gres(text, "gres")
        except InputError:
            return ""
        words = ((self.gres_name(g.name), self.name("t", g.kind), str(g.count)) for g in found)
        return ",".join(":".join(filter(None, word)) for word in words)

    def features(self, text: str) -> str:
        """Return an expression over features, or a list of them, with their names replaced."""
        return _WORD.sub(lambda match: self.name("f", match[0]), text)

    def licenses(self, text: str) -> str:
        """Return licences such as `l1a2b3c:2`."""
        words = (word.strip().rpartition(":") for word in re.split("[,;]", text) if word.strip())
        return ",".join(
            f"{self.name('l', name)}:{count}" if colon else self.name("l", count)
            for name, colon, count in words
        )


def number_text(text: str) -> str:
    """Return a text that is nothing but numbers, times and units; else nothing."""
    return text if _NUMBERS.fullmatch(text) else ""


def read_key(path: str | os.PathLike[str]) -> bytes:
    """Return the secret of a file; one that is not there is made, for its owner alone."""
    file = Path(path)
    try:
        if not file.exists():
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as out:
                out.write(secrets.token_hex(32) + "\n")
        key = file.read_bytes().strip()
    except OSError as error:
        raise InputError(f"{file}: cannot be used as key: {error.strerror or error}") from None
    if len(key) < _SHORTEST_KEY:
        raise InputError(f"{file}: {len(key)} bytes, expected a key of {_SHORTEST_KEY} or more")
    return key
