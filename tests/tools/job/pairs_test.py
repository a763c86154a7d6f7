"""Pairs of features: small jobs in which every two values of the table meet, each against the training oracle.

One row again: pairs_test.py Pairs.test_row_07. What a job refuses by name is a row of CONSTRAINTS.
"""

import json
import os
import re
import unittest

import launch
import training_oracle
from covering_array import Constraint, Space, covering_rows, pairs_of

STEPS = 4
SEED = 7  # of the weights
LOUD = 6.0  # factor of the head where the first loss scale is to overflow

TABLE = {
    "model": ["gpt", "gpt with dropout", "llama"],
    "sizes": ["even", "uneven"],
    "start": ["weights", "seed"],
    "dtype": ["float32", "bfloat16", "float16", "float16 that overflows"],
    "grad_clip": [1.0, 0],
    "optimizer": ["adamw", "momentum", "nesterov", "sgd"],
    "rates": ["cosine", "constant", "step"],
    "zero_stage": [0, 1, 2, 3],
    "schedule": ["1f1b", "gpipe", "interleaved", "zb_h1", "zb_h2"],
    "micro_batches": [2, 1, 4],
    "recompute": ["none", "selective", "full"],
    "sequence_parallel": [False, True],
    "capture": [False, True],
    "memory": ["free", "host", "disk"],
    "transfer": ["deferred", "eager"],
    "dp": [1, 2, 4],
    "pp": [1, 2, 4],
    "tp": [1, 2, 4],
    "mesh_dims": ["dp,pp,tp", "tp,pp,dp"],
    "cut": ["even", "uneven"],
    "placements": ["the model's", "own"],
}
CHEAP = ("dp", "pp", "tp")  # few processes where more bring nothing

CONSTRAINTS = [
    Constraint(("dp", "pp", "tp"), lambda dp, pp, tp: dp * pp * tp <= 8, "a test starts at most 8 processes"),
    Constraint(("model", "tp"), lambda model, tp: model != "llama" or tp <= 2, "tp divides the kv_heads of a llama"),
    Constraint(
        ("model", "capture"),
        lambda model, capture: model != "gpt with dropout" or not capture,
        "a captured step would draw the same dropout again",
    ),
    Constraint(("memory", "capture"), lambda memory, capture: memory == "free" or capture, "limits capture the step"),
    Constraint(("memory", "dtype"), lambda memory, dtype: memory == "free" or dtype == "float32", "as the error says"),
    Constraint(
        ("start", "dtype"),
        lambda start, dtype: start == "weights" or dtype != "float16 that overflows",
        "initial parameters of the seed are too small to overflow",
    ),
]

MODELS = {
    ("gpt", "even"): {"vocab": 256, "seq_len": 16, "d_model": 16, "heads": 4},
    ("gpt", "uneven"): {"vocab": 257, "seq_len": 15, "d_model": 18, "heads": 3},
    ("llama", "even"): {"vocab": 256, "seq_len": 16, "d_model": 16, "heads": 4, "kv_heads": 2, "ffn": 40},
    ("llama", "uneven"): {"vocab": 258, "seq_len": 15, "d_model": 24, "heads": 4, "kv_heads": 2, "ffn": 42},
}
OPTIMIZERS = {
    "adamw": {"kind": "adamw", "lr": 1e-2, "eps": 1e-3},
    "momentum": {"kind": "momentum", "lr": 0.05},
    "nesterov": {"kind": "momentum", "lr": 0.05, "nesterov": True},
    "sgd": {"kind": "sgd", "lr": 0.2},
}
RATES = {
    "constant": {"kind": "constant"},
    "cosine": {"kind": "cosine", "warmup_steps": 1, "min_ratio": 0.2},
    "step": {"kind": "step", "warmup_steps": 2, "milestones": [3], "gamma": 0.5},
}
# Rows that the layers of the library do not have.
PLACEMENTS = {
    "parameters": {"layer*.up.weight": {"tp": "R"}, "layer0.down.weight": {"tp": "S1"}, "head": {"tp": "S0", "dp": "R"}},
    "inputs": {"layer1": {"tp": "S1"}},
    "outputs": {"layer0": {"tp": "S2"}},
}
TOLERANCES = {
    "float32": {"loss": 3e-6, "grad_norm": 5e-5},
    "float16": {"loss": 2e-3, "grad_norm": 2e-2},
    "bfloat16": {"loss": 1e-2, "grad_norm": 0.1},
}
KIB = 1024
FIRST_DEVICE_BYTES = 112 * KIB  # too little for some jobs, which then say what would do
HOST_BYTES = {"host": 4096 * KIB, "disk": 32 * KIB}
LEAST_LIMIT = re.compile(r"The least device limit that works is (\d+) bytes")


def model_of(row):
    kind = "llama" if row["model"] == "llama" else "gpt"
    chunks = row["pp"] * chunks_of(row)
    layers = chunks + 1 if row["sizes"] == "uneven" else max(2, chunks)
    if row["cut"] == "uneven":
        layers = chunks + 2
    model = {"kind": kind, "layers": layers, "seed": 3, **MODELS[kind, row["sizes"]]}
    return {**model, "dropout": 0.2} if row["model"] == "gpt with dropout" else model


