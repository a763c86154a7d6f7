"""A step of the reference GPT on several processes, in PyTorch: one class per layout.

Apart from torch_single.py because these imports cost memory that one process does not need.
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel

from peers.configurations import MICRO_BATCHES
from peers.reference import GptShape
from peers.torch_gpt import Gpt, loss_of
from peers.torch_single import Single


class DataParallel(Single):
    """DistributedDataParallel: each rank has its rows of the batch."""

    def build(self, shape: GptShape) -> nn.Module:
        return DistributedDataParallel(Gpt(shape), gradient_as_bucket_view=True, static_graph=True)

    def forward_backward(self, ids, labels):
        rank, ranks = dist.get_rank(), dist.get_world_size()
        return super().forward_backward(ids.chunk(ranks)[rank], labels.chunk(ranks)[rank])


class _SplitModel(Single):
    """What layouts share whose ranks hold different parameters: the norm over all of them."""

    def clip_gradients(self) -> None:
        own, whole = self.gradients()
        norm = nn.utils.get_total_norm(own, foreach=True) ** 2
        dist.all_reduce(norm)
        if whole:
            norm += nn.utils.get_total_norm(whole, foreach=True) ** 2
        scale = torch.clamp(self.training.grad_clip / (norm.sqrt() + 1e-6), max=1.0)
        torch._foreach_mul_(own + whole, scale)

    def gradients(self) -> tuple[list, list]:
        """Gradients that only this rank holds, and those that every rank holds alike."""
        raise NotImplementedError


class TensorParallel(_SplitModel):
    """DTensor: heads and MLP columns split (Megatron-LM, Shoeybi et al. 2019).

    Embeddings and head stay whole on each rank: they are 1 % of the work, and splitting a
    vocabulary of 256 costs more communication than it saves.
    """

    PLAN = {"blocks.*.qkv": ColwiseParallel, "blocks.*.projection": RowwiseParallel,
            "blocks.*.up": ColwiseParallel, "blocks.*.down": RowwiseParallel}

    def build(self, shape: GptShape) -> nn.Module:
        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
        torch.manual_seed(0)  # the parameters that stay whole must be alike
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


class Pipeline(_SplitModel):
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


LAYOUTS = {"dp": DataParallel, "tp": TensorParallel, "pp": Pipeline}
