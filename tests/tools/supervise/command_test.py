"""autophi supervise with mpirun: ranks that die, jobs that are stopped, machines that go."""

import os
import re
import signal
import subprocess
import unittest

from supervised import LIMIT_S, Supervised, await_true, launch, ranks_of

PARITY = 2e-6  # of losses on another mesh
LAUNCHER = """#!/bin/sh
# mpirun, on this machine whatever --host says.
while [ $# -gt 0 ]; do
  case "$1" in
    --host) echo "$2" >> {hosts}; shift 2 ;;
    */autophi) break ;;
    *) words="$words $1"; shift ;;
  esac
done
exec mpirun $words --oversubscribe --bind-to none "$@"
"""


class CommandLine(Supervised):
    def refused(self, *words):
        process = subprocess.run([launch.AUTOPHI, "supervise", *map(str, words)], cwd=launch.SOURCE_DIR, text=True,
                                 capture_output=True, timeout=LIMIT_S, env=launch.environment(), check=False)
        self.assertEqual(process.returncode, 2, process.stderr)
        self.assertEqual(process.stderr.count("\n"), 1, process.stderr)
        return process.stderr

    def test_what_is_wrong_is_said_before_anything_is_started(self):
        meshed = self.folder.write("meshed.yaml", self.job_text(4, mesh={"shape": [2, 2], "dims": ["dp", "pp"]}))
        elastic = self.folder.write("elastic.yaml", self.job_text(4, elastic={"dp": [3, 3]}))
        no_dp = self.folder.write("no_dp.yaml", self.job_text(4, elastic={"dp": [1, 2]}, mesh={"shape": [2], "dims": ["tp"]}))
        no_folder = self.folder.write("no_folder.yaml", launch.job_text(mode="train"))
        hosts = self.folder.write("hosts", "localhost slots=2\n")
        job = self.job(4)
        cases = [
            ([], "expects one job file, got 0"),
            ([job, "b.yaml"], "expects one job file, got 2 (b.yaml)"),
            ([job, "--restart=3"], "unknown flag --restart, did you mean 'restarts'?"),
            ([job, "-n", "2", "--restarts=-1"], "--restarts=-1 must be 0 or more"),
            ([job, "-n", "2", "--grace_s=-1"], "--grace_s=-1 must be a time in seconds"),
            ([job, "-n", "2", "--", "job2.yaml"], "'job2.yaml' after -- is no flag of autophi run"),
            ([job, "-n", "2", "--", "--mesh=2"], "--mesh must come before --"),
            ([job, "-n", "2", "--", "--resume"], "--resume cannot be passed after --"),
            ([job, "-n", "-2"], "-n=-2 is not a number of processes"),
            ([job], "the number of processes is missing: the job has no mesh; pass -n=8"),
            (["missing.yaml"], "cannot read job file 'missing.yaml'"),
            ([no_folder, "-n", "2"], "key 'checkpoint.dir' (by default): autophi supervise resumes from checkpoints"),
            ([meshed, "-n", "3"], "the job's mesh dp=2 pp=2 has 4 ranks, and there are 3 slots (-n)"),
            ([meshed, "-n", "8"], "the job's mesh dp=2 pp=2 has 4 ranks, and there are 8 slots (-n)"),
            ([meshed, f"--hostfile={hosts}"], "has 4 ranks, and there are 2 slots (-n and --hostfile)"),
            ([job, "--hostfile=nowhere"], "cannot read the host file 'nowhere'"),
            ([elastic, "-n", "4"], "no extent from 3 to 3 fits in 4 slots with the other mesh dims, and divides the 4 rows"),
            ([no_dp, "-n", "2"], "the mesh tp=2 has no dim dp that could be another"),
        ]
        for words, message in cases:
            with self.subTest(words=words):
                self.assertIn(message, self.refused(*words))

    def test_it_is_not_for_mpirun_to_start(self):
        outcome = launch.run(2, "supervise", self.job(4))
        self.assertNotEqual(outcome.status, 0)
        self.assertEqual(outcome.count("autophi supervise starts mpirun itself"), 1, outcome.output)

    def test_help(self):
        outcome = launch.run(0, "supervise", "--help")
        self.assertEqual(outcome.status, 0)
        self.assertIn("--restarts=10", outcome.output)

    def test_a_launcher_that_is_not_there(self):
        self.assertIn("cannot start '/nowhere/mpirun'", self.refused(self.job(4), "-n", "2", "--mpirun=/nowhere/mpirun"))

    def test_what_the_job_refuses_is_not_tried_again(self):
        output = self.finish(self.start("-n", 2, self.job(4), run=["--reprot=x"]), 2)
        self.assertEqual(output.count("unknown flag --reprot"), 2, "once by the job, once in the table\n" + output)
        self.assertIn("not started again: the job was refused", output)


