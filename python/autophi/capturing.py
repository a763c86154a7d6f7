"""@autophi.capture: captures a function of tensors as a program, by one run that computes nothing."""

import collections
import dataclasses
import functools
import numbers
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

from autophi import _autophi
from autophi.explaining import Explanation, explain

_capture = _autophi.capture

_P = ParamSpec("_P")
_R = TypeVar("_R")

# Programs that a function keeps for each rank, where nothing else is said.
MAX_PROGRAMS = 64


def _exact(value: Any) -> Any:
    """Return a key that distinguishes values that a program may treat differently.

    0.0 and -0.0 compare equal, and a NaN does not equal itself.
    """
    if isinstance(value, numbers.Number):
        return type(value), repr(value)
    if isinstance(value, tuple):
        return tuple(map(_exact, value))
    if isinstance(value, frozenset):
        return frozenset(map(_exact, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value), tuple(_exact(getattr(value, field.name)) for field in dataclasses.fields(value))
    return value


def _flat(value: Any, leaves: list[_autophi.Tensor]) -> Any:
    """Append the tensors of `value` to `leaves` and return a hashable description of its structure."""
    if isinstance(value, _autophi.Tensor):
        leaves.append(value)
        return "tensor"
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, *(_flat(each, leaves) for each in value))
    if isinstance(value, dict):
        return ("dict", *((_exact(key), _flat(each, leaves)) for key, each in value.items()))
    return ("value", type(value), _exact(value))


