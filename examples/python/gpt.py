"""Trains a GPT from scratch on text. The losses are the same on any number of ranks.

    python gpt.py                              # one process
    python gpt.py --threads=4                  # ranks are threads of one process
    mpirun -n 8 python gpt.py --tp=2 --pp=2    # processes: 2 data x 2 pipeline x 2 tensor parallel
"""

import argparse
import pathlib

import autophi as ap
import autophi.distributed as dist
from autophi import data, nn, optim, training


class Block(nn.Module):
    """Transformer block: pre-norm attention and MLP, each with a residual connection."""

    def __init__(self, d, heads):
        super().__init__()
        self.norm1, self.attention = nn.RMSNorm(d), nn.Attention(d, heads, rope_base=1000.0)
        self.norm2, self.up, self.down = nn.RMSNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(ap.square(ap.relu(self.up(self.norm2(x)))))

    def add_tensor_parallel(self, layout, tp, sequence_parallel):  # attention says it for itself
        layout.parameters(f"{self.path}.up.weight", {tp: dist.Shard(1)})
        layout.parameters(f"{self.path}.up.bias", {tp: dist.Shard(0)})
        layout.parameters(f"{self.path}.down.weight", {tp: dist.Shard(0)})
        layout.outputs(f"{self.path}.down", {tp: dist.Replicate()})


def train(args):
    model = nn.Sequential().append("tokens", nn.Embedding(256, 64))
    model.repeat("block", [Block(64, heads=4) for _ in range(4)])
    model.append("norm", nn.RMSNorm(64)).append("head", nn.Head(64, 256))
    shape = [dist.world_size() // (args.tp * args.pp), args.pp, args.tp]
    mesh = dist.ProcessMesh(shape=shape, dim_names=["dp", "pp", "tp"])
    nn.shard(model, mesh, nn.transformer_layout(model, mesh, blocks="block*"))
    rate = optim.cosine(3e-3, total_steps=args.steps, warmup_steps=4)
    trainer = training.Trainer(model, nn.cross_entropy, optim.AdamW(lr=rate, grad_clip=1.0), micro_batches=2)
    text = data.TokenData(args.text)
    if dist.rank() == 0:
        trainer.on_step(lambda step, result: print(f"step {step}  loss {result.loss:.4f}", flush=True))
    trainer.run(args.steps, lambda n: [text.batch(2 * n - i, 8, 64) for i in (1, 0)])


parser = argparse.ArgumentParser()
for name, value in {"steps": 20, "tp": 1, "pp": 1, "threads": 0}.items():
    parser.add_argument(f"--{name}", type=int, default=value)
parser.add_argument("--text", nargs="+", default=[str(pathlib.Path(ap.__file__).parent)])
flags = parser.parse_args()
if flags.threads:
    dist.run_ranks(flags.threads, train, flags)
else:
    dist.init()
    train(flags)
