"""What can go wrong, as one base class and four kinds.

Every message reads `where: what was found, what was expected`, so that it can be shown to a user
as it is.
"""


class NoctuleError(Exception):
    """Base of all errors that Noctule raises on purpose."""


class InputError(NoctuleError):
    """A file or an argument is not what it should be."""


class DecisionError(NoctuleError):
    """A policy decided something that the rules forbid, or failed while deciding."""


class ProtocolError(NoctuleError):
    """A remote peer sent something that its protocol does not allow."""


class DeadlockError(NoctuleError):
    """Nothing is left to happen, but jobs are still waiting."""