def _filled(value: Any, leaves: Iterator[_autophi.Tensor | None]) -> Any:
    """Return `value` with its tensors replaced by the next ones of the iterator `leaves`."""
    if isinstance(value, _autophi.Tensor):
        return next(leaves)
    if isinstance(value, dict):
        return {key: _filled(each, leaves) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        filled = [_filled(each, leaves) for each in value]
        if isinstance(value, list):
            return filled
        return type(value)(*filled) if hasattr(value, "_fields") else tuple(filled)
    return value


def _port(x: _autophi.Tensor) -> Any:
    placements = None if x.placements is None else tuple(x.placements)
    return (x.shape, x.dtype.name, x.process_mesh, placements, x.requires_grad)


class _Captured:
    """A program and the structure of its outputs."""

    def __init__(self, function: Callable[..., Any], args: Any, kwargs: Any, leaves: list[_autophi.Tensor]) -> None:
        self.outputs: Any = None

        def run(inputs: Sequence[_autophi.Tensor]) -> list[_autophi.Tensor]:
            source = iter(inputs)
            result = function(*_filled(args, source), **_filled(kwargs, source))
            made: list[_autophi.Tensor] = []
            _flat(result, made)
            self.outputs = result
            return made

        self.program = _capture.capture_program(run, leaves)

    def run(self, leaves: list[_autophi.Tensor]) -> Any:
        """Run the program and return the outputs of the function."""
        return _filled(self.outputs, iter(self.program.run(leaves)))


class CapturedFunction(Generic[_P, _R]):
    """A captured function, returned by capture(). Calls run a program.

    There is one program for each set of shapes, dtypes, placements, requires_grad and other arguments, and for each
    rank. Each rank keeps the `max_programs` programs that ran last.
    """

    def __init__(self, function: Callable[_P, _R], max_programs: int = MAX_PROGRAMS) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._local = threading.local()  # a rank is a thread, and captures for itself
        self._memory: _autophi.training.Memory | None = None
        self._graphs = True
        self.max_programs = max_programs

    @property
    def max_programs(self) -> int:
        """Maximum number of programs that each rank keeps, at least 1. A lower value applies from its next call on."""
        return self._max_programs

    @max_programs.setter
    def max_programs(self, count: int) -> None:
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(f"capture: 'max_programs' must be int, got {type(count).__name__} {count!r}")
        if count < 1:
            raise ValueError(f"capture: 'max_programs' is {count}; expected at least 1")
        self._max_programs = count

    @property
    def num_programs(self) -> int:
        """Number of programs that the calling rank keeps."""
        return len(self._programs())

    def _programs(self) -> collections.OrderedDict[Any, _Captured]:
        """Return the programs of the calling rank; the one that ran last is at the end."""
        programs: collections.OrderedDict[Any, _Captured]
        programs = self._local.__dict__.setdefault("programs", collections.OrderedDict())
        return programs

    def _captured(self, args: Any, kwargs: Any) -> tuple[_Captured, list[_autophi.Tensor]]:
        leaves: list[_autophi.Tensor] = []
        structure = _flat((args, kwargs), leaves)
        world = (_autophi.distributed.backend(), _autophi.distributed.rank(), _autophi.distributed.world_size())
        key = (world, structure, tuple(_port(leaf) for leaf in leaves))
        programs = self._programs()
        if key not in programs:
            captured = _Captured(self._function, args, kwargs, leaves)
            if self._memory is not None:
                captured.program.limit_memory(self._memory)
            programs[key] = captured
        programs.move_to_end(key)
        while len(programs) > self._max_programs:
            programs.popitem(last=False)
        programs[key].program.use_graphs(self._graphs)
        return programs[key], leaves

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if _autophi.distributed.backend() == "dry":
            return self._function(*args, **kwargs)  # which is what the program would do
        captured, leaves = self._captured(args, kwargs)
        return cast(_R, captured.run(leaves))

    def program(self, *args: _P.args, **kwargs: _P.kwargs) -> _autophi.capture.Program:
        """Return the program for such arguments, captured if necessary. Tensors may be placeholders."""
        return self._captured(args, kwargs)[0].program

    def to_stablehlo(self, *args: Any, name: str = "program", inputs: Sequence[str] = (), outputs: Sequence[str] = (),
                     **kwargs: Any) -> str:
        """Return the program for such arguments as StableHLO text with Shardy shardings (docs/stablehlo.md)."""
        return self._captured(args, kwargs)[0].program.to_stablehlo(name=name, inputs=list(inputs), outputs=list(outputs))

    def limit_memory(self, device: int | None = None, host: int = 0, disk: int = 0,
                     disk_folder: str = "/tmp") -> "CapturedFunction[_P, _R]":
        """Limit the bytes of this rank's programs by memory tier from now on, and return the function.

        MemoryError, with the smallest limit that works, for a program that cannot run within the limits.
        """
        self._memory = _autophi.training.Memory(device, host, disk, disk_folder)
        self._local = threading.local()
        return self

    def use_graphs(self, use: bool = True) -> "CapturedFunction[_P, _R]":
        """Enable or disable CUDA graphs for the function's programs, and return the function.

        Graphs are enabled by default. A change applies from the next call on. Pass the same value on every rank. The
        results do not change.
        """
        if not isinstance(use, bool):
            raise TypeError(f"capture: 'use' must be bool, got {type(use).__name__} {use!r}")
        self._graphs = use
        return self

    def explain(self, *args: Any, model: _autophi.nn.Module | None = None, **kwargs: Any) -> Explanation:
        """Run the function itself, not its program, and return the Explanation of its calls."""
        return explain(self._function, *args, model=model, **kwargs)


@overload
def capture(function: Callable[_P, _R], *, max_programs: int = MAX_PROGRAMS) -> CapturedFunction[_P, _R]: ...


@overload
def capture(function: None = None, *,
            max_programs: int = MAX_PROGRAMS) -> Callable[[Callable[_P, _R]], CapturedFunction[_P, _R]]: ...


def capture(function: Callable[_P, _R] | None = None, *, max_programs: int = MAX_PROGRAMS) -> Any:
    """Decorate a function so that its calls run a program with bit-identical results.

        @ap.capture
        def step(x, w):
            loss = (x @ w).square().mean()
            return loss, ap.grad(loss, w)[0]

    Arguments and results are tensors in tuples, lists and dicts. Other arguments must be hashable; they are constants
    of the program, as is the outcome of every branch. Outside tensors that the function uses are parameters: the
    program reads their current values. RuntimeError if the function reads a value of a tensor or accumulates a
    gradient in a parameter.

    Arguments that differ in more than tensor values select another program. Each rank keeps `max_programs` of them,
    drops the least recently used one, and captures it again if it is needed: @ap.capture(max_programs=4).
    """
    if function is None:
        return functools.partial(CapturedFunction, max_programs=max_programs)
    return CapturedFunction(function, max_programs)
