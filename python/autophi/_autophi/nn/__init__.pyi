# Modules, layers and layouts, for type checkers.
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self, TypeAlias, overload

from autophi._autophi import DTypeLike, Placement, ProcessMesh, Tensor
from autophi._autophi import dtype as DType
from autophi._autophi.nn import init as init
from autophi._autophi.nn import models as models

# First values of a parameter: of nn.init, a tensor, or a function of shape, dtype and seed.
Init: TypeAlias = init.Initialiser | Tensor | Callable[[tuple[int, ...], DType, int], Tensor]
Along: TypeAlias = Mapping[str, Placement]

# The attribute is a Tensor from then on.
class Parameter(Tensor):
    """A parameter declaration. Assigning one to an attribute of a Module declares a parameter."""

    def __init__(self, shape: Sequence[int] | Tensor, init: Init | None = None) -> None: ...

class Buffer(Tensor):
    """A buffer declaration. Assigning one to an attribute of a Module declares a buffer.

    A buffer is a tensor of the model that is saved with it and is not trained.
    """

    def __init__(self, value: Tensor) -> None: ...

class Module:
    """A module of a model: parameters, submodules, and forward()."""

    def __init__(self) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...
    def __delattr__(self, name: str) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def forward(self, *args: Any, **kwargs: Any) -> Any: ...
    def add_module(self, name: str, module: Module, *, flat: bool = False) -> None: ...
    def parameters(self) -> list[Tensor]: ...
    def named_parameters(self) -> list[tuple[str, Tensor]]: ...
    def named_buffers(self) -> list[tuple[str, Tensor]]: ...
    def modules(self) -> list[Module]: ...
    def named_modules(self) -> list[tuple[str, Module]]: ...
    def children(self) -> list[Module]: ...
    def named_children(self) -> list[tuple[str, Module]]: ...
    @property
    def path(self) -> str: ...
    @property
    def num_parameters(self) -> int: ...
    @property
    def parameter_bytes_here(self) -> int: ...
    @property
    def process_mesh(self) -> ProcessMesh | None: ...
    def state_dict(self) -> dict[str, Tensor]: ...
    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> None: ...
    def train(self, mode: bool = True) -> Self: ...
    def eval(self) -> Self: ...
    @property
    def training(self) -> bool: ...
    def to(self, dtype: DTypeLike) -> Self: ...
    def initialise(self, seed: int, dtype: DTypeLike | None = None) -> Self: ...
    @property
    def seed(self) -> int: ...
    @property
    def dtype(self) -> DType: ...
    def set_group(self, pattern: str, *, decays: bool | None = None, rate: float = 1.0,
                  trained: bool = True) -> None: ...

