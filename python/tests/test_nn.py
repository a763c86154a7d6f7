"""Modules: attributes, names, values, state, calls, layouts; those of C++ in those of Python and back."""

import copy
import gc
import pickle
import traceback
import weakref

import numpy as np
import pytest
import small_gpt

import autophi as ap
import autophi.distributed as dist
from autophi import nn, optim, training


class Net(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.scale = nn.Parameter([d], init=nn.init.constant(1.0))
        self.norms = nn.ModuleList([nn.LayerNorm(d) for _ in range(2)])
        self.shift = nn.Buffer(ap.tensor([0.5]))

    def forward(self, x):
        x = x + self.down(ap.relu(self.up(x * self.scale)))
        for norm in self.norms:
            x = norm(x)
        return x + self.shift


NAMES = ["scale", "up.weight", "up.bias", "down.weight", "down.bias", "norms.0.scale", "norms.0.shift",
         "norms.1.scale", "norms.1.shift"]


def rows(n=4, d=8):
    return ap.tensor(np.arange(n * d, dtype=np.float32).reshape(n, d) / (n * d))


# ---- what a module is made of ----

def test_attributes_are_parts_and_parameters():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == NAMES
    assert [name for name, _ in net.named_buffers()] == ["shift"]
    assert [name for name, _ in net.named_modules()] == ["", "up", "down", "norms", "norms.0", "norms.1"]
    assert [name for name, _ in net.named_children()] == ["up", "down", "norms"]
    assert net.modules()[1] is net.up and net.norms[1] is list(net.norms)[1] and len(net.norms) == 2
    assert net.up.weight.shape == (8, 32) and net.scale.tolist() == [1.0] * 8
    assert net.num_parameters == 8 + 8 * 32 + 32 + 32 * 8 + 8 + 4 * 8
    assert all(parameter.requires_grad for parameter in net.parameters()) and not net.shift.requires_grad
    assert isinstance(net.up, nn.Module) and net.norms[0].path == "norms.0"


def test_repr_is_a_tree():
    lines = repr(Net()).split("\n")
    assert lines[0] == "Net(scale f32[8], shift f32[1]"
    assert lines[1] == "  (up): Linear(weight f32[8,32], bias f32[32])"
    assert lines[3] == "  (norms): ModuleList(" and lines[4].startswith("    (0): LayerNorm(scale f32[8]")
    assert lines[-1] == ")"


def test_values_follow_names_and_the_seed():
    one, same, other = Net(), Net(), Net().initialise(seed=2)
    assert one.up.weight.tolist() == same.up.weight.tolist() != other.up.weight.tolist()
    whole = nn.Module()
    whole.up = nn.Linear(8, 32)                      # another module, the same name
    assert whole.up.weight.tolist() == one.up.weight.tolist()
    whole.second = nn.Linear(8, 32)
    assert whole.second.weight.tolist() != one.up.weight.tolist()


def test_a_value_that_was_looked_at_stays_when_the_module_becomes_a_part():
    linear = nn.Linear(3, 2)
    before = linear.weight.tolist()
    net = nn.Module()
    net.inner = linear
    assert net.inner.weight.tolist() == before and net.inner is linear and linear.path == "inner"


def test_a_shared_module_is_listed_once():
    net = nn.Module()
    net.a = nn.Linear(2, 2)
    net.b = net.a
    assert [name for name, _ in net.named_parameters()] == ["a.weight", "a.bias"] and net.b is net.a


def test_parts_are_replaced_and_removed():
    net = nn.Module()
    net.head = nn.Linear(2, 3)
    old = net.head
    net.head = nn.Linear(2, 5)
    assert net.head.weight.shape == (2, 5) and [n for n, _ in net.named_children()] == ["head"]
    assert old.path == "" and [n for n, _ in old.named_parameters()] == ["weight", "bias"]
    del net.head
    assert net.parameters() == [] and not hasattr(net, "head")


def test_a_part_lives_on_without_its_model():
    net = Net()
    seen = weakref.ref(net)
    up, before = net.up, net.up.weight.tolist()
    del net
    gc.collect()
    assert seen() is None
    assert up.weight.tolist() == before and [n for n, _ in up.named_parameters()] == ["weight", "bias"]
    assert up(rows()).shape == (4, 32)


def test_a_part_of_a_model_of_cpp_keeps_it():
    block = nn.models.GPT(d_model=16, heads=2, layers=1, seq_len=8, hidden=32).layer0
    gc.collect()
    assert block.path == "layer0" and block.attention.qkv.weight.shape == (16, 48)
    assert block(ap.zeros([1, 8, 16], dtype="float32")).shape == (1, 8, 16)


def test_parameters_of_tensors_and_functions():
    net = nn.Module()
    net.given = nn.Parameter(ap.tensor([1.0, 2.0]))
    net.made = nn.Parameter([2], init=lambda shape, dtype, seed: ap.full(shape, 3.0, dtype=dtype))
    assert net.given.tolist() == [1.0, 2.0] and net.made.tolist() == [3.0, 3.0]
    with ap.no_grad():
        net.given += net.made
    assert net.given.tolist() == [4.0, 5.0]


class Forgetful(nn.Module):
    def __init__(self, first):
        self.width = 3  # what is no part may come before
        first(self)
        super().__init__()


@pytest.mark.parametrize("first", [
    lambda self: setattr(self, "up", nn.Linear(2, 2)), lambda self: setattr(self, "scale", nn.Parameter([2])),
    lambda self: setattr(self, "seen", nn.Buffer(ap.tensor([0.0]))), lambda self: self.missing,
    lambda self: self.add_module("up", nn.Linear(2, 2)), lambda self: self(rows())])
def test_parts_before_super_init(first):
    with pytest.raises(AttributeError, match=r"Forgetful is not initialised: call super\(\).__init__\(\) first in Forgetful"):
        Forgetful(first)
    assert Forgetful(lambda self: None).width == 3


def test_a_module_that_was_never_made():
    class Empty(nn.Module):
        def __init__(self):
            pass
    for act in (lambda net: net(rows()), lambda net: Net().add_module("part", net), lambda net: net.modules()):
        with pytest.raises(AttributeError, match=r"Empty is not initialised: call super\(\).__init__\(\) first"):
            act(Empty())


@pytest.mark.parametrize("module", [Net(), nn.Linear(2, 2), nn.ModuleList()], ids=lambda module: type(module).__name__)
@pytest.mark.parametrize("act", [copy.copy, copy.deepcopy, pickle.dumps])
def test_modules_are_not_copied(module, act):
    with pytest.raises(TypeError, match=r"cannot be copied or pickled: construct another one and .* other.load_state_dict\("):
        act(module)


def test_a_module_has_one_parent():
    one, other, shared = nn.ModuleDict(), nn.ModuleDict(), nn.Linear(2, 2)
    one["up"] = shared
    with pytest.raises(ValueError, match=r"for 'down' is submodule 'up' of another model, and a module has one parent.*self.down ="):
        other["down"] = shared
    model = nn.ModuleList([one, other])
    other["down"] = shared  # within one model it is listed once
    assert [name for name, _ in model.named_parameters()] == ["0.up.weight", "0.up.bias"]
    assert other["down"] is one["up"]


@pytest.mark.parametrize(("act", "kind", "words"), [
    (lambda net: setattr(net, "scale", ap.tensor([1.0])), TypeError, "'scale' is a parameter or a buffer"),
    (lambda net: net.weigth, AttributeError, "'Net' has no attribute 'weigth'"),
    (lambda net: net.upp, AttributeError, "did you mean 'up'?"),
    (lambda net: setattr(net, "up2", Net(4).up), None, ""),
    (lambda net: setattr(net.norms, "loop", net), ValueError, "a module cannot be a submodule of itself"),
    (lambda net: net.add_module("a.b", nn.Linear(2, 2)), ValueError, "must not contain a dot"),
    (lambda net: net.up(rows(), 3), TypeError, "Linear takes one Tensor, got 2 arguments"),
    (lambda net: net.up([1.0]), TypeError, "Linear takes one Tensor, got list"),
    (lambda net: nn.Module()(rows()), NotImplementedError, "class Module has no method forward()"),
    (lambda net: net.load_state_dict({"scale": [1.0] * 8, "skale": [1.0]}), ValueError, "values without a tensor in the model: [skale]"),
    (lambda net: net.load_state_dict({"scale": [1.0] * 7}, strict=False), ValueError, "'scale' of the model is"),
    (lambda net: net.up.to("float64"), ValueError, "'up' is a submodule of a model"),
    (lambda net: net.to("int64"), ValueError, "have no gradients"),
    (lambda net: net.set_group("nothing*", trained=False), LookupError, "no parameter is named 'nothing*'"),
    (lambda net: nn.Attention(10, 3), ValueError, "heads"),
    (lambda net: nn.Dropout(1.5), ValueError, "dropout of 1.5"),
    (lambda net: nn.models.GPT(layrs=2), TypeError, "GPT has no argument 'layrs', did you mean 'layers'?"),
    (lambda net: nn.models.GPT(layers="2"), TypeError, "GPT: argument 'layers' must be"),
])
def test_errors_say_what_is_wrong(act, kind, words):
    if kind is None:
        act(Net())
        return
    with pytest.raises(kind) as caught:
        act(Net())
    assert words in str(caught.value)


def test_a_class_below_a_layer_of_cpp_cannot_have_its_own_forward():
    with pytest.raises(TypeError, match=r"class Odd overrides forward\(\), which nn.Linear would not call"):
        class Odd(nn.Linear):
            def forward(self, x):
                return x

    class Fine(nn.Linear):
        def __init__(self):
            super().__init__(8, 2)
    assert Fine()(rows()).shape == (4, 2)


# ---- state ----

def test_state_goes_from_one_to_another():
    one, other = Net(), Net().initialise(seed=7)
    assert one(rows()).tolist() != other(rows()).tolist()
    other.load_state_dict(one.state_dict())
    assert one(rows()).tolist() == other(rows()).tolist()
    state = {name: tensor.numpy() for name, tensor in one.state_dict().items()}
    assert list(state) == [*NAMES, "shift"]
    other.load_state_dict({"scale": np.full(8, 2.0, np.float32)}, strict=False)
    assert other.scale.tolist() == [2.0] * 8 and other.scale.requires_grad


def test_dtypes_change_with_values():
    net = Split()
    before = net.up.weight.tolist()
    assert net.to("float64") is net and net.dtype == ap.float64
    assert net.up.weight.dtype == ap.float64 and net.up.weight.tolist() == before
    net(rows().to("float64")).sum().backward()
    assert net.up.weight.grad.dtype == ap.float64
    assert Net().to("bfloat16").up.weight.dtype == ap.bfloat16


def test_dropout_drops_while_the_model_trains():
    class Dropping(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Dropout(0.5), nn.Dropout(0.5)

        def forward(self, x):
            return self.first(x), self.second(x)

    net = Dropping()
    ones = ap.full([64], 1.0, dtype="float32")
    a, b = net(ones)
    assert net.training and set(a.tolist()) == {0.0, 2.0} and a.tolist() != b.tolist()
    assert net.eval() is net and not net.training and net(ones)[0].tolist() == [1.0] * 64
    assert net.train().training


# ---- calls ----

def test_gradients_reach_all_parameters():
    net = Net()
    net(rows()).square().mean().backward()
    assert all(parameter.grad is not None for parameter in net.parameters())
    net.up.weight.requires_grad_(False)
    optimizer = optim.SGD(net, lr=0.1)
    frozen, other = net.up.weight.tolist(), net.down.weight.tolist()
    net(rows()).square().mean().backward()
    optimizer.step()
    assert net.up.weight.tolist() == frozen and net.down.weight.tolist() != other


def test_forward_takes_and_gives_anything_in_python():
    class Pair(nn.Module):
        def forward(self, x, *, times=1):
            return {"x": x * times}
    assert Pair()(rows(), times=3)["x"].tolist() == (rows() * 3).tolist()
    model = nn.Sequential(Pair())
    with pytest.raises(TypeError, match="return value of forward\\(\\)' must be Tensor, got dict"):
        model(rows())


def test_an_exception_in_forward_keeps_its_traceback():
    class Faulty(nn.Module):
        def forward(self, x):
            raise KeyError("deep inside")

    model = nn.Sequential(nn.Linear(8, 8), Faulty())
    for call in (lambda: model(rows()),
                 lambda: training.Trainer(model, nn.mean_squared_error).step((rows(), rows()))):
        with pytest.raises(KeyError, match="deep inside") as caught:
            call()
        assert 'raise KeyError("deep inside")' in "".join(traceback.format_exception(caught.value))


def test_sequential():
    net = nn.Sequential(nn.Linear(8, 4), Net(4))
    net.append("last", nn.Linear(4, 2))
    assert len(net) == 3 and net[1].up.path == "1.up" and net[-1] is net.last and net(rows()).shape == (4, 2)
    assert [name for name, _ in net.named_children()] == ["0", "1", "last"]
    with pytest.raises(IndexError, match="link 3 is out of range; it has 3 links"):
        net[3]
    with pytest.raises(TypeError, match=r"with append\(\)"):
        net.other = nn.Linear(2, 2)


def test_moduledict():
    heads = nn.ModuleDict({"a": nn.Linear(8, 2), "b": nn.Linear(8, 3)})
    assert [name for name, _ in heads.named_parameters()] == ["a.weight", "a.bias", "b.weight", "b.bias"]
    assert list(heads) == ["a", "b"] and "a" in heads and heads["b"](rows()).shape == (4, 3)


def test_models_of_images():
    images = ap.zeros([2, 3, 8, 8], dtype="float32")
    assert nn.models.ResNet(blocks=[1, 1], width=4)(images).shape == (2, 10)
    assert nn.models.ViT(image=8, d_model=12, layers=1, heads=3)(images).shape == (2, 10)
    assert nn.models.Llama(d_model=16, heads=4, kv_heads=2, layers=1, seq_len=8, ffn=24).config["ffn"] == 24


# ---- on meshes ----

class Split(nn.Module):
    """Says itself how tensor parallelism splits it."""

    def __init__(self, d=8):
        super().__init__()
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        return x + self.down(ap.relu(self.up(x)))

    def add_tensor_parallel(self, layout, tp, sequence_parallel):
        assert not sequence_parallel
        layout.parameters("up.weight", {tp: dist.Shard(1)}).parameters("up.bias", {tp: dist.Shard(0)})
        layout.parameters("down.weight", {tp: dist.Shard(0)}).outputs("down", {tp: dist.Replicate()})


def test_a_python_module_is_laid_out():
    want = Split()(rows()).numpy()

    def rank():
        mesh = dist.ProcessMesh([[0, 1], [2, 3]], dim_names=["dp", "tp"])
        net = Split()
        layout = nn.transformer_layout(net, mesh)
        assert "up.weight" in layout.describe(net)
        assert dist.shard_layer(net, mesh, layout) is net
        assert net.process_mesh == mesh and net.up.weight.detach().local().shape == (8, 16)
        assert net.parameter_bytes_here < 4 * net.num_parameters
        x = dist.shard_tensor(rows(), mesh, [dist.Shard(0), dist.Replicate()])
        return dist.unshard_dtensor(net(x)).numpy()
    for got in dist.run_ranks(4, rank):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("shape", "dims"), [([2], ["tp"]), ([2], ["pp"]), ([2, 2], ["dp", "tp"]), ([2, 2, 2], ["dp", "pp", "tp"])])
@pytest.mark.parametrize("sequence_parallel", [False, True])
def test_layouts_add_up(shape, dims, sequence_parallel):
    """Parts give what transformer_layout gives, of models of Python and of C++."""
    mesh = dist.ProcessMesh(shape=shape, dim_names=dims)
    parts = (nn.data_parallel("dp", zero_stage=1) + nn.tensor_parallel("tp", sequence_parallel)
             + nn.stages("pp", "layer*")).only_along(mesh)
    for make in (small_gpt.PythonGpt, small_gpt.library_gpt):
        net = make()
        want = nn.transformer_layout(net, mesh, zero_stage=1, sequence_parallel=sequence_parallel)
        assert parts.describe(net) == want.describe(net)
        assert ("tp=S" in parts.describe(net)) == ("tp" in dims) and ("along pp" in parts.describe(net)) == ("pp" in dims)


def test_a_cut_distributes_links_unevenly():
    def rank():
        mesh = dist.ProcessMesh(shape=[2], dim_names=["pp"])
        layers = {}
        for name, layout in (("stages", nn.stages("pp", "layer*", cut=[1, 3])),
                             ("pipeline", nn.Layout().pipeline("pp", "layer*", 1, [3, 1])),
                             ("transformer_layout", None)):
            net = nn.models.GPT(vocab=16, seq_len=4, d_model=8, layers=4, heads=2)
            nn.shard(net, mesh, layout or nn.transformer_layout(net, mesh, cut=(2, 2)))
            layers[name] = sum(p.nbytes_here > 0 for n, p in net.named_parameters() if n.endswith("up.weight"))
        with pytest.raises(ValueError, match="sum 4, such as .2, 2."):
            nn.shard(net, mesh, nn.stages("pp", "layer*", cut=[1, 2]))
        return layers
    assert dist.run_ranks(2, rank) == [{"stages": 1, "pipeline": 3, "transformer_layout": 2},
                                       {"stages": 3, "pipeline": 1, "transformer_layout": 2}]


def test_parts_of_layouts_lay_a_model_out():
    want = Split()(rows()).numpy()

    def rank():
        mesh = dist.ProcessMesh([[0, 1], [2, 3]], dim_names=["dp", "tp"])
        net = Split()
        nn.shard(net, mesh, nn.data_parallel("dp") + nn.tensor_parallel("tp"))
        assert net.up.weight.detach().local().shape == (8, 16)
        return dist.unshard_dtensor(net(dist.shard_tensor(rows(), mesh, [dist.Shard(0), dist.Replicate()]))).numpy()
    for got in dist.run_ranks(4, rank):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_of_added_layouts_what_comes_later_counts():
    net = Split()
    own = nn.Layout().parameters("up.weight", {"tp": dist.Replicate()})
    first, last = own + nn.tensor_parallel(), nn.tensor_parallel() + own
    assert "up.weight    [8,32]   tp=S1" in first.describe(net) and "up.weight    [8,32]   tp=R" in last.describe(net)
    both = nn.data_parallel("dp", zero_stage=2) + nn.Layout().batches({"tp": dist.Shard(1)}) + nn.data_parallel("ep")
    assert "dp=S0 tp=S1 ep=S0" in both.describe(net) and "2 along dp" in both.describe(net)
    with pytest.raises(ValueError, match="tensor_parallel uses mesh dim 'tq'"):
        nn.shard(nn.LayerNorm(4), dist.ProcessMesh([0], dim_names=["tp"]), nn.tensor_parallel("tq"))
    with pytest.raises(TypeError):
        nn.Layout() + 1


def test_layouts_that_do_not_fit_are_errors():
    mesh = dist.ProcessMesh([0], dim_names=["tp"])
    with pytest.raises(LookupError, match="'upp.weight'.*nearest: up.weight"):
        nn.shard(Split(), mesh, nn.Layout().parameters("upp.weight", {"tp": dist.Shard(1)}))
    with pytest.raises(ValueError, match="mesh dim 'dp', which .* does not have"):
        nn.shard(Split(), mesh, nn.Layout().batches({"dp": dist.Shard(0)}))
    with pytest.raises(ValueError, match="use Replicate"):
        nn.shard(Split(), mesh, nn.Layout().parameters("up.weight", {"tp": dist.Shard(2)}))
    with pytest.raises(TypeError, match="placement"):
        nn.Layout().parameters("*", {"tp": 1})
    net = Split()
    nn.shard(net, mesh, nn.Layout())
    with pytest.raises(ValueError, match="combine models before"):
        net.more = nn.Linear(2, 2)


def test_names_and_values_are_those_of_the_model_in_cpp():
    ours, theirs = small_gpt.PythonGpt(), small_gpt.library_gpt()
    assert [n for n, _ in ours.named_parameters()] == [n for n, _ in theirs.named_parameters()]
    for (_, a), (_, b) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        assert a.tolist() == b.tolist()


@pytest.mark.parametrize("make", [small_gpt.PythonGpt, small_gpt.PlainGpt])
def test_losses_are_those_of_the_model_in_cpp(make):
    want = small_gpt.losses(small_gpt.library_gpt)
    assert want[2] < want[0]
    assert small_gpt.losses(make) == want


@pytest.mark.parametrize(("shape", "dims"), [([2], ["dp"]), ([2], ["tp"]), ([2, 2], ["dp", "tp"])])
@pytest.mark.parametrize("make", [small_gpt.PythonGpt, small_gpt.PlainGpt])
def test_losses_are_the_same_on_every_mesh(make, shape, dims):
    want = small_gpt.losses(small_gpt.library_gpt)
    np.testing.assert_allclose(small_gpt.losses_on(make, shape, dims), want, rtol=1e-5)


@pytest.mark.parametrize("schedule", ["gpipe", "1f1b", "zb_h1"])
def test_a_python_model_in_a_pipeline(schedule):
    want = small_gpt.losses(small_gpt.library_gpt, parts=2)
    got = small_gpt.losses_on(small_gpt.PythonGpt, [2], ["pp"], parts=2, schedule=schedule)
    np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
def test_a_python_model_captured_and_recomputed(recompute):
    want = small_gpt.losses(small_gpt.library_gpt)
    assert small_gpt.losses(small_gpt.PythonGpt, capture=True, recompute=recompute) == want
    assert small_gpt.losses(small_gpt.PythonGpt, capture=True, recompute=recompute, graphs=False) == want
    assert small_gpt.losses(small_gpt.PythonGpt, recompute=recompute) == want


class Scaled(nn.Module):
    """x * w * s, s and a number of its own; counts its calls in s."""

    def __init__(self, state, factor=1.0, counts=False):
        super().__init__()
        self.w = nn.Parameter([4], init=nn.init.constant(0.5))
        self.s = nn.Buffer(ap.tensor(np.full(4, state, np.float32)))
        self.factor, self.counts = factor, counts

    def forward(self, x):
        y = x * self.w * (self.s + 0.0) * self.factor
        if self.counts:
            with ap.no_grad():
                self.s += 0.25
        return y


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(1)

    def forward(self, x):
        return ap.tanh(self.norm(x.reshape([-1, 1, 2, 2]))).reshape([-1, 4])


def frozen_first():
    links = [Scaled(2.0), Scaled(3.0), Scaled(5.0)]
    links[0].w.requires_grad_(False)
    return links


REPEATED = {"buffers": lambda: [Scaled(2.0), Scaled(3.0), Scaled(5.0)],
            "attributes": lambda: [Scaled(2.0, 1.0), Scaled(2.0, 0.5), Scaled(2.0, -0.5)],
            "counts": lambda: [Scaled(1.0, counts=True), Scaled(2.0, counts=True)],
            "batch norm": lambda: [Normed(), Normed(), Normed()],
            "frozen": frozen_first}


def trained_state(links, mesh=None, **options):
    """Losses, parameters and buffers after three steps of two micro-batches."""
    net = nn.Sequential().repeat("block", links())
    if mesh is not None:
        nn.shard(net, mesh, nn.Layout().batches({"dp": dist.Shard(0)}))
    trainer = training.Trainer(net, nn.mean_squared_error, optim.SGD(lr=0.05), micro_batches=2, **options)
    random = np.random.default_rng(3)
    batches = [(ap.tensor(random.normal(size=(4, 4)).astype(np.float32)), ap.zeros([4, 4], dtype="float32"))
               for _ in range(6)]
    losses = [trainer.step(batches[2 * i:2 * i + 2]).loss for i in range(3)]
    return losses, {name: value.tolist() for name, value in net.state_dict().items()}


@pytest.mark.parametrize("links", REPEATED.values(), ids=REPEATED)
def test_repeated_links_that_differ(links):
    want = trained_state(links)
    for options in ({"recompute": "full"}, {"capture": True}, {"capture": True, "recompute": "full"}):
        assert trained_state(links, **options) == want, options


@pytest.mark.parametrize("links", REPEATED.values(), ids=REPEATED)
def test_repeated_links_that_differ_on_a_mesh(links):
    def rank():
        mesh = dist.ProcessMesh(shape=[2], dim_names=["dp"])
        want = trained_state(links, mesh)
        for options in ({"recompute": "full"}, {"capture": True}, {"capture": True, "recompute": "full"}):
            assert trained_state(links, mesh, **options) == want, options
        return want[0]

    results = dist.run_ranks(2, rank)
    assert results[0] == results[1]
    np.testing.assert_allclose(results[0], trained_state(links)[0], rtol=1e-5)


def test_recompute_leaves_what_the_function_writes_as_it_was_written_once():
    count = ap.zeros([1], dtype="float32")

    def f(x):
        nonlocal count
        y = x * (count + 2.0)
        count += 1.0
        return y

    x = ap.tensor([3.0]).requires_grad_()
    first, second = ap.recompute(f, x), ap.recompute(f, x)
    (first + second).sum().backward()
    assert count.tolist() == [2.0] and x.grad.tolist() == [2.0 + 3.0]


# ---- losses ----

LABELS = np.array([[3], [-100], [0], [-100], [-100], [2], [1]])
LOGITS = np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)


