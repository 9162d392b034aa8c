"""All that a run depends on, as manifests and campaigns keep it."""

from __future__ import annotations

from typing import cast

import msgspec

from noctule.formats.rates import rate_file
from noctule.machine import Billing, Solver
from noctule.simulation_options import OnFailure, OptionValues

__all__ = [
    "FootprintOptions",
    "PlatformOptions",
    "ReadingOptions",
    "RunOptions",
    "SimulationOptions",
]


class ReadingOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reading rules of `load_workload`."""

    processors: str = "requested"
    walltime_factor: float | None = 1.0
    profiles: str = "compute"
    reference_speed: float | None = None
    dependencies: bool = False


class SimulationOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of `simulate`."""

    until: float | None = None
    enforce_walltime: bool = True
    reject_oversized: bool = True
    launch_delay: float = 0.0
    epilogue_delay: float = 0.0
    clairvoyant: bool = False
    wait_for_timers: bool = False
    energy: Billing = "off"
    solver: Solver = "simgrid"
    share_hosts: bool = False
    machine: bool = False
    report_ranks: bool = False
    batsim_latency: bool = False
    wake_for_jobs: bool | None = None
    on_failure: OnFailure = "end"
    max_attempts: int | None = None
    checkpoint_every: float | None = None
    checkpoint_cost: float = 0.0
    restart_cost: float = 0.0
    replay: str = "rigid"

    def as_keywords(self) -> OptionValues:
        """Return the options as `simulate` takes them."""
        given = msgspec.structs.asdict(self)
        told = {name: value for name, value in given.items() if value is not None}
        return cast("OptionValues", told)


class PlatformOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A platform file, or a number of hosts; without both, as many as the workload file tells."""

    n_hosts: int | None = None
    speed: float = 1.0
    file: str | None = None
    host_order: str = "natural"


class FootprintOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Grams of carbon dioxide and euros a kilowatt-hour, each a file or a number as given."""

    carbon: str | None = None
    price: str | None = None

    @property
    def files(self) -> list[str]:
        """The files of the two."""
        found = (rate_file(self.carbon), rate_file(self.price))
        return [path for path in found if path is not None]


class RunOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that a run depends on."""

    workload: str
    policy: str
    platform: PlatformOptions = PlatformOptions()
    reading: ReadingOptions = ReadingOptions()
    simulation: SimulationOptions = SimulationOptions()
    footprint: FootprintOptions = FootprintOptions()
    events: str | None = None
    windows: str | None = None
