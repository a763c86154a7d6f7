"""Ctrl-C while C++ works or waits: a KeyboardInterrupt that comes soon, and leaves things as they were."""

import shutil

import pytest

# A signal that comes while the program works; how long it then takes until the exception is there.
PROGRAM = """
import os, signal, sys, threading, time, autophi as ap, autophi.distributed as dist
from autophi import jobs, nn, optim, training

class Interrupted:
    def __init__(self, after, signal=signal.SIGINT, times=1, within=5):
        self.after, self.signal, self.times, self.within = after, signal, times, within
    def send(self):
        for _ in range(self.times):
            time.sleep(self.after)
            self.sent = time.monotonic()
            os.kill(os.getpid(), self.signal)
    def __enter__(self):
        threading.Thread(target=self.send).start()
        return self
    def __exit__(self, kind, error, trace):
        took = time.monotonic() - self.sent
        say(*([each.__name__ for each in kind.__mro__ if each is KeyboardInterrupt or each is kind] if kind else ["no exception"]), "soon" if took < self.within else f"after {took} s")
        self.error = error
        return True

def say(*words): sys.stdout.write(" ".join(str(word) for word in words) + "\\n")

def job(steps, **more):
    return {"mode": "train", "model": {"kind": "gpt", "vocab": 256, "seq_len": 32, "d_model": 64, "layers": 2, "heads": 4},
            "data": {"paths": [__TEXT__]}, "run": {"steps": steps, "global_batch": 8, "micro_batches": 2}, **more}

def trainer():
    net = nn.models.GPT(vocab=64, seq_len=16, d_model=64, layers=4, heads=4)
    return training.Trainer(net, nn.cross_entropy, optim.AdamW(lr=1e-3), micro_batches=4)

def batches(number):
    ids = (ap.arange(0, 16 * 8, 1, dtype="int64").reshape([8, 16]) * number) % 64
    return [(ids, ids)] * 4
""".replace("__TEXT__", repr(__file__))


def test_a_job(run_program):
    done = run_program(PROGRAM + """
with Interrupted(2): jobs.run(job(10 ** 6))
say("then", len(jobs.run(job(2))["losses"]))
""")
    assert done.stdout.splitlines() == ["KeyboardInterrupt soon", "then 2"]


def test_a_job_with_checkpoints(run_program, tmp_path):
    done = run_program(PROGRAM + f"""
checkpoint = {{"dir": {str(tmp_path / "runs")!r}, "every": 10 ** 6}}
with Interrupted(2) as first: jobs.run(job(10 ** 6, checkpoint=checkpoint))
losses = first.error.report["losses"]
say(first.error.report["stopped_by_signal"], first.error.__notes__[0] ==
    f"the job ended after step {{len(losses)}} and is saved; resume=True continues it")
rest = jobs.run(job(len(losses) + 2, checkpoint=checkpoint), resume=True)
whole = jobs.run(job(len(losses) + 2))["losses"]
say(len(losses) > 1, rest["first_step"] == len(losses) + 1, losses + rest["losses"] == whole)
""", timeout=240)
    assert done.stdout.splitlines() == ["Interrupted KeyboardInterrupt soon", "2 True", "True True True"]


def test_who_sends_two_does_not_wait_for_a_save(run_program, tmp_path):
    done = run_program(PROGRAM + f"""
slow = job(10 ** 6, checkpoint={{"dir": {str(tmp_path / "runs")!r}, "every": 10 ** 6}})
slow["run"].update(global_batch=4096, micro_batches=1)
with Interrupted(1.5, times=2) as twice: jobs.run(slow)
say(hasattr(twice.error, "report"))
""")
    assert done.stdout.splitlines() == ["KeyboardInterrupt soon", "False"]


def test_a_trainer_goes_on_as_if_nothing_had_been(run_program):
    done = run_program(PROGRAM + """
want, ours = trainer(), trainer()
for _ in range(3):
    with Interrupted(0.7): ours.run(10 ** 6, batches)
ours.run(2, batches)
want.run(ours.steps, batches)
say(ours.steps > 5, {name: x.tolist() for name, x in ours.states().items()} ==
    {name: x.tolist() for name, x in want.states().items()})
""", timeout=240)
    assert done.stdout.splitlines() == ["KeyboardInterrupt soon"] * 3 + ["True True"]


