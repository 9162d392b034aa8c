"""Batsim's profiles that name files: usage and MPI traces, and what is refused, with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from batsim_profiles import refusal, text_of

from noctule.formats import load_workload
from noctule.formats.saving import save_workload
from noctule.workload import MpiTrace, Usage, UsageTrace


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Return a folder of two ranks, in a folder of their own."""
    folder = tmp_path / "traces"
    folder.mkdir()
    (folder / "list.txt").write_text("r0.txt\nr1.txt\n")
    (folder / "r0.txt").write_text("0 m_usage 0.5 1e3\n# then\n\n0 m_usage 1.00 7\n")
    (folder / "r1.txt").write_text("1 m_usage 0 0\n")
    return tmp_path


def load(folder: Path, *, n_hosts: int = 2, job: dict[str, Any] | None = None, **fields: Any):  # type: ignore[no-untyped-def]
    path = folder / "w.json"
    path.write_text(text_of({"p": fields}, n_hosts=n_hosts, **(job or {})))
    return load_workload(path)


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "usage_trace", "trace": "traces/list.txt"},
        {
            "type": "TraceReplayProfile",
            "trace_type": "FractionalComputation",
            "filename": "traces/list.txt",
        },
    ],
    ids=["v4", "v5"],
)
def test_usage_trace_is_read_with_its_files(traces: Path, fields: dict[str, Any]) -> None:
    path = str(traces / "traces" / "list.txt")
    ranks = ((Usage(0.5, 1e3), Usage(1.0, 7.0)), (Usage(0.0, 0.0),))

    sources = tuple(str(traces / "traces" / f"r{i}.txt") for i in range(2))
    workload = load(traces, **fields)
    assert workload[0].profile == UsageTrace(ranks, path, sources=sources)
    assert workload.files == (path, *sources)


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "smpi", "trace": "traces/list.txt"},
        {"type": "TraceReplayProfile", "trace_type": "SMPI", "filename": "traces/list.txt"},
    ],
    ids=["v4", "v5"],
)
def test_mpi_trace_is_read_with_its_files(traces: Path, fields: dict[str, Any]) -> None:
    folder = traces / "traces"
    (folder / "r0.txt").write_text("0 init\n0 compute 5\n")
    (folder / "r1.txt").write_text("1 init\n")

    profile = load(traces, **fields)[0].profile

    assert profile == MpiTrace(
        ("0 init\n0 compute 5\n", "1 init\n"),
        (str(folder / "r0.txt"), str(folder / "r1.txt")),
        str(folder / "list.txt"),
    )


def test_bad_line_of_an_mpi_trace_is_refused_with_its_place(traces: Path) -> None:
    (traces / "traces" / "r0.txt").write_text("0 init\n0 dance\n")

    message = refusal(load, traces, type="smpi", trace="traces/list.txt")

    assert f"profile 'p': {traces / 'traces' / 'r0.txt'}:2: " in message


def test_mpi_trace_has_a_file_for_each_rank(traces: Path) -> None:
    (traces / "traces" / "list.txt").write_text("r0.txt\n")
    (traces / "traces" / "r0.txt").write_text("0 init\n0 compute 1\n1 init\n1 compute 1\n")

    message = refusal(load, traces, type="smpi", trace="traces/list.txt")

    assert message.endswith("r0.txt: got lines of 2 ranks, expected a file for each")


def test_saved_workload_names_its_traces_from_where_it_is(traces: Path) -> None:
    workload = load(traces, type="usage_trace", trace="traces/list.txt")
    (traces / "elsewhere").mkdir()
    saved = traces / "elsewhere" / "again.json"

    save_workload(workload, saved)

    assert json.loads(saved.read_text())["profiles"]["p"]["trace"] == "../traces/list.txt"
    again = load_workload(saved)[0].profile
    assert isinstance(again, UsageTrace)
    assert again.ranks == workload[0].profile.ranks


