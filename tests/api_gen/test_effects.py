"""Each key of each kind of entry: another value makes other code, or is refused, or is in the table of
keys without effect. None is read and forgotten."""

import re

from conftest import definitions, fails, generated, gradients_of, ops_of

import pytest

from api_gen import effects
from api_gen.backward import BACKWARD_KEYS
from api_gen.errors import SpecErrors
from api_gen.parse import INFER_META_KEYS, KERNEL_KEYS, OP_KEYS, TRANSFORM_KEYS

SUBKEYS = {"infer_meta": INFER_META_KEYS, "kernel": KERNEL_KEYS, "data_transform": TRANSFORM_KEYS}
ARGS = "(Tensor x, Tensor y, int a = 0, DataType t = DataType::FLOAT32, Place p = {})"
ATTRS = "int a, DataType t, Place p"
TWO = "Tensor(out), Tensor(more)"

# The entry of each kind, and what stands beside it: ops and gradients of others.
OP = {"op": "f", "args": ARGS, "output": TWO, "infer_meta.func": "F", "kernel.func": "f",
      "kernel.data_type": "t", "kernel.backend": "p"}
SINGLE = {"op": "f", "args": "(Tensor x, Tensor y, int a = 0)", "output": "Tensor",
          "infer_meta.func": "F", "kernel.func": "f"}
INVOKING = {"op": "f", "args": "(Tensor x, Tensor y, int a = 0)", "output": "Tensor",
            "invoke": "g(x, y, a)"}
GRADIENT = {"backward_op": "f_grad", "forward": f"f (Tensor x, Tensor y, {ATTRS}) -> {TWO}",
            "args": "(Tensor x, Tensor y, Tensor out_grad, int a)",
            "output": "Tensor(x_grad), Tensor(y_grad)", "infer_meta.func": "F",
            "kernel.func": "f_grad"}
WITHOUT_KERNEL = {"backward_op": "f_grad", "forward": f"f (Tensor x, Tensor y, {ATTRS}) -> {TWO}",
                  "args": "(Tensor x, Tensor y, Tensor out_grad, int a)",
                  "output": "Tensor(x_grad), Tensor(y_grad)"}
INVOKED = {**WITHOUT_KERNEL, "invoke": "g(x, y, out_grad, a)"}
COMPOSED = {**WITHOUT_KERNEL, "composite": "g(x, y, out_grad, a, x_grad, y_grad)"}
OF_F = {**GRADIENT, "forward": "f (Tensor x, Tensor y, int a) -> Tensor(out)"}
DOUBLE = {"backward_op": "f_double_grad",
          "forward": "f_grad (Tensor x, Tensor y, Tensor out_grad, int a) -> "
                     "Tensor(x_grad), Tensor(y_grad)",
          "args": "(Tensor x_grad_grad, int a)", "output": "Tensor(out_grad_grad)",
          "optional": "x_grad_grad", "infer_meta.func": "F", "infer_meta.param": "[a]",
          "kernel.func": "f_double_grad"}


def text_of(entry: dict[str, str]) -> str:
    """YAML of keys and "key.sub"s, the name first."""
    maps: dict[str, dict[str, str]] = {}
    lines = []
    for key, value in entry.items():
        name, _, sub = key.partition(".")
        if sub:
            maps.setdefault(name, {})[sub] = value
        else:
            lines.append(f"{key}: {value}")
    lines += [f"{name}: {{{', '.join(f'{sub}: {value}' for sub, value in subs.items())}}}"
              for name, subs in maps.items()]
    return "- " + "\n  ".join(lines) + "\n"


def body_of(entry: dict[str, str]) -> str:
    return next(body for body in ("kernel.func", "invoke", "composite") if body in entry).split(".")[0]


def function_of(entry: dict[str, str], others: dict[str, str] | None) -> str:
    """The function of the entry alone."""
    return definitions(code_of(entry, others))[next(iter(entry.values()))]


def code_of(entry: dict[str, str], others: dict[str, str] | None) -> dict[str, str]:
    """Generated files, but for the reference page, and without the lines that entries stand in."""
    if "op" in entry:
        texts = generated(text_of(entry), text_of(others) if others else "")
    else:
        forward = text_of({**OP, "backward": entry["backward_op"]})
        texts = generated(forward, text_of(entry) + (text_of(others) if others else ""))
    return {name: re.sub(r"yaml:\d+", "yaml", text) for name, text in texts.items()
            if name != "op_reference.md"}


