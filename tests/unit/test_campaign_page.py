"""The page of a campaign: its numbers are those of `campaign show`, and names cannot break it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from campaign_files import EXAMPLES, described
from report_pages import Elements, allowed_hashes, unpacked

from noctule.campaign import Campaign, LocalWorkers, load_results, run_campaign
from noctule.campaign.results import results_so_far
from noctule.campaign.store import Store
from noctule.cli import main
from noctule.comparison import compare, compare_each
from noctule.errors import InputError
from noctule.printing.campaigns import show_result
from noctule.report import campaign_text, load_campaign, write_campaign_report
from noctule.report.watching import CampaignWatch

pytest.importorskip("pyarrow")
pytest.importorskip("bokeh")

HOSTILE = '</script><script>alert(1)</script>"$$x$$'
CAMPAIGN = f"""
seeds = "1-3"
bounds = true
keep_jobs = true
[workloads]
night = {{ file = "{EXAMPLES}/night.swf", shake = 30, load = [0.9, 1.1] }}
[platforms]
full = {{ hosts = 128 }}
[policies]
easy = "easy"
conservative = "conservative"
[measures]
warm_up = 3600
"""


class CampaignPage:
    """A page of a campaign, read again."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.elements = Elements(self.text)
        by_id = {told.get("id"): text for told, text in self.elements.scripts}
        self.content: dict[str, Any] = json.loads(by_id["content"])
        self.texts = {str(name).removeprefix("column-"): text for name, text in by_id.items()}

    @classmethod
    def of(cls, folder: Path) -> CampaignPage:
        return cls("".join(campaign_text(load_campaign(folder))))

    def rows(self, packed: dict[str, Any]) -> list[dict[str, Any]]:
        columns = {
            name: list(unpacked(column, self.texts, {}))
            for name, column in packed["columns"].items()
        }
        return [{name: column[i] for name, column in columns.items()} for i in range(packed["n"])]

    def table(self, by: str, within: str = "") -> dict[str, Any]:
        return next(t for t in self.content["tables"] if (t["by"], t["within"]) == (by, within))

    def of_metric(self, table: dict[str, Any], part: str, metric: str) -> list[dict[str, Any]]:
        return [row for row in self.rows(table[part]) if row["metric"] == metric]


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("campaign")
    (folder / "loads.toml").write_text(CAMPAIGN)
    assert main(["campaign", "run", str(folder / "loads.toml"), "-o", str(folder / "out")]) == 0
    return folder / "out"


@pytest.fixture(scope="module")
def page(campaign: Path) -> CampaignPage:
    return CampaignPage.of(campaign)


def close(found: float, expected: float) -> bool:
    return found == expected or (math.isnan(found) and math.isnan(expected))


@pytest.mark.parametrize("metric", ["mean_waiting_time", "utilisation", "n_jobs"])
@pytest.mark.parametrize(
    ("by", "within"), [("policy", ""), ("policy", "workload.load"), ("workload.load", "policy")]
)
def test_numbers_are_those_of_campaign_show(campaign, page, by, within, metric):
    data = show_result(campaign, by, [metric], within=[within] if within else []).data
    table = page.table(by, within)
    means = page.of_metric(table, "means", metric)
    assert [row["level"] for row in means] == [one["level"] for one in data["levels"]]
    for row, one, trimmed in zip(means, data["levels"], data["trimmed"], strict=True):
        assert row["n"] == one["n"]
        assert row["trimmed"] == trimmed["mean"]["value"]
        for name, expected in (
            ("mean", one["mean"]["value"]),
            ("low", one["mean"]["low"]),
            ("high", one["mean"]["high"]),
            ("normalised_low", one["normalised"]["low"]),
            ("normalised_high", one["normalised"]["high"]),
        ):
            assert close(row[name], expected), name
    found = page.of_metric(table, "comparisons", metric)
    assert len(found) == len(data["comparisons"])
    for row, one in zip(found, data["comparisons"], strict=True):
        assert row["verdict"].endswith(one["verdict"])
        assert close(row["p_corrected"], one["p_corrected"])
        assert close(row["difference"], one["difference"]["value"])


