"""What the generator writes for Python: arguments, defaults, docstrings, sources."""

import ast
import re

from conftest import ROOT, generated_for_python, ops_of

import pytest

from api_gen import python
from api_gen.emit import Outputs
from api_gen.functions import Functions

OP = """
- op: f
  args: ({})
  output: Tensor
  infer_meta: {{func: F, param: []}}
  kernel: {{func: f{}}}
"""


def entry(args: str) -> str:
    sources = {"DataType": "data_type", "Place": "backend"}
    more = "".join(f", {key}: a" for kind, key in sources.items() if f"{kind} a" in args)
    if not args.startswith("Tensor"):
        more = ", data_type: dtype, backend: place"
    return OP.format(args, more)


def arguments(args: str, optional: str = ""):
    text = entry(args) + (f"  optional: {optional}\n" if optional else "")
    (view,) = python.bindings(ops_of(text), [], {})
    return view


@pytest.mark.parametrize("arg, parameter, statement", [
    ("bool a = false", "a: bool = False", "const auto a = frame.attr<bool>(1, false);"),
    ("int a", "a: int", "const auto a = frame.attr<int>(1);"),
    ("float a = 1.0f", "a: float = 1.0", "const auto a = frame.attr<float>(1, 1.0f);"),
    ("float a = 1.0e-8f", "a: float = 1.0e-8", "const auto a = frame.attr<float>(1, 1.0e-8f);"),
    ("double a = .5", "a: float = 0.5", "const auto a = frame.attr<double>(1, .5);"),
    ("float a = 24", "a: float = 24", "const auto a = frame.attr<float>(1, 24);"),
    ("str a = \"NCHW\"", "a: str = 'NCHW'", "const auto a = frame.attr<std::string>(1, \"NCHW\");"),
    ("int[] a = {}", "a: int | Sequence[int] = ()", "const auto a = frame.attr<std::vector<int>>(1, {});"),
    ("int64_t[] a = {1}", "a: int | Sequence[int] = (1,)", "const auto a = frame.attr<std::vector<int64_t>>(1, {1});"),
    ("IntArray a = {1, -2}", "a: int | Sequence[int] = (1, -2)", "const auto a = frame.attr<IntArray>(1, {1, -2});"),
    ("Scalar a = 0", "a: bool | int | float = 0", "const auto a = frame.attr<Scalar>(1, 0);"),
    ("DataType a = DataType::INT64", "a: DTypeLike = 'int64'", "const auto a = frame.attr<DataType>(1, DataType::INT64);"),
    ("DataType a = DataType::UNDEFINED", "a: DTypeLike | None = None",
     "const auto a = frame.attr<DataType>(1, DataType::UNDEFINED);"),
    ("Place a = {}", "a: str | None = None", "const auto a = frame.attr<Place>(1, {});"),
    ("Place a = CPUPlace()", "a: str = 'cpu'", "const auto a = frame.attr<Place>(1, CPUPlace());"),
    ("Place a = GPUPlace(1)", "a: str = 'gpu:1'", "const auto a = frame.attr<Place>(1, GPUPlace(1));"),
    ("int a = (2 << 12) - 1", "a: int = 8191", "const auto a = frame.attr<int>(1, (2 << 12) - 1);"),
    ("int64_t a = INT64_MAX", "a: int = 9223372036854775807", "const auto a = frame.attr<int64_t>(1, INT64_MAX);"),
    ("int64_t a = 0L", "a: int = 0", "const auto a = frame.attr<int64_t>(1, 0L);"),
    ("int a = 0x10", "a: int = 16", "const auto a = frame.attr<int>(1, 0x10);"),
    ("int a = 7/2", "a: int = 3", "const auto a = frame.attr<int>(1, 7/2);"),
    ("float a = 1.0f/8", "a: float = 0.125", "const auto a = frame.attr<float>(1, 1.0f/8);"),
    ("bool a = 1", "a: bool = True", "const auto a = frame.attr<bool>(1, 1);"),
    ("int lambda = 1", "lambda_: int = 1", "const auto lambda = frame.attr<int>(1, 1);"),
])
def test_attributes(arg, parameter, statement):
    argument = arguments(f"Tensor x, {arg}").arguments[1]
    assert (argument.parameter, argument.declared) == (parameter, statement)
    ast.parse(f"def f({parameter}): ...")


def test_an_optional_tensor_has_a_default_where_all_that_follows_has():
    open_end = arguments("Tensor x, Tensor y, Tensor[] z, int a = 1", "y, z")
    assert open_end.signature == "x, y=None, z=None, a=1"
    assert arguments("Tensor x, Tensor y, int a", "y").signature == "x, y, a"
    assert [a.hint for a in open_end.arguments] == ["Tensor", "Tensor | None", "Sequence[Tensor] | None", "int"]


def test_what_is_a_method():
    assert arguments("Tensor x").is_method
    assert not arguments("Tensor[] x").is_method and not arguments("Tensor x", "x").is_method
    assert not arguments("DataType dtype, Place place").is_method
    assert arguments("Tensor x, int ring_id = 0").may_wait and not arguments("Tensor x").may_wait


def test_docstrings_have_what_headers_say():
    comments = Functions([ROOT / "phi/infermeta", ROOT / "distributed/spmd/rules"]).comments()
    assert comments["ElementwiseInferMeta"] == "The broadcast of x and y, which must have one dtype."
    (view,) = python.bindings(ops_of("""
    - op: f
      args: (Tensor x, Tensor y)
      output: Tensor
      infer_meta: {func: ElementwiseInferMeta, spmd_rule: ElementwiseBinaryInferSpmd}
      kernel: {func: f}
    """), [], comments)
    assert "Shapes     ElementwiseInferMeta: The broadcast of x and y, which must have one dtype." in view.doc
    assert "Gradient   none" in view.doc and max(map(len, view.doc)) <= 92


def test_sources_are_of_whole_families():
    files = [(f"{family}.yaml", "".join(entry("Tensor x").replace("op: f", f"op: {family}{n}") for n in range(40)))
             for family in "abc"]
    from api_gen.parse import parse_ops
    batches = python.batches(python.bindings(parse_ops(files), [], {}))
    assert [[*dict.fromkeys(view.family for view in batch)] for batch in batches] == [["a", "b"], ["c"]]


def test_sources_of_an_earlier_run_are_left_over(tmp_path):
    texts = {f"python/{path}": text for path, text in generated_for_python(entry("Tensor x")).items()}
    from api_gen.emit import Target
    outputs = Outputs(texts, Target(python=True))
    outputs.write(tmp_path)
    assert outputs.stale(tmp_path) == [] and outputs.left_over(tmp_path) == []
    old = tmp_path / "python/generated/ops_7.cc"
    old.write_text("")
    assert outputs.left_over(tmp_path) == [old]


def test_stubs_are_python():
    for path, text in generated_for_python(entry("Tensor x, int[] a = {}")).items():
        if path.endswith(".pyi"):
            assert not re.search(r"[ ]+$", text, re.MULTILINE)
            ast.parse(text)
