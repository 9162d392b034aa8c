"""The models of walltimes by name, with their parameters, as files and options give them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from noctule.errors import InputError
from noctule.synthetic.distributions import number, numbers, refusal
from noctule.synthetic.estimates import (
    FactorWalltimes,
    NoWalltimes,
    UniformWalltimes,
    WalltimeModel,
)
from noctule.synthetic.tsafrir import TsafrirWalltimes

WALLTIME_MODELS: Mapping[str, tuple[Callable[..., WalltimeModel], tuple[str, ...]]] = {
    "none": (NoWalltimes, ()),
    "exact": (FactorWalltimes, ()),
    "factor": (FactorWalltimes, ("factor",)),
    "uniform": (UniformWalltimes, ("f",)),
    "tsafrir": (TsafrirWalltimes, ("maximum", "popular_share", "n_values", "popular")),
}
_LISTS = ("popular",)
_WHOLE = ("n_values",)


def walltime_model(where: str, name: object, parameters: Mapping[str, Any]) -> WalltimeModel:
    """Return the model of this name; a parameter that it does not have is refused."""
    if not isinstance(name, str) or name not in WALLTIME_MODELS:
        known = ", ".join(WALLTIME_MODELS)
        raise InputError(f"{where}: model: got {name!r}, expected one of {known}")
    make, known_parameters = WALLTIME_MODELS[name]
    values: dict[str, Any] = {}
    for key in parameters:
        if key not in known_parameters:
            expected = ", ".join(known_parameters) or "none"
            raise InputError(f"{where}: {key}: no parameter of {name}, which has {expected}")
        values[key] = _value(where, parameters, key)
    return make(**values)


def _value(where: str, parameters: Mapping[str, Any], key: str) -> Any:
    if key in _LISTS:
        return numbers(where, parameters, key)
    if key in _WHOLE:
        if type(parameters[key]) is not int:
            raise refusal(where, parameters, key, "a whole number")
        return parameters[key]
    return number(where, parameters, key)