# Of each kind: an entry, the gradient that its `backward` names, and the changes: another value of a
# key, or a pair of that and of keys that the entry has in both cases.
CHANGES = {
    "op": (OP, GRADIENT, {
        "op": "f2", "args": ARGS.replace("a = 0", "a = 1"), "output": f"{TWO}, Tensor(third)",
        "infer_meta.func": "F2", "infer_meta.param": "[x]", "infer_meta.spmd_rule": "R",
        "infer_meta.spmd_param": ("[x]", {"infer_meta.spmd_rule": "R"}),
        "spmd": '"m, m -> m, m"', "partial": "x * y", "kernel.func": "f2", "kernel.param": "[x, a]",
        "kernel.data_type": "t > x", "kernel.backend": "p > x", "kernel.flops": '"2 * out"',
        "kernel.alias_offset": ("FAliasOffset", {"output": "Tensor", "kernel.param": "[x, a]"}),
        "inplace": "(x -> out)",
        "optional": "y", "intermediate": "more", "no_need_buffer": "y",
        "data_dependent": "true", "backward": "f_grad"}),
    "a view": (SINGLE, None, {"view": "(x -> out)"}),
    "invoke": (INVOKING, None, {
        "op": "f2", "args": "(Tensor x, Tensor y, int a = 1)", "output": "Tensor[]{x.size()}",
        "optional": "y", "invoke": "g(y, x, a)",
        "inplace": ("(x -> out)", {"op": "f_"})}),
    "gradient": (GRADIENT, DOUBLE, {
        "backward_op": "f_grad2", "forward": f"f (Tensor y, Tensor x, {ATTRS}) -> {TWO}",
        "args": "(Tensor x, Tensor y, Tensor more_grad, int a)", "output": "Tensor(x_grad)",
        "infer_meta.func": "F2", "infer_meta.param": "[x]", "infer_meta.spmd_rule": "R",
        "infer_meta.spmd_param": ("[x]", {"infer_meta.spmd_rule": "R"}),
        "spmd": '"m, m, m -> m, m"', "partial": "out_grad", "kernel.func": "f2", "kernel.param": "[x, a]",
        "kernel.data_type": "y", "kernel.backend": "y", "kernel.flops": '"x[-1] / 2"', "optional": "y", "no_need_buffer": "y",
        "kernel.alias_offset": ("FAliasOffset", {"output": "Tensor(x_grad)", "kernel.param": "[x, a]"}),
        "backward": "f_double_grad"}),
    "gradient that invokes": (INVOKED, None, {
        "backward_op": "f_grad2", "forward": f"f (Tensor y, Tensor x, {ATTRS}) -> {TWO}",
        "args": "(Tensor x, Tensor y, Tensor out_grad, Tensor more, int a)",
        "output": "Tensor(x_grad)", "optional": "y", "invoke": "g(y, x, out_grad, a)",
        "no_need_buffer": "y"}),
    "gradient of others": (COMPOSED, None, {
        "backward_op": "f_grad2", "forward": f"f (Tensor y, Tensor x, {ATTRS}) -> {TWO}",
        "args": "(Tensor x, Tensor y, Tensor out_grad, Tensor more, int a)",
        "output": "Tensor(y_grad), Tensor(x_grad)", "optional": "y", "no_need_buffer": "y",
        "composite": "g(y, x, out_grad, a, x_grad, y_grad)",
        "invoke": "g(x, y, out_grad, a)"}),
}
INEFFECTIVE = {"interfaces": "a", "traits": "a", "support_dygraph_mode": "true",
               "data_transform.skip_transform": "x", "data_transform.support_trans_dtype": "x",
               "kernel.layout": "x"}
OF_KERNELS = {**INEFFECTIVE, "infer_meta.local_shape": "out", "infer_meta.global_shape": "out"}
OF_GRADIENTS = {"inplace": "(out_grad -> x_grad)", "infer_meta.local_shape": "x_grad",
                "infer_meta.global_shape": "x_grad"}
CALLS = {key: value for key, value in INEFFECTIVE.items() if key != "kernel.layout"}
IGNORED = {
    "op": OF_KERNELS,
    "a view": {},
    "invoke": {**CALLS, "backward": "f_grad"},
    "gradient": {**OF_KERNELS, **OF_GRADIENTS, "composite": "g(x)"},
    "gradient that invokes": {**CALLS, "inplace": "(out_grad -> x_grad)", "backward": "f_double",
                              "composite": "g(x)",
                              **{f"infer_meta.{key}": "F" for key in INFER_META_KEYS}},
    "gradient of others": {**CALLS, "inplace": "(out_grad -> x_grad)", "backward": "f_double",
                           **{f"infer_meta.{key}": "F" for key in INFER_META_KEYS}},
}

