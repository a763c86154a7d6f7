"""The key `plan` that `autophi plan --out` writes: jobs that are still those of the plan, and others."""

import json
import pathlib
import shutil
import unittest

import launch
import plan_jobs
import yaml


class PlanKey(plan_jobs.PlanCase):
    def setUp(self):
        super().setUp()
        self.planned = pathlib.Path(self.folder.name) / "planned.yaml"
        plans, _ = self.plan("--fix=dp=2,pp=2,mesh_order=dp_pp_tp,micro_batches=4", f"--out={self.planned}")
        self.first = plans["plans"][0]
        self.job = yaml.safe_load(self.planned.read_text())

    def write(self, **sections):
        """The planned job with changed keys of some sections."""
        job = {**self.job, **{name: {**self.job.get(name, {}), **keys} for name, keys in sections.items()}}
        return self.folder.write("changed.yaml", json.dumps(job, indent=1))

    def simulate(self, job, *flags, machine=None):
        return launch.run(0, "simulate", job, f"--machine={machine or self.machine}", *flags)

    def play(self, job, *flags, ranks=4):
        return launch.run(0, "run", job, "--dry_run", "--rank=0", f"--world_size={ranks}", *flags)

    def check(self, outcome, *messages):
        self.assertNotEqual(outcome.status, 0, outcome.output)
        for message in messages:
            self.assertEqual(outcome.count(message), 1, outcome.output)
        self.assertEqual(outcome.count("changed.yaml") + outcome.count("planned.yaml"), 2, outcome.output)

    def test_it_names_what_was_planned(self):
        plan = self.job["plan"]
        self.assertEqual((plan["devices"], plan["machine"]), (4, str(self.machine)))
        self.assertAlmostEqual(plan["step_seconds"], self.first["predicted"]["step_seconds"], delta=1e-5 * plan["step_seconds"])
        self.assertEqual(plan["peak_bytes"], self.first["peak_tensor_bytes"])
        self.assertEqual(plan["of"]["model.d_model"], plan_jobs.MODEL["d_model"])
        self.assertEqual(plan["of"]["mesh.shape"], "[2, 2]")
        self.assertNotIn("run.global_batch", plan["of"])  # as by default
        self.assertNotIn("model.seed", plan["of"])

    def test_the_report_has_the_plan_beside_what_is_measured(self):
        report, outcome = self.folder.report(4, self.planned.read_text())
        plan = self.job["plan"]
        self.assertEqual(report["planned"], {"machine": plan["machine"], "step_seconds": plan["step_seconds"],
                                             "peak_tensor_bytes": plan["peak_bytes"]})
        self.assertEqual(max(rank["peak_tensor_bytes"] for rank in report["ranks"]), plan["peak_bytes"])
        self.assertRegex(outcome.output, r"planned on .*machine.yaml: [\d.e-]+ s per step, measured [\d.e-]+ s \(median of ")
        self.assertNotIn("note:", outcome.output)

    def test_another_number_of_ranks_is_refused(self):
        message = "key 'plan.devices': the job is planned for 4 devices, and this run has {}. Start 4 processes, plan again with `autophi plan "
        for processes in (1, 2):
            ranks = "1 rank" if processes == 1 else f"{processes} ranks"
            with self.subTest(processes=processes):
                self.check(launch.run(processes, "run", self.planned), message.format(ranks), f"--devices={processes} ")
        self.check(self.play(self.planned, "--mesh=dp=8", ranks=8), message.format("8 ranks"), "or remove the key 'plan'.")
        self.check(self.simulate(self.planned, "--mesh=dp=8"), message.format("8 ranks"))

    def test_another_job_is_refused_with_the_keys_that_changed(self):
        cases = [
            ({"run": {"global_batch": 16}}, "run.global_batch was 8 and is 16. Restore it, plan again with"),
            ({"model": {"d_model": 64, "layers": 6}}, "model.d_model was 32 and is 64, model.layers was 4 and is 6. Restore them, plan again with"),
            ({"run": {"dtype": "bfloat16"}, "model": {"dropout": 0.5}}, "model.dropout was 0 and is 0.5, run.dtype was float32 and is bfloat16."),
        ]
        for changes, message in cases:
            with self.subTest(message):
                job = self.write(**changes)
                message = f"key 'plan.of': the job has changed since it was planned: {message}"
                for outcome in (self.simulate(job), self.play(job)):
                    self.check(outcome, message)
        self.check(launch.run(4, "run", job), message)
        self.job["mode"] = "forward"
        self.check(self.play(self.write()), "the job has changed since it was planned: mode was train and is forward")

    def test_what_does_not_change_a_step_may_change(self):
        job = self.write(run={"steps": 1}, model={"seed": 9}, data={"seed": 1}, optimizer={"lr": 0.5})
        outcome = self.play(job)
        self.assertEqual(outcome.status, 0, outcome.output)
        self.assertNotIn("note: this is not the planned layout", outcome.output)

    def test_another_layout_is_noted_and_its_prediction_is_not_reported(self):
        report = pathlib.Path(self.folder.name) / "r.json"
        message = "note: this is not the planned layout: run.micro_batches was 4 and is 2"
        outcome = launch.run(4, "run", self.write(run={"micro_batches": 2}), f"--report={report}")
        self.assertEqual(outcome.status, 0, outcome.output)
        self.assertEqual(outcome.count(message), 1, outcome.output)
        self.assertNotIn("planned", json.loads(report.read_text()))
        outcome = self.simulate(self.planned, "--mesh=dp=4")
        self.assertEqual(outcome.status, 0, outcome.output)
        self.assertRegex(outcome.output, r"not the planned layout: mesh.shape was \[2, 2\] and is \[4\], mesh.dims was \[dp, pp\] and is \[dp\]")

    def test_an_elastic_job_may_have_other_ranks(self):
        self.job |= {"elastic": {"dp": [1, 4]}, "checkpoint": {"dir": self.folder.name + "/saved"}}
        outcome = self.play(self.write(), "--mesh=dp=1,pp=2", ranks=2)
        self.assertEqual(outcome.status, 0, outcome.output)
        self.assertIn("not the planned layout: mesh.shape was [2, 2] and is [1, 2]", outcome.output)

    def test_another_machine_is_refused_and_the_same_one_elsewhere_is_not(self):
        elsewhere = pathlib.Path(self.folder.name) / "elsewhere.yaml"
        elsewhere.write_text("# The same machine.\n" + plan_jobs.MACHINE)
        self.assertEqual(self.simulate(self.planned, machine=elsewhere).status, 0)
        self.assertEqual(self.simulate(self.planned, "--set=links.node.GBps=2").status, 0)  # a question
        elsewhere.write_text(plan_jobs.MACHINE.replace("GBps: 1}", "GBps: 2}"))
        message = f"--machine={elsewhere} is another machine than {self.machine}, for which the job is planned. Pass the machine of the plan, plan again with"
        self.check(self.simulate(self.planned, machine=elsewhere), message)
        self.check(self.play(self.planned, f"--machine={elsewhere}"), message)
        shutil.copy(elsewhere, self.machine)
        self.check(self.simulate(self.planned), f"--machine={self.machine} has changed since the job was planned for it. Pass the machine")

    def test_a_planned_job_is_planned_again(self):
        self.text = self.write(run={"global_batch": 4}).read_text()
        self.plan(f"--out={self.planned}", devices=2)
        self.assertEqual(yaml.safe_load(self.planned.read_text())["plan"]["devices"], 2)
        self.assertEqual(self.play(self.planned, ranks=2).status, 0)

    def test_keys_by_hand_are_checked_alone(self):
        self.job["plan"] = {"devices": 4}
        self.assertEqual(self.play(self.write(run={"global_batch": 16})).status, 0)
        self.check(self.play(self.write(), "--mesh=dp=2", ranks=2), "planned for 4 devices")
        self.job["plan"] = {"of": {"run.global_batch": 8}}
        outcome = self.play(self.write())
        self.assertNotIn("note: this is not the planned layout: mesh", outcome.output)
        self.check(self.play(self.write(run={"global_batch": 16})), "run.global_batch was 8 and is 16")
        cases = [
            ({"devices": -1}, "key 'plan.devices': must be an integer from 0 to "),
            ({"of": [1]}, "key 'plan.of': must be a map of keys to texts; got a list."),
            ({"of": {"run.dtype": []}}, "key 'plan.of': must be a map of keys to texts; got a list."),
            ({"device": 4}, "key 'plan.device': there is no such key, did you mean 'devices'?"),
        ]
        for plan, message in cases:
            with self.subTest(message):
                self.job["plan"] = plan
                outcome = self.play(self.write())
                self.assertEqual(outcome.count(message), 1, outcome.output)
        twice = self.folder.write("changed.yaml", "mode: train\nplan: {of: {a: 1, a: 2}}")
        self.assertIn("key 'plan.of': sets 'a' twice.", self.play(twice).output)


if __name__ == "__main__":
    unittest.main()
