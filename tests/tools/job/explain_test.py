"""`autophi run --explain` and `--check`: what they print and write, that they change nothing, what they refuse."""

import json
import pathlib
import re
import unittest

import launch

MESH = {"shape": [2, 2], "dims": ["pp", "tp"]}


class Explain(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def run_job(self, processes, text, *flags):
        outcome = launch.run(processes, "run", self.folder.write("job.yaml", text), *flags)
        self.assertEqual(outcome.status, 0, outcome.output)
        return outcome.output

    def test_one_step_is_explained_on_standard_output(self):
        text = launch.job_text(mode="train", mesh=MESH, run={"steps": 3, "save": self.folder.name + "/weights"})
        output = self.run_job(4, text, "--explain")
        self.assertEqual(re.findall(r"== ranks ([\d-]+),", output), ["0-1", "2-3"], output)
        self.assertIn("layer0.attention", output)
        self.assertIn("the model's layout sets these placements", output)
        self.assertIn("sent to the next stage", output)
        self.assertIn("a gradient sent to the previous stage", output)
        self.assertRegex(output, r"scaled_adamw_ \(param \w*\(?[\w.]+")
        self.assertIn("by mesh dim:\n", output)
        self.assertFalse((pathlib.Path(self.folder.name) / "weights").exists())

    def test_a_file_has_all_ranks_and_its_bytes_are_the_report_s(self):
        text = launch.job_text(mode="train", mesh=MESH, run={"steps": 1})
        report, _ = self.folder.report(4, text)
        path = pathlib.Path(self.folder.name) / "explained.json"
        self.run_job(4, text, f"--explain={path}")
        explained = json.loads(path.read_text())
        self.assertEqual(explained["world_size"], 4)
        seen = []
        for group in explained["explained"]:
            for rank in group["ranks"]:
                seen.append(rank)
                # Of the step alone: the report counts what comes before and after it, too.
                self.assertLessEqual(group["first"]["bytes"]["sent"], report["ranks"][rank]["bytes_sent"])
                self.assertGreater(group["first"]["bytes"]["sent"], 0.5 * report["ranks"][rank]["bytes_sent"])
            by_op = sum(op["bytes"]["sent"] for op in group["first"]["by_op"].values())
            self.assertEqual(by_op, group["first"]["bytes"]["sent"])
        self.assertEqual(sorted(seen), [0, 1, 2, 3])

    def test_a_dry_run_explains_what_a_run_does(self):
        text = launch.job_text(mode="train", run={"steps": 1})
        whole = self.run_job(4, text, "--mesh=pp=2,tp=2", "--explain")
        dry = self.run_job(
            0, text, "--mesh=pp=2,tp=2", "--dry_run", "--world_size=4", "--rank=3", "--explain", "--quiet"
        )
        real = re.sub(r"(, |  )\d+\.\d\d ms", "", whole[whole.index("== ranks 2-3,") :])

        def calls(text):
            return text[text.index("\n") : text.index("by op:")]

        self.assertEqual(calls(dry[dry.index("== rank 3 of 4 ==") :]), calls(real))

    def test_checks_pass_and_change_nothing(self):
        text = launch.job_text(mode="train", mesh=MESH)
        plain, _ = self.folder.report(4, text)
        for check, words in [
            ("ops", r"--check=ops: [1-9]\d+ distributed calls of rank 0 in \d steps, .*: all agree"),
            ("numbers", r"--check=numbers: all outputs of operators in \d steps are finite"),
        ]:
            with self.subTest(check=check):
                checked, outcome = self.folder.report(4, text, f"--check={check}")
                self.assertEqual(checked["losses"], plain["losses"])
                self.assertRegex(outcome.output, words)

    def test_a_step_is_explained_checked_and_traced_at_once(self):
        text = launch.job_text(mode="train", mesh=MESH, run={"steps": 1})
        folder = pathlib.Path(self.folder.name)
        self.run_job(4, text, f"--explain={folder}/alone.json", f"--trace={folder}/alone_trace.json")

        def calls(name):
            """What was called, without times."""
            explained = json.loads((folder / name).read_text())["explained"]
            return [(group["ranks"], [(call["op"], len(call.get("moves", []))) for call in group["first"]["calls"]])
                    for group in explained]

        def ops(name):
            events = json.loads((folder / name).read_text())["traceEvents"]
            return sorted((event["pid"], event["name"]) for event in events if event.get("cat") == "op")

        for check in ("ops", "numbers"):
            with self.subTest(check=check):
                files = (f"--explain={folder}/both.json", f"--trace={folder}/trace.json")
                self.run_job(4, text, f"--check={check}", *files)
                self.assertEqual(calls("both.json"), calls("alone.json"))
                self.assertEqual(ops("trace.json"), ops("alone_trace.json"))

    def test_a_number_that_is_not_finite_is_named(self):
        optimizer = {"kind": "sgd", "lr": 1e6, "schedule": {"kind": "constant"}}
        text = launch.job_text(mode="train", mesh=MESH, run={"steps": 8}, optimizer=optimizer)
        outcome = launch.run(4, "run", self.folder.write("job.yaml", text), "--check=numbers")
        self.assertEqual(outcome.status, 1)
        self.assertRegex(
            outcome.output,
            r"step \d: the first number that is not finite, at rank \d: operator \w+: its output has a number that is "
            r"not finite",
        )

    def test_what_does_not_go_together(self):
        train = launch.job_text(mode="train")
        rows = [
            (["--check=all"], train, "--check=all is neither ops nor numbers"),
            (["--explain", "--resume"], train, "--resume requires all steps of a job; --explain runs the first"),
            (["--check=ops", "--dry_run", "--world_size=1", "--rank=0"], train, "--check requires a real run"),
            (
                ["--explain"],
                launch.job_text(mode="train", run={"capture": True}, memory={"device": "1GiB"}),
                "--explain runs a step call by call, and memory limits need a captured program",
            ),
            (["--explain"], launch.job_text(mode="generate"), "--explain requires steps; mode generate has none"),
            ([f"--explain={self.folder.name}/none/file"], train, "explanation"),
        ]
        for flags, text, message in rows:
            with self.subTest(flags=flags):
                outcome = launch.run(0, "run", self.folder.write("job.yaml", text), *flags)
                self.assertEqual(outcome.status, 2, outcome.output)
                self.assertIn(message, outcome.output)


if __name__ == "__main__":
    unittest.main()
