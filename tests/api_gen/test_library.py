"""Operators of a library beside this one: where their files go, what they may name, and which names are taken."""

from pathlib import Path

import pytest
from test_command import RELU, Command

ENTRY = """
- op: mine
  args: (Tensor x)
  output: Tensor
  infer_meta: {func: UnchangedInferMeta, spmd_rule: MineInferSpmd}
  kernel: {func: mine}
"""
CALL = """
- op: mine
  args: (Tensor x)
  output: Tensor
  invoke: relu(x)
"""


@pytest.fixture(name="command")
def fixture_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    made = Command(tmp_path, capsys)
    for folder in ("inc/phi/infermeta", "inc/api/generated/ops"):
        (tmp_path / folder).mkdir(parents=True)
    made.write("inc/phi/infermeta/elementwise.h", "TensorMeta UnchangedInferMeta(const TensorMeta& x);")
    made.write("inc/api/generated/ops/relu.h", "Tensor relu(const Tensor& x);\nTensor& relu_(Tensor& x);")
    made.write("mine.h", "SpmdRule MineInferSpmd(const TensorSpec& x);")
    made.write("mine.cc", "PHI_REGISTER_KERNEL(mine, CPU, MineKernel, Floats);")
    return made


ARGS = ("--ops=mine.yaml", "--library=my_ops", "--functions", "inc/phi/infermeta", "mine.h", "--kernels", "mine.cc",
        "--beside=inc/api/generated/ops", "--include", "inc", ".")


def test_files_go_to_a_folder_of_the_librarys_name(command):
    command.write("mine.yaml", ENTRY)
    assert command.run(*ARGS).returncode == 0
    assert command.files() == {"my_ops/api.h", "my_ops/kernels/mine.h", "my_ops/defs/mine.cc", "my_ops/library.cc",
                               "my_ops/op_reference.md", "my_ops/ops/mine.h", "my_ops/ops/mine.cc", "my_ops/batches/mine_0.cc",
                               "my_ops/rules/0.cc"}
    source = (command.folder / "out/my_ops/ops/mine.cc").read_text()
    assert '#include "my_ops/ops/mine.h"' in source
    assert '#include "phi/infermeta/elementwise.h"' in source, "relative to the folder it is included from"
    assert '#include "mine.h"' in (command.folder / "out/my_ops/defs/mine.cc").read_text()
    library = (command.folder / "out/my_ops/library.cc").read_text()
    assert '    &ops::mine,\n' in library
    assert '    {"mine", calls::mine},\n' in library
    assert 'const OpLibrary kLibrary("my_ops", kOps, kCalls, signatures);' in library
    assert 'list.push_back({"mine", {{"x", TensorKind::kOne}}, {}, {"out"}});' in library


def test_functions_by_name_are_inplace_variants_and_gradients_too(command):
    command.write("mine.yaml", ENTRY.replace("(Tensor x)", "(Tensor x, Tensor[] more, float by = 2.0)")
                  .replace("Meta, ", "Meta, param: [x], ").rstrip() + "\n  inplace: (x -> out)\n  backward: mine_grad\n")
    command.write("back.yaml", "- backward_op: mine_grad\n  forward: mine (Tensor x, Tensor[] more, float by = 2.0) -> Tensor(out)\n"
                               "  args: (Tensor out_grad)\n  output: Tensor(x_grad)\n  invoke: relu(out_grad)\n")
    result = command.run(*ARGS, "--backward=back.yaml")
    assert result.returncode == 0, result.stderr
    library = " ".join((command.folder / "out/my_ops/library.cc").read_text().split())
    for name in ("mine", "mine_", "mine_grad"):
        assert f'{{"{name}", calls::{name}}},' in library
    tensors = '{{"x", TensorKind::kOne}, {"more", TensorKind::kList}}'
    taken = '{{"x", TensorKind::kOne}, {"more", TensorKind::kList}}, {OpRule::optional<float>("by", 2.0)}, {"out"}'
    for name in ("mine", "mine_"):
        assert f'{{"{name}", {taken}}}' in library
    assert '{"mine_grad", {{"out_grad", TensorKind::kOne}}, {}, {"x_grad"}}' in library
    source = (command.folder / "out/my_ops/ops/mine.cc").read_text()
    assert "return results(phi::mine_(args.tensor(0), args.list(1), args.attr<float>(0)));" in source


def test_an_operator_may_call_those_that_are_there(command):
    command.write("mine.yaml", CALL)
    assert command.run(*ARGS).returncode == 0
    assert '#include "api/generated/ops/relu.h"' in (command.folder / "out/my_ops/ops/mine.cc").read_text()
    assert "kLibrary(\"my_ops\", {}, kCalls, signatures)" in (command.folder / "out/my_ops/library.cc").read_text()


@pytest.mark.parametrize("entry, name", [(ENTRY.replace("op: mine", "op: relu"), "relu"),
                                         (ENTRY.rstrip() + "\n  inplace: (x -> out)\n", "mine_")])
def test_a_name_that_is_there_is_taken(command, entry, name):
    command.write("inc/api/generated/ops/theirs.h", "Tensor& mine_(Tensor& x);")
    command.write("mine.yaml", entry)
    result = command.run(*ARGS)
    assert result.returncode == 1
    assert f"key 'op': the operator '{name}' already exists" in " ".join(result.stderr.split())
    assert not Path("out").exists(), "nothing half done"


def test_a_call_of_what_is_nowhere_is_an_error(command):
    command.write("mine.yaml", CALL.replace("relu(x)", "rleu(x)"))
    result = command.run(*ARGS)
    assert result.returncode == 1
    assert "did you mean 'relu'" in " ".join(result.stderr.split())


def test_kernels_and_functions_of_files_are_looked_for_there(command):
    command.write("mine.yaml", ENTRY)
    command.write("mine.cc", "")
    assert "registers the kernel 'mine'" in " ".join(command.run(*ARGS).stderr.split())
    command.write("mine.cc", "PHI_REGISTER_KERNEL(mine, CPU, MineKernel, Floats);")
    command.write("mine.h", "")
    assert "declares 'MineInferSpmd'" in " ".join(command.run(*ARGS).stderr.split())


def test_names_of_others_are_written_beside(command):
    command.write("mine.yaml", ENTRY)
    command.write("compat.yaml", "- op : mine (theirs)\n  inputs : {x : X}\n- op : relu (legacy_relu)\n")
    assert command.run(*ARGS, "--compat=compat.yaml").returncode == 0
    library = (command.folder / "out/my_ops/library.cc").read_text()
    assert '    {"mine", "", "theirs"},\n    {"mine", "x", "X"},\n};' in library
    assert "kCalls, signatures, kCompatNames);" in library
    command.write("compat.yaml", "- op : a b\n")
    assert "'a b' is not a name" in command.run(*ARGS, "--compat=compat.yaml").stderr


def test_without_a_library_nothing_is_different(command):
    command.write("ops.yaml", RELU)
    assert command.run("--ops=ops.yaml").returncode == 0
    assert "api/generated/calls.cc" in command.files()
    assert not any(name.endswith("library.cc") for name in command.files())
