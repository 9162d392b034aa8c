"""noctule batsim: Batsim 4's command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from noctule.batsim.options import Given
from noctule.batsim.options4 import BatsimCode, help_text, read_words
from noctule.commands.foreign import run_foreign

# The numbers are those of this SimGrid, which Batsim 4 recommends.
_SIMGRID_VERSION = "3.34.0"


@click.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def batsim(args: Sequence[str]) -> int:
    """Simulate as Batsim 4 does: its options, protocol and files."""
    return main(args)


def main(words: Sequence[str]) -> int:
    """Do what a command line of Batsim 4 says, and return the exit code that Batsim would."""
    return run_foreign(lambda: _main(words), BatsimCode.ABORTED)


def _main(words: Sequence[str]) -> int:
    given = read_words(words)
    answer = _answer(given)
    if answer is not None:
        sys.stdout.write(answer)
        sys.stdout.flush()
        return 0
    # imported only now: what is asked for before a run must be answered at once
    from noctule.batsim.arguments4 import execution_context, read_arguments, refuse_unreadable

    run = read_arguments(given)
    if "--dump-execution-context" in given:
        sys.stdout.write(f"{execution_context(run)}\n")
        sys.stdout.flush()
        return 0
    refuse_unreadable(run)

    from noctule.batsim.log import BatsimLog
    from noctule.batsim.session4 import run_batsim

    run_batsim(run, BatsimLog(sys.stderr, run.verbosity, run.master_host))
    return 0


def _answer(given: Given) -> str | None:
    """Return what is only to be printed, if that was asked for."""
    if "--help" in given:
        return help_text()
    if "--version" in given:
        from noctule.batsim.outputs4 import version_text

        return f"{version_text()}\n"
    if "--simgrid-version" in given:
        return f"{_SIMGRID_VERSION}\n"
    if "--install-shim" in given:
        return _installed(given)
    return None


def _installed(given: Given) -> str:
    """Write a shim, which keeps the options of ours that it was installed with."""
    from noctule.batsim.shim import install_shim

    words = ["--latency"] if "--latency" in given else []
    if "--timeout" in given:
        words += ["--timeout", given.one("--timeout", "")]
    return f"{install_shim(given.one('--install-shim', ''), words)}\n"
