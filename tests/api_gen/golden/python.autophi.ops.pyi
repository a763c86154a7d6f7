# All operators.
# Generated from ops.yaml, backward.yaml. Do not edit; change the YAML and build.
from collections.abc import Sequence
from os import PathLike

from autophi._autophi import DTypeLike, Tensor

__all__ = [
    "batch_norm",
    "bmm",
    "check_finite_",
    "concat",
    "distribute",
    "flatten",
    "flatten_",
    "full",
    "matmul",
    "merged_momentum_",
    "momentum_",
    "nonzero",
    "norm",
    "ones",
    "relu",
    "relu_",
    "reshape",
    "reshape_",
    "scale_all",
    "scale_all_",
    "split",
]

def load_ops(path: str | PathLike[str]) -> list[str]: ...

def batch_norm(x: Tensor, mean: Tensor, more: Sequence[Tensor], variance: Tensor | None, momentum: float, seed: int | None = None) -> tuple[Tensor, Tensor, Tensor | None]:
    """batch_norm(x, mean, more, variance, momentum, seed) -> out, mean_out, variance_out

    View       mean is written to, and mean_out shares its bytes
    View       variance is written to, and variance_out shares its bytes
    Shapes     BatchNormInferMeta
    Placement  inputs and outputs replicated
    Gradient   none
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def bmm(x: Tensor, y: Tensor) -> Tensor:
    """bmm(x, y) -> out

    Shapes     BmmInferMeta
    Placement  ... m k, ... k n -> ... m n
    Gradient   bmm_grad returns x_grad, y_grad
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def check_finite_(x: Sequence[Tensor], scale: Tensor) -> tuple[list[Tensor], Tensor]:
    """check_finite_(x, scale) -> out, found

    Inplace    x receives out; the change is visible through every handle
    Shapes     CheckFiniteInferMeta
    Placement  CheckFiniteInferSpmd
    Gradient   none
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def concat(x: Sequence[Tensor], axis: bool | int | float = 0) -> Tensor:
    """concat(x, axis) -> out

    Shapes     ConcatInferMeta
    Placement  inputs and outputs replicated
    Gradient   concat_grad returns x_grad
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def distribute(rois: Tensor, levels: Sequence[Tensor], least: int = 2) -> tuple[list[Tensor], list[Tensor], Tensor]:
    """distribute(rois, levels, least) -> parts, counts, order

    Shapes     DistributeInferMeta
    Placement  DistributeInferSpmd
    Gradient   distribute_grad returns rois_grad, levels_grad
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def flatten(x: Tensor, axis: int = 0) -> tuple[Tensor, Tensor]:
    """flatten(x, axis) -> out, shape

    View       out shares the bytes of x
    Shapes     FlattenInferMeta
    Placement  inputs and outputs replicated
    Gradient   flatten_grad returns x_grad
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def flatten_(x: Tensor, axis: int = 0) -> tuple[Tensor, Tensor]:
    """flatten_(x, axis) -> out, shape

    Inplace    x receives out; the change is visible through every handle
    Shapes     FlattenInferMeta
    Placement  inputs and outputs replicated
    Gradient   flatten_grad returns x_grad
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def full(shape: int | Sequence[int], value: bool | int | float, dtype: DTypeLike = 'float32', place: str = 'cpu') -> Tensor:
    """full(shape, value, dtype, place) -> out

    Shapes     CreateInferMeta
    Gradient   none
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def matmul(x: Tensor, y: Tensor, transpose_x: bool = False, transpose_y: bool = False) -> Tensor:
    """matmul(x, y, transpose_x, transpose_y) -> out

    Shapes     MatmulInferMeta
    Placement  MatmulInferSpmd
    Gradient   matmul_grad returns x_grad, y_grad
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def merged_momentum_(param: Sequence[Tensor], grad: Sequence[Tensor], velocity: Sequence[Tensor], master_param: Sequence[Tensor] | None, mu: float) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """merged_momentum_(param, grad, velocity, master_param, mu) -> param_out, velocity_out,
               master_param_out

    Inplace    param receives param_out, velocity receives velocity_out, master_param receives
               master_param_out; the change is visible through every handle
    Shapes     MergedMomentumInferMeta
    Placement  MergedMomentumInferSpmd
    Gradient   none
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def momentum_(param: Tensor, grad: Tensor, velocity: Tensor, master_param: Tensor | None, mu: float) -> tuple[Tensor, Tensor, Tensor | None]:
    """momentum_(param, grad, velocity, master_param, mu) -> param_out, velocity_out,
               master_param_out

    Inplace    param receives param_out, velocity receives velocity_out, master_param receives
               master_param_out; the change is visible through every handle
    Shapes     MomentumInferMeta
    Placement  MomentumInferSpmd
    Gradient   none
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def nonzero(condition: Tensor) -> Tensor:
    """nonzero(condition) -> out

    Shapes     NonZeroInferMeta
    Placement  NonZeroInferSpmd
    Gradient   none
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def norm(x: Tensor, scale: Tensor | None = None, epsilon: float = 1e-5) -> Tensor:
    """norm(x, scale, epsilon) -> out

    Shapes     NormInferMeta
    Placement  NormInferSpmd
    Gradient   norm_grad returns x_grad, scale_grad
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def ones(shape: int | Sequence[int], dtype: DTypeLike = 'float32', place: str = 'cpu') -> Tensor:
    """ones(shape, dtype, place) -> out

    Calls      full(shape, 1, dtype, place)
    Gradient   none
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def relu(x: Tensor) -> Tensor:
    """relu(x) -> out

    Shapes     UnchangedInferMeta
    Placement  ElementwiseUnaryInferSpmd
    Gradient   relu_grad returns x_grad
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def relu_(x: Tensor) -> Tensor:
    """relu_(x) -> out

    Inplace    x receives out; the change is visible through every handle
    Shapes     UnchangedInferMeta
    Placement  ElementwiseUnaryInferSpmd
    Gradient   relu_grad returns x_grad
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def reshape(x: Tensor, shape: int | Sequence[int]) -> Tensor:
    """reshape(x, shape) -> out

    View       out shares the bytes of x
    Shapes     ReshapeInferMeta
    Placement  ReshapeInferSpmd
    Gradient   reshape_grad returns x_grad
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def reshape_(x: Tensor, shape: int | Sequence[int]) -> Tensor:
    """reshape_(x, shape) -> out

    Inplace    x receives out; the change is visible through every handle
    Shapes     ReshapeInferMeta
    Placement  ReshapeInferSpmd
    Gradient   reshape_grad returns x_grad
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def scale_all(xs: Sequence[Tensor], factor: float) -> list[Tensor]:
    """scale_all(xs, factor) -> out

    Shapes     UnchangedListInferMeta
    Placement  inputs and outputs replicated
    Gradient   scale_all_grad returns xs_grad
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def scale_all_(xs: Sequence[Tensor], factor: float) -> list[Tensor]:
    """scale_all_(xs, factor) -> out

    Inplace    xs receives out; the change is visible through every handle
    Shapes     UnchangedListInferMeta
    Placement  inputs and outputs replicated
    Gradient   scale_all_grad returns xs_grad
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

def split(x: Tensor, sections: int | Sequence[int], axis: bool | int | float = 0) -> list[Tensor]:
    """split(x, sections, axis) -> out

    Shapes     SplitInferMeta
    Placement  SplitInferSpmd
    Gradient   split_grad returns x_grad
    Errors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an
               argument of another type
    Source     ops.yaml
    """

