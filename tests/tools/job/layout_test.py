"""Jobs with an uneven cut and with rows of their own follow one process; what does not fit is one error."""

import json
import os
import pathlib
import unittest

import launch

STEPS = 5
TOLERANCE = 1e-5  # relative, at each step, float32
OPTIMIZER = {"kind": "adamw", "lr": 3e-3, "grad_clip": 1.0}
# Rows that no layer of the library would choose.
ROWS = {
    "parameters": {
        "layer*.up.weight": {"tp": "R"},
        "layer1.qkv.*": {"tp": "R"},
        "layer2.down.weight": {"tp": "S1"},
        "layer*.norm_mlp.scale": {"tp": "S0"},
        "head": {"tp": "S0"},
    },
    "inputs": {"layer3": {"tp": "S1"}, "layer2.mlp": {"tp": "S2"}},
    "outputs": {"layer*.up": {"tp": "R"}, "layer0": {"tp": "S1"}},
}


def job(run=None, **rest):
    run = {"steps": STEPS, "global_batch": 8, "micro_batches": 4, **(run or {})}
    keys = {"mode": "train", "optimizer": OPTIMIZER, **rest}
    if keys["mode"] != "train":
        del keys["optimizer"]
    return launch.job_text(run=run, **keys)


class Layout(unittest.TestCase):
    reference = {}

    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return str(pathlib.Path(self.folder.name) / name)

    def single(self, **kinds):
        """The losses of one process, without cut and rows."""
        key = repr(sorted(kinds.items(), key=str))
        if key not in self.reference:
            report, _ = self.folder.report(0, job(**kinds), "--mesh=1")
            self.reference[key] = report["losses"]
        return self.reference[key]

    def assert_follows(self, losses, expected):
        worst = max(abs(a - b) / abs(b) for a, b in zip(losses, expected, strict=True))
        self.assertLess(worst, TOLERANCE, f"{losses} against {expected}")

    def follows(self, mesh, run=None, keys=None, **kinds):
        processes = 1
        for part in mesh.split(","):
            processes *= int(part.partition("=")[2])
        with self.subTest(mesh=mesh, run=run, keys=keys, **kinds):
            text = job(run=run, **keys, **kinds)
            report, _ = self.folder.report(processes, text, f"--mesh={mesh}")
            self.assert_follows(report["losses"], self.single(**kinds))
            return report

    def test_an_uneven_cut_has_the_losses_of_one_process(self):
        for schedule in ("gpipe", "1f1b", "zb_h1", "zb_h2"):
            self.follows("pp=2", {"schedule": schedule}, {"pipeline": {"cut": [1, 3]}})
        self.follows("pp=3", {"recompute": "full"}, {"pipeline": {"cut": [1, 2, 1]}})
        self.follows("dp=2,pp=2", {"zero_stage": 3}, {"pipeline": {"cut": [3, 1]}})
        self.follows("pp=2,tp=2", {"sequence_parallel": True}, {"pipeline": {"cut": [3, 1]}})
        self.follows("pp=2", {"capture": True}, {"pipeline": {"cut": [3, 1]}})
        self.follows("pp=2", {}, {"pipeline": {"cut": [1, 3]}}, mode="forward")

    def test_chunks_of_an_uneven_cut(self):
        interleaved = {"schedule": "interleaved", "chunks": 2}
        report = self.follows("pp=2", interleaved, {"pipeline": {"cut": [1, 3, 2, 1]}}, model={"layers": 7})
        even, _ = self.folder.report(2, job(run=interleaved, model={"layers": 7}), "--mesh=pp=2")
        # Stage 0 has chunks 0 and 2: 3 layers instead of 4.
        for one, other, sign in zip(report["ranks"], even["ranks"], (-1, 1)):
            self.assertGreater(sign * (one["parameter_bytes"] - other["parameter_bytes"]), 4 * 12 * 32 * 32)

    def test_rows_have_the_losses_of_one_process(self):
        for mesh, run in (
            ("tp=2", {}),
            ("tp=2", {"sequence_parallel": True}),
            ("tp=2", {"capture": True}),
            ("dp=2,tp=2", {"zero_stage": 2}),
            ("pp=2,tp=2", {"recompute": "full"}),
        ):
            self.follows(mesh, run, {"placements": ROWS})
        rows = {"parameters": {"layer*.up.weight": {"dp": "S0"}, "token_embedding": {"dp": "S1"}}}
        self.follows("dp=2", {}, {"placements": rows})
        self.follows("tp=2", {}, {"placements": {"outputs": {"layer*.down": {"tp": "R"}}}}, model=launch.LLAMA)

    def test_rows_reach_the_tensors(self):
        plain, _ = self.folder.report(2, job(), "--mesh=tp=2")
        report, _ = self.folder.report(2, job(placements={"parameters": {"layer*.up.weight": {"tp": "R"}}}), "--mesh=tp=2")
        more = report["ranks"][0]["parameter_bytes"] - plain["ranks"][0]["parameter_bytes"]
        self.assertEqual(more, 4 * 4 * 32 * 128 // 2)  # half of each of 4 weights of float32
        # The last row that names a mesh dim decides.
        rows = [{"*.up.weight": {"tp": "R"}}, {"layer?.up.weight": {"tp": "S1"}}]
        report, outcome = self.folder.report(2, job(placements={"parameters": rows}), "--mesh=tp=2")
        self.assertIn(" · 2 rows of placements\n", outcome.output)
        self.assertEqual(report["ranks"][0]["parameter_bytes"], plain["ranks"][0]["parameter_bytes"])

    def test_dry_runs_and_exports_have_them(self):
        text = job(pipeline={"cut": [1, 3]}, placements=ROWS, mesh={"shape": [2, 2], "dims": ["pp", "tp"]})
        real, _ = self.folder.report(4, text)
        for rank in (0, 3):
            dry, _ = self.folder.report(0, text, "--dry_run", "--world_size=4", f"--rank={rank}")
            self.assertEqual(dry["ranks"][0]["parameter_bytes"], real["ranks"][rank]["parameter_bytes"])
        file = self.folder.write("job.yaml", text)
        first = launch.run(0, "export", file)
        self.assertEqual(first.status, 0, first.output)
        plain = json.loads(text)
        del plain["placements"]
        second = launch.run(0, "export", self.folder.write("plain.yaml", json.dumps(plain)))
        self.assertNotEqual(first.output, second.output)

    def test_caches_of_a_row(self):
        text = {"prompt": "ab", "tokens": 6, "temperature": 0.0}
        generated = []
        for placements in ({}, {"caches": {"layer*": {"tp": "R"}}}, {"caches": {"*": {"tp": "S1"}}}):
            file = self.folder.write("job.yaml", launch.job_text(mode="generate", generate=text, placements=placements))
            outcome = launch.run(2, "run", file, "--mesh=tp=2", "--quiet")
            self.assertEqual(outcome.status, 0, outcome.output)
            generated.append(outcome.output)
        self.assertEqual(generated[1:], generated[:1] * 2)

    def test_a_training_resumes_with_another_cut_and_other_rows(self):
        expected = self.single()
        saves = {"checkpoint": {"dir": self.path("ckpt"), "every": 2}}
        first = {"pipeline": {"cut": [1, 3]}, "placements": {"parameters": {"layer*.up.weight": {"tp": "R"}}}}
        report, _ = self.folder.report(4, job(run={"steps": 2}, **saves, **first), "--mesh=pp=2,tp=2")
        self.assert_follows(report["losses"], expected[:2])
        second = {"pipeline": {"cut": [3, 1]}, "placements": {"parameters": {"head": {"tp": "R"}}}}
        report, outcome = self.folder.report(4, job(**saves, **second), "--mesh=pp=2,tp=2", "--resume")
        self.assert_follows(report["losses"], expected[2:])
        self.assertNotIn("pipeline.cut was", outcome.output)

    def test_what_does_not_fit_is_one_error(self):
        tp = {"shape": [2], "dims": ["tp"]}
        parameters = lambda rows: job(mesh=tp, placements={"parameters": rows})
        cases = [
            (job(mesh={"shape": [2], "dims": ["pp"]}, pipeline={"cut": [4]}),
             "key 'pipeline.cut': has 1 number, and the job has 2 chunks"),
            (parameters({"layer*.upp.weight": {"tp": "R"}}),
             "key 'placements.parameters.layer*.upp.weight': the layout's parameters 'layer*.upp.weight' match no name "
             "in the model; nearest: layer0.up.weight"),
            (parameters({"head": {"tp": "R"}, "layer*.up.bias": {"tp": "S1"}}),
             "key 'placements.parameters.layer*.up.bias': the layout sets parameter 'layer0.up.bias' of shape [128] to S1"),
            (parameters({"head": {"tp": "P(sum)"}}), "key 'placements.parameters.head': the layout sets parameter 'head' of"),
            (job(mesh=tp, placements={"inputs": {"layer0": {"tp": "R"}, "layer*.up": {"tp": "S3"}}}),
             "key 'placements.inputs.layer*.up': "),
            (job(mesh=tp, placements={"caches": {"layer0": {"tp": "S4"}}}),
             "key 'placements.caches.layer0': the layout sets the caches of 'layer0' to S4"),
            (job(mesh={"shape": [2], "dims": ["dp"]}, placements={"parameters": {"head": {"tp": "R"}}}),
             "key 'placements.parameters.head': the mesh dp=2 has no mesh dim 'tp'"),
        ]
        for text, message in cases:
            with self.subTest(message=message):
                file = self.folder.write("job.yaml", text)
                outcome = launch.run(2, "run", file)
                self.assertEqual(outcome.status, 2, outcome.output)
                self.assertEqual(outcome.count(message), 1, outcome.output)
                lines = text.splitlines()
                name = message[message.index("'") + 1:message.index("':")].split(".", 2)[-1]
                line = next(i for i, each in enumerate(lines, 1) if each.strip().startswith(f'"{name}":'))
                self.assertIn(f"job.yaml:{line}: key", outcome.output)
                self.assertIn(message, launch.run(0, "export", file).output)


if __name__ == "__main__":
    os.chdir(launch.SOURCE_DIR)
    unittest.main(verbosity=2)
