# The models of the library, for type checkers.
from collections.abc import Sequence
from typing import Any

from autophi._autophi import DTypeLike
from autophi._autophi.nn import Sequential

class Decoder(Sequential):
    """Transformer language model: ids int64 [B,S] -> logits float32 [B,S,vocab]."""

    @property
    def config(self) -> dict[str, Any]: ...
    @property
    def vocab(self) -> int: ...
    @property
    def seq_len(self) -> int: ...

class GPT(Decoder):
    """GPT: learned positions, layer norms, biases, GELU, dropout.

    Keywords: vocab=256, seq_len=256, d_model=384, layers=6, heads=6, hidden=1536, activation='gelu_tanh', dropout=0.0,
    norm_eps=1e-5, tied_head=False.
    """

    def __init__(self, **kwargs: Any) -> None: ...

class Llama(Decoder):
    """Llama: rotary positions, RMS norms, grouped queries, SwiGLU.

    Keywords: vocab=256, seq_len=256, d_model=384, layers=6, heads=6, kv_heads=6, ffn=1024, rope_base=10000.0,
    norm_eps=1e-5, qkv_bias=False, tied_head=False.
    """

    def __init__(self, **kwargs: Any) -> None: ...

class ResNet(Sequential):
    """ResNet: float32 images [B,C,H,W] -> logits [B,classes]. The defaults are a ResNet-18."""

    def __init__(self, *, blocks: Sequence[int] = [2, 2, 2, 2], width: int = 64, channels: int = 3,
                 classes: int = 10) -> None: ...

class ViT(Sequential):
    """Vision transformer: float32 images [B,C,H,W] -> logits [B,classes]."""

    def __init__(self, *, image: int = 32, patch: int = 4, channels: int = 3, classes: int = 10,
                 d_model: int = 192, layers: int = 6, heads: int = 3, hidden: int | None = None,
                 dropout: float = 0.0, norm_eps: float = 1e-06) -> None: ...

def save(folder: str, model: Decoder) -> None: ...
def load(folder: str, *, dtype: DTypeLike = "float32") -> Decoder: ...
