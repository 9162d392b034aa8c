"""How long platforms of 100 000 hosts take to load, beside parsing the same files with xml.etree.

    python bench/platforms.py [N_HOSTS]

One file has a <cluster>, which is a line; others have a <host> with two properties each, alike or
all different. Prints a table; the exit code is 1 if the cluster takes two seconds or more.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

from noctule.formats.platforms import load_platform

BOUND = 2.0
REPEATS = 3
HEAD = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
PROPERTIES = '<prop id="wattage_per_state" value="95:190"/><prop id="rack" value="{}"/>'


def platform_text(content: str) -> str:
    zone = f'<zone id="site" routing="Full">{content}</zone>'
    return f'{HEAD}<platform version="4.1">{zone}</platform>\n'


def files(n_hosts: int) -> dict[str, str]:
    cluster = (
        f'<cluster id="c" prefix="n" suffix="" radical="0-{n_hosts - 1}" speed="1Gf" '
        'bw="1GBps" lat="5us"/>'
    )
    alike = "\n".join(
        f'<host id="n{i}" speed="1Gf" core="4">{PROPERTIES.format(10)}</host>'
        for i in range(n_hosts)
    )
    different = "\n".join(
        f'<host id="n{i}" speed="1Gf" core="4">{PROPERTIES.format(i)}</host>'
        for i in range(n_hosts)
    )
    return {
        f"a <cluster> of {n_hosts}": platform_text(cluster),
        f"{n_hosts} <host>s, alike": platform_text(alike),
        f"{n_hosts} <host>s, different": platform_text(different),
    }


def best(call: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> int:
    n_hosts = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    slow = False
    print(f"{'file':<32} {'load (s)':>9} {'etree (s)':>10} {'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "platform.xml"
        for name, text in files(n_hosts).items():
            path.write_text(text)
            assert load_platform(path).n_hosts == n_hosts
            ours = best(lambda: load_platform(path))
            theirs = best(lambda: ElementTree.parse(path))
            print(f"{name:<32} {ours:>9.3f} {theirs:>10.4f} {ours / theirs:>8.1f}")
            slow = slow or ("cluster" in name and ours >= BOUND)
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