def chunks_of(row):
    return 2 if row["schedule"] == "interleaved" else 1


def run_of(row):
    rows = 3 if row["sizes"] == "uneven" else 2  # of a micro-batch: with dp 4 some ranks have none
    same = ("micro_batches", "schedule", "zero_stage", "recompute", "sequence_parallel", "capture")
    return {
        "steps": STEPS,
        "global_batch": rows * row["micro_batches"],
        "dtype": row["dtype"].partition(" ")[0],
        "chunks": chunks_of(row),
        **{key: row[key] for key in same},
    }


class Pairs(unittest.TestCase):
    space = Space(TABLE, CONSTRAINTS)
    rows = covering_rows(space, CHEAP)

    def test_every_pair_that_can_meet_does(self):
        met = set().union(*(pairs_of(row, TABLE) for row in self.rows))
        wanted = set(self.space.pairs())
        self.assertEqual(wanted - met, set())
        self.assertTrue(all(self.space.refuses(row) is None for row in self.rows))
        print(f"{len(self.rows)} jobs for {len(wanted)} pairs", flush=True)

    def check(self, row):
        folder = launch.Folder()
        self.addCleanup(folder.cleanup)
        comparison = training_oracle.Comparison(folder)
        job = self.job(row, comparison.path)
        flags = ["--mesh=" + ",".join(f"{dim}={row[dim]}" for dim in row["mesh_dims"].split(","))]
        flags += ["--nodeferred_transfer"] if row["transfer"] == "eager" else []
        with self.subTest(flags=flags, job=json.dumps(job)):
            given, report = self.play(comparison, row, job, flags)
            left_out = [step["step"] for step in given if not step["applied"]]
            self.assertTrue(left_out or row["dtype"] != "float16 that overflows")
            expected = comparison.expect(json.dumps(job), left_out, comparison.path / "expected")
            dtype = job["run"]["dtype"]
            training_oracle.check_steps(self, given, expected, TOLERANCES[dtype])
            if dtype == "float32":
                self.check_states(comparison, job)
            if "memory" in job:
                self.check_memory(job["memory"], report)

    def play(self, comparison, row, job, flags):
        """Runs the job; under limits, with the least memory that it reports as sufficient."""
        processes = row["dp"] * row["pp"] * row["tp"]
        while True:
            try:
                return comparison.play(processes if processes > 1 else 0, json.dumps(job), *flags)
            except AssertionError as error:
                least = LEAST_LIMIT.search(str(error))
                if not least:
                    raise
                limit = int(least[1])
                self.assertGreater(limit, job["memory"]["device"])
                job["memory"]["device"] = limit

    def job(self, row, path):
        model = model_of(row)
        optimizer = {**OPTIMIZERS[row["optimizer"]], "grad_clip": row["grad_clip"], "schedule": RATES[row["rates"]]}
        run = {**run_of(row), "save": str(path / "saved")}
        job = {"mode": "train", "model": model, "run": run, "data": launch.DATA, "optimizer": optimizer}
        if row["start"] == "weights":
            factor = LOUD if row["dtype"] == "float16 that overflows" else 1.0
            job["weights"] = training_oracle.write_weights(path / "weights", model, SEED, factor)
        if row["cut"] == "uneven":
            chunks = row["pp"] * chunks_of(row)
            job["pipeline"] = {"cut": [1] * (chunks - 1) + [model["layers"] - chunks + 1]}
        if row["placements"] == "own":
            job["placements"] = PLACEMENTS
        if row["memory"] != "free":
            job["memory"] = {"device": FIRST_DEVICE_BYTES, "host": HOST_BYTES[row["memory"]]}
        if row["memory"] == "disk":
            job["memory"]["disk"] = str(path)
        return job

    def check_states(self, comparison, job):
        standing = {**job, "run": {**job["run"], "steps": 1}, "optimizer": {"lr": 0.0}}
        comparison.expect(json.dumps(standing), save=comparison.path / "initial")
        training_oracle.check_states(self, *(comparison.path / name for name in ("saved", "expected", "initial")))

    def check_memory(self, limits, report):
        for rank in report["ranks"]:
            self.assertLessEqual(rank["peak_tensor_bytes"], limits["device"])
            self.assertLessEqual(rank["swapping"]["host_peak_bytes"], limits["host"])
        self.assertGreater(max(rank["swapping"]["host_peak_bytes"] for rank in report["ranks"]), 0, "nothing moved")


def add_row(number, row):
    def test(self):
        self.check(row)

    test.__doc__ = " ".join(f"{name}={value}" for name, value in row.items())
    setattr(Pairs, f"test_row_{number:02}", test)


for index, values in enumerate(Pairs.rows):
    add_row(index, values)


if __name__ == "__main__":
    os.chdir(launch.SOURCE_DIR)
    unittest.main(verbosity=2)
