"""The model of Slurm: a configuration and requests become a policy for simulate().

A host of the platform is a node, or where nodes are shared a core; see `hosts_of_nodes`. Time
limits are the model's to enforce, and hosts stay unusable for a moment after a job: `run_options`
are the options of a run that this needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from noctule import _core
from noctule.errors import InputError
from noctule.platform import HostKind, Hosts, Platform
from noctule.policy import Policy
from noctule.schedule import Schedule
from noctule.simulation import simulate
from noctule.simulation_options import OptionValues
from noctule.slurm.conf.associations import Associations
from noctule.slurm.conf.settings import SlurmSettings
from noctule.slurm.conf.topology import Topology
from noctule.slurm.jobs.requests import Requests
from noctule.slurm.model.clocks import PASS_KINDS, Clocks, PassKind
from noctule.slurm.model.native_accounting import AccountingCompiler
from noctule.slurm.model.native_requests import RequestCompiler
from noctule.slurm.model.native_settings import core_settings, hosts_of_nodes, shares_hosts
from noctule.slurm.model.power import with_power_saving
from noctule.slurm.site.boots import USUAL_BOOTS, Boots
from noctule.slurm.site.extras import Usage
from noctule.windows import Windows
from noctule.workload import Workload

#: Seconds that nodes stay unusable after a job without an Epilog: a message there and back.
COMPLETION_DELAY = 0.005
RUN_OPTIONS: OptionValues = {
    "enforce_walltime": False,
    "reject_oversized": False,
    "epilogue_delay": COMPLETION_DELAY,
}


_SCHEDULERS = ("", "Main", "Backfill")
_REASONS = (
    "begin time",
    "held",
    "dependency",
    "array throttle",
    "partition",
    "limit",
    "licenses",
    "reservation",
    "priority",
    "resources",
    "not tested",
)


def run_options(
    settings: SlurmSettings, clocks: Clocks, *, loses_nodes: bool = False
) -> OptionValues:
    """Return the options of a run; in BSC's simulator the nodes of a job are free at its end.

    Where nodes are lost, jobs wait again that may be requeued.
    """
    options: OptionValues = {**RUN_OPTIONS, "share_hosts": shares_hosts(settings)}
    if loses_nodes:
        options["on_failure"] = "resubmit"
    return {**options, "epilogue_delay": 0.0} if clocks.mode == "bsc" else options


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass of a scheduler: how many jobs waited, were tested and started."""

    date: float
    kind: PassKind
    n_queued: int
    n_tested: int
    n_started: int


@dataclass(frozen=True, slots=True)
class ReasonChange:
    """From a pass on, why passes of its kind did not start a job.

    `detail` names the limit and whose it is, the licence, the partition, or the parameter by which
    a pass did not come to the job.
    """

    date: float
    kind: PassKind
    reason: str
    detail: str


