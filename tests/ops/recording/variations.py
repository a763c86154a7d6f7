"""Calls near the recorded ones: each is one of them with a few things changed.

Most stay legal. What is drawn depends on the operator's name, the seed and the number of the call alone.
"""

import copy
import dataclasses
import math
import random

import numpy as np
from call_file import Array, Operator, Tensors

MOST_ELEMENTS = 5000
FLOATS = ("float16", "bfloat16", "float32", "float64")
INDICES = ("int32", "int64")


@dataclasses.dataclass
class Call:
    """A call to make. `what` says how it differs from the recorded one."""
    inputs: dict[str, Tensors]
    attributes: dict
    tolerance: float | None
    what: list[str] = dataclasses.field(default_factory=list)

    def arrays(self) -> list[tuple[tuple[str, int | None], Array]]:
        """Every tensor with its place: the argument, and the position in a list."""
        found = []
        for name, value in self.inputs.items():
            listed = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
            found += [((name, at), array) for at, array in listed if array is not None]
        return found

    def put(self, place: tuple[str, int | None], array: Array) -> None:
        name, at = place
        if at is None:
            self.inputs[name] = array
        else:
            self.inputs[name][at] = array


def _from_record(operator: Operator, recorded: dict) -> Call:
    def load(name):
        return None if name is None else operator.tensors[name]
    inputs = {name: [load(n) for n in value] if isinstance(value, list) else load(value)
              for name, value in recorded["in"].items()}
    return Call(inputs, copy.deepcopy(recorded["attrs"]), recorded.get("tol"))


def _elements(call: Call, draw: random.Random, _operator: Operator) -> None:
    """Floating numbers change places: what makes a call legal (signs, ranges) stays true of them."""
    for place, array in call.arrays():
        if array.dtype in FLOATS and draw.random() < 0.8:
            order = list(range(array.values.size))
            draw.shuffle(order)
            call.put(place, Array(array.dtype, array.values.reshape(-1)[order].reshape(array.values.shape)))
    call.what.append("elements")


def _dtype(call: Call, draw: random.Random, _operator: Operator) -> None:
    kinds = sorted({array.dtype for _, array in call.arrays() if array.dtype in FLOATS + INDICES})
    if not kinds:
        return
    old = draw.choice(kinds)
    new = draw.choice(INDICES if old in INDICES else FLOATS)
    for place, array in call.arrays():
        if array.dtype == old:
            call.put(place, array.cast(new))
    call.what.append(f"{old} to {new}")


def _extent(call: Call, draw: random.Random, _operator: Operator) -> None:
    """All tensor dims of one extent get another; once in a while those of one tensor alone."""
    extents = sorted({extent for _, array in call.arrays() for extent in array.values.shape})
    if not extents:
        return
    old, new = draw.choice(extents), draw.choice([0, 1, 1, 2, 3, 4, 5, 6, 7, 8])
    chosen = draw.choice(call.arrays())[0] if draw.random() < 0.15 else None
    for place, array in call.arrays():
        shape = [new if extent == old else extent for extent in array.values.shape]
        if chosen in (None, place) and math.prod(shape) <= MOST_ELEMENTS:
            call.put(place, array.reshaped(shape))
    call.what.append(f"extent {old} to {new}")


def _rank(call: Call, draw: random.Random, _operator: Operator) -> None:
    if not call.arrays():
        return
    place, array = draw.choice(call.arrays())
    shape = list(array.values.shape)
    call.put(place, array.reshaped(draw.choice([[1, *shape], shape[1:], [*shape, 1], shape[::-1]])))
    call.what.append(f"shape of {place[0]}")


def _number(old, draw: random.Random):
    """Another number, list of numbers or flag."""
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        return draw.choice([old + 1, old - 1, -old, 0, 1, 2, 3, -1, -2])
    if isinstance(old, float):
        return draw.choice([0.0, 1.0, -1.0, 0.5, 2.0, 1.5 * old, -old, 1e-3])
    new = list(old)
    if new and all(isinstance(item, int | float) for item in new):
        at = draw.randrange(len(new))
        new[at] = _number(new[at], draw)
        if draw.random() < 0.2:
            new.pop(at)
    return new


def _attribute(call: Call, draw: random.Random, operator: Operator) -> None:
    kinds = {name: kind for kind, name in operator.arguments}
    names = [name for name in call.attributes if not kinds.get(name, "").startswith("Place")]
    if not names:
        return
    name = draw.choice(names)
    old = call.attributes[name]
    if isinstance(old, bool | int | float | list) and draw.random() < 0.65:
        new = _number(old, draw)
    else:
        new = copy.deepcopy(draw.choice([c["attrs"][name] for c in operator.calls if name in c["attrs"]]))
    call.attributes[name] = new
    call.what.append(f"{name} {new}")


def _attributes_of_another(call: Call, draw: random.Random, operator: Operator) -> None:
    for name, value in draw.choice(operator.calls)["attrs"].items():
        if draw.random() < 0.7:
            call.attributes[name] = copy.deepcopy(value)
    call.what.append("attributes of another call")


def _special(call: Call, draw: random.Random, _operator: Operator) -> None:
    """One element that is hard."""
    places = [(p, a) for p, a in call.arrays() if a.values.size and a.dtype in ("float32", "float64", *INDICES)]
    if not places:
        return
    place, array = draw.choice(places)
    values = array.values.copy()
    hard = [0, 1, -1, 2, 5, 100] if array.dtype in INDICES else [math.nan, math.inf, -math.inf, 0.0, -0.0, 1e30, -1e30]
    values.reshape(-1)[draw.randrange(values.size)] = draw.choice(hard)
    call.put(place, Array(array.dtype, values))
    call.what.append(f"a hard element of {place[0]}")


_CHANGES = {_elements: 12, _dtype: 12, _extent: 28, _rank: 4, _attribute: 26, _attributes_of_another: 10, _special: 8}


def vary(operator: Operator, seed: int, number: int) -> Call:
    """The call of this number; `what` is empty where nothing could be changed."""
    draw = random.Random(f"{operator.name} {seed} {number}")
    call = _from_record(operator, draw.choice(operator.calls))
    for change in draw.choices(list(_CHANGES), list(_CHANGES.values()), k=draw.choice([1, 1, 1, 2, 2, 3])):
        change(call, draw, operator)
    return call


def has_gradient_to_compare(call: Call) -> bool:
    """Gradients at infinities, NaN and huge numbers are no reference: many of Paddle's are NaN there."""
    return all(np.isfinite(array.values).all() and np.abs(array.values.astype(np.complex128)).max(initial=0) <= 1e6
               for _, array in call.arrays() if array.values.dtype.kind in "fc")
