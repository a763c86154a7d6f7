"""Files as large as Paddle's are read whole, and code is made of all that they have."""

from pathlib import Path

from conftest import ROOT

import many_entries

from api_gen.backward import parse_backward
from api_gen.emit import render
from api_gen.functions import Functions
from api_gen.missing import complete, report
from api_gen.parse import parse_ops


def test_as_many_entries_as_paddle_has():
    faults, gradient_faults = [], []
    ops, gradients = (text for text in many_entries.texts())
    functions = Functions([ROOT / "phi/infermeta", ROOT / "distributed/spmd/rules"],
                          [ROOT / "api/autograd/composite.h", ROOT / "api/autograd/composites"],
                          [ROOT / "phi/kernels", ROOT / "distributed/kernels"])
    parts = complete(parse_ops([("ops.yaml", ops)], faults),
                     parse_backward([("backward.yaml", gradients)], gradient_faults), functions)
    counts = report(parts, faults, gradient_faults).splitlines()[-2:]
    assert [line.split(":")[0] for line in counts] == [f"{many_entries.OPS} forward entries",
                                                       f"{many_entries.GRADIENTS} backward entries"]
    assert all(line.endswith(" 0 not understood") for line in counts)
    missing = [entry for entry in (*parts.ops, *parts.gradients) if entry.missing]
    assert all("declares" in entry.missing for entry in missing), "there is no form without code"
    texts = render(parts.ops, parts.gradients, functions=functions.without_kernels(), attributes_are_taken=False).texts
    sources = [Path(path) for path in texts if path.endswith(".cc") and Path(path).parent.name in ("batches", "rules")]
    assert len(sources) < 70, "operators are compiled together"
