"""Functions and kernels that the entries name: there, and called with as many arguments as they take."""

from pathlib import Path

from conftest import ROOT, gradients_of, ops_of

import pytest

from api_gen.backward import parse_backward
from api_gen.declarations import declared, registered_kernels
from api_gen.emit import render
from api_gen.errors import SpecErrors
from api_gen.functions import Functions
from api_gen.missing import complete
from api_gen.parse import parse_ops

HEADER = """
// commented(int a)
TensorMeta FInferMeta(const TensorMeta& x, const std::map<int, float>& a,
                      const std::vector<int>& axis = {0, 1}, bool keep = false);
TensorMeta FInferMeta(const TensorMeta& x);
inline int none() { return called(1, 2, 3); }
template <typename X>
auto FInferSpmd(const X& x, std::function<int(int, int)> f) -> std::pair<int, int>;
"""
COMPOSITE = """
Tensor f_grad(const Tensor& x, const Tensor& out_grad);
std::tuple<Tensor, Tensor> g_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad, GradMask wanted);
Tensor f_impl(const Tensor& x, int a = 0);
"""
KERNELS = """
// As in PHI_REGISTER_KERNEL(described, CPU, F, Floats);
PHI_REGISTER_KERNEL(f, CPU, FKernel, Floats);
  PHI_REGISTER_KERNEL(
      broken_line, CPU, FKernel, Floats);
PHI_REGISTER_DRY_KERNEL(dry, FKernel, Floats);
PHI_UNARY_KERNEL(row, RowFunctor, Floats);
"""
SIGNATURES = """
struct f {
  using Signature =
      KernelSignature<const DenseTensor&, int,
                      DenseTensor*>;
  using Parameters = KernelParameters<"x", "a", "out">;
};
"""
F = """
- op: f
  args: (Tensor x, int a = 0)
  output: Tensor
  infer_meta: {func: FInferMeta, param: [x]}
  kernel: {func: f}
"""
CALL = """
- op: h
  args: (Tensor x, int a)
  output: Tensor
  invoke: f(x, a)
"""
GRADIENT = """
- backward_op: f_grad
  forward: f (Tensor x, int a) -> Tensor(out)
  args: (Tensor x, Tensor out_grad)
  output: Tensor(x_grad)
  composite: f_grad(x, out_grad, x_grad)
"""


def files(folder: Path) -> Functions:
    (folder / "shapes").mkdir()
    (folder / "shapes/f.h").write_text(HEADER)
    (folder / "composite.h").write_text(COMPOSITE)
    (folder / "kernels/cpu").mkdir(parents=True)
    (folder / "kernels/cpu/f.cc").write_text(KERNELS)
    return Functions([folder / "shapes"], [folder / "composite.h"], [folder / "kernels"])


def errors_of(folder: Path, ops: str, backward: str = "") -> str:
    with pytest.raises(SpecErrors) as caught:
        render(ops_of(ops), gradients_of(backward), functions=files(folder))
    return str(caught.value).replace(str(folder) + "/", "")


def test_what_headers_declare(tmp_path):
    (tmp_path / "f.h").write_text(HEADER)
    found = declared([tmp_path / "f.h"])
    assert {name: each.taken for name, each in found.items()} == {
        "FInferMeta": "2 to 4 or 1", "none": "0", "FInferSpmd": "2"}
    assert found["FInferMeta"].fits(1) and not found["FInferMeta"].fits(5)


def test_what_sources_register(tmp_path):
    (tmp_path / "f.cc").write_text(KERNELS)
    assert registered_kernels([tmp_path]) == {"f", "broken_line", "row"}


def test_a_kernel_that_takes_other_arguments(tmp_path):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels/generated.h").write_text(SIGNATURES)
    found = files(tmp_path)
    render(ops_of(F), functions=found)
    with pytest.raises(SpecErrors) as caught:
        render(ops_of(F.replace("int a", "bool a")), functions=found)
    assert str(caught.value).endswith(
        "key 'kernel.func': the kernel 'f' takes (const DenseTensor&, int, DenseTensor*) and is passed (const "
        "DenseTensor&, bool, DenseTensor*); its own parameters, or a kernel of another name, are accepted")
    ops = ops_of(F + F.replace("int a", "bool a").replace("op: f", "op: g"))
    kernels = [op.kernel.dense.name for op in complete(ops, [], found).ops]
    assert kernels == ["f", "f_of_g"], "no code calls the kernel with arguments that it does not take"


def test_what_is_there_is_accepted(tmp_path):
    texts = render(ops_of(F + "  backward: f_grad\n" + CALL), gradients_of(GRADIENT),
                   functions=files(tmp_path)).texts
    assert f'#include "{tmp_path}/composite.h"' in texts["api/generated/ops/f.cc"]
    assert "composite.h" not in texts["api/generated/ops/h.cc"]


