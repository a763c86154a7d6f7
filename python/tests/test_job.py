"""Jobs of processes, as mpirun starts them."""

import shutil
import time

import pytest

pytestmark = pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun")

TRAINING = """
import numpy as np, autophi as ap, autophi.distributed as dist
from autophi.distributed import ProcessMesh, Replicate, Shard
dist.init()
n = dist.world_size()
mesh = ProcessMesh(range(n), ["dp"])
a = np.arange(24, dtype="float32").reshape(8, 3) / 10
x = dist.shard_tensor(a, mesh, [Shard(0)])
w = dist.shard_tensor(np.ones((3, 1), "float32"), mesh, [Replicate()])
w.requires_grad = True
for step in range(3):
    loss = ((x @ w) ** 2).mean()
    loss.backward()
    with ap.no_grad():
        w -= 0.01 * w.grad
    w.grad = None
import sys
sys.stdout.write(f"rank {dist.rank()} of {n} {dist.backend()}: {w.numpy().ravel().round(4).tolist()}\\n")
"""


def test_the_same_numbers_on_every_number_of_processes(run_program):
    def weights(done):
        return sorted(line.split(": ")[1] for line in done.stdout.splitlines())

    alone = run_program(TRAINING)
    assert alone.stdout.startswith("rank 0 of 1 ")
    for ranks in (2, 4):
        done = run_program(TRAINING, ranks)
        assert f"rank {ranks - 1} of {ranks} mpi" in done.stdout
        assert weights(done) == weights(alone) * ranks


def test_an_exception_on_one_rank_ends_the_job(run_program):
    done = run_program("""
import autophi.distributed as dist
dist.init()
def fails(): raise KeyError("of rank 1")
if dist.rank() == 1: fails()
dist.barrier()
""", ranks=2, status=1)
    assert 'KeyError: \'of rank 1\'' in done.both and "in fails" in done.both


def test_init_twice_and_use_after_finalize(run_program):
    done = run_program("""
import autophi as ap, autophi.distributed as dist
dist.init()
assert dist.is_initialized()
try: dist.init()
except RuntimeError as error: print("twice:", error)
dist.finalize()
assert not dist.is_initialized()
print((ap.ones([2]) + 1).tolist(), dist.world_size())
""")
    assert "twice: init_world is called twice." in done.stdout and "[2.0, 2.0] 1" in done.stdout


def test_a_rank_that_ends_early_is_named(run_program):
    done = run_program("""
import os, autophi.distributed as dist
dist.init()
if dist.rank() == 1: os._exit(3)
dist.barrier()
""", ranks=2, status=1)
    assert done.returncode != 0


@pytest.mark.parametrize("leave, status", [
    ("sys.exit(3)", 3), ("raise SystemExit(7)", 7), ("sys.exit('words')", 1), ("sys.excepthook = hook; fails()", 1)])
def test_a_rank_that_leaves_with_a_status_ends_the_job_with_it(run_program, leave, status):
    begun = time.monotonic()
    done = run_program(f"""
import sys, autophi.distributed as dist
def hook(kind, error, trace): sys.stderr.write("of the hook: " + str(error))
def fails(): raise KeyError("of rank 1")
dist.init()
dist.barrier()
if dist.rank() == 1:
    {leave}
dist.barrier()
""", ranks=2, status=1)
    assert done.returncode == status and time.monotonic() - begun < 55  # others would wait for 60 s
    assert f"rank 1: the program has exited with status {status} while other ranks are running" in done.both
    assert "hook" not in leave or "of the hook: 'of rank 1'" in done.both
    assert "words" not in leave or "words" in done.both


def test_ranks_that_leave_together_keep_their_status(run_program):
    done = run_program("""
import sys, time, autophi.distributed as dist
dist.init()
time.sleep(0.2 * dist.rank())
sys.stdout.write(f"rank {dist.rank()} has ended\\n")
sys.exit(3)
""", ranks=2, status=1)
    assert done.returncode == 3 and "while other ranks are running" not in done.both and "MPI_ABORT" not in done.both
    assert done.stdout.count("has ended") == 2


def test_a_hook_that_was_there_before_is_called(run_program):
    done = run_program("""
import sys, autophi.distributed as dist
def hook(kind, error, trace): sys.stderr.write("of the hook: " + str(error) + "\\n")
sys.excepthook = hook
dist.init()
if dist.rank() == 1: raise KeyError("of rank 1")
dist.barrier()
""", ranks=2, status=1)
    assert "of the hook: 'of rank 1'" in done.both and "rank 1: KeyError: 'of rank 1'" in done.both
