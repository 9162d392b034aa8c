"""noctule batsim5: Batsim 5's command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from noctule.batsim.options import BatsimError, Given
from noctule.batsim.options5 import Batsim5Code, help_text5, read_words5
from noctule.commands.foreign import run_foreign

# Batsim 5 is built on this SimGrid.
_SIMGRID_VERSION = "4.0"
_ANSWERS = ("--version", "--simgrid-version", "--batsim-git-commit", "--simgrid-git-commit")


@click.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def batsim5(args: Sequence[str]) -> int:
    """Simulate as Batsim 5 does: its options, its protocol in JSON, its files."""
    return main(args)


def main(words: Sequence[str]) -> int:
    """Do what a command line of Batsim 5 says, and return the exit code that Batsim would."""
    return run_foreign(lambda: _main(words), Batsim5Code.ABORTED, Batsim5Code.DEADLOCK)


def _main(words: Sequence[str]) -> int:
    given = read_words5(words)
    if "--help" in given:
        return _tell(help_text5())
    answers = [name for name in (*_ANSWERS, "--dump-execution-context") if name in given]
    if len(answers) > 1:
        raise BatsimError(f"{answers[1]}: got {answers[0]} as well", Batsim5Code.USAGE)
    if answers and answers[0] in _ANSWERS:
        return _tell(_answer(answers[0]))
    # imported only now: what is asked for before a run must be answered at once
    from noctule.batsim.arguments5 import (
        execution_context5,
        read_arguments5,
        refuse_unreadable5,
    )
    from noctule.batsim.config5 import with_config

    given = with_config(given)
    if "--gen-config" in given:
        return _write_config(given)
    run = read_arguments5(given, ["batsim", *words])
    if answers:
        return _tell(f"{execution_context5(run)}\n")
    refuse_unreadable5(run)

    from noctule.batsim.log import BatsimLog
    from noctule.batsim.session5 import run_batsim5

    run_batsim5(run, BatsimLog(sys.stderr, run.verbosity, run.master_host))
    return 0


def _tell(text: str) -> int:
    sys.stdout.write(text)
    sys.stdout.flush()
    return 0


def _answer(name: str) -> str:
    if name == "--simgrid-version":
        return f"{_SIMGRID_VERSION}\n"
    if name != "--version":
        raise BatsimError(f"{name}: not implemented, as in Batsim", Batsim5Code.USAGE)
    from noctule.batsim.outputs5 import version_text5

    return f"{version_text5()}\n"


def _write_config(given: Given) -> int:
    from noctule.batsim.config5 import write_config

    path = given.one("--gen-config", "")
    if Path(path).exists():
        click.echo(f"noctule: --gen-config: {path} existed, and is written anew", err=True)
    write_config(given, path)
    return 0
