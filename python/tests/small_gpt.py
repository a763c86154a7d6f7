"""A GPT that is written in Python with the names and first values of the library's own, for tests."""

import math
from pathlib import Path

import autophi.distributed as dist
from autophi import data, nn, optim, training

VOCAB, SEQ_LEN, D, LAYERS, HEADS, HIDDEN = 256, 16, 32, 2, 4, 64


class Block(nn.Module):
    """Attention and an MLP, each behind a norm and beside the residual."""

    def __init__(self):
        super().__init__()
        into_residual = nn.init.normal(0.02 / math.sqrt(2 * LAYERS))
        self.norm_attention = nn.LayerNorm(D)
        self.add_module("attention", nn.Attention(D, HEADS, fused=True, projection_init=into_residual), flat=True)
        self.norm_mlp = nn.LayerNorm(D)
        self.add_module("mlp", nn.MLP(D, HIDDEN, down_init=into_residual), flat=True)

    def forward(self, x):
        """float32 [B,S,D] to the same."""
        x = x + self.attention(self.norm_attention(x))
        return x + self.mlp(self.norm_mlp(x))


class Input(nn.Module):
    """ids int64 [B,S] to [B,S,D]."""

    def __init__(self):
        super().__init__()
        self.token_embedding = nn.Embedding(VOCAB, D)
        self.position_embedding = nn.PositionEmbedding(SEQ_LEN, D)

    def forward(self, ids):
        """Tokens and positions."""
        return self.position_embedding(self.token_embedding(ids))


class Output(nn.Module):
    """[B,S,D] to logits [B,S,VOCAB]."""

    def __init__(self):
        super().__init__()
        self.final_norm = nn.LayerNorm(D)
        self.head = nn.Head(D, VOCAB)

    def forward(self, x):
        """A norm and the head."""
        return self.head(self.final_norm(x))


class PythonGpt(nn.Sequential):
    """The links are Python's, what runs them is the library."""

    def __init__(self):
        super().__init__()
        self.append("input", Input(), flat=True)
        self.repeat("layer", [Block() for _ in range(LAYERS)])
        self.append("output", Output(), flat=True)


class PlainGpt(nn.Module):
    """The same without a Sequential."""

    def __init__(self):
        super().__init__()
        self.add_module("input", Input(), flat=True)
        self.layers = []
        for i in range(LAYERS):
            self.layers.append(Block())
            self.add_module(f"layer{i}", self.layers[-1])
        self.add_module("output", Output(), flat=True)

    def forward(self, ids):
        """ids int64 [B,S] to logits."""
        x = self.input(ids)
        for layer in self.layers:
            x = layer(x)
        return self.output(x)


def library_gpt():
    """The library's own."""
    return nn.models.GPT(vocab=VOCAB, seq_len=SEQ_LEN, d_model=D, layers=LAYERS, heads=HEADS, hidden=HIDDEN)


TEXT = data.TokenData([__file__, str(Path(__file__).with_name("conftest.py"))])


def batches(number, parts):
    """The micro-batches of step `number`: 8 samples in all."""
    each = 8 // parts
    return [TEXT.batch(parts * (number - 1) + i + 1, each, SEQ_LEN) for i in range(parts)]


def losses(make, mesh=None, steps=3, parts=1, zero_stage=0, **options):
    """Of a model that is made, laid out and trained."""
    model = make()
    if mesh is not None:
        nn.shard(model, mesh, nn.transformer_layout(model, mesh, zero_stage=zero_stage))
    trainer = training.Trainer(model, nn.cross_entropy, optim.AdamW(lr=3e-3, grad_clip=1.0), micro_batches=parts,
                               **options)
    return [trainer.step(batches(number, parts)).loss for number in range(1, steps + 1)]


def losses_on(make, shape, dims, **options):
    """The same on ranks that are threads; all ranks have one result."""
    count = math.prod(shape)

    def rank():
        return losses(make, dist.ProcessMesh(shape=shape, dim_names=dims), **options)

    results = dist.run_ranks(count, rank)
    assert all(result == results[0] for result in results)
    return results[0]
