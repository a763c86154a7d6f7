"""What the golden functions do not show: names, unused arguments, sources of dtype and place."""

from conftest import ROOT, functions, generated

import pytest

from api_gen import layout
from api_gen.emit import file_count, file_of, render
from api_gen.parse import parse_ops

OPS = ROOT / "yaml" / "ops.yaml"


def body_of(name: str, text: str) -> str:
    return functions(generated(text))[name]


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
    ("param: [x]", "(Tensor x, Tensor y)", "", "new_tensor(meta, place_of(x, y));"),
    ("backend: x", "(Tensor x, Tensor y)", "", "new_tensor(meta, place_of(x));"),
    ("backend: place", "(Tensor x, Place place)", "", "new_tensor(meta, place);"),
    ("backend: place > x", "(Tensor x, Place place)", "",
     "new_tensor(meta, place_or(place, place_of(x)));"),
])
def test_source_of_dtype_and_place(kernel, args, more, expected):
    assert expected in body_of("f", op(kernel, args, more))


def test_unused_attribute_has_no_name_in_the_definition():
    texts = generated(op("param: [x]", "(Tensor x, str name = \"\")"))
    assert "Tensor f(const Tensor& x, const std::string& /*name*/) {" in functions(texts)["f"]
    assert 'Tensor f(const Tensor& x, const std::string& name = "");' in texts["api.h"]


def test_attributes_that_decide_nothing_are_not_in_the_key():
    body = body_of("f", op("param: [x, a]", "(Tensor x, float a, int b)"))
    assert "attr_key(), " in body
    body = body_of("f", op("param: [x, a]", "(Tensor x, float a, int b)").replace(
        "param: [x]}", "param: [x, b], spmd_rule: R, spmd_param: [x, a, b]}"))
    assert "attr_key(b, a), " in body


def test_optional_tensors_may_be_left_out_where_all_that_follows_may():
    declared = "const std::optional<Tensor>& y"
    texts = generated(op("param: [x]", "(Tensor x, Tensor y, int a = 0)", "  optional: y\n"))
    assert f"{declared} = std::nullopt, int a = 0);" in texts["api.h"]
    texts = generated(op("param: [x]", "(Tensor x, Tensor y, int a)", "  optional: y\n"))
    assert f"{declared}, int a);" in texts["api.h"]


def test_kernel_without_tensors_reshards_nothing():
    body = body_of("f", op("param: [a]", "(Tensor x, float a)"))
    assert "reshard_inputs" not in body and "local_out(out)" in body


def test_variables_give_way_to_arguments():
    body = body_of("f", op("param: [x]", "(Tensor x, Tensor out, Tensor meta)"))
    assert "const auto meta_ = F(x.meta());" in body and "return out_;" in body


def test_op_names_that_the_registry_needs():
    texts = generated(op("param: [x]").replace("op: f", "op: all"))
    assert "extern const OpDef all_op;" in texts["ops.h"]
    assert "ops::all_op" in functions(texts)["all"]


def test_literals_give_kernel_types():
    text = generated(op('param: [x, false, 3, 0.5, "sum"]'))["kernel_signatures.h"]
    assert ("using f = KernelSignature<const DenseTensor&, bool, int, float, const std::string&, "
            "DenseTensor*>;") in text


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
    inplace = functions(generated("""
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


def test_our_ops_are_the_same_every_time_and_fit_the_page():
    text = OPS.read_text(encoding="utf-8")
    first, second = (render(parse_ops([("yaml/ops.yaml", text)])).texts for _ in range(2))
    assert first == second
    for name, content in first.items():
        if not name.endswith(".md"):
            assert all(len(line) <= layout.LIMIT for line in content.split("\n")), name
        assert content.endswith("\n") and "\n\n\n" not in content


def test_ops_keep_their_file_as_others_come():
    assert [file_count(n) for n in (1, 12, 13, 48, 49, 96)] == [1, 1, 2, 4, 8, 8]
    assert file_of("matmul", 8) == file_of("matmul", 8) < 8


@pytest.mark.parametrize("line, expected", [
    ("  short(a, b);", ["  short(a, b);"]),
    ("  " + "f" * 40 + "(" + ", ".join(["a" * 20] * 4) + ");",
     ["  " + "f" * 40 + "(" + ", ".join(["a" * 20] * 2) + ",",
      " " * 43 + ", ".join(["a" * 20] * 2) + ");"]),
    ("  " + "f" * 90 + "(" + "a" * 20 + ", b);",
     ["  " + "f" * 90 + "(", "      " + "a" * 20 + ", b);"]),
    ("/// Word  " + "text " * 20, ["/// Word  " + " ".join(["text"] * 18), "///       text text"]),
])
def test_long_lines(line, expected):
    assert layout.fit(line) == "\n".join(expected) + "\n"