BOTH = "an op is either an invocation or has infer_meta and kernel"
LEAVE = "leaving it out is accepted"
WHOLE = "it is either an invocation or has a kernel"
META = {"infer_meta.func": "F"}
REFUSED = {
    "op": {},
    "a view": {},
    "invoke": {
        **{key: ({**META, key: value}, "infer_meta", f"the op has 'invoke' too; {BOTH}")
           for key, value in {**META, "infer_meta.param": "[x]", "infer_meta.spmd_rule": "R",
                              "infer_meta.spmd_param": "[x]", "infer_meta.local_shape": "out",
                              "infer_meta.global_shape": "out"}.items()},
        **{f"kernel.{key}": ({"kernel.func": "f", f"kernel.{key}": value}, "kernel",
                             f"the op has 'invoke' too; {BOTH}")
           for key, value in {"func": "f", "param": "[x]", "data_type": "x", "backend": "x",
                              "layout": "x", "flops": "x", "alias_offset": "FAliasOffset"}.items()},
        "spmd": ({"spmd": '"m, m -> m"'}, "spmd", f"the op has 'invoke' too; {BOTH}"),
        "partial": ({"partial": "x"}, "partial", f"the op has 'invoke' too; {BOTH}"),
        "data_dependent": ({"data_dependent": "true"}, "data_dependent",
                           f"the op has 'invoke' too; {BOTH}"),
        **{key: ({key: value}, key, f"it is not read in an entry with 'invoke'; {LEAVE}")
           for key, value in {"view": "(x -> out)", "intermediate": "out",
                              "no_need_buffer": "y"}.items()}},
    "gradient": {"invoke": ({"invoke": "g(x)"}, "kernel", f"the gradient has 'invoke' too; {WHOLE}")},
    "gradient that invokes": {},
    "gradient of others": {},
}
for kind, body in (("gradient that invokes", "invoke"), ("gradient of others", "composite")):
    said = f"it is not read in an entry with '{body}'; {LEAVE}"
    REFUSED[kind] |= {"spmd": ({"spmd": '"m -> m"'}, "spmd", said),
                      "partial": ({"partial": "x"}, "partial", said)}


def all_keys(kind: str) -> set[str]:
    keys = BACKWARD_KEYS if kind.startswith("gradient") else OP_KEYS
    return {full for key in keys
            for full in ([f"{key}.{sub}" for sub in SUBKEYS[key]] if key in SUBKEYS else [key])}


@pytest.mark.parametrize("kind", [kind for kind in CHANGES if kind != "a view"])
def test_each_key_has_a_case(kind):
    tested = {*CHANGES[kind][2], *IGNORED[kind], *REFUSED[kind]}
    if kind == "op":  # one whose output is a view, and none that only invokes
        tested |= {*CHANGES["a view"][2], "invoke"}
    if kind.startswith("gradient ") and kind != "gradient":
        tested |= {f"kernel.{key}" for key in KERNEL_KEYS}  # has one, so it is of another kind
    assert tested == all_keys(kind)


@pytest.mark.parametrize("kind, key", [(kind, key) for kind, (_, _, changes) in CHANGES.items()
                                       for key in changes])
def test_another_value_makes_other_code(kind, key):
    entry, others, changes = CHANGES[kind]
    change, beside = changes[key] if isinstance(changes[key], tuple) else (changes[key], {})
    before = {**entry, **beside}
    after = {**before, key: change}
    if key == "backward":  # without it the gradient would be there for nothing
        with pytest.raises(SpecErrors, match="nothing would call this one"):
            code_of(before, others)
        assert function_of(after, others) != function_of(before, None)
    else:
        assert code_of(after, None) != code_of(before, None)


@pytest.mark.parametrize("kind, key", [(kind, key) for kind, keys in IGNORED.items()
                                       for key in keys])
def test_what_has_no_effect_is_known_and_has_none(kind, key):
    entry, _, _ = CHANGES[kind]
    given = {**entry, key: IGNORED[kind][key]}
    others = OF_F if kind == "invoke" and key == "backward" else None
    if kind != "invoke" and key == "backward":
        others = {**DOUBLE, "backward_op": "f_double"}
    assert function_of(given, others) == function_of(entry, None)
    if key != "backward":
        assert code_of(given, None) == code_of(entry, None)
    read = gradients_of if kind.startswith("gradient") else ops_of
    (one,) = read(text_of(given))
    table = effects.of_entry(kind.startswith("gradient"), body_of(entry))
    assert one.without_effect == ((key, table[key]),)
    assert re.fullmatch(rf"\w+\.yaml:\d+: 'f\w*', key '{re.escape(key)}': no effect: \w.+\n",
                        effects.report([one]))


