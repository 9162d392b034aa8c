"""Files of shares for the panel on fairness."""

from __future__ import annotations

import pytest

from noctule.cli import main
from noctule.errors import InputError
from noctule.report import load_shares


def test_a_file_tells_whose_shares_it_has(tmp_path):
    (tmp_path / "shares.csv").write_text("group,share\nphysics,60\n<b>,0.5\n")
    shares = load_shares(tmp_path / "shares.csv")
    assert (shares.by, shares.of) == ("group", {"physics": 60.0, "<b>": 0.5})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: got '', expected user,share or group,share or queue,share"),
        ("name,share\n", "line 1: got 'name,share', expected user,share"),
        ("user,share\nann\n", "line 2: got 1 fields, expected 2"),
        ("user,share\nann,1\nann,2\n", "line 3: got ann once more, expected each user once"),
        ("user,share\nann,-1\n", "line 2: share: got '-1', expected a number >= 0"),
        ("user,share\nann,inf\n", "line 2: share: got 'inf', expected a number >= 0"),
        ("user,share\nann,0\n", "got no share above 0, expected at least one"),
    ],
)
def test_another_file_is_refused(text, message, tmp_path):
    (tmp_path / "shares.csv").write_text(text)
    with pytest.raises(InputError) as caught:
        load_shares(tmp_path / "shares.csv")
    assert message in str(caught.value)


def test_a_file_that_is_not_there_is_a_sentence(tmp_path, capsys):
    page = ["report", str(tmp_path), "-o", str(tmp_path / "page.html")]
    assert main([*page, "--shares", str(tmp_path / "none.csv")]) == 3
    assert "none.csv: cannot be read as CSV" in capsys.readouterr().err
