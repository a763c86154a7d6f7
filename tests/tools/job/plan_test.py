"""`autophi plan`: layouts against all layouts, each predicted by `autophi simulate`."""

import itertools
import json
import pathlib
import re
import unittest

import image_files
import launch
import plan_jobs
import yaml
from plan_jobs import MODEL, RUN


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def mesh_of(layout):
    return ",".join(f"{dim}={layout[dim]}" for dim in layout.get("mesh_order", "dp_pp_tp").split("_") if layout[dim] > 1) or "1"


class Plan(plan_jobs.PlanCase):
    def simulated(self, layout):
        """The prediction of a layout; None if the job cannot have it."""
        run = {key: layout[key] for key in ("micro_batches",)}
        if layout["dp"] > 1:
            run["zero_stage"] = layout["zero_stage"]
        if layout["tp"] > 1:
            run["sequence_parallel"] = layout["sequence_parallel"]
        job = self.folder.write("layout.yaml", launch.job_text(model=MODEL, run={**RUN, **run}, mode="train"))
        out = pathlib.Path(self.folder.name) / "p.json"
        outcome = launch.run(0, "simulate", job, f"--machine={self.machine}", f"--mesh={mesh_of(layout)}", f"--json={out}")
        return json.loads(out.read_text()) if outcome.status == 0 else None

    def all_layouts(self):
        """Every layout of four devices under 1F1B without recomputation, and its prediction."""
        found = []
        for dp, pp in itertools.product(divisors(4), repeat=2):
            if 4 % (dp * pp):
                continue
            tp = 4 // (dp * pp)
            orders = ["dp_pp_tp"] + ["pp_dp_tp"] * (dp > 1 and pp > 1)
            for micro_batches, order in itertools.product(divisors(8 // dp), orders):
                for zero, sequence in itertools.product(range(4) if dp > 1 else [0], [False, True] if tp > 1 else [False]):
                    layout = {"dp": dp, "pp": pp, "tp": tp, "micro_batches": micro_batches, "zero_stage": zero,
                              "sequence_parallel": sequence, "mesh_order": order}
                    prediction = self.simulated(layout)
                    self.assertIsNotNone(prediction, layout)
                    found.append((prediction["step_seconds"], max(r["peak_tensor_bytes"] for r in prediction["ranks"]), layout))
        return found

    def test_no_layout_is_faster_than_the_first_plan_that_fits(self):
        layouts = self.all_layouts()
        fixed = ("--fix=schedule=1f1b,recompute=none",)
        peaks = sorted(peak for _, peak, _ in layouts)
        for room in (None, peaks[len(peaks) // 2], peaks[len(peaks) // 8], peaks[0]):
            with self.subTest(room=room):
                plans, _ = self.plan(*fixed, *([f"--memory={room}"] if room else []))
                self.assertEqual(plans["possible"], len(layouts))
                best = min(seconds for seconds, peak, _ in layouts if room is None or peak <= room)
                first = plans["plans"][0]
                self.assertLessEqual(first["predicted"]["step_seconds"], 1.02 * best)
                for plan in plans["plans"]:
                    self.assertTrue(room is None or plan["peak_tensor_bytes"] <= room)
                    mine = [(s, p) for s, p, layout in layouts if all(plan["layout"][key] == layout[key] for key in layout)]
                    self.assertEqual(mine, [(plan["predicted"]["step_seconds"], plan["peak_tensor_bytes"])])
        least = peaks[0] - 1
        _, outcome = self.plan(*fixed, f"--memory={least}", status=1)
        self.assertRegex(outcome.output, r"none of \d+ possible layouts fits into .* The smallest is dp \d.*: rank \d needs .*weights")

    def test_fixed_values_are_kept_and_explained_alternatives_are_what_fixing_them_plans(self):
        plans, outcome = self.plan("--explain", "--fix=recompute=none")
        best = plans["plans"][0]["predicted"]["step_seconds"]
        lines = re.findall(r"why not (\w+) (\S+): ([+-][\d.e-]+) s", outcome.output)
        self.assertGreater(len(lines), 3, outcome.output)
        for key, value, difference in lines:
            with self.subTest(key=key):
                self.assertGreaterEqual(float(difference), 0)
                fixed, _ = self.plan(f"--fix=recompute=none,{key}={value}")
                for plan in fixed["plans"]:
                    self.assertEqual(str(plan["layout"][key]).lower(), value)
                self.assertAlmostEqual(fixed["plans"][0]["predicted"]["step_seconds"] - best, float(difference), delta=0.01 * best)

    def test_placements_along_tp_are_explained(self):
        _, outcome = self.plan("--explain", "--fix=tp=2,recompute=none,schedule=1f1b")
        declared, best = map(float, re.search(r"along tp: (\S+) ms as declared, (\S+) ms at best\n", outcome.output).groups())
        self.assertLessEqual(best, declared)
        self.assertRegex(outcome.output, r"  layer\*\.up\.weight \{tp: \S+\}: next best \{tp: \S+\}, \+\S+ us, \S+ MiB.* \(3 of them\)\n")
        whole, outcome = self.plan("--explain", "--fix=tp=1")
        self.assertNotIn("along tp", outcome.output)

    def test_rules_of_thumb_are_not_faster(self):
        plans, outcome = self.plan()
        self.assertEqual(len(plans["rules_of_thumb"]), 3)
        self.assertIn("rules of thumb:\n", outcome.output)
        for rule in plans["rules_of_thumb"]:
            self.assertGreaterEqual(rule["plan"]["predicted"]["step_seconds"], plans["plans"][0]["predicted"]["step_seconds"])

    def test_a_planned_job_runs_as_predicted(self):
        planned = pathlib.Path(self.folder.name) / "planned.yaml"
        plans, _ = self.plan(f"--out={planned}")
        first = plans["plans"][0]
        self.check_run(planned, first)

    def check_run(self, planned, plan):
        """The planned job holds the predicted bytes, and has the losses of one rank."""
        report, _ = self.folder.report(4, planned.read_text())
        self.assertEqual([r["peak_tensor_bytes"] for r in report["ranks"]], [r["peak_tensor_bytes"] for r in plan["predicted"]["ranks"]])
        unplanned, _ = self.folder.report(1, self.text)
        for own, other in zip(report["losses"], unplanned["losses"]):
            self.assertAlmostEqual(own, other, delta=1e-4 * abs(other))

    def test_searched_placements_are_taken_where_they_are_faster(self):
        planned = pathlib.Path(self.folder.name) / "planned.yaml"
        for mesh in ("dp=2,pp=1,tp=2", "dp=1,pp=2,tp=2", "dp=1,pp=1,tp=4"):
            with self.subTest(mesh):
                fixed = f"--fix={mesh},recompute=none,schedule=1f1b,micro_batches=4,zero_stage=0,sequence_parallel=false"
                declared, _ = self.plan(fixed)
                searched, outcome = self.plan(fixed, "--placements=searched", "--explain", f"--out={planned}")
                (before,), (after,) = declared["plans"], searched["plans"]
                self.assertEqual((before["layout"]["placements"], after["layout"]["placements"]), ("declared", "searched"))
                difference = before["predicted"]["step_seconds"] - after["predicted"]["step_seconds"]
                self.assertGreater(difference, 0)
                told = re.search(r"why not placements declared: \+(\S+) s", outcome.output)[1]
                self.assertAlmostEqual(float(told), difference, delta=0.01 * difference)
                self.assertRegex(outcome.output, r"  1  dp .*  searched placements  .*\n")
                self.assertIn("searched placements of the first plan:\nparameters:\n", outcome.output)
                rows = yaml.safe_load(planned.read_text())["placements"]
                self.assertNotIn("layer1", str(rows))
                self.check_run(planned, after)

    def test_searched_placements_that_are_slower_or_do_not_fit_are_not_taken(self):
        _, outcome = self.plan("--fix=dp=2,tp=2,recompute=none,micro_batches=2,zero_stage=0,sequence_parallel=false",
                               "--placements=searched", "--explain")
        self.assertRegex(outcome.output, r"why not placements searched: \+\S+ s, .*  searched placements\)\n")
        self.assertNotIn("of the first plan", outcome.output)
        fixed = "--fix=tp=4,recompute=none,micro_batches=2,sequence_parallel=true"
        declared, _ = self.plan(fixed)
        searched, _ = self.plan(fixed, "--placements=searched")
        peaks = [plans["plans"][0]["peak_tensor_bytes"] for plans in (declared, searched)]
        self.assertLess(*peaks)
        small, outcome = self.plan(fixed, "--placements=searched", f"--memory={peaks[0]}", "--explain")
        self.assertEqual(small["plans"][0]["layout"]["placements"], "declared")
        self.assertEqual(small["plans"][0]["predicted"], declared["plans"][0]["predicted"])
        self.assertIn("why not placements searched: nothing fits\n", outcome.output)
        whole, outcome = self.plan("--fix=tp=1", "--placements=searched", "--explain")
        self.assertNotIn("earched placements", outcome.output)

    def test_pins_stay_where_placements_are_searched(self):
        planned = pathlib.Path(self.folder.name) / "planned.yaml"
        fixed = "--fix=tp=4,recompute=none,micro_batches=4,sequence_parallel=false"
        plans, _ = self.plan(fixed, "--placements=searched", "--pin=layer3.up.weight={tp: R}", f"--out={planned}")
        rows = yaml.safe_load(planned.read_text())["placements"]["parameters"]
        self.assertEqual(rows["layer3.up.weight"], {"tp": "R"})
        self.assertEqual(plans["plans"][0]["layout"]["placements"], "searched")
        self.check_run(planned, plans["plans"][0])

    def test_copies_of_the_model_are_near_each_other_where_that_is_faster(self):
        planned = pathlib.Path(self.folder.name) / "planned.yaml"
        fixed = "--fix=dp=2,pp=2,zero_stage=0,recompute=none,schedule=1f1b,micro_batches=1"
        best, _ = self.plan(fixed, f"--out={planned}")
        self.assertEqual([plan["layout"]["mesh_order"] for plan in best["plans"]], ["pp_dp_tp", "dp_pp_tp"])
        self.assertIn("dims: [pp, dp]", planned.read_text())
        outcome = launch.run(4, "run", planned)
        self.assertEqual(outcome.status, 0, outcome.output)
        other, _ = self.plan(fixed + ",mesh_order=dp_pp_tp")
        self.assertEqual(other["plans"][0]["predicted"]["step_seconds"], best["plans"][1]["predicted"]["step_seconds"])

    def check_equal_meshes(self, devices, fixed):
        """One plan stands for both orders of the mesh, and each order by itself is predicted alike."""
        plans, outcome = self.plan(fixed, "--explain", devices=devices)
        (plan,) = plans["plans"]
        self.assertEqual((plan["layout"]["mesh_order"], plan["equal_meshes"]), ("dp_pp_tp", ["pp_dp_tp"]))
        self.assertRegex(outcome.output, r"\n  1  dp 2  pp 2 .* \(rank \d\)  same as mesh_order pp_dp_tp\n")
        self.assertNotIn("why not mesh_order", outcome.output)
        for order, other in (("dp_pp_tp", "pp_dp_tp"), ("pp_dp_tp", "dp_pp_tp")):
            alone, _ = self.plan(fixed + f",mesh_order={order}", devices=devices)
            (same,) = alone["plans"]
            self.assertEqual(same["layout"]["mesh_order"], order)
            for key in ("step_seconds", "tokens_per_s"):
                self.assertAlmostEqual(same["predicted"][key], plan["predicted"][key], delta=1e-9 * plan["predicted"][key])
            self.assertEqual(same["peak_tensor_bytes"], plan["peak_tensor_bytes"])
        return plans

    def test_equal_meshes_are_one_plan(self):
        fixed = "--fix=dp=2,pp=2,zero_stage=1,recompute=none,schedule=1f1b,micro_batches=2"
        plans = self.check_equal_meshes(8, fixed + ",sequence_parallel=false")  # tp 2 fills a node
        self.assertEqual((plans["layouts"], plans["simulated"]), (1, 1))
        self.machine.write_text(plan_jobs.MACHINE.replace("latency_us: 5, GBps: 0.2", "latency_us: 1, GBps: 1"))
        plans = self.check_equal_meshes(4, fixed)  # two levels of the same speed
        self.assertEqual(plans["layouts"], 2)

    def test_equal_meshes_make_room_for_other_plans(self):
        plans, _ = self.plan("--fix=tp=2,recompute=none,schedule=1f1b", "--top=12", devices=8)
        layouts = [{key: value for key, value in plan["layout"].items() if key != "mesh_order"} for plan in plans["plans"]]
        self.assertEqual(len(layouts), 12)
        for i, layout in enumerate(layouts):
            self.assertNotIn(layout, layouts[:i])

    def test_pinned_parameters_lie_where_they_are_pinned(self):
        planned = pathlib.Path(self.folder.name) / "planned.yaml"
        free, _ = self.plan("--fix=tp=4,recompute=none")
        plans, _ = self.plan("--fix=tp=4,recompute=none", "--pin=layer3.up.weight={tp: R}", f"--out={planned}")
        self.assertGreater(plans["plans"][0]["predicted"]["step_seconds"], free["plans"][0]["predicted"]["step_seconds"])
        report = pathlib.Path(self.folder.name) / "r.json"
        outcome = launch.run(4, "run", planned, f"--report={report}")
        self.assertEqual(outcome.status, 0, outcome.output)
        real = json.loads(report.read_text())
        self.assertEqual([r["peak_tensor_bytes"] for r in real["ranks"]],
                         [r["peak_tensor_bytes"] for r in plans["plans"][0]["predicted"]["ranks"]])
        self.plan("--fix=tp=1", "--pin=layer3.up.weight={tp: R}", f"--out={planned}")
        outcome = launch.run(4, "run", planned)
        self.assertEqual(outcome.status, 0, outcome.output)
        job = self.folder.write("job.yaml", self.text)
        for pin, message in [("layer3.up={tp: R}", "--pin=layer3.up={tp: R}: the layout's parameters 'layer3.up' match no name in the model; nearest: layer3.up.bias"),
                             ("layer3.up.weight", "--pin: 'layer3.up.weight' is no row; write PATTERN={DIM: PLACEMENT}"),
                             ("layer3.up.weight={pp: R}", "--pin=layer3.up.weight={pp: R}: mesh dim pp splits a model into stages"),
                             ("layer3.up.weight={tpp: R}", "--pin=layer3.up.weight={tpp: R}: there is no mesh dim 'tpp', did you mean 'tp'?")]:
            outcome = launch.run(0, "plan", job, f"--machine={self.machine}", "--devices=4", f"--pin={pin}")
            self.assertEqual(outcome.status, 1, outcome.output)
            self.assertIn(message, outcome.output)
            self.assertNotIn("(by default)", outcome.output)

    def test_a_model_without_repeated_layers_has_no_full_recomputation(self):
        model = {"kind": "resnet", "blocks": [1, 1], "width": 4, "classes": 3}
        data = {"kind": "images", "paths": [str(image_files.folder() / "train")]}
        self.text = json.dumps({"mode": "train", "model": model, "data": data, "run": RUN, "optimizer": {"lr": 0.01}}, indent=1)
        plans, _ = self.plan(devices=2)
        self.assertTrue(any("full recompute applies to the links" in each["reason"] for each in plans["refused"]), plans["refused"])
        for plan in plans["plans"]:
            self.assertNotEqual(plan["layout"]["recompute"], "full")
            self.assertGreater(plan["estimated_seconds"], 0.5 * plan["predicted"]["step_seconds"])
        refused = sum(each["layouts"] for each in plans["refused"])
        self.assertEqual(plans["possible"] + refused, plans["layouts"])

    def test_mistakes_are_said_once(self):
        job = self.folder.write("job.yaml", self.text)
        forward = self.folder.write("forward.yaml", launch.job_text())
        generate = self.folder.write("generate.yaml", launch.job_text(mode="generate", generate={"prompt": "a", "tokens": 1}))
        gpus = self.folder.write("gpus.yaml", launch.job_text(model=MODEL, run=RUN, mode="train", place="gpu"))
        machine = f"--machine={self.machine}"
        cases = [
            (2, [], "autophi plan expects one job file, got 0"),
            (2, [job, machine], "--devices is missing; pass --devices=N, the number of ranks."),
            (2, [job, machine, "--devices=0"], "--devices is below 1; pass --devices=N, the number of ranks."),
            (2, [job, "--devices=4"], "--machine is missing; pass --machine=FILE"),
            (2, [job, machine, "--devices=4", "--top=0"], "--top=0: pass the number of plans, 1 or more."),
            (2, [job, machine, "--devices=4", "--placements=best"], "--placements=best: pass declared or searched."),
            (2, [job, machine, "--devices=4", "--memory=much"], "--memory=much: expected a number of bytes above 0"),
            (1, [job, machine, "--devices=4", "--fix=tpp=4"], "cannot fix tpp=4: expected KEY=VALUE with one of dp, pp, tp,"),
            (1, [job, machine, "--devices=4", "--fix=tp"], "cannot fix tp: expected KEY=VALUE"),
            (1, [job, machine, "--devices=4", "--fix=tp=x"], "cannot fix tp=x: 'x' is not a number."),
            (1, [job, machine, "--devices=4", "--fix=recompute=some"], "cannot fix recompute=some: 'some' is not among the values of the key: none, selective, full."),
            (1, [job, machine, "--devices=4", "--fix=tp=3"], "has no layout on 4 devices with tp 3. With the others as they are, there are layouts with tp 1, 2, 4."),
            (1, [job, machine, "--devices=4", "--fix=tp=4,dp=2"], "there are layouts with dp 1; or with tp 1, 2."),
            (1, [job, machine, "--devices=4", "--fix=tp=3", "--fix=dp=3"], "with dp 3, tp 3. Fix fewer keys."),
            (1, [job, machine, "--devices=4", "--fix=run.tp=2", "--fix=tp=4"], "cannot fix tp=4: tp is fixed to 2 already; fix a key once."),
            (1, [gpus, machine, "--devices=4"], "the job runs on place gpu, and"),
            (1, [generate, machine, "--devices=4"], "mode generate is not planned; set mode: train."),
            (1, [forward, machine, "--devices=4"], "key 'mode' (by default): mode forward is not planned; set mode: train."),
        ]
        for status, args, message in cases:
            with self.subTest(args=args):
                outcome = launch.run(0, "plan", *args)
                self.assertEqual(outcome.status, status, outcome.output)
                self.assertEqual(outcome.count(message), 1, outcome.output)


if __name__ == "__main__":
    unittest.main()
