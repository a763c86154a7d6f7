"""--trace: one valid file of all ranks, which agrees with the report."""

import collections
import json
import pathlib
import unittest

import launch

MICRO_BATCHES = 4
STEPS = 2
LANES = {"actions", "ops", "communication", "clipped"}


def job(run=None, **rest):
    run = {"steps": STEPS, "micro_batches": MICRO_BATCHES, **(run or {})}
    return launch.job_text(mode="train", run=run, **rest)


class Trace(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name) / "trace.json"

    def traced(self, processes, text, *flags):
        """The file's events, its other data and the report; checks the invariants of every trace."""
        report, outcome = self.folder.report(processes, text, f"--trace={self.path}", *flags)
        self.assertIn(f"in {self.path}: open it at https://ui.perfetto.dev", outcome.output)
        trace = json.loads(self.path.read_text())
        events = trace["traceEvents"]
        ranks = set(range(max(processes, 1)))
        self.assertEqual({event["pid"] for event in events}, ranks)
        self.check_names(events, ranks)
        self.check_nesting(events)
        self.check_arrows(events)
        self.check_flights(events)
        self.assertEqual(trace["otherData"]["dropped_events"], 0)
        self.assertEqual(len(trace["otherData"]["clock_bounds_us"]), len(ranks))
        return events, trace["otherData"], report

    def check_names(self, events, ranks):
        names = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "M" and event["name"].endswith("_name"):
                names[event["pid"]].append(event["args"]["name"])
        for rank in ranks:
            self.assertTrue(any(name.startswith(f"rank {rank} · stage ") for name in names[rank]))
            self.assertLessEqual(LANES, set(names[rank]))

    def check_nesting(self, events):
        """Events of one lane are nested or disjoint."""
        lanes = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "X":
                self.assertGreaterEqual(event["dur"], 0)
                start = round(event["ts"] * 1000)
                lanes[event["pid"], event["tid"]].append((start, -round(event["dur"] * 1000), event["name"]))
        for lane, spans in lanes.items():
            open_spans = []
            for start, minus_duration, name in sorted(spans):
                end = start - minus_duration
                while open_spans and open_spans[-1][0] <= start:
                    open_spans.pop()
                if open_spans:
                    self.assertLessEqual(end, open_spans[-1][0], f"{name} leaves {open_spans[-1][1]} in {lane}")
                open_spans.append((end, name))

    def check_arrows(self, events):
        """Every arrow has both ends, on the ranks that they name; it does not arrive before it leaves."""
        tails = {event["id"]: event for event in events if event["ph"] == "s"}
        heads = {event["id"]: event for event in events if event["ph"] == "f"}
        self.assertEqual(len(tails), sum(event["ph"] == "s" for event in events))
        self.assertEqual(len(heads), sum(event["ph"] == "f" for event in events))
        self.assertEqual(set(tails), set(heads))
        for number, head in heads.items():
            tail = tails[number]
            for key in ("name", "cat"):
                self.assertEqual(tail[key], head[key])
            self.assertEqual((tail["pid"], tail["args"]["peer"]), (head["args"]["peer"], head["pid"]))
            self.assertEqual(tail["args"]["bytes_sent"], head["args"]["bytes_received"])
            self.assertEqual(tail["args"]["sequence"], head["args"]["sequence"])
            self.assertEqual(tail["args"]["group"], head["args"]["group"])
            self.assertLessEqual(tail["ts"], head["ts"])

    def check_flights(self, events):
        ends = collections.Counter((e["pid"], e["id2"]["local"], e["ph"]) for e in events if e["ph"] in "be")
        for (pid, number, phase), count in ends.items():
            self.assertEqual(count, 1)
            self.assertEqual(ends[pid, number, "e" if phase == "b" else "b"], 1)

    def check_report(self, events, report):
        """What is in the trace is what the report counts."""
        for rank in report["ranks"]:
            own = [event for event in events if event["pid"] == rank["rank"]]
            count = collections.Counter(event.get("cat") for event in own)
            self.assertEqual(count["op"], rank["ops_launched"])
            self.assertEqual(count["clipped"], rank["ops_clipped"])
            steps = [e for e in own if e.get("cat") == "reshard" and not e["name"].endswith("reshard")]
            self.assertEqual(len(steps), rank["reshard_steps"])
            calls = [event for event in own if event.get("cat") == "comm" and event["name"] != "wait"]
            for way in ("bytes_sent", "bytes_received"):
                traced = sum(call["args"][way] for call in calls)
                self.assertEqual(traced, rank[way])

    def actions(self, events, rank, kind="action"):
        return [e for e in events if e["pid"] == rank and e.get("cat") == kind]

    def test_a_pipeline(self):
        events, _, report = self.traced(2, job(), "--mesh=pp=2")
        self.check_report(events, report)
        for rank in (0, 1):
            with self.subTest(rank=rank):
                names = collections.Counter(event["name"] for event in self.actions(events, rank))
                expected = {"optimizer": STEPS}
                for micro_batch in range(MICRO_BATCHES):
                    expected |= {f"F{micro_batch}": STEPS, f"B{micro_batch}": STEPS}
                self.assertEqual(names, expected)
                for event in self.actions(events, rank):
                    if event["name"] != "optimizer":
                        self.assertEqual(event["name"][1:], str(event["args"]["micro_batch"]))
                        self.assertEqual(event["args"]["chunk"], rank)
                elsewhere = self.actions(events, rank, "clipped_action")
                self.assertEqual(len(elsewhere), 2 * MICRO_BATCHES * STEPS)
                self.assertEqual({event["args"]["chunk"] for event in elsewhere}, {1 - rank})
        ops = [event for event in events if event.get("cat") == "op"]
        self.assertEqual({op["args"].get("micro_batch") for op in ops}, {None, *range(MICRO_BATCHES)})
        self.assertEqual({op["args"].get("step") for op in ops}, set(range(1, STEPS + 1)))
        self.assertTrue(any("->" in op["args"]["shapes"] for op in ops if op["name"] == "matmul"))
        # One activation forward and one gradient back, for each micro-batch.
        received = collections.Counter(
            (e["pid"], e["args"]["micro_batch"], e["args"]["step"])
            for e in events
            if e["ph"] == "f" and "micro_batch" in e["args"]
        )
        for step in range(1, STEPS + 1):
            for micro_batch in range(MICRO_BATCHES):
                for rank in (0, 1):
                    self.assertEqual(received[rank, micro_batch, step], 1)

    def test_schedules_and_recomputing(self):
        run = {"schedule": "zb_h1", "recompute": "full"}
        events, _, report = self.traced(2, job(run), "--mesh=pp=2")
        self.check_report(events, report)
        for rank in (0, 1):
            names = collections.Counter(event["name"] for event in self.actions(events, rank))
            for micro_batch in range(MICRO_BATCHES):
                for letter in "FBW":
                    self.assertEqual(names[f"{letter}{micro_batch}"], STEPS)
            self.assertGreater(names["recompute"], 0)

    def test_all_kinds_of_parallelism(self):
        events, _, report = self.traced(4, job(), "--mesh=pp=2,tp=2")
        self.check_report(events, report)
        events, _, report = self.traced(2, job({"zero_stage": 3}), "--mesh=dp=2")
        self.check_report(events, report)

    def test_captured_steps(self):
        """The first step captures, the others run the captured program: all record their ops."""
        for processes, mesh in ((2, "pp=2"), (4, "pp=2,tp=2")):
            ops = {}
            for capture in (False, True):
                events, _, report = self.traced(processes, job({"capture": capture}), f"--mesh={mesh}")
                self.check_report(events, report)
                ops[capture] = collections.Counter(
                    (e["pid"], e["cat"], e["name"], e["args"]["step"], e["args"].get("shapes"))
                    for e in events
                    if e.get("cat") in ("op", "clipped") and "step" in e["args"]
                )
            self.assertEqual(ops[True], ops[False])

    def test_one_process_and_forward(self):
        text = launch.job_text(run={"micro_batches": MICRO_BATCHES})
        events, other, report = self.traced(0, text, "--mesh=1")
        self.check_report(events, report)
        self.assertEqual(other["clock_bounds_us"], [0])
        self.assertEqual({e["name"] for e in self.actions(events, 0)}, {f"F{i}" for i in range(MICRO_BATCHES)})

    def test_some_steps(self):
        text = job({"steps": 4})
        for flag, steps in (("2:3", {2, 3}), ("4", {4}), ("3:9", {3, 4})):
            with self.subTest(flag=flag):
                events, _, _ = self.traced(2, text, "--mesh=pp=2", f"--trace_steps={flag}")
                work = [event for event in events if event["ph"] != "M"]
                self.assertEqual({event["args"]["step"] for event in work}, steps)

    def test_a_trace_changes_no_figure_of_the_report(self):
        text = job()
        plain, _ = self.folder.report(2, text, "--mesh=pp=2")
        _, _, traced = self.traced(2, text, "--mesh=pp=2")
        self.assertEqual(traced["losses"], plain["losses"])
        for rank in traced["ranks"] + plain["ranks"]:
            self.assertGreater(rank.pop("process_bytes"), 0)  # with what libraries allocate, which differs by run
        self.assertEqual(traced["ranks"], plain["ranks"])

    def test_a_rank_that_fails_leaves_what_it_has(self):
        path = self.folder.write("job.yaml", job({"steps": 3}))
        outcome = launch.run(2, "run", path, "--mesh=pp=2", f"--trace={self.path}", "--inject_error=1:2")
        self.assertNotEqual(outcome.status, 0)
        own = self.path.with_name("trace.rank1.json")
        self.assertEqual(outcome.count(f"the trace of this rank up to here is in {own}"), 1, outcome.output)
        self.assertFalse(self.path.exists())
        events = json.loads(own.read_text())["traceEvents"]
        self.assertEqual({event["pid"] for event in events}, {1})
        self.assertIn(1, {event["args"].get("step") for event in events})

    def test_wrong_flags_are_said_once_before_the_start(self):
        path = self.folder.write("job.yaml", job())
        cases = [
            (["--trace=/nonexistent/x"], "cannot write the trace '/nonexistent/x': No such file"),
            ([f"--trace={self.folder.name}"], "it is a folder"),
            (["--trace_steps=1:2"], "--trace_steps requires --trace=FILE."),
            (["--trace=x", "--trace_steps=0:1"], "--trace_steps expects FIRST:LAST, counted from 1"),
            (["--trace=x", "--trace_steps=2:1"], "--trace_steps expects FIRST:LAST, counted from 1"),
            (["--trace=x", "--trace_steps=1:"], "--trace_steps expects FIRST:LAST, counted from 1"),
            (["--trace=x", "--trace_steps=1-2"], "--trace_steps expects FIRST:LAST, counted from 1"),
            (["--trace=x", "--trace_steps=3:4"], "--trace_steps=3:4: the job has 2 steps."),
        ]
        for flags, message in cases:
            with self.subTest(flags=flags):
                outcome = launch.run(2, "run", path, "--mesh=pp=2", *flags)
                self.assertEqual(outcome.status, 2, outcome.output)
                self.assertEqual(outcome.count(message), 1, outcome.output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
