"""Every public name is in the pages about Python: what a module lists in `__all__` is public."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest
from public_names import MODULES, documented, explains_itself

import noctule
from noctule.policies import NativePolicy
from noctule.policy import JobList, View, ViewJob

# written by hand, as the core does not tell its types in a way that Sphinx reads
NATIVE = {
    "noctule.View": View,
    "noctule.policy.ViewJob": ViewJob,
    "noctule.policy.JobList": JobList,
    "noctule.HostSet": noctule.HostSet,
    "noctule.policies.NativePolicy": NativePolicy,
}


def test_the_modules_that_users_need_are_public():
    names = {module.__name__.removeprefix("noctule.") for module in MODULES}
    wanted = (
        "metrics messages policy policies schedule workload platform network timeseries "
        "user_metrics plots traces sessions lateness synthetic archive formats formats.saving "
        "formats.platforms run simulation errors testing testing.strategies"
    )
    assert set(wanted.split()) - names == set()


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_name_is_documented(module):
    pages = documented()
    objects = [
        value for value in pages.values() if callable(value) or isinstance(value, ModuleType)
    ]
    missing = []
    for name in module.__all__:
        value = getattr(module, name)
        by_path = f"{module.__name__}.{name}" in pages
        if not by_path and not any(value is other for other in objects):
            missing.append(name)
    assert missing == []


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_name_explains_itself(module):
    for name in module.__all__:
        value = getattr(module, name)
        if explains_itself(value):
            assert value.__doc__, name


def test_everything_that_is_documented_is_public():
    public = {id(getattr(module, name)) for module in MODULES for name in module.__all__}
    for name, value in documented().items():
        if name.rpartition(".")[0] in documented() or isinstance(value, ModuleType):
            continue
        if name != "noctule.synthetic.lublin.Stream":  # constants of that one model
            assert id(value) in public, name


@pytest.mark.parametrize("name", NATIVE)
def test_the_members_of_a_native_class_are_documented(name):
    members = {member for member in dir(NATIVE[name]) if not member.startswith("_")}
    told = {path.rpartition(".")[2] for path in documented() if path.startswith(f"{name}.")}
    assert told == members


def test_an_unknown_public_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'noctule' has no attribute 'nothing'"):
        _ = noctule.nothing


def test_importing_the_package_imports_nothing_else():
    code = "import noctule, sys; print([m for m in sys.modules if m.startswith('noctule.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
