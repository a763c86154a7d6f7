# Checks of operators, for type checkers; autophi.testing is for people.
from collections.abc import Callable
from typing import Any

from autophi._autophi import Tensor

def try_op(name: str, call: Callable[..., Any], inputs: list[Tensor], tolerance: float, partial: bool,
           gradients: bool, smooth: bool, placements: int, seed: int) -> dict[str, Any]: ...