def test_ranks_run_where_the_job_says(traces: Path) -> None:
    mapping = {"smpi_ranks_to_hosts_mapping": [1, 1]}

    workload = load(traces, job=mapping, type="usage_trace", trace="traces/list.txt")

    assert workload[0].rank_hosts == (1, 1)
    assert workload.table.rank_hosts(0) == [1, 1]
    save_workload(workload, traces / "again.json")
    assert load_workload(traces / "again.json")[0].rank_hosts == (1, 1)


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (3, ": got 3, expected an array of whole numbers"),
        ([0, 2], "[1]: got 2, expected a whole number from 0 to 1"),
        ([0, -1], "[1]: got -1, expected a whole number from 0 to 1"),
        ([0, 1.0], "[1]: got 1.0, expected a whole number from 0 to 1"),
        ([True, 1], "[0]: got True, expected a whole number from 0 to 1"),
        ([0], ": got 1 numbers, expected 2, as its trace has 2 ranks"),
        ([0, 1, 0], ": got 3 numbers, expected 2, as its trace has 2 ranks"),
    ],
)
def test_bad_mapping_of_ranks_is_refused(traces: Path, value: Any, complaint: str) -> None:
    job = {"smpi_ranks_to_hosts_mapping": value}

    message = refusal(load, traces, job=job, type="usage_trace", trace="traces/list.txt")

    place = f"{traces / 'w.json'}: jobs[0].smpi_ranks_to_hosts_mapping"
    assert message == place + complaint


@pytest.mark.parametrize(
    "line",
    [
        "0 m_usage 0.5",
        "0 m_usage 0.5 1 2",
        "0 m_usage 1.5 1",
        "0 m_usage nan 1",
        "0 m_usage -0.1 1",
        "0 m_usage 0.5 -1",
        "0 m_usage 0.5 inf",
        "0 m_usage half 1",
        "0 compute 0.5 1",
    ],
)
def test_bad_line_of_a_usage_trace_is_refused(traces: Path, line: str) -> None:
    file = traces / "traces" / "r0.txt"
    file.write_text(f"0 m_usage 1 1\n{line}\n")

    message = refusal(load, traces, type="usage_trace", trace="traces/list.txt")

    assert message == (
        f"{file}:2: got {line!r}, "
        "expected rank m_usage, a share of the cores from 0 to 1, and flops >= 0"
    )


def test_line_of_another_rank_is_refused(traces: Path) -> None:
    file = traces / "traces" / "r1.txt"
    file.write_text("0 m_usage 1 1\n")

    message = refusal(load, traces, type="usage_trace", trace="traces/list.txt")

    assert message == f"{file}:1: got rank '0', expected 1, whose file this is"


def test_files_that_cannot_be_read_are_refused(traces: Path) -> None:
    where = f"{traces / 'w.json'}: profiles['p'].trace"
    folder = traces / "traces"

    def complaint(name: object) -> str:
        return refusal(load, traces, type="smpi", trace=name)

    assert complaint("no.txt") == f"{where}: {traces / 'no.txt'}: no such file"
    assert complaint("traces") == f"{where}: {folder}: got a folder or a device, expected a file"
    assert (
        complaint("/dev/zero") == f"{where}: /dev/zero: got a folder or a device, expected a file"
    )
    assert complaint(3) == f"{where}: got 3, expected a string"
    assert complaint("a\0b").startswith(f"{where}: {traces}/a\\x00b: cannot be read")
    (folder / "list.txt").write_text("\nr0.txt\nr9.txt\n")
    message = f"{folder / 'list.txt'}:3: {folder / 'r9.txt'}: no such file"
    assert complaint("traces/list.txt") == message
    (folder / "list.txt").write_text("\n")
    message = f"{folder / 'list.txt'}: got no file, expected one a line for each rank"
    assert complaint("traces/list.txt") == message
    (folder / "list.txt").write_bytes(b"\xff\xfe\x00")
    assert complaint("traces/list.txt") == f"{where}: {folder / 'list.txt'}: not a text file"
