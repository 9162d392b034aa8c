"""Settings as the core takes them: by numbers, with what a setting takes from others filled in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from noctule import _core
from noctule.slurm.conf.partitions import Partition
from noctule.slurm.conf.settings import SlurmSettings
from noctule.slurm.conf.topology import Topology
from noctule.slurm.jobs.requests import NO_LIMIT
from noctule.slurm.model.power import kept_nodes, suspend_times, switching_timeouts
from noctule.slurm.site.boots import USUAL_BOOTS, Boots

#: Numbers that stand for "no bound" in the core.
NO_BOUND = 2**32 - 1
NO_MINUTES = (2**63 - 1) // 120

_STATES = ("UP", "DOWN", "DRAIN", "INACTIVE")
_OVERSUBSCRIBE = ("NO", "EXCLUSIVE", "YES", "FORCE")
_PREEMPT_MODES = ("OFF", "CANCEL", "REQUEUE", "SUSPEND")
_PREEMPT_TYPES = ("preempt/none", "preempt/partition_prio", "preempt/qos")
_SELECT_TYPES = ("select/linear", "select/cons_res", "select/cons_tres")
_UNITS = ("cpu", "core", "socket", "memory_only")
_HET_PRIORITIES = ("", "min", "avg", "max")
_PART_LIMITS = ("NO", "ANY", "ALL")
# as they are called in slurm.conf and in the core
_SAME = (
    "default_queue_depth",
    "partition_job_depth",
    "sched_interval",
    "sched_max_job_start",
    "max_sched_time",
    "batch_sched_delay",
    "defer",
    "assoc_limit_stop",
    "reduce_completing_frag",
    "bf_interval",
    "bf_max_time",
    "bf_resolution",
    "bf_window",
    "bf_window_linear",
    "bf_max_job_test",
    "bf_max_job_start",
    "bf_max_job_part",
    "bf_max_job_user",
    "bf_max_job_user_part",
    "bf_max_job_assoc",
    "bf_max_job_array_resv",
    "bf_job_part_count_reserve",
    "bf_node_space_size",
    "bf_min_age_reserve",
    "bf_min_prio_reserve",
    "bf_continue",
    "bf_busy_nodes",
    "bf_running_job_reserve",
    "bf_licenses",
    "bf_one_resv_per_job",
    "bf_hetjob_immediate",
)


def minutes(value: int | None) -> int:
    """Return a limit as the core has it."""
    return NO_MINUTES if value is None or value >= NO_LIMIT else value


def hosts_of_nodes(settings: SlurmSettings) -> list[range]:
    """Return the hosts of the platform that each node is: one, or where nodes are shared its cores.

    With CR_CPU too: no two jobs have threads of one core.
    """
    sizes = [1 if settings.select.is_linear else node.cores for node in settings.nodes]
    ranges, first = [], 0
    for size in sizes:
        ranges.append(range(first, first + size))
        first += size
    return ranges


def gres_kinds(settings: SlurmSettings) -> list[str]:
    """Return the kinds of generic resources; those with a type count for the name too."""
    kinds: dict[str, None] = {}
    for node in settings.nodes:
        for gres in node.gres:
            kinds[gres.name] = None
            if gres.kind:
                kinds[f"{gres.name}:{gres.kind}"] = None
    return list(kinds)


def core_settings(
    settings: SlurmSettings,
    *,
    epoch: int,
    constraints: Sequence[Sequence[int]] = (),
    topology: Topology | None = None,
    costs: Mapping[str, float] | None = None,
    boots: Boots = USUAL_BOOTS,
    seed: int = 0,
    bsc: bool = False,
) -> _core.SlurmSettings:
    """Return settings as the core takes them; `costs` are microseconds by what is done.

    `seed` is that of boots that fail.
    """
    core = _core.SlurmSettings()
    core.epoch = epoch
    core.gres_kinds = gres_kinds(settings)
    _add_nodes(core, settings)
    for partition in settings.partitions:
        core.add_partition(partition.name, _host_set(partition.nodes), _partition(partition))
    for name, total in settings.licenses:
        core.add_license(name, total)
    for nodes in constraints:
        core.add_constraint(_host_set(nodes))
    for switch in topology.switches if topology is not None else ():
        core.add_switch(_host_set(switch.nodes), switch.level, switch.parent)
    for kept in kept_nodes(settings):
        core.keep_on(_host_set(kept.nodes), kept.n)
    core.set_parameters(_parameters(settings, bsc=bsc))
    core.set_parameters({"boot_failures": boots.failures, "boot_seed": seed})
    if boots.repair is not None:
        core.set_parameters({"repair_seconds": math.ceil(boots.repair)})
    core.set_parameters({f"cost.{name}": value for name, value in (costs or {}).items()})
    return core


def _add_nodes(core: _core.SlurmSettings, settings: SlurmSettings) -> None:
    kinds = gres_kinds(settings)
    lines = {place: i for i, place in enumerate(dict.fromkeys(n.place for n in settings.nodes))}
    rows = zip(
        settings.nodes,
        hosts_of_nodes(settings),
        suspend_times(settings),
        switching_timeouts(settings),
        strict=True,
    )
    for node, hosts, suspend_time, (suspend_timeout, resume_timeout) in rows:
        counts = dict.fromkeys(kinds, 0)
        for gres in node.gres:
            counts[gres.name] += gres.count
            if gres.kind:
                counts[f"{gres.name}:{gres.kind}"] += gres.count
        core.add_node(
            {
                "cpus": node.cpus,
                "sockets": node.sockets,
                "cores_per_socket": node.cores_per_socket,
                "threads_per_core": node.threads_per_core,
                "memory_mb": max(0, node.memory_mb - node.mem_spec_limit_mb),
                "weight": node.weight,
                "line": lines[node.place],
                "first_host": hosts.start,
                "n_hosts": len(hosts),
                "suspend_time": suspend_time,
                "suspend_timeout": suspend_timeout,
                "resume_timeout": resume_timeout,
            },
            list(counts.values()),
        )


def _host_set(numbers: Sequence[int]) -> _core.HostSet:
    return _core.HostSet(list(numbers))


def _partition(partition: Partition) -> dict[str, float]:
    share, jobs = partition.oversubscribe
    per_cpu = partition.def_mem_per_cpu_mb
    over = partition.over_time_limit
    return {
        "state": _STATES.index(partition.state),
        "priority_tier": partition.priority_tier,
        "priority_job_factor": partition.priority_job_factor,
        "max_time": minutes(partition.max_time),
        "default_time": minutes(partition.default_time),
        "min_nodes": partition.min_nodes,
        "max_nodes": NO_BOUND if partition.max_nodes is None else partition.max_nodes,
        "max_cpus_per_node": (
            NO_BOUND if partition.max_cpus_per_node is None else partition.max_cpus_per_node
        ),
        "max_memory_per_node_mb": partition.max_mem_per_node_mb or 0,
        "default_memory_mb": per_cpu or partition.def_mem_per_node_mb or 0,
        "default_memory_is_per_cpu": bool(per_cpu),
        "oversubscribe": _OVERSUBSCRIBE.index(share),
        "oversubscribe_jobs": jobs,
        "exclusive_user": partition.exclusive_user,
        "least_loaded_nodes": partition.lln,
        "preempt_mode": preempt_mode(partition.preempt_mode or ()),
        "grace_time": partition.grace_time,
        "over_time_limit": NO_MINUTES if over is None else over,
    }


def _parameters(settings: SlurmSettings, *, bsc: bool) -> dict[str, float]:
    scheduling, ends = settings.scheduling, settings.ends
    limits = settings.limits.enforce_part_limits
    parameters: dict[str, float] = {name: float(getattr(scheduling, name)) for name in _SAME}
    parameters |= {
        "backfills": settings.scheduler_type == "sched/backfill",
        "sched_min_interval_us": scheduling.sched_min_interval,
        "bf_hetjob_prio": _HET_PRIORITIES.index(scheduling.bf_hetjob_prio or ""),
        "bf_yield_interval_us": scheduling.bf_yield_interval,
        "bf_yield_sleep_us": scheduling.bf_yield_sleep,
        "bf_queue_limit": scheduling.bf_queue_limit if bsc else 0,
        "over_time_limit": NO_MINUTES if ends.over_time_limit is None else ends.over_time_limit,
        "kill_wait": ends.kill_wait,
        "complete_wait": ends.complete_wait,
        "has_epilog": bool(ends.epilog),
        "kill_invalid_depend": ends.kill_invalid_depend,
        "enforce_part_limits": _PART_LIMITS.index("ALL" if limits == "YES" else limits),
        "suspend_rate": settings.power.suspend_rate,
        "resume_rate": settings.power.resume_rate,
        "late_nodes_return": ends.return_to_service == 2,
        "requeue_delay": ends.credential_seconds + 1,
    }
    parameters |= _preemption(settings)
    select = settings.select
    parameters |= {
        "select.type": (0 if select.is_linear else _SELECT_TYPES.index(select.select_type)),
        "select.unit": 0 if select.is_linear else _UNITS.index(select.unit),
        "select.memory": select.memory,
        "select.pack_nodes": select.has("CR_Pack_Nodes"),
        "select.least_loaded_nodes": select.has("CR_LLN"),
        "select.one_task_per_core": select.has("CR_ONE_TASK_PER_CORE"),
        "select.core_default_block": select.has("CR_CORE_DEFAULT_DIST_BLOCK"),
        "select.pack_serial_at_end": scheduling.pack_serial_at_end,
    }
    return parameters


def preempt_mode(words: Sequence[str]) -> int:
    """Return the number of what happens to jobs that are preempted."""
    return next((_PREEMPT_MODES.index(word) for word in words if word in _PREEMPT_MODES), 0)


def shares_hosts(settings: SlurmSettings) -> bool:
    """Tell whether jobs may be given cores or nodes of others."""
    return "GANG" in settings.preemption.preempt_mode or any(
        share in ("YES", "FORCE") and jobs > 1
        for share, jobs in (partition.oversubscribe for partition in settings.partitions)
    )


def _preemption(settings: SlurmSettings) -> dict[str, float]:
    told, scheduling = settings.preemption, settings.scheduling
    reorder, exempt = told.count("reorder_count"), told.count("min_exempt_priority")
    return {
        "preempt_type": _PREEMPT_TYPES.index(told.preempt_type),
        "preempt_mode": preempt_mode(told.preempt_mode),
        "preempt_exempt_time": told.exempt_time or 0,
        "preempt_youngest_first": (scheduling.preempt_youngest_first or told.has("youngest_first")),
        "preempt_strict_order": scheduling.preempt_strict_order or told.has("strict_order"),
        "preempt_reorder_count": scheduling.preempt_reorder_count if reorder is None else reorder,
        "min_exempt_priority": NO_BOUND if exempt is None else exempt,
        "preempts_within": "WITHIN" in told.preempt_mode,
        "gang": "GANG" in told.preempt_mode,
        "time_slice": told.time_slice,
        "message_timeout": settings.ends.message_timeout,
    }
