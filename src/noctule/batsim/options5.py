"""The options of Batsim 5's command line, and how words become options.

The grammar is CLI11's: `--name value`, `--name=value`, `-xvalue`, `-xyz`; some options take two
values, and some as many as follow. `--` ends such a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from noctule.batsim.options import (
    BatsimError,
    Given,
    Option,
    Takes,
    help_lines,
    refuse_odd_words,
)
from noctule.units import shown


class Batsim5Code(IntEnum):
    """Exit codes of Batsim 5."""

    USAGE = 1
    DEADLOCK = 1
    ABORTED = 134


_P, _O, _M, _N = Takes.PAIRS, Takes.ONE, Takes.MANY, Takes.NOTHING
BATSIM5_OPTIONS = (
    Option("--platform", _O, "SimGrid platform to simulate.", "-p", value="FILE"),
    Option("--workload", _M, "JSON workload; the first is called w0.", "-w", value="FILE..."),
    Option("--external-events", _M, "External events; the first are ee0.", "", "--ee", "FILE..."),
    Option("--export", _O, "What the names of the output files begin with.", "-e", value="PREFIX"),
    Option("--trace-machine-state", _N, "Write machine_states.csv."),
    Option(
        "--trace-pstate-changes", _N, "Write pstate_changes.csv.", alias="--trace-pstate-change"
    ),
    Option("--trace-probe-data", _O, "always, never or auto; changes nothing.", value="WHEN"),
    Option("--edc-library-str", _P, "Component in a library; text.", "-l", value="LIB TEXT"),
    Option("--edc-library-file", _P, "The same, text from a file.", "-L", value="LIB FILE"),
    Option("--edc-socket-str", _P, "Component in a process; text.", "-s", value="ENDPOINT TEXT"),
    Option("--edc-socket-file", _P, "The same, text from a file.", "-S", value="ENDPOINT FILE"),
    Option("--edc-library-load-method", _O, "dlopen or dlmopen.", value="METHOD"),
    Option("--master-host", _O, "Host kept for the simulator itself.", "-m", value="NAME"),
    Option("--add-role", _P, "Role of a host.", "-r", value="HOST ROLE"),
    Option("--mmax", _O, "Offer only so many compute hosts, 0 for all.", value="N"),
    Option("--mmax-workload", _N, "Offer as many as the largest nb_res of the workloads."),
    Option("--energy-host", _N, "Count the joules of hosts."),
    Option("--energy-link", _N, "Refused: nobody counts the joules of links."),
    Option("--energy", _N, "Refused, for the same reason.", "-E"),
    Option("--sg-cfg", _M, "Option of SimGrid.", value="NAME:VALUE..."),
    Option("--sg-log", _M, "Accepted, and ignored.", value="TEXT..."),
    Option("--verbosity", _O, "quiet, info or debug.", "-v", value="LEVEL"),
    Option("--quiet", _N, "The same as --verbosity quiet.", "-q"),
    Option("--config", _O, "Read options from a TOML or INI file.", "-c", value="FILE"),
    Option("--gen-config", _O, "Write all options to such a file, and exit.", value="FILE"),
    Option("--version", _N, "Show the version, and exit.", alias="--batsim-version"),
    Option("--simgrid-version", _N, "Show which SimGrid the numbers are those of, and exit."),
    Option("--batsim-git-commit", _N, "Not implemented."),
    Option("--simgrid-git-commit", _N, "Not implemented."),
    Option("--dump-execution-context", _N, "Print what robin wants to know, and exit."),
    Option("--help", _N, "Show this text, and exit.", "-h"),
)
OWN_OPTIONS = (
    Option("--timeout", _O, "Give up on a component that is silent for so long.", value="SECONDS"),
)
ALL_OPTIONS = (*BATSIM5_OPTIONS, *OWN_OPTIONS)
_BY_NAME = {
    name: option
    for option in ALL_OPTIONS
    for name in (option.name, option.alias, option.short)
    if name
}


def read_words5(words: Sequence[str]) -> Given:
    """Find the options of a command line."""
    refuse_odd_words(words)
    given = Given()
    left = list(reversed(words))
    while left:
        word = left.pop()
        if word == "--":
            continue
        if not word.startswith("-") or len(word) < 2:
            raise _wrong(f"arguments: got {shown(word)}, expected an option; --help lists them")
        name, option, value = _found(word)
        if option.takes is Takes.NOTHING:
            if value and word.startswith("--"):
                raise _wrong(f"{name}: got {shown(value)}, expected no value")
            if value:
                left.append(f"-{value}")
            values = []
        else:
            values = _values(option, value, left)
        if option.name in given and option.takes in (Takes.NOTHING, Takes.ONE):
            raise _wrong(f"{option.name}: given twice, expected once")
        given.values.setdefault(option.name, []).extend(values)
    return given


def _found(word: str) -> tuple[str, Option, str | None]:
    """Return the name of an option, the option, and what stands directly behind the name."""
    if word.startswith("--"):
        name, has_value, value = word.partition("=")
    else:
        name, value = word[:2], word[2:].removeprefix("=")
        has_value = value
    if name not in _BY_NAME:
        raise _wrong(f"{shown(name)}: no such option; --help lists all")
    return name, _BY_NAME[name], value if has_value else None


def _values(option: Option, value: str | None, left: list[str]) -> list[str]:
    """Take the values of an option from the words that are left: at least as many as it needs."""
    values = [] if value is None else [value]
    n_needed = 2 if option.takes is Takes.PAIRS else 1
    while len(values) < n_needed:
        if not left:
            raise _wrong(f"{option.name}: got {len(values)} values, expected {option.value}")
        values.append(left.pop())
    while option.takes is Takes.MANY and left and not _is_option(left[-1]):
        values.append(left.pop())
    return values


def _is_option(word: str) -> bool:
    return word == "--" or word.partition("=")[0] in _BY_NAME or word[:2] in _BY_NAME


def _wrong(message: str) -> BatsimError:
    return BatsimError(message, Batsim5Code.USAGE)


def help_text5() -> str:
    """Return what --help shows."""
    return help_lines(
        "Usage: noctule batsim5 -p FILE [-w FILE...] (-l LIB TEXT | -s ENDPOINT TEXT) [OPTION]...",
        "Simulates as Batsim 5 does: same options, same protocol in JSON, same files.",
        {"Options of Batsim 5": BATSIM5_OPTIONS, "Options of Noctule": OWN_OPTIONS},
    )
