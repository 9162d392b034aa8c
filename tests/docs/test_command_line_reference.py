"""Every command and every option of `noctule` is in the reference.

A command has a section in cli.md, or a line in the table of its group there. Its options are in a
table of that section, or in one of the page to which the section or the line leads: under a heading
with the name of the command or of its group, or where no such heading is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest
from reference_pages import names, page, section, table, tables, titles

from noctule.batsim.options4 import BATSIM_OPTIONS, OWN_OPTIONS
from noctule.batsim.options5 import ALL_OPTIONS
from noctule.cli import COMMANDS, cli

Path = tuple[str, ...]


def leaves(command: click.Command, path: Path = ()) -> Iterator[tuple[Path, click.Command]]:
    """Yield all commands that are no groups with their names, as in ("trace", "stats")."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        yield from leaves(command.get_command(context, name), (*path, name))


LEAVES = dict(leaves(cli))
# programs that are imitated: their options are not Click's
FOREIGN = {("batsim",): (*BATSIM_OPTIONS, *OWN_OPTIONS), ("batsim5",): ALL_OPTIONS}
GROUPS = sorted({path[0] for path in LEAVES if len(path) > 1})


def options_of(path: Path) -> list[click.Option]:
    return [p for p in LEAVES[path].params if isinstance(p, click.Option)]


def heading(name: str, *words: str) -> str | None:
    """Return the heading of a page for a command, if there is one."""
    wanted = ["noctule", *words]
    matching = [title for title in titles(name) if title.split()[: len(wanted)] == wanted]
    assert len(matching) <= 1
    return matching[0] if matching else None


def apart(name: str) -> str:
    """Return a page without what belongs to one command."""
    text = page(name)
    for title in titles(name):
        if title.startswith("noctule "):
            text = text.replace(section(name, title), "")
    return text


def texts_about(path: Path) -> list[str]:
    """Return the parts of the reference that are about a command."""
    top = section("cli", heading("cli", path[0]))
    if len(path) == 1:
        return [top]
    begins = f"`noctule {' '.join(path)}"
    (row,) = [row for row in table(top, "command") if re.match(rf"{begins}\b", row[0])]
    introduction = top.partition("|")[0]
    texts = []
    for name in sorted(set(re.findall(r"\((\w+)\.md[#)]", introduction + row[1]))):
        own = heading(name, *path) or heading(name, path[0])
        texts += [apart(name), section(name, own) if own else ""]
    return texts


def options_told(text: str) -> set[str]:
    """Return the options in the tables of a text."""
    return {name for row in tables(text, "option") for name in names(row[0])}


def common_options() -> set[str]:
    """Return the options that all commands have."""
    return options_told(page("cli").partition("\n## ")[0])


def test_all_commands_are_found():
    # a walk that finds nothing would find nothing missing
    assert len(LEAVES) == 71
    assert set(COMMANDS) == {path[0] for path in LEAVES}


def test_every_command_has_a_section():
    sections = [title.split()[1] for title in titles("cli") if title.startswith("noctule ")]
    assert sorted(sections) == sorted(COMMANDS)


@pytest.mark.parametrize("group", GROUPS)
def test_the_commands_of_a_group_are_in_its_table(group):
    rows = table(section("cli", heading("cli", group)), "command")
    listed = [row[0].split()[2].strip("`") for row in rows]
    assert sorted(listed) == sorted(path[1] for path in LEAVES if path[0] == group)


@pytest.mark.parametrize("path", [path for path in LEAVES if path not in FOREIGN], ids=" ".join)
def test_every_option_is_documented(path):
    told = common_options().union(*map(options_told, texts_about(path)))
    texts = [text for option in options_of(path) for text in option.opts]
    assert {"--json", "--quiet"} <= set(texts)
    assert [text for text in texts if text not in told] == []


@pytest.mark.parametrize("path", FOREIGN, ids=" ".join)
def test_the_options_of_a_program_that_is_imitated_are_on_a_page_of_their_own(path):
    known = {
        name
        for option in FOREIGN[path]
        for name in (option.name, option.short, option.alias)
        if name
    }
    assert options_told(page(path[0])) == known


OWN_SECTIONS = {
    path: (name, title)
    for path in LEAVES
    for name in ("cli", "platforms", "traces", "campaigns", "slurm")
    if (title := heading(name, *path)) is not None
}


@pytest.mark.parametrize("path", OWN_SECTIONS, ids=" ".join)
def test_no_option_is_documented_that_there_is_not(path):
    told = {word for word in names(section(*OWN_SECTIONS[path])) if word.startswith("--")}
    known = {text for option in options_of(path) for text in option.opts}
    assert told - known - common_options() == set()


def test_commands_with_many_options_have_sections_of_their_own():
    shared = {path[0] for path in LEAVES if path not in OWN_SECTIONS}
    assert shared == {"generate", "plot"}
