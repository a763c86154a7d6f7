"""One measurement: a configuration trained in fresh processes."""

import json
import shutil
import socket
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from peers.configurations import AUTOPHI, Configuration
from peers.processes import Command, RunError, run_together
from peers.reference import GPT, TOKENS_PER_STEP, TRAINING

_BENCHMARKS = Path(__file__).resolve().parent.parent
_ROOT = _BENCHMARKS.parent
_LAUNCHER = [sys.executable, "-S", str(_BENCHMARKS / "peers" / "rank.py")]
_TEXT = [str(_ROOT / "phi"), str(_ROOT / "distributed")]
# As tools/common.sh: ranks unbound, and yielding while they wait.
_MPI = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclass(frozen=True)
class Measurement:
    tokens_per_s: float  # of the median step after warm-up
    peak_bytes: int  # resident at most, over all ranks
    import_bytes: int  # of them, what was resident before a model was there (0: not known)
    last_loss: float
    best_tokens_per_s: float  # of the fastest step: what other work on the machine disturbs least


@dataclass(frozen=True)
class Setting:
    """Settings that all measurements of a run of `compare` share."""

    autophi: Path
    torch_python: Path | None
    warm_up: int = 3
    steps: int = 6
    timeout_s: float = 300.0


def measure(configuration: Configuration, setting: Setting) -> Measurement:
    """Raises RunError."""
    with tempfile.TemporaryDirectory(prefix="autophi-compare-") as name:
        folder = Path(name)
        if configuration.framework == AUTOPHI:
            commands = autophi_commands(autophi_job(configuration, setting), configuration, setting, folder)
        else:
            commands = _torch_commands(configuration, setting, folder)
        run_together(commands, folder, setting.timeout_s)
        report = read_report(folder / "report.json")
        peaks = [int(file.read_text("ascii")) for file in folder.glob("peak.*")]
        return measurement_of(report, peaks, configuration.processes, setting.warm_up)


def measurement_of(report: dict, peaks: list[int], processes: int, warm_up: int) -> Measurement:
    """Puts a report and the ranks' peaks together. Raises RunError where something is missing."""
    if len(peaks) != processes:
        raise RunError(f"{len(peaks)} of {processes} ranks wrote their peak memory")
    seconds = report.get("step_seconds", [])[warm_up:]
    losses = report.get("losses", [])
    if not losses:
        raise RunError("the report has no losses")
    if seconds:
        tokens_per_s = TOKENS_PER_STEP / statistics.median(seconds)
        best = TOKENS_PER_STEP / min(seconds)
    elif report.get("tokens_per_s"):
        tokens_per_s = best = report["tokens_per_s"]
    else:
        raise RunError(f"the report has neither step_seconds beyond {warm_up} steps of warm-up nor "
                       "tokens_per_s")
    return Measurement(tokens_per_s, sum(peaks), report.get("import_peak_bytes", 0) * processes,
                       losses[-1], best)


def read_report(file: Path) -> dict:
    """Raises RunError if it is missing."""
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"no report: {error}") from error


def autophi_job(configuration: Configuration, setting: Setting) -> dict:
    """The job file's content, for one process too: a mesh of 1."""
    mesh_dim = "dp" if configuration.layout == "single" else configuration.layout
    return {
        "mode": "train",
        "model": {"kind": "gpt", **asdict(GPT), "dropout": 0.0},
        "mesh": {"shape": [configuration.processes], "dims": [mesh_dim]},
        "data": {"paths": _TEXT, "seed": TRAINING.data_seed},
        "run": {"steps": setting.warm_up + setting.steps, "global_batch": TRAINING.global_batch,
                "micro_batches": configuration.micro_batches, "dtype": configuration.dtype,
                "schedule": "zb_h1" if configuration.layout == "pp" else "1f1b"},
        "optimizer": {"kind": "adamw", "lr": TRAINING.learning_rate, "betas": list(TRAINING.betas),
                      "eps": TRAINING.eps, "weight_decay": TRAINING.weight_decay,
                      "grad_clip": TRAINING.grad_clip},
    }


def autophi_commands(job_content: dict, configuration: Configuration, setting: Setting,
                     folder: Path) -> list[Command]:
    """Runs the job with the configuration's numbers of processes and threads; the report goes to
    `report.json` in `folder`. Raises RunError."""
    if not setting.autophi.exists():
        raise RunError(f"{setting.autophi} does not exist; build it with `cmake --preset release && "
                       "cmake --build build --target autophi`, or pass its path as --autophi")
    job = folder / "job.yaml"
    # JSON is YAML.
    job.write_text(json.dumps(job_content, indent=1), "utf-8")
    words = [*_LAUNCHER, str(folder), str(setting.autophi.resolve()), "run", str(job), "--quiet",
             f"--report={folder / 'report.json'}"]
    if configuration.processes > 1:
        mpirun = shutil.which("mpirun")
        if mpirun is None:
            raise RunError("mpirun is not in PATH; tools/setup installs it")
        words = [mpirun, "-n", str(configuration.processes), *words]
    return [Command(words, {**_threads(configuration), **_MPI}, _ROOT)]


def _torch_commands(configuration: Configuration, setting: Setting, folder: Path) -> list[Command]:
    job = folder / "job.json"
    job.write_text(json.dumps({
        "layout": configuration.layout, "dtype": configuration.dtype,
        "threads": configuration.threads, "compiled": configuration.compiled,
        "steps": setting.warm_up + setting.steps, "paths": _TEXT,
        "rendezvous": str(folder / "rendezvous"), "report": str(folder / "report.json")}), "utf-8")
    words = [*_LAUNCHER, str(folder), str(setting.torch_python), "-m", "peers.torch_rank", str(job)]
    env = {**_threads(configuration), "WORLD_SIZE": str(configuration.processes),
           "CUDA_VISIBLE_DEVICES": "", "PYTHONDONTWRITEBYTECODE": "1", **_gloo_interface()}
    return [Command(words, {**env, "RANK": str(rank)}, _BENCHMARKS)
            for rank in range(configuration.processes)]


def _gloo_interface() -> dict[str, str]:
    """Loopback, if available: an unresolvable host name then has no effect."""
    names = [name for _, name in socket.if_nameindex()]
    return {"GLOO_SOCKET_IFNAME": "lo"} if "lo" in names else {}


def _threads(configuration: Configuration) -> dict[str, str]:
    count = str(configuration.threads)
    return {"OMP_NUM_THREADS": count, "MKL_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count}


def gemm_flops_per_s(setting: Setting) -> dict[str, float]:
    """By dtype, the rate of one core in PyTorch's matmul. Raises RunError."""
    with tempfile.TemporaryDirectory(prefix="autophi-compare-") as name:
        folder = Path(name)
        env = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
        words = [str(setting.torch_python), "-m", "peers.torch_gemm", str(folder / "gemm.json")]
        run_together([Command(words, env, _BENCHMARKS)], folder, setting.timeout_s)
        return read_report(folder / "gemm.json")
