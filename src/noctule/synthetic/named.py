"""Models by name, with their parameters as a file gives them: numbers, words, paths."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from noctule.errors import InputError
from noctule.formats import load_workload
from noctule.synthetic import MODELS, Arrivals, Bursts, cycle_named, read_programs
from noctule.synthetic.walltime_models import walltime_model
from noctule.workload import Workload

# parameters that are files, and how each is read
FILES: Mapping[str, Callable[[str], Any]] = {
    "runtimes": read_programs,
    "description": str,
    "jobs_from": load_workload,
    "coefficients": str,
}
# those that a log of the archive may stand for; who draws often may read it once
LOGS = ("jobs_from",)
_ARRIVALS = ("cycle", "burst_size", "burst_spacing")
_WALLTIMES = ("walltime", "walltime_factor", "max_walltime")
# keywords of the models that no file can give
_OBJECTS = ("seed", "streams", "arrivals", "walltimes")


def parameters_of(model: str) -> tuple[str, ...]:
    """Return the names of the parameters that a model takes."""
    own = [name for name in inspect.signature(MODELS[model][0]).parameters if name not in _OBJECTS]
    return (*own, *_ARRIVALS, *_WALLTIMES)


def check_parameters(where: str, model: str, parameters: Mapping[str, Any]) -> None:
    """Refuse a model that is not known, and parameters that it does not have or that it lacks."""
    if model not in MODELS:
        raise InputError(f"{where}: model: got {model!r}, expected one of {', '.join(MODELS)}")
    known = parameters_of(model)
    for name in parameters:
        if name not in known:
            raise InputError(
                f"{where}: {name}: no parameter of {model}, which has {', '.join(known)}"
            )
    for name, parameter in inspect.signature(MODELS[model][0]).parameters.items():
        needed = parameter.default is inspect.Parameter.empty and name not in _OBJECTS
        if needed and name not in parameters:
            raise InputError(f"{where}: {name}: missing, expected it for {model}")


def draw(where: str, model: str, parameters: Mapping[str, Any], *, seed: int) -> Workload:
    """Draw a workload; the parameters in FILES are paths, those in LOGS may be workloads."""
    check_parameters(where, model, parameters)
    given = {name: value for name, value in parameters.items() if name not in _ARRIVALS}
    keywords = {name: value for name, value in given.items() if name not in _WALLTIMES}
    for name, read in FILES.items():
        if name in keywords and not isinstance(keywords[name], Workload):
            keywords[name] = read(keywords[name])
    arrivals = _arrivals(where, parameters)
    if arrivals is not None:
        keywords["arrivals"] = arrivals
    if "walltime" in parameters:
        keywords["walltimes"] = _walltimes(where, parameters)
    elif "walltime_factor" in parameters or "max_walltime" in parameters:
        raise InputError(f"{where}: walltime: missing, expected a model of walltimes")
    try:
        return MODELS[model][0](**keywords, seed=seed)
    except TypeError as error:
        raise InputError(f"{where}: {model}: {error}") from None


def _arrivals(where: str, parameters: Mapping[str, Any]) -> Arrivals | None:
    cycle, size, spacing = (parameters.get(name) for name in _ARRIVALS)
    if spacing is not None and size is None:
        raise InputError(f"{where}: burst_size: missing, expected it with burst_spacing")
    if cycle is None and size is None:
        return None
    return Arrivals(
        None if cycle is None else cycle_named(cycle),
        None if size is None else Bursts(size, 1.0 if spacing is None else spacing),
    )


def _walltimes(where: str, parameters: Mapping[str, Any]) -> Any:
    name, factor, most = (parameters.get(key) for key in _WALLTIMES)
    given = {"f" if name == "uniform" else "factor": factor, "maximum": most}
    return walltime_model(
        f"{where}: walltime", name, {key: v for key, v in given.items() if v is not None}
    )
