"""Predictions of jobs: `autophi calibrate`, `autophi simulate`, and `autophi run --machine`.

Times depend on the machine, so only their structure is tested; bytes must be exact."""

import json
import os
import pathlib
import unittest

import launch

MESHES = {"1": 1, "dp=2": 2, "pp=2": 2, "dp=2,pp=2": 4}
KEYS = ["rank", "peak_tensor_bytes", "held_at_peak", "bytes_sent", "bytes_received", "compute_seconds", "exposed_seconds", "bubble_seconds"]
# A second takes 1e9 flops, 1e9 bytes, 1e9 bytes of a message.
MACHINE = """\
launch_overhead_us: 1
links:
  - {name: node, latency_us: 1, GBps: 1}
families:
  float32:
    matmul: {ops: [matmul, matmul_grad], by: flops, points: [[1, 1e9]]}
    bytes: {ops: [add], points: [[1, 1e9]]}
"""


class Simulate(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)
        self.machine = self.folder.write("machine.yaml", MACHINE)

    def simulate(self, text, *flags, machine=None):
        job = self.folder.write("simulated.yaml", text)
        out = pathlib.Path(self.folder.name) / "p.json"
        outcome = launch.run(0, "simulate", job, f"--machine={machine or self.machine}", f"--json={out}", *flags)
        self.assertEqual(outcome.status, 0, outcome.output)
        return json.loads(out.read_text()), outcome

    def check_structure(self, prediction, ranks):
        self.assertEqual(list(prediction), ["step_seconds", "tokens_per_s", "unlisted_ops", "ranks"])
        self.assertEqual([rank["rank"] for rank in prediction["ranks"]], list(range(ranks)))
        for rank in prediction["ranks"]:
            self.assertEqual(list(rank), KEYS)
            parts = rank["compute_seconds"] + rank["exposed_seconds"] + rank["bubble_seconds"]
            self.assertAlmostEqual(parts, prediction["step_seconds"], delta=1e-9)
        tokens = launch.RUN["global_batch"] * launch.MODEL["seq_len"]
        self.assertAlmostEqual(prediction["tokens_per_s"] * prediction["step_seconds"], tokens, delta=1e-6 * tokens)

    def test_bytes_are_those_of_a_real_run(self):
        for steps in (1, 3):
            for schedule in ("gpipe", "1f1b"):
                text = launch.job_text(run={"steps": steps, "schedule": schedule}, mode="train")
                for mesh, ranks in MESHES.items():
                    with self.subTest(mesh=mesh, steps=steps, schedule=schedule):
                        prediction, _ = self.simulate(text, f"--mesh={mesh}")
                        self.check_structure(prediction, ranks)
                        real, outcome = self.folder.report(ranks, text, f"--mesh={mesh}", f"--machine={self.machine}")
                        self.assertEqual(real["predicted"], prediction)
                        self.assertRegex(outcome.output, r"predicted [\d.e-]+ s per step, measured [\d.e-]+ s \(median of ")
                        for own, wanted in zip(prediction["ranks"], real["ranks"]):
                            for key in ("bytes_sent", "bytes_received", "peak_tensor_bytes"):
                                self.assertEqual(own[key], wanted[key])
                            self.assertEqual(sum(own["held_at_peak"].values()), own["peak_tensor_bytes"])

    def test_layouts_are_in_a_sane_order(self):
        text = launch.job_text(model={"d_model": 64}, run={"global_batch": 16, "micro_batches": 8}, mode="train")
        seconds = {mesh: self.simulate(text, f"--mesh={mesh}")[0]["step_seconds"] for mesh in MESHES}
        for mesh in ("dp=2", "pp=2"):
            self.assertLess(seconds[mesh], 0.9 * seconds["1"])
            self.assertGreater(seconds[mesh], 0.4 * seconds["1"])
        pipeline = self.simulate(text, "--mesh=pp=2")[0]
        for rank in pipeline["ranks"]:
            self.assertGreater(rank["bubble_seconds"], 0.02 * pipeline["step_seconds"])

    def test_the_table_names_operators_without_rates(self):
        prediction, outcome = self.simulate(launch.job_text(mode="train"), "--mesh=2")
        self.assertIn("gelu", prediction["unlisted_ops"])
        self.assertNotIn("add", prediction["unlisted_ops"])
        self.assertIn("without rates of their own: ", outcome.output)
        self.assertIn("2 ranks of ", outcome.output)

    def test_calibrated_machines_can_be_used(self):
        for processes in (0, 2):
            with self.subTest(processes=processes):
                machine = pathlib.Path(self.folder.name) / f"own{processes}.yaml"
                outcome = launch.run(processes, "calibrate", f"--out={machine}", "--quick")
                self.assertEqual(outcome.status, 0, outcome.output)
                self.assertEqual(outcome.count("written to "), 1)
                self.assertIn("float32 matmul_grad", outcome.output)
                self.assertEqual("links:" in machine.read_text(), processes == 2)
                mesh = "dp=2" if processes else "1"
                self.check_structure(
                    self.simulate(launch.job_text(mode="train"), f"--mesh={mesh}", machine=machine)[0], max(1, processes)
                )

    def test_mistakes_are_said_once(self):
        job = self.folder.write("job.yaml", launch.job_text(mesh={"shape": [2], "dims": ["dp"]}, mode="train"))
        generate = self.folder.write("generate.yaml", launch.job_text(mode="generate"))
        bfloat16 = self.folder.write("bf16.yaml", launch.job_text(run={"dtype": "bfloat16"}, mode="train"))
        gpu = self.folder.write("gpu.yaml", launch.job_text(mode="train", place="gpu"))
        unknown = self.folder.write("unknown.yaml", MACHINE.replace("launch_overhead_us", "launch_overhed_us"))
        negative = self.folder.write("negative.yaml", MACHINE.replace("GBps: 1", "GBps: -1"))
        alone = self.folder.write("alone.yaml", MACHINE.replace("links:\n  - {name: node, latency_us: 1, GBps: 1}\n", ""))
        machine = f"--machine={self.machine}"
        cases = [
            (2, [], "autophi simulate expects one job file, got 0"),
            (2, [job], "--machine is missing; pass --machine=FILE, which autophi calibrate writes."),
            (2, [job, machine, "--world_size=3"], "--world_size=3: the mesh dp=2 has 2 ranks; change one."),
            (2, [generate, machine], "--machine requires steps; mode generate has none."),
            (2, [gpu, machine], "runs on place gpu, and "),
            (1, [job, "--machine=nowhere.yaml"], "cannot read machine file 'nowhere.yaml'"),
            (1, [job, f"--machine={unknown}"], "unknown.yaml:1: the key 'launch_overhed_us' is not read here, did you mean"),
            (1, [job, f"--machine={negative}"], "negative.yaml:3: GBps is -1; expected a number above 0."),
            (1, [job, f"--machine={alone}"], "alone.yaml has no links, and rank "),
            (1, [bfloat16, machine], "has rates of float32 only; calibrate with --dtypes=float32,bfloat16."),
        ]
        for status, args, message in cases:
            with self.subTest(args=args):
                outcome = launch.run(0, "simulate", *args)
                self.assertEqual(outcome.status, status, outcome.output)
                self.assertEqual(outcome.count(message), 1, outcome.output)
        outcome = launch.run(2, "run", job, f"--machine={negative}")
        self.assertEqual(outcome.status, 2, outcome.output)
        self.assertEqual(outcome.count("GBps is -1"), 1, outcome.output)

    def test_mistakes_of_calibrate_are_said_once(self):
        cases = [
            (2, [], "--out is missing; pass --out=machine.yaml."),
            (2, ["--out=m.yaml", "more"], "autophi calibrate expects no arguments, got 'more'"),
            (2, ["--out=m.yaml", "--dtypes=int64"], "--dtypes=int64: int64 is not a floating-point dtype."),
            (2, ["--out=m.yaml", "--dtypes=flaot32"], "--dtypes=flaot32 is no list of dtypes: "),
            (1, ["--out=/nonexistent/m.yaml"], "cannot write the machine file '/nonexistent/m.yaml'"),
        ]
        for status, args, message in cases:
            for processes in (0, 2):
                with self.subTest(args=args, processes=processes):
                    outcome = launch.run(processes, "calibrate", *args)
                    self.assertEqual(outcome.status, status, outcome.output)
                    self.assertEqual(outcome.count(message), 1, outcome.output)


if __name__ == "__main__":
    os.chdir(launch.SOURCE_DIR)
    unittest.main(verbosity=2)
