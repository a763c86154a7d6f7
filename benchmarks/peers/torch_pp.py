"""A step of the reference GPT on several processes, in PyTorch: pipeline parallel."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

from peers.configurations import MICRO_BATCHES
from peers.reference import GptShape
from peers.torch_gpt import Gpt, loss_of
from peers.torch_split import SplitModel


class Pipeline(SplitModel):
    """A stage per rank, layers split evenly, 1F1B."""

    def build(self, shape: GptShape) -> nn.Module:
        rank, ranks = dist.get_rank(), dist.get_world_size()
        part = Gpt(shape, shape.layers * rank // ranks, shape.layers * (rank + 1) // ranks)
        stage = PipelineStage(part, rank, ranks, torch.device("cpu"))
        self.is_first, self.is_last = stage.is_first, stage.is_last
        self.schedule = Schedule1F1B(stage, MICRO_BATCHES, loss_fn=loss_of)
        return part

    def forward_backward(self, ids, labels):
        losses = []
        inputs = (ids,) if self.is_first else ()
        with self.autocast:
            self.schedule.step(*inputs, target=labels if self.is_last else None, losses=losses)
        return torch.stack(losses).mean().detach() if self.is_last else None

    def gradients(self) -> tuple[list, list]:
        return [parameter.grad for parameter in self.model.parameters()], []
