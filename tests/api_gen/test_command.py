"""python3 -m api_gen as a build or a person calls it."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from conftest import ROOT

import pytest

from api_gen.__main__ import main

RELU = """- op: relu
  args: (Tensor x)
  output: Tensor
  infer_meta: {func: UnchangedInferMeta}
  kernel: {func: relu}
"""
GRADIENT = """- backward_op: relu_grad
  forward: relu (Tensor x) -> Tensor(out)
  args: (Tensor out, Tensor out_grad)
  output: Tensor(x_grad)
  infer_meta: {func: UnchangedInferMeta, param: [out]}
  kernel: {func: relu_grad}
"""
API = "api/generated/"
HEADERS = {API + "api.h", API + "ops/relu.h", "phi/generated/kernels/ops.h"}
ALL = HEADERS | {API + name for name in ("ops.cc", "calls.cc", "defs/ops.cc", "ops/relu.cc",
                                     "batches/ops_0.cc", "rules/0.cc", "op_reference.md")}


class Command:
    """`run` calls the generator in this process, in `folder`, writing to folder/out."""

    def __init__(self, folder: Path, capsys):
        self.folder, self.capsys = folder, capsys
        self.write("ops.yaml", RELU)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def run(self, *args: str) -> "Result":
        code = main(["--out=out", *args])
        return Result(code, *self.capsys.readouterr())

    def files(self) -> set[str]:
        out = self.folder / "out"
        return {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}


@dataclass
class Result:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def command(tmp_path: Path, monkeypatch, capsys) -> Command:
    monkeypatch.chdir(tmp_path)
    return Command(tmp_path, capsys)


def test_as_a_module(tmp_path):
    (tmp_path / "ops.yaml").write_text(RELU)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    listed = subprocess.run(
        [sys.executable, "-m", "api_gen", "--ops=ops.yaml", "--out=out", "--list-outputs"],
        cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=True)
    assert "api/generated/api.h" in listed.stdout.split()


def test_writes_all_files_and_then_nothing(command):
    assert command.run("--ops=ops.yaml").returncode == 0
    assert command.files() == ALL
    file = command.folder / "out/api/generated/api.h"
    os.utime(file, ns=(1, 1))
    assert command.run("--ops=ops.yaml").returncode == 0
    assert file.stat().st_mtime_ns == 1


def test_declare_only_writes_headers(command):
    assert command.run("--ops=ops.yaml", "--declare-only").returncode == 0
    assert command.files() == HEADERS


def test_keys_without_effect_are_listed(command):
    command.write("ops.yaml", RELU + "  traits: some::Trait\n  backward: relu_grad\n")
    command.write("backward.yaml", GRADIENT + "  inplace: (out_grad -> x_grad)\n")
    listed = command.run("--ops=ops.yaml", "--backward=backward.yaml", "--list-ignored")
    assert listed.returncode == 0 and not command.files()
    assert listed.stdout == (
        "ops.yaml:6: 'relu', key 'traits': no effect: for other generators of the format\n"
        "backward.yaml:7: 'relu_grad', key 'inplace': no effect: a hint that a kernel might write to it\n")


def test_list_outputs_lists_what_is_written_and_what_is_there(command):
    for _ in range(2):
        listed = command.run("--ops=ops.yaml", "--list-outputs").stdout.split()
        assert set(listed) == ALL
        assert command.files() == ALL


def test_list_outputs_of_wrong_entries_lists_nothing(command):
    command.write("ops.yaml", RELU.replace("output: Tensor", "output: Tensr"))
    result = command.run("--ops=ops.yaml", "--list-outputs")
    assert result.returncode == 1 and not result.stdout
    assert not command.files()


def test_check_tells_stale_files_and_writes_nothing(command):
    command.run("--ops=ops.yaml")
    assert command.run("--ops=ops.yaml", "--check").returncode == 0
    command.write("ops.yaml", RELU.replace("func: relu", "func: relu6"))
    result = command.run("--ops=ops.yaml", "--check")
    assert result.returncode == 1
    stale = {line.split("out/", 1)[1] for line in result.stderr.splitlines()}
    assert stale == {"phi/generated/kernels/ops.h",
                     *(API + name for name in ("ops/relu.cc", "defs/ops.cc", "op_reference.md"))}
    assert "relu6" not in (command.folder / "out/api/generated/defs/ops.cc").read_text()


def test_sources_that_are_no_outputs_any_more_go(command):
    command.write("ops.yaml", RELU + RELU.replace("relu\n", "relu6\n", 1))
    command.run("--ops=ops.yaml")
    assert API + "ops/relu6.cc" in command.files()
    command.write("ops.yaml", RELU)
    assert command.run("--ops=ops.yaml", "--check").returncode == 1
    command.run("--ops=ops.yaml")
    assert command.files() == ALL


def test_gradients_are_generated(command):
    command.write("ops.yaml", RELU + "  backward: relu_grad\n")
    command.write("backward.yaml", GRADIENT)
    command.run("--ops=ops.yaml", "--backward=backward.yaml")
    assert command.files() == ALL | {"phi/generated/kernels/backward.h", API + "defs/backward.cc"}
    source = command.folder / "out" / API / "ops/relu.cc"
    assert "\nTensor relu_grad(" in source.read_text()
    command.write("ops.yaml", RELU)
    command.run("--ops=ops.yaml")
    assert command.files() == ALL


def test_several_files(command):
    command.write("more.yaml", RELU.replace("op: relu", "op: gelu"))
    assert command.run("--ops", "ops.yaml", "more.yaml").returncode == 0
    texts = [(command.folder / "out" / API / f"ops/{op}.h").read_text() for op in ("relu", "gelu")]
    assert "Source     ops.yaml" in texts[0] and "Source     more.yaml" in texts[1]


def test_an_entry_changes_the_files_of_its_op_alone(command):
    gelu = RELU.replace("relu", "gelu")
    command.write("ops.yaml", RELU + gelu)
    command.run("--ops=ops.yaml")
    command.write("ops.yaml", RELU + gelu.replace("(Tensor x)", "(Tensor x, float a)").replace(
        "func: gelu", "func: gelu, param: [x, a]"))
    stale = command.run("--ops=ops.yaml", "--check").stderr
    assert {line.split("out/", 1)[1] for line in stale.splitlines()} == {
        "phi/generated/kernels/ops.h", *(API + name for name in (
            "ops/gelu.h", "ops/gelu.cc", "defs/ops.cc", "op_reference.md"))}

def test_a_comment_in_the_yaml_compiles_nothing_anew(command):
    command.write("ops.yaml", RELU + "  backward: relu_grad\n")
    command.write("backward.yaml", GRADIENT)
    files = ("--ops=ops.yaml", "--backward=backward.yaml")
    command.run(*files)
    command.write("ops.yaml", "# About relu.\n" + RELU + "  backward: relu_grad\n")
    command.write("backward.yaml", "# About its gradient.\n" + GRADIENT)
    stale = command.run(*files, "--check").stderr
    assert {line.rsplit("/", 1)[1] for line in stale.splitlines()} == {"op_reference.md"}


def test_backward_is_checked(command):
    command.write("ops.yaml", RELU + "  backward: relu_grad\n")
    command.write("backward.yaml", GRADIENT)
    assert command.run("--ops=ops.yaml", "--backward=backward.yaml").returncode == 0
    command.write("backward.yaml", GRADIENT.replace("forward: relu", "forward: rleu"))
    result = command.run("--ops=ops.yaml", "--backward=backward.yaml")
    assert result.returncode == 1
    assert result.stderr == (
        "backward.yaml:2: op 'relu_grad', key 'forward': there is no op 'rleu' "
        "(did you mean 'relu'?); an op of the files given is accepted\n")


def test_errors_end_without_output(command):
    command.write("ops.yaml", RELU.replace("kernel:", "kernal:"))
    result = command.run("--ops=ops.yaml")
    assert result.returncode == 1 and not command.files()
    assert result.stderr.startswith(
        "ops.yaml:5: op 'relu', key 'kernal': unknown key (did you mean "
                                    "'kernel'?)")


def test_a_file_that_is_not_there(command):
    result = command.run("--ops=none.yaml")
    assert (result.returncode, result.stderr) == (1,
                                                  "api_gen: none.yaml: No such file or directory\n")


def test_names_are_checked_without_output(command):
    command.write("kernel.cc", "PHI_REGISTER_KERNEL(relu, CPU, ReluKernel, Floats);\n")
    assert command.run("--ops=ops.yaml", "--kernels=.", "--check-names").returncode == 0
    command.write("kernel.cc", "")
    result = command.run("--ops=ops.yaml", "--kernels=.", "--check-names")
    assert result.returncode == 1 and not command.files()
    assert "ops.yaml:5: op 'relu', key 'kernel.func': no source below . registers" in result.stderr


OTHERS = """- op: mystery
  args: (Tensor x)
  output: Tensor
  infer_meta: {func: MysteryInferMeta}
  kernel: {func: relu}
