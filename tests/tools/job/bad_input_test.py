"""Failures end the job: one clear message, a status that is not 0, in time, under mpirun."""

import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

import launch


class BadInput(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def job(self, text=None):
        return self.folder.write("job.yaml", launch.job_text() if text is None else text)

    def pipe(self):
        """No process writes to it: a reader waits for ever."""
        path = pathlib.Path(self.folder.name) / "pipe"
        os.mkfifo(path)
        return path

    def check(self, outcome, message, status=2):
        self.assertEqual(outcome.status, status, outcome.output)
        self.assertEqual(outcome.count(message), 1, f"wanted once: {message}\ngot:\n{outcome.output}")

    def test_what_is_wrong_before_the_start_is_said_once(self):
        job = self.job()
        cases = [
            ([], "the subcommand is missing; use one of run, supervise, export, data, "),
            (["rnu", job], "unknown subcommand 'rnu', did you mean 'run'?"),
            (["--versoin"], "unknown flag '--versoin', did you mean '--version'?"),
            (["run"], "autophi run expects one job file, got 0"),
            (["run", job, "another.yaml"], "autophi run expects one job file, got 2 (another.yaml)"),
            (["run", job, "--reprot=x"], "unknown flag --reprot, did you mean 'report'?"),
            (["run", job, "--deadline_s=soon"], "--deadline_s expects a value of type double, got 'soon'"),
            (["run", job, "--deadline_s=0"], "--deadline_s expects seconds, more than 0"),
            (["run", job, "--tf32"], "--tf32 requires place: gpu, and "),
            (["run", job, "--nographs"], "--nographs requires place: gpu, and "),
            (["run", job, "--nographs", "--check=ops"], "--graphs requires captured steps; --explain and --check "),
            (["run", job, "--inject_error=1"], "--inject_error expects RANK:STEP"),
            (["run", job, "--report=/nonexistent/x"], "cannot write the report '/nonexistent/x'"),
            (["run", "missing.yaml"], "cannot read job file 'missing.yaml': No such file"),
            (["run", "/dev/zero"], "cannot read job file '/dev/zero': it is no ordinary file"),
            (["run", self.pipe()], "pipe': it is no ordinary file"),
            (["run", job, "--mesh=3x1x1"], "--mesh: the mesh dp=3 pp=1 tp=1 has 3 ranks, but"),
        ]
        for args, message in cases:
            for processes in (0, 2):
                with self.subTest(args=args, processes=processes):
                    self.check(launch.run(processes, *args), message)

    @unittest.skipIf(shutil.which("nvidia-smi"), "this machine may have a GPU: tools/gpu_check is for it")
    def test_a_gpu_that_is_not_there_is_said_once(self):
        outcome = launch.run(2, "run", self.job(launch.job_text(place="gpu")))
        self.assertEqual(outcome.status, 2, outcome.output)
        self.assertEqual(outcome.count("key 'place': "), 1, outcome.output)
        self.assertRegex(outcome.output, "no NVIDIA driver is available|this build has no CUDA")
        self.assertRegex(outcome.output, "`place: cpu`")

    def test_what_is_wrong_in_the_file_is_said_once(self):
        cases = [
            (launch.job_text(model={"layer": 2}), "key 'model.layer': there is no such key, did you mean 'layers'?"),
            (launch.job_text(model={"layers": "two"}), "key 'model.layers': must be an integer; got 'two'."),
            (launch.job_text(model={"heads": 5}), "key 'model.heads': 5 heads do not divide d_model 32"),
            (launch.job_text(run={"micro_batches": 3}), "key 'run.micro_batches': 3 micro-batches do not divide"),
            (launch.job_text(mesh={"shape": [2, 2, 1]}), "the mesh dp=2 pp=2 tp=1 has 4 ranks, but 2 processes are"),
            (launch.job_text(model={"layers": 1}, mesh={"shape": [2], "dims": ["pp"]}), "1 layers are fewer than the 2"),
            (launch.job_text(data={"paths": ["nowhere"]}), "key 'data.paths': no file or folder 'nowhere'"),
            (launch.job_text(data={"paths": [""]}), "key 'data.paths': a path is empty; use a file or folder"),
            (launch.job_text(ops=[str(self.pipe())]), "key 'ops': there is no operator library '"),
            (launch.job_text(memory={"device": "8MiB", "host": "64MiB", "disk": "/nonexistent"}), "key 'memory.disk': '/nonexistent' is not a folder"),
            (launch.job_text(memory={"device": "8MiB", "host": "64MiB", "disk": "/proc"}), "key 'memory.disk': "),
            (launch.job_text(model={"seq_len": 10000000}), "too few for windows of seq_len 10000000 + 1"),
            (launch.job_text(run={"tf32": True}), "key 'run.tf32': applies only to a job with place: gpu, and this job has place: cpu"),
            (launch.job_text(run={"graphs": False}), "key 'run.graphs': applies only to a job with place: gpu, and this job has place: cpu"),
            (launch.job_text(place="tpu"), "key 'place': must be one of "),
            ("model: {layers: 2", "not valid YAML"),
        ]
        for text, message in cases:
            with self.subTest(message=message):
                outcome = launch.run(2, "run", self.job(text))
                self.check(outcome, message)
                self.assertEqual(outcome.count("job.yaml:"), 1, outcome.output)

    def test_help_and_version_are_said_once(self):
        for args, text in ((["--help"], "autophi run JOB.yaml"), (["--version"], "autophi 0."),
                           (["run", "--help"], "--deadline_s=60")):
            for processes in (0, 2):
                self.check(launch.run(processes, *args), text, status=0)


class Failures(unittest.TestCase):
    """A rank that fails ends the job, whatever the others are doing."""

    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def job(self, steps):
        return self.folder.write("job.yaml", launch.job_text(run={"steps": steps}))

    def test_a_rank_that_throws_ends_the_job(self):
        for mesh, rank, stage in (("1x2x1", 1, 1), ("1x2x1", 0, 0), ("1x1x2", 1, 0)):
            with self.subTest(mesh=mesh, rank=rank):
                outcome = launch.run(2, "run", self.job(3), f"--mesh={mesh}", f"--inject_error={rank}:2", limit_s=30)
                self.assertNotEqual(outcome.status, 0)
                self.assertEqual(outcome.count(f"rank {rank}: this failure is requested"), 1, outcome.output)
                self.assertEqual(outcome.count(f"at rank {rank} of 2, step 2, stage {stage}"), 1, outcome.output)

    def test_an_error_of_all_ranks_is_said_once(self):
        outcome = launch.run(2, "run", self.job(3), "--mesh=dp=2", "--inject_error=-1:1", limit_s=30)
        self.assertNotEqual(outcome.status, 0)
        self.assertEqual(outcome.count("this failure is requested"), 1, outcome.output)

    def test_a_rank_that_hangs_is_found_within_the_deadline(self):
        for mesh in ("1x2x1", "2x1x1"):
            with self.subTest(mesh=mesh):
                began = time.monotonic()
                outcome = launch.run(
                    2, "run", self.job(3), f"--mesh={mesh}", "--inject_hang=1:2", "--deadline_s=3", limit_s=40
                )
                self.assertLess(time.monotonic() - began, 25)
                self.assertNotEqual(outcome.status, 0)
                self.assertEqual(outcome.count("Timed out after 3"), 1, outcome.output)
                self.assertIn("rank 1", outcome.output)

    def test_a_rank_that_never_comes_is_named(self):
        command = launch.command(1, "run", self.job(1)) + [":", "-n", "1", "sleep", "1000"]
        environment = {**launch.environment(), "AUTOPHI_START_DEADLINE_S": "3"}
        outcome = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=60, cwd=launch.SOURCE_DIR, check=False
        )
        self.assertNotEqual(outcome.returncode, 0)
        self.assertIn("rank 0: not all ranks of the job have started within 3 s", outcome.stderr)
        self.assertIn("not started: 1 of these ranks: 1", outcome.stderr)

    def test_calls_compared_before_they_run_agree(self):
        outcome = launch.run(4, "run", self.job(2), "--mesh=2x2x1", "--strict_collectives", limit_s=60)
        self.assertEqual(outcome.status, 0, outcome.output)

    def test_a_rank_that_is_killed_ends_the_job(self):
        process = launch.start(2, "run", self.job(1000000), "--mesh=pp=2")
        for line in process.stdout:
            if "step " in line:
                break
        os.kill(self.pid_of_rank(process.pid, 1), signal.SIGKILL)
        outcome = launch.finish(process, limit_s=30)
        self.assertNotEqual(outcome.status, 0)
        self.assertEqual(outcome.count("signal 9"), 1, outcome.output)

    @staticmethod
    def pid_of_rank(launcher, rank):
        for children in pathlib.Path(f"/proc/{launcher}/task").glob("*/children"):
            for pid in children.read_text().split():
                if f"OMPI_COMM_WORLD_RANK={rank}\0" in pathlib.Path(f"/proc/{pid}/environ").read_text():
                    return int(pid)
        raise AssertionError(f"mpirun has no rank {rank}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
