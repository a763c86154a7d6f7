"""Optimizers against plain loops; rates; states; trainers and their checkpoints."""

import math

import numpy as np
import pytest
import small_gpt

import autophi as ap
import autophi.distributed as dist
from autophi import nn, optim, training

W, G = np.array([[1.0, -2.0], [0.5, 3.0]], np.float32), np.array([[0.1, 0.2], [-0.3, 0.4]], np.float32)


def leaf():
    return ap.tensor(W, dtype="float32").requires_grad_()


def stepped(make, steps=3, **options):
    w = leaf()
    optimizer = make([w], **options)
    for _ in range(steps):
        (w * ap.tensor(G)).sum().backward()
        optimizer.step()
        assert w.grad is None
    return w.numpy()


def test_sgd():
    want = W.astype(np.float64)
    for _ in range(3):
        want = want - 0.1 * (G + 0.01 * want)
    np.testing.assert_allclose(stepped(optim.SGD, lr=0.1, weight_decay=0.01), want, rtol=1e-6)


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum(nesterov):
    want, v = W.astype(np.float64), np.zeros((2, 2))
    for _ in range(3):
        v = 0.8 * v + G
        want = want - 0.1 * (G + 0.8 * v if nesterov else v)
    got = stepped(optim.Momentum, lr=0.1, momentum=0.8, nesterov=nesterov)
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_adamw(decay):
    want, m, v = W.astype(np.float64), np.zeros((2, 2)), np.zeros((2, 2))
    for t in (1, 2, 3):
        m, v = 0.9 * m + 0.1 * G, 0.95 * v + 0.05 * G.astype(np.float64) ** 2
        want = want - 0.01 * (decay * want + m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.95**t)) + 1e-8))
    got = stepped(optim.AdamW, lr=0.01, betas=(0.9, 0.95), weight_decay=decay)
    np.testing.assert_allclose(got, want, rtol=1e-5)
    if decay == 0.0:
        assert stepped(optim.Adam, lr=0.01, betas=(0.9, 0.95)).tolist() == got.tolist()


def test_clipping_and_what_a_step_tells():
    w = leaf()
    optimizer = optim.SGD([w], lr=1.0, grad_clip=0.1)
    (w * ap.tensor(G)).sum().backward()
    outcome = optimizer.step()
    norm = float(np.sqrt((G.astype(np.float64) ** 2).sum()))
    assert outcome.applied and outcome.grad_norm == pytest.approx(norm, rel=1e-6)
    np.testing.assert_allclose(w.numpy(), W - G * 0.1 / norm, rtol=1e-4)


def test_a_gradient_that_is_not_finite_changes_nothing():
    w = leaf()
    optimizer = optim.AdamW([w])
    (w * ap.tensor([[math.inf, 1.0], [1.0, 1.0]])).sum().backward()
    outcome = optimizer.step(check_finite=True)
    assert not outcome.applied and not math.isfinite(outcome.grad_norm)
    assert w.tolist() == W.tolist() and optimizer.updates == 0


def test_zero_grad_forgets():
    w = leaf()
    optimizer = optim.SGD([w], lr=1.0)
    (w * ap.tensor(G)).sum().backward()
    optimizer.zero_grad()
    assert w.grad is None


def test_rates():
    cosine = optim.cosine(2.0, total_steps=10, warmup_steps=2, min_ratio=0.5)
    assert [cosine.at(1), cosine.at(2)] == [1.0, 2.0] and cosine.at(10) == 1.0
    assert cosine.at(6) == pytest.approx(1.5)
    steps = optim.steps(1.0, [2, 4], gamma=0.5)
    assert [steps.at(s) for s in (1, 2, 3, 4, 5)] == [1.0, 1.0, 0.5, 0.5, 0.25]
    assert optim.constant(3.0, warmup_steps=3).at(1) == 1.0
    w = leaf()
    optimizer = optim.SGD([w], lr=optim.steps(1.0, [1], gamma=0.0))
    for _ in range(2):
        (w * ap.tensor(G)).sum().backward()
        optimizer.step()
    np.testing.assert_allclose(w.numpy(), W - G, rtol=1e-6)


