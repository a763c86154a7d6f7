"""Predictions of jobs: `autophi calibrate`, `autophi simulate`, and `autophi run --machine`.

Times depend on the machine, so only their structure is tested; bytes must be exact."""

import itertools
import json
import math
import os
import pathlib
import sys
import unittest

import image_files
import launch

sys.path.insert(0, str(launch.SOURCE_DIR / "tests/api/data"))
import batches  # pylint: disable=wrong-import-position

MESHES = {"1": 1, "dp=2": 2, "pp=2": 2, "dp=2,pp=2": 4}
KEYS = ["rank", "peak_tensor_bytes", "held_at_peak", "reserved_bytes", "process_bytes", "bytes_sent", "bytes_received", "bytes_by_link", "compute_seconds", "exposed_seconds", "bubble_seconds"]
# A second takes 1e9 flops, 1e9 bytes, 1e9 bytes of a message.
MACHINE = """\
launch_overhead_us: 1
links:
  - {name: node, latency_us: 1, GBps: 1}
families:
  float32:
    matmul: {ops: [matmul, matmul_grad], by: flops, points: [[1, 1e9]]}
    bytes: {ops: [add], points: [[1, 1e9]]}
"""


class Simulate(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)
        self.machine = self.folder.write("machine.yaml", MACHINE)

    def simulate(self, text, *flags, machine=None):
        job = self.folder.write("simulated.yaml", text)
        out = pathlib.Path(self.folder.name) / "p.json"
        outcome = launch.run(0, "simulate", job, f"--machine={machine or self.machine}", f"--json={out}", *flags)
        self.assertEqual(outcome.status, 0, outcome.output)
        return json.loads(out.read_text()), outcome

    def check_structure(self, prediction, ranks, samples=launch.RUN["global_batch"]):
        self.assertEqual(list(prediction), ["step_seconds", "tokens_per_s", "mfu", "hfu", "device_bytes", "unlisted_ops", "ranks"])
        self.assertEqual([rank["rank"] for rank in prediction["ranks"]], list(range(ranks)))
        for rank in prediction["ranks"]:
            self.assertEqual(list(rank), KEYS)
            parts = rank["compute_seconds"] + rank["exposed_seconds"] + rank["bubble_seconds"]
            self.assertAlmostEqual(parts, prediction["step_seconds"], delta=1e-9)
        tokens = samples * launch.MODEL["seq_len"]
        self.assertAlmostEqual(prediction["tokens_per_s"] * prediction["step_seconds"], tokens, delta=1e-6 * tokens)

    def test_bytes_are_those_of_a_real_run(self):
        for steps in (1, 3):
            for schedule in ("gpipe", "1f1b"):
                text = launch.job_text(run={"steps": steps, "schedule": schedule}, mode="train")
                for mesh, ranks in MESHES.items():
                    with self.subTest(mesh=mesh, steps=steps, schedule=schedule):
                        prediction, _ = self.simulate(text, f"--mesh={mesh}")
                        self.check_structure(prediction, ranks)
                        real, outcome = self.folder.report(ranks, text, f"--mesh={mesh}", f"--machine={self.machine}")
                        self.assertEqual(real["predicted"], prediction)
                        self.assertRegex(outcome.output, r"predicted [\d.e-]+ s per step, measured [\d.e-]+ s \(median of ")
                        for own, wanted in zip(prediction["ranks"], real["ranks"]):
                            for key in ("bytes_sent", "bytes_received", "peak_tensor_bytes"):
                                self.assertEqual(own[key], wanted[key])
                            self.assertEqual(sum(own["held_at_peak"].values()), own["peak_tensor_bytes"])
                            in_step = sum(sum(links.values()) for links in own["bytes_by_link"].values())
                            self.assertEqual(steps * in_step, own["bytes_sent"])

    def test_a_rank_of_a_pipeline_does_the_same_if_other_stages_are_recorded_whole(self):
        models = [{"layers": 5, "dropout": 0.1}, {"kind": "llama", "layers": 7, "kv_heads": 2, "ffn": 48}]
        runs = [
            ("pp=2,dp=2", None, {"zero_stage": 2}),
            ("pp=3", [1, 3, -4], {"schedule": "zb_h1", "recompute": "full"}),
            ("pp=4,tp=2", None, {"micro_batches": 4, "sequence_parallel": True, "recompute": "selective"}),
        ]
        for model, (mesh, cut, run) in itertools.product(models, runs):
            with self.subTest(model=model, mesh=mesh):
                job = {"model": model, "run": {"global_batch": 8, **run}, "mode": "train"}
                if cut:
                    job["pipeline"] = {"cut": [*cut[:-1], model["layers"] + cut[-1]]}
                predictions = [
                    self.simulate(launch.job_text(**job, **whole), f"--mesh={mesh}")[0]
                    for whole in ({}, {"placements": {"parameters": {"layer0.*": {}}}})
                ]
                self.assertEqual(*predictions)
                layers = {name for rank in predictions[0]["ranks"] for name in rank["held_at_peak"] if " of layer " in name}
                self.assertGreaterEqual(len(layers), model["layers"])

    def test_layouts_are_in_a_sane_order(self):
        text = launch.job_text(model={"d_model": 64}, run={"global_batch": 16, "micro_batches": 8}, mode="train")
        seconds = {mesh: self.simulate(text, f"--mesh={mesh}")[0]["step_seconds"] for mesh in MESHES}
        for mesh in ("dp=2", "pp=2"):
            self.assertLess(seconds[mesh], 0.9 * seconds["1"])
            self.assertGreater(seconds[mesh], 0.4 * seconds["1"])
        pipeline = self.simulate(text, "--mesh=pp=2")[0]
        for rank in pipeline["ranks"]:
            self.assertGreater(rank["bubble_seconds"], 0.02 * pipeline["step_seconds"])

    def test_jobs_of_gpus_are_predicted_without_one(self):
        for dtype in ("float32", "bfloat16", "float16"):
            for machine in ("a100_80g", "h100_80g", "h200"):
                with self.subTest(dtype=dtype, machine=machine):
                    text = launch.job_text(run={"dtype": dtype, "global_batch": 64}, mode="train", place="gpu")
                    prediction, outcome = self.simulate(text, "--world_size=16", machine=machine)
                    self.check_structure(prediction, 16, samples=64)
                    self.assertEqual(prediction["unlisted_ops"], [])
                    self.assertGreater(prediction["device_bytes"], 70 << 30)
                    self.assertGreater(prediction["mfu"], 0)
                    self.assertGreaterEqual(prediction["hfu"], prediction["mfu"])
                    self.assertLess(prediction["hfu"], 1)
                    self.assertIn("model flops utilisation: ", outcome.output)
                    self.assertNotIn("does not fit", outcome.output)

    def test_bytes_of_an_uneven_cut_and_of_rows_are_those_of_a_real_run(self):
        rows = {"parameters": {"layer*.up.weight": {"tp": "R"}, "head": {"tp": "S0"}}, "inputs": {"layer3": {"tp": "S1"}}}
        mesh = {"shape": [2, 2], "dims": ["pp", "tp"]}
        text = launch.job_text(mode="train", mesh=mesh, pipeline={"cut": [1, 3]}, placements=rows)
        prediction, _ = self.simulate(text)
        real, _ = self.folder.report(4, text)
        for own, wanted in zip(prediction["ranks"], real["ranks"], strict=True):
            for key in ("bytes_sent", "bytes_received", "peak_tensor_bytes"):
                self.assertEqual(own[key], wanted[key])

    def test_utilisation_and_memory_are_those_of_the_machine(self):
        text = launch.job_text(run={"recompute": "none"}, mode="train")
        peak = self.folder.write("peak.yaml", "peak_TFLOPS: {float32: 0.5}\nmemory_GiB: 0.001\n" + MACHINE)
        prediction, outcome = self.simulate(text, machine=peak)
        flops = prediction["mfu"] * prediction["step_seconds"] * 0.5e12
        self.assertEqual(prediction["hfu"], prediction["mfu"])
        self.assertEqual(prediction["device_bytes"], round(0.001 * 2**30))
        self.assertIn("does not fit: 1 rank holds more than the 1.0 MiB that a device has for tensors; rank 0 ", outcome.output)
        # Neither recomputation nor more ranks change what the model computes.
        for mesh, run in (("1", {"recompute": "full"}), ("tp=2", {}), ("dp=2", {"micro_batches": 2})):
            with self.subTest(mesh=mesh, run=run):
                other, _ = self.simulate(launch.job_text(run=run, mode="train"), f"--mesh={mesh}", machine=peak)
                ranks = len(other["ranks"])
                self.assertAlmostEqual(other["mfu"] * other["step_seconds"] * ranks * 0.5e12 / flops, 1, delta=1e-9)
                # Of the layers, the forward pass is repeated, and the backward pass takes twice as many flops.
                least, most = (1.2, 4 / 3) if run.get("recompute") == "full" else (1, 1 + 1e-9)
                self.assertGreaterEqual(other["hfu"] / other["mfu"], least - 1e-9)
                self.assertLessEqual(other["hfu"] / other["mfu"], most)
        without = self.simulate(text)[0]
        for key in ("mfu", "hfu", "device_bytes"):
            self.assertIsNone(without[key], key)

    def test_the_utilisation_of_measured_steps_is_reported(self):
        text = launch.job_text(run={"recompute": "full"}, mode="train")
        peak = self.folder.write("peak.yaml", "peak_TFLOPS: {float32: 0.5}\n" + MACHINE)
        report, outcome = self.folder.report(2, text, "--mesh=dp=2", f"--machine={peak}")
        predicted = report["predicted"]
        measured = sorted(report["step_seconds"])[len(report["step_seconds"]) // 2]
        for key in ("mfu", "hfu"):
            self.assertAlmostEqual(report[key] * measured / (predicted[key] * predicted["step_seconds"]), 1, delta=1e-9)
        self.assertGreater(report["hfu"], report["mfu"])
        self.assertRegex(outcome.output, r"model flops utilisation: predicted [\d.]+ %, measured [\d.]+ %; with recomputation ")
        report, outcome = self.folder.report(1, text, f"--machine={self.machine}")
        self.assertIsNone(report["mfu"])
        self.assertIsNone(report["hfu"])
        self.assertNotIn("utilisation", outcome.output)
        report, _ = self.folder.report(1, text)
        self.assertNotIn("mfu", report)

    def test_the_table_names_operators_without_rates(self):
        prediction, outcome = self.simulate(launch.job_text(mode="train"), "--mesh=2")
        self.assertIn("gelu", prediction["unlisted_ops"])
        self.assertNotIn("add", prediction["unlisted_ops"])
        self.assertIn("without rates of their own: ", outcome.output)
        self.assertIn("2 ranks of ", outcome.output)

    def test_data_that_is_not_there_is_not_needed(self):
        vit = {"kind": "vit", "patch": 8, "classes": 3, "d_model": 16, "layers": 2, "heads": 4, "hidden": 32}
        images = {"kind": "images", "paths": [str(image_files.folder() / "train")]}
        jobs = []
        for dtype in ("float32", "bfloat16"):
            run = {**launch.RUN, "dtype": dtype}
            jobs.append((json.loads(launch.job_text(mode="train", run=run)), launch.DATA))
            jobs.append(({"mode": "train", "model": vit, "run": run, "optimizer": {"lr": 0.01}}, images))
        for job, data in jobs:
            with self.subTest(job=job):
                machine = self.folder.write("both.yaml", MACHINE + MACHINE[MACHINE.index("  float32"):].replace("float32", "bfloat16"))
                whole, outcome = self.simulate(json.dumps({**job, "data": data}), "--mesh=dp=2", machine=machine)
                self.assertNotIn("predicted without data", outcome.output)
                without, outcome = self.simulate(json.dumps({**job, "data": {**data, "paths": ["nowhere"]}}), "--mesh=dp=2", machine=machine)
                self.assertIn("predicted without data, which is not read: no file or folder 'nowhere'", outcome.output)
                self.assertEqual(without, whole)

    def test_data_that_is_there_is_checked(self):
        folder = pathlib.Path(self.folder.name)
        batches.write_megatron(folder / "set", [[[number % 50 for number in range(400)]]], "uint16")
        (folder / "empty.bin").write_bytes(b"")
        job = json.loads(launch.job_text(mode="train"))
        _, outcome = self.simulate(json.dumps({**job, "data": {"kind": "megatron", "paths": [str(folder / "set")]}}))
        self.assertNotIn("predicted without data", outcome.output)
        broken = self.folder.write("broken.yaml", json.dumps({**job, "data": {"kind": "tokens", "paths": [str(folder / "empty.bin")], "dtype": "uint16"}}))
        outcome = launch.run(0, "simulate", broken, f"--machine={self.machine}")
        self.assertNotEqual(outcome.status, 0)
        self.assertIn("empty.bin' is empty.", outcome.output)

    def test_equal_ranks_share_a_line_of_the_table(self):
        text = launch.job_text(mode="train")
        for mesh, lines in {"dp=2": ["0-1"], "pp=2": ["0", "1"], "dp=2,pp=2": ["0, 2", "1, 3"]}.items():
            with self.subTest(mesh=mesh):
                prediction, outcome = self.simulate(text, f"--mesh={mesh}")
                rows = [line.strip() for line in outcome.output.splitlines() if line.endswith("iB") and not line.startswith("at the peak")]
                self.assertEqual([row.split("  ")[0] for row in rows], lines)
                self.assertIn(f"{MESHES[mesh]} ranks of {len(lines)} class", outcome.output)
                self.check_structure(prediction, MESHES[mesh])

    def test_large_worlds_list_classes(self):
        model = {"layers": 2, "heads": 8}
        run = {"steps": 1, "global_batch": 512, "micro_batches": 2}
        text = launch.job_text(model=model, run=run, mode="train")
        prediction, outcome = self.simulate(text, "--mesh=dp=256,pp=2,tp=4")
        self.assertIn("2048 ranks of 2 classes, 4 recorded", outcome.output)
        self.assertEqual([list(entry) for entry in prediction["ranks"]], [["ranks", "count", *KEYS[1:]]] * 2)
        self.assertEqual([entry["count"] for entry in prediction["ranks"]], [1024, 1024])
        ranks = set()
        for span in ", ".join(entry["ranks"] for entry in prediction["ranks"]).split(", "):
            first, last = span.split("-")
            ranks |= set(range(int(first), int(last) + 1))
        self.assertEqual(ranks, set(range(2048)))
        # Along tp, rank 0 holds more ids than the others.
        uneven = launch.job_text(model={**model, "vocab": 257}, run={"steps": 1}, mode="train")
        self.assertIn(", 4 recorded", self.simulate(uneven, "--mesh=dp=2,pp=1,tp=4")[1].output)

    def test_405_billion_parameters_on_16384_ranks(self):
        example = (launch.SOURCE_DIR / "examples/llama_405b.yaml").read_text()
        rates = "matmul: {ops: [matmul], by: flops, points: [[1, 1e14]]}, bytes: {points: [[1, 1e12]]}"
        links = "links: [{name: node, size: 8, latency_us: 4, GBps: 200}, {name: network, latency_us: 9, GBps: 40}]"
        machine = self.folder.write("gpus.yaml", f"device: gpu\n{links}\nfamilies: {{bfloat16: {{{rates}}}, float32: {{{rates}}}}}\n")
        prediction, outcome = self.simulate(example, "--world_size=16384", machine=machine)
        self.assertIn("16384 ranks of 16 classes, 18 recorded", outcome.output)
        self.assertEqual([entry["count"] for entry in prediction["ranks"]], [1024] * 16)
        self.check_dry_ranks(example, "dp=128,pp=16,tp=8", {rank: prediction["ranks"][rank // 8 % 16] for rank in (77, 9999)})
        # Over dp=96, ranks 0 to 31 have two of the 128 sequences, and ranks 0 to 63 more of 16384 and 53248 elements.
        prediction, outcome = self.simulate(example, "--mesh=dp=96,pp=16,tp=8", machine=machine)
        self.assertIn("12288 ranks of 48 classes, 54 recorded", outcome.output)
        self.assertEqual([entry["count"] for entry in prediction["ranks"]], [256] * 48)
        entries = {rank: prediction["ranks"][rank // 8 % 16 + rank // 128 // 32 * 16] for rank in (77, 4096, 8191, 12287)}
        self.check_dry_ranks(example, "dp=96,pp=16,tp=8", entries)

    def check_dry_ranks(self, text, mesh, entries):
        ranks = math.prod(int(size.split("=")[1]) for size in mesh.split(","))
        report = pathlib.Path(self.folder.name) / "r.json"
        job = self.folder.write("dry.yaml", text)
        for rank, entry in entries.items():
            dry = ["--dry_run", f"--mesh={mesh}", f"--world_size={ranks}", f"--rank={rank}", f"--report={report}", "--quiet"]
            self.assertEqual(launch.run(0, "run", job, *dry).status, 0)
            own = json.loads(report.read_text())["ranks"][0]
            self.assertEqual(entry["bytes_sent"], own["bytes_sent"])
            self.assertEqual(entry["bytes_received"], own["bytes_received"])
            self.assertEqual(entry["peak_tensor_bytes"], own["planned_peak_bytes"])

    def test_a_trace_has_the_simulated_step(self):
        path = pathlib.Path(self.folder.name) / "t.json"
        text = launch.job_text(mode="train")
        prediction, outcome = self.simulate(text, "--mesh=dp=2,pp=2", f"--trace={path}")
        self.assertIn(f"of 4 ranks in {path}: open it at https://ui.perfetto.dev", outcome.output)
        trace = json.loads(path.read_text())
        self.assertEqual(trace["otherData"]["dropped_events"], 0)
        events = trace["traceEvents"]
        self.assertEqual({event["pid"] for event in events}, {0, 1, 2, 3})
        step = prediction["step_seconds"] * 1e6
        for rank in prediction["ranks"]:
            own = [event for event in events if event["pid"] == rank["rank"]]
            lanes = {event["args"]["name"] for event in own if event["name"] == "thread_name"}
            self.assertEqual(lanes, {"actions", "ops", "communication", "clipped"})
            ops = [event for event in own if event.get("cat") == "op"]
            # Times are written in nanoseconds.
            self.assertAlmostEqual(sum(op["dur"] for op in ops), rank["compute_seconds"] * 1e6, delta=1e-3 * len(ops))
            self.assertIn("matmul", {op["name"] for op in ops})
            for before, after in zip(ops, ops[1:]):
                self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + 2e-3)
            whole = [event for event in own if event.get("cat") == "step"]
            self.assertEqual([event["name"] for event in whole], ["step 1"])
            self.assertAlmostEqual(whole[0]["dur"], step, delta=1e-2)
            starts = {event["id2"]["local"]: event for event in own if event["ph"] == "b"}
            ends = {event["id2"]["local"]: event for event in own if event["ph"] == "e"}
            self.assertEqual(set(starts), set(ends))
            for number, start in starts.items():
                self.assertLessEqual(start["ts"], ends[number]["ts"])
            for event in own:
                self.assertLessEqual(event.get("ts", 0) + event.get("dur", 0), step + 1e-2)
        large = launch.job_text(run={"steps": 1, "global_batch": 256, "micro_batches": 2}, mode="train")
        outcome = self.simulate(large, "--mesh=dp=64,pp=2", f"--trace={path}")[1]
        self.assertIn(f"of 2 ranks in {path}", outcome.output)
        names = [e["args"]["name"] for e in json.loads(path.read_text())["traceEvents"] if e["name"] == "process_name"]
        self.assertEqual(names, ["rank 0 · simulated, one of 64 alike", "rank 1 · simulated, one of 64 alike"])

    def test_slow_ranks_delay_the_others(self):
        text = launch.job_text(run={"global_batch": 16, "steps": 1}, mode="train")
        even = self.simulate(text, "--mesh=dp=4")[0]
        slowed, outcome = self.simulate(text, "--mesh=dp=4", "--slow=2:1.5")
        self.assertIn("4 ranks of 2 classes", outcome.output)
        self.assertAlmostEqual(slowed["ranks"][2]["compute_seconds"], 1.5 * even["ranks"][2]["compute_seconds"])
        self.assertEqual(slowed["ranks"][1]["compute_seconds"], even["ranks"][1]["compute_seconds"])
        self.assertGreater(slowed["ranks"][1]["bubble_seconds"], even["ranks"][1]["bubble_seconds"])
        self.assertGreater(slowed["step_seconds"], even["step_seconds"])
        both = [self.simulate(text, "--mesh=dp=4", *flags)[0] for flags in (["--slow=1:2,2:3"], ["--slow=1:2", "--slow", "2:3"])]
        self.assertEqual(both[0], both[1])
        self.assertGreater(both[0]["step_seconds"], slowed["step_seconds"])

    def test_values_of_the_machine_can_be_set(self):
        text = launch.job_text(mode="train")
        as_it_is = self.simulate(text, "--mesh=dp=2")[0]
        faster = self.simulate(text, "--mesh=dp=2", "--set=links.node.GBps=100")[0]
        self.assertLess(faster["ranks"][0]["exposed_seconds"], 0.2 * as_it_is["ranks"][0]["exposed_seconds"])
        self.assertEqual(faster["ranks"][0]["compute_seconds"], as_it_is["ranks"][0]["compute_seconds"])
        shared = self.simulate(text, "--mesh=dp=2", "--set=links.node.GBps=100,cores=1")[0]
        self.assertAlmostEqual(shared["ranks"][0]["compute_seconds"], 2 * as_it_is["ranks"][0]["compute_seconds"])

    def test_a_trace_of_the_job_is_compared(self):
        trace = pathlib.Path(self.folder.name) / "real.json"
        text = launch.job_text(run={"steps": 3}, mode="train")
        self.folder.report(2, text, "--mesh=pp=2", f"--trace={trace}")
        _, outcome = self.simulate(text, "--mesh=pp=2", f"--compare={trace}")
        head, rows = outcome.output.split("worst predicted operators, all ranks in a step:\n")
        rows = [line.replace(" ms", "").split() for line in rows.splitlines()]
        self.assertEqual(rows[0], ["operator", "count", "predicted", "measured", "ratio"])
        self.assertEqual(len(rows), 11)
        errors = [abs(float(row[2]) - float(row[3])) for row in rows[1:]]
        self.assertEqual(errors, sorted(errors, reverse=True))
        measured = {}
        for event in json.loads(trace.read_text())["traceEvents"]:
            if event.get("cat") == "op" and event["args"].get("step", 0) > 1:
                count, seconds = measured.get(event["name"], (0, 0))
                measured[event["name"]] = (count + 1, seconds + event["dur"])
        for name, count, predicted, time, ratio in rows[1:]:
            self.assertEqual(int(count), measured[name][0] / 2)
            self.assertAlmostEqual(float(time), measured[name][1] / 2e3, delta=1e-3 * measured[name][1] / 2e3)
            self.assertAlmostEqual(float(ratio), float(predicted) / float(time), delta=0.01 * float(ratio) + 1e-12)
        self.check_refused_traces(trace, text)

    def check_refused_traces(self, trace, text):
        whole = json.loads(trace.read_text())

        def changed(name, **keys):
            return self.folder.write(name, json.dumps({**whole, **keys}))

        less = [event for event in whole["traceEvents"] if event["name"] != "gelu"]
        alone = [event for event in whole["traceEvents"] if event["pid"] == 0]
        dropped = {**whole["otherData"], "dropped_events": 3}
        other = launch.job_text(model={"d_model": 64}, mode="train")
        cases = [
            (2, text, "dp=2", trace, "this is a trace of another job: mesh.dims is [pp], and "),
            (2, other, "pp=2", trace, "this is a trace of another job: model.d_model is 32, and "),
            (1, text, "pp=2", changed("l.json", traceEvents=less), "is a trace of another job: rank 0 launches gelu 0 times"),
            (1, text, "pp=2", changed("a.json", traceEvents=alone), "it has 1 ranks, and the job 2."),
            (1, text, "pp=2", changed("d.json", otherData=dropped), "has dropped 3 events; trace fewer steps"),
            (1, text, "pp=2", changed("e.json", traceEvents=[]), "e.json' has no operators of a step."),
            (1, text, "pp=2", self.folder.write("n.json", "{"), "n.json' is no trace that autophi run --trace writes."),
            (1, text, "pp=2", "nowhere.json", "cannot read the trace 'nowhere.json'"),
        ]
        for status, job, mesh, path, message in cases:
            with self.subTest(message=message):
                job = self.folder.write("job.yaml", job)
                flags = [f"--machine={self.machine}", f"--mesh={mesh}", f"--compare={path}"]
                outcome = launch.run(0, "simulate", job, *flags)
                self.assertEqual(outcome.status, status, outcome.output)
                self.assertEqual(outcome.count(message), 1, outcome.output)

    def test_calibrated_machines_can_be_used(self):
        for processes in (0, 2):
            with self.subTest(processes=processes):
                machine = pathlib.Path(self.folder.name) / f"own{processes}.yaml"
                raw = pathlib.Path(self.folder.name) / f"raw{processes}.json"
                outcome = launch.run(processes, "calibrate", f"--out={machine}", "--quick", f"--raw_samples={raw}")
                self.assertEqual(outcome.status, 0, outcome.output)
                self.assertEqual(outcome.count("written to "), 1)
                self.assertIn("float32 matmul_grad", outcome.output)
                names = {each["name"] for each in json.loads(raw.read_text())}
                self.assertIn("float32 matmul_grad", names)
                self.assertEqual("exchange" in names, processes == 2)
                self.assertEqual("links:" in machine.read_text(), processes == 2)
                mesh = "dp=2" if processes else "1"
                self.check_structure(
                    self.simulate(launch.job_text(mode="train"), f"--mesh={mesh}", machine=machine)[0], max(1, processes)
                )

    def test_mistakes_are_said_once(self):
        job = self.folder.write("job.yaml", launch.job_text(mesh={"shape": [2], "dims": ["dp"]}, mode="train"))
        generate = self.folder.write("generate.yaml", launch.job_text(mode="generate"))
        bfloat16 = self.folder.write("bf16.yaml", launch.job_text(run={"dtype": "bfloat16"}, mode="train"))
        gpu = self.folder.write("gpu.yaml", launch.job_text(mode="train", place="gpu"))
        lines = pathlib.Path(gpu).read_text().splitlines()
        line = 1 + next(i for i, text in enumerate(lines) if '"place"' in text)
        tf32 = self.folder.write("tf32.yaml", launch.job_text(run={"tf32": True}, mode="train", place="gpu"))
        host = self.folder.write("host.yaml", launch.job_text(run={"messages": "host"}, mode="train", place="gpu"))
        unknown = self.folder.write("unknown.yaml", MACHINE.replace("launch_overhead_us", "launch_overhed_us"))
        negative = self.folder.write("negative.yaml", MACHINE.replace("GBps: 1", "GBps: -1"))
        small = self.folder.write("small.yaml", MACHINE.replace("name: node", "name: node, size: 1"))
        alone = self.folder.write("alone.yaml", MACHINE.replace("links:\n  - {name: node, latency_us: 1, GBps: 1}\n", ""))
        machine = f"--machine={self.machine}"
        cases = [
            (2, [], "autophi simulate expects one job file, got 0"),
            (2, [job], "--machine is missing; pass --machine=FILE, which autophi calibrate writes."),
            (2, [job, machine, "--world_size=3"], "--world_size=3: the mesh dp=2 has 2 ranks; change one."),
            (2, [generate, machine], "--machine requires steps; mode generate has none."),
            (1, [gpu, machine], f"gpu.yaml:{line}: key 'place': the job runs on place gpu, and "),
            (1, [job, "--machine=h200"], "h200.yaml is a machine of device gpu; use a machine of the job's kind."),
            (1, [tf32, "--machine=h200"], "h200.yaml has no rates of TF32; remove the key."),
            (1, [host, "--machine=h200"], "messages go through the host, and "),
            (1, [job, "--machine=h100_80gb"], "there is no machine 'h100_80gb', did you mean 'h100_80g'?; pass one of a100_80g,"),
            (1, [job, "--machine=nowhere.yaml"], "cannot read machine file 'nowhere.yaml'"),
            (1, [job, f"--machine={unknown}"], "unknown.yaml:1: the key 'launch_overhed_us' is not read here, did you mean"),
            (1, [job, f"--machine={negative}"], "negative.yaml:3: GBps is -1; expected a number above 0."),
            (1, [job, f"--machine={alone}"], "alone.yaml has no links, and rank "),
            (1, [bfloat16, machine], "machine.yaml has rates of float32 only; calibrate with --dtypes=float32,bfloat16."),
            (1, [bfloat16, machine], "bf16.yaml:14: key 'run.dtype': "),
            (1, [job, f"--machine={small}"], "small.yaml:3: no link connects ranks "),
            (2, [job, machine, "--slow=2:1.3"], "--slow=2:1.3: the job has ranks 0 to 1."),
            (2, [job, machine, "--slow=1"], "--slow=1: expected RANK:FACTOR with a factor above 0, e.g. 77:1.3."),
            (2, [job, machine, "--slow=1:-2"], "--slow=1:-2: expected RANK:FACTOR with a factor above 0"),
            (2, [job, machine, "--slow=1:2,1:3"], "--slow=1:3: rank 1 is given twice."),
            (1, [job, machine, "--set=link.node.GBps=1"], "there is no key 'link' in the machine file "),
            (1, [job, machine, "--set=links.node.GBpss=1"], "the key 'GBpss' is not read here, did you mean 'GBps'?"),
            (1, [job, machine, "--set=cores"], "'cores' is no KEY=VALUE, e.g. links.node.GBps=50."),
            (1, [job, machine, "--trace=/nonexistent/t.json"], "cannot write the trace '/nonexistent/t.json'"),
        ]
        for status, args, message in cases:
            with self.subTest(args=args):
                outcome = launch.run(0, "simulate", *args)
                self.assertEqual(outcome.status, status, outcome.output)
                self.assertEqual(outcome.count(message), 1, outcome.output)
        outcome = launch.run(2, "run", job, f"--machine={negative}")
        self.assertEqual(outcome.status, 2, outcome.output)
        self.assertEqual(outcome.count("GBps is -1"), 1, outcome.output)

    def test_mistakes_of_calibrate_are_said_once(self):
        cases = [
            (2, [], "--out is missing; pass --out=machine.yaml."),
            (2, ["--out=m.yaml", "more"], "autophi calibrate expects no arguments, got 'more'"),
            (2, ["--out=m.yaml", "--dtypes=int64"], "--dtypes=int64: int64 is not a floating-point dtype."),
            (2, ["--out=m.yaml", "--dtypes=flaot32"], "--dtypes=flaot32 is no list of dtypes: "),
            (1, ["--out=m.yaml", "--raw_samples=/nonexistent/s.json"], "cannot write the samples '/nonexistent/s.json'"),
            (1, ["--out=/nonexistent/m.yaml"], "cannot write the machine file '/nonexistent/m.yaml'"),
        ]
        for status, args, message in cases:
            for processes in (0, 2):
                with self.subTest(args=args, processes=processes):
                    outcome = launch.run(processes, "calibrate", *args)
                    self.assertEqual(outcome.status, status, outcome.output)
                    self.assertEqual(outcome.count(message), 1, outcome.output)


if __name__ == "__main__":
    os.chdir(launch.SOURCE_DIR)
    unittest.main(verbosity=2)
