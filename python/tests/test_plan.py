"""Predictions of steps on machines that are not here."""

import small_gpt
import pytest

import autophi as ap
import autophi.distributed as dist
from autophi import nn, optim, plan, training

MACHINE = """
device: cpu
links: [{name: node, latency_us: 1, GBps: 1}]
families:
  float32:
    matmul: {ops: [matmul, matmul_grad], by: flops, points: [[1, 1e9]]}
    bytes: {points: [[1, 1e9]]}
"""


@pytest.fixture
def machine(tmp_path):
    path = tmp_path / "machine.yaml"
    path.write_text(MACHINE, encoding="utf-8")
    return path


def matmul_step(mesh, rows=64):
    def make_step():
        placements = [dist.Shard(0)] * len(mesh.shape)
        x = ap.placeholder([rows, 32], "float32", mesh, placements)
        w = ap.placeholder([32, 16], "float32", mesh, [dist.Replicate()] * len(mesh.shape))
        return lambda: ap.matmul(x, w)
    return make_step


def test_a_step_takes_its_flops(machine):
    mesh = dist.ProcessMesh(shape=[4], dim_names=["dp"])
    prediction = plan.simulate(matmul_step(mesh), mesh, machine=machine, items=64)
    assert prediction.step_seconds == pytest.approx(2 * 16 * 32 * 16 / 1e9)
    assert prediction.tokens_per_s == pytest.approx(64 / prediction.step_seconds)
    assert [rank["bytes_sent"] for rank in prediction.ranks] == [0] * 4
    assert str(prediction).startswith("predicted: ")
    assert prediction.values["step_seconds"] == prediction.step_seconds


def test_a_training_step_of_a_large_mesh(machine):
    mesh = dist.ProcessMesh(shape=[256, 8], dim_names=["dp", "tp"])

    def make_step():
        net = small_gpt.library_gpt()
        nn.shard(net, mesh, nn.transformer_layout(net, mesh))
        trainer = training.Trainer(net, nn.cross_entropy, optim.AdamW(lr=1e-3))
        ids = ap.placeholder([256, 16], "int64")
        return lambda: trainer.step([(ids, ids)])

    prediction = plan.simulate(make_step, mesh, machine=machine)
    assert prediction.step_seconds > 0
    assert sum(rank.get("count", 1) for rank in prediction.ranks) == 2048


def test_wrong_arguments(machine, tmp_path):
    mesh = dist.ProcessMesh(shape=[2], dim_names=["dp"])
    with pytest.raises(LookupError, match="no machine 'h100'.*h100_80g"):
        plan.simulate(matmul_step(mesh), mesh, machine="h100")
    with pytest.raises(ValueError, match=r"make_step\(\) must return the function of a step"):
        plan.simulate(lambda: None, mesh, machine=machine)
    with pytest.raises(ValueError, match="0 steps are predicted; pass 1 or more"):
        plan.simulate(matmul_step(mesh), mesh, machine=machine, steps=0)
    (tmp_path / "wrong.yaml").write_text("devize: cpu\n", encoding="utf-8")
    with pytest.raises(ValueError, match="wrong.yaml:1: "):
        plan.simulate(matmul_step(mesh), mesh, machine=tmp_path / "wrong.yaml")

    def failing():
        return lambda: ap.matmul(ap.placeholder([2, 3]), ap.placeholder([2, 3]))
    with pytest.raises(ValueError, match="matmul"):
        plan.simulate(failing, mesh, machine=machine)
