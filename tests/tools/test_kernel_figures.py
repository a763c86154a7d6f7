"""cmake/ptxas_figures.py stores the report of ptxas about kernels; kernel_figures.py compares it with a table."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNEL = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '{symbol}' for '{arch}'
ptxas info    : Function properties for {symbol}
    {stack} bytes stack frame, {spilled} bytes spill stores, 0 bytes spill loads
ptxas info    : Used {registers} registers, used 1 barriers{shared}
ptxas info    : Compile time = 1.5 ms
"""


def said(symbol, registers, shared="", stack=0, arch="sm_90", spilled=0):
    """The report of ptxas about one kernel."""
    return KERNEL.format(symbol=symbol, registers=registers, shared=shared and f", {shared} bytes smem", stack=stack, arch=arch,
                         spilled=spilled)


ADD_OF_FLOAT = "_ZN3phi3gpu44_GLOBAL__N__aa64abbe_11_box_move_cu_18387a793addIfEEvPT_"
ADD_OF_INT = "_ZN3phi3gpu44_GLOBAL__N__aa64abbe_11_box_move_cu_18387a793addIiEEvPT_"
COUNT = "_Z5countPf"


class Build:
    """A build folder whose one CUDA source has this report of ptxas."""

    def __init__(self, folder):
        self.folder, self.table = folder, folder / "table.txt"
        self.release("13.0.88")
        (folder / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL=/tree\nCMAKE_CACHEFILE_DIR:INTERNAL={folder}\n"
                                               f"AUTOPHI_NVCC:FILEPATH={folder}/nvcc\n")
        self.commands("/cuda/bin/nvcc -c /tree/phi/box.cu -o box.o", "/usr/bin/c++ -c /tree/phi/box.cu -o emulator.o")

    def commands(self, *lines):
        entries = [{"directory": str(self.folder), "command": line, "file": line.split()[2]} for line in lines]
        (self.folder / "compile_commands.json").write_text(json.dumps(entries))

    def release(self, number):
        (self.folder / "nvcc").write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V{number}'\n")
        (self.folder / "nvcc").chmod(0o755)

    def has(self, *kernels):
        (self.folder / "box.o.ptxas").write_text("".join(kernels))

    def run(self, *args):
        return subprocess.run([sys.executable, ROOT / "tests/tools/kernel_figures.py", self.folder, f"--table={self.table}", *args],
                              capture_output=True, text=True, check=False)

    def rows(self):
        return [line.split() for line in self.table.read_text().splitlines()[2:]]


@pytest.fixture
def build(tmp_path):
    made = Build(tmp_path)
    made.has(said(ADD_OF_FLOAT, 40), said(ADD_OF_INT, 33, shared=2048), said(COUNT, 8, stack=16), said(COUNT, 200, arch="sm_80"))
    assert made.run("--write").returncode == 0
    return made


def test_a_row_is_the_worst_of_a_kernel(build):
    assert build.rows() == [["phi/box.cu", "add", "256", "40", "2048", "0", "75"], ["phi/box.cu", "count", "256", "8", "0", "16", "100"]]
    done = build.run()
    assert done.returncode == 0 and "2 kernels, 0 that are not" in done.stdout


def test_sources_in_batches_are_one_row_with_their_folder(build):
    build.commands(*(f"/cuda/bin/nvcc -c {build.folder}/batches/phi/moves/{n}.cu -o {n}.o" for n in range(2)))
    (build.folder / "0.o.ptxas").write_text(said(ADD_OF_FLOAT, 40, stack=8))
    (build.folder / "1.o.ptxas").write_text(said(ADD_OF_FLOAT, 41) + said(COUNT, 8))
    assert build.run("--write").returncode == 0
    assert [row[:2] + row[3:6] for row in build.rows()] == [["phi/moves/*.cu", "add", "41", "0", "8"], ["phi/moves/*.cu", "count", "8", "0", "0"]]


@pytest.mark.parametrize("kernel, words", [
    (said(ADD_OF_INT, 41), "add takes 41 registers instead of 40, 62 % of occupancy instead of 75"),
    (said(ADD_OF_INT, 32, shared=2049), "add takes 2049 bytes of shared memory instead of 2048"),
    (said(ADD_OF_INT, 32, stack=8), "add takes 8 bytes of stack instead of 0"),
    (said(ADD_OF_INT, 32, spilled=4), "add takes 4 bytes spilled instead of 0"),
])
def test_more_than_the_row_is_an_error(build, kernel, words):
    build.has(said(ADD_OF_FLOAT, 40), kernel, said(COUNT, 8, stack=16))
    done = build.run()
    assert done.returncode == 1 and words in done.stderr and "add<" in done.stderr


