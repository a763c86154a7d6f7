"""check_op, explain and assert_moves from Python."""

import json

import autophi as ap
import autophi.distributed as dist
import pytest
from autophi import testing
from autophi.distributed import ProcessMesh, Shard


def values(*shape):
    return ap.gaussian(list(shape), seed=3)


def test_an_operator_that_is_right():
    report = testing.check_op(lambda x, y: ap.matmul(x, y), values(6, 8), values(8, 4))
    assert report.calls > 100
    assert report.gradient_calls > 100
    assert report.differences > 0
    assert str(report) == (
        f"{report.calls} calls and {report.gradient_calls} gradients on meshes agree with one process, "
        f"{report.differences} gradient elements with finite differences")


def test_parts_of_partial_sums_are_not_the_value():
    def product_of_parts(x):
        parts = x.is_dist and list(x.process_mesh.shape) == [3] and x.placements[0].is_partial()
        return dist.dtensor_from_local(x.local() * x.local(), x.process_mesh, x.placements) if parts else x * x

    report = testing.try_op(product_of_parts, values(6, 8), gradients=False)
    assert len(report.failures) == 1
    assert "product_of_parts [P(sum)] on mesh(x=3)" in report.failures[0]
    assert str(report).startswith("1 of ")


def test_a_call_that_is_wrong_on_some_placement():
    def doubled_where_split(x):
        split = x.is_dist and any(p.is_shard() for p in x.placements)
        return x * 2.0 if split else x * 1.0

    report = testing.try_op(doubled_where_split, values(6, 8), gradients=False, partial=False)
    assert len(report.failures) == 3
    assert "x=2" in report.failures[0]
    with pytest.raises(AssertionError, match="doubled_where_split"):
        testing.check_op(doubled_where_split, values(6, 8), gradients=False, partial=False)


def test_what_the_function_throws_goes_through_with_its_traceback():
    def wrong(x):
        raise KeyError("of the test")

    with pytest.raises(KeyError, match="of the test") as caught:
        testing.check_op(wrong, values(2, 2))
    assert any(entry.name == "wrong" for entry in caught.traceback)


@pytest.mark.parametrize(("call", "says"), [(lambda: testing.check_op(ap.relu, 3), "input 0 must be Tensor"),
                                            (lambda: testing.check_op(lambda x: 3, values(2)), "must be a Tensor")])
def test_bad_arguments(call, says):
    with pytest.raises(TypeError, match=says):
        call()


def split_over_rows():
    mesh = ProcessMesh([0, 1], dim_names=["x"])
    return dist.shard_tensor(values(4, 6), mesh, [Shard(0)])


def test_explain_tells_what_moved_and_why():
    def body():
        x = split_over_rows()
        told = testing.explain(lambda: ap.softmax(x, 0), names={"weights": x})
        return told.num_calls, told.num_moves, told.bytes_sent, str(told), json.loads(told.to_json())

    calls, moves, sent, text, data = dist.run_ranks(2, body)[0]
    assert (calls, moves) == (1, 1)
    assert sent > 0
    assert "softmax" in text
    assert "weights" in text
    assert data["calls"][0]["op"] == "softmax"


def test_a_budget_of_moves():
    def body():
        x = split_over_rows()
        testing.assert_moves(lambda: ap.softmax(x, 1), bytes_at_most=0, reshards_at_most=0)
        with pytest.raises(AssertionError, match="softmax"):
            testing.assert_moves(lambda: ap.softmax(x, 0), bytes_at_most=0)

    dist.run_ranks(2, body)


def test_what_the_function_throws_is_no_budget():
    def body():
        with pytest.raises(RuntimeError, match="does not require a gradient"):
            testing.assert_moves(lambda: ap.grad(values(2), values(2)), bytes_at_most=0)

    dist.run_ranks(1, body)
