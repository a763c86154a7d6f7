"""Children of fork: plain tensors work, calls that need other ranks are errors, and nothing waits for ever."""

import shutil

import pytest

needs_mpirun = pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun")

# What a child says, and how it ends: told by the parent. A child that hangs is killed by its alarm.
PARENT = """
import os, signal, sys, multiprocessing as mp, numpy as np, autophi as ap, autophi.distributed as dist

def tell(child):
    ends = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)
        try: said = str(child())
        except BaseException as error: said = f"{type(error).__name__}: {error}"
        os.write(ends[1], said.encode())
        os._exit(0)
    os.close(ends[1])
    with os.fdopen(ends[0]) as file: said = file.read()
    return f"{said} [{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}]"

def product(n):
    x = ap.ones([n, n])
    return (x @ x).sum().item()

def say(*words): sys.stdout.write(" ".join(str(word) for word in words) + "\\n")
"""


def lines(done, head):
    return sorted(line.removeprefix(head) for line in done.stdout.splitlines() if line.startswith(head))


def test_plain_tensors_work_in_a_child(run_program, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")  # of the parent: a child that waited for its threads would hang
    done = run_program(PARENT + """
assert product(300) == 300.0 ** 3
say("child", tell(lambda: product(300)))
def trained():
    x = ap.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    (x @ x).sum().backward()
    return x.grad.tolist()
say("child", tell(trained))
with mp.get_context("fork").Pool(2) as pool: say("child", pool.map(product, [2, 300]))
""")
    assert lines(done, "child ") == ["27000000.0 [0]", "[8.0, 27000000.0]", "[[7.0, 11.0], [9.0, 13.0]] [0]"]


def test_a_child_may_run_ranks_when_those_of_the_parent_have_ended(run_program):
    done = run_program(PARENT + """
def ranks(): return dist.run_ranks(2, lambda: dist.unshard_dtensor(
    dist.shard_tensor([1.0, 2.0], dist.ProcessMesh([0, 1]), [dist.Shard(0)]).sum()).item())
assert ranks() == [3, 3]
say("child", tell(ranks))
""")
    assert lines(done, "child ") == ["[3.0, 3.0] [0]"]


def test_a_child_of_a_rank_that_is_a_thread(run_program):
    done = run_program(PARENT + """
def body():
    words = tell(dist.barrier), tell(lambda: product(3))
    dist.barrier()
    return words
for words in dist.run_ranks(2, body): say("rank", *words)
""")
    for rank, line in enumerate(lines(done, "rank ")):
        assert line.startswith("RuntimeError: barrier cannot be done here: this process was forked by rank "
                               f"{rank} of 2 and is not a rank itself.")
        assert line.endswith("[0] 27.0 [0]")


def test_children_of_a_thread_end_as_programs_do(run_program):
    """They end with the status that they ask for, and what they have printed is there."""
    done = run_program(PARENT + """
def body(exits):
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)
        sys.stdout.write("child says so\\n")  # at once, and leaves it in the buffer
        return None if exits is None else sys.exit(exits)
    dist.barrier()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
for exits in (None, 0, 3, "a word"): say("status", *dist.run_ranks(2, body, exits))
""")
    assert lines(done, "status ") == ["0 0", "0 0", "1 1", "3 3"]
    assert lines(done, "child ") == ["says so"] * 8
    assert done.stderr.count("a word") == 2


@needs_mpirun
def test_a_child_of_a_process_of_a_job(run_program):
    done = run_program(PARENT + """
dist.init()
x = dist.shard_tensor(np.arange(4.0, dtype="float32"), dist.ProcessMesh([0, 1]), [dist.Shard(0)])
for call in (dist.barrier, lambda: dist.unshard_dtensor(x), dist.init):
    say("error", tell(call))
say("child", tell(lambda: (dist.rank() < 2, dist.is_initialized(), product(3), dist.finalize())))
say("exits", tell(lambda: sys.exit(0)))
dist.barrier()
say("whole", dist.unshard_dtensor(x).tolist())
""", ranks=2)
    errors = lines(done, "error ")
    assert len(errors) == 6
    for words in ("barrier cannot", "joining a job cannot", "[unshard_dtensor] exchange cannot"):
        assert sum(line.startswith(f"RuntimeError: {words} be done here: this process was forked by rank ")
                   and "'spawn'" in line and line.endswith(" [0]") for line in errors) == 2, errors
    assert lines(done, "child ") == ["(True, False, 27.0, None) [0]"] * 2
    assert lines(done, "whole ") == ["[0.0, 1.0, 2.0, 3.0]"] * 2


@needs_mpirun
def test_children_that_end_as_programs_do(run_program):
    """Handlers of exit and of uncaught exceptions are those of the rank: they end the child alone."""
    done = run_program(PARENT + """
dist.init()
for fails in (False, True):
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)
        if fails: raise KeyError("of a child")
        sys.exit(0)
    say("status", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
dist.barrier()
say("goes on")
""", ranks=2)
    assert lines(done, "status ") == ["0", "0", "1", "1"] and lines(done, "goes") == [" on"] * 2
    assert "a child of rank 0: KeyError: 'of a child'" in done.stderr
