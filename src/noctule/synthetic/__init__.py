"""Workloads drawn from models, from an explicit seed: one model a module.

    from noctule import synthetic
    workload = synthetic.lublin(10_000, seed=1, n_hosts=128, walltimes=synthetic.TsafrirWalltimes())

The same seed gives the same jobs, on any machine and with any version of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from noctule.synthetic.arrivals import Arrivals, Bursts, Cycle, cycle_named
from noctule.synthetic.batsim2016 import batsim2016
from noctule.synthetic.cirne import cirne, coefficients_of
from noctule.synthetic.cirne_coefficients import Accuracy, Coefficients, LogUniform
from noctule.synthetic.cirne_fit import fit_cirne
from noctule.synthetic.estimates import (
    FactorWalltimes,
    NoWalltimes,
    UniformWalltimes,
    WalltimeModel,
    Walltimes,
)
from noctule.synthetic.failures import Failures
from noctule.synthetic.independent import independent
from noctule.synthetic.locality2017 import locality2017
from noctule.synthetic.lublin import lublin
from noctule.synthetic.programs import Program, Programs, read_programs
from noctule.synthetic.tsafrir import TsafrirWalltimes
from noctule.workload import Workload

__all__ = [
    "MODELS",
    "Accuracy",
    "Arrivals",
    "Bursts",
    "Coefficients",
    "Cycle",
    "FactorWalltimes",
    "Failures",
    "LogUniform",
    "NoWalltimes",
    "Program",
    "Programs",
    "TsafrirWalltimes",
    "UniformWalltimes",
    "WalltimeModel",
    "Walltimes",
    "batsim2016",
    "cirne",
    "coefficients_of",
    "cycle_named",
    "fit_cirne",
    "independent",
    "locality2017",
    "lublin",
    "read_programs",
]

#: The models by name: the function, and what it draws.
MODELS: Mapping[str, tuple[Callable[..., Workload], str]] = {
    "batsim2016": (batsim2016, "the workloads with which Batsim was validated"),
    "cirne": (cirne, "jobs after Cirne and Berman, with requested times and cancellations"),
    "independent": (independent, "fields drawn independently, as a TOML file describes them"),
    "locality2017": (locality2017, "communicating jobs, with which locality was studied"),
    "lublin": (lublin, "Lublin and Feitelson's model of rigid jobs on supercomputers"),
}
