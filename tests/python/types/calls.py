"""Calls that a type checker must take, with the types that it must find, and calls that it must refuse: those have a
`type: ignore` with the reason, which is an error itself where it is not needed (mypy --warn-unused-ignores)."""

from collections.abc import Iterator
from typing import assert_type

import autophi as ap
import autophi.distributed as dist
from autophi import Tensor, data, nn, optim, training


def operators(x: Tensor) -> None:
    """Functions, methods and signs."""
    assert_type(ap.matmul(x, x, transpose_y=True), Tensor)
    assert_type(x.matmul(x) + 1.5, Tensor)
    assert_type(2 * x @ x, Tensor)
    assert_type(x[0, 1:], Tensor)
    assert_type(x.shape, tuple[int, ...])
    assert_type(ap.topk(x, 2), tuple[Tensor, Tensor])
    ap.matmul(x, x, transpose_x="yes")  # type: ignore[arg-type]
    ap.matmul(x)  # type: ignore[call-arg]
    ap.matmul(x, x, transposed=True)  # type: ignore[call-arg]
    ap.concat(x, axis="rows")  # type: ignore[arg-type]
    ap.cast(x, 3)  # type: ignore[arg-type]
    x.no_such_method()  # type: ignore[attr-defined]


def gradients(x: Tensor) -> None:
    """A gradient may not be there."""
    assert_type(ap.grad(x.sum(), [x]), list[Tensor | None])
    assert_type(x.grad, Tensor | None)
    x.grad.tolist()  # type: ignore[union-attr]


def distributed(x: Tensor) -> None:
    """Placements are one for each mesh dim."""
    mesh = dist.ProcessMesh([0, 1], dim_names=["tp"])
    assert_type(dist.shard_tensor(x, mesh, [dist.Shard(0)]), Tensor)
    dist.shard_tensor(x, mesh, dist.Shard(0))  # type: ignore[arg-type]
    nn.shard(nn.Linear(2, 2), mesh, nn.tensor_parallel("tp") + nn.stages("pp", "block*"))
    nn.Layout() + 1  # type: ignore[operator]


class Net(nn.Module):
    """A module of one's own."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(2, 4)

    def forward(self, x: Tensor) -> Tensor:
        """[B,2] to [B,4]."""
        return ap.relu(self.up(x))


def trained(text: data.TokenData) -> Iterator[float]:
    """Numbers of steps."""
    trainer = training.Trainer(Net(), nn.cross_entropy, optim.AdamW(lr=1e-3))
    assert_type(trainer.step([text.batch(1, 2, 3)]).loss, float)
    trainer.step([text.batch(1, 2, 3)]).los  # type: ignore[attr-defined]
    yield trainer.step([text.batch(1, 2, 3)]).loss
