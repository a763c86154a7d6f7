"""Shared helpers: YAML text in, operators, errors or generated functions out."""

import functools
import re
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

# pylint: disable=wrong-import-position
from api_gen.backward import check_forward_references, parse_backward
from api_gen.emit import render, render_python
from api_gen.errors import SpecError, SpecErrors
from api_gen.parse import parse_ops


def ops_of(text: str):
    return parse_ops([("ops.yaml", dedent(text))])


def op_of(text: str):
    (op,) = ops_of(text)
    return op


def gradients_of(text: str):
    return parse_backward([("backward.yaml", dedent(text))])


def generated(text: str, backward: str = "") -> dict[str, str]:
    """Texts by path below the folders of generated files: "ops/relu.cc", "kernels/ops.h"."""
    ops, gradients = ops_of(text), gradients_of(backward)
    if gradients:
        check_forward_references(ops, gradients)
    return {path.split("generated/")[1]: text for path, text in render(ops, gradients).texts.items()}


def generated_for_python(text: str, backward: str = "") -> dict[str, str]:
    """Texts by path: "generated/ops_0.cc", "autophi/ops.pyi"."""
    texts = render_python(ops_of(text), gradients_of(backward)).texts
    return {path.removeprefix("python/"): text for path, text in texts.items()}


def render_our_entries() -> dict[str, str]:
    """Texts by path of all that this project's own entries give."""
    ops, backward = ([(f"yaml/{folder}/{file.name}", file.read_text(encoding="utf-8"))
                      for file in sorted((ROOT / "yaml" / folder).glob("*.yaml"))]
                     for folder in ("ops", "backward"))
    return render(parse_ops(ops), parse_backward(backward)).texts


our_texts = functools.cache(render_our_entries)  # which takes seconds


def definitions(texts: dict[str, str]) -> dict[str, str]:
    """Generated functions and classes by name, `intermediate::` in front where they are there."""
    found = {}
    for file, text in texts.items():
        if not re.match(r"ops/\w+\.cc", file):
            continue
        for part in re.split(r"\n(?=// Generated for )", text)[1:]:
            body = part[:re.search(r"^(\};?|\w.* \})$", part, re.MULTILINE).end()] + "\n"
            name = re.search(r"class (\w+)|(\w+)\(", body.split("\n", 1)[1])
            hidden = "}  // namespace intermediate" in part
            found[("intermediate::" if hidden else "") + (name[1] or name[2])] = body
    return found


def fails(text: str, expected: str, ops: str = None) -> None:
    """`text` (of a backward file where `ops` is given) gives exactly this one error."""
    with pytest.raises((SpecError, SpecErrors)) as caught:
        if ops is None:
            render(ops_of(text))
        else:
            forward, gradients = ops_of(ops), gradients_of(text)
            check_forward_references(forward, gradients)
            render(forward, gradients)
    assert str(caught.value) == expected
