"""A small job and machine for tests of `autophi plan`."""

import json
import pathlib
import unittest

import launch

# A second takes 1e9 flops, 1e9 bytes, 2e8 bytes of a message between two nodes of two ranks.
MACHINE = """\
launch_overhead_us: 1
links:
  - {name: node, size: 2, latency_us: 1, GBps: 1}
  - {name: cluster, latency_us: 5, GBps: 0.2}
families:
  float32:
    matmul: {ops: [matmul, matmul_grad], by: flops, points: [[1, 1e9]]}
    bytes: {ops: [add], points: [[1, 1e9]]}
"""
MODEL = {"d_model": 32, "layers": 4, "heads": 4}
RUN = {"global_batch": 8, "micro_batches": 1}


class PlanCase(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)
        self.machine = self.folder.write("machine.yaml", MACHINE)
        self.text = launch.job_text(model=MODEL, run=RUN, mode="train")

    def plan(self, *flags, devices=4, status=0):
        job = self.folder.write("job.yaml", self.text)
        out = pathlib.Path(self.folder.name) / "plans.json"
        outcome = launch.run(0, "plan", job, f"--machine={self.machine}", f"--devices={devices}", f"--json={out}", *flags)
        self.assertEqual(outcome.status, status, outcome.output)
        return (json.loads(out.read_text()) if status == 0 else None), outcome
