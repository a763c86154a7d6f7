"""A step of the reference GPT on several processes, in PyTorch: data parallel."""

import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from peers.reference import GptShape
from peers.torch_gpt import Gpt
from peers.torch_single import Single


class DataParallel(Single):
    """DistributedDataParallel: each rank has its rows of the batch."""

    def build(self, shape: GptShape) -> nn.Module:
        return DistributedDataParallel(Gpt(shape), gradient_as_bucket_view=True, static_graph=True)

    def forward_backward(self, ids, labels):
        rank, ranks = dist.get_rank(), dist.get_world_size()
        return super().forward_backward(ids.chunk(ranks)[rank], labels.chunk(ranks)[rank])
