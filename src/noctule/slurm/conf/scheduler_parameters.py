"""SchedulerParameters: every option that the model knows, with Slurm's default and range.

As in Slurm, a value out of its range is told and the default kept, and of an option given twice the
first one counts.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from noctule.errors import InputError
from noctule.slurm.conf.values import (
    FLAG,
    Given,
    Kind,
    SettingFacts,
    choice,
    number,
    setting,
    settings_of,
)

_MANY = 2**31 - 1


def _number(low: int, high: int = _MANY, unit: str = "") -> Kind:
    return number(low, high, unit=unit)


@dataclass(frozen=True, slots=True)
class SchedulerParameters:
    """Options of the main and of the backfill scheduler."""

    default_queue_depth: int = setting(
        "default_queue_depth", _number(0), 100, "Jobs that a quick main pass looks at."
    )
    partition_job_depth: int = setting(
        "partition_job_depth", _number(0), 0, "Jobs of each partition that a main pass looks at."
    )
    sched_interval: int = setting(
        "sched_interval", _number(-1, unit="seconds"), 60, "Between full main passes; -1: none."
    )
    sched_min_interval: int = setting(
        "sched_min_interval", _number(0, unit="microseconds"), 2, "Between two main passes."
    )
    sched_max_job_start: int = setting(
        "sched_max_job_start", _number(0), 0, "Jobs that one main pass starts at most."
    )
    max_sched_time: int = setting(
        "max_sched_time",
        _number(1, unit="seconds"),
        2,
        "Time after which a main pass stops; by default 2, but at most half of MessageTimeout.",
    )
    batch_sched_delay: int = setting(
        "batch_sched_delay", _number(0, unit="seconds"), 3, "Between passes that events ask for."
    )
    build_queue_timeout: int = setting(
        "build_queue_timeout", _number(0, unit="microseconds"), 2_000_000, "To build a queue."
    )
    defer: bool = setting("defer", FLAG, False, "No pass when a job is submitted or ends.")
    max_rpc_cnt: int = setting(
        "max_rpc_cnt", _number(0, 1000), 0, "Requests to the controller that stop a pass."
    )
    assoc_limit_stop: bool = setting(
        "assoc_limit_stop", FLAG, False, "A job over a limit closes its partition."
    )
    reduce_completing_frag: bool = setting(
        "reduce_completing_frag", FLAG, False, "CompleteWait stops its partitions only."
    )
    max_switch_wait: int = setting(
        "max_switch_wait", _number(0, unit="seconds"), 300, "How long --switches is waited for."
    )
    max_array_tasks: int | None = setting(
        "max_array_tasks", _number(1), None, "Tasks of one array; by default MaxArraySize."
    )
    pack_serial_at_end: bool = setting(
        "pack_serial_at_end", FLAG, False, "Jobs of one node go to the last nodes."
    )
    preempt_youngest_first: bool = setting(
        "preempt_youngest_first", FLAG, False, "Preempt those first that started last."
    )
    preempt_strict_order: bool = setting(
        "preempt_strict_order", FLAG, False, "Preempt the lowest priorities only."
    )
    preempt_reorder_count: int = setting(
        "preempt_reorder_count", _number(0), 1, "Attempts to preempt fewer jobs."
    )
    allow_zero_lic: bool = setting(
        "allow_zero_lic", FLAG, False, "Accept jobs that ask for more licences than there are."
    )
    bf_interval: int = setting(
        "bf_interval", _number(-1, 10_800, "seconds"), 30, "Between backfill passes; -1: none."
    )
    bf_max_time: int = setting(
        "bf_max_time",
        _number(1, 3600, "seconds"),
        30,
        "Time after which a backfill pass stops; by default bf_interval.",
    )
    bf_resolution: int = setting(
        "bf_resolution", _number(1, 3600, "seconds"), 60, "Dates are rounded down to it."
    )
    bf_window: int = setting(
        "bf_window", _number(1, 43_200, "minutes"), 1440, "How far ahead jobs are planned."
    )
    bf_window_linear: int = setting(
        "bf_window_linear",
        _number(0, unit="seconds"),
        0,
        "Growth of the window in which ends are taken together; 0: it doubles.",
    )
    bf_max_job_test: int = setting(
        "bf_max_job_test",
        _number(1, 1_000_000),
        500,
        "Jobs that a backfill pass tests.",
        aliases=("max_job_bf",),
    )
    bf_max_job_start: int = setting(
        "bf_max_job_start", _number(0, 10_000), 0, "Jobs that one backfill pass starts at most."
    )
    bf_max_job_part: int = setting(
        "bf_max_job_part", _number(0, 1_000_000), 0, "Jobs of one partition that are tested."
    )
    bf_max_job_user: int = setting(
        "bf_max_job_user", _number(0, 1_000_000), 0, "Jobs of one user that are tested."
    )
    bf_max_job_user_part: int = setting(
        "bf_max_job_user_part", _number(0, 1_000_000), 0, "The same for each partition."
    )
    bf_max_job_assoc: int = setting(
        "bf_max_job_assoc", _number(0, 1_000_000), 0, "Jobs of one association that are tested."
    )
    bf_max_job_array_resv: int = setting(
        "bf_max_job_array_resv", _number(0, 1000), 20, "Tasks of an array that are planned."
    )
    bf_job_part_count_reserve: int = setting(
        "bf_job_part_count_reserve",
        _number(0, 100_000),
        0,
        "Jobs of each partition that are planned; 0: all.",
    )
    bf_node_space_size: int = setting(
        "bf_node_space_size",
        _number(2, 2_000_000),
        500,
        "Records of the plan; by default bf_max_job_test.",
    )
    bf_min_age_reserve: int = setting(
        "bf_min_age_reserve",
        _number(0, 2_592_000, "seconds"),
        0,
        "Jobs that wait for less are not planned, and close no partition.",
    )
    bf_min_prio_reserve: int = setting(
        "bf_min_prio_reserve",
        number(0),
        0,
        "Jobs of a lower priority are not planned, and close no partition.",
    )
    bf_yield_interval: int = setting(
        "bf_yield_interval",
        _number(1, 10_000_000, "microseconds"),
        2_000_000,
        "Work after which backfilling lets others in.",
    )
    bf_yield_sleep: int = setting(
        "bf_yield_sleep", _number(1, 10_000_000, "microseconds"), 500_000, "For how long."
    )
    bf_continue: bool = setting("bf_continue", FLAG, False, "Go on after that, whatever changed.")
    bf_busy_nodes: bool = setting("bf_busy_nodes", FLAG, False, "Plan on nodes that are in use.")
    bf_running_job_reserve: bool = setting(
        "bf_running_job_reserve", FLAG, False, "Running jobs of whole nodes are in the plan."
    )
    bf_licenses: bool = setting(
        "bf_licenses", FLAG, False, "Plan licences; switches bf_running_job_reserve on."
    )
    bf_one_resv_per_job: bool = setting(
        "bf_one_resv_per_job", FLAG, False, "Plan a job in one of its partitions only."
    )
    bf_hetjob_prio: str = setting(
        "bf_hetjob_prio",
        choice("min", "avg", "max"),
        "",
        "Parts of a heterogeneous job are neighbours, with this priority of theirs.",
    )
    bf_hetjob_immediate: bool = setting(
        "bf_hetjob_immediate",
        FLAG,
        False,
        "Start heterogeneous jobs within the pass; sets bf_hetjob_prio to min.",
    )
    bf_queue_limit: int = setting(
        "bf_queue_limit",
        _number(1),
        50,
        "Jobs that a backfill pass of BSC's simulator looks at; Slurm does not know it.",
    )


def parse_scheduler_parameters(
    given: Given | None, *, message_timeout: int = 10
) -> tuple[SchedulerParameters, list[str], list[str]]:
    """Return the parameters, sentences on those that Slurm would not take, and unknown names."""
    notes: list[str] = []
    unknown: list[str] = []
    found: dict[str, Any] = {"max_sched_time": max(1, min(2, message_timeout // 2))}
    facts = {
        key.lower(): f for f in settings_of(SchedulerParameters) for key in (f.key, *f.aliases)
    }
    seen: set[str] = set()
    for word in given.text.split(",") if given is not None else ():
        assert given is not None
        name, _, text = word.strip().partition("=")
        if not name:
            continue
        fact = facts.get(name.strip().lower())
        if fact is None:
            unknown.append(name)
        elif fact.field in seen:
            notes.append(f"{given.where}: {name}: given twice, the first one counts")
        else:
            seen.add(fact.field)
            # a flag counts as set whatever follows it
            value = text.strip() if fact.kind is not FLAG else "yes"
            try:
                found[fact.field] = _value(fact, value, f"{given.where}: {name}")
            except InputError as error:
                notes.append(f"{error}; Slurm keeps its default")
    return _derived(SchedulerParameters(**found), found), notes, unknown


def _value(fact: SettingFacts, text: str, where: str) -> Any:
    value = fact.kind.parse(text, where)
    if fact.field == "bf_interval" and value == 0:
        raise InputError(f"{where}: got '0', expected seconds, or -1 for none")
    return value


def _derived(parameters: SchedulerParameters, found: dict[str, Any]) -> SchedulerParameters:
    """Fill in the defaults that follow from other parameters."""
    changes: dict[str, Any] = {}
    if "bf_max_time" not in found and parameters.bf_interval > 0:
        changes["bf_max_time"] = parameters.bf_interval
    if "bf_node_space_size" not in found:
        changes["bf_node_space_size"] = max(2, parameters.bf_max_job_test)
    if parameters.bf_licenses:
        changes["bf_running_job_reserve"] = True
    if parameters.bf_hetjob_immediate and not parameters.bf_hetjob_prio:
        changes["bf_hetjob_prio"] = "min"
    return dataclasses.replace(parameters, **changes)
