"""Optimizers and learning rates.

    optimizer = optim.AdamW(model, lr=optim.cosine(3e-4, total_steps=1000, warmup_steps=20), grad_clip=1.0)
    nn.cross_entropy(model(ids), labels).backward()
    optimizer.step()

Updates are fused and run where the parameters are stored. States have the placements of the parameters, or are
sharded over data-parallel ranks (ZeRO). 16-bit parameters have float32 master weights.
"""

from autophi._autophi.optim import Rate, constant, cosine, steps
from autophi.optim._optimizers import SGD, Adam, AdamW, Momentum, Optimizer, StepOutcome

__all__ = ["Adam", "AdamW", "Momentum", "Optimizer", "Rate", "SGD", "StepOutcome", "constant", "cosine", "steps"]
