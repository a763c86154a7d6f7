"""Pictures at the prompt and in notebooks, and Ctrl-C."""

import xml.etree.ElementTree as ElementTree

import autophi as ap
import autophi.distributed as dist
import pytest
from autophi.distributed import Partial, ProcessMesh, Replicate, Shard

MESH = ProcessMesh([[0, 1], [2, 3]], dim_names=["dp", "tp"])


def on_rank_0(body):
    return dist.run_ranks(4, body)[0]


def parsed(html):
    """Notebooks take what is well formed."""
    return ElementTree.fromstring(html)


def texts(html, tag):
    return [element.text for element in parsed(html).iter() if element.tag.endswith(tag)]


def test_a_sharding_is_its_line_and_looks_like_a_picture():
    sharding = on_rank_0(lambda: dist.shard_tensor(ap.ones([6, 4]), MESH, [Shard(0), Shard(1)]).sharding)
    assert sharding == "f32[6,4] [S0,S1] on mesh(dp=2,tp=2)"
    assert str(sharding) == sharding
    assert "rank 3 (dp=1,tp=1): [3:6,2:4], 6 elements" in repr(sharding)
    assert repr(ap.ones([2]).sharding) == "f32[2]"


def test_the_picture_names_who_holds_what():
    html = on_rank_0(lambda: dist.shard_tensor(ap.ones([6, 4]), MESH, [Shard(0), Partial()]).sharding._repr_html_())
    assert "[0:3,0:4] on ranks 0+1" in texts(html, "title")
    assert "[3:6,0:4] on ranks 2+3" in texts(html, "title")


def test_splits_of_three_dims_are_several_pictures():
    mesh = ProcessMesh(shape=[2, 2, 2], dim_names=["a", "b", "c"])
    html = dist.run_ranks(8, lambda: dist.shard_tensor(
        ap.ones([4, 4, 4]), mesh, [Shard(0), Shard(1), Shard(2)]).sharding._repr_html_())[0]
    assert "[2:4,0:2,2:4] on rank 5" in texts(html, "title")
    assert "of 0:2" in texts(html, "text")
    assert "of 2:4" in texts(html, "text")


@pytest.mark.parametrize("placements", [[Replicate(), Replicate()], [Shard(0), Shard(0)], [Shard(1), Replicate()]])
@pytest.mark.parametrize("shape", [[4], [1, 4], [3, 5, 2], [0, 4]])
def test_every_layout_is_well_formed(shape, placements):
    if len(shape) == 1:
        placements = [p if not p.is_shard(1) else Shard(0) for p in placements]
    html = on_rank_0(lambda: dist.shard_tensor(ap.ones(shape), MESH, placements)._repr_html_())
    assert parsed(html).tag == "div"


@pytest.mark.parametrize("x", [[1.0, float("nan"), float("-inf")], [[1, 2]], 3.5, [], [[0.5] * 20]])
def test_plain_tensors_are_well_formed(x):
    assert parsed(ap.tensor(x)._repr_html_()).tag == "div"


def test_values_are_in_the_page():
    assert {"1.5", "-2"} <= set(texts(ap.tensor([[1.5, -2.0]])._repr_html_(), "td"))


def test_a_mesh_is_a_table_of_ranks():
    cells = texts(ProcessMesh([[0, 1], [5, 3]], dim_names=["dp", "tp"])._repr_html_(), "td")
    assert cells == ["dp=0", "0", "1", "dp=1", "5", "3"]
    assert texts(ProcessMesh([2, 4])._repr_html_(), "td")[1:] == ["2", "4"]


def test_names_cannot_write_html():
    html = ProcessMesh([0, 1], dim_names=["<b>"])._repr_html_()
    assert "<b>" not in html
    assert parsed(html).tag == "div"


def test_schedules():
    schedule = dist.Schedule("zb_h1", stages=2, micro_batches=2)
    assert schedule.actions == [["F0", "F1", "B0", "W0", "B1", "W1"], ["F0", "B0", "F1", "B1", "W0", "W1"]]
    assert 0 < schedule.bubble_rate < 0.5
    assert "stage 0 |F0" in schedule.to_text().replace("-", "")
    assert "stage 1: backward_weight of micro-batch 1, 6 to 7" in texts(schedule._repr_html_(), "title")
    assert dist.schedule_kinds() == ["gpipe", "1f1b", "interleaved", "zb_h1", "zb_h2"]
    with pytest.raises(LookupError, match="gpipe"):
        dist.Schedule("gpip", stages=2, micro_batches=2)
    with pytest.raises(ValueError, match="stages"):
        dist.Schedule("gpipe", stages=0, micro_batches=2)


_INTERRUPTED = """
import os, signal, threading, time
import autophi as ap
import autophi.distributed as dist
def body():
    {work}
threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begin = time.monotonic()
try:
    dist.run_ranks(2, body)
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - begin < 8)
print(dist.run_ranks(2, dist.rank))
"""


@pytest.mark.parametrize("work", ["while True: ap.add(ap.ones([2]), ap.ones([2]))",
                                  "dist.barrier() if dist.rank() else [time.sleep(0.01) for _ in range(10**5)]"])
def test_ctrl_c_ends_a_run_of_ranks(run_program, work):
    said = run_program(_INTERRUPTED.format(work=work)).both
    assert "interrupted True" in said, said
    assert "[0, 1]" in said
