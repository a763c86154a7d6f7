"""What the golden functions do not show: names, unused arguments, sources of dtype and place."""

import re

from conftest import definitions, fails, generated, our_texts, render_our_entries

import pytest

from api_gen.emit import render
from api_gen.errors import SpecErrors
from api_gen.functions import Functions
from api_gen.parse import parse_ops


def body_of(name: str, text: str) -> str:
    return definitions(generated(text))[name]


def op(kernel: str, args: str = "(Tensor x, Tensor y)", more: str = "") -> str:
    return (f"- op: f\n  args: {args}\n  output: Tensor\n  infer_meta: {{func: F, param: [x]}}\n"
            f"  kernel: {{func: f, {kernel}}}\n{more}")


@pytest.mark.parametrize("kernel, args, more, expected", [
    ("param: [x]", "(Tensor x, Tensor y)", "", "launch<kernels::f>(ops::f, x.dtype(), "),
    ("param: [x]", "(Tensor x, Tensor y)", "  optional: x\n", "(ops::f, dtype_of(x, y), "),
    ("param: [x]", "(Tensor[] x, Tensor y)", "", "(ops::f, dtype_of(x, y), "),
    ("param: [x]", "(Tensor[] x)", "", "(ops::f, dtype_of(x), "),
    ("data_type: y", "(Tensor x, Tensor y)", "", "(ops::f, y.dtype(), "),
    ("data_type: y", "(Tensor x, Tensor y)", "  optional: y\n", "(ops::f, dtype_of(y), "),
    ("data_type: DataType::INT64", "(Tensor x)", "", "(ops::f, DataType::INT64, "),
    ("data_type: dtype", "(Tensor x, DataType dtype)", "", "(ops::f, dtype, "),
    ("data_type: dtype > x", "(Tensor x, DataType dtype)", "",
     "(ops::f, dtype_or(dtype, x.dtype()), "),
    ("data_type: dtype", "(Tensor x, DataType dtype)", "  optional: dtype\n",
     "(ops::f, dtype_or(dtype, x.dtype()), "),
    ("data_type: complex(x)", "(Tensor x)", "", "(ops::f, complex_of(x.dtype()), "),
    ("backend: place", "(Tensor x, Place place)", "  optional: place\n",
     "new_tensor(meta, place_or(place, place_of(x)));"),
    ("param: [x]", "(Tensor x, Tensor y)", "", "new_tensor(meta, place_of(x, y));"),
    ("backend: x", "(Tensor x, Tensor y)", "", "new_tensor(meta, place_of(x));"),
    ("backend: place", "(Tensor x, Place place)", "", "new_tensor(meta, place_or(place, place_of()));"),
    ("backend: place > x", "(Tensor x, Place place)", "",
     "new_tensor(meta, place_or(place, place_of(x)));"),
])
def test_source_of_dtype_and_place(kernel, args, more, expected):
    assert expected in body_of("f", op(kernel, args, more))


def test_a_seed_that_may_be_left_out_is_drawn():
    texts = generated(op("param: [x, p, seed]", "(Tensor x, float p, int seed = 0)", "  backward: f_grad\n"),
                      """
        - backward_op: f_grad
          forward: f (Tensor x, float p, int seed) -> Tensor(out)
          args: (Tensor x, Tensor out_grad, int seed)
          output: Tensor(x_grad)
          infer_meta: {func: F, param: [x]}
          kernel: {func: f_grad}
        """)
    assert "Tensor f(const Tensor& x, float p, const std::optional<int>& seed = std::nullopt);" in texts["ops/f.h"]
    body = definitions(texts)["f"]
    assert "Tensor f(const Tensor& x, float p, const std::optional<int>& given_seed) {\n" in body
    assert "  const CallSeed seed(ops::f, given_seed, 2);\n  const Call call(ops::f, attrs(p, seed), x);" in body
    assert "x.dense(), p, seed, dense_out(out))" in body and "new FGradNode(x, seed.known())" in body
    assert "FGradNode(const Tensor& x, int seed)" in definitions(texts)["FGradNode"]
    assert "KernelSignature<const DenseTensor&, float, int, DenseTensor*>" in texts["kernels/ops.h"]
    assert '#include "api/call/args/call_seed.h"' in texts["ops/f.cc"]


