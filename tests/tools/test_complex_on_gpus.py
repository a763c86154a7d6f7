"""What nvcc makes of complex numbers: it drops the arithmetic of std::complex from code for GPUs without a word."""

import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
OPERATORS = {"plus": "x + y", "minus": "x - y", "times": "x * y", "by": "x / y", "twice": "x * y.real()", "part": "x / y.real()"}
# Those that may name it: what converts it, the lines of a library on the host, and what prints.
HOST_ONLY = ("phi/common/complex.h", "phi/kernels/cpu/fft/", "api/testing/recorded_values.cc")


def device_code(tmp_path, number):
    """(name, PTX) of a kernel per operator."""
    kernels = "".join(f"__global__ void {name}(C* out, C x, C y) {{ *out = {text}; }}\n" for name, text in OPERATORS.items())
    source = tmp_path / "operators.cu"
    source.write_text(f'#include "phi/common/complex.h"\nusing C = {number};\n{kernels}')
    subprocess.run([NVCC, "-std=c++20", "--expt-relaxed-constexpr", "-arch=sm_80", f"-I{ROOT}", "-ptx", source, "-o", source.with_suffix(".ptx")],
                   check=True, capture_output=True)
    entries = source.with_suffix(".ptx").read_text().split(".entry ")[1:]
    return [(next(name for name in OPERATORS if re.match(rf"_Z{len(name)}{name}", entry)), entry) for entry in entries]


def computes(code):
    return re.search(r"\b(add|sub|mul|fma|div)(\.\w+)*\.f(32|64)\b", code) is not None


@pytest.mark.skipif(not pathlib.Path(NVCC).exists(), reason="no nvcc")
@pytest.mark.parametrize("number", ["phi::Complex<float>", "phi::Complex<double>"])
def test_arithmetic_is_in_the_code_for_gpus(tmp_path, number):
    code = device_code(tmp_path, number)
    assert len(code) == len(OPERATORS)
    assert [name for name, text in code if not computes(text)] == []


def test_std_complex_is_named_on_the_host_alone():
    files = [path for folder in ("phi", "distributed", "api") for path in (ROOT / folder).rglob("*") if path.suffix in (".h", ".cc", ".cu")]
    named = [str(path.relative_to(ROOT)) for path in files if "std::complex" in path.read_text()]
    assert [name for name in named if not name.startswith(HOST_ONLY)] == []
