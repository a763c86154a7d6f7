"""The format is read as a person would read it, odd spellings included."""

from pathlib import Path

from conftest import gradients_of, op_of, ops_of

import pytest

from api_gen import grammar
from api_gen.backward import check_forward_references
from api_gen.model import Alias, Attr, AttrType, Propagation, Literal, Notation, Rule, Source, TensorArg


def test_entry_with_all_common_keys():
    op = op_of("""
        - op : blend
          args : (Tensor x, Tensor[] others, Tensor mask, float alpha = 0.5f,
                  Scalar(int64_t) axis = -1)
          output : Tensor(out), Tensor(weight), Tensor[](parts){others.size()}
          infer_meta :
            func : BlendInferMeta
            param : [x, others, mask, axis]
            spmd_rule : BlendInferSpmd
          kernel :
            func : blend
            param : [x, others, mask, alpha]
            data_type : x
          inplace : (x -> out)
          optional : mask, weight
          intermediate : weight
          no_need_buffer : mask
          data_transform :
            skip_transform : mask
          backward : blend_grad
          interfaces : paddle::dialect::InferSymbolicShapeInterface
          traits : paddle::dialect::ForwardOnlyTrait
        """)
    assert op.tensors == (TensorArg("x", 0), TensorArg("others", 1, is_list=True),
                          TensorArg("mask", 2, optional=True))
    assert op.attrs == (Attr("alpha", AttrType.FLOAT, "0.5f"),
                        Attr("axis", AttrType.SCALAR, "-1", "int64_t"))
    assert [(o.name, o.is_list, o.size, o.optional, o.intermediate) for o in op.outputs] == [
        ("out", False, None, False, False), ("weight", False, None, True, True),
        ("parts", True, "others.size()", False, False)]
    assert op.infer_meta.params == (*op.tensors, op.attrs[1])
    assert op.infer_meta.spmd == Rule("BlendInferSpmd", op.infer_meta.params)
    assert op.kernel.params == (*op.tensors, op.attrs[0])
    assert op.kernel.data_type == Source(tensors=(op.tensors[0],))
    assert op.inplace == (Alias("x", "out"),)
    assert op.no_need_buffer == ("mask",)
    assert [key for key, _ in op.without_effect] == ["data_transform.skip_transform", "interfaces",
                                                     "traits"]
    assert op.backward == "blend_grad"


def test_lines_are_those_of_the_keys():
    op = op_of("""\
        # a comment
        - op: relu
          args: (Tensor x)
          output: Tensor
          infer_meta:
            func: UnchangedInferMeta
          kernel: {func: relu}
        """)
    assert str(op.at) == "ops.yaml:2"
    assert [op.at.line_of(key) for key in ("args", "infer_meta.func", "kernel.func")] == [3, 6, 7]


def test_params_default_to_all_tensors_then_all_attributes():
    op = op_of("""
        - op: f
          args: (Tensor x, int a, bool b = false)
          output: Tensor
          infer_meta: {func: F}
          kernel: {func: f}
        """)
    assert [p.name for p in op.infer_meta.params] == ["x", "a", "b"]
    assert op.kernel.params == op.infer_meta.params


def test_params_hold_literals_and_repeats():
    op = op_of("""
        - op: f
          args: (Tensor x, int a)
          output: Tensor
          infer_meta: {func: F, param: [ x, x ,a, false, 3, -1.5, "sum", DataType::INT64]}
          kernel: {func: f}
        """)
    x, _, a, *literals = op.infer_meta.params
    assert (x.name, a.name) == ("x", "a")
    assert literals == [Literal("false", AttrType.BOOL), Literal("3", AttrType.INT),
                        Literal("-1.5", AttrType.FLOAT), Literal('"sum"', AttrType.STR),
                        Literal("DataType::INT64", AttrType.DATA_TYPE)]


@pytest.mark.parametrize("spelling, kind", [
    ("int", AttrType.INT), ("int32_t", AttrType.INT), ("int64_t", AttrType.INT64),
    ("long", AttrType.INT64), ("size_t", AttrType.SIZE), ("bool", AttrType.BOOL),
    ("float", AttrType.FLOAT), ("double", AttrType.DOUBLE), ("str", AttrType.STR),
    ("int[]", AttrType.INTS), ("int64_t[]", AttrType.INT64S), ("float[]", AttrType.FLOATS), ("double[]", AttrType.DOUBLES),
    ("bool[]", AttrType.BOOLS), ("str[]", AttrType.STRS), ("IntArray", AttrType.INT_ARRAY),
    ("Scalar", AttrType.SCALAR), ("Scalar(double)", AttrType.SCALAR), ("Scalar(int)",
                                                                       AttrType.SCALAR),
    ("Scalar(int64_t)", AttrType.SCALAR), ("Scalar(float)", AttrType.SCALAR),
    ("Scalar[]", AttrType.SCALARS), ("DataType", AttrType.DATA_TYPE),
    ("DataLayout", AttrType.DATA_LAYOUT), ("Place", AttrType.PLACE)])
