"""Weights of a job: initial ones written without a step, Hugging Face's folders, and folders that do not fit."""

import json
import pathlib
import subprocess
import unittest

import launch
import memory_jobs

LLAMA = {**launch.LLAMA, "qkv_bias": True, "tied_head": True, "norm_eps": 1e-3}


class Weights(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return str(pathlib.Path(self.folder.name) / name)

    def losses(self, processes, *flags, **job):
        return self.folder.report(processes, launch.job_text(mode="forward", **job), *flags)[0]["losses"]

    def saved(self, name, model):
        report, outcome = self.folder.report(
            2, launch.job_text(mode="train", model=model, run={"steps": 0, "save": self.path(name)}), "--mesh=tp=2"
        )
        self.assertEqual(report["losses"], [])
        self.assertIn("parameters saved to", outcome.output)
        return self.path(name)

    def autophi(self, *words):
        return subprocess.run([launch.AUTOPHI, *words], capture_output=True, text=True, check=False)

    def test_a_job_of_no_steps_writes_what_a_model_begins_with(self):
        for model in ({}, LLAMA):
            with self.subTest(model=model):
                weights = self.saved(f"initial{len(model)}", model)
                expected = self.losses(0, "--mesh=1", model=model)
                # A job with weights has another seed here, so they must come from the folder.
                self.assertEqual(self.losses(0, "--mesh=1", model=model, weights=weights), expected)
                config = json.loads(pathlib.Path(weights, "model.json").read_text())
                self.assertEqual(config["kind"], model.get("kind", "gpt"))

    def test_a_folder_of_transformers_is_read_by_each_rank_in_part(self):
        weights = self.saved("ours", LLAMA)
        converted = self.autophi("weights", "convert", weights, self.path("theirs"))
        self.assertEqual(converted.returncode, 0, converted.stderr)
        self.assertIn("Qwen2ForCausalLM", pathlib.Path(self.path("theirs"), "config.json").read_text())
        expected = self.losses(0, "--mesh=1", model=LLAMA)
        for processes, mesh in ((0, "1"), (2, "tp=2"), (2, "pp=2"), (4, "dp=2,tp=2")):
            with self.subTest(mesh=mesh):
                given = self.losses(processes, f"--mesh={mesh}", model=LLAMA, weights=self.path("theirs"))
                for a, b in zip(given, expected, strict=True):
                    self.assertAlmostEqual(a, b, delta=1e-6)

    def test_what_does_not_fit_is_named(self):
        weights = self.saved("ours", LLAMA)
        self.autophi("weights", "convert", weights, self.path("theirs"))
        job = launch.job_text(model={**LLAMA, "ffn": 96, "tied_head": False}, weights=self.path("theirs"))
        outcome = launch.run(2, "run", self.folder.write("job.yaml", job))
        self.assertEqual(outcome.status, 2, outcome.output)
        for words in ("key 'weights'", "ffn", "96", "80", "tied_head"):
            self.assertEqual(words in outcome.output, True, f"{words} is not in:\n{outcome.output}")

    def test_a_prediction_loads_no_weights(self):
        weights = self.saved("ours", LLAMA)
        for dtype in ("float32", "bfloat16"):
            for mesh in ("dp=2", "tp=2", "pp=2"):
                with self.subTest(dtype=dtype, mesh=mesh):
                    run = {**launch.RUN, "dtype": dtype}
                    text = launch.job_text(mode="train", model=LLAMA, run=run, weights=weights)
                    report, _ = self.folder.report(2, text, f"--mesh={mesh}")
                    predicted = memory_jobs.predict(self.folder, text, mesh)
                    self.assertEqual(*([rank["peak_tensor_bytes"] for rank in ranks] for ranks in (predicted, report["ranks"])))
                    text = launch.job_text(mode="train", model=LLAMA, run=run, weights=self.path("nowhere"))
                    self.assertEqual(memory_jobs.predict(self.folder, text, mesh), predicted)

    def test_a_prediction_checks_weights_that_are_there(self):
        weights = self.saved("ours", LLAMA)
        machine = self.folder.write("machine.yaml", memory_jobs.MACHINE)
        cases = ((weights, {}, ""), (self.path("nowhere"), {}, f"predicted without weights, which are not read: there is no '{self.path('nowhere')}'.\n"),
                 (weights, {"ffn": 96}, "key 'weights'"))
        for folder, changes, said in cases:
            with self.subTest(said=said):
                job = self.folder.write("job.yaml", launch.job_text(mode="train", model={**LLAMA, **changes}, weights=folder))
                outcome = launch.run(0, "simulate", job, f"--machine={machine}", "--mesh=dp=2")
                self.assertEqual(outcome.status == 0, not changes, outcome.output)
                self.assertIn(said, outcome.output)
                self.assertEqual("predicted without" in outcome.output, "nowhere" in folder)

    def test_weights_that_are_replaced_are_told(self):
        for processes, told in ((2, False), (0, True)):
            text = launch.job_text(mode="train", run={"steps": 0, "save": self.path("twice")})
            outcome = launch.run(processes, "run", self.folder.write("job.yaml", text), f"--mesh={max(processes, 1)}")
            self.assertEqual(outcome.status, 0, outcome.output)
            self.assertEqual(outcome.count("has weights, which this job replaces"), told, outcome.output)

    def test_no_steps_and_nothing_to_save_is_an_error(self):
        outcome = launch.run(0, "run", self.folder.write("job.yaml", launch.job_text(run={"steps": 0})))
        self.assertIn("key 'run.steps': a job of 0 steps only writes its initial weights", outcome.output)


if __name__ == "__main__":
    unittest.main()
