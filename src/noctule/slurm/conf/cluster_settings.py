"""Settings of the whole cluster, by what they are for; `settings` puts them together.

Each class tells contradictions that Slurm would live with as sentences, and raises for those that
keep its controller from starting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from noctule.errors import InputError
from noctule.slurm.conf.partitions import PREEMPT_MODE
from noctule.slurm.conf.values import (
    AGE,
    FLAG,
    SECONDS,
    TEXT,
    WEIGHTS,
    WORDS,
    Kind,
    choice,
    number,
    setting,
)
from noctule.units import shown

Where = Callable[[str], str]

_WEIGHT = number(0, 2**32 - 1)
_MEMORY = Kind(
    "megabytes",
    lambda text: 0 if text.upper() in ("UNLIMITED", "INFINITE") else int(text),
    "a whole number of megabytes or UNLIMITED",
)
_CONSUMABLE = (
    "cr_cpu",
    "cr_cpu_memory",
    "cr_core",
    "cr_core_memory",
    "cr_socket",
    "cr_socket_memory",
)
_SELECT_FLAGS = (
    "cr_lln",
    "cr_pack_nodes",
    "cr_one_task_per_core",
    "cr_core_default_dist_block",
    "cr_memory",
    "ll_shared_gres",
    "other_cons_res",
    "other_cons_tres",
)
_RESET_PERIODS = ("NONE", "NOW", "DAILY", "WEEKLY", "MONTHLY", "QUARTERLY", "YEARLY")


class Section:
    """A part of the settings."""

    __slots__ = ()

    def contradictions(self, where: Where) -> Iterable[str]:  # noqa: ARG002
        """Say what does not go together; `where` gives the place of a key."""
        return ()


@dataclass(frozen=True, slots=True)
class Priority(Section):
    """PriorityType and what it weighs; times in seconds."""

    priority_type: str = setting(
        "PriorityType",
        choice("priority/basic", "priority/multifactor"),
        "priority/basic",
        "First come first served, or a sum of factors.",
    )
    weight_age: int = setting("PriorityWeightAge", _WEIGHT, 0, "Of the time a job has waited.")
    weight_assoc: int = setting("PriorityWeightAssoc", _WEIGHT, 0, "Of the association.")
    weight_fairshare: int = setting("PriorityWeightFairshare", _WEIGHT, 0, "Of fair share.")
    weight_job_size: int = setting("PriorityWeightJobSize", _WEIGHT, 0, "Of the size.")
    weight_partition: int = setting("PriorityWeightPartition", _WEIGHT, 0, "Of the partition.")
    weight_qos: int = setting("PriorityWeightQOS", _WEIGHT, 0, "Of the QOS.")
    weight_tres: tuple[tuple[str, float], ...] = setting(
        "PriorityWeightTRES", WEIGHTS, (), "Of what a job asks for: CPU=1000,Mem=2000."
    )
    max_age: int | None = setting("PriorityMaxAge", AGE, 7 * 86_400, "When the age counts fully.")
    decay_half_life: int | None = setting(
        "PriorityDecayHalfLife", AGE, 7 * 86_400, "Of usage; 0: it never decays."
    )
    calc_period: int | None = setting(
        "PriorityCalcPeriod", AGE, 300, "Between computations; written in minutes."
    )
    usage_reset_period: str = setting(
        "PriorityUsageResetPeriod", choice(*_RESET_PERIODS), "NONE", "When usage becomes 0."
    )
    favor_small: bool = setting("PriorityFavorSmall", FLAG, False, "Small jobs count more.")
    flags: tuple[str, ...] = setting(
        "PriorityFlags", WORDS, (), "NO_FAIR_TREE, SMALL_RELATIVE_TO_TIME, MAX_TRES and others."
    )
    dampening_factor: int = setting(
        "FairShareDampeningFactor", number(1, 65_533), 1, "Of classic fair share."
    )

    def has_flag(self, name: str) -> bool:
        """Whether PriorityFlags has a word, whatever its case."""
        return name.lower() in (flag.lower() for flag in self.flags)

    def contradictions(self, where: Where) -> Iterable[str]:
        """Say what does not go together."""
        if self.calc_period is None or self.calc_period < 60:
            raise InputError(f"{where('PriorityCalcPeriod')}: expected at least one minute")
        if self.usage_reset_period == "NONE" and self.decay_half_life == 0:
            key = where("PriorityDecayHalfLife")
            yield f"{key}: 0 without a PriorityUsageResetPeriod: usage grows for ever"


@dataclass(frozen=True, slots=True)
class Select(Section):
    """What a job is given: whole nodes, or cores, memory and generic resources."""

    select_type: str = setting(
        "SelectType",
        choice("select/linear", "select/cons_res", "select/cons_tres", "select/cray_aries"),
        "select/linear",
        "Whole nodes, or parts of them.",
    )
    parameters: tuple[str, ...] = setting(
        "SelectTypeParameters", WORDS, (), "CR_Core, CR_Core_Memory, CR_LLN and others."
    )
    topology_plugin: str = setting(
        "TopologyPlugin",
        choice("topology/none", "topology/tree", "topology/3d_torus", "topology/default"),
        "topology/none",
        "topology/tree uses topology.conf.",
    )
    topology_param: tuple[str, ...] = setting("TopologyParam", WORDS, (), "Of topology/tree.")
    gres_types: tuple[str, ...] = setting("GresTypes", WORDS, (), "Generic resources.")

    @property
    def is_linear(self) -> bool:
        """Whether jobs are given whole nodes."""
        return self.select_type == "select/linear"

    @property
    def unit(self) -> str:
        """What is consumed: node, cpu, core or socket."""
        if self.is_linear:
            return "node"
        words = self._words
        for unit in ("cpu", "core", "socket"):
            if words & {f"cr_{unit}", f"cr_{unit}_memory"}:
                return unit
        return "core" if not words & {"cr_memory"} else "cpu"

    @property
    def memory(self) -> bool:
        """Whether memory is consumed too; with cons_tres by default, if nothing else is said."""
        words = self._words
        if any(word.endswith("memory") for word in words):
            return True
        return not self.is_linear and not words & set(_CONSUMABLE)

    def has(self, flag: str) -> bool:
        """Whether SelectTypeParameters has a word, whatever its case."""
        return flag.lower() in self._words

    @property
    def _words(self) -> set[str]:
        return {word.lower() for word in self.parameters}

    def contradictions(self, where: Where) -> Iterable[str]:
        """Say what does not go together."""
        key = where("SelectTypeParameters")
        unknown = [w for w in self.parameters if w.lower() not in _CONSUMABLE + _SELECT_FLAGS]
        if unknown:
            raise InputError(f"{key}: got {unknown[0]!r}, expected words such as CR_Core_Memory")
        units = [w for w in self.parameters if w.lower() in _CONSUMABLE]
        if len(units) > 1:
            raise InputError(f"{key}: got {units[0]} and {units[1]}, expected one of them")
        if self.is_linear and units:
            raise InputError(
                f"{key}: got {units[0]} with select/linear, "
                "expected CR_Memory or CR_ONE_TASK_PER_CORE"
            )
        if not self.is_linear and self.has("CR_Memory"):
            yield f"{key}: CR_Memory alone consumes no cores"


_PREEMPT_COUNTS = ("reorder_count", "min_exempt_priority")
_PREEMPT_FLAGS = ("youngest_first", "strict_order")


@dataclass(frozen=True, slots=True)
class Preemption(Section):
    """Which jobs make way for others, and how."""

    preempt_type: str = setting(
        "PreemptType",
        choice("preempt/none", "preempt/partition_prio", "preempt/qos"),
        "preempt/none",
        "Who preempts whom.",
    )
    preempt_mode: tuple[str, ...] = setting(
        "PreemptMode", PREEMPT_MODE, ("OFF",), "What happens to those that make way."
    )
    exempt_time: int | None = setting(
        "PreemptExemptTime", AGE, 0, "How long jobs run before they can be preempted."
    )
    time_slice: int = setting(
        "SchedulerTimeSlice", number(5, 65_533, unit="seconds"), 30, "Of gang scheduling."
    )
    parameters: tuple[str, ...] = setting(
        "PreemptParameters",
        WORDS,
        (),
        "youngest_first, strict_order, reorder_count=n, min_exempt_priority=n; others are told.",
    )

    def has(self, name: str) -> bool:
        """Tell whether PreemptParameters name an option."""
        return any(word.partition("=")[0].lower() == name for word in self.parameters)

    def count(self, name: str) -> int | None:
        """Return the number that PreemptParameters give an option, if they do."""
        for word in self.parameters:
            found, _, text = word.partition("=")
            if found.lower() == name and text.strip().isdecimal():
                return min(int(text), 2**32 - 1)
        return None

    def _odd_parameters(self, where: str) -> Iterable[str]:
        for word in self.parameters:
            name, _, text = word.partition("=")
            if name.lower() in _PREEMPT_COUNTS and not text.strip().isdecimal():
                yield f"{where}: {name}: got {shown(text)}, expected a number; it is left out"
            elif name.lower() not in (*_PREEMPT_COUNTS, *_PREEMPT_FLAGS):
                yield f"{where}: {shown(word)} is left out"

    def contradictions(self, where: Where) -> Iterable[str]:
        """Say what does not go together, and what is left out."""
        key = where("PreemptMode")
        modes = set(self.preempt_mode)
        if "SUSPEND" in modes and "GANG" not in modes:
            raise InputError(f"{key}: got SUSPEND, expected SUSPEND,GANG")
        is_off = not modes - {"OFF", "GANG"}
        if self.preempt_type != "preempt/none" and is_off:
            raise InputError(
                f"{key}: got {','.join(self.preempt_mode)} with {self.preempt_type}, "
                "expected CANCEL, REQUEUE or SUSPEND,GANG"
            )
        if self.preempt_type == "preempt/none" and not is_off:
            raise InputError(
                f"{key}: got {','.join(self.preempt_mode)} with preempt/none, expected OFF or GANG"
            )
        return self._odd_parameters(where("PreemptParameters"))


@dataclass(frozen=True, slots=True)
class PowerSaving(Section):
    """When idle nodes are switched off and on."""

    suspend_time: int | None = setting(
        "SuspendTime", number(0, unit="seconds", endless=True), None, "Idle before it."
    )
    suspend_rate: int = setting("SuspendRate", number(0, 65_533), 60, "Nodes a minute; 0: all.")
    suspend_timeout: int = setting("SuspendTimeout", SECONDS, 30, "Of switching off.")
    resume_rate: int = setting(
        "ResumeRate", number(0, 65_533), 300, "Nodes a minute; told, not followed."
    )
    resume_timeout: int = setting("ResumeTimeout", SECONDS, 60, "Of switching on.")
    suspend_program: str = setting("SuspendProgram", TEXT, "", "Without it nothing is switched.")
    resume_program: str = setting("ResumeProgram", TEXT, "", "Without it nothing is switched.")
    exempt_nodes: str = setting(
        "SuspendExcNodes", TEXT, "", "Nodes that stay on; n[1-9]:2 keeps two idle ones."
    )
    exempt_partitions: tuple[str, ...] = setting(
        "SuspendExcParts", WORDS, (), "Partitions whose nodes stay on."
    )

    def contradictions(self, where: Where) -> Iterable[str]:
        """Say what does not go together."""
        if self.suspend_time is not None and not (self.suspend_program and self.resume_program):
            yield (
                f"{where('SuspendTime')}: without SuspendProgram and ResumeProgram "
                "no node is switched off"
            )


#: Seconds; Slurm takes its default for what is shorter.
_LEAST_EXPIRY = 5


@dataclass(frozen=True, slots=True)
class Ends(Section):
    """How jobs end, and what the daemons do then."""

    kill_wait: int = setting("KillWait", SECONDS, 30, "Between SIGTERM and SIGKILL.")
    over_time_limit: int | None = setting(
        "OverTimeLimit",
        number(0, 65_533, unit="minutes", endless=True),
        0,
        "Minutes that a job may go over its limit.",
    )
    complete_wait: int = setting(
        "CompleteWait", number(0, 65_533, unit="seconds"), 0, "Nothing starts after an end."
    )
    min_job_age: int = setting("MinJobAge", SECONDS, 300, "How long ended jobs are known.")
    message_timeout: int = setting(
        "MessageTimeout", number(1, 65_533, unit="seconds"), 10, "Half of it bounds main passes."
    )
    batch_start_timeout: int = setting("BatchStartTimeout", SECONDS, 10, "Of a batch job.")
    unkillable_step_timeout: int = setting(
        "UnkillableStepTimeout", SECONDS, 60, "After it a node is drained."
    )
    epilog_msg_time: int = setting(
        "EpilogMsgTime", number(0, unit="microseconds"), 2000, "Between messages of a large job."
    )
    epilog: str = setting("Epilog", TEXT, "", "With one, the end of a job asks for a pass at once.")
    prolog: str = setting("Prolog", TEXT, "", "Before a job.")
    prolog_flags: tuple[str, ...] = setting(
        "PrologFlags", WORDS, (), "Alloc: jobs configure first."
    )
    return_to_service: int = setting(
        "ReturnToService", number(0, 2), 0, "Which nodes that were down come back by themselves."
    )
    slurmd_timeout: int = setting("SlurmdTimeout", SECONDS, 300, "Of a node that does not answer.")
    health_check_interval: int = setting("HealthCheckInterval", SECONDS, 0, "0: none.")
    inactive_limit: int = setting("InactiveLimit", SECONDS, 0, "Of interactive jobs; 0: none.")
    tree_width: int = setting("TreeWidth", number(1, 65_533), 50, "Messages that go out at once.")
    job_requeue: bool = setting("JobRequeue", FLAG, True, "Jobs of failed nodes wait again.")
    auth_info: tuple[str, ...] = setting(
        "AuthInfo", WORDS, (), "cred_expire: seconds that a requeued job waits at least."
    )
    dependency_parameters: tuple[str, ...] = setting(
        "DependencyParameters", WORDS, (), "kill_invalid_depend cancels jobs that can never start."
    )
    resv_over_run: int | None = setting(
        "ResvOverRun",
        number(0, 65_533, unit="minutes", endless=True),
        0,
        "Minutes that jobs go over the end of their reservation.",
    )

    @property
    def credential_seconds(self) -> int:
        """How long the credential of a job is valid, after which it may be launched again."""
        told = [word.removeprefix("cred_expire=") for word in self.auth_info]
        return next((int(n) for n in told if n.isdecimal() and int(n) >= _LEAST_EXPIRY), 120)

    @property
    def kill_invalid_depend(self) -> bool:
        """Whether jobs are cancelled whose dependency can never be met."""
        return "kill_invalid_depend" in self.dependency_parameters


@dataclass(frozen=True, slots=True)
class Limits(Section):
    """What jobs may ask for, where partitions say nothing else."""

    enforce_part_limits: str = setting(
        "EnforcePartLimits",
        choice("NO", "ANY", "ALL", "YES"),
        "NO",
        "Whether jobs over a partition's limits are refused; YES is ALL.",
    )
    max_array_size: int = setting("MaxArraySize", number(0, 4_000_001), 1001, "One over the last.")
    max_job_count: int = setting("MaxJobCount", number(1), 10_000, "Jobs that Slurm keeps.")
    first_job_id: int = setting("FirstJobId", number(1), 1, "Of the first job.")
    max_tasks_per_node: int = setting("MaxTasksPerNode", number(1, 65_533), 512, "Of one step.")
    def_mem_per_cpu_mb: int | None = setting("DefMemPerCPU", _MEMORY, None, "As of partitions.")
    def_mem_per_node_mb: int | None = setting("DefMemPerNode", _MEMORY, None, "As of partitions.")
    max_mem_per_cpu_mb: int | None = setting("MaxMemPerCPU", _MEMORY, None, "As of partitions.")
    max_mem_per_node_mb: int | None = setting("MaxMemPerNode", _MEMORY, None, "As of partitions.")
    def_mem_per_gpu_mb: int | None = setting("DefMemPerGPU", number(0), None, "As of partitions.")
    def_cpu_per_gpu: int | None = setting("DefCpuPerGPU", number(0), None, "As of partitions.")


@dataclass(frozen=True, slots=True)
class Accounting(Section):
    """Whether there is a database, and what it enforces."""

    storage_type: str = setting(
        "AccountingStorageType",
        TEXT,
        "accounting_storage/none",
        "Without a database age and fair share count nothing.",
    )
    enforce: tuple[str, ...] = setting(
        "AccountingStorageEnforce", WORDS, (), "associations, limits, qos, safe and others."
    )
    tres: tuple[str, ...] = setting("AccountingStorageTRES", WORDS, (), "Counted besides CPUs.")

    @property
    def has_database(self) -> bool:
        """Whether usage and associations are known to the controller."""
        return self.storage_type.lower() == "accounting_storage/slurmdbd"

    def enforces(self, what: str) -> bool:
        """Whether associations, limits, qos or safe are enforced; each implies those before it."""
        words = {word.lower() for word in self.enforce}
        implied = {
            "associations": {"associations", "limits", "qos", "safe", "all", "wckeys"},
            "limits": {"limits", "safe", "all"},
            "qos": {"qos", "all"},
            "safe": {"safe", "all"},
        }
        return bool(words & implied[what])
