"""What of the product can change and belongs to no object: as docs/architecture.md says, nothing that differs
by rank but through the rank's own thread. Reads the symbols of the built objects; each must be in ALLOWED, and
each entry must still be met.

Usage: mutable_globals.py BUILD_DIR
"""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

# A thread's own: a rank is a process or a thread.
THREADS = {
    r"phi::RankContext::current_": "whose rank the thread is",
    r"phi::distributed::World::(current_|process_world\(\)::single)": "the rank's world",
    r"phi::OpScope::current_": "the op that errors name",
    r"phi::SuppressCombines::active_": "kernels are tried without their messages",
    r"phi::distributed::CommAnnotation::current_": "the tensor that calls are about",
    r"phi::autograd::(grad_enabled_flag\(\)|detail::BackwardPass<.*>::current\(\)|Node<.*>::destroy\(.*\)|"
    r"Node<.*>::next_sequence\(\))::\w+": "what autograd is doing",
    r"phi::\(anonymous namespace\)::next_id\(\)::(next|end)": "numbers of storages that the thread has taken",
    r"phi::\(anonymous namespace\)::innermost_journal\(\)::scope": "who notes what the thread overwrites",
    r"phi::DecisionCache::current\(\)::\w+": "decisions of this rank",
    r"phi::distributed::(plan_reshard|schedule_of|AttrTable::find_or_add)\(.*::\w+": "what was found before",
    r"phi::MemoryUseScope::current_": "what the thread allocates for",
    r"phi::training::PipelineProgram::of\(.*\)::last": "the program of the thread's last schedule",
    r"phi::detail::gemm_workspaces\(\)::\w+": "memory for one product",
    r"phi::\(anonymous namespace\)::kept_blocks_of<.*>\(.*\)::kept": "tables of the thread's last Fourier transforms",
    r"phi::\(anonymous namespace\)::current_guard": "the file that the thread is reading",
    r"phi::(nn::models::)?\(anonymous namespace\)::(innermost_clashes|loading)": "the library that the thread is loading",
    r"phi::poll_interruption\(\)::last_ms": "when the thread asked last",
    r"phi::detail::call_site": "where in the user's program the thread is",
}
# Shared by all ranks of a process, and the same for each.
SHARED = {
    r"phi::ops::\w+": "operators; constant, but for the address of a kernel",
    r"phi::\(anonymous namespace\)::(kernel|device|op)_table\(\)::instance": "kernels and operators by name; devices by place",
    r"phi::distributed::\(anonymous namespace\)::transport_of_process": "the job that a process leaves when it exits",
    r"phi::\(anonymous namespace\)::libraries\(\)::instance": "kernel libraries that the process has loaded",
    r"phi::Device::cpu\(\)::\w+": "constant",
    r"phi::distributed::\(anonymous namespace\)::single_copy_is_allowed\(\)::allowed": "what the machine allows",
    r"phi::(rules::all|stablehlo::find_lowering)\(.*\)::\w+": "constant when made",
    r"phi::distributed::\(anonymous namespace\)::intern\(.*\)::\w+": "meshes; equal ones are one",
    r"phi::distributed::AttrTable::find_or_add\(.*\)::table": "placements; equal ones are one",
    r"phi::\(anonymous namespace\)::next_id\(\)::blocks": "numbers of storages",
    r"phi::\(anonymous namespace\)::Owners::all\(\)::instance": "who has the bytes of borrowed storages; found by storage",
    r"phi::MemoryLedger::count_": "whether any account has a ledger",
    r"phi::\(anonymous namespace\)::LedgerTable::get\(\)::instance": "ledgers of ranks; found by account",
    r"phi::distributed::\(anonymous namespace\)::(next_communicator_id|kOthers|joined_job\(\)::instance)":
        "the process's place in its job",
    r"phi::\(anonymous namespace\)::(calls|loaded|compat_names)\(\)::instance":
        "operators by name, and what libraries brought: of the process",
    r"phi::nn::models::\(anonymous namespace\)::(loaded|registry)\(\)::instance":
        "kinds of models by name, and what libraries brought: of the process",
    r"phi::distributed::\(anonymous namespace\)::Picture::cuts\(.*\).*::one": "constant",
    r"phi::distributed::warn_of_shared_gpus\(.*\)::has_warned": "ranks that share a GPU are named once",
    r"phi::cow_alias::\(anonymous namespace\)::everything": "whether tests alias small parts too; set before the first tensor",
    r"phi::distributed::pipeline::kScheduleKinds": "constant",
    r"phi::distributed::layout_keys\(\)::keys": "constant when made",
    r"phi::distributed::simulator::\(anonymous namespace\)::kNcclCollectives": "constant",
    r"phi::data::\(anonymous namespace\)::(kTokenTypes|kOtherFormats)": "constant",
    r"phi::nn::huggingface::\(anonymous namespace\)::(kGptKeys|kLlamaKeys|kHarmless)": "constant",
    r"phi::nn::huggingface::is_buffer\(.*\)::(gpt2|others)": "constant when made",
    r"phi::RankContext::process_default\(\)::context": "of the process's one rank, where it is in no job",
    r"phi::\(anonymous namespace\)::OnednnConv::engine\(\)::cpu": "oneDNN's word for the CPU, which never changes",
    r"phi::(gemm_isa|loop_isa|bf16_tiles::best_isa)\(\)::\w+":
        "what the machine has",
    r"phi::\(anonymous namespace\)::(a_thread_makes_one|calls_under_way|buffers_made|making|kMayKeepThreads)":
        "what OpenBLAS, which is the process's, has mapped and may map",
    r"phi::\(anonymous namespace\)::(previous_action|ensure_handler\(\)::\w+)": "how the process takes a signal",
    r"phi::\(anonymous namespace\)::interruption_handler": "what asks whether the user wants an end: of the process",
    r"phi::\(anonymous namespace\)::kWatched": "constant",
    r"phi::\(anonymous namespace\)::(forks|count_forks\(\)::failed)": "how often this process is a child of fork",
    r"phi::use_one_thread_in_forked_children\(\)::failed": "whether the process could be told of forks",
    r"phi::\(anonymous namespace\)::(stop_signal|stop_count|save_asked|obeys_second|watches\(\)::instance)":
        "which signals have come to the process, and who watches for them",
    r"phi::distributed::supervise::\(anonymous namespace\)::new_mark\(\)::number": "attempts that the process has marked",
    r"phi::for_each_slot<.*::absent": "constant",
    r"phi::distributed::checkpoint::.*::is_(data|temporary)_name\(.*\)::pattern": "constant",
    r".*::vlocal__": "glog's: whether a line of VLOG is on",
}
# In builds with CUDA.
THREADS_OF_CUDA = {
    r"phi::gpu::\(anonymous namespace\)::last_failure": "what CUDA says of the thread's last capture",
}
OF_CUDA = {
    r"phi::gpu::\(anonymous namespace\)::tell_once\(.*\)::is_told": "whether the process has said why there are no graphs",
    r"phi::(gpu::cublaslt|distributed::nccl)\(\)::functions": "constant when loaded",
    r"phi::phi_registered_\d+": "that a kernel is registered; written when the program is loaded, and kept by -Og",
}
# The compiler's, and those of libraries that are compiled in.
NOT_OURS = re.compile(r"DW\.ref\.|guard variable for |TLS init function for |std::|fmt::|nlohmann::|\.L|__tls_guard|_ZGR|google::"
                      r"|fL[A-Z]+::|__gnu_cxx::|__device_stub__|__cuda|__nv_|____nv_")


