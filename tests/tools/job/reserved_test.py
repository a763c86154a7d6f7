"""Tensors of a job reserve at most what is predicted, with the scratch memory that `autophi calibrate` measured."""

import json
import os
import pathlib
import unittest

import images_test
import launch
import memory_jobs

# Jobs of memory_jobs.py, which differ in dtype, mesh, schedule, ZeRO stage, recompute and capture.
SEEDS = range(16)
DTYPES = "float32,bfloat16,float16"
# Scratch memory of all float32 kernels, of which jobs do not call each.
SCRATCH = 256 << 10
# Packed and widened operands of its matmuls are a sixth of its memory and more.
WIDE_RESNET = {**images_test.RESNET, "blocks": [1, 2], "width": 16}
WIDE = {"d_model": 96, "seq_len": 64, "vocab": 258, "layers": 2}


class Reserved(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def calibrated(self, processes=0):
        machine = pathlib.Path(self.folder.name) / "calibrated.yaml"
        outcome = launch.run(processes, "calibrate", f"--out={machine}", "--quick", f"--dtypes={DTYPES}")
        self.assertEqual(outcome.status, 0, outcome.output)
        return machine

    def check(self, predicted, measured):
        self.assertEqual(len(predicted), len(measured))
        for bound, real in zip(predicted, measured):
            self.assertGreaterEqual(bound["reserved_bytes"], real["reserved_bytes"])
            self.assertLessEqual(bound["reserved_bytes"], 1.05 * real["reserved_bytes"] + SCRATCH)
            self.assertGreater(bound["process_bytes"], bound["reserved_bytes"])
            self.assertGreater(real["process_bytes"], real["peak_tensor_bytes"])

    def check_job(self, text, mesh, processes, machine):
        predicted = memory_jobs.predict(self.folder, text, mesh, machine=machine)
        report, _ = self.folder.report(processes, text, f"--mesh={mesh}")
        self.check(predicted, report["ranks"])

    def test_random_jobs_reserve_at_most_what_is_predicted(self):
        machine = self.calibrated(processes=2)
        for seed in SEEDS:
            with self.subTest(seed=seed):
                mesh, processes, text = memory_jobs.random_job(seed)
                self.check_job(text, mesh, processes, machine)

    def test_kernels_of_16_bits_state_their_scratch_memory(self):
        machine = self.calibrated(processes=2)
        for kind in ({}, launch.LLAMA):
            for dtype in ("bfloat16", "float16"):
                for mesh, processes in (("1", 0), ("dp=2", 2), ("tp=2", 2), ("pp=2", 2)):
                    with self.subTest(kind=kind, dtype=dtype, mesh=mesh):
                        text = launch.job_text(model={**WIDE, **kind}, run={"dtype": dtype}, mode="train")
                        self.check_job(text, mesh, processes, machine)

    def test_kernels_of_convolutions_state_their_scratch_memory(self):
        machine = self.calibrated(processes=2)
        for model, data in ((WIDE_RESNET, images_test.FOLDERS), (images_test.VIT, images_test.CIFAR)):
            for dtype in ("bfloat16", "float16"):
                for mesh, processes in (("1", 0), ("dp=2", 2)):
                    with self.subTest(kind=model["kind"], dtype=dtype, mesh=mesh):
                        self.check_job(images_test.job_text(model, data, run={"dtype": dtype}), mesh, processes, machine)

    def test_layers_of_other_stages_that_are_left_out_reserve_nothing(self):
        machine = self.calibrated(processes=2)
        for dtype in ("float32", "bfloat16"):
            for layers, schedule in ((4, "1f1b"), (7, "gpipe")):
                with self.subTest(dtype=dtype, layers=layers, schedule=schedule):
                    run = {"dtype": dtype, "schedule": schedule, "micro_batches": 8, "global_batch": 8}
                    self.check_job(launch.job_text(model={"layers": layers}, run=run, mode="train"), "pp=2", 2, machine)

    def test_reports_have_the_prediction(self):
        machine = self.calibrated()
        for capture in (False, True):
            with self.subTest(capture=capture):
                text = launch.job_text(run={"capture": capture, "steps": 2}, mode="train")
                report, _ = self.folder.report(0, text, f"--machine={machine}")
                self.check(report["predicted"]["ranks"], report["ranks"])

    def test_what_is_not_known_is_not_predicted(self):
        text = launch.job_text(mode="train")
        scratch = self.folder.write("scratch.yaml", json.dumps(json.loads(memory_jobs.MACHINE) | {"scratch_MiB": 1}))
        whole = self.folder.write("whole.yaml", json.dumps(json.loads(memory_jobs.MACHINE) | {"scratch_MiB": 1, "process_MiB": 3}))
        for machine, known in ((None, (False, False)), (scratch, (True, False)), (whole, (True, True))):
            with self.subTest(machine=machine, known=known):
                (own,) = memory_jobs.predict(self.folder, text, "1", machine=machine)
                self.assertEqual((own["reserved_bytes"] is not None, own["process_bytes"] is not None), known)
                if all(known):
                    self.assertEqual(own["process_bytes"] - own["reserved_bytes"], 3 << 20)

    def test_the_table_says_what_is_reserved(self):
        machine = self.folder.write("m.yaml", json.dumps(json.loads(memory_jobs.MACHINE) | {"scratch_MiB": 1, "process_MiB": 3}))
        job = self.folder.write("job.yaml", launch.job_text(mode="train"))
        outcome = launch.run(0, "simulate", job, f"--machine={machine}", "--mesh=1")
        self.assertRegex(outcome.output, r"tensors of rank 0 reserve [\d.]+ MiB, its process [\d.]+ MiB\n")


if __name__ == "__main__":
    os.chdir(launch.SOURCE_DIR)
    unittest.main(verbosity=2)