- op: twice
  args: (Tensor x)
  args: (Tensor y)
- op: odd
  args: (Tensr x)
"""


def test_a_report_goes_through_all_entries(command):
    command.write("kernel.cc", "PHI_REGISTER_KERNEL(relu, CPU, ReluKernel, Floats);\n")
    command.write("shapes.h", "TensorMeta UnchangedInferMeta(const TensorMeta& x);\n")
    command.write("ops.yaml", RELU + "  backward: relu_grad\n" + OTHERS)
    command.write("backward.yaml", GRADIENT)
    flags = ("--ops=ops.yaml", "--backward=backward.yaml", "--functions=.", "--kernels=.")
    result = command.run(*flags, "--report")
    assert result.returncode == 1 and not command.files()
    assert result.stdout.splitlines() == [
        "ops.yaml:1: relu: generated",
        "ops.yaml:7: mystery: declared only: no header of . declares 'MysteryInferMeta'",
        "ops.yaml:12: twice: not understood: key 'output': 'output' is missing; 'Tensor' or 'Tensor(name), ...' "
        "must be present",
        "ops.yaml:14: twice: not understood: key 'args': given twice, first in line 13; a key may be given "
        "once",
        "ops.yaml:15: odd: not understood: key 'output': 'output' is missing; 'Tensor' or 'Tensor(name), ...' "
        "must be present",
        "ops.yaml:16: odd: not understood: key 'args': unknown type 'Tensr' of 'x' (did you mean 'Tensor'?); "
        + next(line for line in result.stdout.splitlines() if "Tensr" in line).partition("?); ")[2],
        "backward.yaml:1: relu_grad: declared only: no source below . registers the kernel 'relu_grad'",
        "4 forward entries: 1 generated, 1 declared only, 2 not understood",
        "1 backward entries: 0 generated, 1 declared only, 0 not understood"]
    command.write("ops.yaml", RELU + "  backward: relu_grad\n")
    assert command.run(*flags, "--report").returncode == 0


def test_an_attribute_that_nothing_takes_is_told_and_stays(command):
    command.write("ops.yaml", RELU.replace("(Tensor x)", "(Tensor x, int ring_id)")
                  .replace("InferMeta", "InferMeta, param: [x]").replace("func: relu", "func: relu, param: [x]"))
    assert "no function uses the attribute 'ring_id'" in command.run("--ops=ops.yaml").stderr
    assert command.run("--ops=ops.yaml", "--report").stdout.startswith(
        "ops.yaml:1: relu: generated; no function uses the attribute 'ring_id'\n")
    assert command.run("--ops=ops.yaml", "--declare-missing").returncode == 0
    assert "attrs(ring_id)" in (command.folder / "out/api/generated/ops/relu.cc").read_text()


def test_what_is_missing_is_declared_if_that_is_asked_for(command):
    command.write("shapes.h", "TensorMeta UnchangedInferMeta(const TensorMeta& x);\n")
    command.write("ops.yaml", OTHERS.partition("- op: twice")[0])
    assert command.run("--ops=ops.yaml", "--functions=.").returncode == 1
    assert command.run("--ops=ops.yaml", "--functions=.", "--declare-missing").returncode == 0
    text = (command.folder / "out/api/generated/batches/declared_only_0.cc").read_text()
    assert 'throw_unimplemented_op<Tensor>(' in text and "no header of . declares 'MysteryInferMeta'" in text
    assert "ops::mystery" not in (command.folder / "out/api/generated/ops.cc").read_text()


def test_faults_of_all_files_and_checks_are_told_in_one_run(command):
    """Of compat files, entries, gradients, references, names, circles, functions, kernels and attributes."""
    command.write("shapes.h", "TensorMeta UnchangedInferMeta(const TensorMeta& x);\n")
    command.write("kernel.cc", "PHI_REGISTER_KERNEL(relu, CPU, ReluKernel, Floats);\n")
    command.write("compat.yaml", "- op : a b\n")
    (command.folder / "latin.yaml").write_bytes(b"# ops\n- op: caf\xe9\n")

    def good(name: str) -> str:
        return RELU.replace("op: relu", f"op: {name}")

    command.write("ops.yaml", good("odd").replace("Tensor x", "Tensr x") +
                  good("shapeless").replace("UnchangedInferMeta", "ChangedInferMeta") +
                  good("kernelless").replace("func: relu", "func: rleu") +
                  good("launch") + good("lonely") + "  backward: lonely_grad\n" +
                  "- op: round\n  args: (Tensor x)\n  output: Tensor\n  invoke: round(x)\n" +
                  good("unused").replace("(Tensor x)", "(Tensor x, int n)").replace(
                      "InferMeta", "InferMeta, param: [x]").replace("func: relu", "func: relu, param: [x]"))
    command.write("backward.yaml", GRADIENT.replace("relu", "odd") + GRADIENT.replace("relu", "nothing").replace(
        "output: Tensor(x_grad)", "output: Tensr(x_grad)"))
    flags = ("--ops=ops.yaml", "--backward=backward.yaml", "--functions=.", "--kernels=.")
    result = command.run(*flags, "--compat=compat.yaml")
    keys = ["compat.yaml:1: op 'a b', key 'op'", "ops.yaml: op 'odd', key 'args'", "key 'infer_meta.func'",
            "'rleu'", "'launch' is a name of the runtime", "there is no gradient 'lonely_grad'",
            "'round' calls 'round'", "no function uses the attribute 'n'",
            "backward.yaml: op 'nothing_grad', key 'output'"]
    told = [re.sub(r"(ops|backward).yaml:\d+", r"\1.yaml", line) for line in result.stderr.splitlines()]
    for key in keys:
        assert any(key in line for line in told), (key, told)
    assert not any("there is no op 'odd'" in line for line in told)  # it is there, and cannot be read
    result = command.run("--ops", "ops.yaml", "latin.yaml", "--backward=backward.yaml", "--functions=.")
    assert "latin.yaml:2: key 'file': not UTF-8: byte 0xe9 in column 10; text in UTF-8 is accepted\n" in result.stderr
    assert "'round' calls 'round'" in result.stderr and "lonely_grad'" not in result.stderr
    assert "latin.yaml:2: an entry: not understood: key 'file': not UTF-8" in command.run(
        "--ops=latin.yaml", "--report").stdout


def test_a_header_that_is_no_text(command):
    (command.folder / "shapes.h").write_bytes(b"TensorMeta F\xff(const TensorMeta& x);\n")
    assert command.run("--ops=ops.yaml", "--functions=.").stderr == (
        "shapes.h:1: key 'file': not UTF-8: byte 0xff in column 13; text in UTF-8 is accepted\n")


# In forms that only Paddle's static graph has.
STATIC = """- op: send
  args: (Tensor x, int peer = 0)
  output :
  infer_meta: {func: UnchangedInferMeta, param: [x]}
  kernel: {func: relu, param: [x]}
