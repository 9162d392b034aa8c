"""A site's files as platform, workload and requests, and the folder that keeps them."""

from __future__ import annotations

import json
import math

import pytest
from slurm_rows import CONF, CONS, T0, row, sacct_file

from noctule.cli import main
from noctule.errors import InputError
from noctule.formats import load_workload
from noctule.formats.platforms import load_platform
from noctule.slurm.site.folder import load_site, save_site
from noctule.slurm.site.reading import SiteFiles, read_site
from noctule.windows import Maintenance, Reservation


@pytest.fixture
def site_of(tmp_path):
    """Return a function that reads a site of rows, and files by option."""

    def read(*rows, conf=CONF, processors=None, jobs=None, **texts):
        (tmp_path / "slurm.conf").write_text(conf)
        files = {}
        for option, text in texts.items():
            (tmp_path / option).write_text(text)
            files[option] = str(tmp_path / option)
        path = jobs or sacct_file(tmp_path, *rows)
        names = SiteFiles(str(tmp_path / "slurm.conf"), str(path), **files)
        return read_site(names, processors=processors)

    return read


def counts(tallies):
    return {reason: tally.count for reason, tally in tallies.items()}


def test_with_select_linear_a_host_is_a_node(site_of):
    site = site_of(row("1", ReqNodes="2", ReqTRES="cpu=16,node=2"), row("2")).site
    assert [host.name for host in site.platform.hosts] == ["n1", "n2", "n3", "n4", "big1"]
    assert site.platform.hosts[0].cores == 8
    assert site.platform.hosts[4].memory == 64000 * 2**20
    assert site.workload.n_hosts.tolist() == [2, 1]
    assert site.workload.walltime.tolist() == [600, 600]
    assert [site.workload[0].user, site.workload[0].queue] == ["ada", "main"]


def test_with_cons_tres_a_host_is_a_core_and_those_of_a_node_are_a_run(site_of):
    site = site_of(
        row("1", ReqTRES="cpu=3,node=1"),
        row("2", ReqTRES="cpu=2,node=1", SubmitLine="sbatch --exclusive x"),
        conf=CONS,
    ).site
    names = [host.name for host in site.platform.hosts]
    assert (len(names), names[0], names[8], names[-1]) == (48, "n1.0", "n2.0", "big1.15")
    assert site.workload.n_hosts.tolist() == [3, 8]


def test_cpus_say_how_many_nodes_a_job_gets_at_least(site_of):
    # 20 CPUs: in main three nodes of 8; in large the big one of 16 and one of 8
    site = site_of(
        row("1", ReqTRES="cpu=20,node=1"),
        row("2", ReqTRES="cpu=20,node=1", Partition="large"),
    ).site
    assert site.workload.n_hosts.tolist() == [3, 2]


def test_jobs_that_can_never_start_are_dropped_with_the_limit_that_keeps_them(site_of):
    waiting = {"State": "PENDING", "Start": "Unknown", "End": "Unknown", "NodeList": ""}
    found = site_of(
        row("1"),
        row("2", ReqNodes="5", ReqTRES="cpu=5,node=5"),
        row("3", ReqTRES="cpu=64,node=1"),
        row("4", Partition="gone"),
        row("5", Timelimit="2-00:00:00", **waiting),
        row("6", Timelimit="2-00:00:00"),
        row("7", ReqTRES="cpu=1,mem=30000M,node=1"),
    )
    assert found.site.workload.job_ids.tolist() == [1, 6, 7]
    assert counts(found.report.dropped) == {
        "can never start: asks for more nodes than partition main has": 1,
        "can never start: asks for more CPUs than partition main has": 1,
        "can never start: partition gone is not in slurm.conf": 1,
        "can never start: asks for a longer limit than MaxTime of partition main": 1,
    }
    # job 6 ran: its limit was raised meanwhile
    assert found.site.requests[1].limit == 1440
    assert counts(found.report.rules)["limit over MaxTime of a job that ran: taken as MaxTime"] == 1


