"""A captured step has the results of the step: losses bit for bit, and the same launches, clips and bytes on every rank."""

import json
import math
import os
import pathlib
import unittest

import launch

STEPS = 3
# What a rank counts whether its steps are captured or not. Peaks differ: that is what capture is for.
ALIKE = [
    "rank", "stage", "ops_launched", "ops_clipped", "reshard_steps", "bytes_sent", "bytes_received", "collectives",
    "parameter_bytes", "gradient_bytes", "optimizer_bytes",
]  # fmt: skip
OF_A_STEP = ["step", "loss", "lr", "grad_norm", "loss_scale", "applied"]
OPTIMIZER = {"lr": 3e-3, "schedule": {"kind": "cosine", "warmup_steps": 2}}
SCHEDULES = [("gpipe", 1), ("1f1b", 1), ("interleaved", 2), ("zb_h1", 1), ("zb_h2", 1)]


def job(run=None, capture=False, mode="train", optimizer=None, **rest):
    run = {"steps": STEPS, "capture": capture, **(run or {})}
    if mode == "train":
        rest["optimizer"] = {**OPTIMIZER, **(optimizer or {})}
    return launch.job_text(mode=mode, run=run, **rest)


class Capture(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def play(self, mesh, **kinds):
        """The job's report, and its metrics of each step."""
        metrics = pathlib.Path(self.folder.name) / "metrics.jsonl"
        metrics.unlink(missing_ok=True)
        processes = math.prod(int(n) for n in mesh.split("x"))
        report, _ = self.folder.report(processes, job(**kinds), f"--mesh={mesh}", f"--metrics={metrics}")
        steps = [json.loads(line) for line in metrics.read_text().splitlines()]
        return report, [{key: step[key] for key in OF_A_STEP} for step in steps]

    def compare(self, mesh="1x1x1", run=None, **kinds):
        """Runs the job uncaptured and captured; returns the metrics of each step of both."""
        with self.subTest(mesh=mesh, run=run, **kinds):
            eager, steps = self.play(mesh, run=run, **kinds)
            captured, captured_steps = self.play(mesh, run=run, capture=True, **kinds)
            self.assertEqual(captured["losses"], eager["losses"])
            self.assertEqual(captured_steps, steps)
            self.assertEqual(len(steps), (run or {}).get("steps", STEPS))
            for own, wanted in zip(captured["ranks"], eager["ranks"], strict=True):
                self.assertEqual({key: own[key] for key in ALIKE}, {key: wanted[key] for key in ALIKE})
                self.assertGreater(own["program"]["steps"], 0)  # it was captured
                self.assertNotIn("program", wanted)
            return steps

    def test_meshes(self):
        for mesh in ("1x1x1", "2x1x1", "1x1x2", "1x2x1", "2x1x2", "2x2x2"):
            self.compare(mesh)

    def test_forward(self):
        for mesh in ("1x1x1", "2x2x1"):
            self.compare(mesh, mode="forward")

    def test_schedules(self):
        # 4 micro-batches of one row each.
        for schedule, chunks in SCHEDULES:
            self.compare("1x2x1", {"schedule": schedule, "chunks": chunks, "micro_batches": 4})
        self.compare("1x1x1", {"schedule": "zb_h1", "micro_batches": 4})

    def test_zero_stages_and_recompute(self):
        self.compare("1x1x1", {"recompute": "selective"})
        self.compare("2x1x1", {"zero_stage": 1, "recompute": "full"})
        self.compare("2x1x1", {"zero_stage": 2})
        self.compare("2x2x1", {"zero_stage": 3, "recompute": "full", "schedule": "gpipe"})

    def test_sequence_parallel(self):
        self.compare("1x1x2", {"sequence_parallel": True, "recompute": "full"})
        self.compare("2x1x2", {"sequence_parallel": True, "zero_stage": 3})

    def test_sizes_that_do_not_divide(self):
        model = {"vocab": 257, "seq_len": 33, "layers": 5, "d_model": 36}
        self.compare("2x2x1", {"global_batch": 6}, model=model)

    def test_sixteen_bits(self):
        self.compare("1x1x2", {"dtype": "bfloat16"})
        self.compare("2x1x1", {"dtype": "float16", "zero_stage": 1})

    def test_steps_that_are_left_out(self):
        diverging = {"kind": "sgd", "lr": 3.0, "grad_clip": 0.0, "schedule": {"kind": "constant"}}
        steps = self.compare(run={"dtype": "float16", "steps": 6}, optimizer=diverging)
        self.assertEqual({step["applied"] for step in steps}, {True, False})

    def test_optimizers(self):
        self.compare("1x1x1", optimizer={"kind": "sgd", "lr": 0.1})
        self.compare("2x1x1", {"zero_stage": 2}, optimizer={"kind": "momentum", "lr": 0.02, "nesterov": True})

    def test_llama(self):
        self.compare("1x1x1", model=launch.LLAMA)
        self.compare("2x1x1", {"zero_stage": 3, "dtype": "bfloat16", "recompute": "full"}, model=launch.LLAMA)
        self.compare("1x2x2", {"sequence_parallel": True, "recompute": "selective"}, model=launch.LLAMA)
        self.compare("1x2x1", {"schedule": "interleaved", "chunks": 2}, model=launch.LLAMA)
        self.compare("1x2x1", {"schedule": "zb_h1"}, model=launch.LLAMA)


if __name__ == "__main__":
    os.chdir(launch.SOURCE_DIR)
    unittest.main(verbosity=2)
