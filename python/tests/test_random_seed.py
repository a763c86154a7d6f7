"""Seeds that are left out come from the rank's generator; explicit ones are what they say."""

import inspect

import numpy as np
import pytest

import autophi as ap
import autophi.distributed as dist
from autophi import nn, optim, training
from autophi.distributed import ProcessMesh, Replicate, Shard


def half(*shape):
    return ap.full(list(shape) or [64], 0.5)


def gru(**seed):
    x, h = ap.gaussian([3, 2, 4], seed=1), ap.zeros([2, 2, 4])
    weights = [ap.gaussian([12, 4] if i < 4 else [12], seed=i) for i in range(8)]
    return ap.gru(x, h, weights, None, 0.5, num_layers=2, **seed)[0]


def lstm(**seed):
    x, h = ap.gaussian([3, 2, 4], seed=1), ap.zeros([2, 2, 4])
    weights = [ap.gaussian([16, 4] if i < 4 else [16], seed=i) for i in range(8)]
    return ap.lstm(x, h, h, weights, None, 0.5, num_layers=2, **seed)[0]


def rnn(**seed):
    x, h = ap.gaussian([3, 2, 4], seed=1), ap.zeros([2, 2, 4])
    weights = [ap.gaussian([4, 4] if i < 4 else [4], seed=i) for i in range(8)]
    return ap.rnn(x, [h], weights, None, h, 0.5, input_size=4, hidden_size=4, num_layers=2, **seed)[0]


# A row for each operator that takes a seed.
CALLS = {
    "gaussian": lambda **seed: ap.gaussian([64], **seed),
    "uniform": lambda **seed: ap.uniform([64], **seed),
    "truncated_gaussian_random": lambda **seed: ap.truncated_gaussian_random([64], **seed),
    "randint": lambda **seed: ap.randint(0, 2**30, [64], **seed),
    "randperm": lambda **seed: ap.randperm(64, **seed),
    "dropout": lambda **seed: ap.dropout(half(), **seed),
    "bernoulli": lambda **seed: ap.bernoulli(half(), **seed),
    "binomial": lambda **seed: ap.binomial(ap.full([64], 50, dtype="int32"), half(), **seed),
    "poisson": lambda **seed: ap.poisson(ap.full([64], 9.0), **seed),
    "standard_gamma": lambda **seed: ap.standard_gamma(half(), **seed),
    "dirichlet": lambda **seed: ap.dirichlet(half(16, 4), **seed),
    "exponential_": lambda **seed: ap.exponential_(half(), 1.0, **seed),
    "multinomial": lambda **seed: ap.multinomial(half(), 16, **seed),
    "rrelu": lambda **seed: ap.rrelu(-half(), **seed),
    "class_center_sample": lambda **seed: ap.class_center_sample(ap.tensor([1, 3]), 999, 20, **seed)[1],
    "gru": gru, "lstm": lstm, "rnn": rnn,
}


def test_every_operator_with_a_seed_has_a_row():
    functions = {name: getattr(ap.ops, name) for name in ap.ops.__all__}
    seeded = {name for name, f in functions.items() if callable(f) and "seed" in inspect.signature(f).parameters}
    assert seeded == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_a_seed_that_is_left_out_is_drawn(name):
    call = CALLS[name]
    ap.seed(7)
    first, second = call().tolist(), call(seed=None).tolist()
    assert first != second
    ap.seed(7)
    assert [call().tolist(), call().tolist()] == [first, second]
    for seed in (0, 5, -3):
        state = ap.get_rng_state()
        assert call(seed=seed).tolist() == call(seed=seed).tolist() and ap.get_rng_state() == state


def test_states_go_on_where_they_were():
    ap.seed(2**63 - 1)
    ap.gaussian([3])
    state = ap.get_rng_state()
    assert state == (2**63 - 1, 1)
    after = ap.gaussian([3]).tolist()
    ap.seed(1)
    ap.set_rng_state(state)
    assert ap.gaussian([3]).tolist() == after


@pytest.mark.parametrize("call, kind, words", [
    (lambda: ap.seed(-1), ValueError, "'number' is -1"),
    (lambda: ap.seed(2**64), (ValueError, OverflowError), "seed"),
    (lambda: ap.seed(2**63), (ValueError, OverflowError), "seed"),
    (lambda: ap.seed(1.5), TypeError, "seed: argument 'number'"),
    (lambda: ap.seed("1"), TypeError, "seed: argument 'number'"),
    (lambda: ap.seed(True), TypeError, "seed: argument 'number'"),
    (lambda: ap.seed(None), TypeError, "seed: argument 'number'"),
    (lambda: ap.set_rng_state(3), TypeError, "get_rng_state"),
    (lambda: ap.set_rng_state((3, -1)), ValueError, "'draws' is -1"),
    (lambda: training.micro_batch(-1), ValueError, "'number' is -1"),
    (lambda: ap.gaussian([3], seed="x"), TypeError, "seed"),
    (lambda: ap.gaussian([3], seed=2**32), ValueError, "seed"),
])
def test_what_is_no_seed_is_refused(call, kind, words):
    with pytest.raises(kind) as error:
        call()
    assert words in str(error.value)


