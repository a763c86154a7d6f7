"""Whatever stands in a file, the answer is code or located errors."""

import random
import re

from conftest import ROOT, generated

import pytest
from test_golden import BACKWARD, OPS

from api_gen.backward import parse_backward
from api_gen.emit import render
from api_gen.errors import SpecError, SpecErrors
from api_gen.functions import Functions
from api_gen.missing import complete, report
from api_gen.parse import parse_ops

OTHERS = [(ROOT / "tests/api/declared" / name).read_text(encoding="utf-8")
          for name in ("ops.yaml", "backward.yaml")]


def mutated(text: str, rng: random.Random) -> str:
    """A word or sign less, doubled elsewhere, or in the place of another."""
    pieces = re.findall(r"\w+|\s+|[^\w\s]", text)
    words = [i for i, piece in enumerate(pieces) if not piece.isspace()]
    a, b = rng.choice(words), rng.choice(words)
    pieces[a], pieces[b] = rng.choice([("", pieces[b]), (pieces[b],) * 2, (pieces[b], pieces[a])])
    return "".join(pieces)


@pytest.mark.parametrize("seed", range(4))
def test_mutated_files_give_code_or_located_errors(seed):
    rng = random.Random(seed)
    for _ in range(15):
        ops, backward = rng.choice([(mutated(OPS, rng), BACKWARD), (OPS, mutated(BACKWARD, rng))])
        try:
            generated(ops, backward)
        except (SpecError, SpecErrors) as error:
            assert re.match(r"(ops|backward)\.yaml:\d+: ", str(error))


@pytest.mark.parametrize("seed", range(4))
def test_mutated_files_of_others_give_a_report_and_code_or_located_errors(seed):
    rng = random.Random(seed)
    functions = Functions([ROOT / "phi/infermeta", ROOT / "distributed/spmd/rules"],
                          [ROOT / "api/autograd/composite.h"])
    for _ in range(15):
        ops, backward = rng.choice([(mutated(OTHERS[0], rng), OTHERS[1]),
                                    (OTHERS[0], mutated(OTHERS[1], rng))])
        faults, gradient_faults = [], []
        parts = complete(parse_ops([("ops.yaml", ops)], faults),
                         parse_backward([("backward.yaml", backward)], gradient_faults), functions)
        for line in report(parts, faults, gradient_faults).splitlines()[:-2]:
            assert re.match(r"(ops|backward)\.yaml:\d+: ", line)
        try:
            render(parts.ops, parts.gradients, functions=functions)
        except SpecErrors as error:
            assert re.match(r"(ops|backward)\.yaml:\d+: ", str(error))
