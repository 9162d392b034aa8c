"""Lists of hosts as Slurm writes them."""

from __future__ import annotations

import pytest

from noctule.errors import InputError
from noctule.slurm.conf.hostlist import compress_hosts, expand_hosts


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n[1-3,5]", ["n1", "n2", "n3", "n5"]),
        ("n[08-11]", ["n08", "n09", "n10", "n11"]),
        ("a,b[1-2],c", ["a", "b1", "b2", "c"]),
        ("r[0-1]b[1-2]", ["r0b1", "r0b2", "r1b1", "r1b2"]),
        ("n[1,01]", ["n1", "n01"]),
        ("login", ["login"]),
        ("n[3]x", ["n3x"]),
        ("", []),
    ],
)
def test_a_list_expands_in_its_order(text, names):
    assert expand_hosts(text) == names


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["n1", "n2", "n3", "n5"], "n[1-3,5]"),
        (["n08", "n09", "n10"], "n[08-10]"),
        (["n9", "n10"], "n[9-10]"),
        (["n09", "n100"], "n[09,100]"),
        (["n9", "n09"], "n9,n09"),
        (["a", "b1", "a"], "a,b1,a"),
        (["n3", "n1"], "n[3,1]"),
        ([], ""),
    ],
)
def test_names_are_written_as_a_list_in_their_order(names, text):
    assert compress_hosts(names) == text
    assert expand_hosts(text) == names


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("n[1-3", "a '[' without its ']'"),
        ("n1]", "a ']' without its '['"),
        ("n[3-1]", "the range 3-1 ends before it begins"),
        ("n[a]", "'a' between brackets, expected a number or a range such as 1-3"),
        ("n[]", "'' between brackets"),
        ("n[1-99999999]", "expected at most 1000000 hosts"),
        ("a[1-2000]b[1-2000]", "expected at most 1000000 hosts"),
        ("n[1-9999999999999999999999]", "expected a number or a range"),
        ("n[[1]]", "a '[' without its ']'"),
    ],
)
def test_a_broken_list_is_refused_with_a_sentence(text, said):
    with pytest.raises(InputError) as error:
        expand_hosts(text, "slurm.conf: line 3: Nodes")
    assert str(error.value).startswith("slurm.conf: line 3: Nodes: got ")
    assert said in str(error.value)
