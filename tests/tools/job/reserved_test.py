"""Tensors of a job reserve at most what is predicted, with the scratch memory that `autophi calibrate` measured."""

import json
import os
import pathlib
import unittest

import launch
import memory_jobs

# Jobs of memory_jobs.py, which differ in mesh, schedule, ZeRO stage, recompute and capture; in float32.
SEEDS = range(12)
# Scratch memory of all kernels, of which small jobs do not call each.
SCRATCH = 256 << 10


def in_float32(text):
    job = json.loads(text)
    job["run"]["dtype"] = "float32"
    return json.dumps(job)


class Reserved(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def calibrated(self, processes=0):
        machine = pathlib.Path(self.folder.name) / "calibrated.yaml"
        outcome = launch.run(processes, "calibrate", f"--out={machine}", "--quick")
        self.assertEqual(outcome.status, 0, outcome.output)
        return machine

    def check(self, predicted, measured):
        """Returns how many ranks have a bound."""
        known = [(bound, real) for bound, real in zip(predicted, measured, strict=True) if bound["reserved_bytes"] is not None]
        for bound, real in known:
            self.assertGreaterEqual(bound["reserved_bytes"], real["reserved_bytes"])
            self.assertLessEqual(bound["reserved_bytes"], 1.05 * real["reserved_bytes"] + SCRATCH)
            self.assertGreater(bound["process_bytes"], bound["reserved_bytes"])
            self.assertGreater(real["process_bytes"], real["peak_tensor_bytes"])
        return len(known)

    def test_random_jobs_reserve_at_most_what_is_predicted(self):
        machine = self.calibrated(processes=2)
        checked = 0
        for seed in SEEDS:
            with self.subTest(seed=seed):
                mesh, processes, text = memory_jobs.random_job(seed)
                text = in_float32(text)
                predicted = memory_jobs.predict(self.folder, text, mesh, machine=machine)
                report, _ = self.folder.report(processes, text, f"--mesh={mesh}")
                checked += self.check(predicted, report["ranks"])
        self.assertGreaterEqual(checked, len(SEEDS))

    def test_layers_of_other_stages_that_are_left_out_reserve_nothing(self):
        machine = self.calibrated(processes=2)
        for layers, schedule in ((4, "1f1b"), (7, "gpipe")):
            with self.subTest(layers=layers, schedule=schedule):
                run = {"schedule": schedule, "micro_batches": 8, "global_batch": 8}
                text = launch.job_text(model={"layers": layers}, run=run, mode="train")
                predicted = memory_jobs.predict(self.folder, text, "pp=2", machine=machine)
                report, _ = self.folder.report(2, text, "--mesh=pp=2")
                self.assertEqual(self.check(predicted, report["ranks"]), 2)

    def test_reports_have_the_prediction(self):
        machine = self.calibrated()
        for capture in (False, True):
            with self.subTest(capture=capture):
                text = launch.job_text(run={"capture": capture, "steps": 2}, mode="train")
                report, _ = self.folder.report(0, text, f"--machine={machine}")
                self.assertEqual(self.check(report["predicted"]["ranks"], report["ranks"]), 1)

    def test_what_is_not_known_is_not_predicted(self):
        text = launch.job_text(mode="train")
        half = launch.job_text(run={"dtype": "bfloat16"}, mode="train")
        scratch = self.folder.write("scratch.yaml", json.dumps(json.loads(memory_jobs.MACHINE) | {"scratch_MiB": 1}))
        whole = self.folder.write("whole.yaml", json.dumps(json.loads(memory_jobs.MACHINE) | {"scratch_MiB": 1, "process_MiB": 3}))
        for job, machine, known in (
            (text, None, (False, False)),
            (text, scratch, (True, False)),
            (text, whole, (True, True)),
            (half, whole, (False, False)),
        ):
            with self.subTest(machine=machine, known=known):
                (own,) = memory_jobs.predict(self.folder, job, "1", machine=machine)
                self.assertEqual((own["reserved_bytes"] is not None, own["process_bytes"] is not None), known)
                if all(known):
                    self.assertEqual(own["process_bytes"] - own["reserved_bytes"], 3 << 20)

    def test_the_table_says_what_is_reserved(self):
        machine = self.folder.write("m.yaml", json.dumps(json.loads(memory_jobs.MACHINE) | {"scratch_MiB": 1, "process_MiB": 3}))
        job = self.folder.write("job.yaml", launch.job_text(mode="train"))
        outcome = launch.run(0, "simulate", job, f"--machine={machine}", "--mesh=1")
        self.assertRegex(outcome.output, r"tensors of rank 0 reserve at most [\d.]+ MiB, its process [\d.]+ MiB\n")


if __name__ == "__main__":
    os.chdir(launch.SOURCE_DIR)
    unittest.main(verbosity=2)
