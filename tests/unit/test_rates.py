"""What a kilowatt-hour emits or costs over time: its values, its areas, its files."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from noctule.errors import InputError
from noctule.formats.rates import load_rate, load_rates, rate_file
from noctule.rates import NO_RATES, Rate, Rates

#: 100 from 0 on, 400 from 10 to 20, 200 from 20 to 30.
STEPS = Rate((0.0, 10.0, 20.0), (100.0, 400.0, 200.0))
#: 1 from 0 to 6, 5 from 6 to 10, and so on; it begins with the 5 of the lap before.
LAPS = Rate((6.0, 10.0), (5.0, 1.0), 10.0)


def saved(folder, text, name="rate.csv"):
    path = folder / name
    path.write_text(text)
    return path


# In memory


def test_a_value_holds_from_its_date_on():
    assert STEPS.at([0, 9.5, 10, 19, 20, 29]).tolist() == [100, 100, 400, 400, 200, 200]


@pytest.mark.parametrize(
    ("first", "last", "area"),
    [
        (0, 10, 1000),
        (2, 5, 300),
        (5, 15, 500 + 2000),
        (5, 25, 500 + 4000 + 1000),
        (10, 20, 4000),
        (7, 7, 0),
        (0, 30, 1000 + 4000 + 2000),
    ],
)
def test_areas_are_those_of_the_steps(first, last, area):
    assert STEPS.areas([first], [last]).tolist() == [area]
    assert STEPS.means([first], [last]).tolist() == [area / (last - first) if area else 100]


def test_the_last_value_holds_as_long_as_the_one_before_it():
    assert (STEPS.start, STEPS.end) == (0, 30)
    with pytest.raises(InputError, match="rate: got values up to 30 s of the run, expected some"):
        STEPS.areas([0], [31])
    with pytest.raises(InputError, match="rate: got 0 s of the run as the first date, expected -1"):
        STEPS.areas([-1], [3])


def test_a_constant_rate_has_no_end():
    rate = Rate.constant(0.2)
    assert rate.areas([0, 1e9], [10, 1e9 + 1]).tolist() == [2, 0.2]
    assert rate.changes(0, 1e9, 5).tolist() == []


def test_a_rate_with_a_period_comes_again_and_came_before():
    assert LAPS.at([0, 5, 6, 9, 10, 16, 25, 26, -4]).tolist() == [1, 1, 5, 5, 1, 5, 1, 5, 5]
    assert LAPS.areas([0, 0, 3, 8, 10, -4], [6, 10, 27, 8, 20, 0]).tolist() == [
        *(6, 26, 3 + 20 + 26 + 6 + 5, 0, 26, 20),
    ]
    assert LAPS.changes(0, 22, 10).tolist() == [6, 10, 16, 20]


def test_few_changes_or_none():
    assert STEPS.changes(0, 30, 2).tolist() == [10, 20]
    assert STEPS.changes(0, 30, 1) is None
    assert LAPS.changes(0, 1e12, 100) is None


def test_late_in_a_long_run_areas_are_as_exact_as_at_its_beginning():
    day = Rate((0.0, 21_600.0), (0.1, 0.3), 86_400.0)
    late = 86_400.0 * 3650
    assert day.areas([late + 100], [late + 101]).tolist() == day.areas([100], [101]).tolist()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (((), ()), "rate: got 0 dates and 0 values"),
        (((0.0,), (1.0, 2.0)), "rate: got 1 dates and 2 values"),
        (((0.0, 0.0), (1.0, 2.0)), "rate: got 0.0 after 0.0, expected dates that rise"),
        (((0.0,), (math.nan,)), "rate: got nan, expected numbers"),
        (((0.0, math.inf), (1.0, 2.0)), "rate: got inf, expected numbers"),
        (((0.0, 5.0), (1.0, 2.0), 5.0), "rate: got a period of 5.0 s, expected one that is longer"),
    ],
)
def test_a_rate_of_nonsense_is_refused(words, message):
    with pytest.raises(InputError, match=re.escape(message)):
        Rate(*words)


# Files


def test_a_file_has_times_and_values(tmp_path):
    assert load_rate(saved(tmp_path, "time,value\n0,100\n10,400\n20,200\n")) == STEPS


def test_a_last_line_says_when_it_begins_again(tmp_path):
    text = "time,value\n6,5\n10,1\n16,repeat\n"
    assert load_rate(saved(tmp_path, text), "carbon") == LAPS


def test_a_number_is_a_rate_as_well():
    assert load_rate("60", "carbon") == load_rate(60, "carbon") == Rate.constant(60)
    assert load_rates("60", -0.1) == Rates(Rate.constant(60), Rate.constant(-0.1))
    assert load_rates() == NO_RATES
    assert [rate_file(given) for given in ("60", "-1e3", "day.csv", None, 3.0)] == [
        *(None, None, "day.csv", None, None),
    ]


def test_dates_are_those_of_the_log(tmp_path):
    """The log begins on 1970-01-02 at 01:00 UTC, which is 02:00 where its machine stood."""
    headers = {"UnixStartTime": "90000", "TimeZone": "3600"}
    path = saved(tmp_path, "time,value\n1970-01-02,1\n1970-01-02T02:00,2\n1970-01-02T01:30Z,3\n")
    assert load_rate(path, headers=headers).time == (-7200, 0, 1800)
    again = saved(tmp_path, "time,value\n1970-01-02,1\n1970-01-02 12:00,2\n1970-01-03,repeat\n")
    assert load_rate(again, headers=headers) == Rate((-7200.0, 36000.0), (1.0, 2.0), 86400.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty file, expected a line of column names"),
        ("time,value\n", "line 1: got no line of values behind it, expected one"),
        ("time,value\n3,repeat\n", "line 1: got no line of values behind it, expected one"),
        ("when,value\n0,1\n", "line 1: got 'when,value', expected time,value"),
        ("0,1\n1,2\n", "line 1: got '0,1', expected time,value"),
        ("time,value\n0,1\n0,2\n", "line 3: time: got '0', expected a later time than 0"),
        ("time,value\n5,1\n\n2,2\n", "line 4: time: got '2', expected a later time than 5"),
        ("time,value\n0,1\n0,repeat\n", "line 3: time: got '0', expected a later time than 0"),
        ("time,value\n0,-1\n", "line 2: value: got '-1', expected a number >= 0"),
        ("time,value\n0,nan\n", "line 2: value: got 'nan', expected a number >= 0"),
        ("time,value\n0,inf\n", "line 2: value: got 'inf', expected a number >= 0"),
        ("time,value\n0,\n", "line 2: value: got '', expected a number >= 0"),
        ("time,value\n0,x\n", "line 2: value: got 'x', expected a number >= 0"),
        (
            "time,value\n0,1\n2,repeat\n3,1\n",
            "line 3: value: got 'repeat', expected a number >= 0; repeat stands on the last line",
        ),
        ("time,value\n0\n", "line 2: got 1 fields, expected 2"),
        ("time,value\n0,1\nnan,2\n", "line 3: time: got 'nan', expected seconds, as in the first"),
        (
            "time,value\n0,1\n1970-01-02,2\n",
            "line 3: time: got '1970-01-02', expected seconds, as in the first line",
        ),
        (
            "time,value\n1970-01-02,1\nsoon,2\n",
            "line 3: time: got 'soon', expected seconds or a date such as 1996-10-01T12:00",
        ),
    ],
)
def test_a_file_of_nonsense_is_refused(tmp_path, text, message):
    path = saved(tmp_path, text)
    with pytest.raises(InputError) as refused:
        load_rate(path, "carbon", {"UnixStartTime": "0"})
    assert str(refused.value).startswith(f"{path}: {message}")


def test_dates_need_a_log_that_tells_them(tmp_path):
    path = saved(tmp_path, "time,value\n1970-01-02,1\n")
    with pytest.raises(InputError, match="line 2: time: got the date '1970-01-02', expected secon"):
        load_rate(path)


def test_only_prices_may_be_negative(tmp_path):
    path = saved(tmp_path, "time,value\n0,-0.05\n")
    assert load_rate(path, "price").value == (-0.05,)
    with pytest.raises(InputError, match="carbon: got '-3', expected a number >= 0"):
        load_rate("-3", "carbon")
    with pytest.raises(InputError, match="price: got 'nan', expected a number"):
        load_rate("nan", "price")


def test_what_is_not_covered_is_told_with_the_line(tmp_path):
    rate = load_rate(saved(tmp_path, "time,value\n10,1\n20,2\n"))
    with pytest.raises(InputError, match=r"rate\.csv: line 2: got 10 s of the run as the first da"):
        rate.demand(0, 20)
    with pytest.raises(
        InputError,
        match=r"rate\.csv: line 3: got values up to 30 s of the run, expected some up to 40, or",
    ):
        rate.demand(10, 40)


def test_a_large_file_of_dates_is_read_in_no_time(tmp_path):
    hours = np.datetime64("1990-01-01T00") + np.arange(8760 * 4).astype("timedelta64[h]")
    lines = "".join(f"{hour},{i % 7}\n" for i, hour in enumerate(hours))
    rate = load_rate(saved(tmp_path, f"time,value\n{lines}"), headers={"UnixStartTime": "0"})
    assert len(rate.time) == 8760 * 4
