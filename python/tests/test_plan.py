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


class Block(nn.Module):
    """Says nothing of how it is split."""

    def __init__(self, d):
        super().__init__()
        self.norm, self.up, self.down = nn.RMSNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        return x + self.down(ap.relu(self.up(self.norm(x))))


def make_net(blocks=4):
    net = nn.Sequential().append("tokens", nn.Embedding(64, 32))
    net.repeat("block", [Block(32) for _ in range(blocks)])
    return net.append("head", nn.Head(32, 64))


def planned_on(machine, **options):
    ids, labels = ap.placeholder([8, 16], "int64"), ap.placeholder([8, 16, 1], "int64")
    return plan.plan_model(make_net, nn.cross_entropy, ids, labels, machine=machine, finalists=2, **options)


def losses_of(net, **options):
    trainer = training.Trainer(net, nn.cross_entropy, optim.AdamW(lr=1e-2), **options)
    count = options.get("micro_batches", 1)
    ids = ap.tensor([[(row * 16 + column) % 64 for column in range(16)] for row in range(8)])
    labels = ap.tensor([[[(row * 112 + column * 7 + 1) % 64] for column in range(16)] for row in range(8)])
    rows = 8 // count
    batches = [(ids[i * rows:(i + 1) * rows], labels[i * rows:(i + 1) * rows]) for i in range(count)]
    return [trainer.step(batches).loss for _ in range(3)]


@pytest.mark.parametrize("fixed", [{"tp": 4}, {"pp": 2, "tp": 2}, {"pp": 4, "schedule": "1f1b"}])
def test_a_planned_module_trains_as_the_whole_one(machine, fixed):
    planned = planned_on(machine, devices=4, fixed=fixed)
    expected = losses_of(make_net())
    assert list(planned.mesh.dim_names) == ["dp", "pp", "tp"]
    assert planned.plans[0]["layout"]["tp"] == fixed.get("tp", 1)
    assert planned.step_seconds == planned.plans[0]["predicted"]["step_seconds"] > 0

    def body(results):
        net = make_net()
        nn.shard(net, planned.mesh, planned.layout)
        results.append(losses_of(net, **planned.trainer))

    results = []
    dist.run_ranks(4, body, results)
    assert len(results) == 4
    for losses in results:
        assert losses == pytest.approx(expected, abs=1e-4)


def test_a_short_model_gives_the_same_plan(machine):
    whole, tried = planned_on(machine, devices=4), planned_on(machine, devices=4, make_short=make_net)
    assert tried.plans[0]["layout"] == whole.plans[0]["layout"]
    assert tried.step_seconds == whole.step_seconds


def test_a_plan_says_why(machine):
    planned = planned_on(machine, devices=2, fixed={"tp": 2})
    assert any(reason.startswith("block2.up.weight {tp: S1}: next best") for reason in planned.reasons)
    pinned = planned_on(machine, devices=2, fixed={"tp": 2},
                        pins=nn.Layout().parameters("block*.up.weight", {"tp": dist.Replicate()}))
    assert "block2.up.weight {tp: R}: pin" in pinned.reasons
    assert "  block*.up.weight {tp: R}: pin (4 of them)\n" in str(pinned)


def test_plans_that_cannot_be_made(machine):
    with pytest.raises(ValueError, match="cannot fix tpp=2: expected KEY=VALUE.*tp"):
        planned_on(machine, devices=2, fixed={"tpp": 2})
    with pytest.raises(MemoryError, match="possible layouts fits into 1000 B"):
        planned_on(machine, devices=2, memory=1000)
    with pytest.raises(ValueError, match="0 finalists; pass 1 or more"):
        plan.plan_model(make_net, nn.cross_entropy, ap.placeholder([8, 16], "int64"), ap.placeholder([8, 16, 1], "int64"),
                        devices=2, machine=machine, finalists=0)
    with pytest.raises(ValueError, match=r"make_model\(\) must return a module; it returned 3"):
        plan.plan_model(lambda: 3, nn.cross_entropy, ap.placeholder([8, 16], "int64"),
                        ap.placeholder([8, 16, 1], "int64"), devices=2, machine=machine)
