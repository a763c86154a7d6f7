"""Mode generate: weights saved by one job, loaded on any mesh, generate the same text everywhere."""

import os
import pathlib
import unittest

import launch

# More bytes than the model has positions (32).
GENERATE = {"prompt": "int ", "tokens": 60, "temperature": 0}
SAMPLING = {**GENERATE, "temperature": 1.2, "top_k": 40, "top_p": 0.9, "seed": 11}
MESHES = ["tp=2", "pp=2", "dp=2", "pp=2,tp=2", "dp=2,pp=2,tp=2", "pp=4", "tp=3"]


def processes_of(mesh):
    product = 1
    for part in mesh.split(","):
        product *= int(part.partition("=")[2])
    return product


class Trained(unittest.TestCase):
    """A trained model of some kind, and what it writes."""

    maxDiff = None
    model = None
    meshes = MESHES

    @classmethod
    def setUpClass(cls):
        cls.folder = launch.Folder()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.weights = str(pathlib.Path(cls.folder.name) / "weights")
        cls.trained, _ = cls.folder.report(
            2,
            launch.job_text(
                mode="train",
                model=cls.model,
                run={"steps": 40, "global_batch": 8, "save": cls.weights},
                optimizer={"lr": 1e-2, "schedule": "constant"},
            ),
            "--mesh=tp=2",
        )

    def job(self, generate=None, **rest):
        job = {"mode": "generate", "weights": self.weights, "generate": GENERATE if generate is None else generate}
        return launch.job_text(**{"model": self.model, **job, **rest})

    def text(self, processes, job, *flags):
        report, _ = self.folder.report(processes, job, *flags)
        return report["text"]

    def same_everywhere(self, generate, **rest):
        job = self.job(generate, **rest)
        expected = self.text(0, job, "--mesh=1")
        self.assertEqual(len(expected.encode()), generate["tokens"])
        for mesh in self.meshes:
            with self.subTest(mesh=mesh):
                self.assertEqual(self.text(processes_of(mesh), job, f"--mesh={mesh}"), expected)
        return expected


class GenerateLlama(Trained):
    model = launch.LLAMA
    meshes = ["tp=2", "pp=2", "dp=2,pp=2,tp=2"]

    def test_text_is_the_same_on_every_mesh(self):
        greedy = self.same_everywhere(GENERATE)
        self.assertNotEqual(greedy, self.same_everywhere(SAMPLING))

    def test_the_weights_are_those_that_were_saved(self):
        forward = launch.job_text(model=self.model, weights=self.weights)
        report, _ = self.folder.report(0, forward, "--mesh=1")
        self.assertLess(report["losses"][0], self.trained["losses"][0] - 1.5)

    def test_what_cannot_work_is_said_once(self):
        cases = [
            (self.job(model={**self.model, "ffn": 96}), 2, "'ffn' of the model is 96; in "),
            (self.job(model=None), 2, "the model is a gpt; "),
            (self.job(), 4, "tp 4 of the mesh tp=4 does not divide kv_heads 2"),
        ]
        for job, tp, message in cases:
            with self.subTest(message=message):
                outcome = launch.run(tp, "run", self.folder.write("job.yaml", job), f"--mesh=tp={tp}")
                self.assertNotEqual(outcome.status, 0)
                self.assertEqual(outcome.count(message), 1, outcome.output)


