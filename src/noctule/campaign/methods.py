"""A paragraph for the methods section of a paper: what was run, on what, measured how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from noctule.campaign.about import About, WorkloadAbout
from noctule.campaign.specs import FileRef, PlatformSpec, WorkloadSpec
from noctule.columns import shown


def methods_paragraph(about: About) -> str:
    """Return the sentences, ready to be pasted and cut."""
    return " ".join(
        [
            *_workloads(about),
            *_platforms(about),
            *_policies(about),
            *_measures(about),
            f"All runs were simulated with Noctule {about.versions['noctule']} "
            f"(Python {about.versions['python']}, NumPy {about.versions['numpy']}); "
            "the campaign file, from which they can be repeated bit by bit, is available.",
        ]
    )


def _workloads(about: About) -> Iterator[str]:
    for label, workload in about.workloads.items():
        spec = workload.spec
        source = _model(spec) if spec.model is not None else _log(workload)
        changes = [*_changes(spec, about.seeds)]
        yield f"Workload {label} is {source}{''.join(f', {change}' for change in changes)}."


def _log(workload: WorkloadAbout) -> str:
    spec = workload.spec
    assert spec.file is not None
    rules = ", ".join(f"{rule}: {n}" for rule, n in workload.reading)
    reading = spec.reading
    factor = reading.walltime_factor
    walltimes = "as requested" if factor is None else f"max(requested, {shown(factor)} × runtime)"
    part = ""
    if spec.start is not None and spec.length is not None:
        part = f"{shown(spec.length)} s from time {shown(spec.start)} on of "
    return (
        f"{part}{Path(spec.file.path).name} (SHA-256 {spec.file.sha256[:12]}…; {rules}; "
        f"processors as {reading.processors}, walltimes {walltimes}, "
        f"runtimes as {'fixed durations' if reading.profiles == 'delay' else 'work'})"
    )


def _model(spec: WorkloadSpec) -> str:
    given = [f"{name} {value}" for name, value in spec.parameters.items()]
    given += [f"{name} from {Path(ref.path).name}" for name, ref in spec.files.items()]
    return f"drawn from the model {spec.model} ({', '.join(given)})"


def _changes(spec: WorkloadSpec, seeds: Sequence[int]) -> Iterator[str]:
    if spec.load != 1.0:
        yield f"with times between submissions divided by {shown(spec.load)}"
    if spec.shake is not None:
        yield f"shaken by up to {shown(spec.shake)} s, with ties in random order"
    if spec.shake is not None or spec.model is not None:
        yield f"{len(seeds)} times (seeds {_seeds(seeds)})"


def _seeds(seeds: Sequence[int]) -> str:
    if list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))) and len(seeds) > 2:
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def _platforms(about: About) -> Iterator[str]:
    parts = [f"{label} ({_platform(spec)})" for label, spec in about.platforms.items()]
    yield f"Platforms: {'; '.join(parts)}."


def _platform(spec: PlatformSpec) -> str:
    if spec.file is not None:
        return f"{Path(spec.file.path).name}, SHA-256 {spec.file.sha256[:12]}…"
    hosts = "as many hosts as the log tells" if spec.n_hosts is None else f"{spec.n_hosts} hosts"
    return hosts if spec.speed == 1.0 else f"{hosts} of relative speed {shown(spec.speed)}"


def _policies(about: About) -> Iterator[str]:
    yield f"Policies: {'; '.join(f'{name} = {text}' for name, text in about.policies.items())}."
    if about.options:
        told = "; ".join(f"{name} {', '.join(map(str, v))}" for name, v in about.options.items())
        yield f"Options of the simulation: {told}."


def _measures(about: About) -> Iterator[str]:
    measures = about.measures
    yield (
        "Means are over all jobs that ran and ended; rejected jobs are counted apart; bounded "
        f"slowdowns have a threshold of {shown(measures.threshold)} s."
    )
    if measures.trims:
        yield (
            f"Trimmed figures leave out jobs submitted in the first {shown(measures.warm_up)} s "
            f"and the last {shown(measures.cool_down)} s; untrimmed ones are given beside them."
        )
    for what, unit in (("carbon", "g"), ("price", "EUR")):
        given: FileRef | float | None = getattr(measures, what)
        if isinstance(given, FileRef):
            name = Path(given.path).name
            yield f"The {what} of a kWh is told by {name} (SHA-256 {given.sha256[:12]}…)."
        elif given is not None:
            yield f"The {what} of a kWh is {shown(given)} {unit}."
    if about.bounds:
        yield f"Bounds: {', '.join(about.bounds)}."
    yield (
        "Policies are compared in pairs of runs that agree in everything else; intervals are "
        "bootstrapped, p-values are those of sign-flip permutation tests with Holm's correction."
    )