def test_less_or_more_within_what_is_handed_out_is_none(build):
    build.has(said(ADD_OF_FLOAT, 34, shared=1999), said(COUNT, 5))
    assert build.run().returncode == 0
    build.has(said(ADD_OF_FLOAT, 32, shared=1999), said(COUNT, 5))
    done = build.run()
    assert done.returncode == 0 and "1 that take less" in done.stdout
    build.table.write_text(build.table.read_text().replace(" 40 ", " 37 "))
    build.has(said(ADD_OF_FLOAT, 40, shared=1999), said(COUNT, 5))
    assert build.run().returncode == 0


def test_kernels_and_rows_belong_together(build):
    build.has(said(ADD_OF_FLOAT, 40), said("_ZN3phi4sortIN3fmt4viewEEEvPT_", 20))
    done = build.run()
    assert done.returncode == 1
    assert "sort has no row" in done.stderr and "count has a row, but is there no more" in done.stderr


def test_threads_of_a_row_stay(build):
    build.table.write_text(build.table.read_text().replace(" 256 ", " 1024 ", 1))
    build.has(said(ADD_OF_FLOAT, 34), said(COUNT, 5))
    assert build.run("--write").returncode == 0
    assert [row[2:4] + row[-1:] for row in build.rows()] == [["1024", "34", "50"], ["256", "5", "100"]]


def test_threads_stay_where_a_source_joins_a_batch(build):
    build.table.write_text(build.table.read_text().replace(" 256 ", " 1024 ", 1))
    build.commands(f"/cuda/bin/nvcc -c {build.folder}/batches/phi/0.cu -o box.o")
    assert build.run("--write").returncode == 0
    assert [row[:3] for row in build.rows()] == [["phi/*.cu", "add", "1024"], ["phi/*.cu", "count", "256"]]


def test_another_ptxas_is_held_to_rows_alone(build):
    build.release("13.5.37")
    build.has(said(ADD_OF_FLOAT, 250), said(COUNT, 5))
    done = build.run()
    assert done.returncode == 0 and "rows alone were compared" in done.stdout
    build.has(said(COUNT, 5))
    assert build.run().returncode == 1


def test_what_is_not_built_is_told(build):
    os.remove(build.folder / "box.o.ptxas")
    done = build.run()
    assert done.returncode == 2 and "1 of 1 objects are not built, phi/box.cu" in done.stderr


def test_without_machine_code_nothing_is_compared(build):
    build.has(said(COUNT, 8, arch="sm_80"))
    done = build.run()
    assert done.returncode == 77 and "no machine code for sm_90" in done.stdout
    build.commands("/usr/bin/c++ -c /tree/phi/box.cu -o emulator.o")
    assert build.run().returncode == 77


def launch(tmp_path, status=0):
    """The launcher before a compiler that prints a kernel's report, and other output."""
    compiler = tmp_path / "compiler"
    text = said(COUNT, 8) + "ptxas info    : (C7510) Potential Performance Loss\n"
    compiler.write_text(f"#!/bin/sh\necho words\ncat >&2 <<'END'\n{text}END\nexit {status}\n")
    compiler.chmod(0o755)
    return subprocess.run([sys.executable, ROOT / "cmake/ptxas_figures.py", compiler, "-c", "a.cu", "-o", tmp_path / "a.o"],
                          capture_output=True, text=True, check=False)


def test_the_launcher_keeps_figures_and_prints_all_else(tmp_path):
    done = launch(tmp_path)
    assert (done.returncode, done.stdout) == (0, "words\n")
    assert done.stderr == "ptxas info    : (C7510) Potential Performance Loss\n"
    assert (tmp_path / "a.o.ptxas").read_text() == said(COUNT, 8)


def test_the_launcher_fails_as_the_compiler_does(tmp_path):
    assert launch(tmp_path, status=3).returncode == 3
    assert not (tmp_path / "a.o.ptxas").exists()
