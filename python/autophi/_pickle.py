"""How pickled tensors come back. Pickles name this function: it stays where it is."""

from autophi import _autophi


def rebuild_tensor(data: bytes, shape: list[int], dtype: _autophi.dtype, requires_grad: bool) -> _autophi.Tensor:
    """A plain tensor of these bytes."""
    return _autophi._rebuild_tensor(data, shape, dtype, requires_grad)
