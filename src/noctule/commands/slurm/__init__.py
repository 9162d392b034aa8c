"""noctule slurm: what belongs to Slurm, one module a command."""

from __future__ import annotations

import click

from noctule.commands.slurm.anonymise import anonymise
from noctule.commands.slurm.backtest import backtest
from noctule.commands.slurm.compare import compare
from noctule.commands.slurm.explain import explain
from noctule.commands.slurm.export import export
from noctule.commands.slurm.import_ import import_
from noctule.commands.slurm.replay import replay
from noctule.commands.slurm.whatif import whatif


@click.group()
def slurm() -> None:
    """Model a Slurm from its own files, and compare the model with the real one."""


for _command in (import_, export, anonymise, backtest, whatif, explain, compare, replay):
    slurm.add_command(_command)
