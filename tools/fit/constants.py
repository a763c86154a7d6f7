"""The constants of a machine that runs are fitted to: where each one lies in the machine file, what is
expected of an A100-80GB, and how far from that it may be.

Expectations have sources other than the runs to fit: those of distributed/simulator/machines/a100_80g.yaml
(data sheet, published matmul rates and their efficiencies by size, published all-reduce times in a node,
latencies of NCCL's tuning model), 200 Gb/s HDR InfiniBand between pairs of devices, and PyTorch's launch
costs of some 10 us of the host. The rates of batches of small matmuls and of unaligned ones have no source: they were set
after a look at fits, and have wide spreads.
"""

from dataclasses import dataclass

import numpy as np

GPUS_PER_NODE = 8


@dataclass(frozen=True)
class Constant:
    """`expected` within a factor of exp(spread) in two cases of three; never outside the bounds."""

    name: str
    expected: float
    spread: float
    least: float
    most: float


CONSTANTS = (
    Constant("matmul_TFLOPS", 267.9, 0.1, 100, 312),
    Constant("matmul_half_GFLOP", 0.7, 0.7, 0.05, 50),  # work of a matmul at half of its rate
    Constant("unaligned_TFLOPS", 80, 0.5, 20, 312),  # rows that are no multiples of 16 bytes
    Constant("attention_TFLOPS", 120, 0.5, 20, 312),  # batches of small matmuls
    Constant("memory_GBps", 1835, 0.1, 500, 2039),
    Constant("launch_overhead_us", 3, 0.5, 0.5, 20),
    Constant("issue_us", 20, 0.7, 1, 200),
    Constant("call_overhead_us", 34, 0.5, 1, 300),
    Constant("node_latency_us", 3.4, 0.5, 0.5, 50),
    Constant("node_GBps", 226, 0.1, 50, 300),
    Constant("cluster_latency_us", 14, 0.5, 2, 100),
    Constant("cluster_GBps", 11.25, 0.15, 2, 25),  # of each device
)

EXPECTED = np.log([c.expected for c in CONSTANTS])
SPREAD = np.array([c.spread for c in CONSTANTS])
BOUNDS = (np.log([c.least for c in CONSTANTS]), np.log([c.most for c in CONSTANTS]))


def as_dict(logs):
    return dict(zip([c.name for c in CONSTANTS], np.exp(logs)))


def _points(rate, half):
    work = np.logspace(7, 14, 15)
    return ", ".join(f"[{w:.6g}, {rate * w / (w + half):.9g}]" for w in work)


_FILE = """\
device: gpu
collectives: nccl
memory_GBps: {memory_GBps:.9g}
launch_overhead_us: {launch_overhead_us:.9g}
issue_us: {issue_us:.9g}
call_overhead_us: {call_overhead_us:.9g}
links:
  - {{name: node, size: {node}, latency_us: {node_latency_us:.9g}, GBps: {node_GBps:.9g}}}
  - {{name: cluster, latency_us: {cluster_latency_us:.9g}, GBps: {cluster_GBps:.9g}}}
families:
  float16:
    matmul: {{ops: [matmul], by: flops, points: [{matmul}], sizes: [{sizes}]}}
    unaligned_matmul: {{ops: [unaligned_matmul], by: flops, points: [{unaligned}]}}
    attention_matmul: {{ops: [attention_matmul], by: flops, points: [{attention}]}}
    bytes: {{by: bytes, points: [[1e6, {memory:.9g}]]}}
  float32:
    matmul: {{ops: [matmul], by: flops, points: [[1e9, {float32:.9g}]]}}
    bytes: {{by: bytes, points: [[1e6, {memory:.9g}]]}}
"""

_FLOAT32_TFLOPS = 19.5  # data sheet; no run computes with it


def machine_file(logs, sizes=()):
    """The text of the machine file with these constants; `sizes`: rows of [flops, bytes, seconds] of matmuls."""
    c = as_dict(logs)
    half = c["matmul_half_GFLOP"] * 1e9
    return _FILE.format(
        node=GPUS_PER_NODE,
        matmul=_points(c["matmul_TFLOPS"] * 1e12, half),
        unaligned=_points(c["unaligned_TFLOPS"] * 1e12, half),
        attention=f"[1e9, {c['attention_TFLOPS'] * 1e12:.9g}]",
        sizes=", ".join(f"[{flops:.0f}, {size:.0f}, {seconds:.9g}]" for flops, size, seconds in sizes),
        memory=c["memory_GBps"] * 1e9,
        float32=_FLOAT32_TFLOPS * 1e12,
        **c,
    )
