"""Programs run on simulated time to their end, for tests."""

import tempfile

from noctule.vclock.clock import DEFAULT_START
from noctule.vclock.failures import ProgramError
from noctule.vclock.program import VirtualProgram

SECOND = 1_000_000_000
# What a monotonic clock shows at the start: twenty years of 366 days.
UPTIME = 20 * 366 * 86_400 * SECOND
START = int(DEFAULT_START)


def run_to_end(argv, **options):
    """All that a program prints while time passes from timer to timer, and how it ended."""
    with tempfile.TemporaryFile() as output:
        with VirtualProgram(argv, stdout=output, **options) as program:
            ended = follow_timers(program)
        output.seek(0)
        return output.read().decode(), ended


def follow_timers(program):
    """Let time pass from timer to timer until the program has ended; how."""
    try:
        while True:
            idle = program.settle(timeout=60)
            program.advance(program.now + idle.next_timer)
    except ProgramError as ended:
        return str(ended)


def printed_numbers(argv, **options):
    text, ended = run_to_end(argv, tick=False, **options)
    assert "exit status 0" in ended
    return [int(line) for line in text.split()]
