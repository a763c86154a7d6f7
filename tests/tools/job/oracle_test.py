"""Training in one process against the oracle (tests/support/oracle), which shares no code with it."""

import os
import unittest

import launch
import training_oracle

STEPS = 20
SEED = 7  # of the weights
# Relative. Jobs in float32 are within 1e-7 and 3e-6; float16 and bfloat16 round after each operation. Of the norms in
# float16 all are within 5e-3 but one, where the norm rises to its double for a step: what was rounded before shows there.
TOLERANCES = {
    "float32": {"loss": 2e-6, "grad_norm": 3e-5},
    "float16": {"loss": 1e-3, "grad_norm": 3e-2},
    "bfloat16": {"loss": 8e-3, "grad_norm": 0.1},
}
LARGEST_FLOAT16 = 65504

GPT = {"vocab": 256, "seq_len": 16, "d_model": 16, "layers": 2, "heads": 2, "seed": 3}
MODELS = {
    "gpt": GPT,
    "gpt with dropout": {**GPT, "dropout": 0.2, "mlp_ratio": 3, "vocab": 300},
    "llama": {**GPT, "kind": "llama", "heads": 4, "kv_heads": 2, "ffn": 40, "rope_base": 100.0, "norm_eps": 1e-3},
}
# eps is as large as gradients are, so that it shows, and so that noise in gradients that are zero does not.
OPTIMIZERS = {
    "adamw": {
        "kind": "adamw", "lr": 1e-2, "betas": [0.8, 0.95], "eps": 1e-3, "weight_decay": 0.1, "grad_clip": 1.2,
        "schedule": {"kind": "cosine", "warmup_steps": 4, "min_ratio": 0.2},
    },
    "momentum": {
        "kind": "momentum", "lr": 0.2, "momentum": 0.8, "weight_decay": 0.02, "grad_clip": 1.3,
        "schedule": {"kind": "step", "warmup_steps": 3, "milestones": [2, 9], "gamma": 0.5},
    },
    "nesterov": {"kind": "momentum", "nesterov": True, "lr": 0.05, "grad_clip": 1.2, "schedule": {"warmup_steps": 2}},
    "sgd": {"kind": "sgd", "lr": 0.3, "weight_decay": 0.03, "grad_clip": 0, "schedule": "cosine"},
}  # fmt: skip


class JobTest(unittest.TestCase):
    def setUp(self):
        folder = launch.Folder()
        self.addCleanup(folder.cleanup)
        self.comparison = training_oracle.Comparison(folder)
        self.path = self.comparison.path

    def weights(self, model, factor=1.0):
        folder = self.path / f"weights_{len(list(self.path.iterdir()))}"
        return training_oracle.write_weights(folder, model, SEED, factor)

    def job(self, model, run=None, **rest):
        run = {"steps": STEPS, "global_batch": 4, "micro_batches": 2, **(run or {})}
        return launch.job_text(mode="train", model=model, run=run, **rest)

    def compare(self, model, run=None, **rest):
        """Runs the job in one process and by the oracle; returns the metrics of each step of both."""
        run = {"save": str(self.path / "saved"), **(run or {})}
        text = self.job(model, run, **rest)
        given, _ = self.comparison.play(0, text)
        left_out = [step["step"] for step in given if not step["applied"]]
        expected = self.comparison.expect(text, left_out, self.path / "expected")
        dtype = run.get("dtype", "float32")
        training_oracle.check_steps(self, given, expected, TOLERANCES[dtype])
        if dtype == "float32":
            self.assertEqual(left_out, [])
            training_oracle.check_states(self, self.path / "saved", self.path / "expected", rest.get("weights"))
        return given, expected


class Oracle(JobTest):
    def test_each_model_with_each_optimizer(self):
        for model_name, model in MODELS.items():
            weights = self.weights(model)
            for optimizer_name, optimizer in OPTIMIZERS.items():
                with self.subTest(model=model_name, optimizer=optimizer_name, seed=SEED):
                    given, _ = self.compare(model, optimizer=optimizer, weights=weights)
                    self.assertLess(given[-1]["loss"], given[0]["loss"] - 0.5)
                    if optimizer["grad_clip"] > 0:
                        norms = [step["grad_norm"] for step in given]
                        self.assertLess(min(norms), optimizer["grad_clip"], "everything is clipped")
                        self.assertGreater(max(norms), optimizer["grad_clip"], "nothing is clipped")

    def test_initial_parameters_are_the_documented_ones(self):
        for name, model in MODELS.items():
            with self.subTest(model=name):
                # A rate of 0 leaves what there was; steps with the defaults of all keys then follow it.
                self.compare({**model, "seed": 9}, {"steps": 1}, optimizer={"lr": 0.0})
                text = self.job({**model, "seed": 9})
                given, _ = self.comparison.play(0, text)
                training_oracle.check_steps(self, given, self.comparison.expect(text), TOLERANCES["float32"])

    def test_micro_batches_share_out_the_same_rows(self):
        for name in ("gpt", "llama"):
            weights = self.weights(MODELS[name])
            curves = []
            for micro_batches in (1, 2, 4):
                with self.subTest(model=name, micro_batches=micro_batches, seed=SEED):
                    run = {"micro_batches": micro_batches, "steps": 6}
                    optimizer = OPTIMIZERS["momentum"]
                    given, expected = self.compare(MODELS[name], run, optimizer=optimizer, weights=weights)
                    curves += [[step["loss"] for step in steps] for steps in (given, expected)]
            for curve in curves[1:]:
                for loss, wanted in zip(curve, curves[0], strict=True):
                    self.assertLess(abs(loss - wanted), TOLERANCES["float32"]["loss"] * wanted)

    def test_other_data_seeds_and_files_are_other_batches(self):
        paths = [f"{launch.DATA['paths'][0]}/{name}" for name in ("chapters/two.txt", "notes.txt")]
        weights = self.weights(GPT)
        first = []
        for data in ({"seed": 5}, {"seed": 6}, {"paths": paths}, {"paths": paths[::-1]}):
            with self.subTest(data=data, seed=SEED):
                given, _ = self.compare(GPT, {"steps": 2}, data=data, optimizer=OPTIMIZERS["sgd"], weights=weights)
                first.append(given[0]["loss"])
        self.assertEqual(len(set(first)), len(first))


