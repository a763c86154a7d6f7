"""A program as users write them, for mypy --strict: it is checked and not run."""

from collections.abc import Iterator

import numpy as np

import autophi as ap
import autophi.distributed as dist
from autophi import Tensor, checkpoint, data, generation, jobs, nn, optim, spmd, testing, training
from autophi.nn import init


class Net(nn.Module):
    """Parts and a parameter."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.up = nn.Linear(d, 4 * d)
        self.scale = nn.Parameter([d], init=init.constant(1.0))
        self.blocks = nn.ModuleList([nn.Linear(4 * d, 4 * d) for _ in range(2)])
        self.heads = nn.ModuleDict({"a": nn.Linear(4 * d, 2)})

    def forward(self, x: Tensor) -> Tensor:
        x = ap.relu(self.up(x * self.scale))
        for block in self.blocks:
            x = block(x)
        out: Tensor = self.heads["a"](x)
        return out


@ap.capture
def step(x: Tensor, w: Tensor) -> Tensor:
    return (x @ w).square().mean()


@ap.capture(max_programs=4)
def step2(x: Tensor) -> tuple[Tensor, Tensor]:
    return x, x


@ap.no_grad()
def update(w: Tensor, g: Tensor, lr: float = 0.1) -> None:
    w -= lr * g


def batches(number: int) -> tuple[Tensor, Tensor]:
    return ap.ones([4, 8]), ap.arange(4)


def main() -> None:
    dist.init()
    mesh = dist.ProcessMesh([[0]], dim_names=["dp", "tp"])
    x = dist.shard_tensor(np.ones((4, 8), "float32"), mesh, [dist.Shard(0), dist.Replicate()])
    w = ap.tensor([[1.0]], requires_grad=True)
    loss = step(x, w)
    print(f"{loss:.3f}", float(loss))
    step.max_programs = 3
    print(step.num_programs, step.explain(x, w), step2(x))
    loss.backward()
    if w.grad is not None:
        update(w, w.grad)
    net = Net(8)
    nn.shard(net, mesh, nn.tensor_parallel("tp"))
    optimizer = optim.AdamW(net, lr=optim.cosine(1e-3, total_steps=10, warmup_steps=2), grad_clip=1.0)
    outcome = optimizer.step()
    print(outcome.grad_norm, outcome.applied, optimizer.updates)
    optimizer.load_state_dict(optimizer.state_dict())
    trainer = training.Trainer(net, nn.cross_entropy, optim.SGD(lr=0.1), micro_batches=2)
    trainer.run(2, batches, progress=True)
    print(trainer.step(batches(1)).loss)
    checkpoint.save("dir", net.state_dict())
    nn.save("dir", net)
    nn.load("dir", net)
    text = data.TokenData(["x"])
    print(text.batch(1, 2, 3))
    report = jobs.run({"mode": "train"})
    print(report["losses"])
    answer = spmd.infer("matmul", ([4, 8], [dist.Shard(0)]), ([8, 2], []), mesh=mesh)
    print(answer["x"].placements, answer.moves, spmd.rules()["matmul"].attributes)
    print(testing.check_op(lambda a: a + a, x).calls)
    mask = x > 0.5
    x[mask] = 1.0
    x[[0, 1]] = 2.0
    print(x[np.array([0, 1])], x == np.ones(3), x == [1.0, 2.0])
    print(np.asarray(x).shape, x.numpy())
    for row in x:
        print(row.tolist())
    results = dist.run_ranks(2, dist.rank)
    print(results)
    print(ap.explain(step, x, w), ap.check_ops(step, x, w))
    ap.expect_moves(lambda: x + x, bytes_at_most=0)
    with ap.no_grad(), ap.enable_grad():
        pass
    with ap.dry_run(world_size=4):
        ap.placeholder([2])
    print(ap.bfloat16, ap.float32.name, ap.Tensor, ap.from_numpy(np.ones(2)), ap.__version__)
    training.Progress(3).done(1, 2.0)
    print(dist.backend(), dist.counters(), dist.is_initialized())
    print(generation)


def numbers(text: data.TokenData) -> Iterator[float]:
    yield 1.0


if __name__ == "__main__":
    main()
