"""The command `noctule`: finds the command, runs it, and turns what goes wrong into an exit code.

Only what `--help` needs is imported here; commands are imported when they are called.
"""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Sequence

import click

from noctule.console import ExitCode, PipeClosed
from noctule.errors import (
    DeadlockError,
    DecisionError,
    InputError,
    NoctuleError,
    ProtocolError,
)

# name: (module of noctule.commands, what it does)
COMMANDS = {
    "batsim": ("batsim", "Simulate as Batsim 4 does: its options, protocol and files."),
    "batsim5": ("batsim5", "Simulate as Batsim 5 does: its options, JSON messages and files."),
    "campaign": ("campaign", "Do many runs and compare them."),
    "check": ("check", "Say what a schedule from any simulator breaks."),
    "explain": ("explain", "Say why jobs of a run waited."),
    "generate": ("generate", "Draw a workload from a model."),
    "kube": ("kube", "Simulate a workload under schedulers of Kubernetes."),
    "metrics": ("metrics", "Measure runs and compare them in one table."),
    "platform": ("platform", "Show and convert platform files."),
    "plot": ("plot", "Draw runs as a picture."),
    "policies": ("policies", "List the policies that --policy knows by name."),
    "report": ("report", "Write one interactive page about runs."),
    "rerun": ("run", "Do a run again and tell whether it comes out the same."),
    "run": ("run", "Simulate a workload under a policy."),
    "serve-policy": ("serve_policy", "Let a policy decide for a simulator in another process."),
    "sessions": ("sessions", "Find the sessions of users in a log."),
    "slurm": ("slurm", "Model a Slurm from its own files, and compare it with the real one."),
    "trace": ("trace", "Look at logs, cut, scale, convert and fetch them."),
    "verify": ("verify", "Do a run here and in SimGrid, and tell how far they differ."),
}

# commands of programs that are imitated: their words are their own, and so are their exit codes
_FOREIGN = ("batsim", "batsim5")

_CODES: dict[type[NoctuleError], ExitCode] = {
    InputError: ExitCode.INPUT,
    DecisionError: ExitCode.DECISION,
    ProtocolError: ExitCode.PROTOCOL,
    DeadlockError: ExitCode.DEADLOCK,
}


class _Commands(click.Group):
    """Commands that are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"noctule.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="noctule", message="%(prog)s %(version)s")
def cli() -> None:
    """Simulate batch schedulers: platform + workload + policy -> schedule."""


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        if sys.stdout is None:
            raise InputError("standard output: is closed, expected one to write to")
        code = _call(sys.argv[1:] if args is None else list(args))
    except (click.Abort, KeyboardInterrupt):
        return _fail("interrupted", ExitCode.INTERRUPTED)
    except PipeClosed:
        return ExitCode.PIPE_CLOSED
    except click.ClickException as error:
        error.show()
        return ExitCode.USAGE
    except NoctuleError as error:
        return _fail(str(error), _CODES.get(type(error), ExitCode.INPUT))
    except OSError as error:  # a path that the system refuses, a stream that is gone
        return _fail(str(error), ExitCode.INPUT)
    return code if isinstance(code, int) else ExitCode.OK


def _call(words: Sequence[str]) -> object:
    if words and words[0] in _FOREIGN:
        module = importlib.import_module(f"noctule.commands.{COMMANDS[words[0]][0]}")
        return module.main(words[1:])
    return cli.main(args=list(words), prog_name="noctule", standalone_mode=False)


def _fail(message: str, code: ExitCode) -> ExitCode:
    click.echo(f"noctule: {message}", err=True)
    return code
