"""The entries that docs/adding_an_op.md shows: the generator takes them as they stand, beside all others."""

import re
import shutil

from conftest import ROOT

from api_gen.__main__ import main


def test_the_op_of_the_page_is_generated(tmp_path, capsys):
    entry, gradient = re.findall(r"```yaml\n(- (?:backward_)?op:.*?)```", (ROOT / "docs/adding_an_op.md").read_text(), re.DOTALL)
    shutil.copytree(ROOT / "yaml", tmp_path / "yaml")
    ops, backward = (tmp_path / "yaml" / folder for folder in ("ops", "backward"))
    with (ops / "unary.yaml").open("a") as file:
        file.write(f"\n{entry.rstrip()}\n  backward: soft_relu_grad\n")
    with (backward / "unary.yaml").open("a") as file:
        file.write(f"\n{gradient}")
    code = main([f"--out={tmp_path}/out", "--ops", *map(str, sorted(ops.iterdir())),
                 "--backward", *map(str, sorted(backward.iterdir())), "--functions",
                 str(ROOT / "phi/infermeta"), str(ROOT / "distributed/spmd/rules")])
    assert code == 0, capsys.readouterr().err
    generated = "".join(path.read_text() for path in tmp_path.glob("out/**/*.h"))
    for name in ("Tensor soft_relu(", "Tensor& soft_relu_(", "Tensor soft_relu_grad("):
        assert name in generated
    # As the page's kernel has it.
    assert ("struct soft_relu { using Signature = KernelSignature<const DenseTensor&, float, DenseTensor*>;"
            in " ".join(generated.split()))
