"""noctule slurm: what belongs to Slurm, one module a command."""

from __future__ import annotations

import click

from noctule.commands.slurm_anonymise import anonymise
from noctule.commands.slurm_backtest import backtest
from noctule.commands.slurm_compare import compare
from noctule.commands.slurm_explain import explain
from noctule.commands.slurm_export import export
from noctule.commands.slurm_import import import_
from noctule.commands.slurm_replay import replay
from noctule.commands.slurm_whatif import whatif


@click.group()
def slurm() -> None:
    """Model a Slurm from its own files, and compare the model with the real one."""


for _command in (import_, export, anonymise, backtest, whatif, explain, compare, replay):
    slurm.add_command(_command)