@pytest.mark.parametrize("args", ["(Tensor x, int seed)", "(Tensor x, int seed = 3)", "(Tensor x, float seed = 0)"])
def test_another_seed_is_an_attribute_like_others(args):
    body = body_of("f", op("param: [x, seed]", args))
    assert "CallSeed" not in body and "optional" not in body


def test_attention_draws_its_seed_and_offset_where_it_drops():
    body = body_of("f", op("param: [x, fixed_seed_offset, dropout, is_test]",
                           "(Tensor x, Tensor fixed_seed_offset, float dropout = 0.0, bool is_test = false)",
                           "  optional: fixed_seed_offset\n"))
    assert "seed_offset_for(given_fixed_seed_offset, x, dropout > 0 && !is_test);" in body


def test_shapes_do_not_follow_a_seed_that_is_drawn():
    fails(op("param: [x, seed]", "(Tensor x, int seed = 0)").replace("param: [x]}", "param: [x, seed]}"),
          "ops.yaml:4: op 'f', key 'infer_meta': shapes or placements follow 'seed', which is drawn if it is left out; "
          "a seed without the default 0 is accepted")


def test_a_call_has_its_attributes_and_tensors():
    texts = generated(op("param: [x, name], backend: where", "(Tensor x, str name = \"\", Place where = CPUPlace())",
                         "  inplace: (x -> out)\n"))
    body = definitions(texts)["f"]
    assert "const Call call(ops::f, attrs(name, where), x);" in body and "call.set_outputs(out);" in body
    assert 'Tensor f(const Tensor& x, const std::string& name = "", ' in texts["ops/f.h"]
    assert 'const Call call(as(ops::f, "f_"), attrs(name, where), x);' in definitions(texts)["f_"]
    assert ('kFAttributes[] = {{"name", AttributeKind::kString, false}, '
            '{"where", AttributeKind::kPlace, false}};') in " ".join(texts["defs/ops.cc"].split())


def test_attributes_decide_where_shapes_or_placements_depend_on_them():
    def deciding(text):
        return re.findall(r'{"(\w+)", AttributeKind::\w+, true}', generated(text)["defs/ops.cc"])

    assert deciding(op("param: [x, a, b]", "(Tensor x, float a, int b)")) == []
    assert deciding(op("param: [x, a]", "(Tensor x, float a, int b)").replace(
        "param: [x]}", "param: [x, b], spmd_rule: R, spmd_param: [x, a, b]}")) == ["a", "b"]


def test_attributes_decide_where_partial_values_pass():
    text = op("param: [x, a, b]", "(Tensor x, float a, int b)", "  partial: x + b\n")
    assert re.findall(r'{"(\w+)", AttributeKind::\w+, true}', generated(text)["defs/ops.cc"]) == ["b"]


def rule_of(text: str) -> str:
    """What is generated of the one op `f` in defs/ops.cc."""
    return generated(text)["defs/ops.cc"].split("// ---- f ----")[1].split("}  // namespace\n")[0]


def test_rules_are_asked_with_the_ops_own_attributes():
    text = rule_of(op("param: [x, b, a]", "(Tensor x, int a, float[] b = {})").replace(
        "F, param: [x]", "F, param: [x, b, true], spmd_rule: R, spmd_param: [x, a]"))
    assert "return R(args.spec(0), args.attr<int>(0));" in text
    assert "return metas(F(args.meta(0), args.attr<std::vector<float>>(1), true));" in text
    assert '.attribute(OpRule::required<int>("a"))' in text
    assert '.attribute(OpRule::optional<std::vector<float>>("b", {}))' in text


