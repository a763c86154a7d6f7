"""`autophi plan --measure`: plans that are run, by mpirun and by stand-ins for it."""

import json
import os
import pathlib
import re
import unittest
import unittest.mock

import launch
import plan_jobs
import yaml

# Stands in for mpirun: runs FAIL, or writes a report whose steps take as long as SECONDS says of the job's ZeRO stage.
LAUNCHER = """\
#!/usr/bin/python3
import json, sys, yaml
job, report = sys.argv[sys.argv.index("run") + 1], sys.argv[-1].partition("=")[2]
job = yaml.safe_load(open(job))
stage = job["run"]["zero_stage"]
print(json.dumps([sys.argv[1:3], job]), file=open({seen!r}, "a"))
if stage in {failing}:
    print("autophi run: no room for stage", stage, file=sys.stderr)
    sys.exit(3)
seconds = {seconds}[stage]
json.dump({{"step_seconds": [9.0] + [seconds] * (job["run"]["steps"] - 1)}}, open(report, "w"))
"""
FIXED = "--fix=dp=4,micro_batches=1,recompute=none"


class Measure(plan_jobs.PlanCase):
    def launcher(self, seconds, failing=()):
        """Flags that select a stand-in."""
        self.seen = pathlib.Path(self.folder.name) / "seen"
        path = self.folder.write("mpirun", LAUNCHER.format(seen=str(self.seen), seconds=seconds, failing=tuple(failing)))
        path.chmod(0o755)
        return f"--mpirun={path}"

    def runs(self):
        return [json.loads(line) for line in self.seen.read_text().splitlines()]

    def stages(self, plans):
        return [plan["layout"]["zero_stage"] for plan in plans["plans"]]

    def test_the_fastest_measured_plan_is_the_first(self):
        unmeasured, _ = self.plan(FIXED)
        first = self.stages(unmeasured)[:3]
        seconds = dict(zip(first, (0.75, 0.25, 0.5)))
        out = pathlib.Path(self.folder.name) / "planned.yaml"
        plans, outcome = self.plan(FIXED, "--measure", self.launcher(seconds), f"--out={out}")
        self.assertEqual(self.stages(plans), [first[1], first[2], first[0], *self.stages(unmeasured)[3:]])
        self.assertEqual([plan.get("measured_seconds") for plan in plans["plans"]][:4], [0.25, 0.5, 0.75, None])
        planned = yaml.safe_load(out.read_text())
        self.assertEqual(planned["run"]["zero_stage"], first[1])
        self.assertEqual(planned["plan"]["of"].get("run.zero_stage", 0), first[1])
        self.assertIn("running the first 3 plans with 4 processes each ..\nmeasured on this machine (median of 10 steps), fastest first:\n", outcome.output)
        self.assertRegex(outcome.output, r"  dp 4 .*: predicted [\d.e-]+ s, measured 0.25 s \(\+[\d.]+ %\)\n  dp 4 .*measured 0.5 s .*\n  dp 4 .*measured 0.75 s ")
        self.assertNotIn("differ by less than the error", outcome.output)

    def test_what_is_run_is_short_and_saves_nothing(self):
        folder = pathlib.Path(self.folder.name)
        (folder / "jobs").mkdir()
        (folder / "text").write_text("a text " * 100)
        job = yaml.safe_load(self.text)
        job["run"] |= {"steps": 1000, "save": "saved", "on_nonfinite": "rollback"}
        job["checkpoint"] = {"dir": "checkpoints", "every": 3}
        job["elastic"] = {"dp": [1, 4]}
        job["data"]["paths"] = ["text", "docs"]  # in the parent of the job's folder, and in the current folder
        (folder / "jobs/job.yaml").write_text(json.dumps(job))
        temporary = folder / "temporary"
        temporary.mkdir()
        with unittest.mock.patch.dict(os.environ, {"TMPDIR": str(temporary)}):
            outcome = launch.run(0, "plan", folder / "jobs/job.yaml", f"--machine={self.machine}", "--devices=4", FIXED,
                                 "--measure=1", self.launcher([1] * 4))
        self.assertEqual(outcome.status, 0, outcome.output)
        (words, run), again = self.runs()
        self.assertEqual([words, run], again)
        self.assertEqual(words, ["-n", "4"])
        self.assertEqual((run["run"]["steps"], run["run"]["save"], run["run"]["on_nonfinite"]), (6, "", "stop"))
        self.assertEqual([run[section] for section in ("checkpoint", "elastic", "plan")], [{}] * 3)
        self.assertEqual(run["data"]["paths"], [str(folder / "text"), str(launch.SOURCE_DIR / "docs")])
        self.assertEqual(list(temporary.iterdir()), [])

    def test_a_plan_that_cannot_be_run_is_the_last(self):
        unmeasured, _ = self.plan(FIXED)
        first = self.stages(unmeasured)[0]
        plans, outcome = self.plan(FIXED, "--measure=2", self.launcher([0.5] * 4, [first]))
        self.assertEqual(self.stages(plans), [*self.stages(unmeasured)[1:], first])
        self.assertIn(f"not measured: exit status 3\n    autophi run: no room for stage {first}\n", outcome.output)

    def test_if_none_can_be_run_nothing_is_written(self):
        out = pathlib.Path(self.folder.name) / "planned.yaml"
        for count, plans in ((1, "the plan"), (2, "the 2 plans")):
            _, outcome = self.plan(FIXED, f"--measure={count}", f"--out={out}", self.launcher([], range(4)), status=1)
            self.assertIn(f"--measure: {plans} could not be run with 4 processes on this machine; plan without --measure, or for", outcome.output)
            self.assertRegex(outcome.output, r"The run of dp 4 .* ended with exit status 3\n    autophi run: no room for stage \d")
        _, outcome = self.plan(FIXED, "--measure", "--mpirun=/nonexistent", status=1)
        self.assertIn("cannot start '/nonexistent': No such file", outcome.output)
        self.assertFalse(out.exists())

    def test_mpirun_runs_plans(self):
        plans, outcome = self.plan("--measure=2", "--top=1", devices=2)
        self.assertEqual(len(re.findall(r"^ +\d+  dp ", outcome.output, re.MULTILINE)), 1, outcome.output)
        measured = [plan["measured_seconds"] for plan in plans["plans"]]
        self.assertEqual(measured, sorted(measured))
        self.assertGreater(measured[0], 0)
        self.assertEqual(outcome.output.count("measured "), 3)

    def test_plans_within_the_error_of_predictions_are_counted(self):
        plans, outcome = self.plan(FIXED)
        seconds = [plan["predicted"]["step_seconds"] for plan in plans["plans"]]
        within = sum(each <= 1.1 * seconds[0] for each in seconds)
        self.assertGreater(within, 1)
        self.assertIn(f"the first {within} plans differ by less than the error of predictions (10 %): --measure={min(within, 3)} "
                      f"runs the first {min(within, 3)} on this machine\n", outcome.output)
        self.folder.write("machine.yaml", "prediction_error: 0\n" + plan_jobs.MACHINE)
        _, outcome = self.plan("--fix=dp=4,recompute=none,zero_stage=0")
        self.assertNotIn("error of predictions", outcome.output)

    def test_mistakes_are_said_once(self):
        job = self.folder.write("job.yaml", self.text)
        base = ["plan", job, f"--machine={self.machine}", "--devices=4"]
        for flags, message in [(["--measure=0"], "--measure=0: pass the number of plans to run, 1 or more."),
                               (["--measure=best"], "--measure=best: pass the number of plans to run, 1 or more."),
                               (["--measure", "--devices=1000000"], "--measure: 1,000,000 processes are too many for this machine with "),
                               (["--mpirun_args=-q"], "--mpirun_args requires --measure.")]:
            with self.subTest(flags):
                outcome = launch.run(0, *base, *flags)
                self.assertEqual((outcome.status, outcome.count(message)), (2, 1), outcome.output)
        outcome = launch.run(1, *base, "--measure")
        self.assertEqual(outcome.count("--measure starts mpirun itself; start autophi plan without it."), 1, outcome.output)
        with unittest.mock.patch.dict(os.environ, {"TMPDIR": "/proc"}):
            _, outcome = self.plan("--measure", status=1)
        self.assertIn("temporary folder '/proc/autophi_plan_", outcome.output)


if __name__ == "__main__":
    unittest.main()
