"""`pip wheel .` of the whole source tree, as `pip install .` makes it, and the package in an environment of its own.

    python3 pip_test.py --build=DIR --source=DIR --python=PYTHON --mpiexec=MPIRUN

A build from nothing takes minutes. So pip is given a build folder whose objects are up to date already, this
one, and ninja decides what of it is not. Nobody else sees what pip changes there: it happens in a mount namespace, on a
layer above the folder. Then source and build are hidden, and the package is used as a program of users does.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

# What ninja may find to do: the two modules and what knows where Python lies.
MOST_COMPILED = 100

IMPORT = """
import sys, autophi
x = autophi.ones([2, 2])
assert abs(autophi.erf(x).sum().item() - 3.3708) < 1e-3  # its kernel is in a library of its own
print(autophi.__file__, autophi.__version__, (x @ x).tolist(), 'numpy' in sys.modules)
"""
STEP = """
import autophi as ap, autophi.distributed as dist
from autophi import nn, optim, training
dist.init()
net = nn.Sequential().append("tokens", nn.Embedding(16, 8)).append("head", nn.Head(8, 16))
mesh = dist.ProcessMesh(range(dist.world_size()), ["dp"])
nn.shard(net, mesh, nn.Layout().batches({"dp": dist.Shard(0)}))
trainer = training.Trainer(net, nn.cross_entropy, optim.AdamW(lr=0.1))
ids = ap.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])
losses = [trainer.step([(ids, ids)]).loss for _ in range(3)]
assert losses[2] < losses[0], losses
import sys
sys.stdout.write(f"rank {dist.rank()} of {dist.world_size()}: {losses[0]:.4f} {losses[2]:.4f}\\n")
"""
JOB = """
from autophi import jobs
print(jobs.run({'mode': 'train', 'model': {'layers': 1, 'seq_len': 16, 'd_model': 32, 'heads': 2},
                'data': {'paths': ['text.txt']}, 'run': {'steps': 2}})['losses'])
"""


def run(command, **options):
    """Its output; the test ends where it fails."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(word) for word in command)} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def must_match(pattern, text):
    if not re.search(pattern, text):
        sys.exit(f"this has nothing like '{pattern}':\n{text}")


def cached(build, name):
    """A value of the build folder's cache."""
    found = re.search(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1) if found else None


def lay_over(build, scratch):
    """Memory at `scratch`, and a layer of it above `build`."""
    run(["mount", "-t", "tmpfs", "tmpfs", scratch])
    for name in ("upper", "work"):
        (scratch / name).mkdir()
    run(["mount", "-t", "overlay", "overlay", "-o",
         f"lowerdir={build},upperdir={scratch / 'upper'},workdir={scratch / 'work'}", build])


def make_wheel(args, scratch):
    """What pyproject.toml says, save where and with how much else the folder is configured."""
    settings = {"build-dir": args.build, "cmake.build-type": cached(args.build, "CMAKE_BUILD_TYPE")}
    for name in ("BUILD_TESTING", "AUTOPHI_BENCHMARKS", "AUTOPHI_CUDA", "AUTOPHI_GPU_TESTS", "AUTOPHI_UNITY", "Python3_EXECUTABLE"):
        if cached(args.build, name) is not None:
            settings[f"cmake.define.{name}"] = cached(args.build, name)
    words = [f"--config-settings={key}={value}" for key, value in settings.items()]
    said = run([args.python, "-m", "pip", "wheel", "-v", args.source, "--no-deps", "--no-build-isolation", "-w",
                scratch / "wheels", *words])
    compiled = len(re.findall(r"\] Building (?:CXX|CUDA) object", said))
    print(f"compiled: {compiled}")
    if compiled > MOST_COMPILED:
        sys.exit(f"{compiled} objects were compiled: the build folder was not up to date, or pip builds others.\n{said}")
    (wheel,) = (scratch / "wheels").iterdir()
    must_match(r"^autophi-[0-9.]+-cp3\d+-cp3\d+-linux_\w+\.whl$", wheel.name)
    names = zipfile.ZipFile(wheel).namelist()
    for pattern in (r"^autophi/_autophi\.", r"^autophi/_jobs\.", r"^autophi/libautophi\.so", r"^autophi/libautophi_job\.so", r"^autophi/libautophi_math\.so$",
                    r"^autophi/ops\.pyi$", r"^autophi/py\.typed$", r"^autophi/nn/__init__\.py$"):
        must_match(re.compile(pattern, re.MULTILINE), "\n".join(names))
    return wheel


def use(python, mpiexec, folder):
    """The package as programs use it."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "LD_", "AUTOPHI"))}
    options = {"cwd": folder, "env": {**clean, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}}
    must_match(r"environment/.*/autophi/__init__.py [0-9.]+ \[\[2\.0, 2\.0\], \[2\.0, 2\.0\]\] False",
               run([python, "-c", IMPORT], **options))
    (folder / "text.txt").write_text("To be compared with nothing. " * 100, encoding="utf-8")
    must_match(r"^\[5\.\d+, 5\.\d+\]", run([python, "-c", JOB], **options))
    (folder / "step.py").write_text(STEP, encoding="utf-8")
    alone = run([python, "step.py"], **options)
    losses = alone.removeprefix("rank 0 of 1: ").strip()
    both = run([mpiexec, "--allow-run-as-root", "--oversubscribe", "-n", "2", python, "step.py"], **options)
    for rank in range(2):
        must_match(re.escape(f"rank {rank} of 2: {losses}"), both)


def test(args, scratch):
    lay_over(args.build, scratch)
    wheel = make_wheel(args, scratch)
    run([args.python, "-m", "venv", scratch / "environment"])
    python = scratch / "environment" / "bin" / "python"
    run([python, "-m", "pip", "install", "--no-index", "--no-deps", wheel])
    run(["mount", "-t", "tmpfs", "tmpfs", args.source])
    (scratch / "program").mkdir()
    use(python, args.mpiexec, scratch / "program")
    print(f"{wheel.name}: imported, trained, run by mpirun")


def main():
    parser = argparse.ArgumentParser()
    for name in ("build", "source"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name in ("python", "mpiexec"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--inside", type=Path, help="where the namespace is there: its scratch folder")
    args = parser.parse_args()
    if args.inside:
        return test(args, args.inside)
    enter = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    with tempfile.TemporaryDirectory(prefix="autophi_pip_") as scratch:
        layers = f"mount -t tmpfs tmpfs {scratch} && mkdir {scratch}/b {scratch}/c && mount -t overlay overlay " \
                 f"-o lowerdir={args.build},upperdir={scratch}/b,workdir={scratch}/c {args.build}"
        if subprocess.run([*enter, "sh", "-c", layers], capture_output=True, check=False).returncode != 0:
            print("SKIPPED: this machine has no mount namespaces with overlays for this user")
            return 0
        return subprocess.run([*enter, sys.executable, "-B", *sys.argv, f"--inside={scratch}"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
