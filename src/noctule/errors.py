"""What can go wrong, as one base class and four kinds.

Every message reads `where: what was found, what was expected`, so that it can be shown to a user
as it is.
"""

__all__ = ["DeadlockError", "DecisionError", "InputError", "NoctuleError", "ProtocolError"]


_LONGEST = 1000


class NoctuleError(Exception):
    """Base of all errors that Noctule raises on purpose; its message is one line that prints.

    Messages quote what files and arguments say, which may be anything: characters that do not print
    are shown as in Python's strings, and the middle of what is very long is left out.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(_one_line(message))


class InputError(NoctuleError):
    """A file or an argument is not what it should be."""


class DecisionError(NoctuleError):
    """A policy decided something that the rules forbid, or failed while deciding."""


class ProtocolError(NoctuleError):
    """A remote peer sent something that its protocol does not allow."""


class DeadlockError(NoctuleError):
    """Nothing is left to happen, but jobs are still waiting."""


def _one_line(message: str) -> str:
    if len(message) > _LONGEST:
        message = f"{message[: _LONGEST - 300]} ... {message[-300:]}"
    if message.isprintable():
        return message
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