@pytest.mark.parametrize("kind, key, value, message", [
    ("op", "infer_meta.local_shape", "o", "unknown output 'o'; accepted are 'out', 'more'"),
    ("op", "infer_meta.global_shape", "o", "unknown output 'o'; accepted are 'out', 'more'"),
    ("op", "data_transform.skip_transform", "z", "unknown tensor 'z'; accepted are 'x', 'y'"),
    ("op", "kernel.layout", "z", "unknown argument 'z'; accepted are 'x', 'y', 'a', 't', 'p'"),
    ("gradient", "inplace", "(z -> x_grad)",
     "unknown tensor 'z'; accepted are 'x', 'y', 'out_grad'"),
    ("gradient", "data_transform.support_trans_dtype", "z",
     "unknown tensor 'z'; accepted are 'x', 'y', 'out_grad'"),
])
def test_what_has_no_effect_is_checked(kind, key, value, message):
    text = text_of({**CHANGES[kind][0], key: value})
    line = next(i for i, line in enumerate(text.splitlines(), 1)
                if line.strip("- ").startswith(key.split(".")[0] + ":"))
    if kind == "gradient":
        fails(text, f"backward.yaml:{line}: op 'f_grad', key '{key}': {message}", text_of(OP))
    else:
        fails(text, f"ops.yaml:{line}: op 'f', key '{key}': {message}")


def test_the_rule_has_the_name_that_the_entry_gives():
    for rule in ({"spmd": '"m, m -> m"'}, {"infer_meta.spmd_rule": "FInferSpmd"}):
        text = generated(text_of({**SINGLE, **rule}))["defs/ops.cc"]
        assert next(iter(rule.values())).strip('"') in text


def test_the_table_has_no_other_keys():
    for kind, (entry, _, _) in CHANGES.items():
        if kind != "a view":
            table = effects.of_entry(kind.startswith("gradient"), body_of(entry))
            assert set(table) == set(IGNORED[kind])


@pytest.mark.parametrize("kind, key", [(kind, key) for kind, keys in REFUSED.items()
                                       for key in keys])
def test_what_nothing_reads_is_refused(kind, key):
    entry, _, _ = CHANGES[kind]
    more, named, message = REFUSED[kind][key]
    text = text_of({**entry, **more})
    line = next(i for i, line in enumerate(text.splitlines(), 1)
                if line.strip("- ").startswith(named.split(".")[0] + ":"))
    if kind.startswith("gradient"):
        fails(text, f"backward.yaml:{line}: op 'f_grad', key '{named}': {message}",
              text_of({**OP, "backward": "f_grad"}))
    else:
        fails(text, f"ops.yaml:{line}: op 'f', key '{named}': {message}")


TAKERS = ("an argument of the shape function, the rule, the kernel, the call or the gradient is "
          "accepted")


@pytest.mark.parametrize("change", [
    {"infer_meta.param": "[x]", "kernel.param": "[x]"},
    {"infer_meta.param": "[x]", "kernel.param": "[x]", "infer_meta.spmd_rule": "R"},
    # A view launches no kernel.
    {"infer_meta.param": "[x]", "view": "(x -> out)"},
])
def test_an_attribute_that_nothing_takes(change):
    fails(text_of({**SINGLE, **change}),
          f"ops.yaml:2: op 'f', key 'args': no function uses the attribute 'a'; {TAKERS}")


@pytest.mark.parametrize("change", [
    {"kernel.param": "[x]"},
    {"infer_meta.param": "[x]"},
    {"infer_meta.param": "[x]", "kernel.param": "[x]", "infer_meta.spmd_rule": "R",
     "infer_meta.spmd_param": "[x, a]"},
])
def test_one_taker_will_do(change):
    generated(text_of({**SINGLE, **change}))


def test_the_gradient_is_a_taker():
    nobody = {"infer_meta.param": "[x]", "kernel.param": "[x]", "backward": "f_grad"}
    generated(text_of({**SINGLE, **nobody}), text_of(OF_F))
    without = {**OF_F, "args": "(Tensor x, Tensor y, Tensor out_grad)"}
    fails(text_of(without), f"ops.yaml:2: op 'f', key 'args': no function uses the attribute 'a'; "
          f"{TAKERS}", text_of({**SINGLE, **nobody}))


def test_attributes_of_calls_and_of_gradients():
    fails(text_of({**INVOKING, "invoke": "g(x, y)"}),
          f"ops.yaml:2: op 'f', key 'args': no function uses the attribute 'a'; {TAKERS}")
    op = text_of({**OP, "backward": "f_grad"})
    for gradient in ({**INVOKED, "invoke": "g(x, y, out_grad)"},
                     {**COMPOSED, "composite": "g(x, y, out_grad, x_grad)"},
                     {**GRADIENT, "infer_meta.param": "[x]", "kernel.param": "[x]"}):
        fails(text_of(gradient), "backward.yaml:3: op 'f_grad', key 'args': no function uses the "
              f"attribute 'a'; {TAKERS}", op)