class Jobs(Supervised):
    def test_a_rank_that_dies_costs_what_came_after_the_newest_checkpoint(self):
        steps = 200
        job = self.job(steps)
        process = self.start("-n", 2, "--mesh=pp=2", job)
        self.await_steps(8)
        await_true(self.checkpoints, "a checkpoint, which is written in the background")
        os.kill(ranks_of(job)[1], signal.SIGKILL)
        output = self.finish(process, 0)
        self.assertRegex(output, r"attempt 1 ended at step \d+: exit status \d+.*; restart 1 of 10")
        self.assertRegex(output, r"resuming after step \d+ from")
        self.check_losses(self.unbroken(steps), PARITY)

    def test_a_step_that_always_fails_is_given_up(self):
        # A checkpoint in the background may not be there yet when the step fails.
        job = self.job(20, checkpoint={"async": False})
        output = self.finish(self.start("-n", 2, job, run=["--inject_error=1:5"]), 1)
        self.assertIn("not started again: it failed 3 times at step 5", output)
        rows = re.findall(r"^(\d) .* 2  dp=2 +5  exit status 1: rank 1: (.*)$", output, re.MULTILINE)
        self.assertEqual([row[0] for row in rows], ["1", "2", "3"], output)
        self.assertEqual(output.count("resuming after step 3"), 2)

    def test_told_to_stop_it_saves_and_goes_on_later(self):
        process = self.start("-n", 2, self.job(100000, checkpoint={"every": 0}))
        self.await_steps(4)
        process.send_signal(signal.SIGUSR1)
        await_true(self.checkpoints, "a checkpoint")
        first = self.checkpoints()[0]
        self.await_steps(first + 1)
        process.send_signal(signal.SIGTERM)
        output = self.finish(process, 128 + signal.SIGTERM)
        self.assertIn("not started again: stopped by signal 15 (Terminated)", output)
        done = len(self.losses())
        self.assertGreater(done, first)
        self.assertEqual(self.checkpoints()[-1], done, "the last step is saved")
        steps = done + 20
        output = self.finish(self.start("-n", 2, self.job(steps, checkpoint={"every": 0})), 0)
        self.assertIn(f"resuming after step {done} from", output)
        self.check_losses(self.unbroken(steps), PARITY)

    def test_killed_it_leaves_no_job_behind(self):
        job = self.job(100000, checkpoint={"every": 0})
        process = self.start("-n", 2, job)
        self.await_steps(3)
        process.kill()
        await_true(lambda: not ranks_of(job), "the end of all ranks")
        self.assertEqual(self.checkpoints(), [len(self.losses())], "they saved")

    def test_an_elastic_job_goes_on_with_what_machines_are_left(self):
        steps = 200
        keys = {"elastic": {"dp": [1, 2]}, "mesh": {"shape": [1, 2], "dims": ["dp", "tp"]}}
        job = self.job(steps, **keys)
        hosts = self.folder.write("hosts", "localhost slots=2\nmachine-b slots=2\n")
        used, gone = self.path("used"), self.path("gone")
        launcher = self.folder.write("launcher", LAUNCHER.format(hosts=used))
        launcher.chmod(0o755)
        process = self.start(f"--hostfile={hosts}", f"--mpirun={launcher}", f"--probe=test ! -e {gone}", job)
        self.await_steps(5)
        gone.touch()
        os.kill(ranks_of(job)[3], signal.SIGKILL)
        output = self.finish(process, 0)
        self.assertEqual(used.read_text().split(), ["localhost:2,machine-b:2", "localhost:2"])
        self.assertEqual(output.count("autophi supervise: machine-b does not respond: "), 1)
        self.assertEqual(output.count("the job starts with 2 of 4 ranks, as dp=1,tp=2"), 1)
        self.assertRegex(output, r"\n1 .* 4  dp=2,tp=2 .*\n2 .* 2  dp=1,tp=2 ")
        self.check_losses(self.unbroken(steps, **keys), PARITY)

    def test_another_job_waits_for_its_machines(self):
        job = self.job(6)
        hosts = self.folder.write("hosts", "localhost slots=1\nmachine-b slots=1\n")
        launcher = self.folder.write("launcher", LAUNCHER.format(hosts=self.path("used")))
        launcher.chmod(0o755)
        words = [f"--hostfile={hosts}", f"--mpirun={launcher}", job]
        output = self.finish(self.start("--probe=false", "--wait_s=0", *words), 1)
        self.assertIn("not started again: there are not enough machines", output)
        self.assertEqual(output.count("autophi supervise: machine-b does not respond: exit status 1\n"), 1)
        back, asked = self.path("back"), self.path("asked")
        process = self.start(f"--probe=touch {asked}; test -e {back}", *words)
        await_true(asked.exists, "the first question")
        back.touch()
        output = self.finish(process, 0)
        self.assertEqual(len(self.losses()), 6)


if __name__ == "__main__":
    unittest.main(verbosity=2)
