"""noctule platform."""

from __future__ import annotations

import click

from noctule.commands.options import Command, output_options
from noctule.console import ExitCode, Result, speaking


@click.group()
def platform() -> None:
    """Show a platform file, or convert it."""


def _host_options(command: Command) -> Command:
    """Add how hosts are told apart and numbered."""
    for option in (
        click.option(
            "--role",
            "roles",
            multiple=True,
            metavar="HOST=ROLE",
            help="compute, storage or master; may be repeated.",
        ),
        click.option(
            "--master-host",
            default="master_host",
            show_default=True,
            metavar="NAME",
            help="Host that runs no jobs.",
        ),
        click.option(
            "--host-order",
            type=click.Choice(["natural", "lexicographic"]),
            default="natural",
            show_default=True,
            help="Order of the names that gives hosts their ids.",
        ),
    ):
        command = option(command)
    return command


@platform.command()
@click.argument("file")
@click.option("-o", "--output", metavar="PICTURE", help="Draw the zones: .svg, .pdf or .png.")
@click.option(
    "--route", nargs=2, metavar="SRC DST", help="Show the links between two hosts instead."
)
@_host_options
@output_options
def show(
    *,
    file: str,
    output: str | None,
    route: tuple[str, str] | None,
    host_order: str,
    master_host: str,
    roles: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Show the hosts of FILE as a table, and its zones as a tree and as a picture."""
    from noctule.formats.platforms import load_platform
    from noctule.printing.platforms import platform_result, route_result

    with speaking(as_json=as_json, quiet=quiet) as console:
        loaded = load_platform(
            file, host_order=host_order, master_host=master_host, roles=_roles(roles)
        )
        console.talk.notes(loaded.notes)
        if output is not None:
            from noctule.plots.style import check_format, save_figure
            from noctule.plots.zones import zones_figure

            check_format(output)
            save_figure(zones_figure(loaded), output)
            console.talk.note(f"{output}: written")
        console.show(route_result(loaded, *route) if route else platform_result(loaded))
    return ExitCode.OK


@platform.command()
@click.argument("file")
@click.argument("output")
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
@output_options
def convert(*, file: str, output: str, force: bool, as_json: bool, quiet: bool) -> ExitCode:
    """Write the platform in FILE as OUTPUT: SimGrid's .xml, or our short form in .toml or .json."""
    from noctule.formats.platforms import load_platform, save_platform

    with speaking(as_json=as_json, quiet=quiet) as console:
        loaded = load_platform(file)
        console.talk.notes(loaded.notes)
        save_platform(loaded, output, force=force)
        data = {"file": file, "output": output, "n_hosts": loaded.n_hosts}
        console.show(Result(data, lines=[f"{output}: written"]))
    return ExitCode.OK


def _roles(texts: tuple[str, ...]) -> dict[str, str]:
    roles = {}
    for text in texts:
        host, sign, role = text.rpartition("=")
        if not (host and sign):
            raise click.BadParameter(f"{text!r} is not HOST=ROLE", param_hint="--role")
        roles[host] = role
    return roles
