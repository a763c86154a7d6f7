"""Modules, layers, layouts and losses.

    class Net(nn.Module):
        def __init__(self, d):
            super().__init__()
            self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

        def forward(self, x):
            return x + self.down(ap.relu(self.up(x)))

    net = Net(64)
    nn.shard(net, mesh, nn.Layout().parameters("up.weight", {"tp": dist.Shard(1)}))

Write a module without a mesh. Its parameters are named by path ("up.weight"). Their initial values depend only on
that name and the model's seed, and are computed at first use; each rank computes its shards only.
"""

from autophi._autophi.checkpoint import load_model as load
from autophi._autophi.checkpoint import save_model as save
from autophi._autophi.nn import (MLP, Attention, BatchNorm2d, Buffer, Conv2d, Dropout, Embedding, Head,
                                 LayerNorm, Layout, Linear, Module, Parameter, PositionEmbedding, RMSNorm,
                                 Sequential, SwiGLU, TransformerBlock, cross_entropy, data_parallel, init,
                                 mean_squared_error, models, shard, stages, tensor_parallel, transformer_layout)
from autophi.nn._containers import ModuleDict, ModuleList

__all__ = ["Attention", "BatchNorm2d", "Buffer", "Conv2d", "Dropout", "Embedding", "Head", "LayerNorm", "Layout",
           "Linear", "MLP", "Module", "ModuleDict", "ModuleList", "Parameter", "PositionEmbedding", "RMSNorm",
           "Sequential", "SwiGLU", "TransformerBlock", "cross_entropy", "data_parallel", "init", "load",
           "mean_squared_error", "models", "save", "shard", "stages", "tensor_parallel", "transformer_layout"]
