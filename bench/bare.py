"""The bare single-purpose EASY loop: the unit that replays are measured in."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).parent


class BareLoop:
    """The compiled loop."""

    def __init__(self, folder: Path) -> None:
        compiler = next(name for name in ("g++", "c++", "clang++") if shutil.which(name))
        self._program = folder / "bare_warm"
        flags = ["-O3", "-march=native", "-o", str(self._program)]
        subprocess.run([compiler, *flags, str(HERE / "bare_warm.cpp")], check=True)

    def seconds(self, log: Path, n_hosts: int, policy: str, repeats: int) -> float:
        """Return the best time of its simulation loop."""
        command = [str(self._program), str(repeats), str(log), str(n_hosts), policy]
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return min(float(text) for text in re.findall(r"simulate_s (\S+)", answer))