def test_a_step_between_two_micro_batches(run_program):
    """What the first has left in the parameters is no part of the next step."""
    done = run_program(PROGRAM + """
want, calls = trainer(), []
def loss(output, labels):
    calls.append(0)
    if len(calls) == 6:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.2)
    return nn.cross_entropy(output, labels)
net = nn.models.GPT(vocab=64, seq_len=16, d_model=64, layers=4, heads=4)
ours = training.Trainer(net, loss, optim.AdamW(lr=1e-3), micro_batches=4)
try: ours.run(3, batches)
except KeyboardInterrupt: say("interrupted in step", ours.steps + 1)
say([ours.step(batches(number)).loss for number in (2, 3)] == [want.step(batches(number)).loss for number in (1, 2, 3)][1:])
""")
    assert done.stdout.splitlines() == ["interrupted in step 2", "True"]


def test_one_long_step(run_program):
    """Python is not asked for batches meanwhile: layers and gradients are what ends it, long before they are done. No
    numbers fade on the way: those below float32's normal ones take some processors a hundred times as long."""
    done = run_program(PROGRAM + """
def whole(work):
    begin = time.monotonic()
    work()
    return time.monotonic() - begin
def long_one(make):  # what make(n) gives to be called, of so many parts that it takes a second
    for parts in (60, 120, 240, 480, 960):
        if whole(work := make(parts)) > 1: return work
def layers(parts):
    net = nn.Sequential()
    net.repeat("layer", [nn.Sequential(nn.RMSNorm(256), nn.MLP(256, 1024)) for _ in range(parts)])
    return lambda: net(x)
x = ap.ones([2048, 256])
run = long_one(layers)
forward = whole(run)
with Interrupted(forward / 5, within=forward / 2): run()
w = ap.ones([256, 256], dtype="float32").requires_grad_()
def loss(parts):
    y = w
    for _ in range(25 * parts): y = (y @ w) / 256
    return y.sum()
parts = next(n for n in (60, 120, 240, 480, 960) if whole(loss(n).backward) > 1)
last = loss(parts)
backward = whole(last.backward)
last = loss(parts)
with Interrupted(backward / 5, within=backward / 2): last.backward()
say(forward > 0.5, backward > 0.5)
""", timeout=240)
    assert done.stdout.splitlines() == ["KeyboardInterrupt soon"] * 2 + ["True True"]


def test_other_handlers_run_too(run_program):
    done = run_program(PROGRAM + """
seen = []
signal.signal(signal.SIGUSR2, lambda number, frame: seen.append(number))
one = trainer()
with Interrupted(1, signal.SIGUSR2) as other:
    while not seen: one.step(batches(1))
    other.sent = time.monotonic()
""")
    assert done.stdout.splitlines() == ["no exception soon"]


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun")
def test_a_wait_for_another_rank(run_program):
    done = run_program(PROGRAM + """
dist.init()
if dist.rank() == 1: time.sleep(60)
else:
    with Interrupted(1) as waited: dist.barrier()
    sys.stdout.flush()
    raise waited.error
dist.barrier()
""", ranks=2, status=1)
    assert "KeyboardInterrupt soon" in done.stdout and "rank 0: KeyboardInterrupt" in done.stderr


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun")
def test_a_job_of_several_processes_ends_together(run_program, tmp_path):
    """A signal to one rank is agreed on by all."""
    done = run_program(PROGRAM + f"""
dist.init()
checkpoint = {{"dir": {str(tmp_path / "runs")!r}, "every": 10 ** 6}}
signalled = Interrupted(2 if dist.rank() == 1 else 0, signal.SIGINT if dist.rank() == 1 else signal.SIGCONT, within=60)
with signalled: jobs.run(job(10 ** 6, checkpoint=checkpoint), mesh="dp=2")
steps = len(signalled.error.report["losses"])
rest = jobs.run(job(steps + 1, checkpoint=checkpoint), mesh="dp=2", resume=True)
say("rank", dist.rank(), rest["first_step"] == steps + 1 > 1)
""", ranks=2, timeout=240)
    said = sorted(done.stdout.splitlines())
    assert said == ["Interrupted KeyboardInterrupt soon"] * 2 + ["rank 0 True", "rank 1 True"]