def test_kinds_of_tensors_are_those_of_the_entry():
    text = rule_of(op("param: [x]", "(Tensor[] x, Tensor y)", "  optional: y\n").replace(
        "F, param: [x]", "F, param: [y], spmd_rule: R, spmd_param: [x, y]"))
    assert "return R(args.list_spec(0), args.optional_spec(1));" in text
    assert "return metas(F(args.optional_meta(1)));" in text
    assert '.tensor("x", TensorKind::kList)' in text
    assert '.tensor("y", TensorKind::kOptional)' in text


def test_an_op_without_rule_asks_none():
    text = generated(op("param: [x]"))["defs/ops.cc"]
    assert "infer_spmd_f" not in text
    assert 'RuleFunctions kFRule = {"", nullptr, infer_meta_f, describe_f};' in text


def test_arguments_that_nobody_reads_have_no_name():
    text = rule_of(op("param: [x]").replace("F, param: [x]", "F, param: [1]"))
    assert "OutputMetas infer_meta_f(const RuleArgs&) { return metas(F(1)); }" in text


def test_optional_tensors_may_be_left_out_where_all_that_follows_may():
    declared = "const std::optional<Tensor>& y"
    texts = generated(op("param: [x, a]", "(Tensor x, Tensor y, int a = 0)", "  optional: y\n"))
    assert f"{declared} = std::nullopt, int a = 0);" in texts["ops/f.h"]
    texts = generated(op("param: [x, a]", "(Tensor x, Tensor y, int a)", "  optional: y\n"))
    assert f"{declared}, int a);" in texts["ops/f.h"]


def test_kernel_without_tensors_reshards_nothing():
    body = body_of("f", op("param: [a]", "(Tensor x, float a)"))
    assert "reshard_inputs" not in body and "local_out(decision, out)" in body


def test_variables_give_way_to_arguments():
    text = op("param: [x]", "(Tensor x, Tensor out, Tensor meta)")
    body = body_of("f", text)
    assert "const auto meta_ = F(x.meta());" in body and "return out_;" in body


def test_op_names_that_the_registry_needs():
    texts = generated(op("param: [x]").replace("op: f", "op: all"))
    assert "extern const OpDef all_op;" in texts["ops/all.h"]
    assert "ops::all_op" in definitions(texts)["all"]


def test_literals_give_kernel_types():
    text = generated(op('param: [x, false, 3, 0.5, "sum"]'))["kernels/ops.h"]
    assert ("struct f { using Signature = KernelSignature<const DenseTensor&, bool, int, float, "
            "const std::string&, DenseTensor*>;") in " ".join(text.split())


def test_hidden_outputs_with_several_shown():
    body = body_of("f", """
        - op: f
          args: (Tensor x, Tensor m)
          output: Tensor(out), Tensor(m_out), Tensor(saved)
          infer_meta: {func: F}
          kernel: {func: f}
          inplace: (m -> m_out)
          intermediate: saved
        """)
    assert "auto [out, m_out, saved] = intermediate::f(x, m);\n  return {out, m_out};" in body
    inplace = definitions(generated("""
        - op: f
          args: (Tensor x, Tensor m)
          output: Tensor(out), Tensor(m_out), Tensor(saved)
          infer_meta: {func: F}
          kernel: {func: f}
          inplace: (m -> m_out)
          intermediate: saved
        """))["f_"]
    assert "std::tuple<Tensor, Tensor&> f_(const Tensor& x, Tensor& m) {" in inplace
    assert "return {out, m};" in inplace


def test_our_ops_are_the_same_every_time():
    assert our_texts() == render_our_entries()


CALLER = """
- op: f
  args: (Tensor x)
  output: Tensor
  infer_meta: {func: F}
  kernel: {func: f}
  backward: f_grad
- op: f_twice
  args: (Tensor x)
  output: Tensor
  invoke: f_(x)
"""
CALLED = """
- backward_op: f_grad
  forward: f (Tensor x) -> Tensor(out)
  args: (Tensor x, Tensor out_grad)
  output: Tensor(x_grad)
  invoke: f_twice(out_grad)
"""


