"""Dry runs: one process reports the counts of any rank of a real run, and allocates no tensor bytes."""

import os
import time
import unittest

import launch

MESHES = ["2x1x1", "1x2x1", "1x1x2", "2x2x1", "1x2x2", "2x1x2", "2x2x2", "1x4x1"]
ALIKE = [
    "rank", "stage", "ops_launched", "ops_clipped", "reshard_steps", "bytes_sent", "bytes_received",
    "parameter_bytes", "gradient_bytes", "optimizer_bytes", "parameter_peak_bytes", "collectives",
]  # fmt: skip
LARGE = {"vocab": 512, "d_model": 64, "layers": 32, "heads": 8}
LARGE_MESH = {"shape": [128, 16, 8], "dims": ["dp", "pp", "tp"]}


def num_ranks(mesh):
    dp, pp, tp = (int(n) for n in mesh.split("x"))
    return dp * pp * tp


class DryRun(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def play(self, text, world_size, rank, *flags):
        report, outcome = self.folder.report(
            0, text, "--dry_run", f"--world_size={world_size}", f"--rank={rank}", *flags
        )
        self.assertTrue(report["dry_run"])
        self.assertEqual(report["world_size"], world_size)
        self.assertEqual(report["losses"], [])
        self.assertEqual(len(report["ranks"]), 1)
        self.assertEqual(report["ranks"][0]["peak_tensor_bytes"], 0)
        return report["ranks"][0], outcome

    def compare(self, text, meshes):
        for mesh in meshes:
            n = num_ranks(mesh)
            real, _ = self.folder.report(n, text, f"--mesh={mesh}")
            for rank in range(n):
                with self.subTest(mesh=mesh, rank=rank):
                    dry, _ = self.play(text, n, rank, f"--mesh={mesh}")
                    wanted = real["ranks"][rank]
                    self.assertEqual({key: dry[key] for key in ALIKE}, {key: wanted[key] for key in ALIKE})
                    self.assertEqual(dry["planned_peak_bytes"], wanted["peak_tensor_bytes"])
                    self.assertEqual(sum(dry["held_at_peak"].values()), dry["planned_peak_bytes"])

    def test_forward_counts_what_a_real_run_does(self):
        self.compare(launch.job_text(run={"steps": 1}), MESHES)

    def test_training_counts_what_a_real_run_does(self):
        self.compare(launch.job_text(run={"steps": 1}, mode="train"), MESHES)

    def test_splitting_further_and_recompute_too(self):
        for run in (
            {"sequence_parallel": True, "recompute": "full"},
            {"zero_stage": 3, "schedule": "zb_h1"},
            {"zero_stage": 2, "dtype": "bfloat16", "recompute": "selective"},
            {"zero_stage": 1, "schedule": "interleaved", "chunks": 2},
        ):
            with self.subTest(**run):
                self.compare(launch.job_text(run={"steps": 1, **run}, mode="train"), ["2x2x2"])

    def test_sizes_that_do_not_divide(self):
        model = {"vocab": 257, "seq_len": 33, "layers": 5, "d_model": 36}
        self.compare(launch.job_text(model=model, run={"steps": 1, "global_batch": 6}, mode="train"), ["2x2x2"])

    def test_llama(self):
        for run, meshes in (
            ({}, ["2x2x2", "1x1x2"]),
            ({"zero_stage": 1, "dtype": "bfloat16", "sequence_parallel": True}, ["2x2x2"]),
            ({"zero_stage": 3, "recompute": "full", "schedule": "interleaved", "chunks": 2}, ["2x2x1"]),
        ):
            with self.subTest(**run):
                self.compare(launch.job_text(model=launch.LLAMA, run={"steps": 1, **run}, mode="train"), meshes)
        self.compare(launch.job_text(model=launch.LLAMA, run={"steps": 1}), ["1x2x2"])

    def test_example_of_405_billion_parameters(self):
        example = launch.SOURCE_DIR / "examples/llama_405b.yaml"
        for rank in (0, 77, 16383):
            with self.subTest(rank=rank):
                own, outcome = self.play(example.read_text(), 16384, rank)
                self.assertIn("llama 406B parameters", outcome.output)
                d, kv, ffn, vocab = 16384, 8 * 128, 53248, 128256
                stage = rank // 8 % 16
                matrices = (7 if stage > 13 else 8) * (2 * d * d + 2 * d * kv + 3 * d * ffn)
                norms = (7 if stage > 13 else 8) * 2 * d
                if stage in (0, 15):
                    matrices += vocab * d
                if stage == 15:
                    norms += d
                elements = matrices // 8 + norms
                self.assertEqual(own["stage"], stage)
                self.assertEqual(own["parameter_bytes"], 2 * elements)
                self.assertEqual(own["gradient_bytes"], 2 * elements)
                self.assertEqual(own["optimizer_bytes"], 12 * elements // 128)
                self.assertGreater(own["planned_peak_bytes"], 4 * elements + 12 * elements // 128)

    def test_any_rank_of_16384_in_seconds(self):
        run = {"global_batch": 128 * 32, "micro_batches": 32}
        text = launch.job_text(model=LARGE, run=run, mesh=LARGE_MESH, mode="train")
        seen = []
        for rank in (0, 7777, 16383):
            begin = time.monotonic()
            own, outcome = self.play(text, 16384, rank)
            self.assertLess(time.monotonic() - begin, 60)
            self.assertIn(f"dry run of rank {rank} of 16384", outcome.output)
            self.assertEqual(own["rank"], rank)
            self.assertEqual(own["stage"], rank // 8 % 16)
            self.assertGreater(own["planned_peak_bytes"], own["parameter_bytes"])
            self.assertGreater(own["collectives"]["send_recv"]["messages"], 0)
            seen.append(own["parameter_bytes"])
        layer = (65 * 3 * 64 + 64 * 64 + 65 * 4 * 64 + 4 * 64 * 64) // 8 + 2 * 64 + 4 * 64
        self.assertEqual(seen[1], 2 * layer * 4)

    def test_what_cannot_be_played_is_said(self):
        job = self.folder.write("job.yaml", launch.job_text(mesh={"shape": [2, 2, 2]}))
        generate = self.folder.write("generate.yaml", launch.job_text(mode="generate"))
        dry = ["--dry_run", "--world_size=8"]
        cases = [
            ([job, *dry, "--rank=8"], "--dry_run simulates one rank: pass --rank=R, 0 to 7; got 8."),
            ([job, *dry], "--dry_run simulates one rank: pass --rank=R, 0 to 7; got -1."),
            ([job, "--dry_run", "--rank=0"], "--dry_run simulates a rank of a job: pass --world_size=N"),
            ([job, "--world_size=8"], "--world_size requires --dry_run"),
            ([job, "--rank=1"], "--rank requires --dry_run"),
            ([job, "--dry_run", "--world_size=6", "--rank=0"], "--world_size=6: the mesh dp=2 pp=2 tp=2 has 8 ranks"),
            ([job, *dry, "--rank=0", "--mesh=4"], "--world_size=8: the mesh dp=4 has 4 ranks"),
            ([job, *dry, "--rank=0", "--trace=t.json"], "--trace requires a real run; a dry run has no times"),
            ([job, *dry, "--rank=0", "--metrics=m"], "--metrics requires a real run"),
            ([job, *dry, "--rank=0", "--status_file=s"], "--status_file requires a real run"),
            ([job, *dry, "--rank=0", "--deadline_s=3"], "--deadline_s requires a real run"),
            ([job, *dry, "--rank=0", "--nodeferred_transfer"], "--deferred_transfer requires a real run"),
            ([generate, *dry, "--rank=0"], "mode generate has none"),
        ]
        for args, message in cases:
            with self.subTest(args=args[1:]):
                outcome = launch.run(0, "run", *args)
                self.assertEqual(outcome.status, 2, outcome.output)
                self.assertEqual(outcome.count(message), 1, outcome.output)
        outcome = launch.run(2, "run", job, *dry, "--rank=0")
        self.assertEqual(outcome.status, 2, outcome.output)
        self.assertIn("--dry_run is one process and needs no mpirun, but 2 are started.", outcome.output)


if __name__ == "__main__":
    os.chdir(launch.SOURCE_DIR)
    unittest.main(verbosity=2)
