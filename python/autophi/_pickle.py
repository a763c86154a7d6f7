"""Unpickling of tensors. Pickles contain the name of this function: do not move it."""

from autophi import _autophi


def rebuild_tensor(data: bytes, shape: list[int], dtype: _autophi.dtype, requires_grad: bool) -> _autophi.Tensor:
    """Return a plain tensor with these bytes."""
    return _autophi._rebuild_tensor(data, shape, dtype, requires_grad)
