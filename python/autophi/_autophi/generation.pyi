# Generating, for type checkers.
from collections.abc import Sequence

from autophi._autophi.nn import Module

class Generator:
    """Token generation by a language model.

    Each token runs one position; keys and values of earlier positions are cached.
    """

    def __init__(self, model: Module, prompt: Sequence[int], window: int, *, num_tokens: int = 0,
                 temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0, seed: int = 1,
                 capture: bool = False) -> None: ...
    def next(self) -> int: ...
    @property
    def tokens(self) -> list[int]: ...
