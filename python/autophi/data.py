"""Batches of token ids from files. All ranks draw the same batches; each reads its own rows.

    text = data.TokenData(["corpus/"])                       # text: a byte is a token
    for ids, labels in text.batches(batch=8, seq_len=128, steps=100): ...
"""

from collections.abc import Iterator

from autophi._autophi import Tensor
from autophi._autophi.data import TokenData as _TokenData


class TokenData(_TokenData):
    """Token ids in files. docs/data.md describes the files and how windows are drawn."""

    def batch(self, number: int, batch: int, seq_len: int, *, seed: int = 1) -> tuple[Tensor, Tensor]:
        """Return (ids int64 [batch, seq_len], labels int64 [batch, seq_len, 1]) of step `number`, from 1."""
        first = (number - 1) * batch
        return (self.ids(batch, seq_len, seed=seed, first_sample=first),
                self.labels(batch, seq_len, seed=seed, first_sample=first))

    def batches(self, batch: int, seq_len: int, *, steps: int | None = None,
                seed: int = 1) -> Iterator[tuple[Tensor, Tensor]]:
        """Iterate over the batches of steps 1, 2, ..; without `steps`, endlessly."""
        number = 0
        while steps is None or number < steps:
            number += 1
            yield self.batch(number, batch, seq_len, seed=seed)


__all__ = ["TokenData"]
