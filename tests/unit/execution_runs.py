"""Small platforms with networks, and runs on them that can be worked out by hand."""

from __future__ import annotations

from pathlib import Path

from small_runs import Scripted

import noctule as nt
from noctule.messages import SimulationStarted

#: Four hosts of 100 flops a second and links of 10 bytes a second without latency; a disk.
CLUSTER = """\
<?xml version="1.0"?>
<platform version="4.1">
  <zone id="all" routing="Full">
    <cluster id="c" prefix="n" suffix="" radical="0-3" speed="100f" bw="10Bps" lat="0s"
             sharing_policy="SHARED"/>
    <cluster id="s" prefix="disk" suffix="" radical="0-1" speed="1f" bw="5Bps" lat="0s">
      <prop id="role" value="storage"/>
    </cluster>
    <link id="trunk" bandwidth="1000Bps" latency="0s"/>
    <zoneRoute src="c" dst="s" gw_src="nc_router" gw_dst="disks_router">
      <link_ctn id="trunk"/>
    </zoneRoute>
  </zone>
</platform>
"""
#: Two hosts of two cores, 10 flops a second each; the first one is what {} says.
PAIR = """\
<?xml version="1.0"?>
<platform version="4.1">
  <zone id="all" routing="Full">
    <host id="a" speed="10f" core="2" {}/>
    <host id="b" speed="10f" core="2"/>
  </zone>
</platform>
"""


def cluster_in(folder: Path) -> nt.Platform:
    path = folder / "cluster.xml"
    path.write_text(CLUSTER)
    return nt.load_platform(path)


def pair(tmp_path: Path, attributes: str = "", **files: str) -> nt.Platform:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    path = tmp_path / "pair.xml"
    path.write_text(PAIR.format(attributes))
    return nt.load_platform(path)


def simulate(platform, policy, *jobs, **options) -> nt.Schedule:
    return nt.simulate(platform, nt.Workload.from_jobs(jobs), policy, **options)


def starting(*decisions):
    """Return a policy that decides this when time begins."""

    def decide(view, events):
        if isinstance(events[0], SimulationStarted):
            yield from decisions

    return Scripted(decide)
