"""What can go wrong with a program on simulated time."""

from noctule.errors import NoctuleError

__all__ = ["ProgramError", "UnsupportedError"]


class ProgramError(NoctuleError):
    """The program ended, or it does something that simulated time cannot follow."""


class UnsupportedError(NoctuleError):
    """This machine does not let programs run on simulated time; the message says why."""
