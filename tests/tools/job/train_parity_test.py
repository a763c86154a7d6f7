"""Training on any mesh, ZeRO stage, schedule, with and without recompute and sequence parallel, follows one process."""

import os
import unittest

import launch

STEPS = 12  # with rates that rise and fall
LEARNING_STEPS = 30
TOLERANCE = 1e-4  # relative, at each step, float32

OPTIMIZER = {
    "kind": "adamw",
    "lr": 3e-3,
    "betas": [0.9, 0.95],
    "weight_decay": 0.1,
    "grad_clip": 1.0,
    "schedule": {"kind": "cosine", "warmup_steps": 5},
}


def job(run=None, optimizer=None, **rest):
    return launch.job_text(
        mode="train",
        run={"steps": STEPS, "global_batch": 8, "micro_batches": 4, **(run or {})},
        optimizer={**OPTIMIZER, **(optimizer or {})},
        **rest,
    )


class TrainParity(unittest.TestCase):
    reference = {}

    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def single(self, **kinds):
        """The losses of one process, without recompute, ZeRO or schedule: the curve to follow."""
        key = repr(sorted(kinds.items(), key=str))
        if key not in self.reference:
            report, _ = self.folder.report(0, job(**kinds), "--mesh=1")
            self.reference[key] = report["losses"]
        return self.reference[key]

    def follows(self, mesh, run=None, tolerance=TOLERANCE, **kinds):
        expected = self.single(**kinds)
        processes = 1
        for part in mesh.split(","):
            processes *= int(part.partition("=")[2])
        with self.subTest(mesh=mesh, run=run, **kinds):
            report, _ = self.folder.report(processes, job(run=run, **kinds), f"--mesh={mesh}")
            self.assertEqual(len(report["losses"]), STEPS)
            worst = max(abs(a - b) / abs(b) for a, b in zip(report["losses"], expected))
            self.assertLess(worst, tolerance, f"{report['losses']} against {expected}")
            return report

    def test_models_learn(self):
        for less, kinds in ((1.5, {}), (1.2, {"model": launch.LLAMA})):
            with self.subTest(**kinds):
                report, _ = self.folder.report(0, job(run={"steps": LEARNING_STEPS}, **kinds), "--mesh=1")
                losses = report["losses"]
                self.assertGreater(losses[0], 5.4)
                self.assertLess(losses[-1], losses[0] - less)

    def test_meshes(self):
        for mesh in ("dp=2", "pp=2", "tp=2", "pp=4", "dp=2,pp=2", "pp=2,tp=2", "dp=2,pp=2,tp=2"):
            self.follows(mesh)

    def test_zero_stages(self):
        whole = None
        for dp in (2, 4):
            for stage in (0, 1, 2, 3):
                report = self.follows(f"dp={dp}", {"zero_stage": stage})
                if report is None:
                    continue
                rank = report["ranks"][0]
                if dp == 2 and stage == 0:
                    whole = rank
                self.assertEqual(rank["parameter_bytes"], whole["parameter_bytes"] // (dp if stage == 3 else 1))
                self.assertEqual(rank["optimizer_bytes"], whole["optimizer_bytes"] // (dp if stage >= 1 else 1))

    def test_zero_beside_tensor_and_pipeline_parallel(self):
        for stage in (1, 2, 3):
            self.follows("dp=2,pp=2", {"zero_stage": stage})
            self.follows("dp=2,tp=2", {"zero_stage": stage, "sequence_parallel": stage == 2})

    def test_schedules(self):
        for stages in (2, 4):
            for schedule in ("gpipe", "1f1b", "zb_h1", "zb_h2"):
                self.follows(f"pp={stages}", {"schedule": schedule})
        for stages in (2, 4):
            self.follows(f"pp={stages}", {"schedule": "interleaved", "chunks": 2}, model={"layers": 8})

    def test_recompute_and_sequence_parallel(self):
        for recompute in ("full", "selective"):
            self.follows("dp=1", {"recompute": recompute})
            self.follows("pp=2", {"recompute": recompute, "schedule": "zb_h1"})
        for sequence_parallel in (True, False):
            self.follows("tp=2", {"recompute": "full", "sequence_parallel": sequence_parallel})
        self.follows("tp=2", {"sequence_parallel": True})
        self.follows("pp=2,tp=2", {"sequence_parallel": True, "recompute": "selective"})

    def test_dropout_draws_the_same_masks(self):
        model = {"dropout": 0.2}
        for mesh, run in (
            ("dp=2", None),
            ("tp=2", {"sequence_parallel": True}),
            ("pp=2", {"schedule": "zb_h1"}),
            ("pp=2", {"recompute": "full"}),
        ):
            self.follows(mesh, run, model=model)

    def test_optimizers(self):
        for optimizer in ({"kind": "sgd", "lr": 0.1}, {"kind": "momentum", "lr": 0.02, "nesterov": True}):
            self.follows("dp=2,pp=2", {"zero_stage": 1}, optimizer=optimizer)

    def test_llama(self):
        for mesh in ("dp=2", "pp=2", "tp=2", "dp=2,pp=2,tp=2"):
            self.follows(mesh, model=launch.LLAMA)
        for mesh, run in (
            ("dp=2,tp=2", {"zero_stage": 3, "sequence_parallel": True}),
            ("pp=2,tp=2", {"recompute": "selective", "sequence_parallel": True, "schedule": "zb_h1"}),
            ("dp=2,pp=2", {"recompute": "full", "zero_stage": 2, "schedule": "interleaved", "chunks": 2}),
        ):
            self.follows(mesh, run, model=launch.LLAMA)
        losses = self.single(model=launch.LLAMA)
        report, _ = self.folder.report(
            2, job(run={"dtype": "bfloat16"}, model=launch.LLAMA), "--mesh=tp=2", "--quiet"
        )
        worst = max(abs(a - b) / abs(b) for a, b in zip(report["losses"], losses))
        self.assertLess(worst, 0.05, f"{report['losses']} against {losses}")

    def test_llama_example_is_a_job(self):
        example = (launch.SOURCE_DIR / "examples/llama_train.yaml").read_text()
        for key, value in {"seq_len": 32, "d_model": 48, "ffn": 64, "steps": 3}.items():
            self.assertEqual(example.count(f" {key}: "), 1)
            example = example.replace(f" {key}: ", f" {key}: {value} # ")
        given, outcome = self.folder.report(8, example)
        self.assertIn("mesh dp=2 pp=2 tp=2 · 8 processes · llama", outcome.output)
        expected, _ = self.folder.report(0, example)
        for loss, wanted in zip(given["losses"], expected["losses"], strict=True):
            self.assertLess(abs(loss - wanted), TOLERANCE * wanted)

    def test_sixteen_bits_stay_near(self):
        full = self.single()
        for dtype, mesh in (("bfloat16", "dp=1"), ("bfloat16", "pp=2,tp=2"), ("float16", "dp=2")):
            report, _ = self.folder.report(
                {"dp=1": 1, "dp=2": 2}.get(mesh, 4), job(run={"dtype": dtype}), f"--mesh={mesh}"
            )
            worst = max(abs(a - b) / abs(b) for a, b in zip(report["losses"], full))
            self.assertLess(worst, 0.05, f"{dtype} on {mesh}: {report['losses']} against {full}")


if __name__ == "__main__":
    os.chdir(launch.SOURCE_DIR)
    unittest.main(verbosity=2)
