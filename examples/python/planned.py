"""Trains a network that does not say how it is split, laid out by a plan. The losses are those of one process.

    mpirun -n 2 autophi calibrate --out=machine.yaml
    mpirun -n 4 python planned.py --machine=machine.yaml
    python planned.py --machine=h100_80g --devices=1024      # a plan alone, of a machine that is not here
"""

import argparse

import autophi as ap
import autophi.distributed as dist
from autophi import nn, optim, plan, training

SAMPLES, SEQ, VOCAB = 16, 32, 256


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.attention = nn.RMSNorm(d), nn.Attention(d, 4, rope_base=1000.0)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        h = self.norm(x)
        return x + self.attention(h) + self.down(ap.relu(self.up(h)))


def make_net():
    net = nn.Sequential().append("tokens", nn.Embedding(VOCAB, 64))
    net.repeat("block", [Block(64) for _ in range(4)])
    return net.append("head", nn.Head(64, VOCAB))


def batches(step, count):
    """Rows that count, each in steps of its own, as `count` micro-batches."""
    rows = [[(row * 7 + step + i * (row % 3 + 1)) % VOCAB for i in range(SEQ + 1)] for row in range(SAMPLES)]
    parts = [rows[m * SAMPLES // count:(m + 1) * SAMPLES // count] for m in range(count)]
    return [(ap.tensor([row[:-1] for row in part]), ap.tensor([[[i] for i in row[1:]] for row in part])) for part in parts]


def main(args):
    optimizer = optim.AdamW(lr=3e-3)
    ids, labels = ap.placeholder([SAMPLES, SEQ], "int64"), ap.placeholder([SAMPLES, SEQ, 1], "int64")
    planned = plan.plan_model(make_net, nn.cross_entropy, ids, labels, devices=args.devices or dist.world_size(),
                              machine=args.machine, optimizer=optimizer, finalists=3)
    if dist.rank() == 0:
        print(planned, flush=True)
    if args.devices:
        return
    net = make_net()
    nn.shard(net, planned.mesh, planned.layout)
    trainer = training.Trainer(net, nn.cross_entropy, optimizer, **planned.trainer)
    if dist.rank() == 0:
        trainer.on_step(lambda step, result: print(f"step {step}  loss {result.loss:.4f}", flush=True))
    trainer.run(args.steps, lambda step: batches(step, planned.trainer["micro_batches"]))


parser = argparse.ArgumentParser()
parser.add_argument("--machine", required=True)
parser.add_argument("--devices", type=int, default=0, help="plan for so many devices, and train nothing")
parser.add_argument("--steps", type=int, default=10)
flags = parser.parse_args()
dist.init()
main(flags)
