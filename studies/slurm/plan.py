"""What the study runs: the four use cases of section IV of the paper, on three workloads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from runs import PRESENT, Run

#: Model, pattern and seed: three draws of each.
WORKLOADS = (
    *("cirne-kth-1", "cirne-kth-4", "cirne-kth-7"),
    *("cirne-sdsc-2", "cirne-sdsc-5", "cirne-sdsc-8"),
    *("lublin-batch-3", "lublin-batch-6", "lublin-batch-9"),
)
#: On which workloads Slurm's own clocks run, too, and with how many phases: it takes longer.
OWN_CLOCKS = ("cirne-kth-1",)
N_PHASES = 2


def _set(name: str, values: Sequence[int]) -> list[str]:
    return [f"SchedulerParameters.{name}={value}" for value in values]


CASES: Mapping[str, Sequence[str]] = {
    "Backfill interval": [
        *_set("bf_interval", (7, 15)),
        PRESENT,
        *_set("bf_interval", (60, 90)),
    ],
    "Jobs that backfilling looks at": [
        *_set("bf_queue_limit", (20, 35)),
        PRESENT,
        *_set("bf_queue_limit", (75, 100)),
    ],
    "System size and load": [
        *("nodes-50%", "nodes-25%", "nodes-12.5%"),
        PRESENT,
        *("nodes+12.5%", "nodes+25%", "nodes+50%"),
    ],
}
#: With Slurm's own clocks: what the claims are about.
SOME = (
    *(PRESENT, "SchedulerParameters.bf_interval=15"),
    *("nodes-25%", "nodes-12.5%", "nodes+12.5%", "nodes+25%"),
)


def planned() -> Iterator[Run]:
    """Yield all runs, the longest first."""
    for phase in range(1, N_PHASES + 1):
        for change in SOME:
            for workload in OWN_CLOCKS:
                yield Run(workload, "slurm", phase, change)
    for change in dict.fromkeys(change for case in CASES.values() for change in case):
        for workload in WORKLOADS:
            yield Run(workload, "bsc", 0, change)