def cross_entropy(labels):
    """(the mean over labels that are not -100, its gradient), of NumPy."""
    kept = np.flatnonzero(labels[:, 0] != -100)
    shares = np.exp(LOGITS.astype(np.float64))
    shares /= shares.sum(1, keepdims=True)
    count = max(len(kept), 1)
    grad = np.zeros_like(shares)
    for i in kept:
        grad[i] = shares[i] / count
        grad[i, labels[i, 0]] -= 1 / count
    return -sum(np.log(shares[i, labels[i, 0]]) for i in kept) / count, grad


@pytest.mark.parametrize("labels", [LABELS, np.abs(LABELS) % 4, np.full((7, 1), -100)], ids=["some", "none", "all"])
@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_ignored_labels_have_no_part_in_the_mean(labels, dtype):
    logits = ap.tensor(LOGITS, requires_grad=True)
    loss = nn.cross_entropy(logits, ap.tensor(labels, dtype=dtype))
    loss.backward()
    want, grad = cross_entropy(labels)
    assert loss.dtype is ap.float32 and loss.shape == ()
    np.testing.assert_allclose(loss.item(), want, rtol=1e-6)
    np.testing.assert_allclose(logits.grad.numpy(), grad, atol=1e-7)


@pytest.mark.parametrize("dtype, limit", [("float16", 2e-3), ("bfloat16", 2e-2)])
def test_ignored_labels_in_16_bits(dtype, limit):
    loss = nn.cross_entropy(ap.tensor(LOGITS).to(dtype), ap.tensor(LABELS))
    np.testing.assert_allclose(loss.item(), cross_entropy(LABELS)[0], rtol=limit)


@pytest.mark.parametrize("placements", [[dist.Shard(0)], [dist.Replicate()], [dist.Shard(1)]], ids=repr)
def test_ignored_labels_on_a_mesh(placements):
    def body():
        mesh = dist.ProcessMesh([0, 1, 2], ["dp"])
        logits = dist.shard_tensor(LOGITS, mesh, placements).requires_grad_()
        by_row = placements if placements[0].is_shard() and placements[0].dim == 0 else [dist.Replicate()]
        labels = dist.shard_tensor(LABELS, mesh, by_row)
        loss = nn.cross_entropy(logits, labels)
        loss.backward()
        return dist.unshard_dtensor(loss.detach()).item(), dist.unshard_dtensor(logits.grad).tolist()

    want, grad = cross_entropy(LABELS)
    for loss, got in dist.run_ranks(3, body):
        np.testing.assert_allclose(loss, want, rtol=1e-6)
        np.testing.assert_allclose(got, grad, atol=1e-7)
