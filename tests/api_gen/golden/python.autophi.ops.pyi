# All operators.
# Generated from ops.yaml, backward.yaml. Do not edit; change the YAML and build.
from collections.abc import Sequence
from os import PathLike

from autophi._autophi import DTypeLike, Tensor

def load_ops(path: str | PathLike[str]) -> list[str]: ...

def bmm(x: Tensor, y: Tensor) -> Tensor:
    """bmm(x, y) -> out

    Shapes     BmmInferMeta
    Placement  ... m k, ... k n -> ... m n
    Gradient   bmm_grad gives x_grad, y_grad
    Errors     ValueError, naming the arguments, for shapes and dtypes that do not fit;
               TypeError for an argument of another type
    Source     ops.yaml
    """

def check_finite_(x: Sequence[Tensor], scale: Tensor) -> tuple[list[Tensor], Tensor]:
    """check_finite_(x, scale) -> out, found

    Inplace    x receives out; every handle on it sees that
    Shapes     CheckFiniteInferMeta
    Placement  CheckFiniteInferSpmd
    Gradient   none
    Errors     ValueError, naming the arguments, for shapes and dtypes that do not fit;
               TypeError for an argument of another type
    Source     ops.yaml
    """

def concat(x: Sequence[Tensor], axis: bool | int | float = 0) -> Tensor:
    """concat(x, axis) -> out

    Shapes     ConcatInferMeta
    Placement  inputs and outputs replicated
    Gradient   concat_grad gives x_grad
    Errors     ValueError, naming the arguments, for shapes and dtypes that do not fit;
               TypeError for an argument of another type
    Source     ops.yaml
    """

def full(shape: int | Sequence[int], value: bool | int | float, dtype: DTypeLike = 'float32', place: str = 'cpu') -> Tensor:
    """full(shape, value, dtype, place) -> out

    Shapes     CreateInferMeta
    Gradient   none
    Errors     ValueError, naming the arguments, for shapes and dtypes that do not fit;
               TypeError for an argument of another type
    Source     ops.yaml
    """

def matmul(x: Tensor, y: Tensor, transpose_x: bool = False, transpose_y: bool = False) -> Tensor:
    """matmul(x, y, transpose_x, transpose_y) -> out

    Shapes     MatmulInferMeta
    Placement  MatmulInferSpmd
    Gradient   matmul_grad gives x_grad, y_grad
    Errors     ValueError, naming the arguments, for shapes and dtypes that do not fit;
               TypeError for an argument of another type
    Source     ops.yaml
    """

def merged_momentum_(param: Sequence[Tensor], grad: Sequence[Tensor], velocity: Sequence[Tensor], master_param: Sequence[Tensor] | None, mu: float) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """merged_momentum_(param, grad, velocity, master_param, mu) -> param_out, velocity_out,
               master_param_out

    Inplace    param receives param_out, velocity receives velocity_out, master_param receives
               master_param_out; every handle on it sees that
    Shapes     MergedMomentumInferMeta
    Placement  MergedMomentumInferSpmd
    Gradient   none
    Errors     ValueError, naming the arguments, for shapes and dtypes that do not fit;
               TypeError for an argument of another type
    Source     ops.yaml
    """

def momentum_(param: Tensor, grad: Tensor, velocity: Tensor, master_param: Tensor | None, mu: float) -> tuple[Tensor, Tensor, Tensor | None]:
    """momentum_(param, grad, velocity, master_param, mu) -> param_out, velocity_out,
               master_param_out

    Inplace    param receives param_out, velocity receives velocity_out, master_param receives
               master_param_out; every handle on it sees that
    Shapes     MomentumInferMeta
    Placement  MomentumInferSpmd
    Gradient   none
    Errors     ValueError, naming the arguments, for shapes and dtypes that do not fit;
               TypeError for an argument of another type
    Source     ops.yaml
    """

def nonzero(condition: Tensor) -> Tensor:
    """nonzero(condition) -> out

    Shapes     NonZeroInferMeta
    Placement  NonZeroInferSpmd
    Gradient   none
    Errors     ValueError, naming the arguments, for shapes and dtypes that do not fit;
               TypeError for an argument of another type
    Source     ops.yaml
    """

def norm(x: Tensor, scale: Tensor | None = None, epsilon: float = 1e-5) -> Tensor:
    """norm(x, scale, epsilon) -> out

    Shapes     NormInferMeta
    Placement  NormInferSpmd
    Gradient   norm_grad gives x_grad, scale_grad
    Errors     ValueError, naming the arguments, for shapes and dtypes that do not fit;
               TypeError for an argument of another type
    Source     ops.yaml
    """

def ones(shape: int | Sequence[int], dtype: DTypeLike = 'float32', place: str = 'cpu') -> Tensor:
    """ones(shape, dtype, place) -> out

    Calls      full(shape, 1, dtype, place)
    Gradient   none
    Errors     ValueError, naming the arguments, for shapes and dtypes that do not fit;
               TypeError for an argument of another type
    Source     ops.yaml
    """

def relu(x: Tensor) -> Tensor:
    """relu(x) -> out

    Shapes     UnchangedInferMeta
    Placement  ElementwiseUnaryInferSpmd
    Gradient   relu_grad gives x_grad
    Errors     ValueError, naming the arguments, for shapes and dtypes that do not fit;
               TypeError for an argument of another type
    Source     ops.yaml
    """

def relu_(x: Tensor) -> Tensor:
    """relu_(x) -> out

    Inplace    x receives out; every handle on it sees that
    Shapes     UnchangedInferMeta
    Placement  ElementwiseUnaryInferSpmd
    Gradient   relu_grad gives x_grad
    Errors     ValueError, naming the arguments, for shapes and dtypes that do not fit;
               TypeError for an argument of another type
    Source     ops.yaml
    """

def reshape(x: Tensor, shape: int | Sequence[int]) -> Tensor:
    """reshape(x, shape) -> out

    View       out shares the bytes of x
    Shapes     ReshapeInferMeta
    Placement  ReshapeInferSpmd
    Gradient   reshape_grad gives x_grad
    Errors     ValueError, naming the arguments, for shapes and dtypes that do not fit;
               TypeError for an argument of another type
    Source     ops.yaml
    """

def reshape_(x: Tensor, shape: int | Sequence[int]) -> Tensor:
    """reshape_(x, shape) -> out

    Inplace    x receives out; every handle on it sees that
    Shapes     ReshapeInferMeta
    Placement  ReshapeInferSpmd
    Gradient   reshape_grad gives x_grad
    Errors     ValueError, naming the arguments, for shapes and dtypes that do not fit;
               TypeError for an argument of another type
    Source     ops.yaml
    """

def split(x: Tensor, sections: int | Sequence[int], axis: bool | int | float = 0) -> list[Tensor]:
    """split(x, sections, axis) -> out

    Shapes     SplitInferMeta
    Placement  SplitInferSpmd
    Gradient   split_grad gives x_grad
    Errors     ValueError, naming the arguments, for shapes and dtypes that do not fit;
               TypeError for an argument of another type
    Source     ops.yaml
    """

