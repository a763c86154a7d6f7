"""Indices and slices, as NumPy has them."""

import numpy as np
import pytest

import autophi as ap
import autophi.distributed as dist

A = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
KEYS = ["0", "-1", "1, 2", "1, 2, 3", ":", "1:", ":, 1", "..., 0", "..., 1:3", "0, ..., -1", "...", "None",
        "None, 1", ":, None, 0", "..., None", "0:1, 1:3, 2:4", ":, ::2", ":, ::-1", "::-1, ::-2, ::3", ":, 5:9",
        ":, 2:1", ":, -2:", "1, ::-1", ":, 2:0:-1", ":, 100:0:-1", "np.int64(1)", "np.array(1)", "0, np.array(-1)", "ap.tensor(1)", "()"]


@pytest.mark.parametrize("key", KEYS)
def test_reading(key):
    expected = eval(f"a[{key.replace('ap.tensor(1)', '1')}]", {"a": A, "np": np})
    actual = eval(f"x[{key}]", {"x": ap.tensor(A), "np": np, "ap": ap})
    assert actual.shape == expected.shape and actual.tolist() == expected.tolist()


@pytest.mark.parametrize("key", [key for key in KEYS if "None" not in key])
@pytest.mark.parametrize("value", ["7.5", "row", "like"])
def test_assigning(key, value):
    expected, x = A.copy(), ap.tensor(A)
    shape = eval(f"a[{key.replace('ap.tensor(1)', '1')}]", {"a": A, "np": np}).shape
    given = {"7.5": 7.5, "row": np.float32(3), "like": -np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)}
    exec(f"a[{key.replace('ap.tensor(1)', '1')}] = v", {"a": expected, "np": np, "v": given[value]})
    exec(f"x[{key}] = v", {"x": x, "np": np, "ap": ap, "v": given[value]})
    assert x.tolist() == expected.tolist()


def test_masks_and_lists():
    x = ap.tensor(A)
    mask = x > 10
    assert x[mask].tolist() == A[A > 10].tolist()
    x[mask] = 0.0
    assert x.tolist() == np.where(A > 10, 0, A).tolist()
    assert ap.tensor(A)[[1, 0, -1]].tolist() == A[[1, 0, -1]].tolist()
    assert ap.tensor(A)[ap.tensor([-1, 0])].tolist() == A[[-1, 0]].tolist()
    y = ap.tensor([1.0, float("nan"), 3.0])
    y[ap.tensor([False, True, False])] = 5.0
    assert y.tolist() == [1, 5, 3]


@pytest.mark.parametrize("rows", [np.array([0, 1]), np.array([-1], "int8"), [1, 0, -2], [], np.array([], "int64"),
                                  np.array([True, False, True]), range(2), (np.array([1]))[0:1]], ids=repr)
def test_arrays_as_indices(rows):
    a = np.arange(6, dtype=np.float32).reshape(3, 2)
    if np.asarray(rows).dtype == bool:
        a = np.arange(3, dtype=np.float32)
    key = rows if not isinstance(rows, range) else list(rows)
    x = ap.tensor(a)
    assert x[key].tolist() == a[np.asarray(key, None if len(key) else int)].tolist()
    a[np.asarray(key, None if len(key) else int)] = 7
    x[key] = 7.0
    assert x.tolist() == a.tolist()


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_small_integers_as_indices_of_long_tensors(dtype):
    """Of tensors that are longer than the dtype counts."""
    a = np.arange(40000, dtype=np.float32)
    x, rows = ap.tensor(a), ap.tensor([100, 0, 5], dtype)
    assert x[rows].tolist() == x[rows.numpy()].tolist() == [100, 0, 5]
    x[rows] = ap.tensor([1.0, 2.0, 3.0])
    assert x[ap.tensor([5, 0, 100])].tolist() == [3, 2, 1]
    if dtype != "uint8":
        assert x[ap.tensor([-1, -2], dtype)].tolist() == [39999, 39998]