def test_what_the_configuration_does_not_have_is_left_out_and_told(site_of):
    found = site_of(
        row("1", SubmitLine="sbatch -p main,gone -w n[1,77] -x file.txt -L maple:2,matlab x"),
        row("2", Constraints="fast&[old|new]", ReqTRES="cpu=1,gres/gpu:a=2,node=1"),
        row("3", Constraints="fast", ReqTRES="cpu=1,gres/gpu=2,gres/fpga=1,node=1"),
        conf=CONF + "Licenses=matlab:5\n",
    )
    first, second, third = found.site.requests
    assert (first.partitions, first.required_nodes, first.excluded_nodes) == (("main",), "n1", "")
    assert first.licenses == (("matlab", 1),)
    assert (second.features, second.gres_per_node) == ("", ())
    assert (third.features, list(map(str, third.gres_per_node))) == ("fast", ["gpu:2"])
    told = counts(found.report.rules)
    end = "not all in slurm.conf, what is not is left out"
    assert told[f"partitions: {end}"] == told[f"licenses: {end}"] == told[f"features: {end}"] == 1
    assert told[f"gres per node: {end}"] == 2


def test_dependencies_on_jobs_that_were_dropped_are_left_out(site_of):
    found = site_of(
        row("1", Partition="gone"),
        row("2"),
        row("3", SubmitLine="sbatch -d afterok:1:2 x"),
    )
    assert [str(d) for d in found.site.requests[1].dependencies] == ["afterok:2"]
    rule = "dependencies: on jobs that were dropped, left out"
    assert counts(found.report.rules)[rule] == 1


def test_memory_counts_where_it_is_consumed(site_of):
    found = site_of(row("1"), row("7", ReqTRES="cpu=1,mem=30000M,node=1"), conf=CONS)
    assert counts(found.report.dropped) == {
        "can never start: asks for more memory than a node of partition main has": 1
    }


def test_a_site_without_a_job_that_can_start_is_refused(site_of):
    with pytest.raises(InputError, match="none of the jobs can ever start"):
        site_of(row("1", Partition="gone"))


def test_each_file_that_is_not_there_is_a_line_of_the_report(site_of):
    lines = site_of(row("1")).report.lines()
    told = [line for line in lines if line.startswith("not known: ")]
    words = ("--associations", "--events", "--reservations", "--usage", "--running")
    assert all(any(word in line for line in told) for word in words)


def test_outages_become_events_of_hosts(site_of):
    table = (
        "NodeName|TimeStart|TimeEnd|State|Reason\n"
        f"n2|{T0 + 100}|{T0 + 200}|DOWN*|died\n"
        f"n2|{T0 + 150}|{T0 + 300}|DRAIN|look\n"
        f"n[3-4]|{T0 - 50}|Unknown|DRAIN|fans\n"
        f"|{T0}|{T0 + 1}||cluster\n"
        f"gone|{T0}|{T0 + 1}|DOWN|old\n"
        f"n1|{T0 - 9}|{T0 - 5}|DOWN|before\n"
    )
    found = site_of(row("1"), events=table)
    events = [(e.time, e.kind, str(e.hosts)) for e in found.site.extras.outages]
    assert events == [
        (0.0, "unavailable", "2"),
        (0.0, "unavailable", "3"),
        (100.0, "failed", "1"),
        (300.0, "restored", "1"),
    ]
    assert counts(found.report.dropped) == {
        "events: of the whole cluster, or without a start": 1,
        "events: of a node that is not in slurm.conf": 1,
    }


@pytest.mark.parametrize(
    "header",
    # the second is what sacctmgr of 22.05 prints when it is asked for the first
    ["Name|NodeNames|Start|End|Flags", "Name|NodeName|TimeStart|TimeEnd|Flags"],
)
def test_reservations_become_windows_with_the_jobs_that_named_them(site_of, header):
    table = (
        f"{header}\n"
        f"course|n[1-2]|{T0 + 100}|{T0 + 200}|SPEC_NODES\n"
        f"cooling|n3|{T0 + 50}|{T0 + 60}|MAINT,SPEC_NODES\n"
        f"empty||{T0}|{T0 + 5}|\n"
    )
    found = site_of(row("1"), row("2", Reservation="course"), reservations=table)
    course, cooling = found.site.extras.reservations.windows
    assert isinstance(course, Reservation)
    assert (str(course.hosts), course.start, course.end, course.jobs) == ("0-1", 100, 200, ("2",))
    assert isinstance(cooling, Maintenance)
    assert counts(found.report.dropped) == {
        "reservations: without nodes of slurm.conf, or without time": 1
    }


