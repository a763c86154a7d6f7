"""Runs every layout of a network that does not say how it is split, on the ranks that run this; for plan_regret.

Usage: mpirun -n N python own_models.py MODEL MACHINE STEPS AGAIN

Rank 0 prints the chosen layout, and the layouts with their predicted and measured steps, as JSON.
"""

import json
import statistics
import sys
import time

import autophi as ap
import autophi.distributed as dist
from autophi import nn, plan, training

SAMPLES, SEQ, WIDTH, VOCAB = 16, 128, 256, 256
FIXED = {"recompute": "none", "schedule": "1f1b"}


class SideBySide(nn.Module):
    """The block of examples/own_model and examples/python/planned.py."""

    def __init__(self, d):
        super().__init__()
        self.norm, self.attention = nn.RMSNorm(d), nn.Attention(d, 4, rope_base=1000.0)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        h = self.norm(x)
        return x + self.attention(h) + self.down(ap.square(ap.relu(self.up(h))))


class OneAfterTheOther(nn.Module):
    """The block of examples/python/gpt.py."""

    def __init__(self, d):
        super().__init__()
        self.norm1, self.attention = nn.RMSNorm(d), nn.Attention(d, 4, rope_base=1000.0)
        self.norm2, self.up, self.down = nn.RMSNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(ap.square(ap.relu(self.up(self.norm2(x)))))


BLOCKS = {"own_model": SideBySide, "own_gpt": OneAfterTheOther}


def make_net():
    net = nn.Sequential().append("tokens", nn.Embedding(VOCAB, WIDTH))
    net.repeat("block", [BLOCKS[model](WIDTH) for _ in range(4)])
    return net.append("norm", nn.RMSNorm(WIDTH)).append("head", nn.Head(WIDTH, VOCAB))


def planned(fixed, finalists):
    ids, labels = ap.placeholder([SAMPLES, SEQ], "int64"), ap.placeholder([SAMPLES, SEQ, 1], "int64")
    return plan.plan_model(make_net, nn.cross_entropy, ids, labels, devices=dist.world_size(), machine=machine, fixed=fixed,
                           finalists=finalists)


def seconds_of(layout):
    chosen = planned({key: value for key, value in layout.items() if key not in ("cut", "sequence_parallel")}, 2)
    index = next(i for i, each in enumerate(chosen.plans) if each["layout"] == layout)
    if index:  # another cut of the same layers is faster
        return None
    net = make_net()
    nn.shard(net, chosen.mesh, chosen.layout)
    trainer = training.Trainer(net, nn.cross_entropy, **chosen.trainer)
    rows = SAMPLES // chosen.trainer["micro_batches"]
    ids = ap.tensor([[(row * 7 + i) % VOCAB for i in range(SEQ)] for row in range(rows)])
    labels = ap.tensor([[[(row * 7 + i + 1) % VOCAB] for i in range(SEQ)] for row in range(rows)])
    seconds = []
    for _ in range(steps):
        start = time.perf_counter()
        trainer.step([(ids, labels)] * chosen.trainer["micro_batches"])
        seconds.append(time.perf_counter() - start)
    return seconds[1:]


model, machine, steps, again = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
dist.init()
best = planned(FIXED, 10).plans[0]["layout"]
results = []
for each in planned(FIXED, 1000).plans:
    measured = seconds_of(each["layout"])
    if measured:
        results.append({"layout": each["layout"], "predicted": each["predicted"]["step_seconds"], "measured": measured})
# Ranks must agree on what runs again: by the predictions, which are the same on all of them.
for row in sorted(results, key=lambda row: row["predicted"])[:again]:
    row["measured"] += seconds_of(row["layout"])
if dist.rank() == 0:
    results.sort(key=lambda row: statistics.median(row["measured"]))
    print(json.dumps({"ranks": dist.world_size(), "chosen": best, "layouts": results}))
