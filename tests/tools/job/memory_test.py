"""Jobs under memory limits: the numbers of the job without them, no tier above its limit, no files left."""

import json
import os
import pathlib
import re
import signal
import tempfile
import time
import unittest

import launch

MODEL = {"seq_len": 64, "d_model": 128, "layers": 4, "heads": 4}
TRAIN = {"mode": "train", "model": MODEL}
KIB = 1024
MIB = 1024 * KIB


def limits(device, host, disk=None):
    return {"memory": {"device": device, "host": host, **({"disk": disk} if disk else {})}}


class Memory(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)
        self.disk = tempfile.TemporaryDirectory()
        self.addCleanup(self.disk.cleanup)

    def within(self, report, device, host, uses_disk):
        for rank in report["ranks"]:
            self.assertLessEqual(rank["peak_tensor_bytes"], device)
            self.assertLessEqual(rank["swapping"]["host_peak_bytes"], host)
            self.assertEqual(rank["swapping"]["device_limit_bytes"], device)
            self.assertEqual(rank["swapping"]["disk_peak_bytes"] > 0, uses_disk)

    def same_losses(self, processes, mesh, device, host, disk=None, run=None):
        steps = {"steps": 3, "global_batch": 8, "micro_batches": 4, **(run or {})}
        free, _ = self.folder.report(processes, launch.job_text(run=steps, **TRAIN), f"--mesh={mesh}")
        text = launch.job_text(run=steps, **TRAIN, **limits(device, host, disk))
        bound, _ = self.folder.report(processes, text, f"--mesh={mesh}")
        self.assertEqual(bound["losses"], free["losses"])
        self.within(bound, device, host, disk is not None)
        return free, bound

    def test_states_of_four_times_the_device(self):
        """Parameters, gradients and AdamW's states are four times the device's limit."""
        device = 3300 * KIB
        free, bound = self.same_losses(0, "1", device, 64 * MIB)
        rank = bound["ranks"][0]
        states = rank["parameter_bytes"] + rank["gradient_bytes"] + rank["optimizer_bytes"]
        self.assertGreaterEqual(states, 4 * device)
        self.assertGreater(free["ranks"][0]["peak_tensor_bytes"], 4 * device)
        self.assertGreater(rank["transfers"]["host_to_device"]["bytes"], states)

    def test_a_machine_times_the_transfers(self):
        """What is evicted depends on how long steps take, and losses do not."""
        transfers, losses = [], []
        for rate in ("1e3", "1e15"):
            machine = pathlib.Path(self.disk.name) / f"machine_{rate}.yaml"
            machine.write_text(f"families: {{float32: {{matmul: {{by: flops, points: [[1, {rate}]]}}, bytes: {{points: [[1, 1e9]]}}}}}}\n")
            text = launch.job_text(run={"steps": 2, "global_batch": 8, "micro_batches": 4}, **TRAIN, **limits(3300 * KIB, 64 * MIB))
            report, _ = self.folder.report(0, text, "--mesh=1", f"--machine={machine}")
            transfers.append(report["ranks"][0]["transfers"])
            losses.append(report["losses"])
        self.assertEqual(losses[0], losses[1])
        self.assertNotEqual(transfers[0], transfers[1])

    def test_a_layer_that_does_not_fit(self):
        """A layer's parameters, gradients and moments are 3 MiB: operator by operator they come and go."""
        self.same_losses(0, "1", 1500 * KIB, 64 * MIB)

    def test_optimizer_states_on_disk(self):
        _, bound = self.same_losses(0, "1", 5 * MIB, 3 * MIB, self.disk.name)
        rank = bound["ranks"][0]
        self.assertGreater(rank["swapping"]["disk_peak_bytes"], rank["optimizer_bytes"] // 2)
        self.assertEqual(os.listdir(self.disk.name), [])

    def test_data_tensor_and_pipeline_parallel(self):
        self.same_losses(2, "dp=2", 4 * MIB, 2 * MIB, self.disk.name, run={"zero_stage": 2})
        self.same_losses(2, "tp=2", 3 * MIB, 32 * MIB)
        self.same_losses(4, "dp=2,pp=2", 4 * MIB, 32 * MIB)

    def test_serving_with_weights_larger_than_the_limit(self):
        generate = {"prompt": "template <", "tokens": 16, "seed": 3}
        job = {"mode": "generate", "model": MODEL, "generate": generate}
        free, _ = self.folder.report(0, launch.job_text(**job))
        device = 1500 * KIB
        for host, disk in ((64 * MIB, None), (1 * MIB, self.disk.name)):
            bound, _ = self.folder.report(0, launch.job_text(**job, **limits(device, host, disk)))
            self.assertEqual(bound["text"], free["text"])
            self.within(bound, device, host, disk is not None)
            self.assertGreater(bound["ranks"][0]["parameter_bytes"], 2 * device)

    def test_weights_are_saved_from_where_they_lie(self):
        saved = [str(pathlib.Path(self.folder.name) / name) for name in ("free", "bound")]
        steps = {"steps": 2, "global_batch": 8, "micro_batches": 4}
        self.folder.report(0, launch.job_text(run={**steps, "save": saved[0]}, **TRAIN))
        text = launch.job_text(run={**steps, "save": saved[1]}, **TRAIN, **limits(5 * MIB, 64 * MIB))
        bound, _ = self.folder.report(0, text)
        self.within(bound, 5 * MIB, 64 * MIB, uses_disk=False)
        texts = []
        for folder in saved:
            job = launch.job_text(mode="generate", model=MODEL, generate={"tokens": 12}, weights=folder)
            texts.append(self.folder.report(0, job)[0]["text"])
        self.assertEqual(texts[0], texts[1])

    def test_a_killed_job_leaves_no_file(self):
        run = {"steps": 1000, "global_batch": 8, "micro_batches": 4}
        text = launch.job_text(run=run, **TRAIN, **limits(5 * MIB, 3 * MIB, self.disk.name))
        metrics = pathlib.Path(self.folder.name) / "metrics.jsonl"
        process = launch.start(0, "run", self.folder.write("job.yaml", text), f"--metrics={metrics}")
        deadline = time.monotonic() + 60
        while not (metrics.exists() and metrics.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertTrue(metrics.exists() and metrics.stat().st_size, "no step was done in a minute")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assertEqual(os.listdir(self.disk.name), [])

    def refused(self, text, message):
        outcome = launch.run(0, "run", self.folder.write("job.yaml", text))
        self.assertNotEqual(outcome.status, 0)
        self.assertIn(message, outcome.output)

    def test_the_advised_limit_works_and_little_less_does_not(self):
        llama = {**MODEL, **launch.LLAMA}
        run = {"run": {"steps": 2, "global_batch": 4, "micro_batches": 2}}
        generate = {"mode": "generate", "model": MODEL, "generate": {"tokens": 8}}
        for name, processes, job, host, disk in (
            ("train", 0, {**TRAIN, **run}, 64 * MIB, None),
            ("from disk", 0, {**TRAIN, **run}, 1 * MIB, self.disk.name),
            ("host that does not hold the states", 0, {**TRAIN, **run}, 4 * MIB, None),
            ("llama", 0, {"mode": "train", "model": llama, **run}, 64 * MIB, None),
            ("forward", 0, {"model": MODEL, **run}, 64 * MIB, None),
            ("generate", 0, generate, 64 * MIB, None),
            ("pipeline", 2, {**TRAIN, **run}, 64 * MIB, None),
        ):
            with self.subTest(job=name):

                def tried(device, job=job, host=host, disk=disk, processes=processes):
                    file = self.folder.write("job.yaml", launch.job_text(**job, **limits(device, host, disk)))
                    return launch.run(processes, "run", file, *(["--mesh=pp=2"] if processes else []))

                advised = [int(n) for n in re.findall(r"works is (\d+) bytes", tried(100 * KIB).output)]
                self.assertTrue(advised)
                works = tried(max(advised))
                self.assertEqual(works.status, 0, works.output)
                self.assertNotEqual(tried(int(min(advised) * 0.95)).status, 0)

    def test_no_limit_is_the_default(self):
        """As docs/running.md has it, in every mode."""
        for mode in ({"mode": "train"}, {}, {"mode": "generate", "generate": {"tokens": 2}}):
            for memory in ({"device": 0}, {"device": 0, "host": 0, "disk": ""}, {"device": "0", "host": "0B"}):
                text = launch.job_text(model={"dropout": 0.1}, memory=memory, **mode)
                self.folder.report(0, text)

    def test_limits_that_are_too_small_say_what_would_do(self):
        self.refused(launch.job_text(**TRAIN, **limits(600 * KIB, 64 * MIB)), "The least device limit")
        self.refused(launch.job_text(**TRAIN, **limits(4 * MIB, 1 * MIB)), "Raise a limit")

    def test_sections_that_are_wrong_are_named(self):
        self.refused(launch.job_text(**TRAIN, memory={"device": "much"}), "key 'memory.device': must be a size")
        self.refused(launch.job_text(**TRAIN, memory={"host": "1GiB"}), "applies only to a job with a limit memory.device")
        dropout = {"mode": "train", "model": {**MODEL, "dropout": 0.1}}
        self.refused(launch.job_text(**dropout, **limits("4MiB", "64MiB")), "a captured step cannot draw dropout")
        self.refused(launch.job_text(run={"dtype": "bfloat16"}, **TRAIN, **limits("4MiB", "64MiB")), "in float32")

    def test_the_example(self):
        example = (launch.SOURCE_DIR / "examples/gpt_memory.yaml").read_text()
        job = self.folder.write("example.yaml", example)
        report = pathlib.Path(self.folder.name) / "example.json"
        outcome = launch.run(0, "run", job, f"--report={report}", limit_s=300)
        self.assertEqual(outcome.status, 0, outcome.output)
        rank = json.loads(report.read_text())["ranks"][0]
        self.assertLessEqual(rank["peak_tensor_bytes"], rank["swapping"]["device_limit_bytes"])
        self.assertGreater(rank["swapping"]["disk_peak_bytes"], 0)


if __name__ == "__main__":
    unittest.main()
