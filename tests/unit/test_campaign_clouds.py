"""The runs of a campaign as points between two metrics, by some of its parameters."""

from __future__ import annotations

import pytest
from campaign_files import described
from click.testing import CliRunner

from noctule.campaign import LocalWorkers, load_results, run_campaign
from noctule.commands.plot import plot
from noctule.errors import InputError
from noctule.plots.campaigns import Cloud, campaign_points

pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")

POWERED = """
speed = "1f"
power = { idle = 100, computing = 200, off = 10 }

[[hosts.sleep]]
power = 10
off = { time = "5s", power = 50 }
on = { time = "10s", power = 150 }
"""
POLICIES = {
    "easy": "easy",
    "proportional": {"spec": "proportional", "rho": [1.0, 0.5], "t_idle": [0.0, float("inf")]},
    "inertial": {"spec": "inertial", "upper_bound": [10, 1000], "period": [60, 120]},
}
X, Y = "mean_waiting_time", "joules"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A campaign of EASY, four instances of proportional and four of inertial shutdown."""
    home = tmp_path_factory.mktemp("clouds")
    for count in (4, 8):
        (home / f"{count}.toml").write_text(f"[[hosts]]\ncount = {count}\n{POWERED}")
    platforms = {"small": "4.toml", "large": "8.toml"}
    options = {"energy": "exact"}
    campaign = described(home, platforms=platforms, policies=POLICIES, options=options)
    run_campaign(campaign, home / "out", LocalWorkers(1))
    return home / "out"


def test_shapes_tell_a_second_parameter_and_runs_without_one_are_left_out(folder):
    cloud = Cloud("policy.upper_bound", "policy.period", {"platform": ["small"]})
    looks = [(point.group, point.mark) for point in campaign_points(folder, X, Y, cloud)]
    assert sorted(looks) == [
        (f"upper_bound {bound}", f"period {period}") for bound in (10, 1000) for period in (120, 60)
    ]


def test_only_runs_with_one_of_the_values_of_every_axis_are_points(folder):
    def count(**only):
        named = {name.replace("__", "."): values for name, values in only.items()}
        return len(campaign_points(folder, X, Y, Cloud(only=named)))

    assert count() == 18
    assert count(platform=["small"]) == 9
    assert count(policy__rho=["1"]) == 4
    assert count(policy__rho=["1", "0.50"]) == 8
    assert count(policy__rho=["1"], policy__t_idle=["inf"], platform=["s*"]) == 1
    assert count(policy=["inertial*"]) == 8


def test_energy_is_a_share_of_that_of_a_policy_on_the_same_platform(folder):
    table = load_results(folder).set_index(["platform", "policy"])["joules"]
    points = campaign_points(folder, X, Y, Cloud("platform", relative_to="easy"))
    expected = [joules / table[platform, "easy"] for (platform, _), joules in table.items()]
    assert [point.y for point in points] == expected
    # hosts that wake take more than they save in so short a log
    assert min(expected) == 1 < max(expected)


@pytest.mark.parametrize(
    ("cloud", "message"),
    [
        (Cloud("nothing"), "no column nothing, expected one of "),
        (Cloud(marks="nothing"), "no column nothing, expected one of "),
        (Cloud(only={"nothing": ["1"]}), "no column nothing, expected one of "),
        (
            Cloud(only={"policy.rho": ["2", "x"]}),
            "no run left with policy.rho 2 or x, expected one of 0.5, 1.0",
        ),
        (
            Cloud(relative_to="fcfs"),
            "no run of policy fcfs with workload log, platform small, energy exact, expected one",
        ),
    ],
)
def test_what_a_campaign_does_not_have_is_refused(folder, cloud, message):
    with pytest.raises(InputError) as error:
        campaign_points(folder, X, Y, cloud)
    assert message in str(error.value)


def run(*words):
    return CliRunner().invoke(plot, [str(word) for word in words], catch_exceptions=False)


def test_the_command_draws_them(folder, tmp_path):
    words = ("tradeoff", folder, "--y", "joules", "-o", tmp_path / "x.svg")
    by = ("--by", "policy.upper_bound", "--marks", "policy.period", "--relative-to", "easy")
    assert run(*words, *by, "--only", "platform=small").exit_code == 0
    assert (tmp_path / "x.svg").stat().st_size > 0
    refused = run(*words, "--only", "small")
    assert refused.exit_code == 2
    assert "--only: got small, expected AXIS=VALUE" in refused.output
    refused = run(*words, tmp_path, "--relative-to", "easy")
    assert refused.exit_code == 2
    assert "expected campaigns alone" in refused.output
