"""Distributed tensors on ranks that are threads of this process."""

import pickle
import time
import traceback

import numpy as np
import pytest

import autophi as ap
import autophi.distributed as dist
from autophi.distributed import Partial, ProcessMesh, Replicate, Shard

A = np.arange(12, dtype=np.float32).reshape(4, 3)


def test_meshes():
    mesh = ProcessMesh([[0, 1], [2, 3]], dim_names=["dp", "tp"])
    assert mesh == ProcessMesh(shape=[2, 2], dim_names=["dp", "tp"]) and hash(mesh) == hash(pickle.loads(pickle.dumps(mesh)))
    assert mesh != ProcessMesh([0, 1]) and mesh != 3 and (mesh == None) is False  # noqa: E711
    assert (mesh.shape, mesh.ndim, mesh.size, mesh.dim_names) == ([2, 2], 2, 4, ["dp", "tp"])
    assert mesh.get_dim_size("tp") == mesh.get_dim_size(-1) == 2 and mesh.process_ids == [0, 1, 2, 3]
    assert mesh.coord_of(2) == [1, 0] and mesh.coord_of(9) is None and 3 in mesh and not mesh.contains(4)
    assert mesh.slice("dp", 1) == ProcessMesh([2, 3], ["tp"])
    assert repr(mesh) == "ProcessMesh(shape=[2, 2], dim_names=['dp', 'tp'])" and str(mesh) == "mesh(dp=2,tp=2)"
    assert ProcessMesh(np.arange(4).reshape(2, 2), ["dp", "tp"]) == mesh
    odd = ProcessMesh([3, 1])
    assert odd.process_ids == [3, 1] and eval(repr(odd)) == odd and pickle.loads(pickle.dumps(odd)) == odd


@pytest.mark.parametrize("call, kind, words", [
    ("ProcessMesh()", ValueError, "neither is passed"),
    ("ProcessMesh([0], shape=[1])", ValueError, "both are passed"),
    ("ProcessMesh([0, 1], process_ids=[1, 0])", ValueError, "only with a shape"),
    ("ProcessMesh([0.5])", ValueError, "which must be integers"),
    ("ProcessMesh([0, 0])", ValueError, "0"),
    ("ProcessMesh([0, 1], ['a', 'b'])", ValueError, "name"),
    ("ProcessMesh([0, 1]).get_dim_size('x')", LookupError, "x"),
    ("ProcessMesh([0, 1]).get_dim_size(1)", IndexError, "no mesh dim 1"),
    ("Partial('sun')", ValueError, "sun"), ("Shard(100)", ValueError, "dim is 100"),
])
def test_wrong_meshes_and_placements(call, kind, words):
    with pytest.raises(kind) as error:
        eval(call)
    assert words in str(error.value)


def test_placements():
    assert Shard(1).is_shard() and Shard(1).is_shard(1) and not Shard(1).is_shard(0) and Shard(1).get_dim() == 1
    assert isinstance(Shard(0), Shard) and isinstance(Shard(0), dist.Placement) and not isinstance(Shard(0), Replicate)
    assert Replicate().is_replicated() and Replicate().is_replicate() and Partial().is_partial()
    assert Shard(0) == Shard(0) != Shard(1) and Shard(0) != "S0" and len({Shard(0), Shard(0), Replicate()}) == 2
    for p in (Shard(2), Shard(0, order=1), Replicate(), Partial(), Partial("max")):
        assert eval(repr(p)) == p == pickle.loads(pickle.dumps(p)) and type(eval(repr(p))) is type(p)


def test_ranks_are_threads():
    assert dist.run_ranks(3, lambda: (dist.rank(), dist.world_size(), dist.backend())) == [
        (r, 3, "local") for r in range(3)]
    assert (dist.rank(), dist.world_size()) == (0, 1)
    assert dist.run_ranks(2, lambda a, b: a + b + dist.rank(), 10, 20) == [30, 31]


@pytest.mark.parametrize("placement", [Shard(0), Shard(1), Shard(-1), Replicate(), Partial(), Partial("max")], ids=repr)
def test_sharding_and_back(placement):
    def body():
        mesh = ProcessMesh([0, 1, 2], ["x"])
        x = dist.shard_tensor(A, mesh, [placement])
        assert x.is_dist and x.process_mesh == mesh and x.shape == (4, 3) and x.size == 12
        (lies,) = x.placements
        assert type(lies) is type(placement) and (not lies.is_shard() or lies.dim == placement.dim % 2)
        assert dist.unshard_dtensor(x).tolist() == A.tolist()
        y = dist.reshard(x, mesh, [Replicate()])
        assert y.numpy().tolist() == y.tolist() == A.tolist()
        return x.local().shape

    shapes = dist.run_ranks(3, body)
    expected = {Shard(0): [(2, 3), (1, 3), (1, 3)], Shard(1): [(4, 1)] * 3, Shard(-1): [(4, 1)] * 3}
    assert shapes == expected.get(placement, [(4, 3)] * 3)


