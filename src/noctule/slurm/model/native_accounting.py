"""Accounts, QOS and priority weights as the core takes them, and who jobs count for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from noctule import _core
from noctule.errors import InputError
from noctule.slurm.conf.associations import Association, Associations, LimitSet, Qos
from noctule.slurm.conf.settings import SlurmSettings
from noctule.slurm.jobs.requests import Requests
from noctule.slurm.model.native_settings import NO_BOUND, gres_kinds, preempt_mode
from noctule.slurm.site.extras import Usage
from noctule.units import shown

_RESETS = {"NONE": "never"}
_ALL_NUMBERS = (
    "grp_jobs",
    "grp_jobs_accrue",
    "grp_submit_jobs",
    "grp_wall",
    "max_jobs",
    "max_jobs_accrue",
    "max_submit_jobs",
    "max_wall",
)
_ALL_TRES = (
    "grp_tres",
    "grp_tres_mins",
    "grp_tres_run_mins",
    "max_tres_per_job",
    "max_tres_per_node",
    "max_tres_mins_per_job",
)
_QOS_FLAGS = {
    "no_reserve": "NoReserve",
    "deny_on_limit": "DenyOnLimit",
    "enforce_usage_threshold": "EnforceUsageThreshold",
    "no_decay": "NoDecay",
    "over_part_qos": "OverPartQOS",
    "usage_factor_safe": "UsageFactorSafe",
}
_PRIORITY_FLAGS = {
    "accrue_always": "ACCRUE_ALWAYS",
    "calculate_running": "CALCULATE_RUNNING",
    "depth_oblivious": "DEPTH_OBLIVIOUS",
    "incr_only": "INCR_ONLY",
    "max_tres": "MAX_TRES",
    "no_normal_association": "NO_NORMAL_ASSOC",
    "no_normal_partition": "NO_NORMAL_PART",
    "no_normal_qos": "NO_NORMAL_QOS",
    "no_normal_tres": "NO_NORMAL_TRES",
    "small_relative_to_time": "SMALL_RELATIVE_TO_TIME",
}
# What a QOS with one of these flags lets jobs do, the model does not.
_LEFT_OUT = ("PartitionTimeLimit", "PartitionMaxNodes", "PartitionMinNodes", "RequiresReservation")


class AccountingCompiler:
    """Fills what the core knows of accounting; `notes` say what was left out."""

    def __init__(
        self,
        settings: SlurmSettings,
        associations: Associations | None,
        usage: Sequence[Usage] = (),
    ) -> None:
        """Take a configuration and, where there is a database, what it holds and what was used."""
        self.settings = settings
        self.associations = associations
        self.usage = usage
        self.notes: list[str] = []
        self._tres = _tres_numbers(settings)
        self._unknown: dict[str, None] = {}
        self._qos: dict[str, int] = {}
        self._accounts: dict[str, int] = {}
        self._users: dict[tuple[str, str, str], int] = {}

    def fill(self, core: _core.SlurmSettings, *, first_calculation: float) -> None:
        """Set priority and accounting of the core's settings.

        Args:
            core: with its nodes and partitions.
            first_calculation: date of the epoch of the first computation of priorities.
        """
        core.priority = self._priority(first_calculation)
        core.accounting = self._accounting()
        for i, partition in enumerate(self.settings.partitions):
            if partition.qos and self.associations is not None:
                core.set_partition_qos(i, self._qos_number(partition.qos, partition.name))
        if self._unknown:
            names = ", ".join(self._unknown)
            self.notes.append(f"limits and weights of {names} are left out: nothing counts them")

    def number(self, core: _core.SlurmRequests, requests: Requests) -> None:
        """Say for each job which association and QOS it counts for; complain about unknown ones."""
        if self.associations is None:
            return
        accounts, qos = [], []
        known: dict[tuple[str, str, str, tuple[str, ...]], tuple[int, int]] = {}
        rows = zip(
            requests.column("user"),
            requests.column("account"),
            requests.column("qos"),
            requests.column("partitions"),
            strict=True,
        )
        for job, (user, account, name, partitions) in enumerate(rows):
            key = (user, account, name, tuple(partitions))
            if key not in known:
                known[key] = self._numbers_of(*key, f"requests: job {job + 1} of the workload")
            accounts.append(known[key][0])
            qos.append(known[key][1])
        core.set_column("association", np.asarray(accounts, dtype=np.int64))
        core.set_column("qos", np.asarray(qos, dtype=np.int64))
        n = accounts.count(NO_BOUND)
        if n:
            self.notes.append(f"{n} jobs have no association: no limit of accounts, no fair share")

    def _numbers_of(
        self, user: str, account: str, qos: str, partitions: Sequence[str], where: str
    ) -> tuple[int, int]:
        assert self.associations is not None
        partition = partitions[0] if partitions else ""
        found = self.associations.user(user, account, partition)
        name = qos or self._default_qos(found)
        number = NO_BOUND
        if found is not None:
            number = self._users[found.user, found.account, found.partition]
        return number, self._qos_number(name, where) if name else NO_BOUND

    def _default_qos(self, found: Association | None) -> str:
        assert self.associations is not None
        above = {account.account: account for account in self.associations.accounts}
        while found is not None:
            if found.default_qos:
                return found.default_qos
            found = above.get(found.parent) if found.parent != found.account or found.user else None
        return "normal" if "normal" in self._qos else ""

    def _qos_number(self, name: str, where: str) -> int:
        if name not in self._qos:
            raise InputError(
                f"{where}: QOS {shown(name)} is not among those of the accounting data"
            )
        return self._qos[name]

    def _priority(self, first_calculation: float) -> _core.SlurmPriority:
        told = self.settings.priority
        core = _core.SlurmPriority()
        core.multifactor = told.priority_type == "priority/multifactor"
        core.weight_age = told.weight_age
        core.weight_association = told.weight_assoc
        core.weight_fair_share = told.weight_fairshare
        core.weight_job_size = told.weight_job_size
        core.weight_partition = told.weight_partition
        core.weight_qos = told.weight_qos
        core.weight_tres = self._weights(told.weight_tres)
        core.max_age = _seconds(told.max_age)
        core.decay_half_life = told.decay_half_life or 0
        core.calc_period = _seconds(told.calc_period)
        core.first_calculation = first_calculation
        reset = told.usage_reset_period
        core.usage_reset = getattr(_core.SlurmUsageReset, _RESETS.get(reset, reset.lower()))
        core.damping = told.dampening_factor
        core.favor_small = told.favor_small
        core.fair_tree = not told.has_flag("NO_FAIR_TREE")
        for name, flag in _PRIORITY_FLAGS.items():
            setattr(core, name, told.has_flag(flag))
        core.billing_weights = [
            self._weights(partition.tres_billing_weights) for partition in self.settings.partitions
        ]
        return core

    def _accounting(self) -> _core.SlurmAccounting:
        told = self.settings.accounting
        core = _core.SlurmAccounting()
        core.has_database = told.has_database and self.associations is not None
        if self.associations is None:
            if told.has_database:
                self.notes.append(
                    "the configuration has an accounting database, but its accounts were not "
                    "given: nothing ages, no fair share, no limits"
                )
            return core
        core.enforces_limits = told.enforces("limits")
        core.enforces_safely = told.enforces("safe")
        core.qos = self._core_qos_list(self.associations.qos)
        core.associations = self._core_associations(self.associations)
        return core

    def _core_associations(self, told: Associations) -> list[_core.SlurmAssociation]:
        found: list[_core.SlurmAssociation] = []
        for association in (*told.accounts, *told.users):
            core = _core.SlurmAssociation()
            core.name = association.user or association.account
            core.is_user = bool(association.user)
            is_root = not association.user and association.account == "root"
            core.parent = NO_BOUND if is_root else self._accounts[association.parent or "root"]
            core.shares = association.shares
            core.priority = association.priority or 0
            core.limits = self._limits(association.limits)
            if association.user:
                key = (association.user, association.account, association.partition)
                self._users[key] = len(found)
            else:
                self._accounts[association.account] = len(found)
            found.append(core)
        self._add_usage(found)
        return found

    def _add_usage(self, associations: Sequence[_core.SlurmAssociation]) -> None:
        """Give associations what they had used; of one user's in several partitions, the first."""
        users: dict[tuple[str, str], int] = {}
        for (user, account, _), number in self._users.items():
            users.setdefault((user, account), number)
        n_unknown = 0
        for row in self.usage if self.settings.priority.usage_reset_period != "NOW" else ():
            key = (row.user, row.account)
            found = users.get(key) if row.user else self._accounts.get(row.account)
            if found is None:
                n_unknown += 1
            else:
                associations[found].used = row.raw_usage
        if n_unknown:
            self.notes.append(f"usage of {n_unknown} unknown associations is left out")

    def _core_qos_list(self, told: Sequence[Qos]) -> list[_core.SlurmQos]:
        found = [self._core_qos(qos) for qos in told]
        for qos, core in zip(told, found, strict=True):
            core.preempts = [self._qos_number(name, f"QOS {qos.name}") for name in qos.preempt]
            core.grace_time = qos.grace_time or 0
            core.preempt_exempt_time = qos.preempt_exempt_time
            modes = [word.strip().upper() for word in qos.preempt_mode.split(",")]
            core.preempts_within = "WITHIN" in modes
            if not {"CLUSTER", "", "WITHIN"} & set(modes) or len(modes) > 1:
                core.set_preempt_mode(preempt_mode(modes))
        return found

    def _core_qos(self, told: Qos) -> _core.SlurmQos:
        self._qos[told.name] = len(self._qos)
        core = _core.SlurmQos()
        core.name = told.name
        core.priority = told.priority or 0
        core.usage_factor = told.usage_factor
        core.usage_threshold = told.usage_threshold
        core.limit_factor = told.limit_factor
        core.limits = self._limits(told.limits)
        core.min_tres = self._amounts(told.min_tres)
        for share, of in ((core.per_user, "user"), (core.per_account, "account")):
            share.max_tres = self._amounts(getattr(told, f"max_tres_per_{of}"))
            share.max_jobs = getattr(told, f"max_jobs_per_{of}")
            share.max_submit_jobs = getattr(told, f"max_submit_per_{of}")
            share.max_jobs_accrue = getattr(told, f"max_jobs_accrue_per_{of}")
        for name, flag in _QOS_FLAGS.items():
            setattr(core, name, told.has_flag(flag))
        for flag in filter(told.has_flag, _LEFT_OUT):
            self.notes.append(f"QOS {told.name}: flag {flag} is left out")
        return core

    def _limits(self, told: LimitSet) -> _core.SlurmLimitSet:
        core = _core.SlurmLimitSet()
        for name in _ALL_NUMBERS:
            setattr(core, name, getattr(told, name))
        for name in _ALL_TRES:
            setattr(core, name, self._amounts(getattr(told, name)))
        core.min_prio_threshold = told.min_prio_threshold or 0
        return core

    def _amounts(self, told: Iterable[tuple[str, int]]) -> list[_core.SlurmTresLimit]:
        return [
            _core.SlurmTresLimit(self._tres[name], amount)
            for name, amount in told
            if self._is_known(name)
        ]

    def _weights(self, told: Iterable[tuple[str, float]]) -> list[float]:
        """Return weights by number; none if nothing is told."""
        weights = [0.0] * len(self._tres)
        is_told = False
        for name, weight in told:
            if self._is_known(name.lower()):
                weights[self._tres[name.lower()]] = weight
                is_told = True
        return weights if is_told else []

    def _is_known(self, name: str) -> bool:
        if name not in self._tres:
            self._unknown[name] = None
        return name in self._tres


def _tres_numbers(settings: SlurmSettings) -> dict[str, int]:
    names = ["cpu", "mem", "node", "billing"]
    names += [f"gres/{kind}".lower() for kind in gres_kinds(settings)]
    names += [f"license/{name}".lower() for name, _ in settings.licenses]
    return {name: i for i, name in enumerate(names)}


def _seconds(value: int | None) -> int:
    return 2**40 if value is None else value
