"""Token data, generating, checkpoints by name."""

import numpy as np
import pytest
import small_gpt

import autophi as ap
import autophi.distributed as dist
from autophi import checkpoint, data, generation, nn, optim, training


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % 2**64
    return x ^ (x >> 31)


def test_windows_are_drawn_as_the_documentation_says(tmp_path):
    text = bytes(range(20))
    (tmp_path / "text").write_bytes(text)
    tokens = data.TokenData([str(tmp_path / "text")])
    assert tokens.num_tokens == tokens.num_bytes == 20
    for number, (ids, labels) in enumerate(tokens.batches(3, 4, steps=2, seed=5), start=1):
        begins = [mix((mix(5) + 3 * (number - 1) + i) % 2**64) % 16 for i in range(3)]
        assert ids.tolist() == [list(text[b:b + 4]) for b in begins]
        assert labels.squeeze(-1).tolist() == [list(text[b + 1:b + 5]) for b in begins]
    assert number == 2


def test_kinds_and_errors(tmp_path):
    np.arange(50, dtype=np.uint16).tofile(tmp_path / "ids.bin")
    tokens = data.TokenData([str(tmp_path / "ids.bin")], kind="tokens", vocab=40)
    assert tokens.num_tokens == 50
    with pytest.raises(ValueError, match="'byte' is not a kind of data"):
        data.TokenData([str(tmp_path)], kind="byte")
    with pytest.raises(LookupError, match="none.txt"):
        data.TokenData([str(tmp_path / "none.txt")])
    with pytest.raises(ValueError, match="which is outside a vocab of 40"):
        for ids, _ in tokens.batches(8, 8, steps=8):
            ids.tolist()


def test_ranks_read_their_rows():
    def rank():
        mesh = dist.ProcessMesh([0, 1], dim_names=["dp"])
        loader = dist.shard_dataloader(list(small_gpt.TEXT.batches(4, 8, steps=2)), mesh)
        return [(ids.local().tolist(), labels.shape) for ids, labels in loader]
    want = [ids.tolist() for ids, _ in small_gpt.TEXT.batches(4, 8, steps=2)]
    first, second = dist.run_ranks(2, rank)
    assert [a[0] + b[0] for a, b in zip(first, second, strict=True)] == want and first[0][1] == (4, 8, 1)
    with pytest.raises(ValueError, match="has no mesh dim tp"):
        dist.shard_dataloader([], dist.ProcessMesh([0], dim_names=["dp"]), "tp")


@pytest.mark.parametrize("make", [small_gpt.library_gpt, small_gpt.PythonGpt, small_gpt.PlainGpt])
def test_generating(make):
    model = make()
    trainer = training.Trainer(model, nn.cross_entropy, optim.AdamW(lr=1e-2))
    for number in range(1, 4):
        trainer.step(small_gpt.batches(number, 1))
    writer = generation.Generator(model, list(b"def "), window=16, temperature=0.0)
    ids = [writer.next() for _ in range(20)]
    assert writer.tokens == list(b"def ") + ids
    with ap.no_grad():
        logits = model(ap.tensor([list(b"def ")]))
    assert int(np.argmax(logits.numpy()[0, -1])) == ids[0]
    with pytest.raises(ValueError, match="window"):
        generation.Generator(model, [1], window=0)


def test_tensors_by_name(tmp_path):
    folder = str(tmp_path / "ckpt")
    w, b = ap.tensor(np.arange(8, dtype=np.float32).reshape(2, 4)), ap.tensor([1, 2])
    checkpoint.save(folder, {"w": w, "b": b}, metadata={"step": "3"})
    saved = checkpoint.open(folder)
    assert saved.names() == ["b", "w"] and "w" in saved and "v" not in saved and saved.metadata["step"] == "3"
    assert saved.metas()["w"] == ((2, 4), ap.float32)
    assert saved.tensor("w").tolist() == w.tolist() and saved.tensor("w", "float64").dtype == ap.float64
    with pytest.raises(LookupError, match="'v'"):
        saved.tensor("v")

    def rank():
        mesh = dist.ProcessMesh([0, 1], dim_names=["x"])
        half = dist.shard_tensor(ap.zeros([2, 4], dtype="float32"), mesh, [dist.Shard(1)])
        dist.load_state_dict({"w": half}, folder)
        dist.save_state_dict({"v": half * 2.0}, str(tmp_path / "other"))
        return half.local().tolist()
    assert dist.run_ranks(2, rank) == [[[0.0, 1.0], [4.0, 5.0]], [[2.0, 3.0], [6.0, 7.0]]]
    v = ap.zeros([2, 4], dtype="float32").requires_grad_()
    dist.load_state_dict({"v": v}, str(tmp_path / "other"))
    assert v.tolist() == (w * 2.0).tolist() and v.requires_grad
    with pytest.raises(ValueError, match="u"):
        checkpoint.load(folder, {"u": v}, extras=True)


def test_a_save_in_the_background(tmp_path):
    pending = checkpoint.start_save(str(tmp_path / "ckpt"), {"w": ap.tensor([1.0, 2.0])})
    pending.wait()
    assert pending.done() and checkpoint.open(str(tmp_path / "ckpt")).tensor("w").tolist() == [1.0, 2.0]


def test_models_on_disk(tmp_path):
    folder = str(tmp_path / "model")
    model = small_gpt.library_gpt().initialise(seed=3)
    nn.models.save(folder, model)
    same = nn.models.load(folder)
    assert type(same) is nn.models.GPT and same.config == model.config
    ids, _ = small_gpt.TEXT.batch(1, 2, 16)
    assert same(ids).tolist() == model(ids).tolist() and same.parameters()[0].requires_grad
    ours = small_gpt.PythonGpt()
    nn.load(folder, ours)
    assert ours(ids).tolist() == model(ids).tolist()
    nn.save(str(tmp_path / "ours"), ours)
    with pytest.raises(ValueError, match="weight"):
        nn.load(folder, nn.Linear(2, 2))
