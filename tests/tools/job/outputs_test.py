"""What a job writes is written or told: reports, traces, metrics, standard output, exported steps."""

import json
import os
import pathlib
import resource
import signal
import stat
import subprocess
import tempfile
import threading
import unittest

import launch

MODEL = {"seq_len": 8, "d_model": 16, "layers": 2, "heads": 2}
RUN = {"steps": 3, "global_batch": 4, "micro_batches": 2}
DEVICES = tempfile.TemporaryDirectory()


def device(name, minor):
    """A device of the tests' own where they could replace the system's: a bug must not cost that."""
    if os.geteuid() != 0:
        return f"/dev/{name}"
    path = os.path.join(DEVICES.name, name)
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        os.close(os.open(path, os.O_WRONLY))
    except OSError as error:
        raise unittest.SkipTest(f"no devices can be made here: {error}") from error
    return path


def setUpModule():
    global NULL, FULL  # pylint: disable=global-statement
    NULL, FULL = device("null", 3), device("full", 7)


NULL = FULL = ""


class Outputs(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)
        self.job = self.folder.write("job.yaml", launch.job_text(model=MODEL, run=RUN))
        self.prompt = self.folder.write(
            "generate.yaml", launch.job_text(mode="generate", model=MODEL, generate={"tokens": 40})
        )

    def path(self, name):
        return pathlib.Path(self.folder.name) / name

    def run_job(self, *flags, status=0, processes=0):
        outcome = launch.run(processes, "run", self.job, *flags)
        self.assertEqual(outcome.status, status, outcome.output)
        return outcome

    def start(self, *words, **options):
        """Without mpirun, with streams of its own."""
        return subprocess.Popen(
            launch.command(0, *words), cwd=launch.SOURCE_DIR, env=launch.environment(), stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, **options
        )

    def report_in(self, path):
        return json.loads(pathlib.Path(path).read_text())

    def left_over(self):
        return [name for name in os.listdir(self.folder.name) if name.endswith(".part")]

    def test_devices_stay_devices(self):
        flags = [f"--{name}={NULL}" for name in ("report", "trace", "metrics")]
        for processes in (0, 2):
            self.run_job(*flags, processes=processes)
            self.assertTrue(stat.S_ISCHR(os.stat(NULL).st_mode))
        self.assertEqual([name for name in os.listdir(os.path.dirname(NULL)) if name.startswith("null.")], [])

    def test_a_failed_rank_leaves_no_trace_beside_a_device(self):
        outcome = launch.run(2, "run", self.job, f"--trace={NULL}", "--inject_error=1:2")
        self.assertNotEqual(outcome.status, 0)
        self.assertEqual([name for name in os.listdir(os.path.dirname(NULL)) if name.startswith("null.")], [])

    def test_a_link_stays_and_its_file_is_replaced(self):
        for name in ("report", "trace"):
            file, link, dangling = (self.path(f"{name}{kind}") for kind in (".json", ".link", ".dangling"))
            file.write_text("old")
            link.symlink_to(file.name)
            dangling.symlink_to(f"{name}.new")
            self.run_job(f"--{name}={link}")
            self.assertTrue(link.is_symlink())
            self.report_in(file)
            self.run_job(f"--{name}={dangling}")
            self.assertTrue(dangling.is_symlink())
            self.report_in(self.path(f"{name}.new"))
        self.assertEqual(self.left_over(), [])

    def test_a_pipe_is_written_through(self):
        for name in ("report", "trace", "metrics"):
            with self.subTest(output=name):
                pipe = self.path(f"{name}.pipe")
                os.mkfifo(pipe)
                read = []
                reader = threading.Thread(target=lambda p=pipe, r=read: r.append(p.read_text()), daemon=True)
                reader.start()
                self.run_job(f"--{name}={pipe}")
                reader.join(timeout=60)
                self.assertFalse(reader.is_alive(), "nobody wrote to the pipe")
                self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))
                self.assertTrue(json.loads(read[0].splitlines()[0] if name == "metrics" else read[0]))

    def test_a_pipe_that_nobody_reads_is_told(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        outcome = self.run_job(f"--report={pipe}", status=1)
        self.assertEqual(outcome.count(f"cannot write the report '{pipe}': nobody reads it."), 1, outcome.output)

    def test_a_report_to_standard_output_is_put_behind_the_rest(self):
        for target in ("/dev/stdout", self.path("all.txt")):
            with open(self.path("all.txt"), "w", encoding="utf-8") as out:
                process = self.start("run", self.job, f"--report={target}", stdout=out)
                process.communicate()
            self.assertEqual(process.returncode, 0)
            text = self.path("all.txt").read_text()
            self.assertIn("step 3/3", text)
            self.assertEqual(json.loads(text[text.index("{\n") :])["mode"], "forward")

    def test_rights_are_those_that_the_mask_leaves(self):
        before = os.umask(0o027)
        try:
            self.run_job(f"--report={self.path('r.json')}", f"--metrics={self.path('m.jsonl')}")
        finally:
            os.umask(before)
        for name in ("r.json", "m.jsonl"):
            self.assertEqual(stat.S_IMODE(os.stat(self.path(name)).st_mode), 0o640)

    def test_a_file_of_the_old_temporary_name_is_not_touched(self):
        other = self.path("other")
        other.write_text("precious")
        self.path("r.json.part").symlink_to(other)
        self.run_job(f"--report={self.path('r.json')}")
        self.assertEqual(other.read_text(), "precious")

    def test_a_full_disk_is_told_of_each_output(self):
        for name in ("report", "trace", "metrics"):
            for processes in (0, 2):
                with self.subTest(output=name, processes=processes):
                    outcome = self.run_job(f"--{name}={FULL}", status=1, processes=processes)
                    self.assertIn(f"step {RUN['steps']}/{RUN['steps']}", outcome.output)
                    self.assertIn(f"the {name} '{FULL}'", outcome.output)
                    self.assertIn("No space left on device", outcome.output)

    def test_metrics_that_cannot_be_written_do_not_end_the_job(self):
        outcome = self.run_job(f"--metrics={FULL}", status=1)
        self.assertEqual(outcome.count("the job goes on"), 1, outcome.output)
        self.assertEqual(outcome.count(f"the metrics '{FULL}' lack 3 of 3 steps"), 1, outcome.output)

    def test_a_failed_trace_does_not_drop_the_report(self):
        report = self.path("report.json")
        self.run_job(f"--trace={FULL}", f"--report={report}", status=1, processes=2)
        self.assertEqual(len(self.report_in(report)["losses"]), RUN["steps"])

    def test_what_cannot_be_written_is_found_before_the_first_step(self):
        for flag in ("report", "trace", "metrics"):
            for target in ("/nonexistent/x", self.folder.name):
                outcome = self.run_job(f"--{flag}={target}", status=2)
                self.assertEqual(outcome.count(f"cannot write the {flag} '{target}'"), 1, outcome.output)
                self.assertEqual(outcome.count("step "), 0, outcome.output)

    def saving_to(self, folder):
        job = self.folder.write("save.yaml", launch.job_text(model=MODEL, run={**RUN, "save": str(folder)}))
        outcome = launch.run(2, "run", job, "--mesh=dp=2")
        self.assertNotEqual(outcome.status, 0)
        self.assertEqual(outcome.count("step 1/"), 0, outcome.output)
        return outcome.output

    def test_a_folder_that_cannot_be_saved_to_is_found_before_the_first_step(self):
        self.path("file").write_text("")
        self.assertIn("cannot be created: Not a directory", self.saving_to(self.path("file/below")))
        self.assertIn("key 'run.save': '/proc/1/", self.saving_to("/proc/1"))

    def test_too_little_room_is_found_before_the_first_step(self):
        if os.geteuid() != 0:
            self.skipTest("mounts a file system")
        small = self.path("small")
        small.mkdir()
        words = ["mount", "-t", "tmpfs", "-o", "size=8k", "none", str(small)]
        if subprocess.run(words, capture_output=True, check=False).returncode != 0:
            self.skipTest("mounting is not allowed here")
        self.addCleanup(subprocess.run, ["umount", str(small)], check=True)
        self.assertRegex(self.saving_to(small), r"a save needs .* in '.*', which has \S+ KiB free")

    def test_a_limit_of_file_sizes_is_an_error_and_no_signal(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        metrics, report = self.path("m.jsonl"), self.path("r.json")
        process = self.start("run", self.job, f"--metrics={metrics}", f"--report={report}", stdout=subprocess.PIPE,
                             preexec_fn=limit)
        out, err = process.communicate()
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("step 3/3", out)
        self.assertIn("File too large", err)
        self.assertFalse(report.exists())
        self.assertEqual(metrics.read_text(), "")  # no half of a line
        self.assertEqual(self.left_over(), [])

    def with_full_output(self, *words):
        with open(FULL, "w", encoding="utf-8") as full:
            process = self.start(*words, stdout=full)
            _, err = process.communicate()
        return process.returncode, err

    def test_progress_on_a_full_disk_does_not_end_the_job(self):
        report = self.path("report.json")
        status, err = self.with_full_output("run", self.job, f"--report={report}")
        self.assertEqual(status, 1, err)
        self.assertEqual(err.count("No space left on device"), 2, err)
        self.assertEqual(len(self.report_in(report)["losses"]), RUN["steps"])

    def test_what_was_asked_for_must_arrive(self):
        for words in (
            ["run", self.prompt, "--quiet"],
            ["export", self.job],
            ["--version"],
            ["schedule", "--kind=1f1b", "--stages=2", "--micro_batches=4"],
        ):
            with self.subTest(words=words):
                status, err = self.with_full_output(*words)
                self.assertEqual(status, 1, err)
                self.assertIn("standard output", err)

    def test_a_reader_that_leaves_does_not_end_the_job(self):
        report = self.path("report.json")
        job = self.folder.write("long.yaml", launch.job_text(model=MODEL, run={**RUN, "steps": 200}))
        process = self.start("run", job, f"--report={report}", stdout=subprocess.PIPE,
                             preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(), 0, err)
        self.assertEqual(err.count("nobody reads it any more"), 1, err)
        self.assertEqual(len(self.report_in(report)["losses"]), 200)

    def test_closed_streams_do_not_become_files(self):
        weights = self.path("weights")
        job = self.folder.write("save.yaml", launch.job_text(model=MODEL, run={**RUN, "save": str(weights)}))
        words = launch.command(0, "run", job)
        done = subprocess.run(["bash", "-c", 'exec "$@" >&- 2>&- <&-', "bash", *words], cwd=launch.SOURCE_DIR,
                              env=launch.environment(), check=False)
        self.assertEqual(done.returncode, 0)
        launch.run(0, "run", self.folder.write("again.yaml", launch.job_text(model=MODEL, run=RUN, weights=str(weights))))
        self.assertNotIn(b"step", b"".join(file.read_bytes() for file in weights.iterdir()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
