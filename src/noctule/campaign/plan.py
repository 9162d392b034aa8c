"""The runs of a campaign, one after the other, without ever holding all of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from noctule.campaign.description import FILE_OPTIONS, Campaign
from noctule.campaign.grid import Grid, Labels, matches
from noctule.campaign.specs import PlatformSpec, RunSpec, Value, WorkloadSpec
from noctule.campaign.variants import PolicyChoice, Variant
from noctule.policies.native import NATIVE_POLICIES
from noctule.policy import PolicySpec
from noctule.replay import draws_without_seed, with_seed
from noctule.run import SimulationOptions

CLAIRVOYANT, UNLIMITED = "clairvoyant", "unlimited"
# a machine on which nobody waits needs no policy to speak of
_ANY_POLICY = "fcfs"


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run, and what the campaign calls it; `bound` is empty but for runs that bound others."""

    labels: Labels
    spec: RunSpec
    bound: str = ""

    @property
    def is_native(self) -> bool:
        """Whether it runs without Python, and so in a thread."""
        return PolicySpec.parse(self.spec.policy).name in NATIVE_POLICIES


@dataclass(frozen=True, slots=True)
class _Combination:
    """One value of each axis."""

    workload: Variant[WorkloadSpec]
    seed: int | None
    platform: Variant[PlatformSpec]
    policy: Variant[PolicyChoice]
    options: Mapping[str, Value]

    @property
    def labels(self) -> dict[str, Value | None]:
        """What the campaign calls it."""
        return {
            "workload": self.workload.label,
            "seed": self.seed,
            "platform": self.platform.label,
            "policy": self.policy.label,
            **self.options,
        }


_Block = tuple[
    Variant[WorkloadSpec],
    int | None,
    Sequence[Variant[PlatformSpec]],
    Sequence[Mapping[str, Value]],
    Sequence[Variant[PolicyChoice]],
]


