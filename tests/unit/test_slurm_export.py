"""Results as Slurm's own programs would have written them."""

from __future__ import annotations

import pytest
from slurm_rows import CONF, CONS, T0, row, sacct_file

from noctule.cli import main
from noctule.errors import InputError
from noctule.simulation import simulate
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.sources import jobs_from_sacct
from noctule.slurm.site.export import completion_text, sacct_text
from noctule.slurm.site.folder import save_site
from noctule.slurm.site.reading import SiteFiles, read_site
from noctule.workload import Workload

ROWS = (
    row("1", ReqNodes="4", ReqTRES="cpu=32,node=4", Start=0, End=60),
    row("2", ReqNodes="2", ReqTRES="cpu=16,gres/gpu=4,node=2", Start=60, End=90),
    row("3", State="TIMEOUT", Start=60, End=120, Timelimit="00:01:00"),
    row("4", State="FAILED", ExitCode="1:0", Start=60, End=75),
    row("5_7", State="CANCELLED", Start="None", End=30, NodeList="None assigned"),
)


@pytest.fixture
def found(tmp_path, request):
    conf = getattr(request, "param", CONF)
    (tmp_path / "slurm.conf").write_text(conf)
    files = SiteFiles(str(tmp_path / "slurm.conf"), str(sacct_file(tmp_path, *ROWS)))
    return read_site(files)


@pytest.fixture
def schedule(found):
    return simulate(found.site.platform, found.site.workload, "fcfs")


def rows_of(text):
    lines = "".join(text).splitlines()
    header = lines[0].split("|")
    return [dict(zip(header, line.split("|"), strict=True)) for line in lines[1:]]


def test_a_result_is_rows_of_sacct(found, schedule):
    # 5 nodes, in order: 1 takes four at once, 2 waits for two, 3 and 4 come behind it
    rows = rows_of(sacct_text(found.site, schedule))
    told = [(r["JobID"], r["State"], r["Start"], r["End"], r["NodeList"]) for r in rows]
    assert told == [
        ("1", "COMPLETED", str(T0), str(T0 + 60), "n[1-4]"),
        ("2", "COMPLETED", str(T0 + 60), str(T0 + 90), "n[1-2]"),
        ("3", "TIMEOUT", str(T0 + 60), str(T0 + 120), "n3"),
        ("4", "FAILED", str(T0 + 60), str(T0 + 75), "n4"),
        ("5_7", "CANCELLED", "Unknown", str(T0 + 30), "None assigned"),
    ]
    assert rows[1]["ReqTRES"] == "cpu=16,node=2,gres/gpu=4"
    assert rows[1]["AllocTRES"] == "cpu=16,node=2"
    assert [r["Timelimit"] for r in rows[1:3]] == ["00:10:00", "00:01:00"]


def test_rows_that_were_written_are_read_as_the_same_jobs(found, schedule, tmp_path):
    path = tmp_path / "again.txt"
    path.write_text("".join(sacct_text(found.site, schedule)))
    jobs = jobs_from_sacct([path], found.site.settings, ImportReport())
    assert list(jobs.ids) == ["1", "2", "3", "4", "5_7"]
    before = found.site.requests
    for i in range(5):
        for name in ("limit", "min_nodes", "cpus", "gres_per_node", "partitions", "user"):
            assert getattr(jobs.requests[i], name) == getattr(before[i], name), (i, name)
    assert jobs.recorded.nodes[0] == "n[1-4]"
    assert jobs.runtime[:2] == [60.0, 30.0]


@pytest.mark.parametrize("found", [CONS], indirect=True)
def test_with_cores_as_hosts_nodes_are_told_once(found, schedule):
    rows = rows_of(sacct_text(found.site, schedule))
    assert (rows[0]["NodeList"], rows[0]["AllocTRES"]) == ("n[1-4]", "cpu=32,node=4")


def test_a_result_is_a_completion_log_in_order_of_the_ends(found, schedule):
    lines = "".join(completion_text(found.site, schedule)).splitlines()
    # as Slurm 22.05 wrote it for a job of its own, but for names that nobody knows
    assert lines[1] == (
        "JobId=1 UserId=ada(4294967294) GroupId=nobody(4294967294) Name= JobState=COMPLETED "
        "Partition=main TimeLimit=10 StartTime=2023-11-14T22:13:20 EndTime=2023-11-14T22:14:20 "
        "NodeList=n[1-4] NodeCnt=4 ProcCnt=32 WorkDir= ReservationName= Tres=cpu=32,node=4 "
        "Account=physics QOS=normal WcKey= Cluster=here SubmitTime=2023-11-14T22:13:20 "
        "EligibleTime=2023-11-14T22:13:20 DerivedExitCode=0:0 ExitCode=0:0 "
    )
    ids = [line.split()[0] for line in lines]
    assert ids == ["JobId=5", "JobId=1", "JobId=4", "JobId=2", "JobId=3"]
    assert "EligibleTime=2023-11-14T22:13:20 ArrayJobId=5 ArrayTaskId=7 Der" in lines[0]


def test_a_result_of_other_jobs_is_refused(found, schedule):
    foreign = Workload.from_jobs(list(found.site.workload)[:0] or [])
    empty = simulate(found.site.platform, foreign, "fcfs")
    with pytest.raises(InputError, match="none of its jobs is one of the site"):
        list(sacct_text(found.site, empty))


@pytest.mark.parametrize("kind", ["sacct", "completion-log", "swf"])
def test_the_command_writes_a_file(found, schedule, tmp_path, kind, capsys):
    save_site(found.site, tmp_path / "site", found.conf, found.report)
    schedule.save(tmp_path / "run")
    words = ["slurm", "export", str(tmp_path / "site"), str(tmp_path / "run"), "--format", kind]
    assert main([*words, "-o", str(tmp_path / "out.txt")]) == 0
    assert capsys.readouterr().out.endswith("out.txt: 5 jobs written\n")
    text = (tmp_path / "out.txt").read_text()
    if kind == "sacct":
        assert text == "".join(sacct_text(found.site, schedule))
    elif kind == "completion-log":
        assert text == "".join(completion_text(found.site, schedule))
    else:
        assert len([line for line in text.splitlines() if not line.startswith(";")]) == 5
    assert main([*words, "-o", str(tmp_path / "out.txt")]) == 3