@pytest.mark.parametrize(
    ("option", "text", "said"),
    [
        ("usage", "Account|User\na|b\n", "usage: line 1: no column RawUsage"),
        ("usage", "Account|User|RawUsage\na|b|x\n", "usage: line 2: RawUsage: got 'x'"),
        ("usage", "Account|User|RawUsage\na|b\n", "usage: line 2: 2 columns, expected 3"),
        ("events", "NodeName|TimeStart|TimeEnd|State\nn1|x|y|DOWN\n", "line 2: TimeStart: got 'x'"),
        ("qos", "Name\nhigh\n", "expected --associations too"),
    ],
)
def test_optional_files_that_are_broken_are_refused(site_of, option, text, said):
    with pytest.raises(InputError) as error:
        site_of(row("1"), **{option: text})
    assert said in str(error.value)


def test_a_folder_is_read_back_as_it_was_written(site_of, tmp_path):
    dump = "Cluster - 'here':Fairshare=1\nParent - 'root'\nAccount - 'physics':GrpJobs=3\n"
    found = site_of(
        row("1_4", ReqTRES="cpu=8,gres/gpu:a=2,node=1", SubmitLine="sbatch -a 4%7 -L m:2 x"),
        row("2", SubmitLine="sbatch -d afterok:1_4,singleton -p large,main -N 1-3 --nice=-5 x"),
        row("3", State="CANCELLED", Start="None", End=44, NodeList="", Eligible="Unknown"),
        row("4", State="TIMEOUT", Eligible=7, Constraints="fast&big", Timelimit="UNLIMITED"),
        row("5", State="FAILED", Submit=9, Start=10, Timelimit="Partition_Limit"),
        associations=dump,
        qos="Name|Priority\nhigh|10\n",
        topology="SwitchName=s1 Nodes=n[1-4],big1\n",
        gres="NodeName=n[1-4] Name=gpu File=/dev/nvidia[0-1]\n",
        events=f"NodeName|TimeStart|TimeEnd|State\nn2|{T0 + 1}|{T0 + 2}|DOWN\n",
        reservations=f"Name|NodeNames|Start|End|Flags\nr|n1|{T0}|{T0 + 9}|MAINT\n",
        usage="Account|User|RawUsage\nphysics|ada|77\n",
        conf=CONF.replace("MaxTime=1-0", "")
        .replace("gpu:2", "gpu:a:2")
        .replace("=fast", "=fast,big")
        + "Licenses=m:3\n",
    )
    site = found.site
    names = save_site(site, tmp_path / "out", found.conf, found.report, copies=found.copies)
    assert sorted(names) == sorted(path.name for path in (tmp_path / "out").iterdir())
    again = load_site(tmp_path / "out")
    assert again.settings == site.settings
    assert again.platform.hosts == site.platform.hosts
    assert list(again.requests) == list(site.requests)
    assert again.recorded == site.recorded
    assert again.origin == site.origin
    assert [again.workload[i] for i in range(5)] == [site.workload[i] for i in range(5)]
    for name in ("associations", "topology", "gres", "usage"):
        assert getattr(again.extras, name) == getattr(site.extras, name), name
    assert list(again.extras.outages) == list(site.extras.outages)
    assert again.extras.reservations.windows == site.extras.reservations.windows
    # other commands read the same jobs and hosts
    plain = load_workload(tmp_path / "out" / "workload.json")
    assert sorted(plain.job_ids.tolist()) == sorted(site.workload.job_ids.tolist())
    assert math.isclose(plain[0].cancel_time, site.workload[0].cancel_time)
    platform = load_platform(tmp_path / "out" / "platform.toml")
    assert {host.name for host in platform.hosts} == {host.name for host in site.platform.hosts}


