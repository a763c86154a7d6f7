"""Autophi: tensors on one process or sharded over many, with the same program.

    import autophi as ap
    x = ap.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    (x @ x).sum().backward()
    x.grad

All operators are functions of this module and methods of Tensor; help(autophi.matmul) documents one.
"""

from typing import Any

from autophi import _autophi
from autophi._autophi import (Tensor, __version__, bfloat16, bool_, complex64, complex128, dtype, float16, float32,
                              float64, from_dlpack, from_numpy, get_rng_state, grad, int8, int16, int32,
                              int64, is_grad_enabled, recompute, seed, set_grad_enabled, set_rng_state, tensor, uint8)
from autophi.ops import *  # noqa: F403: that is what they are for
from autophi import distributed, ops
from autophi._grad_mode import enable_grad, no_grad
from autophi.ops import load_ops
from autophi import checkpoint, data, generation, jobs, nn, optim, training
from autophi._autophi.capture import DryRun as dry_run
from autophi._autophi.capture import placeholder
from autophi.capturing import capture
from autophi.explaining import check_numbers, check_ops, expect_moves, explain
from autophi.viewing import view
from autophi._representations import install as _install_representations

_install_representations()
del _install_representations

__all__ = ["Tensor", "__version__", "bfloat16", "bool_", "capture", "check_numbers", "check_ops", "checkpoint",
           "complex128", "complex64", "data", "distributed", "dry_run", "dtype", "enable_grad", "expect_moves",
           "explain", "float16", "float32", "float64", "from_dlpack", "from_numpy", "generation", "get_rng_state",
           "grad", "int16", "int32", "int64", "int8", "is_grad_enabled", "jobs", "load_ops", "nn", "no_grad", "ops",
           "optim", "placeholder", "recompute", "seed", "set_grad_enabled", "set_rng_state", "tensor", "training",
           "uint8", "view"]
__all__ += ops.__all__

# Imported when they are first asked for: programs that train need neither.
_LATER = ("plan", "spmd", "tensorboard", "testing")


def __getattr__(name: str) -> Any:  # operators that are loaded, too
    if name in _LATER:
        import importlib
        return importlib.import_module(f"autophi.{name}")
    raise AttributeError(f"module 'autophi' has no attribute '{name}'")
