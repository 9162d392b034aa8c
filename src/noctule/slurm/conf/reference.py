"""The page of the reference about keys, made from the declarations that the reader uses.

`python -m noctule.slurm.conf.reference > docs/reference/slurm_keys.md` writes it again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from noctule.slurm.conf.associations import Association, LimitSet, Qos
from noctule.slurm.conf.settings import setting_tables
from noctule.slurm.conf.values import SettingFacts, settings_of

_HEAD = """# Keys of Slurm's files

Every key that the model of Slurm uses, with Slurm 22.05's default. Keys are the same whatever their
case. Other keys of `slurm.conf` are listed when it is read, with their lines; what Slurm would
correct is corrected alike and told, what would keep its controller from starting is refused. Made
by `python -m noctule.slurm.conf.reference`.

`ClusterName`, `SchedulerType` (`sched/backfill` or `sched/builtin`), `Include`, `Licenses`
(`matlab:10,fluent:2`), `DownNodes` (with `State`) and `NodeSet` (with `Feature` or `Nodes`) are
read too.
"""
_WORDS = {
    "Nodes": "Of `NodeName` lines; one of the name `DEFAULT` holds for those after it.",
    "Partitions": "Of `PartitionName` lines; one of the name `DEFAULT` holds for those after it.",
    "SchedulerParameters": "Options between commas; of one given twice the first counts, and one "
    "out of its range is told and keeps its default.",
    "Associations": "Of lines of `sacctmgr dump`.",
    "QOS": "Of the table of `sacctmgr show qos`, or of lines `QOS - 'name':...` of a dump.",
    "Limits of associations and QOS": "Of both.",
}


def settings_page() -> str:
    """Return the text of the page."""
    tables = {
        **setting_tables(),
        "Associations": tuple(settings_of(Association)),
        "QOS": tuple(settings_of(Qos)),
        "Limits of associations and QOS": tuple(settings_of(LimitSet)),
    }
    parts = [_HEAD]
    for title, facts in tables.items():
        words = f"{_WORDS[title]}\n\n" if title in _WORDS else ""
        parts.append(f"## {title}\n\n{words}" + "".join(f"{line}\n" for line in _table(facts)))
    return "\n".join(parts)


def _table(facts: Iterable[SettingFacts]) -> Iterator[str]:
    yield "| key | value | default | |"
    yield "|---|---|---|---|"
    for one in facts:
        names = ", ".join(f"`{name}`" for name in (one.key, *one.aliases))
        yield f"| {names} | {one.kind.name} | {_default(one)} | {one.says} |"


def _default(facts: SettingFacts) -> str:
    value = facts.default
    if value is None or value in ("", ()):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ":".join(map(str, value))
    return str(value)


if __name__ == "__main__":
    sys.stdout.write(settings_page())