@dataclass(frozen=True)
class Plan:
    """What a campaign runs, in an order in which runs of one workload come together."""

    campaign: Campaign

    def __iter__(self) -> Iterator[PlannedRun]:
        """Yield every run, with those that bound them behind the first of their kind."""
        unlimited: tuple[object, ...] = ()
        for combination in self._combinations():
            labels = self._described(combination)
            spec = self._spec(combination)
            yield PlannedRun(labels, spec)
            if CLAIRVOYANT in self.campaign.bounds:
                exact = msgspec.structs.replace(spec.workload, exact_walltimes=True)
                yield PlannedRun(labels, msgspec.structs.replace(spec, workload=exact), CLAIRVOYANT)
            same = (spec.workload, spec.platform, spec.options)
            if UNLIMITED in self.campaign.bounds and same != unlimited:
                unlimited = same
                yield self._unlimited(labels, spec)

    @cached_property
    def _varied(self) -> tuple[str, ...]:
        return tuple(self.campaign.varied_values)

    def __len__(self) -> int:
        """Return how many runs there are."""
        return self._n_runs

    @cached_property
    def _n_runs(self) -> int:
        campaign = self.campaign
        if campaign.bounds:
            return sum(1 for _ in self)
        if campaign.excluded or len(campaign.grids) > 1:
            return sum(1 for _ in self._combinations())
        blocks = self._blocks(campaign.grids[0])
        return sum(len(p) * len(options) * len(policies) for _, _, p, options, policies in blocks)

    def _unlimited(self, labels: Labels, spec: RunSpec) -> PlannedRun:
        platform = msgspec.structs.replace(spec.platform, unlimited=True)
        alone = msgspec.structs.replace(
            spec,
            platform=platform,
            policy=_ANY_POLICY,
            policy_file=None,
            events=None,  # hosts that are not there neither fail nor are reserved
            windows=None,
        )
        without = {
            name: None if name.partition(".")[0] == "policy" else value
            for name, value in labels.items()
        }
        return PlannedRun(without, alone, UNLIMITED)

    def _combinations(self) -> Iterator[_Combination]:
        grids = self.campaign.grids
        for n, grid in enumerate(grids):
            for combination in self._crossed(grid):
                labels = combination.labels
                if any(earlier.contains(labels) for earlier in grids[:n]):
                    continue
                if not self._is_excluded(combination, labels):
                    yield combination

    def _crossed(self, grid: Grid) -> Iterator[_Combination]:
        for workload, seed, platforms, values, policies in self._blocks(grid):
            for platform, options, policy in itertools.product(platforms, values, policies):
                yield _Combination(workload, seed, platform, policy, options)

    def _blocks(self, grid: Grid) -> Iterator[_Block]:
        """Yield what is crossed for each workload and seed; without a seed where none is used."""
        campaign = self.campaign
        platforms = _admitted(grid, "platform", campaign.platforms)
        policies = _admitted(grid, "policy", campaign.policies)
        seeds = [seed for seed in campaign.seeds if grid.admits("seed", seed)]
        values = (
            [value for value in values if grid.admits(name, value)]
            for name, values in campaign.options.items()
        )
        options = [
            dict(zip(campaign.options, chosen, strict=True))
            for chosen in itertools.product(*values)
        ]
        calm_options = [one for one in options if not _draws_users(one)]
        drawn_options = [one for one in options if _draws_users(one)]
        for workload in _admitted(grid, "workload", campaign.workloads):
            calm = [one for one in policies if not (workload.seeded or one.seeded)]
            drawn = [one for one in policies if workload.seeded or one.seeded]
            yield workload, None, platforms, calm_options, calm
            for seed in seeds:
                yield workload, seed, platforms, options, drawn
                yield workload, seed, platforms, drawn_options, calm

    def _is_excluded(self, combination: _Combination, labels: Labels) -> bool:
        definitions = {
            "workload": combination.workload.definition,
            "platform": combination.platform.definition,
            "policy": combination.policy.definition,
        }
        return any(
            all(
                any(
                    matches(labels[axis], one, definitions.get(axis))
                    for one in (wanted if isinstance(wanted, list) else [wanted])
                )
                for axis, wanted in rule.items()
            )
            for rule in self.campaign.excluded
        )

    def _described(self, combination: _Combination) -> Labels:
        labels = combination.labels
        varied: dict[str, Any] = {}
        for axis in ("workload", "platform", "policy"):
            variant: Variant[Any] = getattr(combination, axis)
            varied |= {f"{axis}.{key}": value for key, value in variant.varied.items()}
        return labels | {name: varied.get(name) for name in self._varied}

    def _spec(self, combination: _Combination) -> RunSpec:
        workload = combination.workload
        seed = combination.seed if workload.seeded else None
        named = self.campaign.option_files
        files = {
            name: named.get((name, str(value)))
            for name, value in combination.options.items()
            if name in FILE_OPTIONS
        }
        options = {
            name: value for name, value in combination.options.items() if name not in FILE_OPTIONS
        }
        if _draws_users(options):
            assert combination.seed is not None
            options["replay"] = with_seed(str(options["replay"]), combination.seed)
        return RunSpec(
            workload=msgspec.structs.replace(workload.spec, seed=seed),
            platform=combination.platform.spec,
            policy=combination.policy.spec.with_seed(combination.seed),
            policy_file=combination.policy.spec.file,
            options=SimulationOptions(**options),  # type: ignore[arg-type]
            measures=self.campaign.measures,
            keep_jobs=self.campaign.keep_jobs,
            **files,
        )


def _draws_users(options: Mapping[str, Value]) -> bool:
    """Tell whether the users of a run are drawn from the seed of the campaign."""
    return draws_without_seed(str(options.get("replay", "rigid")))


def _admitted(grid: Grid, axis: str, variants: Mapping[str, Variant[Any]]) -> list[Variant[Any]]:
    return [variant for label, variant in variants.items() if grid.admits(axis, label)]
