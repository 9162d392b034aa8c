import os
import shutil
import subprocess
from pathlib import Path

import pytest

from noctule.vclock.support import is_supported

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def simulated_time():
    support = is_supported()
    if not support:
        pytest.skip(f"no simulated time here: {support.reason}")


@pytest.fixture(scope="session")
def sleeper(simulated_time, tmp_path_factory):
    """The program of sleeper.c, dynamically linked, as the C++ compiler of the core builds it."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    program = tmp_path_factory.mktemp("sleeper") / "sleeper"
    subprocess.run(
        [*compiler.split(), "-x", "c", str(HERE / "sleeper.c"), "-o", str(program), "-pthread"],
        check=True,
    )
    return str(program)
