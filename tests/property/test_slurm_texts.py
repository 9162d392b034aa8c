"""Lists of hosts and configurations: what is written is read again, whatever the names are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from noctule.errors import InputError
from noctule.slurm.conf.hostlist import compress_hosts, expand_hosts
from noctule.slurm.conf.lines import parse_conf
from noctule.slurm.conf.settings import settings_from
from noctule.slurm.site.folder import conf_text

prefixes = st.sampled_from(["n", "node-", "rack1n", "x.y", "login", "a0b"])
digits = st.one_of(
    st.just(""), st.integers(0, 1200).map(str), st.from_regex(r"[0-9]{1,4}", fullmatch=True)
)
names = st.builds(lambda prefix, number: prefix + number, prefixes, digits)
ranges = st.tuples(st.integers(0, 50), st.integers(0, 20), st.integers(1, 4))

keys = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,8}", fullmatch=True).filter(
    lambda key: key.lower() not in ("include",)
)
values = st.text(
    st.characters(codec="ascii", exclude_categories=["Cc"], exclude_characters='"\\#'), max_size=8
).map(str.strip)
lines = st.lists(st.tuples(keys, values), min_size=1, max_size=4)


@given(st.lists(names, max_size=30))
def test_names_are_read_as_they_were_written(hosts):
    assert expand_hosts(compress_hosts(hosts)) == hosts


@given(prefixes, st.lists(ranges, min_size=1, max_size=4))
def test_a_range_is_its_numbers_padded_to_the_width_of_the_first(prefix, spans):
    texts, wanted = [], []
    for first, more, width in spans:
        low, high = f"{first:0{width}d}", f"{first + more:0{width}d}"
        texts.append(low if not more else f"{low}-{high}")
        wanted += [prefix + str(i).zfill(len(low)) for i in range(first, first + more + 1)]
    assert expand_hosts(f"{prefix}[{','.join(texts)}]") == wanted


@given(st.sets(st.integers(0, 300), min_size=1))
def test_sorted_numbers_take_one_pair_of_brackets(numbers):
    text = compress_hosts(f"n{number}" for number in sorted(numbers))
    assert text.count("[") == (0 if len(numbers) == 1 else 1)
    assert text.count("-") <= len(numbers) // 2


@given(st.text(max_size=30))
def test_any_text_is_a_list_of_hosts_or_refused_in_one_line(text):
    try:
        found = expand_hosts(text, "hosts")
    except InputError as error:
        message = str(error)
        assert message.startswith("hosts: got ")
        assert "\n" not in message
    else:
        assert all(isinstance(name, str) for name in found)


@given(st.lists(lines, max_size=5))
def test_lines_of_a_configuration_are_read_as_they_were_written(wanted):
    text = "".join(" ".join(f'{key}="{value}"' for key, value in line) + "\n" for line in wanted)
    conf = parse_conf(text)
    assert [list(line.entries) for line in conf.lines] == wanted
    again = parse_conf("".join(conf_text(conf)))
    assert [line.entries for line in again.lines] == [line.entries for line in conf.lines]


@given(st.text(max_size=60))
def test_any_text_is_a_configuration_or_refused_in_one_line(text):
    try:
        settings_from(parse_conf(text, "slurm.conf"))
    except InputError as error:
        message = str(error)
        assert message.startswith("slurm.conf")
        assert "\n" not in message


@given(
    st.integers(1, 9),
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=4),
)
def test_partitions_have_the_nodes_of_their_ranges_in_the_order_of_the_file(n_nodes, spans):
    text = f"NodeName=n[1-{n_nodes}]\n"
    wanted = []
    for i, (first, more) in enumerate(spans):
        low, high = min(first, n_nodes), min(first + more, n_nodes)
        text += f"PartitionName=p{i} Nodes=n[{low}-{high}]\n"
        wanted.append(tuple(range(low - 1, high)))
    assert [p.nodes for p in settings_from(parse_conf(text)).partitions] == wanted


def test_long_lists_are_read_and_written_at_once():
    names = expand_hosts("n[1-100000]")
    assert len(names) == 100_000
    assert compress_hosts(names) == "n[1-100000]"
