"""noctule policies."""

from __future__ import annotations

import click

from noctule.commands.options import output_options
from noctule.console import ExitCode, speaking


@click.command()
@output_options
def policies(*, as_json: bool, quiet: bool) -> ExitCode:
    """List the policies that --policy knows by name, and their parameters."""
    from noctule.printing.runs import policies_result

    with speaking(as_json=as_json, quiet=quiet) as console:
        console.show(policies_result())
    return ExitCode.OK
