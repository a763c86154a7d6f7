"""Code shared by tensor and pipeline parallel: the norm of gradients of which each rank owns some."""

import torch
import torch.distributed as dist
from torch import nn

from peers.torch_single import Single


class SplitModel(Single):
    """A layout whose ranks own different parameters."""

    def clip_gradients(self) -> None:
        own, whole = self.gradients()
        norm = nn.utils.get_total_norm(own, foreach=True) ** 2
        dist.all_reduce(norm)
        if whole:
            norm += nn.utils.get_total_norm(whole, foreach=True) ** 2
        scale = torch.clamp(self.training.grad_clip / (norm.sqrt() + 1e-6), max=1.0)
        torch._foreach_mul_(own + whole, scale)

    def gradients(self) -> tuple[list, list]:
        """Gradients that only this rank owns, and those that are equal on every rank."""
        raise NotImplementedError
