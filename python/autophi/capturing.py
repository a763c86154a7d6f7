"""@autophi.capture: a function of tensors as a program, found by running it once without computing anything."""

import collections
import functools
import threading

from autophi import _autophi
from autophi.explaining import explain

_capture = _autophi.capture

# Programs that a function keeps for each rank, where nothing else is said.
MAX_PROGRAMS = 64


def _flat(value, leaves):
    """The structure of `value` with its tensors taken out, into `leaves`; a hashable description."""
    if isinstance(value, _autophi.Tensor):
        leaves.append(value)
        return "tensor"
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, *(_flat(each, leaves) for each in value))
    if isinstance(value, dict):
        return ("dict", *((key, _flat(each, leaves)) for key, each in value.items()))
    return ("value", type(value), value)


def _filled(value, leaves):
    """`value` with its tensors replaced by the next ones of `leaves`, an iterator."""
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


def _port(x):
    placements = None if x.placements is None else tuple(x.placements)
    return (x.shape, x.dtype.name, x.process_mesh, placements, x.requires_grad)


class _Captured:
    """One program, and what its outputs are put into."""

    def __init__(self, function, args, kwargs, leaves):
        self.outputs = None

        def run(inputs):
            source = iter(inputs)
            result = function(*_filled(args, source), **_filled(kwargs, source))
            made: list[_autophi.Tensor] = []
            _flat(result, made)
            self.outputs = result
            return made

        self.program = _capture.capture_program(run, leaves)

    def run(self, leaves):
        """What the function gives, from the program."""
        return _filled(self.outputs, iter(self.program.run(leaves)))


class CapturedFunction:
    """What capture() makes of a function. Calls run a program: one for each set of shapes, dtypes, placements,
    requires_grad and other arguments that it is called with, and for each rank. Each rank keeps the `max_programs`
    that it has run last."""

    def __init__(self, function, max_programs=MAX_PROGRAMS):
        functools.update_wrapper(self, function)
        self._function = function
        self._local = threading.local()  # a rank is a thread, and captures for itself
        self._memory = None
        self._graphs = True
        self.max_programs = max_programs

    @property
    def max_programs(self):
        """How many programs each rank keeps; fewer from its next call on where this is made less. 1 or more."""
        return self._max_programs

    @max_programs.setter
    def max_programs(self, count):
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(f"capture: 'max_programs' must be int, got {type(count).__name__} {count!r}")
        if count < 1:
            raise ValueError(f"capture: 'max_programs' is {count}; a function keeps 1 program or more")
        self._max_programs = count

    @property
    def num_programs(self):
        """How many programs the calling rank keeps now."""
        return len(self._programs())

    def _programs(self):
        """Those of the calling rank, the one that ran last at the end."""
        return self._local.__dict__.setdefault("programs", collections.OrderedDict())

    def _captured(self, args, kwargs):
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

    def __call__(self, *args, **kwargs):
        if _autophi.distributed.backend() == "dry":
            return self._function(*args, **kwargs)  # which is what the program would do
        captured, leaves = self._captured(args, kwargs)
        return captured.run(leaves)

    def program(self, *args, **kwargs):
        """The program for such arguments, captured if it was not. Tensors may be placeholders."""
        return self._captured(args, kwargs)[0].program

    def to_stablehlo(self, *args, name="program", inputs=(), outputs=(), **kwargs):
        """The program for such arguments as StableHLO text with Shardy shardings (docs/stablehlo.md)."""
        return self.program(*args, **kwargs).to_stablehlo(name=name, inputs=list(inputs), outputs=list(outputs))

    def limit_memory(self, device=None, host=0, disk=0, disk_folder="/tmp"):
        """Bytes that programs of this rank may hold by tier, from here on; gives the function. A program that
        cannot run so says the least that would do (MemoryError)."""
        self._memory = _autophi.training.Memory(device, host, disk, disk_folder)
        self._local = threading.local()
        return self

    def use_graphs(self, use=True):
        """Whether GPUs launch steps of the function's programs as CUDA graphs, as they do unless this says False: from
        the next call on, on every rank; gives the function. The results are the same."""
        if not isinstance(use, bool):
            raise TypeError(f"capture: 'use' must be bool, got {type(use).__name__} {use!r}")
        self._graphs = use
        return self

    def explain(self, *args, model=None, **kwargs):
        """Runs the function itself, not its program, and tells what its calls did."""
        return explain(self._function, *args, model=model, **kwargs)


def capture(function=None, *, max_programs=MAX_PROGRAMS):
    """A decorator: calls of the function run a program with the results of the function, bit for bit.

        @ap.capture
        def step(x, w):
            loss = (x @ w).square().mean()
            return loss, ap.grad(loss, w)[0]

    Arguments and results are tensors in tuples, lists and dicts; other arguments are hashable and part of the
    program, as is all that the function decides. Tensors of outside that it uses are parameters: the program
    sees their values of the moment. RuntimeError where it reads a value or leaves a gradient in a parameter.

    Arguments that differ in more than values make another program. Of these each rank keeps `max_programs`; the one
    that has not run for the longest goes, and is captured again when it is asked for: @ap.capture(max_programs=4).
    """
    if function is None:
        return functools.partial(CapturedFunction, max_programs=max_programs)
    return CapturedFunction(function, max_programs)
