"""cmake/gpu_code.cmake: how AUTOPHI_CUDA_ARCH becomes nvcc's options."""

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def options(tmp_path, architectures):
    """What nvcc gets, as arch,code pairs."""
    script = tmp_path / "options.cmake"
    script.write_text(f'include({ROOT}/cmake/gpu_code.cmake)\nautophi_gpu_code(found {architectures})\n'
                      f'file(WRITE {tmp_path}/options "${{found}}")\n')
    subprocess.run(["cmake", "-P", script], check=True)
    words = (tmp_path / "options").read_text().split(";")
    return [word.removeprefix("-gencode=arch=compute_").replace(",code=", " ") for word in words if word]


@pytest.mark.parametrize("architectures, found", [
    ("80-virtual 90-real", ["80 compute_80", "80 sm_90"]),
    ("90-real", ["90 sm_90"]),
    ("90", ["90 sm_90", "90 compute_90"]),
    ("100-real 90-real 86-virtual", ["86 sm_100", "86 sm_90", "86 compute_86"]),
    ("80-virtual 90-virtual 120-real", ["80 compute_80", "90 compute_90", "80 sm_120"]),
    ("90a-real", ["90a sm_90a"]),
    ("90a-real 90a-virtual", ["90a sm_90a", "90a compute_90a"]),
    ("80-virtual 90a-real", ["80 compute_80", "80 sm_90a"]),
])
def test_machine_code_is_made_of_the_oldest_ptx(tmp_path, architectures, found):
    assert options(tmp_path, architectures) == found


@pytest.mark.parametrize("architectures", ["native", "all-major", "80-virtual native", "90a-real 100a-real", ""])
def test_what_has_no_common_ptx_is_left_to_cmake(tmp_path, architectures):
    assert options(tmp_path, architectures) == []
