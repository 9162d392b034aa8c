"""The process in which a local worker runs policies in Python: specs in, outcomes out.

It reads and answers on its standard streams; what a policy prints goes to standard error. It ends
when the campaign does, however that happens.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from pathlib import Path
from typing import IO

import msgspec

from noctule.campaign.execution import Outcome, Runner
from noctule.campaign.inputs import InputFiles
from noctule.campaign.local import read_message, write_message
from noctule.campaign.specs import RunSpec


def main() -> None:
    """Do runs until nobody asks for more; the argument is where input files were sent to."""
    answers, questions = os.fdopen(os.dup(1), "wb"), os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)
    # a policy that reads finds nothing
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    specs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=[questions, specs], daemon=True).start()
    received = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    runner = Runner(InputFiles(received))
    while True:
        spec = msgspec.msgpack.decode(specs.get(), type=RunSpec)
        write_message(answers, msgspec.msgpack.encode(_outcome(runner, spec)))


def _outcome(runner: Runner, spec: RunSpec) -> Outcome:
    try:
        return runner.execute(spec)
    except Exception as error:
        return Outcome(error=f"{type(error).__name__}: {error}")


def _listen(stream: IO[bytes], specs: queue.SimpleQueue[bytes]) -> None:
    """Pass on what comes; end at once, also in the middle of a run, when the campaign is gone."""
    while (message := read_message(stream)) is not None:
        specs.put(message)
    os._exit(0)


if __name__ == "__main__":
    main()
