"""PyTorch's own samples of its operators, through ours: values and gradients, float32 and float64.

Operators that take no such numbers run with integers. What differs is in differences.yaml, with a reason;
anything else fails, and so does an entry there that is no difference any more.
"""

import collections

import pytest

torch = pytest.importorskip("torch")
from opinfo import differences, registry  # noqa: E402
from opinfo.compare import tried  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

_ROWS = registry.load()
_KNOWN = differences.load()
_INFOS = {f"{op.name}/{op.variant_test_name}" if op.variant_test_name else op.name: op for op in op_db}
_DTYPES = (torch.float32, torch.float64)
_WITHOUT_FLOATS = (torch.int32, torch.int64)


def samples_of(op):
    """All samples of an OpInfo, the same on each run."""
    dtypes = [dtype for dtype in _DTYPES if dtype in op.dtypes] or [
        dtype for dtype in _WITHOUT_FLOATS if dtype in op.dtypes]
    for dtype in dtypes:
        torch.manual_seed(20261124)
        yield from op.sample_inputs("cpu", dtype, requires_grad=op.supports_autograd and dtype.is_floating_point)


@pytest.mark.parametrize("name", sorted(_ROWS))
def test_samples(name, record_counts):
    found, counts = [], collections.Counter()
    for sample in samples_of(_INFOS[name]):
        of_sample = tried(_ROWS[name], _INFOS[name], sample)
        counts["samples"] += 1
        counts[of_sample[0].kind if of_sample else "same"] += 1
        found += [difference for difference in of_sample if difference.kind != "none"]
    record_counts(name, counts)
    wrong = differences.judge(name, found, _KNOWN.get(name, []))
    assert not wrong, "\n".join(wrong)
    assert counts["same"] or _KNOWN.get(name), f"{name}: none of {counts['samples']} samples could be compared"


def test_that_rows_and_entries_name_what_there_is():
    assert not set(_ROWS) - set(_INFOS), "rows of calls/ that PyTorch has no OpInfo for"
    assert not set(_KNOWN) - set(_ROWS), "entries of differences.yaml that calls/ has no row for"
