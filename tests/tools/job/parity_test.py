"""One program, many meshes: a job has the same losses on every mesh, and no rank allocates more than its shards."""

import itertools
import os
import unittest

import launch

TOLERANCE = 1e-5  # relative, float32

MESHES = ["2x1x1", "1x2x1", "1x1x2", "2x2x1", "1x2x2", "2x1x2", "2x2x2", "1x4x1"]


def extents(mesh):
    return [int(n) for n in mesh.split("x")]


def share(n, parts, index):
    """The size of the index-th of `parts` balanced shards of n."""
    return n // parts + (1 if index < n % parts else 0)


def parameter_bytes(mesh, rank, model, element=4):
    """Bytes of the shards that a rank owns."""
    dp, pp, tp = mesh
    stage, t = rank // tp % pp, rank % tp
    assert rank // (tp * pp) < dp
    d, hidden = model["d_model"], 4 * model["d_model"]
    columns = lambda n: share(n, tp, t)
    layer = (
        (d + 1) * columns(3 * d)  # into heads
        + columns(d) * d + d  # out of heads
        + (d + 1) * columns(hidden)
        + columns(hidden) * d + d
        + 4 * d  # two norms
    )
    count = share(model["layers"], pp, stage) * layer
    if stage == 0:
        count += share(model["vocab"], tp, t) * d + model["seq_len"] * d
    if stage == pp - 1:
        count += 2 * d + d * columns(model["vocab"])
    return count * element


class Parity(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def check_losses(self, losses, expected, tolerance=TOLERANCE):
        self.assertEqual(len(losses), len(expected))
        for loss, wanted in zip(losses, expected):
            self.assertLess(abs(loss - wanted), tolerance * abs(wanted), f"{losses} against {expected}")

    def check_ranks(self, report, mesh, model):
        ranks = report["ranks"]
        self.assertEqual([r["rank"] for r in ranks], list(range(len(ranks))))
        self.assertEqual(report["world_size"], len(ranks))
        for rank in ranks:
            with self.subTest(rank=rank["rank"]):
                self.assertEqual(rank["stage"], rank["rank"] // mesh[2] % mesh[1])
                self.assertGreater(rank["ops_launched"], 0)
                self.assertEqual(rank["ops_clipped"] > 0, mesh[1] > 1)
                self.assertEqual(rank["parameter_bytes"], parameter_bytes(mesh, rank["rank"], model))
                # Nothing but the shards was ever there while the parameters were made.
                self.assertEqual(rank["parameter_peak_bytes"], rank["parameter_bytes"])
                self.assertGreater(rank["peak_tensor_bytes"], rank["parameter_bytes"])
                if len(ranks) > 1:
                    self.assertGreater(rank["reshard_steps"], 0)
        sent = sum(r["bytes_sent"] for r in ranks)
        self.assertEqual(sent, sum(r["bytes_received"] for r in ranks))
        self.assertEqual(sent > 0, len(ranks) > 1)

    def compare(self, text, model, meshes, *flags, tolerance=TOLERANCE):
        expected, _ = self.folder.report(0, text, "--mesh=1")
        for mesh in meshes:
            with self.subTest(mesh=mesh):
                processes = 1
                for n in extents(mesh):
                    processes *= n
                report, _ = self.folder.report(processes, text, f"--mesh={mesh}", *flags)
                self.assertEqual(report["text_fingerprint"], expected["text_fingerprint"])
                self.check_losses(report["losses"], expected["losses"], tolerance)
                self.check_ranks(report, extents(mesh), model)
        return expected

    def test_every_mesh_gives_the_loss_of_one_process(self):
        expected = self.compare(launch.job_text(), launch.MODEL, ["1x1x1", *MESHES])
        # An untrained model knows nothing: the loss is near log(256).
        for loss in expected["losses"]:
            self.assertAlmostEqual(loss, 5.545, delta=0.1)

    def test_sequence_parallel_too(self):
        text = launch.job_text(run={"sequence_parallel": True})
        self.compare(text, launch.MODEL, ["1x1x2", "1x2x2", "2x1x2", "2x2x2", "1x1x4"])

    def test_sizes_that_do_not_divide(self):
        # 3 rows over dp=2, 5 layers over pp=2, 257 classes and 33 positions over tp=2.
        model = {**launch.MODEL, "vocab": 257, "seq_len": 33, "layers": 5, "d_model": 36}
        for sequence_parallel in (False, True):
            run = {"global_batch": 6, "sequence_parallel": sequence_parallel}
            self.compare(launch.job_text(model=model, run=run), model, ["2x1x1", "1x2x2", "2x2x2"])

    def test_heads_that_tp_does_not_divide(self):
        model = {**launch.MODEL, "d_model": 36, "heads": 3}
        self.compare(launch.job_text(model=model), model, ["1x1x2", "1x1x4"])

    def test_fewer_rows_than_ranks(self):
        # One row over dp=2: a rank whose shard is empty.
        text = launch.job_text(run={"global_batch": 2, "micro_batches": 2})
        self.compare(text, launch.MODEL, ["2x1x1", "2x2x1"])

    def test_dropout_draws_the_same_on_every_mesh(self):
        text = launch.job_text(model={"dropout": 0.3})
        expected = self.compare(text, launch.MODEL, ["2x1x1", "1x2x2", "2x1x2"])
        without, _ = self.folder.report(0, launch.job_text(), "--mesh=1")
        self.assertNotEqual(expected["losses"], without["losses"])

    def test_bfloat16_is_close(self):
        text = launch.job_text(run={"dtype": "bfloat16"})
        full, _ = self.folder.report(0, launch.job_text(), "--mesh=1")
        for processes, mesh in ((1, "1"), (4, "1x2x2")):
            report, _ = self.folder.report(processes, text, f"--mesh={mesh}")
            self.check_losses(report["losses"], full["losses"], 1e-2)
        self.assertEqual(report["ranks"][0]["parameter_bytes"], parameter_bytes([1, 2, 2], 0, launch.MODEL, element=2))

    def test_mesh_dims_in_any_order_or_left_out(self):
        expected, _ = self.folder.report(0, launch.job_text())
        for dims in itertools.permutations(["dp", "pp", "tp"], 2):
            mesh = {"shape": [2, 2], "dims": list(dims)}
            report, _ = self.folder.report(4, launch.job_text(mesh=mesh))
            self.check_losses(report["losses"], expected["losses"])

    def test_what_a_person_sees(self):
        report, outcome = self.folder.report(2, launch.job_text(), "--mesh=pp=2")
        self.assertIn("mesh pp=2 · 2 processes · gpt", outcome.output)
        self.assertIn("step 2/2  loss ", outcome.output)
        self.assertIn("rank  stage    launched", outcome.output)
        self.assertNotIn("\r", outcome.output)
        self.assertGreater(report["tokens_per_s"], 0)
        _, outcome = self.folder.report(2, launch.job_text(), "--mesh=pp=2", "--quiet")
        self.assertEqual(outcome.output, "")

    def test_one_process_says_that_it_leaves_the_files_mesh(self):
        mesh = {"shape": [2, 2, 2]}
        for processes in (0, 1):
            report, outcome = self.folder.report(processes, launch.job_text(mesh=mesh))
            self.assertEqual(outcome.count("note: one process, so the job runs on a mesh of 1"), 1)
            self.assertEqual(report["world_size"], 1)


if __name__ == "__main__":
    os.chdir(launch.SOURCE_DIR)
    unittest.main(verbosity=2)
