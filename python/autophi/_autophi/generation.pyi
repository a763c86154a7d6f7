# Generating, for type checkers.
from collections.abc import Sequence

from autophi._autophi.nn import Module

class Generator:
    """Tokens that a model writes: each costs one position, keys and values of those before are kept."""

    def __init__(self, model: Module, prompt: Sequence[int], window: int, *, num_tokens: int = 0,
                 temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0, seed: int = 1,
                 capture: bool = False) -> None: ...
    def next(self) -> int: ...
    @property
    def tokens(self) -> list[int]: ...
