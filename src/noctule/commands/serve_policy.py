"""noctule serve-policy."""

from __future__ import annotations

import click

from noctule.commands.options import output_options
from noctule.console import ExitCode, speaking


@click.command("serve-policy")
@click.argument("policy", metavar="POLICY")
@click.option(
    "--endpoint",
    default="tcp://127.0.0.1:28000",
    show_default=True,
    help="Where to wait for the simulator.",
)
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the policy; may be given several times.",
)
@click.option("--timeout", type=float, metavar="S", help="Seconds to wait for a request.")
@output_options
def serve_policy(
    *,
    policy: str,
    endpoint: str,
    options: tuple[str, ...],
    timeout: float | None,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Let POLICY (a name, or FILE.py:CLASS) decide for a simulator that speaks Batsim's protocol.

    Ends with the simulation.
    """
    from noctule.policy import PolicySpec
    from noctule.printing.runs import served_result
    from noctule.remote.endpoint import Answering
    from noctule.remote.serving import make_served, serve

    spec = PolicySpec.parse(policy)
    for option in options:
        spec = spec.with_option(option)
    made = make_served(spec)
    with speaking(as_json=as_json, quiet=quiet) as console:
        with Answering(endpoint, timeout=timeout) as wire:
            if wire.warning is not None:
                console.talk.note(f"warning: {wire.warning}")
            console.talk.note(f"{endpoint}: {spec} waits for a simulator")
            server = serve(made, wire)
        console.show(served_result(str(spec), server))
    return ExitCode.OK
