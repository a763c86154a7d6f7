"""Predictions of a step and plans of a model, on a machine that need not be here.

    from autophi import plan
    prediction = plan.simulate(make_step, mesh, machine="h100_80g", items=1024 * 256)
    prediction.step_seconds, prediction.ranks[0]["peak_tensor_bytes"]

    planned = plan.plan_model(lambda: Net(64), nn.cross_entropy, ids, labels, devices=16, machine="h100_80g")
    nn.shard(net, planned.mesh, planned.layout)
    trainer = training.Trainer(net, nn.cross_entropy, **planned.trainer)

docs/predict.md says what is modelled, and lists the keys of a prediction and of machine files; docs/plan.md says how a
plan is found.
"""

import dataclasses
import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from autophi import _autophi
from autophi._autophi import ProcessMesh, Tensor
from autophi._autophi.capture import PlannerOptions as _PlannerOptions
from autophi._autophi.capture import plan_model as _plan_model
from autophi._autophi.capture import simulate as _simulate
from autophi.optim import AdamW, Optimizer
from autophi.training import options_of


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


@dataclasses.dataclass(frozen=True)
class ModelPlan:
    """The layout of a model that plan_model() chose. str() formats the plans and the reasons.

    mesh      dims dp, pp and tp, in the best order
    layout    for nn.shard(model, mesh, layout)
    trainer   keyword arguments of training.Trainer: micro_batches, schedule, recompute
    reasons   a line for each parameter and activation that is placed along tp: why, and the next best placement
    plans     the best layouts, fastest first, each with its prediction
    """

    mesh: ProcessMesh
    layout: _autophi.nn.Layout
    trainer: dict[str, Any]
    reasons: list[str]
    plans: list[dict[str, Any]]
    _table: str

    @property
    def step_seconds(self) -> float:
        """The predicted time of a step."""
        return float(self.plans[0]["predicted"]["step_seconds"])

    def __str__(self) -> str:
        return self._table


def plan_model(make_model: Callable[[], _autophi.nn.Module], loss: Callable[[Tensor, Tensor], Tensor], inputs: Tensor,
               labels: Tensor, *, devices: int, machine: str | os.PathLike[str], optimizer: Optimizer | None = None,
               memory: int = 0, blocks: str = "block*", pins: _autophi.nn.Layout | None = None,
               fixed: Mapping[str, object] | None = None, finalists: int = 10, time_limit_s: float = 0,
               capture: bool = False, make_short: Callable[[int], _autophi.nn.Module] | None = None) -> ModelPlan:
    """Choose how a model is laid out over `devices` devices, so that its step is short and every rank has enough memory.

    The model need not say how it is split: the placements along tp are searched, and everything else follows from the
    operators' rules. `make_model()` makes it, on no mesh; nothing is computed or sent.

    inputs, labels   of a step, of all micro-batches and ranks; dim 0 is the samples. Placeholders will do.
    machine          a machine file, or a name such as "h100_80g"
    optimizer        as that of the trainer
    memory           bytes that tensors of a rank can have; 0: those of the machine
    blocks           pattern of the links of an nn.Sequential that a pipeline distributes
    pins             rows of a layout that are not chosen
    fixed            values that are not chosen: {"tp": 2, "schedule": "1f1b"}. Keys: dp, pp, tp, schedule, chunks,
                     micro_batches, zero_stage, recompute, mesh_order
    finalists        the number of layouts that are simulated as a whole
    time_limit_s     seconds after which the best plan so far is returned; 0: no limit
    capture          whether the trainer captures its steps
    make_short       makes the model with so many blocks, three or less. Layouts are then tried on that, so that the time
                     to plan hardly depends on the number of blocks.

    ValueError for a value that cannot be fixed; LookupError for an unknown machine, with the known names; MemoryError if
    no layout fits, with rank and bytes.
    """
    trainer_options = options_of(optimizer or AdamW(), capture=capture)
    texts = [f"{key}={str(value).lower()}" for key, value in (fixed or {}).items()]
    found = _plan_model(make_model, make_short, loss, inputs, labels, devices, os.fspath(machine), trainer_options, blocks,
                        pins or _autophi.nn.Layout(), texts, _PlannerOptions(memory, finalists, time_limit_s))
    return ModelPlan(found["mesh"], found["layout"], found["trainer"], found["reasons"],
                     json.loads(found["plans"])["plans"], found["table"])
