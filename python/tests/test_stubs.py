"""The stubs of what is bound by hand say what there is, and nothing else."""

import ast
import importlib
from pathlib import Path

import pytest

import autophi as ap

HOME = Path(ap.__file__).parent
MODULES = ["nn", "nn.init", "nn.models", "optim", "training", "capture", "checkpoint", "data", "generation"]
# What every class has, or says in the docstring of its class.
EVERYWHERE = {"__doc__", "__reduce_ex__", "__module__", "__dict__", "__weakref__", "__repr__", "__str__", "__init_subclass__",
              "__new__", "__static_attributes__", "__firstlineno__"}


def stub_of(name):
    path = HOME / "_autophi" / Path(*name.split("."))
    file = path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi")
    return ast.parse(file.read_text(encoding="utf-8"))


def told(body):
    """Functions and classes of a stub, by name."""
    return {node.name: node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


@pytest.mark.parametrize("name", MODULES)
def test_stubs_have_what_there_is(name):
    module = ap._autophi
    for part in name.split("."):
        module = getattr(module, part)
    own = {key: value for key, value in vars(module).items()
           if not key.startswith("_") and not isinstance(value, type(ap))}
    stub = told(stub_of(name).body)
    assert set(stub) == set(own)
    for key, node in stub.items():
        if isinstance(node, ast.ClassDef):
            said = set(told(node.body))
            # A class that Python does not make has an __init__ that says so.
            assert said | {"__init__"} == set(vars(own[key])) - EVERYWHERE | {"__init__"}, key
            assert own[key].__doc__ or key == "Options", key
        else:
            assert own[key].__doc__.startswith(f"{key}("), key


def test_python_modules_are_there_to_be_read():
    for name in ("nn", "optim", "training", "data", "generation", "checkpoint", "jobs", "capturing", "explaining", "plan"):
        assert importlib.import_module(f"autophi.{name}").__doc__
