"""Campaign files: what they stand for, and what is said of wrong ones."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from campaign_files import LOG, described

from noctule.campaign import Campaign, Plan
from noctule.campaign.execution import Runner
from noctule.errors import InputError


def labels(campaign, *names):
    return [tuple(run.labels[name] for name in names) for run in Plan(campaign)]


def test_a_campaign_crosses_everything_and_keeps_runs_of_one_workload_together(tmp_path):
    campaign = described(
        tmp_path,
        workloads={"log": "log.swf", "drawn": {"model": "lublin", "n_jobs": 5}},
        platforms={"small": 4, "large": {"hosts": 8}},
        policies={"easy": "easy", "fcfs": "fcfs"},
        seeds="1-2",
    )
    # the log needs no seed: 1 x 2 x 2 runs; what is drawn needs both: 2 x 2 x 2
    found = labels(campaign, "workload", "seed", "platform", "policy")
    assert len(Plan(campaign)) == len(found) == 12
    assert found[:2] == [("log", None, "small", "easy"), ("log", None, "small", "fcfs")]
    assert found[4:8] == [
        ("drawn", 1, "small", "easy"),
        ("drawn", 1, "small", "fcfs"),
        ("drawn", 1, "large", "easy"),
        ("drawn", 1, "large", "fcfs"),
    ]
    assert {seed for _, seed, _, _ in found[8:]} == {2}


def test_a_list_in_a_definition_makes_a_variant_of_each_value(tmp_path):
    campaign = described(
        tmp_path,
        policies={"easy": {"spec": "easy(allocation=first)", "order": ["fcfs", "sjf"]}},
        platforms={"half": {"hosts": [4, 8], "speed": 0.5}},
    )
    assert labels(campaign, "policy", "policy.order", "platform", "platform.hosts") == [
        ("easy(order=fcfs)", "fcfs", "half(hosts=4)", 4),
        ("easy(order=sjf)", "sjf", "half(hosts=4)", 4),
        ("easy(order=fcfs)", "fcfs", "half(hosts=8)", 8),
        ("easy(order=sjf)", "sjf", "half(hosts=8)", 8),
    ]
    first = next(iter(Plan(campaign)))
    assert first.spec.policy == "easy(allocation=first, order=fcfs)"
    assert first.spec.platform.speed == 0.5


def test_options_vary_and_are_columns_of_their_own(tmp_path):
    campaign = described(tmp_path, options={"launch_delay": [0, 10], "clairvoyant": True})
    assert labels(campaign, "launch_delay", "clairvoyant") == [(0.0, True), (10.0, True)]
    assert [run.spec.options.launch_delay for run in Plan(campaign)] == [0.0, 10.0]


def test_constants_stand_for_values_and_for_parts_of_texts(tmp_path):
    campaign = described(
        tmp_path,
        constants={"n": 8, "orders": ["sjf", "ljf"], "word": "smallest"},
        platforms={"p": {"hosts": "$n"}},
        policies={
            "listed": {"spec": "easy", "order": "$orders"},
            "inside": "fcfs(order=$word)",
        },
    )
    assert labels(campaign, "policy") == [
        ("listed(order=sjf)",),
        ("listed(order=ljf)",),
        ("inside",),
    ]
    runs = list(Plan(campaign))
    assert runs[2].spec.policy == "fcfs(order=smallest)"
    assert {run.spec.platform.n_hosts for run in runs} == {8}


def test_a_policy_may_be_given_the_seed_of_its_run(tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Mine:\n"
        "    def __init__(self, seed): pass\n"
        "    def decide(self, view, events): return []\n"
    )
    campaign = described(
        tmp_path, policies={"mine": "mine.py:Mine(seed=$seed)", "easy": "easy"}, seeds=[4, 5]
    )
    found = [(run.labels["seed"], run.spec.policy) for run in Plan(campaign)]
    # easy draws nothing: it is run once
    assert found == [(None, "easy"), (4, "mine.py:Mine(seed=4)"), (5, "mine.py:Mine(seed=5)")]


def test_the_seed_may_be_a_part_of_a_text(tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Mine:\n"
        "    def __init__(self, name): pass\n"
        "    def decide(self, view, events): return []\n"
    )
    policies = {"mine": {"spec": "mine.py:Mine", "name": "a-$seed"}}
    (run,) = Plan(described(tmp_path, policies=policies, seeds=[4]))
    assert run.spec.policy == 'mine.py:Mine(name="a-4")'


def test_a_constant_may_be_a_whole_definition(tmp_path):
    campaign = described(tmp_path, constants={"n": 8}, platforms={"p": "$n"})
    assert [run.spec.platform.n_hosts for run in Plan(campaign)] == [8]


def test_a_grid_names_the_values_of_some_axes(tmp_path):
    campaign = described(
        tmp_path,
        platforms={"small": 4, "large": 8},
        policies={"easy": {"spec": "easy", "order": ["fcfs", "sjf"]}, "fcfs": "fcfs"},
        grid=[{"platform": "small", "policy": "easy"}, {"policy": "f*"}],
    )
    assert labels(campaign, "platform", "policy") == [
        ("small", "easy(order=fcfs)"),
        ("small", "easy(order=sjf)"),
        ("small", "fcfs"),
        ("large", "fcfs"),
    ]


def test_a_combination_that_two_grids_contain_is_run_once(tmp_path):
    campaign = described(
        tmp_path,
        platforms={"small": 4, "large": 8},
        grid=[{"platform": "small"}, {"policy": "easy"}],
    )
    assert labels(campaign, "platform") == [("small",), ("large",)]


def test_a_zip_takes_its_lists_in_step(tmp_path):
    campaign = described(
        tmp_path,
        platforms={"small": 4, "large": 8},
        policies={"easy": "easy", "fcfs": "fcfs"},
        options={"launch_delay": [0, 5]},
        zip=[{"platform": ["small", "large"], "policy": ["fcfs", "easy"]}],
    )
    assert labels(campaign, "platform", "policy", "launch_delay") == [
        ("small", "fcfs", 0.0),
        ("small", "fcfs", 5.0),
        ("large", "easy", 0.0),
        ("large", "easy", 5.0),
    ]


def test_single_runs_can_be_listed(tmp_path):
    campaign = described(
        tmp_path,
        platforms={"small": 4, "large": 8},
        policies={"easy": "easy", "fcfs": "fcfs"},
        run=[{"platform": "large", "policy": "fcfs"}, {"platform": "small", "policy": "easy"}],
    )
    assert labels(campaign, "platform", "policy") == [("large", "fcfs"), ("small", "easy")]


def test_excluded_combinations_meet_all_of_a_rule(tmp_path):
    campaign = described(
        tmp_path,
        platforms={"small": 4, "large": 8},
        policies={"easy": {"spec": "easy", "order": ["fcfs", "sjf"]}, "fcfs": "fcfs"},
        exclude=[{"policy": "easy", "platform": "large"}, {"policy": ["fcfs"]}],
    )
    assert labels(campaign, "platform", "policy") == [
        ("small", "easy(order=fcfs)"),
        ("small", "easy(order=sjf)"),
    ]


def test_bounds_stand_beside_the_runs_that_they_bound(tmp_path):
    campaign = described(tmp_path, policies={"easy": "easy", "fcfs": "fcfs"}, bounds=True)
    found = [(run.labels["policy"], run.bound) for run in Plan(campaign)]
    assert found == [
        ("easy", ""),
        ("easy", "clairvoyant"),
        (None, "unlimited"),
        ("fcfs", ""),
        ("fcfs", "clairvoyant"),
    ]
    assert len(Plan(campaign)) == 5


def test_files_are_relative_to_the_campaign_file(tmp_path, monkeypatch):
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "log.swf").write_text(LOG)
    (folder / "study.toml").write_text('policies = ["easy"]\n[workloads]\nlog = "log.swf"\n')
    monkeypatch.chdir(tmp_path)
    campaign = Campaign.load("study/study.toml")
    assert campaign.name == "study"
    assert labels(campaign, "workload", "platform", "policy") == [("log", "recorded", "easy")]


def test_equal_contents_have_one_key_wherever_the_files_are(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    keys = [next(iter(Plan(described(tmp_path / name)))).spec.key for name in ("a", "b")]
    assert keys[0] == keys[1]
    (tmp_path / "b" / "log.swf").write_text(LOG + "4 9 -1 1 1 -1 -1 1 1 -1 1 1 1 1 1 -1 -1 -1\n")
    other = Campaign.of(
        {"workloads": {"log": "log.swf"}, "policies": {"easy": "easy"}}, folder=tmp_path / "b"
    )
    assert next(iter(Plan(other))).spec.key != keys[0]


@pytest.mark.parametrize(
    "change",
    [
        {"policies": {"easy": "easy(order=sjf)"}},
        {"platforms": {"p": 5}},
        {"options": {"launch_delay": 1}},
        {"measures": {"warm_up": 1}},
        {"keep_jobs": True},
        {"workloads": {"log": {"file": "log.swf", "walltime_factor": 2}}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_changes_a_result_changes_the_key(tmp_path, change):
    plain = next(iter(Plan(described(tmp_path)))).spec.key
    assert next(iter(Plan(described(tmp_path, **change)))).spec.key != plain


MISTAKES = [
    ({"workloads": {}}, "campaign: workloads: got a table, expected a table of definitions"),
    ({"workloads": {"a b": "log.swf"}}, "campaign: workloads: got the name 'a b', expected one"),
    ({"workloads": {"x": "none.swf"}}, "campaign: workloads.x.file: no file"),
    ({"workloads": {"x": {}}}, "campaign: workloads.x: got none of them, expected one of file,"),
    (
        {"workloads": {"x": {"file": "log.swf", "model": "lublin"}}},
        "campaign: workloads.x: got file and model, expected one of file, log, model",
    ),
    (
        {"workloads": {"x": {"file": "log.swf", "walltime": 2}}},
        "campaign: workloads.x: Object contains unknown field `walltime`",
    ),
    (
        {"workloads": {"x": {"file": "log.swf", "shake": -1}}},
        "campaign: workloads.x.shake: got -1, expected seconds >= 0",
    ),
    (
        {"workloads": {"x": {"file": "log.swf", "in_time": 1}}},
        "campaign: workloads.x.in_time: got 1, expected true or false",
    ),
    (
        {"workloads": {"x": {"file": "log.swf", "first_jobs": 0}}},
        "campaign: workloads.x.first_jobs: got 0, expected a whole number >= 1",
    ),
    (
        {"workloads": {"x": {"file": "log.swf", "start": 5}}},
        "campaign: workloads.x.length: missing, expected start and length of an extract",
    ),
    (
        {"workloads": {"x": {"file": "log.swf", "start": "monday", "length": 9}}},
        "campaign: workloads.x.start: got 'monday', expected seconds, as in the log",
    ),
    (
        {"workloads": {"x": {"file": "log.swf", "start": 0, "length": 0}}},
        "campaign: workloads.x.length: got 0, expected a positive number",
    ),
    (
        {"workloads": {"x": {"file": "log.swf", "start": 0, "length": 9, "at_the_start": "go"}}},
        "campaign: workloads.x.at_the_start: got 'go', expected drop or continue",
    ),
    (
        {"workloads": {"x": {"file": "log.swf", "shake": 5}}},
        "campaign: seeds: missing, expected some for x, which is drawn at random",
    ),
    (
        {"workloads": {"x": {"model": "lublim", "n_jobs": 4}}, "seeds": [1]},
        "campaign: workloads.x: model: got 'lublim', expected one of batsim2016, cirne, ind",
    ),
    (
        {"workloads": {"x": {"model": "lublin", "jobs": 4}}, "seeds": [1]},
        "campaign: workloads.x: jobs: no parameter of lublin, which has n_jobs,",
    ),
    (
        {"workloads": {"x": {"model": "lublin"}}, "seeds": [1]},
        "campaign: workloads.x: n_jobs: missing, expected it for lublin",
    ),
    ({"workloads": {"x": {"log": "kht"}}}, "kht: unknown log; known logs: "),
    ({"platforms": {"p": {"hosts": 0}}}, "campaign: platforms.p.hosts: got 0, expected a whole"),
    ({"platforms": {"p": {"host": 3}}}, "campaign: platforms.p.host: unknown key, expected file,"),
    ({"platforms": {"p": {"hosts": []}}}, "campaign: platforms.p.hosts: got an empty list"),
    (
        {"platforms": {"p": {"hosts": [4, 4]}}},
        "campaign: platforms.p.hosts: a value is there twice",
    ),
    ({"policies": {"x": "eazy"}}, "campaign: policies.x: policy eazy: unknown; known policies: "),
    ({"policies": {"x": {"order": "sjf"}}}, "campaign: policies.x.spec: missing, expected the te"),
    ({"policies": {"x": "easy(order=nothing)"}}, "campaign: policies.x: "),
    ({"policies": {"x": "mine.py:Mine"}}, "campaign: policies.x: no file"),
    ({"policies": {"x": "easy(order=$o)"}}, "campaign: policies.x: $o: no such constant; the con"),
    ({"options": {"launch_delai": 1}}, "campaign: options.launch_delai: unknown key, expected "),
    ({"options": {"launch_delay": "x"}}, "campaign: options: Expected `float`, got `str`"),
    ({"seeds": "1..3"}, "campaign: seeds: got '1..3', expected a range such as 1-10, or an arr"),
    ({"seeds": [1, 1]}, "campaign: seeds: got [1, 1], expected seeds that differ"),
    ({"grid": [{"policy": "fcfs"}]}, "campaign: grid[0].policy: got 'fcfs', expected one of easy"),
    ({"grid": [{"polcy": "easy"}]}, "campaign: grid[0].polcy: unknown axis, expected one of work"),
    ({"zip": [{"policy": ["easy"]}]}, "campaign: zip[0]: got 1 lists, expected two or more"),
    (
        {"zip": [{"policy": ["easy", "easy"], "platform": ["recorded"]}]},
        "campaign: zip[0]: platform has 1, policy has 2, expected lists of one length",
    ),
    (
        {"run": [{"workload": "log"}], "platforms": {"a": 4, "b": 8}},
        "campaign: run[0].platform: missing, expected one of its 2 values",
    ),
    ({"exclude": [{}]}, "campaign: exclude[0]: empty, expected axes and what to leave out"),
    ({"measures": {"warmup": 1}}, "campaign: measures.warmup: unknown key, expected warm_up,"),
    (
        {"measures": {"carbon": 1}},
        "campaign: measures.carbon: no energy is counted, expected energy among the options",
    ),
    (
        {"measures": {"price": 1}, "options": {"energy": "off"}},
        "campaign: measures.price: no energy is counted, expected energy among the options",
    ),
    (
        {"measures": {"carbon": -1}, "options": {"energy": "exact"}},
        "campaign: measures.carbon: carbon: got -1, expected a number >= 0",
    ),
    (
        {"measures": {"carbon": True}, "options": {"energy": "exact"}},
        "campaign: measures.carbon: got True, expected the path of a file, or a number",
    ),
    (
        {"measures": {"price": "no.csv"}, "options": {"energy": "exact"}},
        "campaign: measures.price: no file ",
    ),
    (
        {"measures": {"price": "log.swf"}, "options": {"energy": "exact"}},
        "campaign: measures.price: ",
    ),
    ({"measures": {"warm_up": -1}}, "campaign: measures: expected warm_up and cool_down >= 0"),
    ({"bounds": ["infinite"]}, "campaign: bounds: got ['infinite'], expected true, false, or so"),
    ({"polices": {}}, "campaign: polices: unknown key, expected "),
    (
        {"workloads": {"x": {"file": "log.swf", "processors": "zork"}}},
        "campaign: workloads.x: processors",
    ),
    (
        {"workloads": {"x": {"model": "lublin", "n_jobs": 0}}, "seeds": [1]},
        "campaign: workloads.x: n_jobs: got 0",
    ),
    (
        {"workloads": {"x": {"model": "lublin", "n_jobs": 5, "cycle": {"a": 1}}}, "seeds": [1]},
        "campaign: workloads.x.cycle: got {'a': 1}, expected a number, true, false or a text",
    ),
    ({"workloads": {"x": "a\0b"}}, "campaign: workloads.x.file: "),
    (
        {"workloads": {"x": {"file": "log.swf", "load": 10**300}}},
        "campaign: workloads.x.load: got a number of 301 digits, expected less",
    ),
    (
        {"platforms": {"p": {"hosts": 4, "host_order": "natural"}}},
        "campaign: platforms.p.host_order",
    ),
    (
        {"policies": {"x": {"spec": "easy", "order": "a\"b'c"}}},
        "campaign: policies.x.order: got a\"b'c, expected a text without both kinds of quotes",
    ),
    ({"policies": ["easy", "easy"]}, "campaign: policies: got ['easy', 'easy'], expected texts th"),
    ({"options": {"launch_delay": -1}}, "campaign: options.launch_delay: launch_delay: got -1.0"),
    (
        {"options": {"launch_delay": [1, 1.0]}},
        "campaign: options.launch_delay: a value is there tw",
    ),
    ({"seeds": [2**63]}, "campaign: seeds: got "),
    ({"grid": [{"policy": []}]}, "campaign: grid[0].policy: got an empty list, expected at least"),
]


@pytest.mark.parametrize(("change", "message"), MISTAKES, ids=[text[10:40] for _, text in MISTAKES])
def test_a_mistake_is_told_with_its_place_before_anything_runs(tmp_path, change, message):
    with pytest.raises(InputError, match=re.escape(message)) as told:
        described(tmp_path, **change)
    assert "\n" not in str(told.value)


def test_broken_toml_is_told_with_its_line(tmp_path):
    (tmp_path / "c.toml").write_text("policies = [\n")
    with pytest.raises(InputError, match=r"c\.toml: .*not valid TOML"):
        Campaign.load(tmp_path / "c.toml")


def drawn_from(tmp_path, jobs_from: str, **changes) -> Campaign:
    """Describe two workloads of jobs that are picked from a log."""
    model = {"model": "locality2017", "jobs_from": jobs_from, "n_jobs": 4} | changes
    path = tmp_path / "c.toml"
    lines = [f"{key} = {value!r}" for key, value in model.items()]
    text = "\n".join(["policies = ['easy']", "seeds = [1]", "[workloads.x]", *lines])
    path.write_text(text + "\ncommunication = [0.0, 1e7]\n")
    return Campaign.load(path, logs=tmp_path)


def a_log(path: Path) -> None:
    jobs = (f"{i} {i} 0 {4000 + i} 2 -1 -1 2 9000 -1 1 1 1 -1 1 -1 -1 -1" for i in range(1, 7))
    path.write_text("\n".join(jobs) + "\n")


@pytest.mark.parametrize(
    ("jobs_from", "file"),
    [("some.swf", "some.swf"), ("cea-curie", "CEA-Curie-2011-2.1-cln.swf")],
)
def test_a_model_picks_jobs_of_a_file_or_of_a_log_of_the_archive(tmp_path, jobs_from, file):
    a_log(tmp_path / file)
    campaign = drawn_from(tmp_path, jobs_from)
    specs = [variant.spec for variant in campaign.workloads.values()]
    assert [spec.parameters["communication"] for spec in specs] == [0.0, 1e7]
    runner = Runner()
    quiet, loud = (runner.workload(msgspec.structs.replace(spec, seed=1)) for spec in specs)
    assert [quiet[i].profile.bytes for i in range(4)] == [0.0] * 4
    assert sorted(loud[i].profile.bytes for i in range(4))[0] >= 4001e7
    assert quiet.walltime.tolist() == loud.walltime.tolist()


def test_a_log_with_too_few_jobs_is_refused_before_anything_runs(tmp_path):
    a_log(tmp_path / "some.swf")
    with pytest.raises(
        InputError, match=r"workloads\.x: .*some\.swf: got 6 jobs of up to 16 hosts"
    ):
        drawn_from(tmp_path, "some.swf", n_jobs=7)