class SlurmModel:
    """Slurm's schedulers for one run of a workload."""

    def __init__(
        self,
        settings: SlurmSettings,
        requests: Requests,
        *,
        clocks: Clocks | None = None,
        epoch: int = 0,
        job_ids: Sequence[Any] | None = None,
        topology: Topology | None = None,
        associations: Associations | None = None,
        usage: Sequence[Usage] = (),
        costs: Mapping[str, float] | None = None,
        boots: Boots = USUAL_BOOTS,
        keep_passes: bool = False,
        keep_reasons: bool = False,
    ) -> None:
        """Compile a configuration and what jobs ask for.

        Args:
            settings: of the site.
            requests: in the order of the workload, which is that of submission.
            clocks: when schedulers run; by default free ones with all phases 0.
            epoch: date of the run's zero: Slurm rounds dates of the epoch.
            job_ids: of the workload, for dependencies.
            topology: switches, for topology/tree.
            associations: accounts and QOS of the database, for fair share and limits.
            usage: of accounts and users when the run begins, as sshare prints it.
            costs: microseconds that schedulers take, by `main_pass`, `main_test`, `backfill_pass`,
                `backfill_test`, `prediction_step` and `reservation_record`; nothing by default.
            boots: of nodes that power saving has switched off; their seconds are the platform's.
            keep_passes: keep what every pass did.
            keep_reasons: keep why passes did not start each job.
        """
        self.settings = settings
        self.clocks = clocks or Clocks()
        compiler = RequestCompiler(settings, requests, epoch=epoch, job_ids=job_ids)
        constraints, fill = compiler.compile()
        core = core_settings(
            settings,
            epoch=epoch,
            constraints=constraints,
            topology=topology,
            costs=costs,
            boots=boots,
            seed=self.clocks.seed,
            bsc=self.clocks.mode == "bsc",
        )
        accounting = AccountingCompiler(settings, associations, usage)
        accounting.fill(core, first_calculation=epoch + self.clocks.first_calculation)
        jobs = fill(core)
        accounting.number(jobs, requests)
        self.policy = _core.slurm_policy(
            core, jobs, self.clocks.as_core(), keep_passes, keep_reasons
        )
        self.notes = (*compiler.notes, *accounting.notes)

    def statistics(self) -> dict[str, object]:
        """Return what the schedulers did, as sdiag tells it."""
        return _core.slurm_statistics(self.policy)

    def passes(self) -> list[Pass]:
        """Return the passes, if they were kept."""
        return [
            Pass(date, PASS_KINDS[kind], n_queued, n_tested, n_started)
            for date, kind, n_queued, n_tested, n_started in _core.slurm_passes(self.policy)
        ]

    def reasons(self, job: int) -> list[ReasonChange]:
        """Return why a job was not started, as it changed, if that was kept.

        Tasks of an array wait together and have one list.
        """
        return [
            ReasonChange(date, PASS_KINDS[kind], _REASONS[reason], detail)
            for date, kind, reason, detail in _core.slurm_reasons(self.policy, job)
        ]

    def schedulers(self) -> list[str]:
        """Return who started each job: Main, Backfill, or nobody."""
        return [_SCHEDULERS[who] for who in _core.slurm_started_by(self.policy)]

    def boots(self) -> dict[int, float]:
        """Return when jobs that had to wait for nodes to boot were given them."""
        return dict(_core.slurm_boots(self.policy))

    def killed(self) -> list[bool]:
        """Return which jobs were killed at their time limits."""
        return list(_core.slurm_killed(self.policy))


def platform_of(settings: SlurmSettings) -> Platform:
    """Return a platform with the hosts that the model uses."""
    ranges = hosts_of_nodes(settings)
    if settings.select.is_linear:
        names = [node.name for node in settings.nodes]
    else:
        names = [
            f"{node.name}.{core}"
            for node, hosts in zip(settings.nodes, ranges, strict=True)
            for core in range(len(hosts))
        ]
    return Platform(Hosts.alike(names, HostKind(speeds=(1.0,))))


def simulate_slurm(
    workload: Workload,
    settings: SlurmSettings,
    requests: Requests,
    *,
    platform: Platform | None = None,
    windows: Windows | None = None,
    clocks: Clocks | None = None,
    epoch: int = 0,
    topology: Topology | None = None,
    associations: Associations | None = None,
    costs: Mapping[str, float] | None = None,
    boots: Boots = USUAL_BOOTS,
    **options: Any,
) -> tuple[Schedule, SlurmModel]:
    """Run a workload under a configuration; return what happened and the model that decided it.

    `costs` are what schedulers take, as of `SlurmModel`. `boots` are those of nodes that power
    saving has switched off; hosts of a platform that have states to sleep in switch as these say.
    """
    if len(requests) != len(workload):
        raise InputError(f"requests: {len(requests)} for {len(workload)} jobs, expected one each")
    model = SlurmModel(
        settings,
        requests,
        clocks=clocks,
        epoch=epoch,
        job_ids=workload.job_ids.tolist(),
        topology=topology,
        associations=associations,
        costs=costs,
        boots=boots,
    )
    hosts, usual = with_power_saving(
        settings,
        platform or platform_of(settings),
        run_options(settings, model.clocks, loses_nodes="external_events" in options),
        boots,
    )
    schedule = simulate(
        hosts,
        workload,
        cast("Policy", model.policy),  # which the run takes as it is
        windows=windows,
        **{**usual, **options},
    )
    return schedule, model
