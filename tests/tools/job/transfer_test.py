"""What a job's ranks read of its files, deferred and eager: other counts, the same losses."""

import pathlib
import unittest

import launch

STEPS, MICRO_BATCHES = launch.RUN["steps"], launch.RUN["micro_batches"]
BATCH_BYTES = launch.RUN["global_batch"] * launch.MODEL["seq_len"]  # a byte of text is a token


class Transfers(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def test_ranks_read_their_part_of_the_text(self):
        text = launch.job_text(mode="train")
        deferred, _ = self.folder.report(4, text, "--mesh=2x2x1")
        eager, _ = self.folder.report(4, text, "--mesh=2x2x1", "--nodeferred_transfer")
        self.assertEqual(deferred["losses"], eager["losses"])
        batches = STEPS * MICRO_BATCHES
        for rank in deferred["ranks"]:  # the first stage needs tokens, the last one labels
            self.assertEqual(
                rank["transfers"]["disk_to_device"], {"count": batches, "bytes": STEPS * BATCH_BYTES // 2}
            )
            self.assertNotIn("host_to_device", rank["transfers"])
        named = 2  # tokens and labels
        for rank in eager["ranks"]:
            self.assertEqual(
                rank["transfers"]["disk_to_device"], {"count": named * batches, "bytes": named * STEPS * BATCH_BYTES}
            )

    def test_ranks_read_and_write_their_part_of_the_weights(self):
        weights = str(pathlib.Path(self.folder.name) / "weights")
        trained, _ = self.folder.report(2, launch.job_text(mode="train", run={"save": weights}), "--mesh=1x1x2")
        saved = sum(rank["transfers"]["device_to_disk"]["bytes"] for rank in trained["ranks"])
        self.assertEqual(saved, 4 * trained["parameters"])
        text = launch.job_text(mode="generate", weights=weights, generate={"prompt": "int ", "tokens": 3})
        deferred, _ = self.folder.report(2, text, "--mesh=1x1x2")
        eager, _ = self.folder.report(2, text, "--mesh=1x1x2", "--nodeferred_transfer")
        self.assertEqual(deferred["text"], eager["text"])
        for some, whole in zip(deferred["ranks"], eager["ranks"]):
            self.assertEqual(some["transfers"]["disk_to_device"]["bytes"], some["parameter_bytes"])
            self.assertEqual(whole["transfers"]["disk_to_device"]["bytes"], 4 * eager["parameters"])
            self.assertLess(some["parameter_bytes"], 4 * eager["parameters"])


if __name__ == "__main__":
    unittest.main()
