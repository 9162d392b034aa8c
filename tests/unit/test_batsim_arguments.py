"""Batsim 4's command line: what words mean, what is refused, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noctule.batsim.arguments4 import (
    BatsimRun,
    Verbosity,
    execution_context,
    read_arguments,
    refuse_unreadable,
)
from noctule.batsim.options import BatsimError
from noctule.batsim.options4 import BATSIM_OPTIONS, OWN_OPTIONS, help_text


def read(text: str) -> BatsimRun:
    return read_arguments(text.split())


def refused(text: str) -> BatsimError:
    with pytest.raises(BatsimError) as caught:
        read(text)
    return caught.value


def test_without_options_everything_is_as_batsim_has_it() -> None:
    run = read("-p platform.xml")
    assert run == BatsimRun(platform="platform.xml", roles={}, simgrid_options={})
    assert run.socket_endpoint == "tcp://localhost:28000"
    assert run.master_host == "master_host"
    assert run.export_prefix == "out"
    assert run.verbosity is Verbosity.INFORMATION
    assert (run.redis_hostname, run.redis_port, run.redis_prefix) == ("127.0.0.1", 6379, "default")
    assert run.has_scheduler
    assert run.share_storages


@pytest.mark.parametrize(
    "text",
    [
        "-p f --export x -E",
        "-E --export=x --platform=f",
        "--platform f -ex -E",
        "-Eex -pf",
        "--plat f --exp x --energy",
    ],
)
def test_options_have_several_spellings_and_any_order(text: str) -> None:
    run = read(text)
    assert (run.platform, run.export_prefix, run.energy) == ("f", "x", True)


def test_workloads_workflows_events_and_roles_may_be_repeated() -> None:
    run = read(
        "-p f -w a --workload b -W c -W=d --events e --events g -r h1,h2:storage -r h3:master"
    )
    assert run.workloads == ("a", "b")
    assert [(flow.name, flow.path) for flow in run.workflows] == [("wf0", "c"), ("wf1", "=d")]
    assert run.events == ("e", "g")
    assert run.roles == {"h1": "storage", "h2": "storage", "h3": "master"}


@pytest.mark.parametrize(
    "text", ["--WS a 3 --WS b 4.5", "--workflow-start a 3 b 4.5", "--WS=a 3 --workflow-st b 4.5"]
)
def test_workflows_with_a_date_come_in_pairs(text: str) -> None:
    run = read(f"{text} -p f")
    assert [(f.name, f.path, f.start) for f in run.workflows] == [
        ("wfc0", "a", 3),
        ("wfc1", "b", 4.5),
    ]


def test_quiet_is_a_verbosity() -> None:
    assert read("-p f -q").verbosity is Verbosity.QUIET
    assert read("-p f -v network-only").verbosity is Verbosity.NETWORK_ONLY


def test_the_text_for_the_scheduler_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "config").write_text('{"é": 1}', encoding="utf-8")
    run = read_arguments(["-p", "f", "--sched-cfg-file", str(tmp_path / "config")])
    assert run.scheduler_config == '{"é": 1}'
    assert read_arguments(["-p", "f", "--sched-cfg", "a b"]).scheduler_config == "a b"


def test_options_of_simgrid_are_names_and_values() -> None:
    run = read("-p f --sg-cfg network/TCP-gamma:100 --sg-cfg a:b:c --sg-log root.thres:debug")
    assert run.simgrid_options == {"network/TCP-gamma": "100", "a": "b:c"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "--platform: missing, expected a platform to simulate"),
        ("-p", "--platform: got nothing, expected FILE"),
        ("-p f g", "got 'g', expected an option"),
        ("-p f -", "got '-', expected an option"),
        ("-p f --batexec", "'--batexec': no such option"),
        ("-p f -k", "-k: no such option"),
        ("-p f -p g", "--platform: given twice, expected once"),
        ("-p f -E --energy", "--energy: given twice, expected once"),
        ("-p f --redis", "could be --redis-hostname, --redis-port, --redis-prefix"),
        ("-p f --quiet=yes", "--quiet: got 'yes', expected no value"),
        ("-p f --redis-port x", "--redis-port: got 'x', expected a whole number from 1 to 65535"),
        ("-p f --mmax -1", "--mmax: got '-1', expected a whole number"),
        ("-p f --mmax 1.5", "--mmax: got '1.5', expected a whole number"),
        ("-p f --workflow-jobs-limit ten", "--workflow-jobs-limit: got 'ten'"),
        ("-p f -v loud", "got 'loud', expected one of quiet, network-only, information, debug"),
        ("-p f --enable-profile-reuse", "expected --enable-dynamic-jobs with it"),
        ("-p f -r a", "got 'a', expected hosts and a role as in a,b:storage"),
        ("-p f -r a:b:master", "expected hosts and a role as in a,b:storage"),
        ("-p f -r a:boss", "got 'boss', expected one of master, storage, compute_node"),
        ("-p f --sg-cfg a", "--sg-cfg: got 'a', expected an option as in name:value"),
        ("-p f --sched-cfg a --sched-cfg-file b", "expected one of the two"),
        ("-p f --sched-cfg-file nowhere", "nowhere: cannot be read: No such file"),
        ("-p f --timeout 0", "--timeout: got '0', expected seconds, more than 0"),
        ("-p f --export=", "--export: got nothing"),
        ("-p f\udcff", "arguments: got 'f\\udcff', expected UTF-8 text"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_docopts_code(text: str, complaint: str) -> None:
    error = refused(text)
    assert complaint in str(error)
    assert error.code == 255


def test_all_inputs_that_cannot_be_read_are_told_at_once_each_kind_with_its_bit() -> None:
    with pytest.raises(BatsimError) as caught:
        refuse_unreadable(read("-p p -w w --events e -W f --WS a -1 --WS b soon --WS c"))
    assert caught.value.code == 0x7F
    for part in (
        "--platform: p: cannot be read",
        "--workload: w: cannot be read",
        "--events: e: cannot be read",
        "--workflow: f: cannot be read",
        "--workflow-start: a: cannot be read",
        "a: got -1, expected seconds >= 0",
        "b: got 'soon', expected a number of seconds",
        "c: got no date, expected when it starts",
    ):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("-p missing -w {0}", 0x01),
        ("-p {0} -w missing", 0x02),
        ("-p {0} --events missing", 0x02),
        ("-p {0} -W missing", 0x04),
        ("-p {0} --WS {0}", 0x08),
        ("-p {0} --WS missing 1", 0x10),
        ("-p {0} --WS {0} -1", 0x20),
        ("-p {0} --WS {0} nan", 0x40),
        ("-p missing -w missing", 0x03),
    ],
)
def test_the_bits_are_those_of_batsim(words: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BatsimError) as caught:
        refuse_unreadable(read(words.format(tmp_path / "file")))
    assert caught.value.code == code


def test_the_execution_context_is_what_robin_reads() -> None:
    run = read("-p f --no-sched -s ipc:///tmp/s -e some/out --enable-redis --redis-port 7")
    assert json.loads(execution_context(run)) == {
        "socket_endpoint": "ipc:///tmp/s",
        "redis_enabled": True,
        "redis_hostname": "127.0.0.1",
        "redis_port": 7,
        "redis_prefix": "default",
        "export_prefix": "some/out",
        "external_scheduler": False,
    }


def test_the_help_lists_every_option() -> None:
    text = help_text()
    for option in (*BATSIM_OPTIONS, *OWN_OPTIONS):
        assert option.name in text
