"""The classes: what differs are numbers; the optimizer itself is that of C++."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from autophi import _autophi

_optim = _autophi.optim

_Self = TypeVar("_Self", bound="Optimizer")
Parameters = _autophi.nn.Module | Iterable[_autophi.Tensor]
RateLike = float | _optim.Rate

class StepOutcome(NamedTuple):
    """What step() did: the 2-norm of all gradients before clipping (0.0 where nobody asked
    for it), and whether the update was applied (False: a gradient was not finite, nothing was changed)."""
    grad_norm: float
    applied: bool


class Optimizer:
    """What all optimizers are. `parameters`: a module, or tensors (leaves); None for one that a Trainer is
    given. The states are made when they are first needed: lay a model out before. What requires no gradient
    then is not trained. ValueError for a tensor that an operation made (shard_tensor() of a parameter, say):
    give the parameter itself, or a detach() of the tensor that requires a gradient of its own."""

    def __init__(self, parameters: Parameters | None, lr: RateLike, config: _optim.Config) -> None:
        if not isinstance(lr, (int, float, _optim.Rate)):
            raise TypeError(f"lr is a number or a Rate of autophi.optim, got {type(lr).__name__} {lr!r}")
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
        """The learning rates by step."""
        return self.lr if isinstance(self.lr, _optim.Rate) else _optim.constant(float(self.lr))

    @property
    def native(self) -> _optim.Optimizer:
        """The optimizer of C++; the first use makes it, and its states."""
        if self._made is None:
            if self._parameters is None:
                raise RuntimeError(f"this {type(self).__name__} has no parameters: give it a model or tensors, "
                                   "or give it to a Trainer")
            stage, mesh_dim = self._zero
            self._made = _optim.Optimizer(self._parameters, self.config, stage, mesh_dim)
        return self._made

    def shard_states(self: _Self, stage: int, mesh_dim: str = "dp") -> _Self:
        """ZeRO: optimizer states (1), gradients (2) and parameters (3) are split over a mesh dim. Before the
        first step; for stage 3 the layout of the model must have said so."""
        if self._made is not None:
            raise RuntimeError("the states of this optimizer are made already: shard it before its first step")
        self._zero = (stage, mesh_dim)
        return self

    def step(self, loss_scale: float = 1.0, check_finite: bool = False) -> StepOutcome:
        """One update from the gradients that have accumulated, divided by `loss_scale`; then they are gone.
        Every rank calls it. Where their norm is computed (for clipping, or with check_finite) and not finite
        the update is left out. Gives a StepOutcome."""
        made = self.native
        return StepOutcome(*made.step(self.rate.at(made.updates + 1), loss_scale, check_finite))

    def zero_grad(self) -> None:
        """Forgets gradients that have accumulated. step() does so by itself."""
        given = () if self._parameters is None else self._parameters
        for parameter in given.parameters() if isinstance(given, _autophi.nn.Module) else given:
            parameter.clear_grad()

    @property
    def updates(self) -> int:
        """Updates that were applied so far."""
        return 0 if self._made is None else self._made.updates

    def _names(self) -> list[str]:
        if isinstance(self._parameters, _autophi.nn.Module):
            return _optim.optimized_names(self._parameters)
        return [str(i) for i in range(len(self._parameters or ()))]

    def state_dict(self) -> dict[str, Any]:
        """{"updates": n, "moment1.up.weight": tensor, ...}: the tensors are handles on the states."""
        names = self._names()
        state = {f"{kind}.{names[i]}": tensor for i, kind, tensor in self.native.states()}
        return {"updates": self.native.updates, **state}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on where another left off, which may have lain on another mesh. ValueError for states that are
        missing, left over, or of another shape."""
        names = self._names()
        wanted = [f"{kind}.{names[i]}" for i, kind, _ in self.native.states()]
        given = set(state_dict) - {"updates"}
        if given != set(wanted) or "updates" not in state_dict:
            raise ValueError(f"load_state_dict: states without a value: {sorted(set(wanted) - given)}; values of no "
                             f"state: {sorted(given - set(wanted))}")
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
    """Adam with decoupled weight decay, of matrices only. `grad_clip`: gradients are scaled down to this global
    2-norm if theirs is larger; 0: never. `lr`: a number, or a Rate: constant(), cosine(), steps()."""

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
