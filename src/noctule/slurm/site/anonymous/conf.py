"""Configurations without names: the keys that the model uses, and nothing else.

Paths, hosts of daemons, comments and all keys that the model leaves alone are dropped; what is
kept is a number, a word of Slurm's own, or a name that was replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from noctule.errors import InputError
from noctule.slurm.conf.cluster_settings import (
    Accounting,
    Ends,
    Limits,
    PowerSaving,
    Preemption,
    Priority,
    Select,
)
from noctule.slurm.conf.known_keys import is_slurms
from noctule.slurm.conf.lines import Conf, ConfLine
from noctule.slurm.conf.nodes import Node
from noctule.slurm.conf.partitions import Partition
from noctule.slurm.conf.values import FLAG, TEXT, WEIGHTS, WORDS, SettingFacts, settings_of
from noctule.slurm.site.anonymous.names import Names, number_text

Rewrite = Callable[[Names, str], str]

_SECTIONS = (Priority, Select, Preemption, PowerSaving, Ends, Limits, Accounting)


def _some_nodes(names: Names, text: str) -> str:
    """Replace a list of hosts; one with numbers of nodes behind it (`n[1-9]:2`) is left out."""
    try:
        return names.nodes(text)
    except InputError:
        return ""


def _script(_: Names, text: str) -> str:
    return "/bin/true" if text else ""


def _weights(names: Names, text: str) -> str:
    words = (word.partition("=") for word in text.split(",") if "=" in word)
    return ",".join(f"{names.resource(n.strip().lower())}={number_text(v)}" for n, _, v in words)


def _parameters(_: Names, text: str) -> str:
    words = (word.strip().partition("=") for word in text.split(","))
    kept = ((n, e, v) for n, e, v in words if is_slurms(n))
    return ",".join(
        f"{n}{e}{v if v in ('min', 'avg', 'max') else number_text(v)}" for n, e, v in kept
    )


def _counted(kind: str) -> Rewrite:
    return lambda names, text: names.names(kind, text)


def _listed_resources(names: Names, text: str) -> str:
    return ",".join(
        names.resource(word.strip().lower()) for word in text.split(",") if word.strip()
    )


# keys whose values are names; those of closed sets of words and of numbers need no rule
_RULES: dict[str, Rewrite] = {
    "nodes": lambda names, text: names.nodes(text),
    "suspendexcnodes": _some_nodes,
    "suspendexcparts": _counted("p"),
    "qos": _counted("q"),
    "allowqos": _counted("q"),
    "denyqos": _counted("q"),
    "allowaccounts": _counted("a"),
    "denyaccounts": _counted("a"),
    "allowgroups": _counted("o"),
    "features": lambda names, text: names.features(text),
    "feature": lambda names, text: names.features(text),
    "gres": lambda names, text: names.gres(text),
    "grestypes": lambda names, text: ",".join(map(names.gres_name, text.split(","))),
    "cpuspeclist": lambda _, text: number_text(text),
    "epilog": _script,
    "prolog": _script,
    "suspendprogram": _script,
    "resumeprogram": _script,
    "tresbillingweights": _weights,
    "priorityweighttres": _weights,
    "schedulerparameters": _parameters,
    "licenses": lambda names, text: names.licenses(text),
    "clustername": lambda names, text: names.name("c", text),
    "accountingstoragetres": _listed_resources,
}
_CLOSED_WORDS = {
    "accountingstoragetype": "accounting_storage/none accounting_storage/slurmdbd",
    "schedulertype": "sched/backfill sched/builtin",
    "priorityflags": "accrue_always calculate_running depth_oblivious no_fair_tree incr_only "
    "max_tres no_normal_all no_normal_assoc no_normal_part no_normal_qos no_normal_tres "
    "small_relative_to_time",
    "selecttypeparameters": "cr_cpu cr_cpu_memory cr_core cr_core_memory cr_socket "
    "cr_socket_memory cr_memory cr_lln cr_pack_nodes cr_one_task_per_core "
    "cr_core_default_dist_block",
    "topologyparam": "dragonfly topooptional routepart",
    "prologflags": "alloc contain deferbatch nohold forceequeueonfail serial x11",
    "dependencyparameters": "kill_invalid_depend disable_remote_singleton",
    "accountingstorageenforce": "associations limits nojobs nosteps qos safe wckeys all",
}


def anonymous_conf(conf: Conf, names: Names) -> Iterator[str]:
    """Yield the lines of a slurm.conf without names."""
    for line in conf.lines:
        words = list(_words(line, names))
        if words:
            yield " ".join(words) + "\n"


def _words(line: ConfLine, names: Names) -> Iterator[str]:
    first, value = line.entries[0]
    head = first.lower()
    if head in ("nodename", "downnodes"):
        yield f"{first}={names.nodes(value)}"
        yield from _known(line, names, {facts.key.lower(): facts for facts in _facts(Node)})
    elif head in ("partitionname", "nodeset"):
        yield f"{first}={names.name('p', value)}"
        yield from _known(line, names, {facts.key.lower(): facts for facts in _facts(Partition)})
    else:
        yield from _known(line, names, _GLOBAL, skip=0)


def _known(
    line: ConfLine, names: Names, known: dict[str, SettingFacts | None], *, skip: int = 1
) -> Iterator[str]:
    for key, text in line.entries[skip:]:
        lower = key.lower()
        if lower not in known and lower not in ("feature", "nodes"):
            continue
        value = _rewritten(lower, text, known.get(lower), names)
        if value or not text:
            yield f'{key}="{value}"' if " " in value or not value else f"{key}={value}"


def _rewritten(key: str, text: str, facts: SettingFacts | None, names: Names) -> str:
    if key in _CLOSED_WORDS:
        known = _CLOSED_WORDS[key].split()
        return ",".join(word for word in text.split(",") if word.strip().lower() in known)
    if key in _RULES:
        return _RULES[key](names, text)
    if facts is None or facts.kind in (TEXT, WORDS, WEIGHTS):
        return ""
    # a reader that takes the text knows all its words: numbers, flags, times and choices
    try:
        facts.kind.read(text)
    except ValueError:
        return ""
    return ("YES" if facts.kind.read(text) else "NO") if facts.kind is FLAG else text


def _facts(cls: type) -> Iterator[SettingFacts]:
    for facts in settings_of(cls):
        yield facts
        for alias in facts.aliases:
            yield SettingFacts(alias, facts.field, facts.kind, facts.default, facts.says)


_GLOBAL: dict[str, SettingFacts | None] = {
    **{facts.key.lower(): facts for cls in _SECTIONS for facts in _facts(cls)},
    **dict.fromkeys(("clustername", "schedulertype", "schedulerparameters", "licenses")),
}
