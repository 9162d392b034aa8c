"""noctule sessions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from noctule.commands.options import output_options
from noctule.commands.trace_options import processors_option
from noctule.console import Console, ExitCode, speaking

if TYPE_CHECKING:
    from noctule.sessions import Sessions
    from noctule.workload import Label


@click.command()
@click.argument("path")
@click.option("--threshold", metavar="TIME", help="A pause as long as that ends a session: 60min.")
@click.option(
    "--cut",
    type=click.Choice(["arrival", "last", "max"]),
    help="Pause since the previous submission (default), the previous end, or the latest end.",
)
@processors_option
@click.option("-o", "--output", metavar="DIR", help="Write the sessions, a file a user.")
@click.option("--force", is_flag=True, help="Replace sessions that are there already.")
@click.option("--users", "n_users", type=click.IntRange(min=0), default=10, show_default=True)
@click.option("--user", metavar="USER", help="Whose sessions the picture shows.")
@click.option("--picture", metavar="FILE", help="Draw one user's graph: .svg, .pdf or .png.")
@output_options
def sessions(
    *,
    path: str,
    threshold: str | None,
    cut: str | None,
    processors: str,
    output: str | None,
    force: bool,
    n_users: int,
    user: str | None,
    picture: str | None,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Find the sessions of users in PATH, a log, or read them from PATH, a folder of files."""
    from noctule.printing.sessions import describe_sessions, sessions_result
    from noctule.sessions import save_sessions, session_stats

    _check_outputs(output, user, picture, force=force)
    with speaking(as_json=as_json, quiet=quiet) as console:
        if Path(path).is_dir():
            found = _read(path, threshold, cut)
        else:
            found = _find(console, path, threshold, cut or "arrival", processors)
        console.talk.notes(describe_sessions(found))
        if picture is not None:
            _draw(console, found, user, picture)
        stats = session_stats(found)
        files = [] if output is None else save_sessions(found, output, force=force)
        result = sessions_result(path, found, stats, n_users=n_users, output=output, files=files)
        console.show(result)
    return ExitCode.OK


def _check_outputs(
    output: str | None, user: str | None, picture: str | None, *, force: bool
) -> None:
    """Refuse what could not be written, before anything takes long."""
    from noctule.plots.style import check_format
    from noctule.sessions.writing import check_sessions_folder

    if (user is None) != (picture is None):
        raise click.UsageError("--user and --picture: expected both, or none of them")
    if picture is not None:
        check_format(picture)
    if output is not None:
        check_sessions_folder(output, force=force)


def _read(path: str, threshold: str | None, cut: str | None) -> Sessions:
    from noctule.sessions import load_sessions

    if threshold is not None or cut is not None:
        raise click.UsageError("--threshold and --cut are for logs, got a folder of session files")
    return load_sessions(path)


def _find(
    console: Console, path: str, threshold: str | None, cut: str, processors: str
) -> Sessions:
    from noctule.errors import InputError
    from noctule.formats import load_workload
    from noctule.printing.traces import describe_reading
    from noctule.sessions import find_sessions
    from noctule.units import DURATION

    if threshold is None:
        raise click.UsageError("Missing option '--threshold', which a log needs.")
    found = DURATION.split(threshold)
    if found is None:
        raise InputError(f"--threshold: got {threshold!r}, expected a time >= 0 such as 60min")
    workload = load_workload(path, processors=processors)
    console.talk.notes(describe_reading(workload, replayed=True))
    return find_sessions(workload, threshold=found[0], cut=cut)


def _draw(console: Console, found: Sessions, user: str | None, picture: str) -> None:
    from noctule.plots import save_figure
    from noctule.plots.session_boxes import sessions_figure

    save_figure(sessions_figure(found, _label(found, user)), picture)
    console.talk.note(f"{picture}: written")


def _label(found: Sessions, text: str | None) -> Label:
    """Return the user of that name, be it a number or a text."""
    return next((user for user in found.record.users if str(user) == text), text)
