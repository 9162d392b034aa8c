"""What a job does, in the words of the program that asks SimGrid."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from noctule.errors import InputError
from noctule.profile import (
    Compute,
    DataStaging,
    Delay,
    HomogeneousTask,
    ParallelTask,
    Profile,
    Send,
    StorageTransfer,
    Usage,
    UsageTrace,
)
from noctule.profile import Sequence as ProfileSequence
from noctule.profile_facts import return_code_of, type_of

# Parts may be shared, so that a small workload can be endless to write.
_MOST_WORDS = 10_000_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a job runs.

    Attributes:
        hosts: names of the hosts of its executors, in their order.
        storages: names of storage hosts, by the labels of the job's profile.
        only_storage: the one that all labels stand for if none was named.
        unit: flops that a unit of the work of a Compute stands for.
        ranks: names of the hosts of ranks, if they do not go round the executors.
        cores: how many cores hosts have, by name, if it is not one.
    """

    hosts: Sequence[str]
    storages: Mapping[str, str] = field(default_factory=dict)
    only_storage: str | None = None
    unit: float = 1.0
    ranks: Sequence[str] = ()
    cores: Mapping[str, int] = field(default_factory=dict)

    def storage(self, label: str) -> str:
        """Return the storage host that a label stands for."""
        found = self.storages.get(label)
        if found is None and not self.storages:
            found = self.only_storage
        if found is None:
            raise InputError(f"storage {label!r}: nothing tells which host it stood for")
        return found


def steps_of(profile: Profile, place: Place) -> list[str]:
    """Return the words of a job's steps, with the one that ends them.

    Refuses what hangs on messages of the policy, and traces of MPI programs.
    """
    writer = _Writer(place)
    writer.write(profile)
    return [*writer.words, "end"]


def number(value: float) -> str:
    """Write a number so that it is read as the same."""
    return repr(float(value))


class _Writer:
    def __init__(self, place: Place) -> None:
        self.words: list[str] = []
        self._place = place
        self._n = len(place.hosts)

    def write(self, profile: Profile) -> bool:
        """Write the steps of a profile; tell whether it ends what it is a part of."""
        if len(self.words) > _MOST_WORDS:
            raise InputError(f"got more than {_MOST_WORDS} words of steps, expected fewer")
        fails = False
        match profile:
            case ProfileSequence(parts=parts, repeat=repeat):
                fails = self._write_sequence(parts, repeat)
            case Delay(duration=seconds) | Send(seconds=seconds):
                self.words += ["sleep", number(seconds)]
            case Compute(work=work, spread=spread):
                flops = (work / self._n if spread else work) * self._place.unit
                self._write_alike(flops, 0.0)
            case HomogeneousTask():
                self._write_alike(*self._amounts_of_each(profile))
            case _:
                self._write_task(profile)
        return fails or return_code_of(profile) != 0

    def _write_sequence(self, parts: Iterable[Profile], repeat: int) -> bool:
        """Write all parts; those behind one that fails are not reached."""
        begin = len(self.words)
        self.words += ["repeat", str(repeat)]
        fails = any(map(self.write, parts))
        if fails:
            self.words[begin + 1] = "1"
        self.words.append("end")
        return fails

    def _write_task(self, profile: Profile) -> None:
        match profile:
            case ParallelTask(flops=flops, bytes=traffic):
                self._write_parallel(self._place.hosts, flops, traffic)
            case StorageTransfer():
                self._write_transfer(profile)
            case DataStaging(bytes=moved, from_storage=one, to_storage=other):
                ends = [self._place.storage(one), self._place.storage(other)]
                self._write_parallel(ends, (), [0.0, moved, 0.0, 0.0])
            case UsageTrace(ranks=ranks):
                self._write_usages(ranks)
            case _:
                raise InputError(
                    f"got a part of type {type_of(profile)}, which cannot be replayed in SimGrid"
                )

    def _write_alike(self, flops: float, traffic: float) -> None:
        amounts = [number(flops), number(traffic)]
        self.words += ["homog", str(self._n), *self._place.hosts, *amounts]

    def _write_parallel(
        self, hosts: Sequence[str], flops: Sequence[float], traffic: Sequence[float]
    ) -> None:
        self.words += ["ptask", str(len(hosts)), *hosts]
        for letter, amounts in (("F", flops), ("B", traffic)):
            self.words += [letter, *map(number, amounts)] if amounts else ["-"]

    def _write_transfer(self, profile: StorageTransfer) -> None:
        """Write what each host reads from a storage, and writes to it."""
        share = 1.0 / self._n if profile.spread else 1.0
        row = [0.0] * self._n + [profile.written_bytes * share]
        last = [profile.read_bytes * share] * self._n + [0.0]
        hosts = [*self._place.hosts, self._place.storage(profile.storage)]
        self._write_parallel(hosts, (), row * self._n + last)

    def _write_usages(self, ranks: Sequence[Iterable[Usage]]) -> None:
        """Write what each rank computes, on some of the cores of its host."""
        places = self._place.ranks or self._place.hosts
        self.words += ["ranks", str(len(ranks))]
        for i, usages in enumerate(ranks):
            host = places[i % len(places)]
            for share, flops in usages:
                n = max(1, math.floor(share * self._place.cores.get(host, 1) + 0.5))
                self.words += ["homog", str(n), *[host] * n, number(flops), number(0)]
            self.words.append("end")

    def _amounts_of_each(self, profile: HomogeneousTask) -> tuple[float, float]:
        n = self._n
        match profile.amounts:
            case "spread":
                return profile.flops / n, profile.bytes / max(n * n - n, 1)
            case "spread_flops":
                return profile.flops / n, profile.bytes / n
            case _:
                return profile.flops, profile.bytes