- op: wait
  args: (Tensor x)
  output: Tensor(out)
  kernel: {func: relu}
- op: feed
  args: (str name)
  output: Tensor(out)
  interfaces: one::Interface
- op: load
  args: (str path)
  output: Tensor[](Out)
  kernel: {func: relu, param: [path]}
- op: pull
  args: (Tensor x)
  output: Tensor(out)
  infer_meta: {func: UnchangedInferMeta}
  kernel: {func: relu, data_type: PullKernelKey}
- op: known
  args: (Tensor x, Place place = {})
  output: Tensor(out)
  infer_meta: {func: UnchangedInferMeta, param: [x]}
  kernel: {func: relu, param: [x], backend: place>}
  interfaces: one::Interface
  interfaces: another::Interface
"""


def test_entries_of_the_static_graph_are_declared(command):
    command.write("ops.yaml", STATIC)
    result = command.run("--ops=ops.yaml", "--report")
    assert [line.partition(": ")[2] for line in result.stdout.splitlines()[:-2]] == [
        "send: declared only: there is no output", "wait: declared only: 'infer_meta' is missing",
        "feed: declared only: 'infer_meta' is missing; 'kernel' is missing; there is no tensor and not both a DataType "
        "and a Place",
        "load: declared only: the list 'Out' has no size; 'infer_meta' is missing; there is no tensor and not both a "
        "DataType and a Place", "pull: declared only: unknown argument 'PullKernelKey'", "known: generated"]
    assert result.returncode == 0
    assert command.run("--ops=ops.yaml").returncode == 1
    assert command.run("--ops=ops.yaml", "--python").returncode == 1
    assert command.run("--ops=ops.yaml", "--declare-missing").returncode == 0
    text = (command.folder / "out/api/generated/ops/send.h").read_text()
    assert "void send(const Tensor& x, int peer = 0);" in text