def test_metrics_compared_together_are_judged_as_each_one_alone(campaign):
    table = load_results(campaign)
    table = table[table["bound"] == ""]
    axes = ["workload", "seed", "platform", "policy", "workload.load"]
    metrics = ["mean_waiting_time", "utilisation", "max_slowdown"]
    found = compare_each(table, "policy", metrics, within=["workload.load"], axes=axes)
    for metric in metrics:
        alone = compare(table, "policy", metric, within=["workload.load"], axes=axes)
        assert repr(found[metric].comparisons) == repr(alone.comparisons)


def test_the_table_of_runs_has_every_run_with_all_its_metrics(campaign, page):
    table = load_results(campaign)
    rows = page.rows(page.content["runs"])
    assert [row["key"] for row in rows] == table["key"].tolist()
    assert all(row["kept"] for row in rows)
    for name in ("mean_waiting_time", "utilisation", "trimmed_makespan"):
        np.testing.assert_array_equal([row[name] for row in rows], table[name].to_numpy())
    assert [row["seed"] for row in rows] == table["seed"].tolist()


def test_bounds_stand_beside_the_levels_they_bound(campaign, page):
    table = load_results(campaign)
    bound = table[(table["bound"] == "clairvoyant") & (table["policy"] == "easy")]
    rows = page.of_metric(page.table("policy"), "bounds", "mean_waiting_time")
    row = next(r for r in rows if (r["bound"], r["level"]) == ("clairvoyant", "easy"))
    assert row["mean"] == bound["mean_waiting_time"].mean()
    assert row["n"] == 6


def test_numbers_are_known_for_levels_that_are_numbers_only(page):
    numbers = {told["name"]: told["numbers"] for told in page.content["parameters"]}
    assert numbers["workload.load"] == {"0.9": 0.9, "1.1": 1.1}
    assert numbers["policy"] is None
    assert "seed" not in numbers


def test_a_page_has_methods_and_description(page):
    assert page.content["methods"].startswith("Workload night")
    assert page.content["text"] == CAMPAIGN


def test_the_same_results_give_the_same_bytes(tmp_path):
    folder = small(tmp_path)
    assert CampaignPage.of(folder).text == CampaignPage.of(folder).text


def test_only_the_pages_own_scripts_may_run(page):
    assert len(allowed_hashes(page.text)) == 2


def small(tmp_path: Path, **changes: Any) -> Path:
    run_campaign(described(tmp_path, **changes), tmp_path / "out", LocalWorkers(1))
    return tmp_path / "out"


def test_hostile_names_are_data(tmp_path):
    folder = small(tmp_path, name=HOSTILE, policies={"easy": "easy", "fcfs": "fcfs"})
    # campaign files cannot say so, but results may come from a stranger
    table = load_results(folder)
    table["policy"] = table["policy"].replace("easy", HOSTILE)
    table["key"] = ["../../etc/passwd", HOSTILE]
    table.to_parquet(folder / "results.parquet")
    page = CampaignPage.of(folder)
    n_columns = sum(str(told.get("id")).startswith("column-") for told, _ in page.elements.scripts)
    assert page.elements.tags.count("script") == n_columns + 3
    assert page.content["title"] == HOSTILE
    assert page.table("policy")["levels"] == [HOSTILE, "fcfs"]
    assert page.elements.texts.count(HOSTILE) == 2
    assert not any(row["kept"] for row in page.rows(page.content["runs"]))


def test_one_run_of_one_level_gives_a_mean_without_interval_and_no_verdict(tmp_path):
    page = CampaignPage.of(small(tmp_path))
    table = page.table("policy")
    (row,) = page.of_metric(table, "means", "mean_waiting_time")
    # the second job waits for 99 s, the third for none: it fits beside the first
    assert row["mean"] == pytest.approx(33.0)
    assert math.isnan(row["low"])
    assert table["comparisons"]["n"] == 0