@pytest.mark.parametrize("row", [2, -3, 10**12])
@pytest.mark.parametrize("placement", [dist.Replicate(), dist.Shard(0), dist.Shard(1)], ids=str)
def test_rows_outside_are_index_errors(row, placement):
    def body():
        x = dist.shard_tensor([[1.0, 2.0], [3.0, 4.0]], dist.ProcessMesh([0, 1]), [placement])
        for call in (lambda: x[[0, row]], lambda: x.__setitem__([0, row], 1.0)):
            with pytest.raises(IndexError, match=rf"{row} at flat position 1, but .* has 2 entries.*\[-2, 2\)"):
                call()
        return x[[-2, 1]].sum().item() if placement == dist.Replicate() else 10.0
    assert dist.run_ranks(2, body) == [10.0, 10.0]
    x = ap.tensor([[1.0, 2.0], [3.0, 4.0]])
    for call in (lambda: x[[row]], lambda: x.__setitem__([row], 1.0), lambda: x[ap.tensor([row])]):
        with pytest.raises(IndexError, match=rf"{row} at flat position 0, but .* has 2 entries.*\[-2, 2\)"):
            call()


MASKS = [A > 10, A < 3, A < 0, A >= 0, A % 5 == 0]


@pytest.mark.parametrize("mask", MASKS, ids=lambda mask: str(mask.sum()))
@pytest.mark.parametrize("placements", [None, [dist.Replicate()], [dist.Shard(0)], [dist.Shard(2)]], ids=str)
def test_masks_take_values_in_order(mask, placements):
    """As NumPy: the k-th element that the mask picks becomes the k-th value."""
    values = -np.arange(1, mask.sum() + 1, dtype=A.dtype)
    expected = A.copy()
    expected[mask] = values

    def body():
        x, m = ap.tensor(A), ap.tensor(mask)
        if placements:
            mesh = dist.ProcessMesh([0, 1])
            x, m = dist.shard_tensor(x, mesh, placements), dist.shard_tensor(m, mesh, placements)
        x[m] = ap.tensor(values)
        return (dist.unshard_dtensor(x) if placements else x).tolist()
    assert all(each == expected.tolist() for each in dist.run_ranks(2, body))


def test_masks_of_fewer_dims_and_lists():
    x = ap.tensor([1.0, 2.0, 3.0])
    x[[True, False, True]] = [8.0, 9.0]
    assert x.tolist() == [8, 2, 9]
    x[x > 5] = [7.0]
    assert x.tolist() == [7, 2, 7]
    y = ap.tensor([[1.0, 2.0], [3.0, 4.0]])
    y[ap.tensor([[True, True], [False, True]])] = ap.tensor([10.0, 20.0, 30.0])
    assert y.tolist() == [[10, 20], [3, 30]]


