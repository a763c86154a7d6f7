"""System resources of jobs: processes no larger than their shards, files of which no other bytes are read."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import launch
import measure
from measure import MIB

# No tensor of it that has a sequence in it, and no matrix, is smaller than 512 MiB.
HUGE = {"vocab": 16384, "seq_len": 8192, "d_model": 16384, "layers": 3, "heads": 128}
PROCESS = 112 * MIB  # the program, its libraries, and what it knows of a job
VARIES = 16 * MIB  # how much more a run that swaps may take than another: 139 to 155 MiB were seen, and why is not known
SAMPLED = 64  # pages that ranks compare before they begin
ADDRESSES = 256 * MIB  # the same with what nobody touches


class Process(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return str(pathlib.Path(self.folder.name) / name)

    def job(self, **keys):
        return self.folder.write("job.yaml", launch.job_text(**keys))

    def measure(self, processes, *args, **limits):
        measured = measure.run(processes, *args, **limits)
        self.assertEqual(measured.status, 0, measured.output)
        return measured

    def test_a_dry_run_holds_and_asks_for_no_tensor(self):
        example = launch.SOURCE_DIR / "examples/llama_405b.yaml"
        huge = self.job(model=HUGE, mode="train", run={"recompute": "full", "micro_batches": 2})
        forward = self.folder.write("forward.yaml", launch.job_text(model=HUGE))
        for job, world_size, rank in ((example, 16384, 77), (huge, 1, 0), (forward, 1, 0)):
            with self.subTest(job=job):
                flags = ["--dry_run", f"--world_size={world_size}", f"--rank={rank}"]
                measured = self.measure(0, "run", job, *flags, address_space=ADDRESSES)
                self.assertLess(measured.resident_peak, PROCESS)

    def test_an_export_holds_and_asks_for_no_tensor(self):
        for mode in ("forward", "train"):
            with self.subTest(mode=mode):
                out = "--out=" + self.path("step.mlir")
                measured = self.measure(0, "export", self.job(model=HUGE, mode=mode), out, address_space=ADDRESSES)
                self.assertLess(measured.resident_peak, PROCESS)
                self.assertIn("8192x16384xf32", pathlib.Path(self.path("step.mlir")).read_text())

    def test_a_real_run_of_it_would_be_seen(self):
        one_matrix = {**HUGE, "layers": 1, "seq_len": 8, "vocab": 256}
        outcome = measure.run(0, "run", self.job(model=one_matrix), address_space=ADDRESSES)
        self.assertNotEqual(outcome.status, 0)
        self.assertRegex(outcome.output, "cannot allocate [0-9]+ bytes on cpu|bad_alloc")

    def test_too_few_addresses_are_an_error_wherever_they_end(self):
        """A job of some 60 MB in limits from too little for its first tensor on: never a signal, nor a bare word."""
        model = {"seq_len": 64, "d_model": 256, "layers": 4, "heads": 4}
        job = self.job(model=model, mode="train")
        ended = []
        loads = next(limit for limit in range(80, 400, 4)
                     if measure.run(0, "--version", address_space=limit * MIB).status == 0)
        for limit in range(loads, loads + 160, 4):
            outcome = measure.run(0, "run", job, address_space=limit * MIB)
            self.assertIn(outcome.status, (0, 1), f"{limit} MiB: {outcome.output}")
            ended.append(outcome.status)
            if outcome.status == 0:
                continue
            self.assertRegex(outcome.output, "cannot allocate ([0-9]+ bytes|its workspace)|no more memory")
            self.assertIn("ulimit -v", outcome.output)
        self.assertEqual((ended[0], ended[-1]), (1, 0))

    def test_threads_that_find_no_addresses_keep_no_command_from_its_end(self):
        """OpenBLAS starts them with the program, and each allocates 128 MiB."""
        job = self.job(mode="train")
        for limit in (150, 210, 300, 500):
            for words in (("--version",), ("run", job)):
                with self.subTest(limit=limit, words=words):
                    outcome = measure.run(0, *words, address_space=limit * MIB, threads=4)
                    self.assertIn(outcome.status, (0, 1), outcome.output)
                    if limit < 300 and os.cpu_count() > 1:
                        self.assertRegex(outcome.output, "no room for the [0-9]+ threads of OpenBLAS")
                    if outcome.status == 1:
                        self.assertRegex(outcome.output, "(?s)(cannot allocate|no more memory).*"
                                                         "ulimit -v")

    def test_a_rank_without_addresses_ends_the_job_with_its_message(self):
        """With less than some 200 MiB OpenMPI finds none, and reports it."""
        model = {"seq_len": 64, "d_model": 256, "layers": 4, "heads": 4}
        rank = [launch.AUTOPHI, "run", self.job(model=model, mode="train")]
        said = []
        for limit in range(180, 340, 40):
            limited = ["sh", "-c", f"ulimit -v {limit * 1024}; exec \"$@\"", "sh", *rank]
            words = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "1", *rank, ":", "-n", "1", *limited]
            done = subprocess.run(words, cwd=launch.SOURCE_DIR, env=launch.environment(), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=200,
                                  check=False)  # without memory, OpenMPI may print what is no text
            self.assertTrue(done.returncode == 0 or done.stdout, limit)
            if re.search("rank 1.*(cannot allocate|no [0-9]+ bytes|no more memory)", done.stdout):
                self.assertNotEqual(done.returncode, 0)
                said.append(limit)
        self.assertTrue(said)

    def test_a_text_that_finds_no_addresses_is_no_fault_of_the_job(self):
        text = measure.make_sparse(self.path("text"), 1 << 34)
        job = self.job(data={"paths": [text]}, mode="train")
        outcome = measure.run(0, "run", job, address_space=1024 * MIB)
        self.assertEqual(outcome.status, 1, outcome.output)
        self.assertIn(f"'{text}' cannot be read: there is no more memory.", outcome.output)
        self.assertIn("ulimit -v", outcome.output)

    def test_a_dry_run_reads_nothing_of_the_text(self):
        text = measure.make_sparse(self.path("text"), 1 << 30)
        job = self.job(data={"paths": [text]}, mode="train")
        self.measure(0, "run", job, "--dry_run", "--world_size=1", "--rank=0")
        self.assertEqual(measure.bytes_in_memory(text), 0)

    def test_a_run_reads_its_batches_of_the_text(self):
        text = measure.make_sparse(self.path("text"), 1 << 30)
        self.measure(2, "run", self.job(data={"paths": [text]}, mode="train"), "--mesh=2x1x1")
        windows = launch.RUN["steps"] * launch.RUN["global_batch"]
        read = measure.bytes_in_memory(text)
        self.assertGreater(read, 0)
        self.assertLessEqual(read, (windows * 2 + SAMPLED) * measure.PAGE)

    def test_a_rank_makes_its_part_of_the_model(self):
        """400 MB of parameters: on no rank of four is half of them, not even for a moment."""
        model = {"seq_len": 8, "d_model": 1024, "layers": 8, "heads": 8}
        parameters = 4 * 8 * 12 * 1024 * 1024
        job = self.job(model=model, run={"steps": 1, "global_batch": 1, "micro_batches": 1})
        measured = self.measure(4, "run", job, "--mesh=1x2x2")
        self.assertGreater(measured.resident_peak, parameters // 4)
        self.assertLess(measured.resident_peak, parameters // 2)

    def test_a_job_within_limits_is_no_larger_than_they_are(self):
        """300 MB of parameters, gradients and states in 24 MiB of device and 16 of host."""
        model = {"seq_len": 32, "d_model": 512, "layers": 6, "heads": 8}
        device, host = 24 * MIB, 16 * MIB
        with tempfile.TemporaryDirectory() as disk:
            job = self.job(
                model=model,
                mode="train",
                run={"steps": 1, "global_batch": 1, "micro_batches": 1, "save": self.path("weights")},
                memory={"device": device, "host": host, "disk": disk},
            )
            peaks = []
            while not peaks or (peaks[-1] >= PROCESS + device + host and len(peaks) < 3):
                peaks.append(self.measure(0, "run", job).resident_peak)
                self.assertEqual(os.listdir(disk), [])
        self.assertLess(min(peaks), PROCESS + device + host)
        self.assertLess(max(peaks), PROCESS + device + host + VARIES)


if __name__ == "__main__":
    unittest.main(verbosity=2)