class Linear(Module):
    """Linear layer: x @ weight + bias.

    x [.., in] -> [.., out]. Parameters: `weight` [in, out] and `bias` [out].
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True,
                 init: Init | None = None) -> None: ...

class Embedding(Module):
    """Embedding lookup in a table [count, d].

    ids int64 [..] -> [.., d]. The parameter has the name of the module.
    """

    def __init__(self, count: int, d: int, init: Init | None = None) -> None: ...

class PositionEmbedding(Module):
    """Learned position embedding: adds rows of a table [positions, d] to x.

    x [B,S,d] -> [B,S,d].
    """

    def __init__(self, positions: int, d: int, init: Init | None = None) -> None: ...

class Head(Module):
    """Language model head.

    x [.., d] -> logits [.., count] in float32. Head(embedding) is tied: it uses the embedding's table, transposed, and
    has no parameter.
    """

    @overload
    def __init__(self, d: int, count: int, init: Init | None = None) -> None: ...
    @overload
    def __init__(self, embedding: Embedding) -> None: ...

class Conv2d(Module):
    """2-D convolution with windows of size x size.

    x [B,in,H,W] -> [B,out,..]. Parameters: `weight` [out, in / groups, size, size] and `bias` [out].
    """

    def __init__(self, in_channels: int, out_channels: int, size: int, stride: int = 1, padding: int = 0,
                 dilation: int = 1, groups: int = 1, bias: bool = True, init: Init | None = None) -> None: ...

class LayerNorm(Module):
    """Layer normalisation: (x - mean) / sqrt(variance + epsilon) * scale + shift over the last dim.

    Parameters: `scale` and `shift` [d].
    """

    def __init__(self, d: int, epsilon: float = 1e-05) -> None: ...

class RMSNorm(Module):
    """RMS normalisation: x / sqrt(mean(x^2) + epsilon) * scale over the last dim.

    Parameter: `scale` [d].
    """

    def __init__(self, d: int, epsilon: float = 1e-05) -> None: ...

class BatchNorm2d(Module):
    """Normalisation of each channel of x [B,c,..] over the global batch.

    Statistics do not depend on how the batch is sharded. In eval() running statistics are used.
    """

    def __init__(self, channels: int, momentum: float = 0.9, epsilon: float = 1e-05) -> None: ...

class Dropout(Module):
    """Dropout: in training mode each number is 0 with probability p, else x / (1 - p).

    Each call draws a new mask, the same on every mesh. In a Trainer, it depends on the model's seed and the micro-batch
    number; elsewhere on the rank's generator (autophi.seed).
    """

    def __init__(self, p: float = 0.5) -> None: ...

class Attention(Module):
    """Multi-head attention, x [B,S,d_model] -> [B,S,d_model].

    `kv_heads`: number of key and value heads (0: same as heads); `rope_base`: rotary positions; `fused`: one matmul for
    q, k and v.
    """

    def __init__(self, d_model: int, heads: int, *, kv_heads: int = 0, fused: bool = False,
                 qkv_bias: bool = True, projection_bias: bool = True, rope_base: float | None = None,
                 causal: bool = True, init: Init | None = None,
                 projection_init: Init | None = None) -> None: ...

class MLP(Module):
    """MLP: down(activation(up(x))), x [.., d] -> [.., d] with `hidden` units.

    `activation`: the name of an operator, or a function of a tensor.
    """

    def __init__(self, d: int, hidden: int, activation: str | Callable[[Tensor], Tensor] = "gelu_tanh",
                 bias: bool = True, init: Init | None = None, down_init: Init | None = None) -> None: ...

class SwiGLU(Module):
    """SwiGLU MLP: down(silu(gate(x)) * up(x)), x [.., d] -> [.., d]."""

    def __init__(self, d: int, hidden: int, bias: bool = False, init: Init | None = None,
                 down_init: Init | None = None) -> None: ...

class TransformerBlock(Module):
    """Transformer block: h + dropout(mlp(norm(h))) with h = x + dropout(attention(norm(x))).

    x [B,S,d_model] -> [B,S,d_model]. `norm`: 'layer_norm' or 'rms_norm'; `mlp`: 'mlp' or 'swiglu'; `hidden`: 0 for
    4 d_model; `residual_init`: initialiser of the weights whose matmul output is added to x. Other options are those of
    Attention.
    """

    def __init__(self, d_model: int, heads: int, *, norm: str = "layer_norm", epsilon: float = 1e-05,
                 mlp: str = "mlp", hidden: int = 0,
                 activation: str | Callable[[Tensor], Tensor] = "gelu_tanh", bias: bool = True,
                 dropout: float = 0.0, kv_heads: int = 0, fused: bool = False, qkv_bias: bool = True,
                 projection_bias: bool = True, rope_base: float | None = None, causal: bool = True,
                 init: Init | None = None, residual_init: Init | None = None) -> None: ...

class Sequential(Module):
    """Layers that run one after the other, called links. A pipeline splits them into stages."""

    def __init__(self, *args: Module) -> None: ...
    def append(self, name: str, link: Module, *, flat: bool = False) -> Self: ...
    def repeat(self, name: str, links: Iterable[Module]) -> Self: ...
    def __len__(self) -> int: ...
    def __getitem__(self, arg: int, /) -> Module: ...

def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor: ...
def mean_squared_error(x: Tensor, target: Tensor) -> Tensor: ...

class Layout:
    """Placements of a model over a mesh, separate from the model.

    A row is a pattern of names ('*' any letters, '?' one) with placements by mesh dim. If several rows match a tensor,
    the last one that sets a mesh dim decides.
    """

    def __init__(self) -> None: ...
    def parameters(self, pattern: str, along: Along) -> Layout: ...
    def inputs(self, pattern: str, along: Along) -> Layout: ...
    def outputs(self, pattern: str, along: Along) -> Layout: ...
    def caches(self, pattern: str, along: Along) -> Layout: ...
    def batches(self, along: Along) -> Layout: ...
    def pipeline(self, mesh_dim: str, pattern: str, chunks: int = 1, cut: Sequence[int] = ()) -> Layout: ...
    def zero(self, stage: int, mesh_dim: str = "dp") -> Layout: ...
    def tensor_parallel(self, mesh_dim: str = "tp", sequence_parallel: bool = False) -> Layout: ...
    def __add__(self, more: Layout) -> Layout: ...
    def only_along(self, mesh: ProcessMesh) -> Layout: ...
    def describe(self, model: Module) -> str: ...

def data_parallel(mesh_dim: str = "dp", zero_stage: int = 0) -> Layout: ...
def tensor_parallel(mesh_dim: str = "tp", sequence_parallel: bool = False) -> Layout: ...
def stages(mesh_dim: str, pattern: str, chunks: int = 1, cut: Sequence[int] = ()) -> Layout: ...
def shard(model: Module, mesh: ProcessMesh | None, layout: Layout) -> None: ...
def transformer_layout(model: Module, mesh: ProcessMesh, *, dp: str = "dp", tp: str = "tp", pp: str = "pp",
                       sequence_parallel: bool = False, zero_stage: int = 0, chunks: int = 1,
                       blocks: str = "layer*", cut: Sequence[int] = ()) -> Layout: ...