@pytest.mark.parametrize("values", [[1.0, 2.0], [1.0, 2.0, 3.0, 4.0], [[1.0, 2.0, 3.0]], [], [[1.0, 2.0], [3.0, 4.0]]])
def test_masks_refuse_as_many_values_as_do_not_fit(values):
    x = ap.tensor([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(ValueError, match="to the 3 elements of .* that the mask selects; pass one number, or a tensor"):
        x[x > 1] = values
    assert x.tolist() == [[1, 2], [3, 4]]


def test_gradients_of_values_that_a_mask_takes():
    x = ap.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    v = ap.tensor([5.0, 6.0], requires_grad=True)
    y = x * 2.0
    y[ap.tensor([[False, True], [True, False]])] = v * 3.0
    (y * ap.tensor([[1.0, 10.0], [100.0, 1000.0]])).sum().backward()
    assert y.tolist() == [[2, 15], [18, 8]]
    assert x.grad.tolist() == [[2, 0], [0, 2000]] and v.grad.tolist() == [30, 300]


@pytest.mark.parametrize("key, kind, words", [
    ("2", IndexError, "index 2 is outside tensor dim 0, which has 2 elements"),
    ("0, -4", IndexError, "index -4 is outside tensor dim 1, which has 3 elements"),
    ("0, 0, 0, 0", IndexError, "4 indices of f32[2,3,4], which has 3 tensor dims"),
    ("..., ...", IndexError, "at most one '...' is allowed"),
    ("'a'", TypeError, "an index must be an int, a slice"),
    ("1.5", TypeError, "an index must be an int, a slice"),
    ("0, True", TypeError, "an index must be an int, a slice"),
    ("ap.tensor([True])", IndexError, "cannot select elements of f32[2,3,4]"),
    ("ap.tensor([0.5])", IndexError, "cannot select elements of f32[2,3,4]"),
    ("2**80", IndexError, "cannot fit"),
])
def test_wrong_indices(key, kind, words):
    for text in (f"x[{key}]", f"x.__setitem__({key if ',' not in key else f'({key})'}, 1.0)"):
        with pytest.raises(kind) as error:
            eval(text, {"x": ap.tensor(A), "ap": ap})
        assert words in str(error.value)


def test_wrong_assignments():
    x = ap.tensor(A)
    with pytest.raises(ValueError, match=r"broadcast|fit"):
        x[0] = ap.ones([5])
    with pytest.raises(ValueError, match="f64"):
        x[0] = ap.ones([4], "float64")
    with pytest.raises(IndexError, match="None is not allowed as an index in an assignment"):
        x[None] = 1.0
    with pytest.raises(TypeError, match="cannot be deleted"):
        del x[0]
    with pytest.raises(ValueError, match=r"broadcast|fit|expand"):
        x[[0, 1]] = ap.ones([5])


@pytest.mark.parametrize("rows", [[1], [0, -1], [-2, 0, 0]])
def test_rows_that_integers_pick_are_assigned(rows):
    each = np.arange(12.0 * len(rows), dtype=A.dtype).reshape(len(rows), 3, 4)
    for value in (7.0, np.arange(12.0, dtype=A.dtype).reshape(3, 4), each):
        a, x = A.copy(), ap.tensor(A)
        a[rows] = value
        x[rows] = value if isinstance(value, float) else ap.tensor(value)
        assert np.array_equal(x.numpy(), a)


def test_gradients_of_rows_that_integers_pick():
    x = ap.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    rows = ap.tensor([[5.0, 6.0]], requires_grad=True)
    y = x * 2.0
    y[[1]] = rows * 3.0
    y.sum().backward()
    assert x.grad.tolist() == [[2, 2], [0, 0]] and rows.grad.tolist() == [[3, 3]]


def test_the_last_writer_of_a_row_has_the_gradient():
    for write in (lambda y, v: y.__setitem__([0, 0, 1, -2], v),
                  lambda y, v: y.scatter_(ap.tensor([0, 0, 1, 0]), v),
                  lambda y, v: ap.index_put_(y, [ap.tensor([0, -2, 1, 0])], v),
                  lambda y, v: ap.put_along_axis(y, ap.tensor([[0, 0], [0, 0], [1, 1], [0, 0]]), v, 0)):
        x = ap.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        v = ap.tensor(np.arange(8.0, dtype=np.float32).reshape(4, 2), requires_grad=True)
        y = x * 2.0
        written = write(y, v)
        y = y if written is None else written
        (y * ap.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
        assert y.tolist() == [[6, 7], [4, 5]]
        assert v.grad.tolist() == [[0, 0], [0, 0], [3, 4], [1, 2]] and x.grad.tolist() == [[0, 0], [0, 0]]


def test_a_value_that_is_spread_over_rows_written_twice():
    v = ap.tensor([5.0, 6.0], requires_grad=True)
    y = ap.zeros([3, 2])
    y[[1, 1, 2]] = v
    y.sum().backward()
    assert v.grad.tolist() == [2, 2]


def test_iteration():
    x = ap.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    a, b = x
    assert b.tolist() == [3, 4] and 3.0 in x[1]
    for call in (len, iter):
        with pytest.raises(TypeError, match="0-D"):
            call(ap.tensor(1.0))


def test_gradients_go_through_both():
    x = ap.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1.0
    y[0] = x[1] * 10.0
    y.sum().backward()
    assert x.grad.tolist() == [[0, 0], [11, 11]]
