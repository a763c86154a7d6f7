# Operators whose first argument is a tensor, as methods.
# Generated from ops.yaml, backward.yaml. Do not edit; change the YAML and build.
from collections.abc import Sequence

from autophi._autophi import DTypeLike, Tensor

class OpMethods:
    def batch_norm(self, mean: Tensor, more: Sequence[Tensor], variance: Tensor | None, momentum: float, seed: int | None = None) -> tuple[Tensor, Tensor, Tensor | None]:
        """autophi.batch_norm: batch_norm(x, mean, more, variance, momentum, seed) -> out, mean_out, variance_out"""
    def bmm(self, y: Tensor) -> Tensor:
        """autophi.bmm: bmm(x, y) -> out"""
    def distribute(self, levels: Sequence[Tensor], least: int = 2) -> tuple[list[Tensor], list[Tensor], Tensor]:
        """autophi.distribute: distribute(rois, levels, least) -> parts, counts, order"""
    def flatten(self, axis: int = 0) -> tuple[Tensor, Tensor]:
        """autophi.flatten: flatten(x, axis) -> out, shape"""
    def flatten_(self, axis: int = 0) -> tuple[Tensor, Tensor]:
        """autophi.flatten_: flatten_(x, axis) -> out, shape"""
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
