"""The text of slurm.conf: comments, continuations, includes, quotes."""

from __future__ import annotations

import pytest

from noctule.errors import InputError
from noctule.slurm.conf.lines import parse_conf, read_conf


def entries(text):
    return [line.entries for line in parse_conf(text).lines]


def test_a_line_is_keys_and_values():
    assert entries("NodeName=n1 CPUs = 4\tState= UNKNOWN") == [
        (("NodeName", "n1"), ("CPUs", "4"), ("State", "UNKNOWN"))
    ]


def test_comments_are_left_out_unless_escaped():
    assert entries("# a=b\nA=1 # B=2\nC=x\\#y#z\n") == [(("A", "1"),), (("C", "x#y"),)]


def test_a_backslash_joins_lines_and_the_place_is_the_first():
    lines = parse_conf("\nA=1 \\\n  B=2\nC=3\n", "slurm.conf").lines
    assert [(line.place.line, line.entries) for line in lines] == [
        (2, (("A", "1"), ("B", "2"))),
        (4, (("C", "3"),)),
    ]


def test_a_comment_ends_before_its_backslash_so_that_nothing_is_joined():
    assert entries("A=1 # off \\\nB=2\n") == [(("A", "1"),), (("B", "2"),)]


def test_quoted_values_keep_their_spaces():
    assert entries('Reason="not responding" State=DOWN') == [
        (("Reason", "not responding"), ("State", "DOWN"))
    ]


def test_windows_line_ends_do_not_matter():
    assert entries("A=1\r\nB=2\r\n") == [(("A", "1"),), (("B", "2"),)]


def test_what_is_no_key_and_value_is_refused_with_its_line():
    with pytest.raises(InputError) as error:
        parse_conf("A=1\nnonsense here\n", "slurm.conf")
    assert str(error.value) == "slurm.conf: line 2: got 'nonsense here', expected Key=Value"


def test_included_files_stand_where_they_are_named(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "nodes.conf").write_text("NodeName=n1\n")
    (tmp_path / "slurm.conf").write_text("A=1\nInclude parts/nodes.conf\nB=2\n")
    conf = read_conf(tmp_path / "slurm.conf")
    assert [line.entries[0][0] for line in conf.lines] == ["A", "NodeName", "B"]
    assert conf.lines[1].place.file.endswith("nodes.conf")
    assert len(conf.files) == 2


def test_a_copied_file_is_found_by_its_name_alone(tmp_path):
    (tmp_path / "nodes.conf").write_text("NodeName=n1\n")
    (tmp_path / "slurm.conf").write_text("include /etc/slurm/nodes.conf\n")
    assert read_conf(tmp_path / "slurm.conf").lines[0].entries == (("NodeName", "n1"),)


def test_a_file_outside_the_folder_is_not_read(tmp_path):
    (tmp_path / "secret").write_text("A=1\n")
    (tmp_path / "in").mkdir()
    conf = tmp_path / "in" / "slurm.conf"
    conf.write_text("Include ../secret\n")
    with pytest.raises(InputError, match=r"line 1: Include '../secret': no such file in .* copy"):
        read_conf(conf)


def test_a_file_that_includes_itself_is_refused(tmp_path):
    conf = tmp_path / "slurm.conf"
    conf.write_text("Include slurm.conf\n")
    with pytest.raises(InputError, match=r"Include 'slurm.conf': includes itself"):
        read_conf(conf)


def test_a_long_ring_of_includes_ends(tmp_path):
    for i in range(20):
        (tmp_path / f"c{i}").write_text(f"Include c{i + 1}\n")
    (tmp_path / "c20").write_text("A=1\n")
    with pytest.raises(InputError, match="more than 10 files include each other"):
        read_conf(tmp_path / "c0")