class Generate(Trained):
    def test_greedy_text_is_the_same_on_every_mesh(self):
        self.same_everywhere(GENERATE)

    def test_sampled_text_too(self):
        first = self.same_everywhere(SAMPLING)
        other = self.text(0, self.job({**SAMPLING, "seed": 12}), "--mesh=1")
        self.assertNotEqual(first, other)
        self.assertNotEqual(first, self.text(0, self.job(GENERATE), "--mesh=1"))

    def test_how_training_was_laid_out_does_not_matter(self):
        expected = self.text(0, self.job(), "--mesh=1")
        job = self.job(run={"zero_stage": 3, "chunks": 2, "schedule": "interleaved"})
        self.assertEqual(self.text(4, job, "--mesh=2x2x1"), expected)
        self.assertEqual(self.text(2, job, "--mesh=1x1x2"), expected)

    def test_the_weights_are_those_that_were_saved(self):
        # Forward over the training text: a trained model knows more than a random one.
        losses = {}
        for weights in ("", self.weights):
            report, _ = self.folder.report(0, launch.job_text(weights=weights), "--mesh=1")
            losses[weights] = report["losses"][0]
        self.assertAlmostEqual(losses[""], 5.545, delta=0.1)
        self.assertLess(losses[self.weights], self.trained["losses"][0] - 1.5)

    def test_what_a_person_sees(self):
        report, outcome = self.folder.report(2, self.job(), "--mesh=pp=2")
        self.assertIn("60 tokens · temperature 0 · weights ", outcome.output)
        self.assertIn("\n" + GENERATE["prompt"] + report["text"] + "\n60 tokens in ", outcome.output)
        self.assertIn("rank  stage    launched", outcome.output)
        self.assertEqual(report["mode"], "generate")
        self.assertEqual(report["losses"], [])
        self.assertEqual(len(report["step_seconds"]), 60)
        self.assertGreater(report["tokens_per_s"], 0)
        for rank in report["ranks"]:
            self.assertGreater(rank["ops_clipped"], 0)
        _, outcome = self.folder.report(2, self.job(), "--mesh=pp=2", "--quiet")
        self.assertEqual(outcome.output, GENERATE["prompt"] + report["text"] + "\n")

    def test_a_token_costs_a_position(self):
        # The operators of a token are the same whether 5 or 25 positions come before; so are bytes.
        counts = []
        for tokens in (5, 15, 25):
            report, _ = self.folder.report(2, self.job({**GENERATE, "tokens": tokens}), "--mesh=tp=2")
            counts.append(report["ranks"][0])
        for key in ("ops_launched", "bytes_sent"):
            self.assertEqual(counts[1][key] - counts[0][key], counts[2][key] - counts[1][key], key)
        self.assertEqual(counts[0]["peak_tensor_bytes"], counts[2]["peak_tensor_bytes"])

    def test_random_weights_are_noted_and_their_text_is_safe_to_show(self):
        job = self.job({**SAMPLING, "temperature": 5.0, "top_k": 0, "top_p": 1.0, "tokens": 200}, weights="")
        report, outcome = self.folder.report(0, job, "--mesh=1")
        self.assertIn("note: no weights are set", outcome.output)
        self.assertIn("\ufffd", report["text"])
        controls = [c for c in outcome.output if (ord(c) < 32 and c not in "\n\r\t") or 0x7F <= ord(c) < 0xA0]
        self.assertEqual(controls, [])

    def test_no_prompt_and_a_full_one(self):
        for prompt in ("", "x" * launch.MODEL["seq_len"]):
            job = self.job({**GENERATE, "prompt": prompt, "tokens": 3})
            self.assertEqual(self.text(2, job, "--mesh=pp=2"), self.text(0, job, "--mesh=1"))

    def test_example_is_a_job(self):
        example = (launch.SOURCE_DIR / "examples/gpt_generate.yaml").read_text()
        small = example.replace("build/gpt_weights", self.weights)
        for key in ("seq_len", "d_model", "layers", "heads"):
            small = small.replace(f"{key}: ", f"{key}: {launch.MODEL[key]} # ")
        self.assertEqual(len(self.text(4, small).encode()), 200)

    def test_what_cannot_work_is_said_once(self):
        long = "x" * (launch.MODEL["seq_len"] + 1)
        cases = [
            (self.job({"prompt": long}), [], "key 'generate.prompt': the prompt has 33 bytes and the model reads at most 32"),
            (self.job({"top_p": 0}), [], "key 'generate.top_p': 0 keeps no token"),
            (self.job({"tokens": 0}), [], "key 'generate.tokens': must be an integer from 1"),
            (self.job(model={"vocab": 255}), [], "key 'model.vocab': 255 is less than 256: mode generate writes text"),
            (self.job(), ["--metrics=m"], "--metrics requires steps; mode generate has none."),
            (self.job(run={"sequence_parallel": True}), [], "key 'run.sequence_parallel': applies only to a job with mode: forward"),
            (self.job(data={"seed": 5}), [], "key 'data.seed': applies only to a job with mode: forward or train"),
            (self.job(weights="/nonexistent"), [], "key 'weights': "),
            (self.job(model={"d_model": 64}), [], "'d_model' of the model is 64; in "),
        ]
        for job, flags, message in cases:
            with self.subTest(message=message):
                outcome = launch.run(2, "run", self.folder.write("job.yaml", job), "--mesh=pp=2", *flags)
                self.assertNotEqual(outcome.status, 0)
                self.assertEqual(outcome.count(message), 1, outcome.output)

    def test_a_rank_that_throws_ends_the_job(self):
        outcome = launch.run(
            2, "run", self.folder.write("job.yaml", self.job()), "--mesh=pp=2", "--inject_error=1:3", limit_s=30
        )
        self.assertNotEqual(outcome.status, 0)
        self.assertEqual(outcome.count("at rank 1 of 2, step 3, stage 1"), 1, outcome.output)


if __name__ == "__main__":
    os.chdir(launch.SOURCE_DIR)
    unittest.main(verbosity=2)