def test_a_source_includes_what_its_functions_call():
    texts = generated(CALLER, CALLED)
    assert '#include "api/generated/ops/f.h"' in texts["ops/f_twice.cc"]
    assert '#include "api/generated/ops/f_twice.h"' in texts["ops/f.cc"]
    assert texts["api.h"].count("#include") == 2


FUNCTIONS = """
/// Not declared: OtherInferMeta().
TensorMeta FInferMeta(const TensorMeta& x);
SpmdRule FInferSpmd(const TensorSpec& x);
"""
NAMED = op("param: [x]").replace("func: F,", "func: FInferMeta, spmd_rule: FInferSpmd,")


def test_sources_include_the_headers_of_their_functions(tmp_path):
    (tmp_path / "f.h").write_text(FUNCTIONS)
    texts = render(parse_ops([("ops.yaml", NAMED)]), functions=Functions([tmp_path])).texts
    include = f'#include "{tmp_path}/f.h"'
    assert texts["api/generated/ops/f.cc"].count(include) == 1
    assert texts["api/generated/defs/ops.cc"].count(include) == 1
    assert "infermeta.h" not in texts["api/generated/ops/f.cc"]


@pytest.mark.parametrize("key, old, new", [
    ("infer_meta.func", "FInferMeta", "OtherInferMeta"),
    ("infer_meta.spmd_rule", "FInferSpmd", "GInferSpmd"),
])
def test_functions_that_no_header_declares_are_errors(tmp_path, key, old, new):
    (tmp_path / "f.h").write_text(FUNCTIONS)
    with pytest.raises(SpecErrors) as caught:
        render(parse_ops([("ops.yaml", NAMED.replace(old, new))]), functions=Functions([tmp_path]))
    assert f"ops.yaml:4: op 'f', key '{key}': no header of {tmp_path} declares '{new}'" in str(caught.value)


def test_a_kernel_of_two_families_is_declared_once():
    one = op("param: [x]")
    ops = parse_ops([("a.yaml", one), ("b.yaml", one.replace("op: f", "op: g"))])
    texts = render(ops).texts
    assert "struct f " in texts["phi/generated/kernels/a.h"]
    assert "phi/generated/kernels/b.h" not in texts
    for op_name in "fg":
        assert '#include "phi/generated/kernels/a.h"' in texts[f"api/generated/ops/{op_name}.cc"]


def test_operators_of_a_family_are_compiled_together():
    one = op("param: [x]")
    many = "".join(one.replace("op: f", f"op: f{i}") for i in range(10))
    texts = render(parse_ops([("a.yaml", many), ("b.yaml", one)])).texts
    batches = {path: re.findall(r"/ops/(\w+)\.cc", text) for path, text in texts.items() if "/batches/" in path}
    assert batches == {"api/generated/batches/a_0.cc": [f"f{i}" for i in range(8)],
                       "api/generated/batches/a_1.cc": ["f8", "f9"], "api/generated/batches/b_0.cc": ["f"]}


def test_definitions_of_ten_families_are_compiled_together():
    one = op("param: [x]")
    texts = render(parse_ops([(f"a{i:02}.yaml", one.replace("op: f", f"op: f{i}")) for i in range(11)])).texts
    together = {path: re.findall(r"defs/(\w+)\.cc", text) for path, text in texts.items() if "/rules/" in path}
    assert together == {"api/generated/rules/0.cc": [f"a{i:02}" for i in range(10)],
                        "api/generated/rules/1.cc": ["a10"]}


GRADIENT = """
- backward_op: f_grad
  forward: f (Tensor x, Tensor m) -> Tensor(out), Tensor(m_out)
  args: (Tensor x, Tensor m_out, Tensor out_grad)
  output: Tensor(x_grad)
  composite: f_grad(x, m_out, out_grad, x_grad)
  optional: m_out
"""
INPLACE = """
- op: f
  args: (Tensor x, Tensor m)
  output: Tensor(out), Tensor(m_out)
  infer_meta: {func: F}
  kernel: {func: f}
  optional: m, m_out
  inplace: (m -> m_out)
  backward: f_grad
"""