def test_attribute_types(spelling, kind):
    (attr,) = grammar.arguments(f"({spelling} a)").attrs
    assert attr.type is kind


@pytest.mark.parametrize("text", [
    "bool a = true", "bool a = false", "int a = 0", "int a = -1", "float a = 1.0", "float a = 0.",
    "float a = 2.", "float a = .5f", "float a = 0.95f", "float a = 1e-5", "float a = 1.0e-6f",
    "float a = 1e-12f", "int64_t a = 0L", "int64_t a = 10000L", "int64_t a = INT64_MAX",
    "float a = 1.0f/8", "int a = (2 << 12) - 1", "double a = 1.6732632423543772848170429916717",
    'str a = ""', 'str a = "NCHW"', "int[] a = {}", "int[] a = {0}", "IntArray a = {1, 1}",
    "int64_t[] a = {1,1,1}", "IntArray a = {8}", "float[] a = {1.0, -2}", 'str[] a = {"a", "b"}',
    "DataType a = DataType::INT64", "DataType a = DataType::UNDEFINED", "Place a = CPUPlace()",
    "Place a = {}", "float a=0", "int a = true", "Scalar a = 1.0f", "Scalar(int) a=\n  -1"])
def test_defaults(text):
    (attr,) = grammar.arguments(f"({text})").attrs
    assert attr.default == text.split("=")[1].strip()


@pytest.mark.parametrize("text, expected", [
    ("Tensor", [("out", False, None)]),
    ("Tensor (x)", [("x", False, None)]),
    ("Tensor(a),Tensor(b) ,  Tensor (c)",
     [("a", False, None), ("b", False, None), ("c", False, None)]),
    ("Tensor[]{num}", [("out", True, "num")]),
    ("Tensor[] {x.size()}", [("out", True, "x.size()")]),
    ("Tensor[](x_grad) {x.size()}", [("x_grad", True, "x.size()")]),
    ("Tensor[](outs){max_level - min_level + 1}", [("outs", True, "max_level - min_level + 1")]),
    ("Tensor(@EMPTY@)", [("EMPTY", False, None)])])
def test_outputs(text, expected):
    assert [(o.name, o.is_list, o.size) for o in grammar.outputs(text)] == expected


def test_size_over_dims_and_a_condition():
    assert set(grammar.size_names("axis<0 ? x.dims()[x.dims().size()+axis]:x.dims()[axis]")) == {
        "x", "axis"}


@pytest.mark.parametrize("text, expected", [
    ("scale", [("scale", None, None)]),
    ("scale {dense -> dense},\n scale_sr {selected_rows -> selected_rows}",
     [("scale", ("dense",), ("dense",)), ("scale_sr", ("selected_rows",), ("selected_rows",))]),
    ("embed{dense ,dense->dense} sparse_embed {selected_rows, dense-> dense}",
     [("embed", ("dense", "dense"), ("dense",)),
      ("sparse_embed", ("selected_rows", "dense"), ("dense",))]),
    ("full { -> sparse_coo }", [("full", (), ("sparse_coo",))])])
def test_kernels(text, expected):
    assert [(k.name, k.inputs, k.outputs) for k in grammar.kernels(text)] == expected


@pytest.mark.parametrize("text", ["(x -> out), (m->m_out)", "(x->out,m -> m_out)"])
def test_aliases(text):
    assert grammar.aliases(text) == (Alias("x", "out"), Alias("m", "m_out"))


def test_key_sources():
    def kernel(sources):
        return op_of(f"""
            - op: f
              args: (Tensor x, Tensor y, DataType dtype = DataType::UNDEFINED, Place place = {{}})
              output: Tensor
              infer_meta: {{func: F, param: [x]}}
              kernel: {{func: f, {sources}}}
            """).kernel
    first = kernel("data_type: dtype > x, backend: place > x")
    assert (first.data_type.attr.name, first.data_type.tensors[0].name) == ("dtype", "x")
    assert (first.backend.attr.name, first.backend.tensors[0].name) == ("place", "x")
    second = kernel('data_type: dtype, backend: "x, y"')
    assert second.data_type.attr.name == "dtype" and not second.data_type.tensors
    assert [t.name for t in second.backend.tensors] == ["x", "y"]
    assert kernel(
        "data_type: DataType::FLOAT32, backend: place").data_type.literal == "DataType::FLOAT32"
    assert kernel("data_type: complex(y), backend: place").data_type.complex_of


def test_inline_rule():
    op = op_of("""
        - op: f
          args: (Tensor x, Tensor y)
          output: Tensor
          infer_meta: {func: F}
          spmd: "... m k, k n -> ... m n"
          kernel: {func: f}
        """)
    assert isinstance(op.infer_meta.spmd, Notation)
    assert [(t.letters, t.batch) for t in op.infer_meta.spmd.inputs] == [("mk", True),
                                                                         ("kn", False)]


