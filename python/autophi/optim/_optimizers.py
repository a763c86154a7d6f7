"""Optimizer classes. They differ in hyperparameters; the implementation is in C++."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from autophi import _autophi

_optim = _autophi.optim

_Self = TypeVar("_Self", bound="Optimizer")
Parameters = _autophi.nn.Module | Iterable[_autophi.Tensor]
RateLike = float | _optim.Rate

class StepOutcome(NamedTuple):
    """Result of step().

    `grad_norm`: 2-norm of all gradients before clipping (0.0 if it was not computed). `applied`: whether the update was
    applied (False: a gradient was not finite, and nothing changed).
    """
    grad_norm: float
    applied: bool


class Optimizer:
    """Base class of optimizers.

    `parameters`: a module, or tensors (leaves); None for an optimizer that is passed to a Trainer. The states are
    allocated at first use: shard the model before. Parameters that do not require gradients at that time are not
    trained. ValueError for a tensor that an operation created, such as shard_tensor() of a parameter: pass the
    parameter itself, or a detach() of the tensor that requires its own gradient.
    """

    def __init__(self, parameters: Parameters | None, lr: RateLike, config: _optim.Config) -> None:
        if not isinstance(lr, (int, float, _optim.Rate)):
            raise TypeError(f"lr must be a number or a Rate of autophi.optim, got {type(lr).__name__} {lr!r}")
        self._parameters: _autophi.nn.Module | list[_autophi.Tensor] | None
        if parameters is None or isinstance(parameters, _autophi.nn.Module):
            self._parameters = parameters
        else:
            self._parameters = list(parameters)
        self.lr = lr
        self.config = config
        self._zero: tuple[int | None, str] = (None, "dp")
        self._made: _optim.Optimizer | None = None

    @property
    def rate(self) -> _optim.Rate:
        """Learning rates by step."""
        return self.lr if isinstance(self.lr, _optim.Rate) else _optim.constant(float(self.lr))

    @property
    def native(self) -> _optim.Optimizer:
        """The C++ optimizer. The first use constructs it and its states."""
        if self._made is None:
            if self._parameters is None:
                raise RuntimeError(f"this {type(self).__name__} has no parameters: construct it with a model or "
                                   "tensors, or pass it to a Trainer")
            stage, mesh_dim = self._zero
            self._made = _optim.Optimizer(self._parameters, self.config, stage, mesh_dim)
        return self._made

    def shard_states(self: _Self, stage: int, mesh_dim: str = "dp") -> _Self:
        """Shard optimizer states (ZeRO 1), gradients (2) and parameters (3) over a mesh dim.

        Call it before the first step. For stage 3 the layout of the model must have the same stage.
        """
        if self._made is not None:
            raise RuntimeError("the states of this optimizer are already allocated: shard it before its first step")
        self._zero = (stage, mesh_dim)
        return self

    def step(self, loss_scale: float = 1.0, check_finite: bool = False) -> StepOutcome:
        """Run one update from the accumulated gradients, divided by `loss_scale`, and clear them.

        Collective. If the norm of the gradients is computed (for clipping, or with check_finite) and is not finite, the
        update is skipped. Returns a StepOutcome.
        """
        made = self.native
        return StepOutcome(*made.step(self.rate.at(made.updates + 1), loss_scale, check_finite))

    def zero_grad(self) -> None:
        """Clear the accumulated gradients. step() does so, too."""
        given = () if self._parameters is None else self._parameters
        for parameter in given.parameters() if isinstance(given, _autophi.nn.Module) else given:
            parameter.clear_grad()

    @property
    def updates(self) -> int:
        """Number of updates applied."""
        return 0 if self._made is None else self._made.updates

    def _names(self) -> list[str]:
        if isinstance(self._parameters, _autophi.nn.Module):
            return _optim.optimized_names(self._parameters)
        return [str(i) for i in range(len(self._parameters or ()))]

    def state_dict(self) -> dict[str, Any]:
        """Return {"updates": n, "moment1.up.weight": tensor, ...}. The tensors are handles on the states."""
        names = self._names()
        state = {f"{kind}.{names[i]}": tensor for i, kind, tensor in self.native.states()}
        return {"updates": self.native.updates, **state}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore states of another optimizer, which may have been on another mesh.

        ValueError for states that are missing, extra, or of another shape.
        """
        names = self._names()
        wanted = [f"{kind}.{names[i]}" for i, kind, _ in self.native.states()]
        given = set(state_dict) - {"updates"}
        if given != set(wanted) or "updates" not in state_dict:
            raise ValueError(f"load_state_dict: states without a value: {sorted(set(wanted) - given)}; values "
                             f"without a state: {sorted(given - set(wanted))}")
        self.native.restore(state_dict["updates"], [state_dict[name] for name in wanted])

    def __repr__(self) -> str:
        return f"{type(self).__name__}(lr={self.lr!r}, updates={self.updates})"


class SGD(Optimizer):
    """w -= lr (g + weight_decay w)."""

    def __init__(self, parameters: Parameters | None = None, lr: RateLike = 1e-2, *, weight_decay: float = 0.0,
                 grad_clip: float = 0.0) -> None:
        super().__init__(parameters, lr, _optim.Config("sgd", weight_decay=weight_decay, grad_clip=grad_clip))


class Momentum(Optimizer):
    """v = momentum v + g + weight_decay w; w -= lr v, with `nesterov` w -= lr (g + weight_decay w + momentum v)."""

    def __init__(self, parameters: Parameters | None = None, lr: RateLike = 1e-2, *, momentum: float = 0.9,
                 nesterov: bool = False, weight_decay: float = 0.0, grad_clip: float = 0.0) -> None:
        super().__init__(parameters, lr, _optim.Config("momentum", momentum=momentum, nesterov=nesterov,
                                                       weight_decay=weight_decay, grad_clip=grad_clip))


class AdamW(Optimizer):
    """Adam with decoupled weight decay, which applies to matrices only.

    `grad_clip`: gradients are scaled down to this global 2-norm if theirs is larger; 0: never. `lr`: a number, or a
    Rate: constant(), cosine(), steps().
    """

    def __init__(self, parameters: Parameters | None = None, lr: RateLike = 1e-3, *,
                 betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.01,
                 grad_clip: float = 0.0) -> None:
        beta1, beta2 = betas
        super().__init__(parameters, lr, _optim.Config("adamw", beta1=beta1, beta2=beta2, epsilon=eps,
                                                       weight_decay=weight_decay, grad_clip=grad_clip))


class Adam(AdamW):
    """AdamW without weight decay."""

    def __init__(self, parameters: Parameters | None = None, lr: RateLike = 1e-3, *,
                 betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, grad_clip: float = 0.0) -> None:
        super().__init__(parameters, lr, betas=betas, eps=eps, weight_decay=0.0, grad_clip=grad_clip)
