"""What the folder of a campaign says of itself: enough for tables and for a methods section."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path

import msgspec

from noctule.campaign.description import Campaign
from noctule.campaign.execution import Runner
from noctule.campaign.specs import MeasureSpec, PlatformSpec, Value, WorkloadSpec
from noctule.campaign.variants import Variant
from noctule.errors import InputError

CAMPAIGN_FILE = "campaign.json"
ABOUT_FORMAT = 1


class WorkloadAbout(msgspec.Struct, frozen=True):
    """A workload: what it is made of, and what the reading rules touched."""

    spec: WorkloadSpec
    reading: list[tuple[str, int]] = []
    n_jobs: int | None = None


class About(msgspec.Struct, frozen=True):
    """A campaign as it was run last."""

    format: int
    name: str
    versions: dict[str, str]
    text: str
    workloads: dict[str, WorkloadAbout]
    platforms: dict[str, PlatformSpec]
    policies: dict[str, str]
    seeds: list[int]
    options: dict[str, list[Value]]
    measures: MeasureSpec
    bounds: list[str]


def about(campaign: Campaign, runner: Runner) -> About:
    """Describe a campaign; its files are read once."""
    versions = {name: metadata.version(name) for name in ("noctule", "numpy")}
    return About(
        format=ABOUT_FORMAT,
        name=campaign.name,
        versions={"python": platform.python_version()} | versions,
        text=campaign.text,
        workloads={
            label: _workload(variant, runner) for label, variant in campaign.workloads.items()
        },
        platforms={label: variant.spec for label, variant in campaign.platforms.items()},
        policies={label: variant.spec.text for label, variant in campaign.policies.items()},
        seeds=list(campaign.seeds),
        options={name: list(values) for name, values in campaign.options.items()},
        measures=campaign.measures,
        bounds=list(campaign.bounds),
    )


def _workload(variant: Variant[WorkloadSpec], runner: Runner) -> WorkloadAbout:
    """Read a file, to see whether it can be and what the rules make of it."""
    if variant.spec.model is not None:
        return WorkloadAbout(variant.spec)
    as_read = msgspec.structs.replace(variant.spec, shake=None, load=1.0)
    workload = runner.workload(as_read)
    reading = [(rule.rule, rule.n_jobs) for rule in workload.reading]
    return WorkloadAbout(variant.spec, reading, len(workload))


def read_about(folder: Path) -> About:
    """Read what a folder says of itself."""
    path = folder / CAMPAIGN_FILE
    try:
        found = msgspec.json.decode(path.read_bytes(), type=About)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file, expected the folder of a campaign") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not the description of a campaign: {error}") from None
    if found.format != ABOUT_FORMAT:
        raise InputError(f"{path}: format: got {found.format}, expected {ABOUT_FORMAT}")
    return found
