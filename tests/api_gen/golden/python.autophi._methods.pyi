# Operators whose first argument is a tensor, as methods.
# Generated from ops.yaml, backward.yaml. Do not edit; change the YAML and build.
from collections.abc import Sequence

from autophi._autophi import DTypeLike, Tensor

class OpMethods:
    def bmm(self, y: Tensor) -> Tensor:
        """autophi.bmm: bmm(x, y) -> out"""
    def matmul(self, y: Tensor, transpose_x: bool = False, transpose_y: bool = False) -> Tensor:
        """autophi.matmul: matmul(x, y, transpose_x, transpose_y) -> out"""
    def momentum_(self, grad: Tensor, velocity: Tensor, master_param: Tensor | None, mu: float) -> tuple[Tensor, Tensor, Tensor | None]:
        """autophi.momentum_: momentum_(param, grad, velocity, master_param, mu) -> param_out, velocity_out,"""
    def nonzero(self) -> Tensor:
        """autophi.nonzero: nonzero(condition) -> out"""
    def norm(self, scale: Tensor | None = None, epsilon: float = 1e-5) -> Tensor:
        """autophi.norm: norm(x, scale, epsilon) -> out"""
    def relu(self) -> Tensor:
        """autophi.relu: relu(x) -> out"""
    def relu_(self) -> Tensor:
        """autophi.relu_: relu_(x) -> out"""
    def reshape(self, shape: int | Sequence[int]) -> Tensor:
        """autophi.reshape: reshape(x, shape) -> out"""
    def reshape_(self, shape: int | Sequence[int]) -> Tensor:
        """autophi.reshape_: reshape_(x, shape) -> out"""
    def split(self, sections: int | Sequence[int], axis: bool | int | float = 0) -> list[Tensor]:
        """autophi.split: split(x, sections, axis) -> out"""
