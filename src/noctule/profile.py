"""What a job does once started: wait, compute, communicate, replay a trace, or several of these.

Delays and computations are alone on their hosts, and run in no time at all; all others are programs
that share hosts and links with what runs beside them. Amounts of computation are in the unit of a
workload's `reference_speed` in a Compute, and in flops in all others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

from noctule.columns import shown
from noctule.errors import InputError

#: What the amounts of a homogeneous task are of, in the order of the core's numbers.
AMOUNTS = ("each", "spread", "spread_flops")
# Deeper trees than anybody writes; programs are followed part by part, each on a stack.
_MOST_LEVELS = 100
_MOST_REPEATS = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Delay:
    """Occupies the hosts for a fixed time, whatever their speed."""

    duration: float
    return_code: int = 0


@dataclass(frozen=True, slots=True)
class Compute:
    """Computes `work` on every host: work / speed seconds.

    With `spread`, `work` is a total: a job on n hosts computes work / n on each.
    """

    work: float
    return_code: int = 0
    spread: bool = False


@dataclass(frozen=True, slots=True)
class ParallelTask:
    """Computes and communicates at one rate; for as many hosts as there are `flops`.

    `bytes` is empty, or a matrix of all hosts row by row: row i is what host i sends to each.
    """

    flops: tuple[float, ...]
    bytes: tuple[float, ...] = ()
    return_code: int = 0

    def __post_init__(self) -> None:
        """Refuse amounts that are none, and a matrix that is not square."""
        for name in ("flops", "bytes"):
            object.__setattr__(self, name, _amounts(f"ParallelTask: {name}", getattr(self, name)))
        n = len(self.flops)
        if n == 0:
            raise InputError("ParallelTask: flops: got none, expected one for each host")
        if self.bytes and len(self.bytes) != n * n:
            raise InputError(
                f"ParallelTask: bytes: got {len(self.bytes)} numbers, "
                f"expected {n * n}, as there are {n} in flops"
            )

    @property
    def size(self) -> int:
        """How many hosts it is for."""
        return len(self.flops)


@dataclass(frozen=True, slots=True)
class HomogeneousTask:
    """A parallel task with the same amounts everywhere, for any number n of hosts.

    `amounts` says what they are: "each": flops of each host and bytes of each ordered pair of
    different hosts; "spread": totals, so flops / n and bytes / (n² - n), as in Batsim 5;
    "spread_flops": flops / n and bytes / n for each pair, as in Batsim 4.
    """

    flops: float
    bytes: float
    amounts: str = "each"
    return_code: int = 0

    def __post_init__(self) -> None:
        """Refuse amounts that are none."""
        _check_amounts(self, "flops", "bytes")
        if self.amounts not in AMOUNTS:
            raise InputError(
                f"HomogeneousTask: amounts: got {self.amounts!r}, expected one of "
                f"{', '.join(map(repr, AMOUNTS))}"
            )


@dataclass(frozen=True, slots=True)
class StorageTransfer:
    """Each host reads from a storage and writes to it; with `spread`, the bytes are totals.

    `storage` is a label: the policy says which host it stands for.
    """

    read_bytes: float
    written_bytes: float
    storage: str = "pfs"
    spread: bool = False
    return_code: int = 0

    def __post_init__(self) -> None:
        """Refuse amounts that are none."""
        _check_amounts(self, "read_bytes", "written_bytes")


@dataclass(frozen=True, slots=True)
class DataStaging:
    """Moves bytes from one storage to another, both labels; the job's hosts only wait for it."""

    bytes: float
    from_storage: str
    to_storage: str
    return_code: int = 0

    def __post_init__(self) -> None:
        """Refuse amounts that are none."""
        _check_amounts(self, "bytes")


@dataclass(frozen=True, slots=True)
class Send:
    """Tells the policy something (an object of JSON), and waits a little."""

    message: Mapping[str, Any]
    seconds: float = 1e-7
    return_code: int = 0

    def __post_init__(self) -> None:
        """Refuse times that are none."""
        _check_amounts(self, "seconds")


class Usage(NamedTuple):
    """Computes `flops` on each of some cores of a host; `share` is which part of them, 0 to 1."""

    share: float
    flops: float


