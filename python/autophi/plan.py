"""Predictions of a step: how long it takes and what each rank holds and sends, on a machine that need not be here.

    from autophi import plan
    prediction = plan.simulate(make_step, mesh, machine="h100_80g", items=1024 * 256)
    prediction.step_seconds, prediction.ranks[0]["peak_tensor_bytes"]
    print(prediction)

docs/predict.md says what is modelled, and lists the keys of a prediction and of machine files.
"""

import dataclasses
import json
import os
from collections.abc import Callable
from typing import Any

from autophi._autophi import ProcessMesh
from autophi._autophi.capture import simulate as _simulate


@dataclasses.dataclass(frozen=True)
class Prediction:
    """A predicted step. str() formats a table.

    step_seconds    the time of a step
    tokens_per_s    items of a step by that time
    ranks           for each rank, or each class of equal ranks of a large mesh, what it computes, sends and holds
    values          all of it, with the keys of docs/predict.md
    """

    step_seconds: float
    tokens_per_s: float
    ranks: list[dict[str, Any]]
    values: dict[str, Any]
    _table: str

    def __str__(self) -> str:
        return self._table


def simulate(make_step: Callable[[], Callable[[], Any]], mesh: ProcessMesh, *, machine: str | os.PathLike[str],
             items: int = 0, steps: int = 2) -> Prediction:
    """Predict a step of the ranks of `mesh`, on the machine of a file, or of a name such as "h100_80g".

    `make_step()` runs in a dry world for each rank that is played: it makes the model, its optimizer and placeholders of
    inputs, and returns the function of a step. Nothing is computed or sent. One rank is played for all those that do
    the same.

    `mesh` has the ranks 0, 1, ... of the job. `items`: tokens or images of a step, for tokens_per_s. `steps`: of the
    job; bytes are of all of them, times of one after the first.

    Errors are those of the step; LookupError for an unknown machine, with the known names; ValueError for a wrong
    machine file, with file and line, and for a make_step that returns no function.
    """
    text, table = _simulate(make_step, mesh, os.fspath(machine), items, steps)
    values = json.loads(text)
    return Prediction(values["step_seconds"], values["tokens_per_s"], values["ranks"], values, table)
