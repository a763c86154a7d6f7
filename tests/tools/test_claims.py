"""Checks sentences of docs that name the only place of something against the sources."""

import os
import re
from pathlib import Path

import op_footprint
import pytest

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text()
SENTENCES = " ".join(ARCHITECTURE.split())


def sources(*folders: str, suffixes=(".h", ".cc")) -> dict[str, str]:
    """The text of sources, by path, without comments."""
    return {path.relative_to(ROOT).as_posix(): re.sub(r"//[^\n]*", "", path.read_text())
            for folder in folders for path in sorted((ROOT / folder).rglob("*")) if path.suffix in suffixes}


def files_with(pattern: str, files: dict[str, str]) -> set[str]:
    return {path for path, text in files.items() if re.search(pattern, text)}


def test_a_recorder_is_told_where_the_page_says():
    table = re.search(r"report to a recorder, besides `api/capture` itself:\n\n(.*?)\n\n", ARCHITECTURE, re.DOTALL).group(1)
    told = {row.split("|")[1].strip(): set(re.findall(r"`([\w/]+\.(?:h|cc))`", row.split("|")[2]))
            for row in table.splitlines()[2:]}
    assert set(told) == {"steps", "moves", "aliases", "draws", "none, queries only"}
    files = {path: text for path, text in sources("phi", "distributed", "api").items()
             if not path.startswith("api/capture/")}
    asked = files_with(r"\brecorder\(\)", files)
    assert asked - {"phi/core/rank_context.h"} == set().union(*told.values())
    assert files_with(r"recorder\w*(\(\))?->add\(|record_launch\(\*recorder", files) == told["steps"]
    assert files_with(r"recorder->(moved|used)\(", files) == told["moves"]
    assert files_with(r"recorder->alias\(", files) == told["aliases"]
    assert files_with(r"recorder_->draw_at_run", files) == told["draws"]


def test_observers_are_notified_where_the_page_says():
    table = re.search(r"\| event \| reported by \|\n\|---\|---\|\n(.*?)\n\n", ARCHITECTURE, re.DOTALL).group(1)
    told = {path for row in table.splitlines() for path in re.findall(r"`([\w/]+\.(?:h|cc))`", row.split("|")[2])}
    files = sources("phi", "distributed", "api")
    notify = {name: files_with(rf"&Observer::on_{name}\b", files)
              for name in ("call_begin", "decision", "output", "call_outputs", "call_end", "reshard_begin",
                           "reshard_end", "transfer_end")}
    # Calls are reported by ObservedCall, and outputs by LaunchScope.
    names = {"api/call/call_events.cc": "api/call/call.h", "api/call/launch.cc": "api/call/launch.h"}
    notified = {names.get(path, path) for paths in notify.values() for path in paths}
    assert all(notify.values()) and notified | {"phi/core/trace/trace.h"} == told
    assert files_with(r"ObservedCall\b", files) >= {"api/call/call.h"}


def test_a_generated_function_asks_once_whether_it_computes():
    assert "A generated function checks this in one place" in SENTENCES
    templates = sources("api_gen/templates", suffixes=(".j2",))
    assert {path: text.count("computes_here") for path, text in templates.items() if "computes_here" in text} == {
        "api_gen/templates/distributed_branch.j2": 1}
    # Of the rest only who makes the decision looks the rank up in the op's mesh.
    calls = sources("api/call")
    assert files_with(r"computes_here_ = ", calls) == {"api/call/decision.cc"}


def test_rules_are_listed_by_nobody():
    """`No file has a table of rules`: a function of distributed/spmd/rules is named where it is, and by its callers."""
    assert "No file has a table of rules" in SENTENCES
    rules = sources("distributed/spmd/rules")
    functions = {name for text in rules.values() for name in re.findall(r"\b(\w+InferSpmd)\(", text)}
    assert len(functions) > 40
    for path, text in sources("phi", "distributed", "api", "tools").items():
        named = functions & set(re.findall(r"\w+", text))
        # A table of rules would name many. That of the reference has forms that no op of ours has, and
        # a page shows each rule at work.
        of_tool = path.startswith("tools/spmd/reference/") or path == "tools/spmd/document_examples.cc"
        allowed = path in rules or of_tool or len(named) <= 3
        assert allowed, f"{path} names {sorted(named)}"


def test_the_rules_by_name_need_neither_kernels_nor_devices():
    assert "`api_rules` needs neither kernels nor devices." in SENTENCES
    layer = re.search(r"autophi_layer\(api_rules [^)]*DEPS ([^)]*)\)", (ROOT / "api/rules/CMakeLists.txt").read_text())
    assert layer and not re.search(r"kernel|\bapi\b|comm|tensor", layer.group(1)), layer


PAGE_OF_OPS = (ROOT / "docs/adding_an_op.md").read_text()


@pytest.fixture(name="product", scope="module")
def product_fixture() -> dict[str, str]:
    return op_footprint.sources()


