"""A step of the reference GPT on several processes, in PyTorch: tensor parallel."""

import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from peers.reference import GptShape
from peers.torch_gpt import Gpt
from peers.torch_split import SplitModel


class TensorParallel(SplitModel):
    """DTensor: heads and MLP columns split (Megatron-LM, Shoeybi et al. 2019).

    Embeddings and head are replicated on each rank: they are 1 % of the work, and splitting a
    vocabulary of 256 costs more communication than it saves.
    """

    PLAN = {"blocks.*.qkv": ColwiseParallel, "blocks.*.projection": RowwiseParallel,
            "blocks.*.up": ColwiseParallel, "blocks.*.down": RowwiseParallel}

    def build(self, shape: GptShape) -> nn.Module:
        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
        plan = {name: style() for name, style in self.PLAN.items()}
        return parallelize_module(Gpt(shape), mesh, plan)

    def parameter_groups(self) -> list[dict]:
        split = [p for p in self.model.parameters() if isinstance(p, DTensor)]
        whole = [p for p in self.model.parameters() if not isinstance(p, DTensor)]
        return [{"params": split}, {"params": whole}]  # one fused call takes no mixture

    def gradients(self) -> tuple[list, list]:
        own, whole = [], []
        for gradient in (parameter.grad for parameter in self.model.parameters()):
            if not isinstance(gradient, DTensor):
                whole.append(gradient)
            elif gradient.placements[0].is_shard():
                own.append(gradient.to_local())
            else:  # the bias of a row-split Linear
                whole.append(gradient.to_local())
        return own, whole
