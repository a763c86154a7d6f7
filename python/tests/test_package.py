"""The package: what it is made of, what it imports, and its stubs."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import autophi as ap

PACKAGE = Path(ap.__file__).parent


def stub(name):
    return ast.parse((PACKAGE / name).read_text(encoding="utf-8"))


def test_the_import_brings_no_numpy():
    text = "import sys, autophi, autophi.distributed; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False" and done.stderr == ""


def test_stubs_have_every_operator():
    functions = {node.name: node for node in stub("ops.pyi").body if isinstance(node, ast.FunctionDef)}
    assert set(functions) - {"load_ops"} == set(ap.ops.__all__)
    for name, node in functions.items():
        given = getattr(ap.ops, name)
        assert ast.get_docstring(node) or name == "load_ops"
        if name not in ("load_ops", "arange"):  # which are written in Python
            arguments = [argument.arg for argument in node.args.args]
            assert given.__text_signature__.count("=") == len(node.args.defaults)
            assert [text.split("=")[0].strip() for text in given.__text_signature__.strip("()").split(", ")
                    if text.split("=")[0].strip().isidentifier()] == arguments, name
    (methods,) = (node for node in stub("_methods.pyi").body if isinstance(node, ast.ClassDef))
    for node in methods.body:
        assert getattr(ap.Tensor, node.name) is getattr(ap, node.name)


@pytest.mark.parametrize("name", ["autophi", "autophi.nn", "autophi.optim", "autophi.distributed", "autophi.data",
                                  "autophi.training", "autophi.checkpoint", "autophi.generation", "autophi.jobs", "autophi.spmd", "autophi.testing"])
def test_modules_say_what_they_export(name):
    """Type checkers take nothing else for a part of the package; and all of it is there."""
    module = importlib.import_module(name)
    assert all(hasattr(module, each) for each in module.__all__)
    assert len(set(module.__all__)) == len(module.__all__) and (PACKAGE / "py.typed").exists()


def test_stubs_have_what_tensor_has():
    (tensor,) = (node for node in stub("_autophi/__init__.pyi").body
                 if isinstance(node, ast.ClassDef) and node.name == "Tensor")
    told = {node.name for node in tensor.body if isinstance(node, ast.FunctionDef)}
    told |= {node.target.id for node in tensor.body if isinstance(node, ast.AnnAssign)}
    own = {name for name, value in vars(ap.Tensor).items() if not isinstance(value, type(ap.add))}
    hidden = {"__doc__", "__module__", "__new__", "__array_ufunc__", "__reduce__", "__repr__", "__delitem__",
              "__getbuffer__"}
    reflected = {name for name in own if name.startswith(("__i", "__r")) and name not in told}
    assert own - told - hidden - reflected == set()
    assert told - own - {"__buffer__"} == set()