def test_two_imports_give_the_same_bytes(site_of, tmp_path):
    for name in ("a", "b"):
        found = site_of(row("1"), row("2", SubmitLine="sbatch -p large,main x"))
        save_site(found.site, tmp_path / name, found.conf, found.report)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("site.json", "{}", "got no site, expected what noctule slurm import wrote"),
        ("site.json", "nonsense", "got no site"),
        ("jobs.csv", "job_id\n1\n", "jobs.csv: line 1: no column submit_time"),
        ("jobs.csv", "a,b\n1\n", "jobs.csv: line 2: 1 columns, expected 2"),
        ("recorded.csv", "job_id,start\n1,2\n", "recorded.csv: end: expected a column of 1 jobs"),
    ],
)
def test_a_broken_folder_is_refused(site_of, tmp_path, name, text, said):
    found = site_of(row("1"))
    save_site(found.site, tmp_path / "out", found.conf, found.report)
    (tmp_path / "out" / name).write_text(text)
    with pytest.raises(InputError) as error:
        load_site(tmp_path / "out")
    assert said in str(error.value)


def test_a_log_counts_cpus_and_a_workload_nodes(site_of, tmp_path):
    log = tmp_path / "log.swf"
    log.write_text("; UnixStartTime: 100\n1 0 5 60 12 -1 -1 12 600 -1 1 3 1 1 1 1 -1 -1\n")
    found = site_of(jobs=log)
    request = found.site.requests[0]
    assert (request.cpus, request.max_nodes, request.limit, request.user) == (12, None, 10, "3")
    assert (found.site.origin, found.site.workload.n_hosts.tolist()) == (100, [2])
    workload = tmp_path / "w.json"
    jobs = [{"id": 1, "subtime": 0, "res": 3, "profile": "p", "walltime": 61}]
    profiles = {"p": {"type": "delay", "delay": 9}}
    workload.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    found = site_of(jobs=workload)
    assert (found.site.requests[0].min_nodes, found.site.requests[0].limit) == (3, 2)
    assert found.site.workload[0].profile.duration == 9
    assert site_of(jobs=workload, processors="cpus").site.requests[0].cpus == 3


def test_gpus_that_are_missing_in_gres_conf_are_told(site_of):
    found = site_of(row("1"), gres="NodeName=n1 Name=gpu File=/dev/nvidia0\n")
    assert any("node n1: 1 of gpu, slurm.conf has 2" in note for note in found.report.notes)


def test_the_command_writes_a_folder_and_prints_a_report(tmp_path, capsys):
    (tmp_path / "slurm.conf").write_text(CONF + "SlurmctldPort=1\n")
    sacct = sacct_file(tmp_path, row("1"), row("2.batch"))
    words = ["slurm", "import", "--conf", str(tmp_path / "slurm.conf"), "--jobs", str(sacct)]
    assert main([*words, "-o", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "1 jobs from 2 rows" in said
    assert "dropped: a step of a job, not an allocation: 1 (first: " in said
    assert "SlurmctldPort: not used by the model" in said
    assert main([*words, "-o", str(tmp_path / "out")]) == 3
    assert "exists already; --force replaces it" in capsys.readouterr().err
    assert main([*words, "-o", str(tmp_path / "out"), "--force", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["jobs"], data["nodes"], data["dropped"]) == (
        1,
        5,
        {"a step of a job, not an allocation": 1},
    )


def test_the_command_prints_what_exports_a_site(capsys):
    assert main(["slurm", "import", "--commands", "2026-03-01"]) == 0
    said = capsys.readouterr().out
    assert "sacct --allusers --allocations --duplicates --parsable2 --starttime 2026-03-01" in said
    assert "sacctmgr --parsable2 show event start=2026-03-01" in said
    assert main(["slurm", "import"]) == 2
