"""Whatever stands in a file, the answer is code or located errors."""

import random
import re

from conftest import generated

import pytest
from test_golden import BACKWARD, OPS

from api_gen.errors import SpecError, SpecErrors


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
