"""A Llama in PyTorch, written to be fast: fused attention, one matmul for QKV, one for gate and up."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from peers.torch_single import Single

_WEIGHT_STD = 0.02
_ROPE_BASE = 10000.0
_NORM_EPS = 1e-5


@dataclass(frozen=True)
class LlamaShape:
    vocab: int
    seq_len: int
    d_model: int
    layers: int
    heads: int
    kv_heads: int
    ffn: int

    @property
    def head_size(self) -> int:
        return self.d_model // self.heads


def rotations(shape: LlamaShape):
    """Cosines and sines [seq_len, head_size], of both halves of a head."""
    frequencies = _ROPE_BASE ** (-torch.arange(0, shape.head_size, 2) / shape.head_size)
    angles = torch.outer(torch.arange(shape.seq_len), frequencies)
    return tuple(torch.cat([part, part], dim=-1) for part in (angles.cos(), angles.sin()))


def rotated(x, cosines, sines):
    """Halves of a head turn, where Autophi turns pairs of neighbours: columns of weights in another order."""
    first, second = x.chunk(2, dim=-1)
    return x * cosines + torch.cat([-second, first], dim=-1) * sines


class Block(nn.Module):
    def __init__(self, shape: LlamaShape):
        super().__init__()
        d, self.shape = shape.d_model, shape
        self.norm_attention = nn.RMSNorm(d, eps=_NORM_EPS)
        self.qkv = nn.Linear(d, (shape.heads + 2 * shape.kv_heads) * shape.head_size, bias=False)
        self.projection = nn.Linear(d, d, bias=False)
        self.norm_mlp = nn.RMSNorm(d, eps=_NORM_EPS)
        self.gate_up = nn.Linear(d, 2 * shape.ffn, bias=False)
        self.down = nn.Linear(shape.ffn, d, bias=False)

    def forward(self, x, cosines, sines):
        x = x + self.attention(self.norm_attention(x), cosines, sines)
        gate, up = self.gate_up(self.norm_mlp(x)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)

    def attention(self, x, cosines, sines):
        shape = self.shape
        qkv = self.qkv(x).unflatten(-1, (-1, shape.head_size)).transpose(1, 2)
        q, k, v = qkv.split([shape.heads, shape.kv_heads, shape.kv_heads], dim=1)
        cosines, sines = cosines.to(q.dtype), sines.to(q.dtype)
        q, k = rotated(q, cosines, sines), rotated(k, cosines, sines)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True,
                                               enable_gqa=shape.kv_heads < shape.heads)
        return self.projection(mixed.transpose(1, 2).flatten(2))


class Llama(nn.Module):
    """Accepts ids [batch, seq_len], returns logits [batch, seq_len, vocab]."""

    def __init__(self, shape: LlamaShape):
        super().__init__()
        self.tokens = nn.Embedding(shape.vocab, shape.d_model)
        self.blocks = nn.ModuleList([Block(shape) for _ in range(shape.layers)])
        self.final_norm = nn.RMSNorm(shape.d_model, eps=_NORM_EPS)
        self.head = nn.Linear(shape.d_model, shape.vocab, bias=False)
        for parameter in self.parameters():
            if parameter.ndim > 1:
                nn.init.normal_(parameter, std=_WEIGHT_STD)
        for name, table in zip(("cosines", "sines"), rotations(shape)):
            self.register_buffer(name, table, persistent=False)

    def forward(self, ids):
        x = self.tokens(ids)
        for block in self.blocks:
            x = block(x, self.cosines, self.sines)
        return self.head(self.final_norm(x))


class LlamaStep(Single):
    """A step of the Llama on one device, with float32 master weights."""

    def __init__(self, shape: LlamaShape, training, device: str):
        self.device = device
        super().__init__(shape, training, compiled=False, autocast=True)

    def build(self, shape: LlamaShape) -> nn.Module:
        with torch.device(self.device):
            return Llama(shape)
