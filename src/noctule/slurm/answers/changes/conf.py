"""One key of a slurm.conf changed, as if its file had said so.

`SchedulerParameters.bf_interval=60`, `PartitionName.batch.MaxTime=2-0`,
`NodeName.n[1-4].RealMemory=64000`, or any key of the whole cluster, `PriorityWeightAge=1000`. What
the changed file means is told by `noctule.slurm.conf.settings`, which also says what is wrong with
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from noctule.errors import InputError
from noctule.slurm.conf.hostlist import compress_hosts, expand_hosts
from noctule.slurm.conf.known_keys import did_you_mean, is_slurms
from noctule.slurm.conf.lines import Conf, ConfLine, Place
from noctule.slurm.conf.scheduler_parameters import parse_scheduler_parameters
from noctule.slurm.conf.settings import SlurmSettings, settings_from
from noctule.slurm.conf.values import Given
from noctule.units import shown

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NO = ("no", "off", "false", "0")


@dataclass(frozen=True, slots=True)
class OptionPlace(Place):
    """A change on the command line, which errors name."""

    def __str__(self) -> str:
        """Say it as errors begin."""
        return self.file


def is_conf_change(text: str) -> bool:
    """Whether a change is one of a key."""
    return "=" in text or text.lower().startswith("schedulerparameters.")


def changed_conf(conf: Conf, text: str, where: str) -> Conf:
    """Return the lines of a configuration with one key changed; `where` begins errors."""
    path, has_value, value = (part.strip() for part in text.partition("="))
    scope, _, rest = path.partition(".")
    name, _, key = rest.rpartition(".")
    place = OptionPlace(where, 0)
    kind = scope.lower()
    if kind == "schedulerparameters" and rest:
        lines = _with_parameter(conf.lines, rest, value if has_value else None, place)
    elif kind in ("partitionname", "nodename") and rest:
        _check_key(key, text, where)
        change = _with_partition if kind == "partitionname" else _with_nodes
        lines = change(conf.lines, name, (key, value), place)
    else:
        _check_key(path, text, where)
        if kind in ("partitionname", "nodename", "nodeset", "downnodes", "include"):
            raise InputError(f"{where}: expected {scope}.NAME.KEY=VALUE")
        lines = _with_key(conf.lines, (path, value), place)
    return Conf(tuple(lines), conf.files)


def changed_settings(conf: Conf) -> SlurmSettings:
    """Return the settings of changed lines, or say which change is not one that the model takes."""
    settings = settings_from(conf)
    for unused in settings.unused:
        if isinstance(unused.place, OptionPlace) and _is_changed(unused.key, unused.place):
            why = "is not used by the model"
            if not unused.known:
                why = f"is unknown to Slurm 22.05{did_you_mean(unused.key)}"
            raise InputError(f"{unused.place}: {unused.key.rpartition(' ')[2]} {why}")
    return settings


def _is_changed(key: str, place: OptionPlace) -> bool:
    """Whether a key is the one that a change names: the rest of its line was there before."""
    path = place.file.partition("=")[0].lower()
    return path.endswith((f".{key.rpartition(' ')[2].lower()}", f" {key.lower()}"))


def _check_key(key: str, text: str, where: str) -> None:
    if _KEY.fullmatch(key) is None or "=" not in text:
        raise InputError(
            f"{where}: got {shown(text)}, expected KEY=VALUE, SchedulerParameters.NAME=VALUE, "
            "PartitionName.NAME.KEY=VALUE, NodeName.LIST.KEY=VALUE, nodes+20%, nodes-4 or load*1.1"
        )


def _without(entries: Sequence[tuple[str, str]], key: str) -> tuple[tuple[str, str], ...]:
    return tuple(entry for entry in entries if entry[0].lower() != key.lower())


def _is_of_cluster(line: ConfLine) -> bool:
    lines = ("nodename", "partitionname", "downnodes", "nodeset", "frontendname")
    return line.entries[0][0].lower() not in lines


def _with_key(
    lines: Sequence[ConfLine], entry: tuple[str, str], place: Place
) -> Iterator[ConfLine]:
    for line in lines:
        entries = _without(line.entries, entry[0]) if _is_of_cluster(line) else line.entries
        if entries:
            yield ConfLine(line.place, entries)
    yield ConfLine(place, (entry,))


def _with_parameter(
    lines: Sequence[ConfLine], name: str, value: str | None, place: Place
) -> Iterator[ConfLine]:
    word = name if value is None else f"{name}={value}"
    _check_parameter(name, word, place)
    words = [
        old
        for line in lines
        if _is_of_cluster(line)
        for key, text in line.entries
        if key.lower() == "schedulerparameters"
        for old in text.split(",")
        if old.strip() and old.partition("=")[0].strip().lower() != name.lower()
    ]
    if value is None or value.lower() not in _NO or not _is_flag(name):
        words.append(word)
    return _with_key(lines, ("SchedulerParameters", ",".join(words)), place)


def _check_parameter(name: str, word: str, place: Place) -> None:
    given = Given("SchedulerParameters", word, place)
    _, notes, unknown = parse_scheduler_parameters(given)
    if unknown:
        why = "is not used by the model" if is_slurms(name) else "is unknown to Slurm 22.05"
        raise InputError(f"{place}: {name} {why}{'' if is_slurms(name) else did_you_mean(name)}")
    if notes:
        raise InputError(notes[0].removesuffix("; Slurm keeps its default"))


def _is_flag(name: str) -> bool:
    """Whether a parameter is a word without a value."""
    parameters, notes, _ = parse_scheduler_parameters(
        Given("SchedulerParameters", name, OptionPlace("", 0))
    )
    return not notes and isinstance(getattr(parameters, name.lower(), None), bool)


def _with_partition(
    lines: Sequence[ConfLine], name: str, entry: tuple[str, str], place: Place
) -> Iterator[ConfLine]:
    def names_it(line: ConfLine) -> bool:
        key, value = line.entries[0]
        return key.lower() == "partitionname" and value == name

    if not any(map(names_it, lines)):
        known = [ln.entries[0][1] for ln in lines if ln.entries[0][0].lower() == "partitionname"]
        raise InputError(
            f"{place}: no partition {name!r}, expected one of {', '.join(known) or 'none'}"
        )
    for line in lines:
        if names_it(line):
            yield ConfLine(place, (*_without(line.entries, entry[0]), entry))
        else:
            yield line


def _with_nodes(
    lines: Sequence[ConfLine], names: str, entry: tuple[str, str], place: Place
) -> Iterator[ConfLine]:
    """Change nodes; a line that names others too becomes several."""
    is_all = names.upper() == "ALL"
    wanted = set() if is_all else set(expand_hosts(names, str(place)))
    found: set[str] = set()
    for line in lines:
        key, text = line.entries[0]
        if key.lower() != "nodename" or text.upper() == "DEFAULT":
            yield line
            continue
        listed = expand_hosts(text, str(line.place))
        found |= wanted.intersection(listed)
        for is_changed, group in groupby(listed, key=lambda node: is_all or node in wanted):
            own = (key, compress_hosts(group))
            entries = (own, *line.entries[1:])
            if is_changed:
                yield ConfLine(place, (*_without(entries, entry[0]), entry))
            else:
                yield ConfLine(line.place, entries)
    if wanted - found:
        raise InputError(f"{place}: {min(wanted - found)!r} is no node of the configuration")
