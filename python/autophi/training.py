"""Steps of a model, laid out on a mesh or plain, with pipelines, captured programs and checkpoints.

    trainer = training.Trainer(model, nn.cross_entropy, optim.AdamW(lr=3e-3, grad_clip=1.0), micro_batches=2)
    trainer.run(40, lambda number: batches[number])

The program is the same on one process and on any mesh, and so are the losses.
"""

from autophi import _autophi
from autophi._autophi.training import Checkpointer, Memory, StepResult, limit_rank, load, save
from autophi.optim import AdamW


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
    memory         Memory(device, host, disk): limits of the captured program
    trains         False: steps are forward passes alone, and give losses
    on_nonfinite   'stop': an error that names rank and operator; 'skip': the step is left out

    ValueError for what does not go together: dropout in a captured step, limits without capture.
    """

    def __init__(self, model, loss, optimizer=None, *, micro_batches=1, schedule="1f1b", recompute="none",
                 capture=False, memory=None, trains=True, on_nonfinite="stop", max_left_out=20):
        optimizer = optimizer or AdamW()
        options = _autophi.training.Options(optimizer.config, optimizer.rate, micro_batches, schedule, recompute,
                                            capture, trains, on_nonfinite, max_left_out, memory or Memory())
        super().__init__(model, loss, options)
