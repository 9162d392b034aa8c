"""noctule campaign."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click

from noctule.commands.options import Command, output_options
from noctule.console import Console, ExitCode, speaking

if TYPE_CHECKING:
    from noctule.campaign import Campaign, Tally
    from noctule.campaign.running import Workers


@click.group()
def campaign() -> None:
    """Do many runs, and say which differences between them are real."""


_logs = click.option(
    "--logs", metavar="DIR", help="Where logs of the archive are, before all other places."
)
_workers = click.option(
    "--workers", type=click.IntRange(min=1), metavar="N", help="As many as cores by default."
)


@campaign.command()
@click.argument("file", metavar="FILE.toml")
@click.option("-o", "--output", metavar="DIR", help="Tell how much of it is done in DIR.")
@click.option(
    "--samples",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    metavar="N",
    help="Runs to do for an estimate of the time.",
)
@_workers
@_logs
@output_options
def plan(
    *,
    file: str,
    output: str | None,
    samples: int,
    workers: int | None,
    logs: str | None,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Check FILE.toml, and tell what it would run and for how long."""
    from pathlib import Path

    from noctule.campaign.description import Campaign
    from noctule.campaign.estimate import estimate
    from noctule.campaign.local import usable_cores
    from noctule.campaign.plan import Plan
    from noctule.campaign.store import Store
    from noctule.printing.campaigns import plan_result

    with speaking(as_json=as_json, quiet=quiet) as console:
        planned = Plan(Campaign.load(file, logs=logs))
        store = None if output is None else Store(Path(output))
        guess = estimate(planned, samples, workers or usable_cores(), store=store)
        console.show(plan_result(planned, guess))
    return ExitCode.OK


@campaign.command()
@click.argument("file", metavar="FILE.toml")
@click.option(
    "-o", "--output", metavar="DIR", required=True, help="Results; what is there is kept."
)
@click.option("--retry-failed", is_flag=True, help="Do runs again that have failed.")
@_workers
@click.option(
    "--dask",
    metavar="ADDRESS|SYSTEM",
    help="Run on a Dask cluster (tcp://host:8786), or start one on SYSTEM: slurm, oar, pbs, ...",
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Of SYSTEM: jobs to submit.")
@click.option(
    "--option", "options", multiple=True, metavar="KEY=VALUE", help="Of SYSTEM: queue=normal, ..."
)
@click.option("--watch", is_flag=True, help="Serve a page on loopback that follows the campaign.")
@_logs
@output_options
def run(
    *,
    file: str,
    output: str,
    retry_failed: bool,
    workers: int | None,
    dask: str | None,
    jobs: int | None,
    options: tuple[str, ...],
    watch: bool,
    logs: str | None,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Run what is missing of FILE.toml in DIR, and gather its results."""
    from noctule.campaign import Campaign, run_campaign
    from noctule.printing.campaign_progress import CampaignDisplay
    from noctule.printing.campaigns import run_notes, tally_result

    display = CampaignDisplay(silent=quiet or as_json)
    with speaking(as_json=as_json, quiet=quiet) as console:
        found = Campaign.load(file, logs=logs)
        team = _team(workers, dask, jobs, options)
        go = partial(run_campaign, found, output, team, retry_failed=retry_failed)
        try:
            if watch:
                tally = _watched(console, found, output, display.look, go)
            else:
                tally = go(look=display.look)
        finally:
            display.close()
        console.talk.notes(run_notes(tally, output))
        console.show(tally_result(tally, output))
    return ExitCode.CHECK_FAILED if tally.n_failed else ExitCode.OK


def _watched(
    console: Console,
    found: Campaign,
    output: str,
    look: Callable[[Tally], object],
    go: Callable[..., Tally],
) -> Tally:
    from noctule.report.live import LivePage
    from noctule.report.page import bokeh_script
    from noctule.report.watching import CampaignWatch

    bokeh_script()
    with LivePage(found.name) as page:
        console.talk.note(f"watch it at {page.address}")
        watch = CampaignWatch(page, found, output, look)
        tally = go(look=watch.renew, on_start=watch.begin)
        watch.end(tally)
    return tally


def _team(
    workers: int | None, dask: str | None, jobs: int | None, options: tuple[str, ...]
) -> Workers:
    if dask is None:
        if jobs is not None or options:
            raise click.UsageError("--jobs, --option: expected --dask with them")
        from noctule.campaign.local import LocalWorkers

        return LocalWorkers(workers)
    if workers is not None:
        raise click.UsageError("--workers: of this machine, got --dask")
    from noctule.campaign.dask_workers import workers_for

    pairs = [option.partition("=") for option in options]
    for name, equals, _ in pairs:
        if not name or not equals:
            raise click.UsageError(f"--option {name}: expected KEY=VALUE")
    return workers_for(dask, jobs, {name: value for name, _, value in pairs})


def _show_options(command: Command) -> Command:
    for option in (
        click.option("--plot", metavar="FILE", help="Draw it, as .pdf, .png or .svg."),
        click.option(
            "--within", multiple=True, metavar="AXIS", help="One table for each value of AXIS."
        ),
        click.option("--baseline", metavar="VALUE", help="Compare all others with this one only."),
        click.option("--confidence", type=float, default=0.95, show_default=True, metavar="X"),
        click.option(
            "--metric",
            "metrics",
            multiple=True,
            default=["mean_waiting_time"],
            show_default=True,
            metavar="NAME",
            help="May be repeated.",
        ),
        click.option("--by", default="policy", show_default=True, metavar="AXIS"),
    ):
        command = option(command)
    return command


@campaign.command()
@click.argument("folder", metavar="DIR")
@_show_options
@output_options
def show(
    *,
    folder: str,
    by: str,
    metrics: tuple[str, ...],
    confidence: float,
    baseline: str | None,
    within: tuple[str, ...],
    plot: str | None,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Compare the runs in DIR, with intervals and a verdict."""
    from noctule.printing.campaigns import show_result

    with speaking(as_json=as_json, quiet=quiet) as console:
        console.show(
            show_result(
                folder, by, metrics, confidence=confidence, baseline=baseline, within=within
            )
        )
        if plot is not None:
            from noctule.plots.campaigns import save_comparison

            save_comparison(folder, by, metrics[0], plot, confidence=confidence)
            console.talk.note(f"{plot}: written")
    return ExitCode.OK


@campaign.command()
@click.argument("folder", metavar="DIR")
@output_options
def methods(*, folder: str, as_json: bool, quiet: bool) -> ExitCode:
    """Print a paragraph for the methods section of a paper."""
    from noctule.printing.campaigns import methods_result

    with speaking(as_json=as_json, quiet=quiet) as console:
        console.show(methods_result(folder))
    return ExitCode.OK