def test_it_is_not_seeded_within_a_micro_batch():
    with training.micro_batch(3):
        with pytest.raises(RuntimeError, match="within a micro-batch"):
            ap.seed(1)


# ---- ranks ----

@pytest.mark.parametrize("placement", [Replicate(), Shard(0)])
def test_meshes_draw_the_numbers_of_one_process(placement):
    def draws(place):
        ap.seed(4)
        x = place(half(8, 6))
        return [ap.dropout(x), ap.bernoulli(x), ap.poisson(x), place(ap.gaussian([8, 6]))]

    expected = [y.tolist() for y in draws(lambda x: x)]

    def rank():
        mesh = ProcessMesh([0, 1])  # without rank 2
        made = draws(lambda x: dist.shard_tensor(x, mesh, [placement]))
        whole = [dist.reshard(y, mesh, [Replicate()]) for y in made]
        if dist.rank() < 2:
            assert [y.local().tolist() for y in whole] == expected
        return ap.get_rng_state()

    assert dist.run_ranks(3, rank) == [(4, 4)] * 3


def test_ranks_that_are_seeded_otherwise_are_told():
    def rank():
        ap.seed(70 + dist.rank())
        dist.reshard(dist.shard_tensor(half(4), ProcessMesh([0, 1]), [Shard(0)]), ProcessMesh([0, 1]), [Replicate()])

    with pytest.raises(Exception, match="seed 7[01] and 7[01]"):
        dist.run_ranks(2, rank)


# ---- modules and loops ----

class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.drop = nn.Linear(4, 4), nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.drop(self.up(x))) + ap.gaussian([1, 4], 0.0, 0.1)


def test_one_module_draws_a_mask_per_call():
    drop, ones = nn.Dropout(0.5), ap.full([64], 1.0)
    ap.seed(3)
    masks = [drop(ones).tolist() for _ in range(3)]
    assert masks[0] != masks[1] != masks[2] != masks[0]
    ap.seed(3)
    assert [drop(ones).tolist() for _ in range(3)] == masks


def test_a_loop_of_micro_batches_has_the_losses_of_the_trainer():
    batches = [(ap.gaussian([8, 4], seed=i), ap.gaussian([8, 4], seed=100 + i)) for i in range(6)]
    ap.seed(9)
    trainer = training.Trainer(Twice(), nn.mean_squared_error, optim.SGD(lr=0.1))
    expected = []
    trainer.on_step(lambda step, result: expected.append(result.loss))
    trainer.run(6, lambda number: batches[number - 1])
    net = Twice()
    optimizer = optim.SGD(net, lr=0.1)
    losses = []
    for number, (x, y) in enumerate(batches):
        with training.micro_batch(number):
            loss = nn.mean_squared_error(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses == pytest.approx(expected, rel=1e-6)
    with training.micro_batch(0):
        again = net(batches[0][0]).tolist()
    with training.micro_batch(0):
        assert net(batches[0][0]).tolist() == again


def test_recomputation_has_the_masks_of_its_call():
    net, x = Twice(), ap.gaussian([8, 4], seed=1)
    x.requires_grad_()
    ap.seed(6)
    net(x).square().sum().backward()
    expected, state = x.grad.tolist(), ap.get_rng_state()
    x.clear_grad()
    ap.seed(6)
    ap.recompute(net, x).square().sum().backward()
    np.testing.assert_allclose(x.grad.tolist(), expected, rtol=1e-5)
    assert ap.get_rng_state() == state


def test_captured_functions_draw_anew_in_each_call():
    drop = nn.Dropout(0.5)

    def f(x):
        return drop(x) + ap.gaussian([64])

    ap.seed(8)
    eager = [f(half()).tolist() for _ in range(3)]
    captured = ap.capture(f)
    ap.seed(8)
    assert [captured(half()).tolist() for _ in range(3)] == eager and eager[0] != eager[1]


def test_check_op_compares_calls_that_draw():
    from autophi import testing
    testing.check_op(lambda x: ap.dropout(x, p=0.3), ap.gaussian([6, 8], seed=1))


def test_checkpoints_go_on_with_the_draws(tmp_path):
    trainer = training.Trainer(Twice(), nn.mean_squared_error, optim.SGD(lr=0.1))
    ap.seed(12)
    ap.gaussian([3])
    training.save(str(tmp_path / "at"), trainer)
    after = ap.gaussian([3]).tolist()
    ap.seed(1)
    training.load(str(tmp_path / "at"), trainer)
    assert ap.gaussian([3]).tolist() == after
