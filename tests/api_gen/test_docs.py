"""The entries that docs/adding_an_op.md shows: the generator takes them as they stand, beside all others."""

import re

from conftest import ROOT

from api_gen.__main__ import main


def test_the_op_of_the_page_is_generated(tmp_path, capsys):
    entry, gradient = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/adding_an_op.md").read_text(), re.DOTALL)
    ops, backward = ((ROOT / f"yaml/{name}.yaml").read_text() for name in ("ops", "backward"))
    (tmp_path / "ops.yaml").write_text(f"{ops}\n{entry.rstrip()}\n  backward: leaky_relu_grad\n")
    (tmp_path / "backward.yaml").write_text(f"{backward}\n{gradient}")
    code = main([f"--out={tmp_path}/out", f"--ops={tmp_path}/ops.yaml", f"--backward={tmp_path}/backward.yaml"])
    assert code == 0, capsys.readouterr().err
    generated = "".join(path.read_text() for path in tmp_path.glob("out/**/*.h"))
    for name in ("Tensor leaky_relu(", "Tensor& leaky_relu_(", "Tensor leaky_relu_grad("):
        assert name in generated
    # As the page's kernel has it.
    assert re.search(r"using leaky_relu =\s*KernelSignature<const DenseTensor&, float, DenseTensor\*>;", generated)