@dataclass(frozen=True, slots=True)
class UsageTrace:
    """Each rank computes on some of the cores of its host, one usage after the other.

    If it was read from files, `path` lists those of the ranks, and `sources` are these.
    """

    ranks: tuple[tuple[Usage, ...], ...]
    path: str | None = None
    return_code: int = 0
    sources: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse shares and amounts that are none."""
        if not self.ranks:
            raise InputError("UsageTrace: ranks: got none, expected at least one")
        for rank in self.ranks:
            for share, flops in rank:
                if not (0 <= share <= 1 and 0 <= flops < math.inf):
                    raise InputError(
                        f"UsageTrace: got a share of {shown(share)} and {shown(flops)} flops, "
                        "expected a share from 0 to 1 and flops >= 0"
                    )


@dataclass(frozen=True, slots=True)
class MpiTrace:
    """Replays the time-independent traces of the ranks of an MPI program, as SimGrid writes them.

    `ranks` are their texts, `sources` what messages call them, `path` is the file that lists them.
    """

    ranks: tuple[str, ...]
    sources: tuple[str, ...] = ()
    path: str | None = None
    return_code: int = 0

    def __post_init__(self) -> None:
        """Give names to the ranks' texts where there are none."""
        if not self.ranks:
            raise InputError("MpiTrace: ranks: got none, expected at least one")
        if not self.sources:
            names = tuple(f"rank {i}" for i in range(len(self.ranks)))
            object.__setattr__(self, "sources", names)
        if len(self.sources) != len(self.ranks):
            raise InputError(
                f"MpiTrace: sources: got {len(self.sources)}, expected {len(self.ranks)}"
            )


@dataclass(frozen=True, slots=True)
class UnsupportedProfile:
    """A profile that is kept as it was read, and refused when a simulation would have to run it."""

    type: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Traits:
    """What a profile made of others must know of all that is in it."""

    size: int | None = None
    is_supported: bool = True
    levels: int = 0

    @classmethod
    def of(cls, profile: Profile) -> Traits:
        """Return those of any profile."""
        match profile:
            case Sequence() | Receive():
                return profile.traits
            case ParallelTask():
                return cls(profile.size)
            case UnsupportedProfile():
                return cls(is_supported=False)
            case _:
                return cls()

    @classmethod
    def joined(cls, whole: str, parts: Iterable[Profile]) -> Traits:
        """Return those of a profile made of these."""
        size, is_supported, levels = None, True, 0
        for i, part in enumerate(parts):
            if not isinstance(part, get_args(Profile)):
                raise InputError(f"{whole}: part {i}: got {part!r}, expected a profile")
            traits = cls.of(part)
            levels = max(levels, traits.levels)
            is_supported = is_supported and traits.is_supported
            if size is None:
                size = traits.size
            elif traits.size not in (None, size):
                raise InputError(
                    f"{whole}: part {i}: got a profile for {traits.size} hosts, "
                    f"expected one for {size}, as those before it"
                )
        if levels == _MOST_LEVELS:
            raise InputError(f"{whole}: got more than {_MOST_LEVELS} levels of parts of parts")
        return cls(size, is_supported, levels + 1)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sequence:
    """Does its parts, which are profiles, one after the other, and all of that `repeat` times.

    It ends early, with that code, when a part ends with a return code other than 0.
    """

    parts: tuple[Profile, ...]
    repeat: int = 1
    return_code: int = 0
    traits: Traits = field(init=False)

    def __post_init__(self) -> None:
        """Refuse a sequence of nothing, and parts that do not fit together."""
        object.__setattr__(self, "parts", tuple(self.parts))
        if not self.parts:
            raise InputError("Sequence: parts: got none, expected at least one")
        if type(self.repeat) is not int or not 1 <= self.repeat <= _MOST_REPEATS:
            raise InputError(
                f"Sequence: repeat: got {self.repeat!r}, "
                f"expected a whole number from 1 to {_MOST_REPEATS}"
            )
        object.__setattr__(self, "traits", Traits.joined("Sequence", self.parts))

    def __eq__(self, other: object) -> bool:
        """Compare all that is in it."""
        return _same(self, other, set())

    def __hash__(self) -> int:
        """Hash the outermost level."""
        return hash(_outermost(self))

    def __repr__(self) -> str:
        """Show the outermost level: what is in it may be shared, and endless to write."""
        kinds = ", ".join(type(part).__name__ for part in self.parts[:5])
        more = ", ..." if len(self.parts) > 5 else ""
        return f"Sequence(parts=({kinds}{more}), repeat={self.repeat})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Receive:
    """Waits for a message of the policy, and goes on as it says.

    A message that matches the `pattern` (a regular expression of ECMAScript, for all of it) is a
    `success`, another a `failure`. Where there is none: `timeout` is done at once if it is given;
    otherwise the job looks again every `poll_seconds`. What is None ends the profile.
    """

    pattern: str = ".*"
    success: Profile | None = None
    failure: Profile | None = None
    timeout: Profile | None = None
    poll_seconds: float = 0.005
    return_code: int = 0
    traits: Traits = field(init=False)

    def __post_init__(self) -> None:
        """Refuse times that are none, and parts that do not fit together."""
        _check_amounts(self, "poll_seconds")
        if self.poll_seconds == 0:
            raise InputError("Receive: poll_seconds: got 0, expected a positive number")
        object.__setattr__(self, "traits", Traits.joined("Receive", parts_of(self)))

    def __eq__(self, other: object) -> bool:
        """Compare all that is in it."""
        return _same(self, other, set())

    def __hash__(self) -> int:
        """Hash the outermost level."""
        return hash(_outermost(self))

    def __repr__(self) -> str:
        """Show the outermost level."""
        kinds = ", ".join(
            f"{name}={type(part).__name__}"
            for name, part in zip(BRANCHES, branches_of(self), strict=True)
            if part is not None
        )
        return f"Receive(pattern={self.pattern!r}{', ' if kinds else ''}{kinds})"


