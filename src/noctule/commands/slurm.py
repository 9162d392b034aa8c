"""noctule slurm: what belongs to Slurm, one module a command."""

from __future__ import annotations

import click

from noctule.commands.slurm_compare import compare
from noctule.commands.slurm_replay import replay


@click.group()
def slurm() -> None:
    """Model a Slurm from its own files, and compare the model with the real one."""


slurm.add_command(compare)
slurm.add_command(replay)