def test_what_partial_values_pass():
    op = op_of("""
        - op: f
          args: (Tensor x, Tensor[] y, Tensor up, float a)
          output: Tensor(out), Tensor(more)
          infer_meta: {func: F}
          partial: out = x * prod y + y + a + 1, up x, pick x up; up
          kernel: {func: f}
        """)
    assert op.infer_meta.partial.propagations == (
        Propagation("term", "out", ("x", "y"), "y"), Propagation("term", "out", ("y",)),
        Propagation("constant", "out", attribute="a"), Propagation("constant", "out"), Propagation("up", "out", ("x",)),
        Propagation("pick", "out", ("x", "up")), Propagation("term", "", ("up",)))


def test_names_of_any_spelling():
    op = op_of("""
        - op: exponential_
          args: (Tensor X, float lambda, str UPLO, int exponential_)
          output: Tensor(Out)
          infer_meta: {func: sparse::F}
          kernel:
            param : [X ,lambda]
            func : exponential
          inplace: (X -> Out)
        """)
    assert [a.name for a in op.args] == ["X", "lambda", "UPLO", "exponential_"]


def test_invocation_and_wrapped_lines():
    op = op_of("""
        - op: ones
          args: (IntArray shape, DataType dtype=
              DataType::FLOAT32,
              Place place=CPUPlace())
          output : Tensor(out)
          # kernel : a commented-out key
          invoke : full(shape, 1, dtype, place)
        """)
    assert (op.invoke.target, op.invoke.args) == ("full", ("shape", "1", "dtype", "place"))


def test_several_files_in_order():
    from api_gen.parse import parse_ops
    entry = "- op: {0}\n  args: (Tensor x)\n  output: Tensor\n  invoke: g(x)\n"
    ops = parse_ops([("a.yaml", entry.format("b")), ("b.yaml", entry.format("a")), ("c.yaml", "")])
    assert [(op.name, op.at.file) for op in ops] == [("b", "a.yaml"), ("a", "b.yaml")]


def test_all_faults_are_told_at_once():
    from api_gen.errors import SpecErrors
    with pytest.raises(SpecErrors) as caught:
        ops_of("""
            - op: a
              args: (Tensor x)
            - op: b
              output: Tensor
            """)
    assert len(caught.value.errors) == 2


def test_backward_entries():
    mul, twice, concat = gradients_of("""
        - backward_op : multiply_grad
          forward : multiply (Tensor x, Tensor y)-> Tensor(out)
          args : (Tensor x, Tensor y,Tensor out_grad, int axis=-1)
          output : Tensor(x_grad),  Tensor(y_grad)
          infer_meta :
             func : GeneralBinaryGradInferMeta
             param : [x, y]
             spmd_rule: ElementwiseBinaryGradInferSpmd
          kernel : {func : multiply_grad, data_type : out_grad}
          composite : multiply_grad(x, y, out_grad, axis, x_grad, y_grad)
          no_need_buffer : x, y
          optional : y_grad
          backward : multiply_double_grad
        - backward_op : cast_grad
          forward : cast(Tensor x, DataType dtype) -> Tensor(out)
          args : (Tensor x, Tensor out_grad)
          output : Tensor(x_grad)
          invoke : cast(out_grad, x.dtype())
        - backward_op : concat_grad
          forward : concat (Tensor[] x, Scalar axis=0) -> Tensor(out)
          args : (Tensor[] x, Tensor out_grad, Scalar axis = 0)
          output : Tensor[](x_grad){x.size()}
          infer_meta : {func : UnchangedMultiInferMeta, param : [x]}
          kernel : {func : concat_grad}
        """)
    assert mul.forward.name == "multiply" and mul.backward == "multiply_double_grad"
    assert mul.outputs[1].optional
    assert twice.invoke.args == ("out_grad", "x.dtype()")
    assert concat.outputs[0].is_list


def test_spread_of_spellings():
    folder = Path(__file__).parent
    ops = ops_of((folder / "spread.yaml").read_text(encoding="utf-8"))
    gradients = gradients_of((folder / "spread_backward.yaml").read_text(encoding="utf-8"))
    check_forward_references(ops, gradients)
    by_name = {op.name: op for op in ops}
    assert list(by_name) == ["optimise_", "interpolate", "eye_like", "unpack", "merge_", "share",
                             "pool", "zeros_of"]
    optimise = by_name["optimise_"]
    assert [attr.default for attr in optimise.attrs] == ["0.9f", "0.999f", "false", "1000", "false"]
    assert [k.name for k in optimise.kernel.alternatives] == ["optimise", "optimise_sparse"]
    assert len(optimise.inplace) == 4 and optimise.outputs[3].optional
    assert by_name["interpolate"].kernel.params[2].optional
    assert by_name["unpack"].outputs[0].size.startswith("axis<0 ?")
    assert by_name["merge_"].infer_meta.params[-2:] == (Literal("true", AttrType.BOOL),
                                                        Literal("-1", AttrType.INT))
    assert [key for key, _ in by_name["pool"].without_effect] == ["infer_meta.local_shape",
                                                                  "infer_meta.global_shape"]
    assert by_name["share"].kernel.dense.name == "share"