class LossScale(JobTest):
    """float16: which steps overflow depends on how a job rounds, so the oracle reads these from the job."""

    def test_steps_that_overflow_are_left_out(self):
        # The head is loud, so the first scale is too large, and gradients are clipped throughout.
        optimizers = {
            **OPTIMIZERS,
            "sgd": {"kind": "sgd", "lr": 0.1, "grad_clip": 1.0},
            "sgd that is not clipped": {"kind": "sgd", "lr": 0.01, "grad_clip": 0},
        }
        for model_name, model in MODELS.items():
            weights = self.weights(model, factor=6.0)
            for optimizer_name, optimizer in optimizers.items():
                with self.subTest(model=model_name, optimizer=optimizer_name, seed=SEED):
                    run = {"dtype": "float16"}
                    given, expected = self.compare(model, run, optimizer=optimizer, weights=weights)
                    self.check_left_out(given, expected)

    def check_left_out(self, given, expected):
        """Steps are left out because something overflows, and for no other reason."""
        applied = [step["applied"] for step in given]
        self.assertFalse(applied[0])
        self.assertGreater(sum(applied), STEPS // 2)
        for step in expected:
            scaled = {key: step["loss_scale"] * step[f"largest_{key}"] for key in ("gradient", "parameter_gradient")}
            if step["applied"]:
                self.assertLess(scaled["parameter_gradient"], 1.1 * LARGEST_FLOAT16, step)
            else:
                self.assertGreater(scaled["gradient"], LARGEST_FLOAT16 / 1.1, step)

    def test_the_scale_grows_after_many_updates(self):
        model = {"vocab": 256, "seq_len": 8, "d_model": 4, "layers": 1, "heads": 1, "mlp_ratio": 1}
        text = self.job(
            model,
            {"steps": 2080, "global_batch": 2, "micro_batches": 1, "dtype": "float16"},
            optimizer={"kind": "sgd", "lr": 1e-3, "grad_clip": 0},
            weights=self.weights(model),
        )
        given, _ = self.comparison.play(0, text)
        expected = self.comparison.expect(text, [step["step"] for step in given if not step["applied"]])
        training_oracle.check_steps(self, given, expected, TOLERANCES["float16"])
        grown = [step for before, step in zip(given, given[1:]) if step["loss_scale"] > before["loss_scale"]]
        self.assertEqual(len(grown), 1)


class SixteenBits(JobTest):
    def test_bfloat16_stays_near(self):
        for model_name, model in MODELS.items():
            weights = self.weights(model)
            for optimizer_name in ("adamw", "nesterov"):
                with self.subTest(model=model_name, optimizer=optimizer_name, seed=SEED):
                    run = {"dtype": "bfloat16"}
                    self.compare(model, run, optimizer=OPTIMIZERS[optimizer_name], weights=weights)

    def test_small_updates_are_not_lost(self):
        """Each update is less than half of what 16 bits resolve; master weights add them up."""
        weights = self.weights(GPT)
        optimizer = {"kind": "adamw", "lr": 4e-4, "eps": 1e-6, "grad_clip": 0, "schedule": "constant"}
        for dtype, relative in (("bfloat16", 2**-8), ("float16", 2**-11)):
            with self.subTest(dtype=dtype, seed=SEED):
                self.compare(GPT, {"dtype": dtype}, optimizer=optimizer, weights=weights)
                given = training_oracle.read_weights(self.path / "saved")["head"]
                expected = training_oracle.read_weights(self.path / "expected")["head"]
                initial = training_oracle.read_weights(weights)["head"]
                apart = sum(abs(a - b) for a, b in zip(given, expected)) / len(given)
                moved = sum(abs(a - b) for a, b in zip(initial, expected)) / len(given)
                self.assertGreater(moved, 4e-4)
                self.assertLess(apart, 0.25 * moved + relative * 0.2)


if __name__ == "__main__":
    os.chdir(launch.SOURCE_DIR)
    unittest.main(verbosity=2)