def test_a_recorded_inplace_call_keeps_the_optional_tensor_that_it_wrote():
    bodies = definitions(generated(INPLACE, GRADIENT))
    assert "track(new FGradNode(x, m_out), out, without_grad(m_out));" in bodies["f"]
    assert ("if (tracked) check_inplace_tracked(m, /*needs_value=*/false);\n" in bodies["f_"]
            and "track_written(new FGradNode(x, m.value_or(Tensor())), out, m);" in bodies["f_"])
    assert "FGradNode(const Tensor& x, const Tensor& m_out)" in bodies["FGradNode"]
    assert "f_grad(x_.get(), m_out_.optional(), in.grad(0))" in bodies["FGradNode"]


def test_an_inplace_call_that_overwrites_what_the_gradient_needs():
    gradient = GRADIENT.replace("m_out, Tensor out_grad", "m, Tensor out_grad").replace(
        "(x, m_out", "(x, m").replace("optional: m_out", "optional: m")
    bodies = definitions(generated(INPLACE, gradient))
    assert "check_inplace_tracked(m, /*needs_value=*/true);" in bodies["f_"]


def test_inplace_of_a_gradient_is_a_hint_that_changes_nothing():
    hinted = GRADIENT + "  inplace: (out_grad -> x_grad)\n"
    assert generated(INPLACE, hinted) == generated(INPLACE, GRADIENT)


def test_a_list_without_gradient_is_not_recorded():
    body = definitions(generated("""
        - op: f
          args: (Tensor x)
          output: Tensor(out), Tensor[](parts){2}
          infer_meta: {func: F}
          kernel: {func: f}
          backward: f_grad
        """, """
        - backward_op: f_grad
          forward: f (Tensor x) -> Tensor(out), Tensor[](parts)
          args: (Tensor x, Tensor out_grad)
          output: Tensor(x_grad)
          invoke: multiply(x, out_grad)
        """))["f"]
    assert "track(new FGradNode(x), out, without_grad(parts));" in body


def test_an_op_that_invokes_others_is_recorded_by_them():
    texts = generated("""
        - op: f
          args: (Tensor x)
          output: Tensor
          invoke: g(x, x)
          backward: f_grad
        """, """
        - backward_op: f_grad
          forward: f (Tensor x) -> Tensor(out)
          args: (Tensor x, Tensor out_grad)
          output: Tensor(x_grad)
          invoke: h(x, out_grad)
        """)
    assert definitions(texts).keys() == {"f", "f_grad"}
    assert "| `f_grad`: saved values | by the ops that are called |" in texts["op_reference.md"]


def test_a_declared_rule_may_name_the_dims_that_are_whole():
    texts = generated("""
        - op: f
          args: (Tensor x, bool b, int axis = -1)
          output: Tensor
          infer_meta: {func: F, param: [x]}
          spmd: "...[axis] -> ..."
          kernel: {func: f, param: [x, b]}
        """)
    lines = [line.strip() for line in texts["defs/ops.cc"].splitlines()]
    assert ".whole_dims(0, args.attr<int>(1));" in lines
    assert '{"axis", AttributeKind::kInt, true}};' in lines, "it decides the placements"


def test_a_rule_may_be_shown_some_tensors_in_its_own_order():
    entry = op("param: [x, y]").replace("param: [x]}", "param: [x], spmd_rule: R, spmd_param: [y, x]}")
    text = generated(entry)["defs/ops.cc"]
    assert "constexpr int kFShown[] = {1, 0};" in text and "describe_f, kFShown};" in text
    assert "R(args.spec(1), args.spec(0))" in text
    assert "Shown" not in generated(entry.replace("[y, x]", "[x]"))["defs/ops.cc"], "the first ones"