def test_operators_keep_placements_and_gradients_come_back():
    def body():
        mesh = ProcessMesh([[0, 1], [2, 3]], ["dp", "tp"])
        x = dist.shard_tensor(ap.tensor(A), mesh, [Shard(0), Replicate()])
        w = dist.shard_tensor(ap.tensor(A.T, requires_grad=False), mesh, [Replicate(), Shard(1)])
        w.requires_grad = True
        y = x @ w
        assert y.placements == [Shard(0), Shard(1)]
        (y * y).sum().backward()
        assert w.grad.placements == [Replicate(), Shard(1)]
        return dist.unshard_dtensor(w.grad).numpy()

    expected = 2 * A.T @ (A @ A.T)
    for gradient in dist.run_ranks(4, body):
        np.testing.assert_allclose(gradient, expected, rtol=1e-5)


def test_ranks_outside_a_mesh_hold_nothing():
    def body():
        x = dist.shard_tensor(ap.tensor(A), ProcessMesh([0, 1], ["x"]), [Shard(0)])
        y = ap.exp(x)
        if dist.rank() == 2:  # alone: nothing here asks others
            assert y.nbytes_here == 0 and not y.initialized and "outside" in repr(y)
            whole = dist.shard_tensor(ap.tensor(A), ProcessMesh([0, 1], ["x"]), [Replicate()])
            for call in (whole.tolist, whole.numpy, whole[0, 0].item, lambda: memoryview(whole), whole.__dlpack__):
                with pytest.raises(RuntimeError, match="outside its mesh"):
                    call()
        z = dist.reshard(y, ProcessMesh([2, 0], ["x"]), [Replicate()])
        return z.tolist() if dist.rank() in (2, 0) else None

    results = dist.run_ranks(3, body)
    np.testing.assert_allclose(results[2], np.exp(A), rtol=1e-6)
    assert results[1] is None


def test_a_part_is_no_whole():
    def body():
        x = dist.shard_tensor(A, ProcessMesh([0, 1]), [Shard(0)])
        for call in (x.numpy, x.tolist, lambda: memoryview(x), x.__dlpack__):
            with pytest.raises(ValueError, match=r"x.local\(\) returns the shard, distributed.unshard_dtensor\(x\)"):
                call()
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(x)
        assert repr(x).startswith("Tensor f32[4,3] [S0] on mesh(d0=2)\nrank ")
        assert "0:2" in dist.picture(x)

    dist.run_ranks(2, body)


def test_parts_into_a_tensor():
    def body():
        mesh = ProcessMesh([0, 1], ["x"])
        part = ap.tensor(A[:2] if dist.rank() == 0 else A[2:])
        x = dist.dtensor_from_local(part, mesh, [Shard(0)])
        assert x.shape == (4, 3)
        assert dist.dtensor_to_local(x).tolist() == part.tolist()
        assert dist.dtensor_to_local(x, mesh, [Replicate()]).tolist() == A.tolist()
        made = dist.dtensor_from_fn(ap.full, mesh, [Shard(0)], [4], 2.0, dtype="float64")
        assert made.local().tolist() == [2, 2] and made.dtype is ap.float64

    dist.run_ranks(2, body)


def test_the_mesh_that_is_set():
    def body():
        assert dist.get_mesh() is None
        with pytest.raises(RuntimeError, match="set_mesh"):
            dist.shard_tensor(A, placements=[Shard(0)])
        mesh = ProcessMesh([0, 1])
        dist.set_mesh(mesh)
        assert dist.get_mesh() == mesh
        x = dist.shard_tensor(A, placements=[Shard(0)])
        y = dist.reshard(x, None, [Shard(1)])
        dist.set_mesh(None)
        return y.process_mesh == mesh and dist.get_mesh() is None

    assert dist.run_ranks(2, body) == [True, True]


def test_transfers_in_flight():
    def body():
        x = dist.shard_tensor(A, ProcessMesh([0], ["x"]), [Replicate()])
        pending = [dist.start_reshard(x * float(i), ProcessMesh([1], ["x"]), [Replicate()]) for i in range(3)]
        values = [p.wait() for p in reversed(pending)]
        dist.barrier()  # now what was sent is there
        assert all(p.done() for p in pending)
        with pytest.raises(RuntimeError):
            pending[0].wait()
        return [v.tolist() for v in values] if dist.rank() == 1 else None

    assert dist.run_ranks(2, body)[1] == [(A * i).tolist() for i in (2, 1, 0)]


def fails_on_one():
    if dist.rank() == 1:
        raise KeyError("of rank 1")
    dist.barrier()


def test_an_error_on_one_rank_ends_all_and_keeps_its_traceback():
    with pytest.raises(KeyError, match="of rank 1") as error:
        dist.run_ranks(3, fails_on_one)
    text = "".join(traceback.format_exception(error.value))
    assert "fails_on_one" in text and "at rank 1 of 3" in text


