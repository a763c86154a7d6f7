"""tools/fit_machine and autophi predict_runs: recovery of known constants, and refusals of bad files."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TREE = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TREE / "tools"))

import numpy as np  # noqa: E402
from fit import constants  # noqa: E402

AUTOPHI = os.environ["AUTOPHI"]
HEADER = (
    "# GPUs,global batch,micro batch,hidden size,attention heads,# layers,sequence length,"
    "tensor parallelism,data parallelism,pipeline parallelism,iteration time (ms)"
)


def line(micro_batch, hidden, tp, dp, pp, ms=1.0):
    batch = micro_batch * dp * 4
    return f"{tp * dp * pp},{batch},{micro_batch},{hidden},16,8,1024,{tp},{dp},{pp},{ms!r}"


# Unlike what is expected of the device.
TRUE = constants.EXPECTED + np.where(np.arange(len(constants.EXPECTED)) % 2, 0.1, -0.1)
ROWS = [(b, h, tp, dp, 1) for b in (1, 2, 8) for h in (1024, 2048) for tp in (1, 2) for dp in (1, 2)]
TEST = [(b, h, tp, dp, pp) for b in (1, 4) for h in (1024, 4096) for tp, dp, pp in ((2, 1, 2), (1, 2, 4), (4, 1, 2))]


class FitMachine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = Path(self.folder.name) / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def predict(self, rows, machine, *flags):
        return subprocess.run(
            [AUTOPHI, "predict_runs", f"--rows={rows}", f"--machine={machine}", *flags], capture_output=True, text=True
        )

    def measured(self, name, layouts, sizes=()):
        """A file of runs that take as long as on the machine of TRUE, with these times of matmuls."""
        machine = self.write("true.yaml", constants.machine_file(TRUE, sizes))
        rows = self.write(name, "\n".join([HEADER, *(line(*layout) for layout in layouts)]) + "\n")
        times = json.loads(self.predict(rows, machine).stdout)
        return self.write(name, "\n".join([HEADER, *(line(*l, ms) for l, ms in zip(layouts, times))]) + "\n")

    def fit(self, rows, test, out):
        return subprocess.run(
            ["/usr/bin/python3", TREE / "tools/fit_machine", f"--rows={rows}", f"--test={test}", f"--out={out}",
             f"--autophi={AUTOPHI}"],
            capture_output=True, text=True,
        )  # fmt: skip

    def test_predicts_other_runs_of_a_simulated_machine(self):
        out = Path(self.folder.name) / "machine.yaml"
        test = self.measured("test.csv", TEST)
        fitted = self.fit(self.measured("rows.csv", ROWS), test, out)
        self.assertEqual(fitted.returncode, 0, fitted.stderr)
        scores = json.loads(fitted.stdout.splitlines()[-1])
        self.assertEqual(list(scores), ["ours", "regression", "formula"])
        for each in scores.values():
            self.assertEqual(list(each), ["mean", "median", "tau"])
        self.assertLess(scores["ours"]["mean"], 0.02)
        self.assertLess(scores["ours"]["mean"], scores["regression"]["mean"])
        self.assertLess(scores["ours"]["mean"], scores["formula"]["mean"])
        # The file that it wrote has those times.
        times = json.loads(self.predict(test, out).stdout)
        truth = [float(row.split(",")[-1]) for row in Path(test).read_text().splitlines()[1:]]
        self.assertAlmostEqual(np.mean(np.abs(np.array(times) / truth - 1)), scores["ours"]["mean"], places=4)

    def slow_matmuls(self, layout):
        """1.3 times what the matmuls of this layout's layers take on the machine of TRUE."""
        rows = self.write("slow.csv", f"{HEADER}\n{line(*layout)}\n")
        machine = self.write("true.yaml", constants.machine_file(TRUE))
        (launches,) = json.loads(self.predict(rows, machine, "--matmuls").stdout)
        self.assertEqual(len(launches), 4 + 4 + 8)  # forward, recomputed, backward
        return sorted({(flops, size, 1.3 * seconds) for flops, size, seconds in launches})

    def test_a_size_that_is_slower_than_its_neighbours(self):
        slow = self.slow_matmuls((2, 2048, 2, 1, 1))
        rows = self.measured("rows.csv", ROWS, slow)
        test = self.measured("test.csv", [(2, 2048, 2, 1, 2), (2, 2048, 2, 2, 4)], slow)
        fitted = self.fit(rows, test, Path(self.folder.name) / "machine.yaml")
        self.assertEqual(fitted.returncode, 0, fitted.stderr)
        self.assertLess(json.loads(fitted.stdout.splitlines()[-1])["ours"]["mean"], 0.04)

    def test_autophi_simulate_reads_the_machine_file(self):
        machine = self.write("machine.yaml", constants.machine_file(constants.EXPECTED))
        job = self.write("job.yaml", "model: {layers: 1, d_model: 8, heads: 2, seq_len: 8}\nmesh: {shape: [2], dims: [dp]}\n"
                         "mode: train\nplace: gpu\nrun: {steps: 1, global_batch: 2, micro_batches: 1}\n")  # fmt: skip
        simulated = subprocess.run(
            [AUTOPHI, "simulate", job, f"--machine={machine}"], capture_output=True, text=True, cwd=TREE
        )
        self.assertEqual(simulated.returncode, 0, simulated.stderr)
        self.assertIn("per step", simulated.stdout)

    def test_bad_files_are_refused_with_file_and_line(self):
        good = line(1, 1024, 1, 1, 1)
        cases = {
            "": ":1: the file is empty",
            HEADER + "\n": ":1: the file has no runs",
            HEADER.replace("micro batch", "mb") + "\n" + good: ":1: column 'micro batch' is missing",
            HEADER + "\n" + good + "\n" + good.replace("1024,16", "1024,sixteen"):
                ":3: attention heads is 'sixteen'; expected a number above 0",
            HEADER + "\n" + good.replace(",1.0", ",nan"): ":2: iteration time (ms) is 'nan'",
            HEADER + "\n" + good.replace(",1.0", ",-3"): ":2: iteration time (ms) is '-3'",
            HEADER + "\n" + good[2:]: ":2: 10 fields; expected 11",
            HEADER + "\n" + good.replace("1,4,", "2,4,", 1): ":2: 2 GPUs are not 1 x 1 x 1",
            HEADER + "\n" + good.replace("1,4,1,", "1,4,3,", 1): ":2: global batch 4 is not divisible by 3",
            HEADER + "\n" + good.replace(",8,1024,", ",8.5,1024,"): ":2: # layers is '8.5'; expected an integer",
        }  # fmt: skip
        right = self.write("right.csv", HEADER + "\n" + good + "\n")
        machine = self.write("machine.yaml", constants.machine_file(constants.EXPECTED))
        for text, message in cases.items():
            path = self.write("wrong.csv", text)
            predicted = self.predict(path, machine)
            self.assertEqual(predicted.returncode, 1)
            self.assertIn(path + message, predicted.stderr)
        for rows, test in ((path, right), (right, path)):  # of the last case
            out = Path(self.folder.name) / "out.yaml"
            fitted = self.fit(rows, test, out)
            self.assertNotEqual(fitted.returncode, 0)
            self.assertIn(path + message, fitted.stderr)
            self.assertNotIn("Traceback", fitted.stderr)
            self.assertFalse(out.exists())

    def test_missing_file(self):
        machine = self.write("machine.yaml", constants.machine_file(constants.EXPECTED))
        self.assertIn("cannot read none.csv", self.predict("none.csv", machine).stderr)


if __name__ == "__main__":
    unittest.main()
