"""The options of Batsim 4's command line, and how words become options.

The grammar is docopt's: `--name value`, `--name=value`, `-xvalue`, `-xyz`, and long names cut short
as long as only one option begins so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntFlag

from noctule.batsim.options import (
    BatsimError,
    Given,
    Option,
    Takes,
    help_lines,
    refuse_odd_words,
)
from noctule.units import shown


class BatsimCode(IntFlag):
    """Exit codes of Batsim 4: the bits of inputs that cannot be read, and two whole ones."""

    PLATFORM = 0x01
    WORKLOAD = 0x02
    WORKFLOW = 0x04
    STARTED_WORKFLOWS = 0x08
    STARTED_WORKFLOW = 0x10
    NEGATIVE_START = 0x20
    START = 0x40
    ABORTED = 134
    USAGE = 255


_P, _O, _M, _N = Takes.PAIRS, Takes.ONE, Takes.MANY, Takes.NOTHING
BATSIM_OPTIONS = (
    Option("--platform", _O, "SimGrid platform to simulate.", "-p", value="FILE"),
    Option("--workload", _M, "JSON workload; the first is called w0.", "-w", value="FILE"),
    Option("--workflow", _M, "DAX workflow, started at 0; the first is wf0.", "-W", value="FILE"),
    Option(
        "--workflow-start",
        _P,
        "DAX workflow and when it starts; the first is wfc0.",
        alias="--WS",
        value="FILE SECONDS",
    ),
    Option("--events", _M, "External events, one JSON object a line.", value="FILE"),
    Option("--master-host", _O, "Host kept for the scheduler itself.", "-m", value="NAME"),
    Option("--add-role-to-hosts", _M, "Role of some hosts.", "-r", value="H1,H2,...:ROLE"),
    Option("--energy", _N, "Count joules; the scheduler may ask for power states.", "-E"),
    Option("--socket-endpoint", _O, "Where the scheduler listens.", "-s", value="ENDPOINT"),
    Option("--enable-redis", _N, "Refused: there is no redis here."),
    Option("--redis-hostname", _O, "Told to the scheduler only.", value="HOST"),
    Option("--redis-port", _O, "Told to the scheduler only.", value="PORT"),
    Option("--redis-prefix", _O, "Told to the scheduler only.", value="PREFIX"),
    Option("--export", _O, "What the names of the output files begin with.", "-e", value="PREFIX"),
    Option("--disable-schedule-tracing", _N, "Write no _schedule.trace."),
    Option("--disable-machine-state-tracing", _N, "Write no _machine_states.csv."),
    Option("--mmax", _O, "Offer only so many compute hosts, 0 for all.", value="N"),
    Option("--mmax-workload", _N, "Offer as many as the largest nb_res of the workloads."),
    Option("--forward-profiles-on-submission", _N, "Tell profiles with the jobs."),
    Option("--enable-dynamic-jobs", _N, "The scheduler may register jobs."),
    Option("--acknowledge-dynamic-jobs", _N, "Tell it that they are submitted."),
    Option("--enable-profile-reuse", _N, "Keep profiles whose jobs have ended."),
    Option("--verbosity", _O, "quiet, network-only, information or debug.", "-v", value="LEVEL"),
    Option("--quiet", _N, "The same as --verbosity quiet.", "-q"),
    Option("--workflow-jobs-limit", _O, "Jobs of a workflow at a time, 0 for all.", value="N"),
    Option("--ignore-beyond-last-workflow", _N, "Drop jobs after the last workflow's end."),
    Option("--dump-execution-context", _N, "Print what robin wants to know, and exit."),
    Option("--enable-compute-sharing", _N, "Several jobs may use one compute host."),
    Option("--disable-storage-sharing", _N, "Only one job may use a storage host."),
    Option("--no-sched", _N, "Start all jobs at 0 on the first hosts, without a scheduler."),
    Option("--sched-cfg", _O, "Text for the scheduler.", value="TEXT"),
    Option("--sched-cfg-file", _O, "File with the text for the scheduler.", value="FILE"),
    Option("--sg-cfg", _M, "Option of SimGrid.", value="NAME:VALUE"),
    Option("--sg-log", _M, "Accepted, and ignored.", value="TEXT"),
    Option("--forward-unknown-events", _N, "Tell external events of unknown types."),
    Option("--help", _N, "Show this text, and exit.", "-h"),
    Option("--version", _N, "Show the version, and exit."),
    Option("--simgrid-version", _N, "Show which SimGrid the numbers are those of, and exit."),
)
OWN_OPTIONS = (
    Option("--timeout", _O, "Give up on a scheduler that is silent for so long.", value="SECONDS"),
    Option("--latency", _N, "Let messages take the time that they take inside Batsim."),
    Option("--install-shim", _O, "Write an executable `batsim` there, and exit.", value="DIR"),
)
_BY_SHORT = {option.short: option for option in BATSIM_OPTIONS if option.short}


def read_words(words: Sequence[str]) -> Given:
    """Find the options of a command line."""
    given = Given()
    refuse_odd_words(words)
    for option, values in _Reader(words, given).options():
        if option.name in given and option.takes in (Takes.NOTHING, Takes.ONE):
            raise BatsimError(f"{option.name}: given twice, expected once")
        given.values.setdefault(option.name, []).extend(values)
    return given


class _Reader:
    """Goes through the words of a command line."""

    def __init__(self, words: Sequence[str], given: Given) -> None:
        self._words = list(reversed(words))
        self._given = given

    def options(self) -> Iterator[tuple[Option, list[str]]]:
        """Yield options with their values."""
        while self._words:
            word = self._words.pop()
            if word.startswith("--") and len(word) > 2:
                yield self._long(word)
            elif word.startswith("-") and len(word) > 1:
                yield from self._short(word)
            elif "--workflow-start" in self._given and word != "-":
                # further workflows may follow the first without the option's name
                yield _long_option("--WS"), [word, *self._start_time()]
            else:
                found = shown(word)
                raise BatsimError(f"arguments: got {found}, expected an option; --help lists them")

    def _long(self, word: str) -> tuple[Option, list[str]]:
        name, has_value, value = word.partition("=")
        option = _long_option(name)
        if option.takes is Takes.PAIRS:
            first = value if has_value else self._next(option)
            return option, [first, *self._start_time()]
        if option.takes is Takes.NOTHING:
            if has_value:
                raise BatsimError(f"{option.name}: got {shown(value)}, expected no value")
            return option, []
        return option, [value if has_value else self._next(option)]

    def _short(self, word: str) -> Iterator[tuple[Option, list[str]]]:
        letters = word[1:]
        while letters:
            option = _BY_SHORT.get(f"-{letters[0]}")
            if option is None:
                raise BatsimError(f"-{letters[0]}: no such option; --help lists all")
            letters = letters[1:]
            if option.takes is Takes.NOTHING:
                yield option, []
                continue
            yield option, [letters or self._next(option)]
            return

    def _next(self, option: Option) -> str:
        if not self._words:
            raise BatsimError(f"{option.name}: got nothing, expected {option.value}")
        return self._words.pop()

    def _start_time(self) -> list[str]:
        """Take the date behind a workflow; a negative one is no option."""
        if self._words and (
            not self._words[-1].startswith("-") or re.match(r"-[.\d]", self._words[-1])
        ):
            return [self._words.pop()]
        return []


def _long_option(name: str) -> Option:
    """Find an option by its long name, or by the beginning of one."""
    for options in (BATSIM_OPTIONS, OWN_OPTIONS):
        found = [option for option in options if name in (option.name, option.alias)]
        found = found or [
            option
            for option in options
            if option.name.startswith(name) or (option.alias and option.alias.startswith(name))
        ]
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(option.name for option in found)
            raise BatsimError(f"{name}: could be {names}, expected one of them")
    raise BatsimError(f"{shown(name)}: no such option; --help lists all")


def help_text() -> str:
    """Return what --help shows."""
    return help_lines(
        "Usage: noctule batsim -p FILE [-w FILE]... [OPTION]...",
        "Simulates as Batsim 4 does: same options, same protocol, same files.",
        {"Options of Batsim 4": BATSIM_OPTIONS, "Options of Noctule": OWN_OPTIONS},
    )
