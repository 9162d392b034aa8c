"""Profiles as the core runs them: a native table in which parts come before wholes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec
import numpy as np

from noctule import _core
from noctule.columns import shown
from noctule.errors import InputError
from noctule.profile import (
    AMOUNTS,
    Compute,
    DataStaging,
    Delay,
    HomogeneousTask,
    MpiTrace,
    ParallelTask,
    Profile,
    Receive,
    Send,
    Sequence,
    StorageTransfer,
    UsageTrace,
    branches_of,
)
from noctule.profile_facts import name_of, rank_counts, return_code_of, size_of, within

#: The program of a job that has none.
NO_PROGRAM = 2**32 - 1
MOST_RETURN_CODE = 2**31 - 1


class Naming:
    """Names of profiles and of their parts: those of a workload, or made up.

    A part is known by what it is, not by what it says: two profiles may do the same.
    """

    def __init__(self, profiles: Mapping[str, Profile]) -> None:
        """Begin with the profiles that have names."""
        self.profiles = dict(profiles)
        self._names: dict[int, str] = {}
        self._n_made_up: Counter[str] = Counter()
        for name, profile in profiles.items():
            self._names.setdefault(id(profile), name)

    def of(self, profile: Profile) -> str:
        """Return the name of a profile; it is among `profiles` from then on."""
        name = self._names.get(id(profile))
        if name is None:
            name = self._names[id(profile)] = self._make_up(profile)
            self.profiles.setdefault(name, profile)
        return name

    def _make_up(self, profile: Profile) -> str:
        name = plain = name_of(profile)
        while name in self.profiles:
            if isinstance(profile, Delay | Compute) and self.profiles[name] == profile:
                break
            self._n_made_up[plain] += 1
            name = f"{plain}#{self._n_made_up[plain] + 1}"
        return name


class Programs:
    """The table of a workload or of a run; profiles are added to it when jobs need them."""

    def __init__(
        self,
        where: str,
        profiles: Mapping[str, Profile],
        table: _core.ProgramTable | None = None,
        *,
        unit: float = 1.0,
    ) -> None:
        """Begin with an empty table, or behind programs that nobody will ask for again.

        `unit` is the work that the core takes as one in a computation.
        """
        self.table = _core.ProgramTable() if table is None else table
        self._unit = unit
        self._where = where
        self._naming = Naming(profiles)
        self._indices: dict[int, int] = {}

    def add(self, profile: Profile) -> int:
        """Return the position of a profile in the table, where it is from now on."""
        if id(profile) not in self._indices:
            for one in within(profile):
                if id(one) not in self._indices:
                    name = self._naming.of(one)  # holds it, so that its id stays its own
                    try:
                        self._indices[id(one)] = self._add(name, one)
                    except InputError as error:
                        raise InputError(f"{self._where}: profile {name!r}: {error}") from None
        return self._indices[id(profile)]

    def _add(self, name: str, profile: Profile) -> int:
        table, code = self.table, return_code_of(profile)
        if abs(code) > MOST_RETURN_CODE:
            raise InputError(f"return_code: got {code}, expected at most {MOST_RETURN_CODE}")
        match profile:
            case Delay(duration=seconds):
                return table.add_wait(name, code, _amount("delay", seconds))
            case Compute(work=work, spread=spread):
                return table.add_computation(name, code, _amount("work", work / self._unit), spread)
            case Sequence(parts=parts, repeat=repeat):
                return table.add_sequence(name, code, [self._indices[id(p)] for p in parts], repeat)
            case Receive(pattern=pattern, poll_seconds=seconds):
                success, failure, timeout = map(self._index, branches_of(profile))
                return table.add_receive(name, code, pattern, success, failure, timeout, seconds)
            case _:
                return self._add_leaf(name, profile)

    def _add_leaf(self, name: str, profile: Profile) -> int:
        table, code = self.table, return_code_of(profile)
        match profile:
            case ParallelTask(flops=flops, bytes=sent):
                return table.add_parallel_task(name, code, np.array(flops), np.array(sent, float))
            case HomogeneousTask(flops=work, bytes=traffic, amounts=amounts):
                of = AMOUNTS.index(amounts)
                return table.add_homogeneous_task(name, code, work, traffic, of)
            case StorageTransfer(read_bytes=read, written_bytes=written, storage=label):
                spread = profile.spread
                return table.add_storage_transfer(name, code, read, written, label, spread)
            case DataStaging(bytes=moved, from_storage=from_label, to_storage=to_label):
                return table.add_staging(name, code, moved, from_label, to_label)
            case _:
                return self._add_told(name, profile)

    def _add_told(self, name: str, profile: Profile) -> int:
        table, code = self.table, return_code_of(profile)
        match profile:
            case Send(message=message, seconds=seconds):
                return table.add_send(name, code, _json(message), seconds)
            case UsageTrace(ranks=ranks):
                return table.add_usage_trace(name, code, [list(rank) for rank in ranks])
            case MpiTrace(ranks=texts, sources=sources):
                return table.add_mpi_trace(name, code, list(texts), list(sources))
        raise AssertionError(profile)

    def _index(self, part: Profile | None) -> int | None:
        return None if part is None else self._indices[id(part)]


def check_size(where: str, profile: Profile, n_hosts: int) -> None:
    """Refuse a profile for another number of hosts."""
    size = size_of(profile)
    if size not in (None, n_hosts):
        raise InputError(
            f"{where}: n_hosts: got {n_hosts}, expected {size}, the size of its profile"
        )


def check_rank_hosts(where: str, hosts: Iterable[object], n_hosts: int, profile: Profile) -> None:
    """Refuse positions that the job has no host for, and another number of them than of ranks."""
    n = 0
    for n, host in enumerate(hosts, start=1):
        if type(host) is not int or not 0 <= host < n_hosts:
            raise InputError(
                f"{where}[{n - 1}]: got {host!r}, expected a whole number from 0 to {n_hosts - 1}"
            )
    for count in sorted(rank_counts(profile)):
        if count != n:
            raise InputError(
                f"{where}: got {n} numbers, expected {count}, as its trace has {count} ranks"
            )


def _amount(what: str, value: float) -> float:
    if not 0 <= value < math.inf:
        raise InputError(f"{what}: got {shown(value)}, expected a number >= 0")
    return value


def _json(message: Mapping[str, object]) -> str:
    try:
        return msgspec.json.encode(message).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"message: got {message!r}, expected what JSON can hold ({error})"
        ) from None