@pytest.mark.parametrize(("act", "kind", "words"), [
    (lambda: optim.SGD([leaf()], lr="fast"), TypeError, "lr must be a number or a Rate"),
    (lambda: optim.AdamW([leaf()], betas=(1.0, 0.9)), ValueError, "betas must be at least 0 and less than 1"),
    (lambda: optim.AdamW([leaf()], grad_clip=-1.0), ValueError, "grad_clip"),
    (lambda: optim.SGD([]).step(), ValueError, "needs parameters"),
    (lambda: optim.SGD([ap.tensor(W)]).step(), ValueError, "of the 1 tensors in its list none requires a gradient"),
    (lambda: optim.SGD([leaf() * 2]).step(), ValueError, "was made by an operation"),
    (lambda: optim.SGD([1.0]).step(), TypeError, "must be tensors, got float"),
    (lambda: optim.SGD().step(), RuntimeError, "construct it with a model or tensors"),
    (lambda: optim.SGD([leaf()]).shard_states(5).step(), ValueError, "ZeRO stage 5 does not exist"),
    (lambda: optim.SGD([leaf()]).shard_states(1).step(), ValueError, "is a plain tensor"),
    (lambda: optim.AdamW([leaf()]).load_state_dict({"updates": 1}), ValueError, "states without a value: "),
    (lambda: training.Trainer(nn.Linear(2, 2), nn.cross_entropy, micro_batches=0), ValueError, "0 micro-batches"),
    (lambda: training.Trainer(nn.Linear(2, 2), nn.cross_entropy, schedule="1f2b"), LookupError,
     "did you mean '1f1b'"),
    (lambda: training.Trainer(nn.Linear(2, 2), nn.cross_entropy, recompute="some"), ValueError, "'some'"),
    (lambda: training.Trainer(nn.Linear(2, 2), nn.cross_entropy, memory=training.Memory(device=1 << 20)),
     ValueError, "set `capture` too"),
])
def test_errors_say_what_is_wrong(act, kind, words):
    with pytest.raises(kind) as caught:
        act()
    assert words in str(caught.value)


def test_a_list_leaves_frozen_tensors_frozen():
    model = nn.Linear(2, 2)
    model.bias.requires_grad = False
    before = model.bias.numpy().copy()
    optimizer = optim.AdamW([model.bias, model.weight], lr=0.1)
    model(ap.tensor(W)).sum().backward()
    optimizer.step()
    assert not model.bias.requires_grad and model.bias.numpy().tolist() == before.tolist()
    assert sorted(optimizer.state_dict()) == ["moment1.1", "moment2.1", "updates"]
    again = optim.AdamW([model.bias, model.weight], lr=0.1)
    again.load_state_dict(optimizer.state_dict())
    assert again.updates == 1 and not model.bias.requires_grad


def test_a_sharded_copy_of_a_parameter_is_refused():
    def rank():
        w = leaf()
        part = dist.shard_tensor(w, dist.ProcessMesh([0, 1], ["dp"]), [dist.Shard(0)])
        with pytest.raises(ValueError, match="is no leaf: an update of it would not reach"):
            optim.SGD([part]).step()
        own = dist.shard_tensor(w.detach(), dist.ProcessMesh([0, 1], ["dp"]), [dist.Shard(0)]).requires_grad_()
        optimizer = optim.SGD([own], lr=1.0)
        own.sum().backward()
        assert optimizer.step().applied
        return dist.unshard_dtensor(own.detach()).tolist()
    assert dist.run_ranks(2, rank) == [(W - 1).tolist()] * 2