#: What a job does once started.
Profile = (
    Delay
    | Compute
    | ParallelTask
    | HomogeneousTask
    | StorageTransfer
    | DataStaging
    | Sequence
    | Send
    | Receive
    | UsageTrace
    | MpiTrace
    | UnsupportedProfile
)
#: What a Receive goes on with.
BRANCHES = ("success", "failure", "timeout")


def parts_of(profile: Profile) -> tuple[Profile, ...]:
    """Return the profiles of which one is made."""
    match profile:
        case Sequence(parts=parts):
            return parts
        case Receive():
            return tuple(part for part in branches_of(profile) if part is not None)
        case _:
            return ()


def files_of(profiles: Iterable[Profile]) -> tuple[str, ...]:
    """Return the files that profiles were read from, in the order in which they name them."""
    found: dict[str, None] = {}
    seen: set[int] = set()
    waiting = list(profiles)[::-1]
    while waiting:
        profile = waiting.pop()
        if id(profile) in seen:
            continue
        seen.add(id(profile))
        if isinstance(profile, MpiTrace | UsageTrace) and profile.path is not None:
            found.update(dict.fromkeys((profile.path, *profile.sources)))
        waiting += parts_of(profile)[::-1]
    return tuple(found)


def branches_of(profile: Receive) -> tuple[Profile | None, ...]:
    """Return what a Receive goes on with, in the order of BRANCHES."""
    return profile.success, profile.failure, profile.timeout


def _same(one: object, other: object, compared: set[tuple[int, int]]) -> bool:
    """Compare two trees, and what is shared in them only once."""
    if one is other or (id(one), id(other)) in compared:
        return True
    match one, other:
        case Sequence(parts=some), Sequence(parts=others):
            pairs: Iterable[tuple[object, object]] = zip(some, others, strict=False)
        case Receive(), Receive():
            pairs = zip(branches_of(one), branches_of(other), strict=True)
        case (Sequence() | Receive(), _) | (_, Sequence() | Receive()):
            return False
        case _:
            return one == other
    compared.add((id(one), id(other)))
    return _outermost(one) == _outermost(other) and all(_same(a, b, compared) for a, b in pairs)


def _outermost(profile: Sequence | Receive) -> tuple[object, ...]:
    if isinstance(profile, Sequence):
        return len(profile.parts), profile.repeat, profile.return_code
    return profile.pattern, profile.poll_seconds, profile.return_code


def _amounts(where: str, values: Iterable[float]) -> tuple[float, ...]:
    try:
        numbers = tuple(map(float, values))
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: expected numbers ({error})") from None
    for i, number in enumerate(numbers):
        if not 0 <= number < math.inf:
            raise InputError(f"{where}[{i}]: got {shown(number)}, expected a number >= 0")
    return numbers


def _check_amounts(profile: object, *names: str) -> None:
    for name in names:
        value = getattr(profile, name)
        where = f"{type(profile).__name__}: {name}"
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{where}: got {value!r}, expected a number >= 0")
        if not 0 <= value < math.inf:
            raise InputError(f"{where}: got {shown(value)}, expected a number >= 0")
