"""Which machine this is."""

import platform
import sys

from noctule.vclock import x86_64
from noctule.vclock.failures import UnsupportedError
from noctule.vclock.machine import Machine

_MACHINES: dict[str, Machine] = {"x86_64": x86_64, "amd64": x86_64}


def this_machine() -> Machine:
    """The machine that Python runs on."""
    if not sys.platform.startswith("linux"):
        raise UnsupportedError(f"simulated time needs Linux, and this is {sys.platform}")
    name = platform.machine()
    if name.lower() not in _MACHINES or sys.maxsize < 1 << 32:
        bits = "" if sys.maxsize > 1 << 32 else " with a Python of 32 bits"
        raise UnsupportedError(f"simulated time needs x86-64, and this machine is {name}{bits}")
    return _MACHINES[name.lower()]
