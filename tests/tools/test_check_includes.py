"""tools/check_includes.py: each row of the table by what it allows and what it forbids."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "check_includes.py"


def check(root: Path, files: dict) -> subprocess.CompletedProcess:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return subprocess.run([sys.executable, SCRIPT, "--root", root], capture_output=True, text=True,
                          timeout=60, check=False)


ALLOWED = """
phi/common/dims.cc                       <vector> <fmt/format.h> "phi/common/errors.h"
phi/core/meta.h                          "phi/common/dims.h" "phi/core/attribute.h"
phi/core/storage/storage.h               "phi/core/meta.h" "phi/core/rank_context.h" <sys/mman.h>
phi/infermeta/shape.cc                   "phi/core/meta.h" "phi/infermeta/axes.h"
phi/kernels/cpu/matmul/matmul_kernel.cc  "phi/generated/kernels/matmul.h" <dnnl.hpp> <omp.h> "phi/infermeta/axes.h"
phi/autograd/engine.cc                   "phi/core/dense_tensor.h" "phi/infermeta/shape.h"
distributed/mesh/process_mesh.h          "phi/common/errors.h" "phi/core/box.h"
distributed/placement/dist_attr.h        "distributed/mesh/process_mesh.h"
distributed/spmd/rules/matmul.cc         "distributed/spmd/rule.h" "distributed/placement/split.h"
distributed/reshard/plan.h               "distributed/placement/dist_attr.h" "distributed/reshard/cost.h"
distributed/reshard/execute.cc           "distributed/comm/world.h" "distributed/reshard/plan.h" "distributed/tensor/dist_tensor.h"
distributed/pipeline/schedules/zb.cc     "distributed/mesh/process_mesh.h"
distributed/pipeline/executor.cc         "distributed/pipeline/schedules/zb.h" "phi/kernels/matmul_kernel.h"
distributed/planner/search.cc            "distributed/spmd/rule.h" "distributed/reshard/cost.h"
distributed/comm/world.cc                "distributed/comm/mpi/mpi_transport.h" "phi/core/rank_context.h"
distributed/comm/mpi/mpi_transport.cc        <mpi.h> "distributed/comm/world.h"
distributed/tensor/dist_tensor.cc        "phi/core/dense_tensor.h" "distributed/reshard/execute.h"
api/tensor/tensor.cc                     "distributed/comm/world.h" "distributed/tensor/dist_tensor.h"
api/data/token_data.cc                   "api/tensor/deferred.h" "api/data/token_files.h" "phi/common/process/mapped_file.h"
api/call/decision.cc                     "api/tensor/tensor.h" "api/rules/op_rule.h" "api/generated/ops/add.h" "distributed/api.h"
api/autograd/grad_node.cc                "api/call/args/args.h" "api/generated/api.h" "phi/autograd/engine.h"
api/nn/huggingface/folder.cc             "distributed/checkpoint/view.h" "api/call/call.h" <nlohmann/json.hpp>
api/stablehlo/shape.cc                   "api/capture/ir.h" <nlohmann/json.hpp>
api/training/optimizer.cc                "api/data/token_data.h"
api/generated/ops/add.cc                 "api/runtime.h" "api/training/optimizer.h"
phi/memory/io/uring/uring_engine.cc      <liburing.h> "phi/memory/plan/page.h"
phi/out_of_core/block_reader.cc          "phi/memory/io/async_file.h" "phi/kernels/cpu/matmul/gemm.h"
phi/api.h                                "api/tensor/tensor.h"
distributed/api.h                        "api/tensor/tensor.h"
python/src/ops/frame.h                       <Python.h> <nanobind/nanobind.h> "api/tensor/tensor.h" "python/src/base/convert.h"
python/src/distributed/ranks.cc                      "distributed/api.h" "distributed/comm/world.h" "api/training/optimizer.h"
tests/support/oracle/train.cc            "support/oracle/train.h" <yaml-cpp/yaml.h> <gtest/gtest.h>
"""

FORBIDDEN = """
phi/common/dims.cc                       "phi/core/meta.h"                       phi/core meta types
phi/common/log.cc                        <glog/logging.h>                        not glog
phi/core/meta.h                          "phi/core/dense_tensor.h"               (phi/core)
phi/core/storage/storage.cc              "phi/infermeta/shape.h"                 (phi/infermeta)
phi/core/storage/storage.cc              <distributed/comm/world.h>              (distributed/comm)
phi/infermeta/shape.cc                   "phi/kernels/shape_kernel.h"            (phi/kernels)
phi/infermeta/shape.cc                   "phi/generated/kernels/shape.h"         (phi/kernel signatures)
phi/kernels/cpu/sum.cc                   "api/generated/api.h"                   (api declarations)
phi/kernels/cpu/sum.cc                   "distributed/mesh/process_mesh.h"       (distributed/mesh)
phi/kernels/cpu/sum.cc                   <mpi.h>                                 not mpi
phi/memory/plan/swap_plan.cc             "phi/memory/io/async_file.h"            (phi/memory/io)
phi/memory/io/async_file.cc              "phi/memory/engine/swap_engine.h"       (phi/memory/engine)
phi/memory/engine/swap_engine.cc         "phi/kernels/shape_kernel.h"            (phi/kernels)
phi/out_of_core/block_plan.cc            "phi/memory/engine/swap_engine.h"       (phi/memory/engine)
phi/autograd/engine.cc                   "api/tensor/tensor.h"                   (api/tensor)
distributed/mesh/process_mesh.h          "distributed/placement/placement.h"     (distributed/placement)
distributed/placement/split.h            "distributed/spmd/rule.h"               (distributed/spmd)
distributed/spmd/rules/matmul.cc         "phi/core/dense_tensor.h"               (phi/core)
distributed/spmd/rules/matmul.cc         "distributed/comm/world.h"              (distributed/comm)
distributed/reshard/plan.cc              "distributed/reshard/execute.h"         (distributed/reshard runtime)
distributed/reshard/cost.cc              "phi/core/rank_context.h"               (phi/core)
distributed/pipeline/schedules/zb.cc     "distributed/pipeline/executor.h"       (distributed runtime)
distributed/planner/search.cc            "distributed/tensor/dist_tensor.h"      (distributed runtime)
distributed/comm/world.cc                "distributed/mesh/process_mesh.h"       (distributed/mesh)
distributed/comm/world.cc                <mpi.h>                                 not mpi
distributed/tensor/dist_tensor.cc        "distributed/api.h"                     (api declarations)
distributed/tensor/dist_tensor.cc        <gtest/gtest.h>                         not gtest
distributed/tensor/dist_tensor.cc        "distributed/nowhere/x.h"               no row in LAYERS
api/tensor/tensor.cc                     "api/call/args/args.h"                       (api/call)
api/tensor/tensor.cc                     "api/generated/api.h"                   (api declarations)
api/rules/op_rule.cc                     "api/call/decision.h"                   (api/call)
api/data/token_data.cc                   "api/call/args/args.h"                       (api/call)
api/call/decision.cc                     "api/autograd/grad_node.h"              (api/autograd)
api/capture/program.cc                   "api/stablehlo/stablehlo.h"             (api/stablehlo)
api/autograd/grad_node.cc                "phi/api.h"                             (api)
api/autograd/grad_node.cc                "api/capture/recording.h"               (api/capture)
api/training/optimizer.cc                "api/runtime.h"                         (api)
api/stablehlo/shape.cc                   "api/training/optimizer.h"              (api/training)
api/nn/layers/linear.cc                  "api/training/optimizer.h"              (api/training)
python/src/ops/frame.cc                      "phi/kernels/matmul_kernel.h"            (phi/kernels)
python/src/distributed/ranks.cc                      "distributed/comm/mpi/mpi_transport.h"       (distributed/comm/mpi)
python/src/distributed/ranks.cc                      <mpi.h>                                 not mpi
api/tensor/tensor.cc                     "python/src/ops/frame.h"                    (python)
api/tensor/tensor.cc                     <Python.h>                              not python
tests/support/oracle/train.cc            "phi/common/dtype.h"                    (phi/common)
"""


def rows(table: str) -> list:
    return [line for line in table.splitlines() if line.strip()]


@pytest.mark.parametrize("row", rows(ALLOWED), ids=lambda row: row.split()[0])
def test_allowed(tmp_path, row):
    path, targets = row.split(maxsplit=1)
    text = "".join(f"#include {target}\n" for target in targets.split())
    result = check(tmp_path, {path: text})
    assert result.returncode == 0, result.stderr
    assert f"1 files, {len(targets.split())} includes, 0 findings" in result.stdout


@pytest.mark.parametrize("row", rows(FORBIDDEN), ids=lambda row: " ".join(row.split()[:2]))
def test_forbidden(tmp_path, row):
    path, target, words = row.split(maxsplit=2)
    result = check(tmp_path, {path: f"// What it is for.\n#pragma once\n#  include {target}\n"})
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"{path}:3: [")
    assert target.strip('<>"') in line and words in line


def test_comments_and_strings_are_no_includes(tmp_path):
    text = ('// #include "phi/api/a.h"\n/* see\n#include "phi/api/b.h"\n*/\n'
            'auto s = "/*";\n#include "phi/api/c.h"\n')
    result = check(tmp_path, {"phi/core/x.cc": text})
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("phi/core/x.cc:6: [phi/core]") and "c.h" in line


def test_project_files_are_named_from_the_root(tmp_path):
    result = check(tmp_path, {"phi/core/a.h": "", "phi/core/b.h": '#include "a.h"\n'})
    assert result.returncode == 1
    assert 'phi/core/b.h:1: [phi/core] includes "a.h"' in result.stderr


def test_free_folders_stay_out_of_the_library(tmp_path):
    result = check(tmp_path, {"tests/support/m.h": "", "tools/main.cc": '#include "phi/api.h"\n',
                              "phi/core/a.cc": '#include "tests/support/m.h"\n'})
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1


def test_new_folders_need_a_row(tmp_path):
    result = check(tmp_path, {"distributed/novel/a.cc": "#include <vector>\n"})
    assert result.returncode == 1
    assert "distributed/novel/a.cc:1: [layers]" in result.stderr


def test_an_empty_tree_is_an_error(tmp_path):
    assert check(tmp_path, {}).returncode == 2


def test_the_table_can_be_printed():
    result = subprocess.run([sys.executable, SCRIPT, "--list"], capture_output=True, text=True,
                            timeout=60, check=True)
    assert "distributed/mesh: phi/common, phi/core meta types; libraries: fmt, glog" in result.stdout
    assert "api: everything" in result.stdout


def test_a_user_header_that_reaches_a_backend_is_reported(tmp_path):
    result = check(tmp_path, {
        "distributed/api.h": '#include "api/dtensor/gpu.h"\n',
        "api/dtensor/gpu.h": '#include "distributed/comm/world.h"\n',
        "distributed/comm/world.h": '#include "distributed/comm/nccl/nccl_communicator.h"\n',
        "distributed/comm/nccl/nccl_communicator.h": "",
    })
    assert result.returncode == 1
    assert "distributed/comm/world.h:1: [user headers]" in result.stderr
    assert "programs include this header" in result.stderr
