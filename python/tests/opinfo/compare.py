"""One sample of an OpInfo through PyTorch and through us: the ways in which results differ."""

import dataclasses
import re

import autophi as ap
import numpy
import torch
from opinfo.registry import NoCounterpart


@dataclasses.dataclass(frozen=True)
class Difference:
    """kind: refused, value, gradient, no gradient, or none: a form that our operator does not have."""
    kind: str
    text: str


def to_ours(value, tracked):
    """PyTorch's values as ours; `tracked` collects pairs of tensors that have gradients."""
    if isinstance(value, torch.Tensor):
        plain = value.detach().resolve_conj().resolve_neg()
        # NumPy has no bfloat16.
        ours = ap.cast(ap.tensor(plain.float().numpy()), "bfloat16") if plain.dtype == torch.bfloat16 \
            else ap.tensor(plain.numpy())
        if value.requires_grad:
            ours.requires_grad = True
            tracked.append((value, ours))
        return ours
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple, torch.Size):
        return type(value)(to_ours(element, tracked) for element in value) if type(value) is not torch.Size \
            else list(value)
    if isinstance(value, dict):
        return {key: to_ours(element, tracked) for key, element in value.items()}
    return value


def flat(result, kind):
    if isinstance(result, kind):
        return [result]
    if isinstance(result, (list, tuple)):
        return [tensor for part in result for tensor in flat(part, kind)]
    return [result]


def tried(row, op, sample):
    """The differences of one sample, none where all is the same."""
    tracked = []
    given = to_ours(sample.input, tracked)
    args, kwargs = to_ours(tuple(sample.args), tracked), to_ours(sample.kwargs, tracked)
    kwargs = {key: value for key, value in kwargs.items() if key not in ("device", "layout", "requires_grad")}
    expected = op(sample.input, *sample.args, **sample.kwargs)
    try:
        result = row.call(given, *args, **kwargs)
    except NoCounterpart as none:
        return [Difference("none", str(none))]
    except (ValueError, TypeError, NotImplementedError, IndexError, RuntimeError, OverflowError) as error:
        return [Difference("refused", f"{type(error).__name__}: {error}")]
    if row.pick:
        expected = row.pick(expected)
    if row.of_both:
        expected, result = row.of_both(expected), row.of_both(result)
    theirs, ours = flat(expected, torch.Tensor), flat(result, ap.Tensor)
    if len(theirs) != len(ours):
        return [Difference("value", f"{len(ours)} results, where PyTorch has {len(theirs)}")]
    differences = [told for a, b in zip(theirs, ours) if (told := different(b, a, row.tolerance, "value"))]
    if differences or not row.gradients or not tracked:
        return differences
    return gradients(row, theirs, ours, tracked)


def gradients(row, theirs, ours, tracked):
    """Differences of gradients, for random gradients of the results."""
    pairs = [(a, b) for a, b in zip(theirs, ours) if isinstance(a, torch.Tensor) and a.requires_grad]
    if not pairs:
        return []
    draw = torch.Generator().manual_seed(20261124)
    parts = [torch.randn(a.shape, dtype=a.dtype, generator=draw) for a, _ in pairs]
    expected = torch.autograd.grad([a for a, _ in pairs], [x for x, _ in tracked], parts, allow_unused=True)
    try:
        found = ap.grad([b for _, b in pairs], [x for _, x in tracked], [to_ours(part, []) for part in parts])
    except (ValueError, TypeError, NotImplementedError, RuntimeError) as error:
        if all(not flows(gradient) for gradient in expected):
            return []
        return [Difference("no gradient", f"{type(error).__name__}: {error}")]
    return [told for n, gradient in enumerate(expected) if (told := of_one_input(n, found[n], gradient, row))]


def flows(gradient):
    """Whether there is any: one says zeros, the other nothing."""
    return gradient is not None and bool(gradient.count_nonzero())


def of_one_input(n, ours, theirs, row):
    if ours is None:
        return Difference("no gradient", f"none flows to tensor {n}") if flows(theirs) else None
    if theirs is None:
        theirs = torch.zeros(ours.shape, dtype=getattr(torch, ours.dtype.name))
    return different(ours, theirs, row.tolerance, "gradient")


def different(ours, theirs, tolerance, kind):
    """What differs of two tensors in shape, dtype or, beyond the tolerance of their dtype, in values."""
    if not isinstance(theirs, torch.Tensor):
        theirs = torch.as_tensor(theirs)
    theirs = theirs.detach().resolve_conj().resolve_neg()
    # NumPy has no bfloat16.
    if theirs.dtype == torch.bfloat16:
        theirs, ours = theirs.float(), (ap.cast(ours, "float32") if ours.dtype == ap.bfloat16 else ours)
    found = torch.from_numpy(numpy.array(ours.detach().numpy()))
    limits = (tolerance or {}).get(str(theirs.dtype).removeprefix("torch."))
    limits = {} if limits is None else {"rtol": limits[0], "atol": limits[1]}
    try:
        torch.testing.assert_close(found, theirs, equal_nan=True, **limits)
    except AssertionError as error:
        return Difference(kind, _in_short(str(error)))
    return None


def _in_short(text):
    """The lines of assert_close that say what differs, on one line."""
    return re.sub(r"\s*\n\s*", " ", text.strip())
