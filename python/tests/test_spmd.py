"""Placement rules asked from Python."""

import autophi as ap
import pytest
import autophi.distributed as dist
from autophi import spmd
from autophi.distributed import Partial, ProcessMesh, Replicate, Shard

MESH = ProcessMesh([[0, 1], [2, 3]], dim_names=["dp", "tp"])


def test_a_product_over_a_split_dim_is_partial():
    answer = spmd.infer("matmul", ([64, 32], [Shard(0), Shard(1)]), ([32, 16], [Replicate(), Shard(0)]), mesh=MESH)
    assert answer["out"].placements == (Shard(0), Partial())
    assert answer["out"].shape == (64, 16)
    assert answer.moves == ()
    assert repr(answer).splitlines()[0] == "matmul on mesh dp=2, tp=2 (MatmulInferSpmd)"


def test_what_must_move_is_told():
    answer = spmd.infer("softmax", ([8, 6], [Replicate(), Shard(-1)]), mesh=MESH, axis=1)
    assert [layout.name for layout in answer.moves] == ["x"]
    assert answer["x"].placements == (Replicate(), Replicate())
    assert "given as [Replicate(), Shard(1)]" in repr(answer)


def test_placements_equal_lists_and_tuples():
    answer = spmd.infer("softmax", ([8, 6], [Replicate(), Shard(-1)]), mesh=MESH, axis=1)
    given = answer["x"].given
    assert given == [Replicate(), Shard(1)] and [Replicate(), Shard(1)] == given and given == (Replicate(), Shard(1))
    assert given != [Replicate(), Replicate()] and not given == [Replicate()] and given != 3
    assert hash(given) == hash((Replicate(), Shard(1))) and {answer: 1}[answer] == 1
    x = dist.run_ranks(4, lambda: dist.shard_tensor(ap.ones([8, 6]), MESH, given).placements)[0]
    assert x == given and given == x


def test_attributes_change_the_answer():
    x = ([32, 64], [Shard(1), Replicate()])
    plain = spmd.infer("matmul", x, ([64, 16], []), mesh=MESH)
    transposed = spmd.infer("matmul", x, ([32, 16], []), mesh=MESH, transpose_x=True)
    assert plain["out"].placements == (Partial(), Replicate())
    assert transposed["out"].placements == (Shard(0), Replicate())


def test_inputs_from_outputs():
    answer = spmd.infer("matmul", ([8, 4], []), ([4, 6], []), mesh=MESH, outputs=[([8, 6], [Shard(0), Shard(1)])])
    assert answer["x"].placements == (Shard(0), Replicate())
    assert answer["y"].placements == (Replicate(), Shard(1))


def test_lists_and_absent_tensors():
    answer = spmd.infer("concat", [([2, 4], [Shard(1)]), ([3, 4], [])], mesh=MESH, axis=0)
    assert [layout.name for layout in answer.inputs] == ["x[0]", "x[1]"]
    assert answer["out"].shape == (5, 4)
    normal = spmd.infer("layer_norm", ([8, 6], [Shard(0)]), None, None, mesh=MESH)
    assert normal["scale"].placements is None
    assert "absent" in repr(normal)


def test_a_tensor_as_a_question():
    x = ap.tensor([[1.0, 2.0], [3.0, 4.0]])
    laid = ap.distributed.run_ranks(4, lambda: spmd.infer(
        "relu", ap.distributed.shard_tensor(x, MESH, [Shard(0), Shard(1)]))["out"].placements)
    assert laid == [(Shard(0), Shard(1))] * 4


def test_rules_of_all_operators():
    rules = spmd.rules()
    assert len(rules) > 400
    assert rules["matmul"].rule == "MatmulInferSpmd"
    assert repr(rules["matmul"]) == "matmul(x, y, transpose_x: bool, transpose_y: bool) -> out: MatmulInferSpmd"


@pytest.mark.parametrize(("ask", "kind", "says"), [
    (lambda: spmd.infer("matmull", ([2, 2], []), mesh=MESH), LookupError, "matmul"),
    (lambda: spmd.infer("matmul", ([2, 3], []), ([2, 3], []), mesh=MESH), ValueError, "must be equal"),
    (lambda: spmd.infer("matmul", ([2, 3], []), mesh=MESH), TypeError, "y is missing"),
    (lambda: spmd.infer("relu", ([2, 3], []), ([2, 3], []), mesh=MESH), TypeError, "takes 1 tensors"),
    (lambda: spmd.infer("relu", ([2, 3], [])), TypeError, "pass mesh="),
    (lambda: spmd.infer("relu", [2, 3], mesh=MESH), TypeError, "x must be"),
    (lambda: spmd.infer("relu", ([2, 3], [Shard(4)]), mesh=MESH), ValueError, "4"),
    (lambda: spmd.infer("matmul", ([2, 2], []), ([2, 2], []), mesh=MESH, transpose_x="yes"), TypeError,
     "matmul: argument 'transpose_x' must be bool, got str 'yes'"),
    (lambda: spmd.infer("softmax", ([2, 3], []), mesh=MESH, axes=1), ValueError, "axis"),
    (lambda: spmd.infer("softmax", ([2, 3], "S0"), mesh=MESH, axis=1), TypeError, "x: the placements must be a list"),
    (lambda: spmd.infer("softmax", ([2, 3], [0, None]), mesh=MESH, axis=1), TypeError, "x: the placements must be"),
    (lambda: spmd.infer("softmax", ([2, 3], Shard(0)), mesh=MESH, axis=1), TypeError, "x: the placements must be"),
    (lambda: spmd.infer("softmax", ([2.5, 3], []), mesh=MESH, axis=1), TypeError, "must be extents, got 2.5"),
    (lambda: spmd.infer("softmax", ([2, "3"], []), mesh=MESH, axis=1), TypeError, "must be extents, got '3'"),
    (lambda: spmd.infer("softmax", ([2, -3], []), mesh=MESH, axis=1), TypeError, "must be extents, got -3"),
    (lambda: spmd.infer("softmax", ([2, 3], [], "float"), mesh=[0, 1], axis=1), TypeError, "mesh must be a ProcessMesh"),
    (lambda: spmd.infer("softmax", ([2, 3], []), mesh=MESH, axis="x"), TypeError, "argument 'axis' must be int"),
    (lambda: spmd.infer("softmax", ([2, 3], []), mesh=MESH, axis=7), (ValueError, IndexError), "axis"),
    (lambda: spmd.infer("softmax", None, mesh=MESH, axis=1), ValueError, "x of softmax is not optional"),
    (lambda: spmd.infer("relu", ([2], []), mesh=MESH, outputs=7), TypeError, "outputs must be a list"),
    (lambda: spmd.infer("relu", ([2], []), mesh=MESH, outputs=[([2], "R")]), TypeError, r"outputs\[0\]: the placements"),
])
def test_bad_questions(ask, kind, says):
    with pytest.raises(kind, match=says):
        ask()
