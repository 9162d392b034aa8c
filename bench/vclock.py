"""Steps of a program on simulated time, beside messages to a program over a pipe.

A step is what a simulation pays for each timer of a scheduler: the clock is set, a thread wakes,
does next to nothing and waits again, and that is noticed. A message over a pipe and its answer also
need two switches from process to process, and nothing else.
"""

from __future__ import annotations

import subprocess
import sys
import time

from noctule.vclock.program import VirtualProgram

STEPS = 2000
SLEEPER = "import time\nwhile True: time.sleep(1)"
ECHO = "import os\nwhile line := os.read(0, 100): os.write(1, line)"


def steps() -> tuple[float, float]:
    """Seconds a step, and seconds that asking an idle program takes."""
    with VirtualProgram([sys.executable, "-c", SLEEPER]) as program:
        idle = program.settle()
        began = time.perf_counter()
        for _ in range(STEPS):
            assert idle.next_timer is not None
            program.advance(program.now + idle.next_timer)
            idle = program.settle()
        taken = time.perf_counter() - began
        assert program.now == STEPS
        began = time.perf_counter()
        for _ in range(STEPS):
            assert program.poll_idle() is not None
        return taken / STEPS, (time.perf_counter() - began) / STEPS


def messages() -> float:
    """Seconds a message and its answer."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", ECHO], stdin=pipe, stdout=pipe, bufsize=0) as echo:
        assert echo.stdin is not None
        assert echo.stdout is not None
        began = time.perf_counter()
        for _ in range(STEPS):
            echo.stdin.write(b"?\n")
            assert echo.stdout.readline() == b"?\n"
        return (time.perf_counter() - began) / STEPS


if __name__ == "__main__":
    step, poll = steps()
    message = messages()
    print(f"a step of simulated time    {step * 1e6:7.0f} us, {1 / step:.0f} a second")
    print(f"asking an idle program      {poll * 1e6:7.0f} us")
    print(f"a message over a pipe       {message * 1e6:7.0f} us")
    print(f"a step, in messages         {step / message:7.1f}")
