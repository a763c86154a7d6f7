"""Jobs hold exactly the predicted bytes: with --device_limit they run, and with one byte less they are refused."""

import os
import unittest

import launch
import memory_jobs

# Jobs of memory_jobs.py that differ in mesh, schedule, ZeRO stage, recompute, dtype and capture.
SEEDS = range(12)


class DeviceLimit(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def test_random_jobs_hold_what_is_predicted(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                self.assertEqual(memory_jobs.check(seed, self.folder), [])

    def test_the_error_names_what_is_held(self):
        job = self.folder.write("job.yaml", launch.job_text(mode="train"))
        outcome = launch.run(0, "run", job, "--device_limit=200000")
        self.assertNotEqual(outcome.status, 0)
        self.assertRegex(
            outcome.output,
            r"\d+ bytes of \w+ do not fit on the device: it is limited to 200000 bytes, and tensors of rank 0 "
            r"occupy \d+: .*weights \d+",
        )

    def test_what_is_no_limit_is_refused(self):
        job = self.folder.write("job.yaml", launch.job_text(mode="train"))
        limited = self.folder.write("limited.yaml", launch.job_text(mode="train", memory={"device": "1MiB", "host": "8MiB"}))
        dry = ["--dry_run", "--world_size=1", "--rank=0"]
        for args, message in (
            ([job, "--device_limit=many"], "--device_limit=many: 'many' is not a number of bytes above 0."),
            ([job, "--device_limit=0"], "'0' is not a number of bytes above 0."),
            ([job, "--device_limit=5,"], "'' is not a number of bytes above 0."),
            ([job, "--device_limit=5,6"], "--device_limit has 2 numbers, but the job has 1 rank"),
            ([limited, "--device_limit=5000000"], "both limit the device"),
            ([job, "--device_limit=5", *dry], "--device_limit requires a real run"),
        ):
            with self.subTest(args=args[1:]):
                outcome = launch.run(0, "run", *args)
                self.assertEqual(outcome.status, 2, outcome.output)
                self.assertEqual(outcome.count(message), 1, outcome.output)


if __name__ == "__main__":
    os.chdir(launch.SOURCE_DIR)
    unittest.main(verbosity=2)