def objects(build: Path) -> list[Path]:
    """Those that make up the libraries: everything of phi/, distributed/ and api/."""
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    found = []
    for entry in commands:
        words = shlex.split(entry["command"])
        output = words[words.index("-o") + 1]
        if output.split("/")[0] in ("phi", "distributed", "api") and output.endswith(".o"):
            found.append(build / output)
    return found


def symbols(path: Path) -> set[tuple[bool, str]]:
    """Symbols in writable sections: whether they are thread-local, and the name."""
    text = subprocess.run(["objdump", "-tC", path], check=True, capture_output=True, text=True).stdout
    found = set()
    for line in text.splitlines():
        match = re.match(r"[0-9a-f]+ .{7} (\.[\w.]+\S*)\s+[0-9a-f]+ +(?:\.hidden )?(.+)$", line)
        if not match or match.group(1) == match.group(2):
            continue
        section, name = match.groups()
        of_thread = re.match(r"\.t(bss|data)\b", section) is not None
        is_written = re.match(r"\.(bss|data)\b(?!\.rel\.ro)", section) is not None
        if (of_thread or is_written) and not NOT_OURS.match(name):
            found.add((of_thread, name))
    return found


def main() -> int:
    files = objects(Path(sys.argv[1]))
    missing = [file for file in files if not file.exists()]
    if missing or not files:
        print(f"mutable globals: {len(missing)} of {len(files)} objects are not built, {missing[:1]}", file=sys.stderr)
        return 2
    found = set().union(*(symbols(file) for file in files))
    has_cuda = any("phi/gpu/" in file.as_posix() and "/loaded/" in file.as_posix() for file in files)
    shared = {**SHARED, **(OF_CUDA if has_cuda else {})}
    of_threads = {**THREADS, **(THREADS_OF_CUDA if has_cuda else {})}
    met, wrong = set(), []
    for of_thread, name in sorted(found):
        entry = next((e for e in (of_threads if of_thread else shared) if re.fullmatch(e, name)), None)
        if entry is None:
            wrong.append(f"{'of a thread' if of_thread else 'global'}: {name}")
        met.add(entry)
    for line in wrong:
        print(f"{line}: belongs into an object (RankContext, if a rank has one), or into the list with a reason",
              file=sys.stderr)
    unmet = [entry for entry in (*of_threads, *shared) if entry not in met]
    for entry in unmet:
        print(f"{entry}: in the list, but not there any more", file=sys.stderr)
    print(f"mutable globals: {len(found)} in {len(files)} objects, {len(wrong)} that are not listed")
    return 1 if wrong or unmet or not found else 0


if __name__ == "__main__":
    sys.exit(main())
