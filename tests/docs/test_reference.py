"""The reference names everything there is, and nothing that there is not."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from reference_pages import column, names, page, section, table, titles

import noctule
from noctule import (
    Job,
    View,
    Workload,
    archive,
    cli,
    errors,
    load_platform,
    load_workload,
    messages,
    metrics,
    plots,
    save_workload,
    simulate,
    traces,
    units,
)
from noctule import platform as platforms
from noctule import run as runs
from noctule.console import ExitCode
from noctule.errors import InputError
from noctule.footprint import Footprint
from noctule.footprint_files import FOOTPRINT_FILE_NAMES, footprint_texts
from noctule.formats import batsim_profiles, saving, swf
from noctule.formats import platforms as platform_files
from noctule.output_file import COMPRESSIONS
from noctule.platform import Platform, PowerModel
from noctule.policies.native import ALLOCATIONS, NATIVE_POLICIES
from noctule.policies.orders import NAMED_ORDERS
from noctule.rates import Rate, Rates
from noctule.record import STATE_WORDS
from noctule.saved.parquet import PARQUET_FILES
from noctule.saved.power_parquet import PARQUET_POWER_FILES
from noctule.saved.power_text import (
    ENERGY_COLUMNS,
    POWER_COLUMNS,
    POWER_FILE_NAMES,
    POWER_STATES_COLUMNS,
)
from noctule.saved.text import FILE_NAMES, FINAL_STATES, HOST_STATES_COLUMNS, JOBS_COLUMNS
from noctule.schedule import COLUMNS
from noctule.simulation import Options
from noctule.synthetic import MODELS, distributions
from noctule.synthetic.arrivals import CYCLES
from noctule.synthetic.distributions import DISTRIBUTIONS
from noctule.synthetic.walltime_models import WALLTIME_MODELS
from noctule.testing import a_job, families, run
from noctule.timeseries import SERIES
from noctule.traces import oddities
from noctule.user_metrics import COLUMNS as USER_COLUMNS
from noctule.workload import Delay, Dependency, Request

ROOT = Path(__file__).parents[2]
SCHEDULE_FILES = {*FILE_NAMES, *POWER_FILE_NAMES}


def keywords(function) -> list[str]:
    """Return the options of a function."""
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]


def fields(struct) -> list[str]:
    return [field.name for field in msgspec.structs.fields(struct)]


# Policies and runs


def test_the_policies_orders_and_allocations_are_listed():
    by_name, parameters = section("policies", "By name"), section("policies", "Parameters")
    assert sorted(column(table(by_name, "name"))) == sorted(NATIVE_POLICIES)
    assert column(table(parameters, "`order`")) == list(NAMED_ORDERS)
    assert [names(row[0])[0] for row in table(parameters, "`allocation`")] == list(ALLOCATIONS)


@pytest.mark.parametrize(
    ("title", "header", "kinds"),
    [("Decisions", "decision", messages.Decision), ("Events", "event", messages.Event)],
)
def test_the_messages_are_listed_with_their_fields(title, header, kinds):
    rows = table(section("semantics", title), header)
    documented = {
        found[1]: re.findall(r"(\w+)(?:=[^,]*)?(?:, |$)", found[2])
        for row in rows
        if (found := re.match(r"`(\w+)\((.*)\)`", row[0]))
    }
    assert documented == {kind.__name__: fields(kind) for kind in get_args(kinds)}


def test_the_options_of_a_run_are_listed_with_those_of_the_command_line():
    rows = table(section("semantics", "Options"), "in Python")
    assert sorted(column(rows)) == sorted(Options.__dataclass_fields__)
    known = {
        text for parameter in cli.cli.get_command(None, "run").params for text in parameter.opts
    }
    told = [name for name in column(rows, 1) if name.startswith("--")]
    # the others are for those who speak as Batsim does
    for_batsim = {"share_storages", "batsim_events", "open_registration", "acknowledge_registered"}
    without = {"reject_oversized"} | for_batsim
    assert len(told) == len(rows) - len(without)
    assert [name for name in told if name not in known] == []


def test_the_reading_rules_and_the_options_of_platforms_are_listed():
    rules = table(section("formats", "Reading rules"), "option")
    assert column(rules) == keywords(load_workload)
    assert column(table(page("platforms"), "option")) == keywords(load_platform)


def test_the_fields_of_a_log_are_listed():
    rows = table(section("formats", "Standard Workload Format"), "field")
    documented = {
        int(number): name
        for row in rows
        for number, name in zip(row[0].split(", "), row[1].split(", "), strict=True)
    }
    assert documented == dict(enumerate(swf.FIELDS, 1))


def test_the_units_are_listed():
    rows = table(section("platforms", "Units"), "quantity")
    known = {"speed": "SPEED", "bandwidth": "BANDWIDTH", "time": "DURATION"}
    known |= {"size": "SIZE", "power": "POWER"}
    assert [row[0] for row in rows] == list(known)
    dimensions = {name for name, value in vars(units).items() if type(value) is units.Dimension}
    assert dimensions == set(known.values())
    for row in rows[2], rows[4]:  # the others have prefixes
        told = re.findall(r"`([^`]+)`", row[1])[0].split()
        assert told == list(getattr(units, known[row[0]]).factors)


@pytest.mark.parametrize(
    ("place", "text", "in_prose"),
    [(0, "[[hosts]]\noops = 1\n", ()), (1, "[[hosts]]\n[network]\noops = 1\n", ("name", "in"))],
)
def test_the_keys_of_a_platform_file_are_listed(tmp_path, place, text, in_prose):
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(InputError) as refused:
        load_platform(tmp_path / "p.toml")
    known = str(refused.value).partition("unknown key, expected ")[2].split(", ")
    short_form = section("platforms", "The short form").split("**`[network]`**")
    told = column(table(short_form[place], "key"))
    assert [key for key in known if key not in (*told, *in_prose)] == []


def test_the_fields_of_a_batsim_workload_are_listed(tmp_path):
    job = Job(
        *(1, 0.0, Request(1), Delay(1.0), 2.0, (Dependency(0),), 9.0, 1.0, 1.0),
        user="a",
        group="b",
        queue="c",
        rank_hosts=(0,),
    )
    first = Job(0, 0.0, Request(1), Delay(1.0))
    save_workload(Workload.from_jobs([first, job]), tmp_path / "w.json")
    written = json.loads((tmp_path / "w.json").read_text())
    text = section("formats", "Batsim JSON workloads")
    assert set(column(table(text, "job field"))) == set(written["jobs"][1])
    assert set(written) <= set(names(text))
    types = table(text, "profile type, Batsim 4")
    told = {*column(types), *column(types, 1)}
    read = {*batsim_profiles._READERS, *batsim_profiles._SEQUENCES, "recv"}
    assert {name for name in read if f"`{name}`" not in text} == set()
    # what is neither read nor a value of a field is kept
    values = {"cpu", "com", "generation_strategy", "DefinedAmountsSpreadUniformly", "trace_type"}
    assert told - read - values - {"FractionalComputation", "SMPI"} == {
        "ForkJoinCompositionProfile",
        "ParallelTaskMergeCompositionProfile",
    }


# Errors


def test_the_types_of_errors_are_listed_with_their_exit_codes():
    rows = table(section("errors", "Types"), "type")
    documented = {names(row[0])[0]: int(row[1]) for row in rows}
    assert documented == {kind.__name__: code for kind, code in cli._CODES.items()}
    assert {*documented, "NoctuleError"} == set(errors.__all__)


def test_the_exit_codes_are_listed():
    rows = table(section("cli", "Exit codes"), "code")
    assert [(int(row[0]), names(row[1])[0]) for row in rows] == [(c, c.name) for c in ExitCode]


# Traces and models


def test_the_oddities_of_a_trace_are_listed_with_their_kinds():
    rows = table(section("traces", "noctule trace check FILE"), "oddity")
    documented = {name: row[1] for row in rows for name in names(row[0])}
    kinds = {"WRONG": oddities.WRONG, "MISSING": oddities.MISSING, "UNUSUAL": oddities.UNUSUAL}
    others = re.findall(r'Oddity\("([\w-]+)", (\w+)', inspect.getsource(oddities))
    expected = {name: kind for name, kind, _, _ in oddities._TESTS}
    assert documented == expected | {name: kinds[kind] for name, kind in others}
    assert len(others) == 4


def test_the_logs_of_the_archive_are_listed():
    rows = table(section("traces", "Logs"), "name")
    documented = [(names(row[0])[0], row[1].replace(" ", ""), row[2], row[3]) for row in rows]
    assert documented == [
        (log.name, str(log.n_hosts or ""), "yes" if log.sha256 else "", log.notes)
        for log in archive.LOGS
    ]


def test_the_models_are_listed():
    text = page("generators")
    assert sorted(column(table(text, "model"))) == sorted(MODELS)
    walltimes = section("generators", "Walltimes")
    assert column(table(walltimes, "model")) == list(WALLTIME_MODELS)
    tsafrir = WALLTIME_MODELS["tsafrir"][1]
    assert column(table(walltimes, "parameter")) == list(tsafrir)


def test_the_distributions_are_listed_with_their_parameters():
    rows = table(section("generators", "Independent distributions"), "distribution")
    assert column(rows) == list(DISTRIBUTIONS)
    for row in rows:
        parameters = DISTRIBUTIONS[names(row[0])[0]].parameters
        assert [name for name in parameters if name not in names(row[1])] == []
    shaping = table(section("generators", "Independent distributions"), "key")
    assert sorted(column(shaping)) == sorted(distributions._SHAPING)


# Results


def test_the_metrics_are_listed_with_their_units_and_definitions():
    for title, expected in (
        ("Counts", metrics.COUNTS),
        ("Totals", metrics.TOTALS),
        ("Energy", metrics.ENERGY),
        ("Sleeping", metrics.OFFLINE),
        ("Carbon and price", metrics.FOOTPRINT),
        ("Statistics", metrics.FAMILIES),
    ):
        rows = table(section("metrics", title), "name")
        documented = [(names(row[0])[0], row[1].replace("–", ""), row[2]) for row in rows]
        assert documented == [(m.name, m.unit, m.description) for m in expected]
    prefixes = [f"{statistic}_" for statistic in metrics.STATISTICS]
    assert names(section("metrics", "Statistics"))[: len(prefixes)] == prefixes


def test_the_files_of_a_run_are_listed():
    assert column(table(page("outputs"), "file")) == list(runs.RUN_FILES)


def test_the_columns_of_the_csv_files_are_listed():
    jobs = section("outputs", "jobs.csv")
    assert column(table(jobs, "column")) == list(JOBS_COLUMNS)
    states = {names(row[0])[0]: row[1].partition(":")[0] for row in table(jobs, "`final_state`")}
    words = {FINAL_STATES[i]: word for i, word in enumerate(STATE_WORDS)}
    assert {name: word.split()[0] for name, word in states.items()} == words
    totals = "".join(dict(run("fcfs", hosts=1, jobs=[a_job("A")]).texts())["schedule.csv"])
    documented = column(table(section("outputs", "schedule.csv"), "column"))
    assert sorted(documented) == sorted(totals.splitlines()[0].split(","))
    for columns, name in (
        (HOST_STATES_COLUMNS, "machine_states.csv"),
        (ENERGY_COLUMNS, "consumed_energy.csv"),
        (POWER_STATES_COLUMNS, "pstate_changes.csv"),
        (POWER_COLUMNS, "power.csv"),
    ):
        assert f"`{','.join(columns)}`" in section("outputs", name)


def test_the_columns_of_the_files_about_carbon_and_price_are_listed():
    platform = Platform.homogeneous(1, power=PowerModel(idle=1, computing=2))
    schedule = simulate(platform, Workload.from_jobs([a_job("A")]), "fcfs", energy="exact")
    footprint = Footprint(schedule, Rates(Rate.constant(1), Rate.constant(1)))
    files = {name: "".join(pieces) for name, pieces in footprint_texts(footprint)}
    assert tuple(files) == FOOTPRINT_FILE_NAMES
    for name, text in files.items():
        title = next(title for title in titles("outputs") if name in title)
        assert f"`{text.splitlines()[0]}`" in section("outputs", title)
    rows = table(section("outputs", "footprint.csv"), "`part`")
    parts = [line.partition(",")[0] for line in files["footprint.csv"].splitlines()[1:]]
    assert column(rows) == ["user", *parts]


def test_the_fields_of_the_manifest_and_of_the_timing_are_listed():
    rows = table(section("outputs", "manifest.json"), "field")
    text = {names(row[0])[0]: names(row[1]) for row in rows}
    plain = [name for name in fields(runs.Manifest) if name != "options"]
    assert set(text) == {*plain, *(f"options.{name}" for name in fields(runs.RunOptions))}
    assert set(text["versions"]) == set(runs._versions())
    assert text["options.platform"] == fields(runs.PlatformOptions)
    assert text["options.reading"][1:] == fields(runs.ReadingOptions)
    assert text["options.footprint"] == fields(runs.FootprintOptions)
    assert text["inputs"] == fields(runs.FileHash)
    timing = names(section("outputs", "timing.json"))
    assert timing == [*fields(runs.Timing), "total_s"]


def test_the_tables_by_user_and_over_time_are_listed():
    assert column(table(section("tables", "By user"), "column"))[: len(USER_COLUMNS)] == list(
        USER_COLUMNS
    )
    assert column(table(section("tables", "Over time"), "function")) == list(SERIES)


def test_the_kinds_of_pictures_are_listed():
    assert column(table(page("plots"), "kind")) == list(plots.FIGURES)


def test_the_columns_of_the_parquet_files_are_listed(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    platform = Platform.homogeneous(1, power=PowerModel(idle=1, computing=2))
    workload = Workload.from_jobs([a_job("A")])
    simulate(platform, workload, "fcfs", energy="exact").save(tmp_path, parquet=True)
    documented = names(section("tables", "Parquet"))
    for name in (*PARQUET_FILES, *PARQUET_POWER_FILES):
        found = parquet.read_schema(tmp_path / name).names
        assert [word for word in (name, *found) if word not in documented] == []
    assert [name for name in COLUMNS if name not in documented] == []


# The overview


def test_every_page_of_the_reference_is_in_the_overview():
    rows = table(page("index"), "to look up")
    listed = [name for row in rows for name in re.findall(r"\((\w+)\.md\)", row[1])]
    pages = {path.stem for path in (ROOT / "docs" / "reference").glob("*.md")} - {"index"}
    assert sorted(listed) == sorted(pages)


def test_the_names_of_the_package_are_in_the_overview_of_python():
    rows = table(page("python"), "to")
    told = [name.removeprefix("nt.") for name in column(rows, 1) if name.startswith("nt.")]
    assert sorted(told) == sorted(noctule.__all__)
    pages = {path.stem for path in (ROOT / "docs" / "reference" / "python").glob("*.md")}
    listed = {name for row in rows for name in re.findall(r"\(python/(\w+)\.md\)", row[2])}
    assert listed == pages


def test_the_functions_for_traces_are_in_their_overview():
    told = column(table(section("traces", "In Python"), "`noctule.traces`"))
    assert sorted(told) == sorted(name for name in traces.__all__ if name.islower())


def test_what_a_policy_sees_is_listed():
    told = column(table(section("policies", "In Python"), ""))
    assert sorted(told) == sorted(name for name in dir(View) if not name.startswith("_"))


def test_every_format_is_in_the_overview():
    rows = table(section("index", "Files"), "file")

    def endings(function: str, place: int = 3) -> set[str]:
        """Return what the overview says that a function writes."""
        return {name for row in rows if function in names(row[place]) for name in names(row[0])}

    assert endings("save_workload") == {f".{name}" for name in saving.FORMATS}
    assert endings("save_platform") == set(platform_files._WRITERS)
    assert endings("plots.save_figure") == {f".{name}" for name in plots.FORMATS}
    for write, read in (("save_workload", "load_workload"), ("save_platform", "load_platform")):
        assert endings(write) == endings(read, 2)
    assert set(names(rows[-1][0])) == set(COMPRESSIONS)
    assert endings("noctule.run.write_run") == {runs.MANIFEST_FILE, runs.TIMING_FILE}
    assert endings("Schedule.save") == {*SCHEDULE_FILES, *PARQUET_FILES, *PARQUET_POWER_FILES}


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("policies", NATIVE_POLICIES),
        ("orders", NAMED_ORDERS),
        ("allocations", ALLOCATIONS),
        ("models", MODELS),
        ("models of walltimes", WALLTIME_MODELS),
        ("cycles of arrivals", CYCLES),
        ("distributions", DISTRIBUTIONS),
        ("states of a job", STATE_WORDS),
        ("roles of a host", tuple(platforms.Role)),
        ("series over time", SERIES),
        ("pictures", plots.FIGURES),
        ("conformance", families()),
    ],
)
def test_the_names_in_the_overview_are_those_that_there_are(what, expected):
    rows = {row[0]: row[1] for row in table(section("index", "Names"), "what")}
    assert sorted(re.findall(r"`([^`]+)`", rows[what])) == sorted(expected)


def test_the_variables_of_the_environment_are_listed():
    files = [p for folder in ("src", "bench", "docs") for p in (ROOT / folder).rglob("*.py")]
    used = {name for path in files for name in re.findall(r"NOCTULE_[A-Z]+", path.read_text())}
    assert set(column(table(section("index", "Environment"), "variable"))) == used
