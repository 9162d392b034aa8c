"""Plays a page of the documentation: saves its files, runs its commands, compares what they print.

All blocks of a page are played in order, in the current folder:

- `python`, `py`, `toml`, `xml` with a name in a comment on the first line: a file to save;
- `python`: also run;
- no language, or `sh`: commands, one a line; all must succeed;
- `text` behind commands or Python: what those print, standard output and error together;
- `text` with lines `$ noctule ...`: commands that may fail, each with what it prints.

In a `text`, `...` stands for any lines, and wall-clock readings are left open: they end a line as
`in 0.01 s, 123 jobs/s` or `in 0.98s`.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Collection
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from noctule.cli import main

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CLOCK = re.compile(r" in \d+\.\d+ ?s(, \d+ jobs/s)?$", re.MULTILINE)
FILE_NAME = re.compile(r"(?:# |<!-- )([\w-]+\.(?:py|toml|xml))(?: -->)?\n")
FILES = ("python", "py", "toml", "xml")
COMMANDS = ("", "sh")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language and what is in it."""

    language: str
    content: str

    @property
    def file_name(self) -> str | None:
        """The name of the file that it is, if it is one."""
        found = FILE_NAME.match(self.content) if self.language in FILES else None
        return found[1] if found else None

    @property
    def commands(self) -> list[str]:
        """The commands in it."""
        return self.content.splitlines() if self.language in COMMANDS else []

    @property
    def is_transcript(self) -> bool:
        """Whether it shows commands and what they print, one after the other."""
        return self.language == "text" and self.content.startswith("$ ")


def blocks_of(page: str) -> list[Block]:
    """Return the blocks of a page, in order."""
    return [Block(language, content) for language, content in FENCE.findall(page)]


def play(
    page: str,
    *,
    left_out: Collection[str] = (),
    translated: Callable[[str], str] = lambda printed: printed,
) -> list[str]:
    """Do what a page says, and return where it is not as it says.

    `left_out` are commands that are not run; `translated` gets what was printed before it is
    compared.
    """
    complaints = []
    printed: str | None = None
    for block in blocks_of(page):
        if block.file_name is not None:
            Path(block.file_name).write_text(block.content)
            printed = None
        if block.language == "python":
            printed = printed_by_python(block.content)
        elif block.language in COMMANDS:
            printed = "".join(printed_by(line) for line in block.commands if line not in left_out)
            if "[exit code" in printed:
                complaints.append(f"{block.content}{printed}")
        elif block.language == "text":
            if block.is_transcript:
                printed = transcript(block.content)
            if printed is None:
                complaints.append(f"nothing has printed\n{block.content}")
            elif not is_shown(block.content, translated(printed)):
                complaints.append(f"the page shows\n{block.content}\nand got\n{printed}")
            printed = None
    return complaints


def printed_by(command: str) -> str:
    """Run a command and return all it prints; `noctule` runs in this process, to be quick."""
    if command.startswith("noctule "):
        printed = io.StringIO()
        with redirect_stdout(printed), redirect_stderr(printed):
            code = main(shlex.split(command)[1:])
        text = printed.getvalue()
    else:
        # an environment may have the package and not its command
        command = re.sub(r"^pytest\b", f"{shlex.quote(sys.executable)} -m pytest", command)
        environment = os.environ | {"COLUMNS": "80", "PYTEST_ADDOPTS": ""}
        tools = str(Path(sys.executable).parent)
        environment["PATH"] = os.pathsep.join([tools, os.environ["PATH"]])
        answer = subprocess.run(
            command,
            shell=True,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        code, text = answer.returncode, answer.stdout
    return text if code == 0 else f"{text}[exit code {code}]\n"


def printed_by_python(content: str) -> str:
    """Run Python and return what it prints."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(content, "page", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def transcript(content: str) -> str:
    """Run the commands of a transcript, whatever their exit codes; return how it looks now."""
    commands = [line[2:] for line in content.splitlines() if line.startswith("$ ")]
    printed = [f"$ {command}\n{printed_by(command)}" for command in commands]
    return re.sub(r"^\[exit code \d+\]\n", "", "".join(printed), flags=re.MULTILINE)


def lines_of(text: str) -> str:
    """Return text without wall-clock readings and blanks at the ends of lines."""
    plain = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    return CLOCK.sub(" in no time", plain)


def is_shown(shown: str, printed: str) -> bool:
    """Tell whether the page shows what was printed."""
    lines = lines_of(shown).splitlines()
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in lines)
    return re.fullmatch(pattern, lines_of(printed)) is not None