def float64_steps(kind, grad_clip=0.0):
    rate, beta1, beta2, eps, decay, mu = 1e-2 / 3, 0.9, 0.95, 1e-8 / 3, 0.1 / 3, 0.8
    w = ap.tensor(W, dtype="float64").requires_grad_()
    make = {"adamw": lambda: optim.AdamW([w], rate, betas=(beta1, beta2), eps=eps, weight_decay=decay, grad_clip=grad_clip),
            "momentum": lambda: optim.Momentum([w], rate, momentum=mu, weight_decay=decay, grad_clip=grad_clip),
            "sgd": lambda: optim.SGD([w], rate, weight_decay=decay, grad_clip=grad_clip)}[kind]
    optimizer = make()
    want, m, v = W.astype(np.float64), np.zeros((2, 2)), np.zeros((2, 2))
    for t in (1, 2, 3):
        (w * w * ap.tensor(G, dtype="float64")).sum().backward()
        g = 2 * want * G.astype(np.float64)
        if grad_clip:
            g = g / max(1.0, (np.sqrt((g**2).sum()) + 1e-6) / grad_clip)
        if kind == "adamw":
            m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
            want = want - rate * (decay * want + m / (1 - beta1**t) / (np.sqrt(v / (1 - beta2**t)) + eps))
        elif kind == "momentum":
            m = mu * m + g + decay * want
            want = want - rate * m
        else:
            want = want - rate * (g + decay * want)
        optimizer.step()
    return w.numpy(), want


@pytest.mark.parametrize("kind", ["sgd", "momentum", "adamw"])
@pytest.mark.parametrize("grad_clip", [0.0, 0.3])
def test_steps_of_float64_have_all_its_digits(kind, grad_clip):
    got, want = float64_steps(kind, grad_clip)
    np.testing.assert_allclose(got, want, rtol=1e-13)


def test_states_go_from_one_to_another():
    model, other = nn.Linear(2, 2), nn.Linear(2, 2)
    first, second = optim.AdamW(model), optim.AdamW(other)
    x = ap.tensor(W)
    for _ in range(2):
        model(x).square().mean().backward()
        first.step()
    assert sorted(first.state_dict()) == ["moment1.bias", "moment1.weight", "moment2.bias", "moment2.weight",
                                          "updates"]
    other.load_state_dict(model.state_dict())
    second.load_state_dict(first.state_dict())
    assert second.updates == 2
    for net, optimizer in ((model, first), (other, second)):
        net(x).square().mean().backward()
        optimizer.step()
    assert model.weight.tolist() == other.weight.tolist()


def test_groups_and_rates_of_parameters():
    model = nn.Linear(2, 2)
    model.set_group("bias", trained=False)
    model.set_group("weight", rate=0.0)
    before = model.weight.tolist()
    optimizer = optim.SGD(model, lr=1.0)
    model(ap.tensor(W)).square().mean().backward()
    optimizer.step()
    assert model.weight.tolist() == before and model.bias.tolist() == [0.0, 0.0]
    assert list(optimizer.state_dict()) == ["updates"]


def test_zero_splits_states():
    def rank(stage):
        mesh = dist.ProcessMesh([0, 1], dim_names=["dp"])
        model = nn.Linear(4, 4)
        nn.shard(model, mesh, nn.Layout().batches({"dp": dist.Shard(0)}))
        optimizer = optim.AdamW(model)
        if stage:
            dist.shard_optimizer(optimizer, [dist.ShardingStage1, dist.ShardingStage2][stage - 1]("dp"))
        loader = dist.shard_dataloader([(ap.tensor(np.ones((4, 4), np.float32)),)], mesh, "dp")
        for (x,) in loader:
            assert x.local().shape == (2, 4) and len(loader) == 1
            model(x).square().mean().backward()
            optimizer.step()
        return optimizer.native.state_bytes, dist.unshard_dtensor(model.weight).tolist()
    whole, split, more = (dist.run_ranks(2, rank, stage) for stage in (0, 1, 2))
    assert whole[0][0] == 2 * 4 * 20 and split[0][0] == more[0][0] == whole[0][0] // 2
    np.testing.assert_allclose(split[0][1], whole[0][1], rtol=1e-6)
    np.testing.assert_allclose(more[1][1], whole[1][1], rtol=1e-6)


