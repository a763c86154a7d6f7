"""Training steps of a model, sharded over a mesh or plain, with pipelines, captured programs and checkpoints.

    trainer = training.Trainer(model, nn.cross_entropy, optim.AdamW(lr=3e-3, grad_clip=1.0), micro_batches=2)
    trainer.run(40, lambda number: batches[number])

The program and the losses are the same on one process and on any mesh.
"""

from collections.abc import Callable, Sequence

from autophi import _autophi, _progress
from autophi._autophi.training import Checkpointer, Memory, StepResult, limit_rank, load, micro_batch, save
from autophi.optim import AdamW, Optimizer

Batch = tuple[_autophi.Tensor, _autophi.Tensor]


class Progress(_autophi.training.Progress):
    """Progress of rank 0: a bar on a terminal and in a notebook, lines elsewhere, like `autophi run`.

        progress = training.Progress(steps=1000)
        for step in range(1, 1001):
            ...
            progress.done(step, loss.item())

    steps            number of steps; `done` counts from 1
    tokens_per_step  shown as tokens per second; 0: not shown
    first            number of steps completed earlier
    """

    def __init__(self, steps: int, tokens_per_step: int = 0, *, first: int = 0) -> None:
        style = "silent" if _autophi.distributed.rank() else "bar" if _progress.shows_bar() else "lines"
        super().__init__(style, steps, tokens_per_step, first, _progress.write)


def _tokens(batches: Batch | Sequence[Batch]) -> int:
    """Return the number of tokens of a step whose inputs are token ids; else 0."""
    pairs = [batches] if isinstance(batches, tuple) else batches
    return sum(inputs.size for inputs, _ in pairs if inputs.dtype in (_autophi.int32, _autophi.int64))


def options_of(optimizer: Optimizer, *, micro_batches: int = 1, schedule: str = "1f1b", recompute: str = "none",
               capture: bool = False, graphs: bool = True, memory: Memory | None = None, trains: bool = True,
               on_nonfinite: str = "stop", max_left_out: int = 20) -> _autophi.training.Options:
    """Return the options of a Trainer."""
    return _autophi.training.Options(optimizer.config, optimizer.rate, micro_batches, schedule, recompute, capture,
                                     graphs, trains, on_nonfinite, max_left_out, memory or Memory())


class Trainer(_autophi.training.Trainer):
    """Runs training steps: forward and backward for each micro-batch, then a parameter update.

    model          a module; shard it (nn.shard) before
    loss           function of (output, labels) that returns a 0-D mean: nn.cross_entropy or a custom one
    optimizer      of autophi.optim, without parameters: only its hyperparameters and learning rates are used
    micro_batches  number of pieces of a batch that run one after the other; their gradients are averaged
    schedule       of a pipeline: gpipe, 1f1b, interleaved, zb_h1, zb_h2
    recompute      'none', 'selective' (cores of Attention), 'full' (links of Sequential.repeat)
    capture        capture the first step into a program that runs all steps
    graphs         False: on GPUs that program's steps are launched one by one, not as CUDA graphs
    memory         Memory(device, host, disk): limits of the captured program
    trains         False: steps are forward passes only and return losses
    on_nonfinite   'stop': an error that names rank and operator; 'skip': the update is skipped

    ValueError for options that cannot be combined: dropout in a captured step, limits without capture.
    """

    def __init__(self, model: _autophi.nn.Module, loss: Callable[[_autophi.Tensor, _autophi.Tensor], _autophi.Tensor],
                 optimizer: Optimizer | None = None, *, micro_batches: int = 1, schedule: str = "1f1b",
                 recompute: str = "none", capture: bool = False, graphs: bool = True, memory: Memory | None = None,
                 trains: bool = True, on_nonfinite: str = "stop", max_left_out: int = 20) -> None:
        options = options_of(optimizer or AdamW(), micro_batches=micro_batches, schedule=schedule, recompute=recompute,
                             capture=capture, graphs=graphs, memory=memory, trains=trains, on_nonfinite=on_nonfinite,
                             max_left_out=max_left_out)
        super().__init__(model, loss, options)

    def run(self, steps: int, batches: Callable[[int], Batch | Sequence[Batch]], *, progress: bool = False) -> None:
        """Run `steps` steps. batches(number) returns the batches of step next_batch: 1, 2, ..

        `progress`: rank 0 prints loss, time and, for integer inputs, tokens per second, as a bar or lines.
        """
        if not progress:
            return super().run(steps, batches)
        last, shown = self.steps + steps, None
        while self.steps < last:
            given = batches(self.next_batch)
            shown = shown or Progress(last, _tokens(given), first=self.steps)
            result = self.step(given)
            shown.done(self.steps, result.loss)
        return None


__all__ = ["Checkpointer", "Memory", "Progress", "StepResult", "Trainer", "limit_rank", "load", "micro_batch", "save"]