@pytest.mark.parametrize("op", ["swiglu", "erfinv"])
def test_the_page_shows_the_files_that_name_an_op(op, product):
    assert f"```\n$ python3 tests/tools/op_footprint.py {op}\n{op_footprint.listing(op, product)}\n```" in PAGE_OF_OPS


@pytest.mark.parametrize("op", ["swiglu", "erfinv", "cholesky", "heaviside", "kthvalue", "lerp", "logcumsumexp",
                                "maxout", "prelu"])
def test_an_op_is_named_in_files_of_known_parts(op, product):
    found = op_footprint.footprint(op, product)
    assert {"entry", "CPU kernel"} <= found.keys() and "other" not in found, found
    # The parts name a device if and only if a kernel is registered for it.
    registered = {device: any(re.search(rf"PHI_REGISTER_KERNEL\({op}, {device},", text) for text in product.values())
                  for device in ("CPU", "GPU")}
    assert "shared kernel" in found or registered == {device: f"{device} kernel" in found for device in registered}


def test_a_footprint_has_files_of_every_kind():
    files = {"phi/kernels/gpu/sort/frob_kernel.cu": "FrobKernel",
             "phi/kernels/templates/frob.h": "PHI_UNARY_KERNEL(frob, F)",
             "phi/kernels/gpu/table.cu": '#include "phi/kernels/templates/frob.h"',
             "phi/core/x.cc": "frob", "phi/core/y.cc": "bar"}
    assert op_footprint.footprint("frob", files) == {
        "shared kernel": ["phi/kernels/templates/frob.h"],
        "GPU kernel": ["phi/kernels/gpu/sort/frob_kernel.cu", "phi/kernels/gpu/table.cu"], "other": ["phi/core/x.cc"]}


def test_the_parts_of_the_page_are_those_of_footprints():
    table = re.search(r"\| part \| needed \|\n\|---\|---\|\n(.*?)\n\n", PAGE_OF_OPS, re.DOTALL).group(1)
    assert [row.split("|")[1].strip() for row in table.splitlines()] == [part for part, _ in op_footprint.PARTS]


def test_the_tests_of_swiglu_are_those_of_the_page():
    table = re.search(r"`swiglu` has these tests:\n\n(.*?)\n\n", PAGE_OF_OPS, re.DOTALL).group(1)
    tests = re.findall(r"`(tests/[\w/]+\.(?:cc|yaml))`", table)
    assert len(tests) == 4 and all("swiglu" in (ROOT / path).read_text().lower() for path in tests)
    calls = re.search(r"`(tests/ops/\w+/erfinv\.yaml)`:\n`(- \{in: .*?\})`", PAGE_OF_OPS)
    assert calls.group(2) in (ROOT / calls.group(1)).read_text()


# Where something is recorded: what captures, what it listens to, steps that are predicted, the records of operators,
# the cases of rules that were recorded elsewhere, and the records of a file.
# A device writes launches down, and CUDA's events are recorded in streams: other words for other things. Observers
# observe.
PREDICTS = (r"distributed/comm/recording/|distributed/simulator/|api/simulation/|api/planning/|api/training/pipeline\."
            r"|tools/job/(predict_job|rank_records|shorten_other_stages|plan_command|plan_subject_of)\.|tools/examples\.yaml")
CAPTURES = re.compile(rf"{PREDICTS}|api/data/images/image_files\.|" r"api/capture/|api/call/launch\.|api/stablehlo/(lowering|shape)\.cc"
                      r"|phi/core/(recorder|rank_context)\.h|distributed/reshard/(recorded|execute)\.|tools/spmd|tools/op|tools/op_record/op_record\.|tools/gpu_bundle\.py|api/testing/recorded_|tools/autophi\.cc"
                      r"|phi/core/device/(device|launch_graph)\.|phi/gpu/(gpu_device|graph_capture|copy_streams)\.|distributed/comm/(world|communicator|transport)\.|distributed/comm/nccl/(event|command_queue|captured_graphs|nccl_communicator|watchdog)\.")


def test_only_a_capture_records():
    paths = [path.relative_to(ROOT).as_posix() for folder in ("phi", "distributed", "api", "tools", "api_gen", "yaml")
             for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".h", ".cc", ".py", ".j2", ".yaml")]
    others = [f"{path}: {line.strip()}" for path in paths if not CAPTURES.match(path)
              for line in (ROOT / path).read_text().splitlines()
              if re.search(r"record(?!er|ed\.h)", line, re.IGNORECASE) and "|recorded|" not in line]
    assert others == []


def test_ci_runs_what_the_readme_says():
    script = (ROOT / ".ci/run").read_text()
    assert script.startswith("#!/usr/bin/env bash\n") and script.endswith("\ntools/test\ntools/test --no-setup --gpu\n")
    assert os.access(ROOT / ".ci/run", os.X_OK)
    assert "tools/test" in (ROOT / "README.md").read_text()