@pytest.mark.parametrize("stage", [1, 2, 3])
def test_a_trainer_with_zero(stage):
    want = small_gpt.losses(small_gpt.library_gpt)
    got = small_gpt.losses_on(small_gpt.PythonGpt, [2], ["dp"], zero_stage=stage)
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_a_loop_of_ones_own_gives_the_losses_of_a_trainer():
    want = small_gpt.losses(small_gpt.library_gpt)
    model = small_gpt.PlainGpt()
    optimizer = optim.AdamW(model, lr=3e-3, grad_clip=1.0)
    got = []
    for number in (1, 2, 3):
        ((ids, labels),) = small_gpt.batches(number, 1)
        loss = nn.cross_entropy(model(ids), labels)
        loss.backward()
        optimizer.step()
        got.append(loss.item())
    assert got == want


def test_a_loss_of_ones_own_and_hooks():
    seen = []
    trainer = training.Trainer(nn.Linear(2, 2), lambda x, y: (x - y).abs().mean(), optim.SGD(lr=0.1))
    trainer.on_step(lambda step, result: seen.append((step, result.loss, result.applied)))
    trainer.run(3, lambda number: (ap.tensor(W), ap.tensor(G)))
    assert [step for step, _, _ in seen] == [1, 2, 3] and seen[2][1] < seen[0][1] and seen[0][2]
    assert trainer.steps == 3 and trainer.next_batch == 4 and trainer.numbers["updates"] == 3
    assert sorted(trainer.states()) == ["bias", "weight"] and trainer.program is None

    def bad_loss(x, y):
        raise ZeroDivisionError("in the loss")
    with pytest.raises(ZeroDivisionError, match="in the loss"):
        training.Trainer(nn.Linear(2, 2), bad_loss).step((ap.tensor(W), ap.tensor(G)))
    with pytest.raises(TypeError, match="pairs of Tensor"):
        trainer.step([1, 2])
    with pytest.raises(ValueError, match="micro-batch"):
        trainer.step([(ap.tensor(W), ap.tensor(G))] * 2)


def test_numbers_that_are_not_finite_stop_the_training():
    trainer = training.Trainer(nn.Linear(2, 2), nn.mean_squared_error)
    with pytest.raises(FloatingPointError, match="not finite"):
        trainer.step((ap.tensor([[math.nan, 1.0]]), ap.tensor([[1.0, 1.0]])))


def test_checkpoints_go_on_on_another_mesh(tmp_path):
    want = small_gpt.losses(small_gpt.PythonGpt, steps=4)
    folder = str(tmp_path / "ckpt")

    def trained(steps, mesh, resume):
        model = small_gpt.PythonGpt()
        if mesh is not None:
            nn.shard(model, mesh, nn.transformer_layout(model, mesh))
        trainer = training.Trainer(model, nn.cross_entropy, optim.AdamW(lr=3e-3, grad_clip=1.0))
        if resume:
            training.load(folder, trainer)
        losses = [trainer.step(small_gpt.batches(trainer.next_batch, 1)).loss for _ in range(steps)]
        if not resume:
            training.save(folder, trainer)
        return losses

    def two():
        return trained(2, dist.ProcessMesh([0, 1], dim_names=["tp"]), resume=False)
    got = dist.run_ranks(2, two)[0] + trained(2, None, resume=True)
    np.testing.assert_allclose(got, want, rtol=1e-5)
    with pytest.raises(ValueError, match="up.weight"):
        other = nn.Sequential(nn.Linear(2, 2))
        training.load(folder, training.Trainer(other, nn.cross_entropy))


def test_a_checkpointer(tmp_path):
    def trainer():
        return training.Trainer(nn.Linear(2, 2), nn.mean_squared_error, optim.AdamW())
    batch = (ap.tensor(W), ap.tensor(G))
    first = trainer()
    checkpoints = training.Checkpointer(first, str(tmp_path), every=2, keep=1)
    assert checkpoints.resume() is None
    for _ in range(3):
        checkpoints.after_step(first.step(batch))
    checkpoints.finish()
    del checkpoints
    second = trainer()
    again = training.Checkpointer(second, str(tmp_path), every=2)
    path, step = again.resume()
    assert step == 3 and path.endswith("step-00000003") and second.steps == 3 and again.stop_signal == 0
    assert second.step(batch).loss == first.step(batch).loss
    with pytest.raises(ValueError, match="is being written by process"):
        training.Checkpointer(trainer(), str(tmp_path))