@pytest.mark.parametrize("old, new, message", [
    ("param: [x]", "param: [x, a, a, a, a]", "key 'infer_meta.func': 'FInferMeta' of shapes/f.h takes "
     "2 to 4 or 1 arguments and is passed 5 ('x', 'a', 'a', 'a', 'a'); the same number is accepted"),
    ("param: [x]", "param: [x], spmd_rule: FInferSpmd", "key 'infer_meta.spmd_rule': 'FInferSpmd' of "
     "shapes/f.h takes 2 arguments and is passed 1 ('x'); the same number is accepted"),
    ("param: [x]", "param: [x], spmd_rule: FInferSmpd", "key 'infer_meta.spmd_rule': no header of "
     "shapes declares 'FInferSmpd' (did you mean 'FInferSpmd'?); a function of these headers is accepted"),
    ("func: f}", "func: f, alias_offset: AliasOffset}", "key 'kernel.alias_offset': no header of shapes declares 'AliasOffset'; a "
     "function of these headers is accepted"),
    ("func: f}", "func: f, alias_offset: none}", "key 'kernel.alias_offset': 'none' of shapes/f.h takes 0 arguments and is "
     "passed 2 ('x', 'a'); the same number is accepted"),
    ("func: f}", 'func: f, flops: "2 * FShare(x, a)"}', "key 'kernel.flops': no header of shapes declares 'FShare'; a "
     "function of these headers is accepted"),
    ("func: f}", 'func: f, flops: "none(x) * x"}', "key 'kernel.flops': 'none' of shapes/f.h takes 0 arguments and is "
     "passed 1 ('x'); the same number is accepted"),
    ("func: f}", "func: broken_lin}", "key 'kernel.func': no source below kernels registers the kernel "
     "'broken_lin' (did you mean 'broken_line'?); 'PHI_REGISTER_KERNEL(broken_lin, CPU, <function>, "
     "<types>);' must be present"),
])
def test_what_an_entry_names(tmp_path, old, new, message):
    assert errors_of(tmp_path, F.replace(old, new)).endswith(f"op 'f', {message}")


@pytest.mark.parametrize("call, message", [
    ("f()", "'f' of ops.yaml:2 takes 1 to 2 arguments and is passed 0 (none); the same number is accepted"),
    ("phi::f(x, a, 1)", "'f' of ops.yaml:2 takes 1 to 2 arguments and is passed 3 ('x', 'a', '1'); the "
     "same number is accepted"),
    ("f_impl(x, a, a)", "'f_impl' of composite.h takes 1 to 2 arguments and is passed 3 ('x', 'a', 'a'); "
     "the same number is accepted"),
    ("f_implied(x, a)", "composite.h does not declare 'f_implied', and no op has this name (did you mean "
     "'f_impl'?); an existing name is accepted"),
])
def test_what_an_op_invokes(tmp_path, call, message):
    text = F + CALL.replace("f(x, a)", call).replace("int a", "int a = 0" if call == "f()" else "int a")
    assert f"key 'invoke': {message}" in errors_of(tmp_path, text)


@pytest.mark.parametrize("call, message", [
    ("f_grad(x)", "'f_grad' of composite.h takes 2 arguments and is passed 1 ('x'); the same number is accepted"),
    ("f_gard(x)", "composite.h does not declare 'f_gard' (did you mean 'f_grad'?); an existing name is accepted"),
])
def test_what_a_gradient_is_composed_of(tmp_path, call, message):
    text = GRADIENT.replace("f_grad(x, out_grad, x_grad)", call)
    assert f"key 'composite': {message}" in errors_of(tmp_path, F + "  backward: f_grad\n", text)


def test_a_gradient_that_may_be_wanted_in_part_is_told_which(tmp_path):
    op = F.replace("f\n", "g\n", 1).replace("Tensor x,", "Tensor x, Tensor y,") + "  backward: g_grad\n"
    text = (GRADIENT.replace("f_grad", "g_grad").replace("f (Tensor x,", "g (Tensor x, Tensor y,")
            .replace("args: (Tensor x,", "args: (Tensor x, Tensor y,")
            .replace("Tensor(x_grad)", "Tensor(x_grad), Tensor(y_grad)")
            .replace("(x, out_grad, x_grad)", "(x, y, out_grad, x_grad, y_grad)"))
    render(ops_of(op), gradients_of(text), functions=files(tmp_path))


def test_this_projects_entries_name_what_is_there():
    def texts(folder: str) -> list[tuple[str, str]]:
        return [(path.name, path.read_text()) for path in sorted((ROOT / "yaml" / folder).glob("*.yaml"))]

    functions = Functions([ROOT / "phi/infermeta", ROOT / "distributed/spmd/rules"],
                          [ROOT / "api/autograd/composite.h", ROOT / "api/autograd/composites"],
                          [ROOT / "phi/kernels", ROOT / "distributed/kernels"])
    functions.check(parse_ops(texts("ops")), parse_backward(texts("backward")))
    assert len(functions.registered) > 80 and len(functions.made_of_ops) > 10
