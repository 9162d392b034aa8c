"""Says whether a reader did what it may do with an input: give a value, or one line of refusal."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from noctule.errors import NoctuleError

if TYPE_CHECKING:
    from targets import Reader

LONGEST_MESSAGE = 2_000


@dataclass(frozen=True)
class Fault:
    """What is wrong: a short name, under which all inputs of a kind are counted, and all of it."""

    kind: str
    text: str


def judged(reader: Reader, path: Path, data: bytes) -> Fault | None:
    """Give an input to a reader and return what is wrong, if anything is."""
    try:
        reader(path, data)
    except NoctuleError as error:
        return _of_message(error)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return _of_exception(error)
    return None


def _of_message(error: NoctuleError) -> Fault | None:
    message = str(error)
    where, colon, what = message.partition(": ")
    wrong = ""
    if len(message.splitlines()) != 1:
        wrong = f"{len(message.splitlines())} lines"
    elif not message.isprintable():
        wrong = "characters that do not print"
    elif len(message) > LONGEST_MESSAGE:
        wrong = f"{len(message)} characters"
    elif not (where and colon and what) and " ... " not in message:
        wrong = "no place in front of what is wrong"
    if not wrong:
        return None
    text = f"a message with {wrong}: {message!r}"
    return Fault(f"message with {re.sub('[0-9]+', 'N', wrong)} {_raised_at(error)}", text)


def _of_exception(error: BaseException) -> Fault:
    kind = f"{type(error).__name__} {_raised_at(error)}"
    return Fault(kind, "".join(traceback.format_exception(error)))


def _raised_at(error: BaseException) -> str:
    """Return the last place in Noctule through which an exception came."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "noctule" in Path(frame.filename).parts] or frames
    return f"at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
