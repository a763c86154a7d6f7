"""Checkpoints of jobs: resuming from them on any mesh, signals, and changes of a job that are rejected."""

import json
import pathlib
import signal
import time
import unittest

import launch

STEPS = 6


class Resume(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return str(pathlib.Path(self.folder.name) / name)

    def job(self, steps=STEPS, checkpoint=None, run=None, model=None, **top):
        checkpoint = {"dir": self.path("ckpt"), "every": 3, **(checkpoint or {})}
        keys = {"optimizer": {"lr": 1e-2}, **top}
        run = {"steps": steps, "micro_batches": 4, "global_batch": 8, **(run or {})}
        return launch.job_text(mode="train", run=run, model=model, checkpoint=checkpoint, **keys)

    def report(self, processes, text, *flags):
        return self.folder.report(processes, text, *flags)

    def unbroken(self, processes, mesh, **job):
        """Losses of all steps, without checkpoints."""
        text = json.loads(self.job(**job))
        del text["checkpoint"]
        return self.report(processes, json.dumps(text), f"--mesh={mesh}")[0]["losses"]

    def test_on_the_same_mesh_the_bits_are_those_of_an_unbroken_run(self):
        for processes, mesh, keys in (
            (0, "1", {}),
            (2, "dp=2", {"run": {"zero_stage": 3}}),
            (4, "dp=2,pp=2", {"run": {"zero_stage": 1, "schedule": "zb_h1"}, "model": {"dropout": 0.2}}),
            (2, "tp=2", {"run": {"capture": True}}),
            (0, "1", {"memory": {"device": "1MiB", "host": "64MiB"}}),
            (2, "pp=2", {"run": {"dtype": "float16"}}),
        ):
            with self.subTest(mesh=mesh, keys=keys):
                job = {"checkpoint": {"dir": self.path(f"same-{mesh}-{len(str(keys))}")}, **keys}
                expected = self.unbroken(processes, mesh, **job)
                first, _ = self.report(processes, self.job(steps=3, **job), f"--mesh={mesh}")
                self.assertEqual(first["losses"], expected[:3])
                second, outcome = self.report(processes, self.job(**job), f"--mesh={mesh}", "--resume")
                self.assertEqual(second["losses"], expected[3:])
                self.assertEqual(second["first_step"], 4)
                self.assertIn("resuming after step 3 from", outcome.output)

    def test_any_mesh_goes_on_reading_its_part(self):
        expected = self.unbroken(0, "1")
        self.report(4, self.job(steps=3), "--mesh=dp=2,tp=2")
        whole = 3 * 4 * self.report(0, self.job(steps=3), "--mesh=1", "--resume")[0]["parameters"]
        for processes, mesh, keys in (
            (0, "1", {}),
            (4, "pp=4", {"run": {"schedule": "1f1b"}}),
            (2, "pp=2", {"run": {"schedule": "interleaved", "chunks": 2}}),
            (2, "dp=2", {"run": {"zero_stage": 3, "capture": True}}),
        ):
            with self.subTest(mesh=mesh):
                text = self.job(checkpoint={"every": 0}, **keys)
                report, _ = self.report(processes, text, f"--mesh={mesh}", "--resume")
                for a, b in zip(report["losses"], expected[3:], strict=True):
                    self.assertAlmostEqual(a, b, delta=2e-6 * b)
                read = sum(rank["checkpoint_bytes_read"] for rank in report["ranks"])
                self.assertLessEqual(read, 1.35 * whole)
                pathlib.Path(self.path("ckpt/step-00000006/model.safetensors.index.json")).unlink()

    def test_signals_save_and_stop(self):
        text = self.job(steps=100000, checkpoint={"every": 0})
        job = self.folder.write("job.yaml", text)
        metrics = pathlib.Path(self.path("metrics"))
        running = launch.start(2, "run", job, "--mesh=dp=2", f"--metrics={metrics}")
        self.await_steps(running, metrics, 3)
        running.send_signal(signal.SIGUSR1)  # mpirun passes it on
        self.await_file(running, "ckpt/step-*/model.safetensors.index.json")
        ranks = [int(child) for child in self.children(running.pid)]
        for rank in ranks[-1:]:
            launch.os.kill(rank, signal.SIGTERM)
        outcome = launch.finish(running, 60)
        self.assertNotEqual(outcome.status, 0)
        self.assertIn("stopped by signal 15 (Terminated) after step", outcome.output)
        last = max(int(path.name.removeprefix("step-")) for path in pathlib.Path(self.path("ckpt")).glob("step-*"))
        self.assertIn(f"after step {last};", outcome.output)
        self.assertEqual(last, len(metrics.read_text().splitlines()), "the last step is saved")
        report, _ = self.report(0, self.job(steps=last + 1), "--mesh=1", "--resume")
        self.assertEqual(report["first_step"], last + 1)

    def test_to_ask_for_a_save_never_ends_the_job(self):
        job = self.folder.write("job.yaml", self.job(steps=50, checkpoint={"every": 0}))
        running = launch.start(0, "run", job)
        self.await_true(running, lambda: not self.would_end_it(running))
        while running.poll() is None:
            running.send_signal(signal.SIGUSR1)
            time.sleep(0.001)
        outcome = launch.finish(running, 60)
        self.assertEqual(outcome.status, 0, outcome.output)
        plain = launch.start(0, "run", self.folder.write("plain.yaml", launch.job_text(run={"steps": 100000})))
        plain.stdout.readline()
        self.assertTrue(self.would_end_it(plain), "what nobody answers is not swallowed")
        plain.kill()
        plain.communicate()

    def would_end_it(self, running):
        status = pathlib.Path(f"/proc/{running.pid}/status").read_text()
        masks = [int(line.split()[1], 16) for line in status.splitlines() if line[:6] in ("SigIgn", "SigCgt")]
        return not any(mask >> (signal.SIGUSR1 - 1) & 1 for mask in masks)

    def children(self, process):
        return pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()

    def await_steps(self, running, metrics, steps):
        self.await_true(running, lambda: metrics.exists() and metrics.read_text().count("\n") >= steps)

    def await_file(self, running, pattern):
        self.await_true(running, lambda: any(pathlib.Path(self.folder.name).glob(pattern)))

    def await_true(self, running, condition):
        until = time.monotonic() + 60
        while not condition():
            if running.poll() is not None or time.monotonic() > until:
                running.kill()
                self.fail(f"the job's status is {running.returncode}; it said: {running.communicate()[0]}")
            time.sleep(0.02)

    def test_there_may_be_nothing_to_go_on_from(self):
        report, outcome = self.report(0, self.job(steps=2), "--mesh=1", "--resume")
        self.assertIn("nothing to resume", outcome.output)
        self.assertEqual(len(report["losses"]), 2)
        self.assertNotIn("first_step", report)

    def test_a_damaged_one_is_passed_over_and_told(self):
        self.report(0, self.job(checkpoint={"keep": 5}), "--mesh=1")
        file = pathlib.Path(self.path("ckpt/step-00000006/model.safetensors"))
        text = bytearray(file.read_bytes())
        text[-100] ^= 1
        file.write_bytes(text)
        report, outcome = self.report(0, self.job(), "--mesh=1", "--resume")
        self.assertEqual(report["first_step"], 4)
        self.assertIn("note: passed over", outcome.output)
        self.assertIn("step-00000006", outcome.output)

    def test_ranks_pass_over_together_what_one_of_them_finds_damaged(self):
        def flip(file):
            text = bytearray(file.read_bytes())
            text[-100] ^= 1
            file.write_bytes(text)

        def replace_by_pipe(file):
            file.unlink()
            launch.os.mkfifo(file)

        for mesh, keys, damage in (
            ("pp=2", {}, flip),
            ("tp=2", {}, replace_by_pipe),
            ("dp=2", {"run": {"zero_stage": 3}}, pathlib.Path.unlink),
            ("tp=2", {"memory": {"device": "1MiB", "host": "64MiB"}}, flip),
        ):
            with self.subTest(mesh=mesh, keys=keys):
                folder = self.path(f"damaged-{mesh}-{len(str(keys))}")
                job = {"checkpoint": {"dir": folder}, **keys}
                self.report(2, self.job(**job), f"--mesh={mesh}")
                damage(pathlib.Path(folder) / "step-00000006/model-00002-of-00002.safetensors")
                report, outcome = self.report(2, self.job(**job), f"--mesh={mesh}", "--resume", "--deadline_s=20")
                self.assertEqual(report["first_step"], 4)
                self.assertRegex(outcome.output, "note: passed over .*step-00000006")
                self.assertTrue((pathlib.Path(folder) / "step-00000006.damaged").exists())

    def test_another_model_is_refused_and_other_numbers_are_told(self):
        self.report(0, self.job(steps=3), "--mesh=1")
        job = self.folder.write("job.yaml", self.job(model={"heads": 8}))
        outcome = launch.run(0, "run", job, "--resume")
        self.assertNotEqual(outcome.status, 0)
        self.assertIn("model.heads was 4 and is 8", outcome.output)
        for processes, mesh in ((0, "1"), (2, "tp=2")):
            job = self.folder.write("job.yaml", self.job(model={"d_model": 64}))
            outcome = launch.run(processes, "run", job, f"--mesh={mesh}", "--resume")
            self.assertNotEqual(outcome.status, 0)
            self.assertIn("model.d_model was 32 and is 64", outcome.output)
            self.assertNotIn("should be", outcome.output, "the tensors' shapes follow from it")
            self.assertNotRegex(outcome.output, r"rank \d: rank \d:")
        _, outcome = self.report(0, self.job(optimizer={"lr": 5e-3}), "--mesh=1", "--resume")
        self.assertIn("note: optimizer.lr was 0.01 and is 0.005", outcome.output)

    def test_a_job_that_fails_says_how_to_go_on(self):
        for processes, mesh in ((0, "1"), (2, "dp=2")):
            with self.subTest(mesh=mesh):
                folder = self.path(f"failed-{processes}")
                file = self.folder.write("job.yaml", self.job(checkpoint={"dir": folder, "async": False}))
                outcome = launch.run(processes, "run", file, f"--mesh={mesh}", "--inject_error=0:5")
                self.assertNotEqual(outcome.status, 0)
                start = "mpirun -n 2 " if processes else ""
                way = f"autophi run {file} --mesh={mesh} --resume"
                self.assertIn(f"the newest checkpoint is {folder}/step-00000003; resume from it with: {start}{way}", outcome.output)
                outcome = launch.run(processes, "run", file, f"--mesh={mesh}", "--resume", "--inject_error=0:5")
                self.assertIn("resuming after step 3", outcome.output)
        outcome = launch.run(0, "run", self.folder.write("job.yaml", self.job()), "--inject_error=0:2")
        self.assertNotIn("newest checkpoint", outcome.output, "there is none yet")

    def test_a_last_checkpoint_that_fails_leaves_the_report(self):
        for processes, mesh in ((0, "1"), (2, "dp=2")):
            with self.subTest(mesh=mesh):
                folder = pathlib.Path(self.path(f"in-the-way-{processes}"))
                folder.mkdir()
                (folder / f"step-{STEPS:08}").write_text("no folder")
                file = self.folder.write("job.yaml", self.job(checkpoint={"dir": str(folder)}))
                report = pathlib.Path(self.path(f"report-{processes}"))
                outcome = launch.run(processes, "run", file, f"--mesh={mesh}", f"--report={report}")
                self.assertEqual(outcome.status, 1, outcome.output)
                self.assertRegex(outcome.output, f"autophi run: .*step-{STEPS:08}")
                self.assertEqual(len(json.loads(report.read_text())["losses"]), STEPS)

    def test_flags_and_keys_that_do_not_fit(self):
        text = json.loads(self.job())
        del text["checkpoint"]
        outcome = launch.run(0, "run", self.folder.write("job.yaml", json.dumps(text)), "--resume")
        self.assertEqual(outcome.status, 2)
        self.assertIn("sets no checkpoint folder; set checkpoint.dir", outcome.output)
        text["run"]["on_nonfinite"] = "rollback"
        outcome = launch.run(0, "run", self.folder.write("job.yaml", json.dumps(text)))
        self.assertEqual(outcome.status, 2)
        self.assertIn("there are no checkpoints to roll back to", outcome.output)

    def test_a_job_that_begins_does_not_mix_with_another(self):
        self.report(0, self.job(steps=3), "--mesh=1")
        outcome = launch.run(0, "run", self.folder.write("job.yaml", self.job()))
        self.assertNotEqual(outcome.status, 0)
        self.assertEqual(outcome.count("step 1/"), 0, outcome.output)
        self.assertIn("has checkpoints of another training run, the newest of step 3; resume from it (--resume", outcome.output)

    def test_a_loss_that_jumps_is_told(self):
        # Half a deviation above the mean of 64 losses: one of some steps is.
        for jump, told in ((0.5, True), (0, False)):
            with self.subTest(jump=jump):
                text = json.loads(self.job(steps=90, run={"loss_jump": jump}, optimizer={"lr": 1e-6}))
                del text["checkpoint"]
                _, outcome = self.report(0, json.dumps(text), "--mesh=1")
                self.assertEqual(outcome.count("standard deviations above those before it") > 0, told, outcome.output)

    def test_two_jobs_do_not_share_a_folder(self):
        job = self.folder.write("job.yaml", self.job(steps=100000))
        metrics = pathlib.Path(self.path("metrics"))
        running = launch.start(0, "run", job, f"--metrics={metrics}")
        try:
            self.await_steps(running, metrics, 1)
            outcome = launch.run(0, "run", job)
            self.assertNotEqual(outcome.status, 0)
            self.assertIn(str(running.pid), outcome.output)
        finally:
            running.kill()
            running.communicate()

    def test_numbers_that_are_not_finite_end_the_job(self):
        text = self.job(optimizer={"kind": "sgd", "lr": 1e5, "grad_clip": 0.0}, steps=50)
        for processes, mesh in ((0, "1"), (2, "tp=2")):
            with self.subTest(mesh=mesh):
                flags = (f"--mesh={mesh}", f"--report={self.path('report')}")
                outcome = launch.run(processes, "run", self.folder.write("job.yaml", text), *flags)
                self.assertNotEqual(outcome.status, 0)
                self.assertRegex(outcome.output, r"step \d+: the loss is \S+, the norm of its gradients")
                self.assertRegex(outcome.output, r"first, at rank \d: operator \w+: its output has a number that")


if __name__ == "__main__":
    unittest.main()
