"""The reference GPT in PyTorch, written to be fast: fused attention, one matmul for QKV."""

import math
import zlib

import torch
import torch.nn.functional as F
from torch import nn

from peers.reference import GptShape

_WEIGHT_STD = 0.02


class Block(nn.Module):
    def __init__(self, shape: GptShape):
        super().__init__()
        d, hidden = shape.d_model, shape.d_model * shape.mlp_ratio
        self.head_size = d // shape.heads
        self.norm_attention = nn.LayerNorm(d)
        self.qkv = nn.Linear(d, 3 * d)
        self.projection = nn.Linear(d, d)
        self.norm_mlp = nn.LayerNorm(d)
        self.up = nn.Linear(d, hidden)
        self.down = nn.Linear(hidden, d)

    def forward(self, x):
        x = x + self.attention(self.norm_attention(x))
        return x + self.down(F.gelu(self.up(self.norm_mlp(x)), approximate="tanh"))

    def attention(self, x):
        batch, seq, _ = x.shape
        # Columns are ordered head by head, so that a tensor-parallel split by columns splits heads.
        qkv = self.qkv(x).view(batch, seq, -1, 3, self.head_size)
        q, k, v = (part.transpose(1, 2) for part in qkv.unbind(3))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.projection(mixed.transpose(1, 2).reshape(batch, seq, -1))


class Gpt(nn.Module):
    """Layers [first, end) of the model: with the embeddings if it begins there, with the head if it
    ends there. All of it by default; a subset is a pipeline stage.

    Accepts ids [batch, seq] (or the hidden state of the stage before), returns logits (or the hidden
    state), [batch, seq, vocab (or d_model)].
    """

    def __init__(self, shape: GptShape, first: int = 0, end: int | None = None):
        super().__init__()
        end = shape.layers if end is None else end
        d = shape.d_model
        self.tokens = nn.Embedding(shape.vocab, d) if first == 0 else None
        self.positions = nn.Parameter(torch.empty(shape.seq_len, d)) if first == 0 else None
        self.blocks = nn.ModuleDict({str(i): Block(shape) for i in range(first, end)})
        last = end == shape.layers
        self.final_norm = nn.LayerNorm(d) if last else None
        self.head = nn.Linear(d, shape.vocab, bias=False) if last else None
        self._initialize(shape)

    def _initialize(self, shape: GptShape) -> None:
        """A parameter's values follow its name, so that every layout begins with the same model."""
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif "norm" not in name:
                # GPT-2 scales what adds to the residual (Radford et al. 2019).
                residual = name.endswith(("projection.weight", "down.weight"))
                std = _WEIGHT_STD / math.sqrt(2 * shape.layers) if residual else _WEIGHT_STD
                generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
                nn.init.normal_(parameter, std=std, generator=generator)

    def forward(self, x):
        if self.tokens is not None:
            x = self.tokens(x) + self.positions[: x.shape[1]]
        for block in self.blocks.values():
            x = block(x)
        return x if self.head is None else self.head(self.final_norm(x))


def loss_of(logits, labels):
    """Mean cross entropy: logits [batch, seq, vocab], labels [batch, seq]."""
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())
