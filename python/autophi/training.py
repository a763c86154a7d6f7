"""Steps of a model, laid out on a mesh or plain, with pipelines, captured programs and checkpoints.

    trainer = training.Trainer(model, nn.cross_entropy, optim.AdamW(lr=3e-3, grad_clip=1.0), micro_batches=2)
    trainer.run(40, lambda number: batches[number])

The program is the same on one process and on any mesh, and so are the losses.
"""

from collections.abc import Callable, Sequence

from autophi import _autophi, _progress
from autophi._autophi.training import Checkpointer, Memory, StepResult, limit_rank, load, micro_batch, save
from autophi.optim import AdamW, Optimizer

Batch = tuple[_autophi.Tensor, _autophi.Tensor]


class Progress(_autophi.training.Progress):
    """A bar on a terminal and in a notebook, lines elsewhere, as `autophi run` shows them; of rank 0 alone.

        progress = training.Progress(steps=1000)
        for step in range(1, 1001):
            ...
            progress.done(step, loss.item())

    steps            how many there are; `done` counts from 1
    tokens_per_step  shown as tokens per second; 0: not shown
    first            steps that were done at another time
    """

    def __init__(self, steps: int, tokens_per_step: int = 0, *, first: int = 0) -> None:
        style = "silent" if _autophi.distributed.rank() else "bar" if _progress.shows_bar() else "lines"
        super().__init__(style, steps, tokens_per_step, first, _progress.write)


def _tokens(batches: Batch | Sequence[Batch]) -> int:
    """Of a step whose inputs are ids of tokens; else 0."""
    pairs = [batches] if isinstance(batches, tuple) else batches
    return sum(inputs.size for inputs, _ in pairs if inputs.dtype in (_autophi.int32, _autophi.int64))


class Trainer(_autophi.training.Trainer):
    """Takes each step's micro-batches through the model (forward, and backward where it trains) and updates
    the parameters.

    model          a module; lay it out (nn.shard) before
    loss           function of (output, labels) that gives a 0-D mean: nn.cross_entropy, or one of your own
    optimizer      of autophi.optim, without parameters: its numbers and learning rates count
    micro_batches  parts of a batch that go through one after the other; their gradients are averaged
    schedule       of a pipeline: gpipe, 1f1b, interleaved, zb_h1, zb_h2
    recompute      'none', 'selective' (cores of Attention), 'full' (links of Sequential.repeat)
    capture        the first step becomes a program, and all steps run that
    graphs         False: on GPUs that program's steps are launched one by one, not as CUDA graphs
    memory         Memory(device, host, disk): limits of the captured program
    trains         False: steps are forward passes alone, and give losses
    on_nonfinite   'stop': an error that names rank and operator; 'skip': the step is left out

    ValueError for what does not go together: dropout in a captured step, limits without capture.
    """

    def __init__(self, model: _autophi.nn.Module, loss: Callable[[_autophi.Tensor, _autophi.Tensor], _autophi.Tensor],
                 optimizer: Optimizer | None = None, *, micro_batches: int = 1, schedule: str = "1f1b",
                 recompute: str = "none", capture: bool = False, graphs: bool = True, memory: Memory | None = None,
                 trains: bool = True, on_nonfinite: str = "stop", max_left_out: int = 20) -> None:
        optimizer = optimizer or AdamW()
        options = _autophi.training.Options(optimizer.config, optimizer.rate, micro_batches, schedule, recompute,
                                            capture, graphs, trains, on_nonfinite, max_left_out, memory or Memory())
        super().__init__(model, loss, options)

    def run(self, steps: int, batches: Callable[[int], Batch | Sequence[Batch]], *, progress: bool = False) -> None:
        """`steps` steps; batches(number) gives those of step next_batch: 1, 2, .. `progress`: a bar, or lines, of rank 0
        shows loss, time and tokens per second, where inputs are whole numbers."""
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
