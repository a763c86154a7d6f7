"""Token generation by a language model, one token at a time.

    writer = generation.Generator(model, list(b"The "), window=256, temperature=0.8)
    text = bytes(writer.next() for _ in range(64))
"""

from autophi._autophi.generation import Generator

__all__ = ["Generator"]
