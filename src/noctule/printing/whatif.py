"""What `noctule slurm whatif` found, as tables, sentences and data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from noctule.console import Result, Table, plain_table
from noctule.printing.slurm import (
    change_text,
    class_label,
    fewer_accounts,
    percent_text,
    seconds_text,
)
from noctule.slurm.answers.backtest import class_rows
from noctule.slurm.answers.scheduler_work import WORK
from noctule.slurm.answers.whatif import Answer, Effect, JobChange, WhatIf

NOT_DISTINGUISHABLE = "not distinguishable"
_HEADERS = ("mean waits (s)", "jobs", "present", "changed", "effect", "%", "backtest error")
_LEAST_CAUSE = 0.5  # seconds that are worth telling


def whatif_result(found: WhatIf) -> Result:
    """Return each change for people, and all numbers for programs."""
    lines = [line for answer in found.answers for line in _answer_lines(found, answer)]
    if found.backtest is None:
        lines.append(
            "the jobs have no recorded waits: effects are compared with chance only, "
            "not with what the model gets wrong"
        )
    if found.n_phases == 1:
        lines.append("one phase tells nothing about chance: --phases 2 or more does")
    lines += [f"note: {note}" for note in found.notes]
    return Result(_document(found), lines=lines[1:])


def effect_rows(found: WhatIf) -> list[dict[str, Any]]:
    """Return effects of all changes as rows of a table for programs."""
    return [{"change": a.change, **asdict(effect)} for a in found.answers for effect in a.effects]


def _document(found: WhatIf) -> dict[str, Any]:
    return {
        "phases": found.n_phases,
        "seed": found.seed,
        "backtest": None if found.backtest is None else class_rows(found.backtest.classes),
        "present": asdict(found.present),
        "notes": list(found.notes),
        "changes": [_answer_document(answer) for answer in found.answers],
    }


def _answer_document(answer: Answer) -> dict[str, Any]:
    return {
        "change": answer.change,
        "effects": [asdict(effect) for effect in answer.effects],
        "work": asdict(answer.work),
        "most_changed": [
            {
                "job_id": j.job_id,
                "present": j.present,
                "changed": j.changed,
                "causes": dict(j.causes),
            }
            for j in answer.jobs
        ],
        "n_lost": answer.n_lost,
        "never_start": dict(answer.dropped),
        "notes": list(answer.notes),
    }


def _answer_lines(found: WhatIf, answer: Answer) -> Iterator[str]:
    yield ""
    yield f"change: {answer.change}"
    shown, n_hidden = fewer_accounts(answer.effects)
    yield from plain_table(Table(_HEADERS, list(map(_effect_row, shown))))
    if n_hidden:
        yield f"{n_hidden} accounts with fewer jobs: see --json or --csv"
    yield ""
    yield from plain_table(Table(("schedulers", "present", "changed", "%"), _work(found, answer)))
    if answer.jobs:
        yield ""
        rows = list(map(_job_row, answer.jobs))
        headers = ("most changed", "present", "changed", "effect", "why (s)")
        yield from plain_table(Table(headers, rows, of_numbers=False))
    if answer.n_lost:
        yield f"jobs that do not start any more: {answer.n_lost}"
    for reason, count in sorted(answer.dropped.items(), key=lambda item: (-item[1], item[0])):
        yield f"  {count}: {reason}"
    yield from answer.notes


def _effect_row(one: Effect) -> list[str]:
    is_told = one.is_distinguishable
    return [
        class_label(one.kind, one.name),
        str(one.n_jobs),
        seconds_text(one.present),
        seconds_text(one.changed),
        change_text(one.effect) if is_told else NOT_DISTINGUISHABLE,
        percent_text(one.effect, one.present) if is_told else "",
        seconds_text(one.error),
    ]


def _work(found: WhatIf, answer: Answer) -> Sequence[Sequence[str]]:
    rows = []
    for name, says in WORK.items():
        present, changed = getattr(found.present, name), getattr(answer.work, name)
        digits = 3 if name == "utilisation" else 1
        texts = [f"{value:.{digits}f}" for value in (present, changed)]
        rows.append([says, *texts, percent_text(changed - present, present)])
    return rows


def _job_row(job: JobChange) -> list[str]:
    causes = sorted(job.causes.items(), key=lambda item: (-abs(item[1]), item[0]))
    why = [f"{cause} {seconds:+.1f}" for cause, seconds in causes if abs(seconds) >= _LEAST_CAUSE]
    return [
        f"job {job.job_id}",
        seconds_text(job.present),
        seconds_text(job.changed),
        change_text(job.changed - job.present),
        ", ".join(why),
    ]
