"""Random jobs for tests of predicted memory: small models, uneven shards, every schedule, ZeRO stage and dtype.

Run it to check more jobs than device_limit_test.py does: memory_jobs.py --jobs=200 [--first=SEED].
"""

import argparse
import json
import os
import pathlib
import random
import sys

import launch

RATES = {"matmul": {"ops": ["matmul"], "by": "flops", "points": [[1, 1e9]]}, "bytes": {"ops": ["add"], "points": [[1, 1e9]]}}
MACHINE = json.dumps(
    {
        "links": [{"name": "node", "latency_us": 1, "GBps": 1}],
        "families": {dtype: RATES for dtype in ("float32", "bfloat16", "float16")},
    }
)
MESHES = [(1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2), (3, 1, 1), (1, 3, 1), (4, 1, 1), (1, 4, 1), (2, 2, 1), (2, 1, 2), (1, 2, 2)]


def random_job(seed):
    """The mesh, the number of processes, and the text of the job of this seed."""
    draw = random.Random(seed)
    dp, pp, tp = draw.choice(MESHES)
    schedule = draw.choice(["1f1b", "gpipe", "interleaved", "zb_h1", "zb_h2"])
    chunks = 2 if schedule == "interleaved" else 1
    kind = draw.choice(["gpt", "gpt", "llama"])
    heads = draw.choice([2, 4])
    head_size = draw.choice([4, 6, 8, 24])
    model = {
        "kind": kind,
        "vocab": draw.choice([256, 258, 262] if tp > 1 else [256, 257, 259]),
        "seq_len": draw.choice([8, 15, 16, 33]),
        "d_model": heads * head_size,
        "heads": heads,
        "layers": pp * chunks + draw.choice([0, 1, 2]),
        "seed": 3,
    }
    if kind == "llama":
        model |= {"kv_heads": 2, "ffn": draw.choice([22, 40, 42])}
    elif draw.random() < 0.3:
        model["tied_head"] = True
    capture = draw.random() < 0.4
    if kind == "gpt" and not capture and draw.random() < 0.3:
        model["dropout"] = 0.1
    micro_batches = draw.choice([1, 2, 4])
    run = {
        "steps": draw.choice([1, 2, 3]),
        "micro_batches": micro_batches,
        "global_batch": micro_batches * draw.choice([2, 3, 4]),
        "dtype": draw.choice(["float32", "float32", "bfloat16", "float16"]),
        "schedule": schedule,
        "chunks": chunks,
        "recompute": draw.choice(["none", "selective", "full"]),
        "zero_stage": draw.choice([0, 1, 2, 3]),
        "sequence_parallel": draw.random() < 0.5,
        "capture": capture,
        "on_nonfinite": "skip",
    }
    optimizer = {"kind": draw.choice(["adamw", "adamw", "momentum", "sgd"]), "lr": 1e-4, "grad_clip": draw.choice([0, 1.0])}
    mode = "train" if draw.random() < 0.85 else "forward"
    if mode == "forward":
        optimizer = None
        for key in ("schedule", "recompute", "zero_stage", "on_nonfinite"):
            del run[key]
        if chunks == 1:
            del run["chunks"]
        run["chunks"] = 1
        model.pop("dropout", None)
    job = {"mode": mode, "model": model, "run": run, "data": launch.DATA}
    if optimizer:
        job["optimizer"] = optimizer
    return f"dp={dp},pp={pp},tp={tp}", dp * pp * tp, json.dumps(job)


def predict(folder, text, mesh, *flags, machine=None):
    """The prediction of all ranks, by default on MACHINE."""
    job = folder.write("predicted.yaml", text)
    machine = machine or folder.write("machine.yaml", MACHINE)
    out = pathlib.Path(folder.name) / "p.json"
    outcome = launch.run(0, "simulate", job, f"--machine={machine}", f"--json={out}", f"--mesh={mesh}", *flags)
    if outcome.status != 0:
        raise AssertionError(f"status {outcome.status}:\n{outcome.output}")
    return json.loads(out.read_text())["ranks"]


def run(text, mesh, processes, limits, folder):
    """The report of a real run whose ranks may hold these bytes, or the output of its failure."""
    job = folder.write("job.yaml", text)
    report = pathlib.Path(folder.name) / "report.json"
    report.unlink(missing_ok=True)
    flags = [f"--mesh={mesh}", f"--report={report}", "--device_limit=" + ",".join(map(str, limits))]
    outcome = launch.run(processes if processes > 1 else 0, "run", job, *flags)
    return (json.loads(report.read_text()), outcome) if outcome.status == 0 else (None, outcome)


def check(seed, folder):
    """Runs the job of this seed within its predicted memory, and within one byte less on one rank.

    Returns the faults, one text each."""
    mesh, processes, text = random_job(seed)
    peaks = [rank["peak_tensor_bytes"] for rank in predict(folder, text, mesh)]
    report, outcome = run(text, mesh, processes, peaks, folder)
    if report is None:
        return [f"does not run within {peaks}:\n{outcome.output[-600:]}"]
    measured = [rank["peak_tensor_bytes"] for rank in report["ranks"]]
    faults = [f"predicted {peaks}, measured {measured}"] if measured != peaks else []
    for rank in report["ranks"]:
        if sum(rank["held_at_peak"].values()) != rank["peak_tensor_bytes"]:
            faults.append(f"rank {rank['rank']} holds {rank['held_at_peak']} of {rank['peak_tensor_bytes']}")
    rank = seed % processes
    less = [peak - (number == rank) for number, peak in enumerate(peaks)]
    report, outcome = run(text, mesh, processes, less, folder)
    if report is not None:
        faults.append(f"runs within {less}, one byte less than {peaks}")
    elif f"limited to {less[rank]}" not in outcome.output or f"rank {rank}" not in outcome.output:
        faults.append(f"does not name rank {rank} and {less[rank]} bytes:\n{outcome.output[-600:]}")
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    os.chdir(launch.SOURCE_DIR)
    wrong = 0
    folder = launch.Folder()
    for seed in range(options.first, options.first + options.jobs):
        mesh, _, text = random_job(seed)
        faults = check(seed, folder)
        wrong += bool(faults)
        job = json.loads(text)
        settings = {**job["model"], **job["run"], **job.get("optimizer", {})}
        brief = " ".join(f"{key}={value}" for key, value in settings.items() if value)
        print(f"job {seed}, {mesh}: {'WRONG' if faults else 'exact'}  {brief if faults else ''}", *faults, sep="\n  ", flush=True)
    print(f"{options.jobs - wrong} of {options.jobs} jobs hold exactly the predicted bytes")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
