"""Finding out what a file is: its compression, its format, and whether it can be read at all."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from noctule.errors import InputError
from noctule.formats import load_workload

LINE = b"1 0 -1 10 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
OTHER_LINE = LINE.replace(b"1 0", b"2 5", 1)
JSON = b"""{"nb_res": 1, "profiles": {"nap": {"type": "delay", "delay": 1}},
            "jobs": [{"id": 1, "subtime": 0, "res": 1, "profile": "nap"}]}"""

COMPRESSORS = {"gzip": gzip.compress, "xz": lzma.compress, "bzip2": bz2.compress}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, so that messages have short paths."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def job_ids(content: bytes, **options: Any) -> list[Any]:
    Path("workload").write_bytes(content)
    return list(load_workload("workload", **options).job_ids.tolist())


def refusal(content: bytes, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        job_ids(content, **options)
    return str(caught.value)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("content", [LINE, JSON, b"\n  " + JSON, b"; Version: 2\n" + LINE])
def test_format_is_recognised_by_content(content: bytes) -> None:
    assert job_ids(content) == [1]


@pytest.mark.usefixtures("here")
def test_format_is_recognised_behind_many_blanks() -> None:
    assert job_ids(b" " * 10_000 + JSON) == [1]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("compress", COMPRESSORS.values(), ids=COMPRESSORS)
@pytest.mark.parametrize("content", [LINE, JSON])
def test_compression_is_recognised_by_content(
    compress: Callable[[bytes], bytes], content: bytes
) -> None:
    assert job_ids(compress(content)) == [1]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("compress", COMPRESSORS.values(), ids=COMPRESSORS)
def test_compressed_files_glued_together_are_read_as_one(
    compress: Callable[[bytes], bytes],
) -> None:
    assert job_ids(compress(LINE) + compress(OTHER_LINE)) == [1, 2]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("name", "compress"), COMPRESSORS.items(), ids=COMPRESSORS)
def test_truncated_compressed_file_is_refused(
    name: str, compress: Callable[[bytes], bytes]
) -> None:
    content = compress(LINE * 100)

    for end in range(6, len(content)):
        assert refusal(content[:end]) == f"workload: truncated or corrupt {name} data"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("name", "compress"), COMPRESSORS.items(), ids=COMPRESSORS)
def test_corrupt_compressed_file_is_refused(name: str, compress: Callable[[bytes], bytes]) -> None:
    content = bytearray(compress(LINE * 100))
    content[len(content) // 2] ^= 0xFF

    assert refusal(bytes(content)) == f"workload: truncated or corrupt {name} data"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("name", "compress"), COMPRESSORS.items(), ids=COMPRESSORS)
def test_broken_second_part_of_a_compressed_file_is_not_dropped(
    name: str, compress: Callable[[bytes], bytes]
) -> None:
    content = compress(LINE) + compress(OTHER_LINE)[:-5]

    assert refusal(content) == f"workload: truncated or corrupt {name} data"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("content", [b"", b" \n\t\r\n", gzip.compress(b"", mtime=0)])
def test_empty_file_is_refused(content: bytes) -> None:
    expected = "workload: empty file, expected an SWF log or a Batsim JSON workload"
    assert refusal(content) == expected


@pytest.mark.usefixtures("here")
def test_missing_file_is_refused() -> None:
    with pytest.raises(InputError, match=r"^nothing\.swf: no such file$"):
        load_workload("nothing.swf")


def test_directory_is_refused(here: Path) -> None:
    (here / "logs").mkdir()

    with pytest.raises(InputError, match=r"^logs: got a directory, expected a file$"):
        load_workload("logs")


def test_file_that_may_not_be_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # root may read everything, so the refusal of the system is played
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)

    with pytest.raises(InputError, match=r"^secret\.swf: no permission to read it$"):
        load_workload("secret.swf")


def test_file_on_a_broken_disk_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path) -> bytes:
        raise OSError(5, "Input/output error", str(path))

    monkeypatch.setattr(Path, "read_bytes", fail)

    with pytest.raises(InputError, match=r"^kth\.swf: cannot be read: Input/output error$"):
        load_workload("kth.swf")


@pytest.mark.usefixtures("here")
def test_path_that_cannot_be_one_is_refused() -> None:
    with pytest.raises(InputError, match=r"^a\\x00b: cannot be read: embedded null byte$"):
        load_workload("a\0b")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "option",
    [
        {"processors": "allocated"},
        {"walltime_factor": 2},
        {"walltime_factor": None},
        {"profiles": "delay"},
        {"reference_speed": 1e9},
        {"dependencies": True},
    ],
    ids=str,
)
def test_options_of_swf_logs_are_refused_for_batsim_workloads(option: dict[str, Any]) -> None:
    [(name, value)] = option.items()

    assert refusal(JSON, **option) == (
        f"workload: {name}={value!r}: an option of SWF logs, got a Batsim JSON workload"
    )


@pytest.mark.usefixtures("here")
def test_defaults_of_swf_options_are_not_refused_for_batsim_workloads() -> None:
    assert job_ids(JSON, processors="requested", walltime_factor=1.0) == [1]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"processors": "used"}, "processors: got 'used', expected 'requested' or 'allocated'"),
        ({"profiles": "ptask"}, "profiles: got 'ptask', expected 'compute' or 'delay'"),
        ({"walltime_factor": 0}, "walltime_factor: got 0, expected a positive number or None"),
        ({"walltime_factor": "2"}, "walltime_factor: got '2', expected a positive number or None"),
        (
            {"reference_speed": math.nan},
            "reference_speed: got nan, expected a positive number or None",
        ),
        (
            {"profiles": "delay", "reference_speed": 2.0},
            "reference_speed: got 2.0, expected None: "
            "profiles='delay' keeps durations at any speed",
        ),
        ({"name": "a!b"}, "workload: name: got 'a!b', expected a name without '!'"),
    ],
)
def test_option_that_means_nothing_is_refused(options: dict[str, Any], message: str) -> None:
    assert refusal(LINE, **options) == message