def test_an_error_of_the_library_on_a_rank():
    def body():
        return dist.shard_tensor(A, ProcessMesh([0, 1]), [Shard(5)])

    with pytest.raises(ValueError, match="Shard|tensor dim") as error:
        dist.run_ranks(2, body)
    assert error.value.__notes__[0].startswith("at rank ")


def test_a_rank_that_does_not_come_is_a_timeout():
    def body():
        if dist.rank() == 0:
            dist.barrier()
        else:
            time.sleep(3)

    with pytest.raises(TimeoutError, match="rank"):
        dist.run_ranks(2, body, deadline=0.3)


@pytest.mark.parametrize("n", [0, -1])
def test_too_few_ranks(n):
    with pytest.raises(ValueError, match="ranks"):
        dist.run_ranks(n, print)


def test_results_and_arguments_are_let_go_of():
    import gc
    import weakref

    class Thing:
        pass

    things = dist.run_ranks(2, Thing)
    ended = [weakref.ref(thing) for thing in things]
    del things
    gc.collect()
    assert [e() for e in ended] == [None, None]


def test_counters_tell_what_a_rank_did():
    def body():
        x = dist.shard_tensor(A, ProcessMesh([0], ["x"]), [Replicate()])
        before = dist.counters()
        ap.exp(x)
        after = dist.counters()
        return [after[name] - before[name] for name in ("ops_launched", "ops_clipped")]

    assert dist.run_ranks(2, body) == [[1, 0], [0, 1]]


def test_communication_on_plain_tensors_waits_without_the_lock():
    def body():
        return ap.all_reduce(ap.tensor([float(dist.rank() + 1)])).tolist()

    assert dist.run_ranks(3, body) == [[6.0]] * 3


def test_integers_of_distributed_tensors_keep_all_their_digits():
    def body():
        x = dist.shard_tensor(np.array([2**60 + 1]), ProcessMesh([0, 1], ["x"]), [Replicate()])
        assert int(x) == x.item() == 2**60 + 1 and x.tolist() == [2**60 + 1]
        with pytest.raises(ValueError, match="distributed.unshard_dtensor"):
            int(dist.shard_tensor(np.array([2**60 + 1]), ProcessMesh([0, 1], ["x"]), [Shard(0)]))
        return range(9)[dist.shard_tensor(np.array(7), ProcessMesh([0, 1], ["x"]), [Replicate()])]

    assert dist.run_ranks(2, body) == [7, 7]
    assert int(ap.tensor(-2.75)) == -2 and int(ap.tensor([2**60 + 1])) == 2**60 + 1 and int(ap.tensor(True)) == 1
    for number, kind in ((float("nan"), ValueError), (float("inf"), OverflowError)):
        with pytest.raises(kind):
            int(ap.tensor(number))


@pytest.mark.parametrize("shape", [(4, 3), (64, 60)])
@pytest.mark.parametrize("start, end", [([Replicate()], [Partial()]), ([Replicate()], [Shard(0)]), ([Shard(1)], [Replicate()])])
def test_what_moves_give_is_a_value_of_its_own(shape, start, end):
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)

    def body():
        whole, part = ProcessMesh([0, 1]), ProcessMesh([0])
        found = []
        for mesh in (whole, part):
            x = dist.shard_tensor(values.copy(), whole, start)
            y = dist.reshard(x, mesh, end)
            z = dist.start_reshard(x, mesh, end)
            x *= 2.0
            z = z.wait()
            y *= 3.0
            found.append([dist.unshard_dtensor(dist.reshard(t, whole, [Replicate()])).numpy() for t in (x, y, z)])
        return found

    for found in dist.run_ranks(2, body):
        for x, y, z in found:
            np.testing.assert_array_equal(x, 2 * values)
            np.testing.assert_array_equal(y, 3 * values)
            np.testing.assert_array_equal(z, values)


def test_a_view_that_placements_do_not_allow_cannot_be_written_to():
    def body():
        mesh = ProcessMesh([0, 1])
        weight = dist.shard_tensor(np.ones((4, 4), np.float32), mesh, [Shard(1)])
        flat = weight.reshape([16])
        with pytest.raises(RuntimeError, match="reshape made of a tensor whose placements do not allow a view"):
            flat.fill_(0)
        with pytest.raises(RuntimeError, match=r"clone\(\) the result"):
            flat[0:4] = 1.0
        dist.reshard(weight, mesh, [Shard(0)]).reshape([16]).fill_(0)
        rows = dist.shard_tensor(np.ones((4, 4), np.float32), mesh, [Shard(0)])
        rows.reshape([16]).fill_(0)
        return float(dist.unshard_dtensor(weight).sum()), float(dist.unshard_dtensor(rows).sum())

    assert dist.run_ranks(2, body) == [(16.0, 0.0)] * 2
