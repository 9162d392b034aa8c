"""Runs in an interpreter of its own, says that it does, waits for a word, and becomes the program.

A program is traced from its first instruction on, and somebody has to wait for the tracer just
before: not a fork of Python, which may have threads. This file imports nothing of Noctule.

Arguments: the number of a socket, the program's file, how many settings of the environment follow,
these settings, and the program's arguments.
"""

import os
import sys


def _become_the_program() -> None:
    control, program, count, *rest = sys.argv[1:]
    settings, arguments = rest[: int(count)], rest[int(count) :]
    os.set_inheritable(int(control), False)
    os.write(int(control), b"r")
    if os.read(int(control), 1) != b"g":
        os._exit(125)
    try:
        os.execve(program, arguments, dict(s.split("=", 1) for s in settings))
    except OSError as error:
        os.write(int(control), str(error.errno).encode())
        os._exit(126)


if __name__ == "__main__":
    _become_the_program()
