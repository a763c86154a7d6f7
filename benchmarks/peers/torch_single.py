"""A step of the reference GPT on one process, in PyTorch; the base of the parallel layouts."""

import torch
from torch import nn

from peers.reference import GptShape, Training
from peers.torch_gpt import Gpt, loss_of


class Single:
    """The whole model on the whole batch.

    `step(ids, labels)` takes the global batch on every rank and returns this rank's loss, or None
    where it has none (a pipeline stage before the last).
    """

    device = "cpu"

    def __init__(self, shape: GptShape, training: Training, compiled: bool, autocast: bool):
        self.training = training
        self.autocast = torch.autocast(self.device, dtype=torch.bfloat16, enabled=autocast)
        self.model = self.build(shape)
        self.optimizer = self.make_optimizer()
        self.loss = torch.compile(self.forward) if compiled else self.forward

    def build(self, shape: GptShape) -> nn.Module:
        return Gpt(shape)

    def make_optimizer(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameter_groups(), lr=self.training.learning_rate,
                                 betas=self.training.betas, eps=self.training.eps,
                                 weight_decay=self.training.weight_decay, fused=True)

    def parameter_groups(self) -> list[dict]:
        return [{"params": list(self.model.parameters())}]

    def forward(self, ids, labels):
        return loss_of(self.model(ids), labels)

    def step(self, ids, labels):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.forward_backward(ids, labels)
        self.clip_gradients()
        self.optimizer.step()
        return loss

    def forward_backward(self, ids, labels):
        with self.autocast:
            loss = self.loss(ids, labels)
        loss.backward()
        return loss.detach()

    def clip_gradients(self) -> None:
        nn.utils.clip_grad_norm_(self.model.parameters(), self.training.grad_clip, foreach=True)
