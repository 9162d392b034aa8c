"""Files of a site without names: rows of accounting, tables of sacctmgr, dumps, switches.

Columns that are not known are dropped, since nobody knows what they hold; so are rows that cannot
be read. Command lines of submissions are reduced to the options that decide when a job starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from noctule.errors import InputError
from noctule.slurm.conf.associations import SPECIFICATION, Association, LimitSet, Qos
from noctule.slurm.conf.gres import gres_devices
from noctule.slurm.conf.hostlist import compress_hosts, expand_hosts
from noctule.slurm.conf.lines import Conf
from noctule.slurm.conf.values import settings_of
from noctule.slurm.jobs.requests import parse_dependencies
from noctule.slurm.jobs.sacct_rows import COLUMNS, split_job_id
from noctule.slurm.jobs.submit_line import options_of
from noctule.slurm.site.anonymous.names import Names, number_text
from noctule.units import shown

Rewrite = Callable[[Names, str], str]

_TIME = re.compile(r"[0-9]+|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,}|Unknown|None", re.ASCII)
_STATE = re.compile(r"[A-Z_]+", re.ASCII)
_FLAGS = ("SchedMain", "SchedBackfill", "SchedSubmit", "StartReceived", "StartRecieved")
_LIMIT_WORDS = ("UNLIMITED", "Partition_Limit", "INFINITE")
_RESERVATION_FLAGS = (
    "MAINT OVERLAP IGNORE_JOBS DAILY WEEKLY WEEKDAY WEEKEND SPEC_NODES ALL_NODES ANY_NODES STATIC "
    "FLEX MAGNETIC PURGE_COMP REPLACE REPLACE_DOWN TIME_FLOAT FIRST_CORES HOURLY"
)


def _number(_: Names, text: str) -> str:
    return number_text(text)


def _time(_: Names, text: str) -> str:
    return text if _TIME.fullmatch(text) else ""


def _limit(_: Names, text: str) -> str:
    return text if text in _LIMIT_WORDS else number_text(text)


def _job_id(_: Names, text: str) -> str:
    return text if split_job_id(text) else ""


def _state(_: Names, text: str) -> str:
    match = _STATE.match(text)
    return match[0] if match else ""


def _flags(_: Names, text: str) -> str:
    return ",".join(flag for flag in _FLAGS if flag in text)


def _reservation_flags(_: Names, text: str) -> str:
    known = _RESERVATION_FLAGS.split()
    return ",".join(word for word in re.split("[,+ ]", text.upper()) if word in known)


def _kind(letter: str) -> Rewrite:
    return lambda names, text: names.names(letter, text)


def _host_list(names: Names, text: str) -> str:
    try:
        return names.nodes(text)
    except InputError:
        return ""


def _tres(names: Names, text: str) -> str:
    return names.tres(text)


def _features(names: Names, text: str) -> str:
    return names.features(text)


def reduced_line(names: Names, line: str) -> str:
    """Return the command line of a submission with nothing but options that are understood."""
    words = ["sbatch"]
    for option, text in options_of(line).items():
        rewrite = _OPTIONS.get(option)
        if rewrite is None:
            continue
        value = rewrite(names, text)
        if value:
            words.append(f"--{option}={value}")
        elif not text:
            words.append(f"--{option}")
    return " ".join(words) if len(words) > 1 else ""


def _dependency(_: Names, text: str) -> str:
    try:
        found, is_any = parse_dependencies(text, "")
    except InputError:
        return ""
    return ("?" if is_any else ",").join(map(str, found))


def _begin(_: Names, text: str) -> str:
    return "now" if text else ""


def _alone(_: Names, text: str) -> str:  # noqa: ARG001
    return ""


def _exclusive(_: Names, text: str) -> str:
    return text if text in ("user", "mcs") else ""


_OPTIONS: Mapping[str, Rewrite] = {
    "array": _number,
    "begin": _begin,
    "constraint": _features,
    "contiguous": _alone,
    "cpus-per-task": _number,
    "dependency": _dependency,
    "exclude": _host_list,
    "exclusive": _exclusive,
    "gpus": _number,
    "gpus-per-node": _number,
    "gpus-per-task": _number,
    "gres": lambda names, text: names.gres(text),
    "hold": _alone,
    "job-name": _kind("j"),
    "licenses": lambda names, text: names.licenses(text),
    "mem": _number,
    "mem-per-cpu": _number,
    "nice": _number,
    "no-requeue": _alone,
    "nodelist": _host_list,
    "nodes": _number,
    "ntasks": _number,
    "ntasks-per-node": _number,
    "oversubscribe": _alone,
    "partition": _kind("p"),
    "requeue": _alone,
    "switches": _number,
    "time-min": _number,
}
_SACCT: Mapping[str, Rewrite] = {
    "JobIDRaw": _job_id,
    "JobID": _job_id,
    "Submit": _time,
    "Eligible": _time,
    "Start": _time,
    "End": _time,
    "Suspended": _number,
    "State": _state,
    "ExitCode": _number,
    "Partition": _kind("p"),
    "QOS": _kind("q"),
    "Account": _kind("a"),
    "User": _kind("u"),
    "ReqCPUS": _number,
    "ReqNodes": _number,
    "ReqMem": lambda _, text: text if re.fullmatch(r"[0-9.]*[KMGT]?[nc]?", text) else "",
    "ReqTRES": _tres,
    "AllocTRES": _tres,
    "Timelimit": _limit,
    "NodeList": _host_list,
    "Priority": _number,
    "Reservation": _kind("r"),
    "Constraints": _features,
    "Flags": _flags,
    "JobName": _kind("j"),
    "SubmitLine": reduced_line,
}
_TABLES: Mapping[str, Mapping[str, Rewrite]] = {
    "events": {"NodeName": _host_list, "TimeStart": _time, "TimeEnd": _time, "State": _state},
    "reservations": {
        "Name": _kind("r"),
        "NodeNames": _host_list,
        "NodeName": _host_list,
        "TimeStart": _time,
        "TimeEnd": _time,
        "Start": _time,
        "End": _time,
        "Flags": _reservation_flags,
    },
    "usage": {"Account": _kind("a"), "User": _kind("u"), "RawUsage": _number},
}


def anonymous_sacct(lines: Iterable[str], names: Names) -> Iterator[str]:
    """Yield rows of accounting without names; rows that are cut, and steps, are left out."""
    rows = iter(lines)
    header = next(rows, "").rstrip("|").split("|")
    places = [(i, name) for i, name in enumerate(header) if name in COLUMNS and name in _SACCT]
    if not any(name in ("JobID", "JobIDRaw") for _, name in places):
        raise InputError("rows of sacct: no column JobID, expected what the export command prints")
    yield "|".join(name for _, name in places) + "\n"
    known: dict[tuple[str, str], str] = {}
    for line in rows:
        values = line.split("|", len(header) - 1)
        if len(values) < len(header) or not split_job_id(values[places[0][0]]):
            continue
        yield "|".join(_cell(name, values[i], names, known) for i, name in places) + "\n"


def _cell(name: str, text: str, names: Names, known: dict[tuple[str, str], str]) -> str:
    if not text:
        return ""
    found = known.get((name, text))
    if found is None:
        found = _SACCT[name](names, text)
        if name not in ("Submit", "Eligible", "Start", "End", "JobID", "JobIDRaw"):
            known[name, text] = found
    return found


def anonymous_table(kind: str, text: str, names: Names) -> Iterator[str]:
    """Yield a table of events, reservations or usage without names."""
    yield from _table(text, names, _TABLES[kind])


def anonymous_qos(text: str, names: Names) -> Iterator[str]:
    """Yield the table of `sacctmgr show qos` without names."""
    yield from _table(text, names, {"Name": _kind("q"), **_limit_rules()})


def _table(text: str, names: Names, rules: Mapping[str, Rewrite]) -> Iterator[str]:
    lines = text.splitlines()
    header = lines[0].rstrip("|").split("|") if lines else []
    kept = [(i, name) for i, name in enumerate(header) if name in rules]
    yield "|".join(name for _, name in kept) + "\n"
    for line in lines[1:]:
        values = line.split("|")
        if len(values) >= len(header):
            yield "|".join(rules[name](names, values[i]) for i, name in kept) + "\n"


def _limit_rules() -> dict[str, Rewrite]:
    """Return how each key of associations and QOS is written; by what its values are."""
    rules: dict[str, Rewrite] = {}
    for facts in (*settings_of(LimitSet), *settings_of(Qos), *settings_of(Association)):
        for key in (facts.key, *facts.aliases):
            rules[key] = _tres if facts.kind.name == "TRES" else _number
    special: dict[str, Rewrite] = {
        "Preempt": _kind("q"),
        "QOS": _kind("q"),
        "QOSLevel": _kind("q"),
        "DefaultQOS": _kind("q"),
        "DefaultAccount": _kind("a"),
        "Partition": _kind("p"),
        "PreemptMode": lambda _, text: text if text.lower() in _MODES else "",
        "Flags": lambda _, text: ",".join(w for w in text.split(",") if w.lower() in _QOS_FLAGS),
        **dict.fromkeys(
            ("Fairshare", "FairShare", "Share", "Shares"),
            lambda _, text: text if text.lower() == "parent" else number_text(text),
        ),
    }
    return rules | special


_MODES = ("cluster", "cancel", "requeue", "suspend", "off", "gang", "within")
_QOS_FLAGS = (
    "denyonlimit",
    "enforceusagethreshold",
    "noreserve",
    "nodecay",
    "overpartqos",
    "partitionmaxnodes",
    "partitionminnodes",
    "partitionqos",
    "partitiontimelimit",
    "requiresreservation",
    "usagefactorsafe",
)


def anonymous_dump(text: str, names: Names) -> Iterator[str]:
    """Yield what `sacctmgr dump` wrote without names."""
    rules = {key.lower(): (key, rule) for key, rule in _limit_rules().items()}
    letters = {"cluster": "c", "parent": "a", "account": "a", "user": "u", "qos": "q"}
    for line in text.split("\n"):
        match = re.fullmatch(r"\s*(\w+)\s+-\s+('[^']*'|\"[^\"]*\"|[^:]*)(.*)", line)
        if match is None or match[1].lower() not in letters:
            continue
        entity = names.name(letters[match[1].lower()], match[2].strip("'\" "))
        words = [f"{match[1]} - '{entity}'"]
        for key, value in SPECIFICATION.findall(match[3]):
            if key.lower() in rules:
                told = rules[key.lower()][1](names, value.strip("'\""))
                words += [f"{key}='{told}'"] if told else []
        yield ":".join(words) + "\n"


def anonymous_topology(conf: Conf, names: Names) -> Iterator[str]:
    """Yield the lines of a topology.conf without names."""
    for line in conf.lines:
        values = line.values()
        if "switchname" not in values:
            raise InputError(f"{line.place}: got {shown(str(line.entries))}, expected SwitchName")
        words = [f"SwitchName={names.name('s', values['switchname'])}"]
        if "nodes" in values:
            words.append(f"Nodes={names.nodes(values['nodes'])}")
        children = expand_hosts(values.get("switches", ""), f"{line.place}: Switches")
        if children:
            words.append("Switches=" + ",".join(names.name("s", child) for child in children))
        yield " ".join(words) + "\n"


def anonymous_gres(conf: Conf, names: Names) -> Iterator[str]:
    """Yield the lines of a gres.conf without names; device files become their number."""
    for device in gres_devices(conf):
        words = []
        if device.nodes:
            words.append(f"NodeName={compress_hosts(map(names.node, device.nodes))}")
        words.append(f"Name={names.gres_name(device.name)}")
        if device.kind:
            words.append(f"Type={names.name('t', device.kind)}")
        words.append(f"Count={device.count}")
        if device.cores:
            words.append("Cores=" + ",".join(map(str, device.cores)))
        yield " ".join(words) + "\n"