def test_failed_runs_have_their_messages_and_are_left_out_of_means(tmp_path):
    (tmp_path / "bad.py").write_text(
        "class Bad:\n    def decide(self, view, events): raise ValueError('<b>no</b>')\n"
    )
    page = CampaignPage.of(small(tmp_path, policies={"bad": "bad.py:Bad", "easy": "easy"}))
    rows = page.rows(page.content["runs"])
    assert [row["status"] for row in rows] == ["failed", "done"]
    assert "<b>no</b>" in rows[0]["error"]
    assert page.content["notes"][0] == "1 of 2 runs have failed: they are left out of all means."
    assert page.table("policy")["levels"] == ["easy"]


def test_a_campaign_of_which_all_has_failed_has_a_page_that_says_so(tmp_path):
    (tmp_path / "bad.py").write_text(
        "class Bad:\n    def decide(self, view, events): raise ValueError('no')\n"
    )
    page = CampaignPage.of(small(tmp_path, policies={"bad": "bad.py:Bad"}))
    assert page.content["metrics"] == page.content["tables"] == []
    assert "No run is done: there is nothing to compare yet." in page.content["notes"]


def test_a_metric_that_no_run_has_is_no_choice(tmp_path):
    # jobs without a runtime have no slowdown
    folder = small(tmp_path)
    table = load_results(folder)
    table["max_slowdown"] = math.nan
    table.to_parquet(folder / "results.parquet")
    names = [metric["name"] for metric in CampaignPage.of(folder).content["metrics"]]
    assert "max_slowdown" not in names
    assert "mean_slowdown" in names


def test_levels_without_partners_have_means_and_no_verdicts(tmp_path):
    folder = small(tmp_path, policies={"easy": "easy", "fcfs": "fcfs"})
    table = load_results(folder)
    table["workload"] = ["one", "other"]
    table.to_parquet(folder / "results.parquet")
    told = CampaignPage.of(folder).table("policy")
    assert told["levels"] == ["easy", "fcfs"]
    assert told["comparisons"]["n"] == 0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda table: table.iloc[:0], "its results have no run"),
        (lambda table: table.drop(columns="key"), "no column key"),
    ],
)
def test_results_that_are_none_are_a_sentence(tmp_path, change, sentence):
    folder = small(tmp_path)
    change(load_results(folder)).to_parquet(folder / "results.parquet")
    with pytest.raises(InputError, match=sentence):
        load_campaign(folder)


