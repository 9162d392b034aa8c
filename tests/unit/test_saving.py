"""Files: names say the format, and a file is there whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest
from trace_files import refusal

from noctule.errors import InputError
from noctule.formats import load_workload
from noctule.formats.saving import format_of, lost_in, save_schedule, save_workload
from noctule.output_file import check_file, write_file
from noctule.testing.builders import a_job, a_workload, run
from noctule.workload import Workload


def two_jobs() -> Workload:
    return a_workload(a_job(1, hosts=2), a_job(2, submit=3))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["a.swf", "a.json", "A.SWF.GZ", "a.json.xz", "a.b.swf.bz2"])
def test_a_workload_is_read_back_from_any_file(name: str) -> None:
    save_workload(two_jobs(), name)

    again = load_workload(name)
    assert again.n_hosts.tolist() == [2, 1]
    assert again.submit_time.tolist() == [0, 3]
    assert [file.name for file in Path().iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "decompress"),
    [("a.swf.gz", gzip.decompress), ("a.swf.xz", lzma.decompress), ("a.swf.bz2", bz2.decompress)],
)
def test_a_file_is_compressed_as_its_name_says_and_always_alike(name: str, decompress) -> None:  # type: ignore[no-untyped-def]
    save_workload(two_jobs(), name)
    first = Path(name).read_bytes()
    save_workload(two_jobs(), name, force=True)

    assert Path(name).read_bytes() == first
    assert decompress(first).startswith(b"; Version: 2.2\n")


@pytest.mark.parametrize("name", ["a", "a.txt", "a.gz", "swf", "a.swf.zip"])
def test_a_name_without_a_known_ending_is_refused(name: str) -> None:
    assert refusal(format_of, name) == (
        f"{name}: got no known ending, expected .swf or .json, "
        "and .gz, .xz or .bz2 behind it if it is to be compressed"
    )


def test_a_file_is_replaced_only_by_force() -> None:
    Path("a.swf").write_text("mine")

    assert refusal(save_workload, two_jobs(), "a.swf") == (
        "a.swf: exists already; --force replaces it"
    )
    assert Path("a.swf").read_text() == "mine"
    save_workload(two_jobs(), "a.swf", force=True)
    assert len(load_workload("a.swf")) == 2


def test_a_text_that_breaks_off_leaves_nothing_behind(folder: Path) -> None:
    def pieces() -> Iterator[str]:
        yield "begun"
        raise KeyboardInterrupt

    Path("a.txt").write_text("mine")
    with pytest.raises(KeyboardInterrupt):
        write_file("a.txt", pieces(), force=True)

    assert [file.name for file in folder.iterdir()] == ["a.txt"]
    assert Path("a.txt").read_text() == "mine"


def test_a_file_that_appears_meanwhile_is_not_replaced() -> None:
    def pieces() -> Iterator[str]:
        Path("a.txt").write_text("theirs")
        yield "mine"

    assert refusal(write_file, "a.txt", pieces()) == "a.txt: exists already; --force replaces it"
    assert Path("a.txt").read_text() == "theirs"
    assert [file.name for file in Path().iterdir()] == ["a.txt"]


def test_a_file_system_without_hard_links_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(Path, "hardlink_to", no_links)
    write_file("a.txt", ["text"])

    assert Path("a.txt").read_text() == "text"
    assert [file.name for file in Path().iterdir()] == ["a.txt"]


def test_a_link_is_followed() -> None:
    Path("real.txt").write_text("old")
    Path("link.txt").symlink_to("real.txt")

    write_file("link.txt", ["new"], force=True)

    assert Path("link.txt").is_symlink()
    assert Path("real.txt").read_text() == "new"


def test_folders_are_made_and_what_cannot_be_written_is_told() -> None:
    write_file("deep/er/a.txt", ["x"])
    assert Path("deep/er/a.txt").read_text() == "x"

    assert refusal(check_file, "deep") == "deep: got a directory, expected a file to write"
    assert refusal(check_file, "deep/er/a.txt/b") == (
        f"deep/er/a.txt/b: cannot be written: {Path('deep/er/a.txt').absolute()} is not a folder"
    )


def test_a_schedule_is_a_log_or_nothing() -> None:
    schedule = run("fcfs", jobs=[a_job(1)])

    save_schedule(schedule, "out.swf")
    assert len(load_workload("out.swf")) == 1
    assert refusal(save_schedule, schedule, "out.json") == (
        "out.json: got a JSON file, expected .swf for a schedule"
    )


def test_what_would_be_lost_depends_on_the_format() -> None:
    workload = a_workload(a_job("x"))

    assert [str(rule) for rule in lost_in(workload, "a.swf")] == [
        "id: text, written as a number: 1"
    ]
    assert lost_in(workload, "a.json") == []


def test_a_broken_disk_is_an_input_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("noctule.output_file.os.fsync", full)
    with pytest.raises(InputError) as caught:
        write_file("a.txt", ["x"])

    assert str(caught.value) == "a.txt: cannot be written: No space left on device"
    assert list(Path().iterdir()) == []