def test_the_command_knows_campaigns_and_refuses_them_among_runs(tmp_path, capsys):
    campaign, output = small(tmp_path), str(tmp_path / "page.html")
    assert main(["report", str(campaign), "-o", output, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["size"] == Path(output).stat().st_size
    assert main(["report", str(campaign), str(campaign), "-o", output, "--force"]) == 3
    assert "expected it alone" in capsys.readouterr().err


def test_a_page_that_is_there_is_replaced_by_force_only(campaign, tmp_path):
    (tmp_path / "page.html").write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        write_campaign_report(load_campaign(campaign), tmp_path / "page.html")


def test_pages_of_runs_stand_beside_the_page_which_links_to_them(tmp_path):
    folder = small(tmp_path, keep_jobs=True, policies={"easy": "easy", "fcfs": "fcfs"})
    keys = load_results(folder)["key"].tolist()
    campaign = load_campaign(folder)
    assert write_campaign_report(campaign, tmp_path / "a b.html", most_runs=1) == 1
    (run,) = (tmp_path / "a b-runs").iterdir()
    assert run.name == f"{keys[0]}.html"
    by_id = {told.get("id"): text for told, text in Elements(run.read_text()).scripts}
    assert json.loads(by_id["content"])["title"] == "easy, log, recorded"
    page = CampaignPage((tmp_path / "a b.html").read_text())
    rows = page.rows(page.content["runs"])
    assert [row["page"] for row in rows] == [f"a%20b-runs/{keys[0]}.html", None]


def test_runs_without_jobs_have_no_pages(tmp_path):
    with pytest.raises(InputError, match="keep_jobs = true"):
        write_campaign_report(load_campaign(small(tmp_path)), tmp_path / "page.html", most_runs=5)
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("keys", [["../../../jobs"], ["A" * 32], [""], [None]])
def test_a_key_that_is_none_leads_nowhere(tmp_path, keys):
    folder = small(tmp_path, keep_jobs=True)
    table = load_results(folder)
    table["key"] = keys
    table.to_parquet(folder / "results.parquet")
    assert load_campaign(folder).kept == frozenset()


def test_foreign_files_beside_pages_of_runs_are_not_replaced(tmp_path):
    campaign = load_campaign(small(tmp_path, keep_jobs=True))
    write_campaign_report(campaign, tmp_path / "page.html", most_runs=1)
    write_campaign_report(campaign, tmp_path / "page.html", most_runs=1, force=True)
    (tmp_path / "page-runs" / "thesis.tex").touch()
    with pytest.raises(InputError, match=r"thesis\.tex"):
        write_campaign_report(campaign, tmp_path / "page.html", most_runs=1, force=True)


def test_pages_of_runs_are_asked_for_of_campaigns_only(tmp_path, capsys):
    folder, output = small(tmp_path, keep_jobs=True), str(tmp_path / "page.html")
    assert main(["report", str(folder), "-o", output, "--runs", "all"]) == 0
    assert "page-runs: 1 pages of runs" in capsys.readouterr().err
    assert main(["report", str(tmp_path), "-o", output, "--runs", "3", "--force"]) == 3
    assert main(["report", str(folder), "-o", output, "--runs", "few", "--force"]) == 2


def test_results_so_far_are_those_that_are_written_in_the_end(tmp_path):
    campaign = described(tmp_path, policies={"easy": "easy", "fcfs": "fcfs"}, bounds=True)
    store = Store(tmp_path / "out")
    before = results_so_far(campaign, store)
    assert set(before["status"]) == {"missing"}
    run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    assert results_so_far(campaign, store).equals(load_results(tmp_path / "out"))


def test_a_watched_campaign_shows_what_is_done_and_writes_the_same_bytes(tmp_path):
    described(tmp_path)
    file = tmp_path / "c.toml"
    file.write_text('[workloads]\nlog = "log.swf"\n[policies]\neasy = "easy"\nfcfs = "fcfs"\n')
    campaign = Campaign.load(file)
    run_campaign(campaign, tmp_path / "plain", LocalWorkers(1))
    shown: list[tuple[str, bool]] = []

    class Page:
        is_awaited = True

        def show(self, make: Any, status: str, *, is_last: bool = False) -> None:
            assert "buildCampaign" in "".join(make())
            shown.append((status, is_last))

    watch = CampaignWatch(Page(), campaign, str(tmp_path / "watched"), lambda _: None)
    tally = run_campaign(
        campaign,
        tmp_path / "watched",
        LocalWorkers(1),
        look=watch.renew,
        on_start=watch.begin,
    )
    watch.end(tally)
    assert shown[-1] == ("All 2 runs are over.", True)
    for name in ("results.parquet", "campaign.json"):
        plain = (tmp_path / "plain" / name).read_bytes()
        assert (tmp_path / "watched" / name).read_bytes() == plain


def test_a_campaign_is_watched_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("noctule.report.live._FAREWELL_S", 0.0)
    described(tmp_path)
    (tmp_path / "c.toml").write_text('[workloads]\nlog = "log.swf"\n[policies]\neasy = "easy"\n')
    output = str(tmp_path / "out")
    assert main(["campaign", "run", str(tmp_path / "c.toml"), "-o", output, "--watch"]) == 0
    assert "watch it at http://127.0.0.1:" in capsys.readouterr().err
