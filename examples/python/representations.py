"""Pictures of what is in a program, as a notebook shows them, in one HTML file: representations.py [FILE].

In a notebook the same objects draw themselves: a tensor, its sharding, a mesh, a schedule, an answer of a rule.
"""

import sys
from pathlib import Path

import autophi as ap
import autophi.distributed as dist
from autophi import spmd, testing
from autophi.distributed import Partial, Placement, ProcessMesh, Replicate, Shard

MESH = ProcessMesh([[0, 1], [2, 3]], dim_names=["dp", "tp"])


def tensors():
    yield "Values of a plain tensor", ap.gaussian([4, 6], seed=1)
    yield "A mesh: each cell is a rank", MESH


def layouts():
    """What rank 0 of four sees: ranks are threads here."""
    def body():
        x = ap.gaussian([6, 8], seed=2)
        shards: list[list[Placement]] = [[Shard(0), Shard(1)], [Replicate(), Shard(0)], [Shard(1), Partial()]]
        return [dist.shard_tensor(x, MESH, placements).sharding for placements in shards]

    for sharding in dist.run_ranks(MESH.size, body)[0]:
        yield "Who holds which part; 0+1: the value is the sum of what both hold", sharding


def rules():
    yield "What a product does with tensors that lie so", spmd.infer(
        "matmul", ([64, 32], [Shard(0), Shard(1)]), ([32, 16], [Replicate(), Shard(0)]), mesh=MESH)
    yield "A softmax over a dim that is split has to move it", spmd.infer("softmax", ([64, 32], [Shard(1)]), mesh=MESH)


def schedules():
    for kind in ("gpipe", "1f1b", "zb_h1"):
        yield "A pipeline of 4 stages; time runs to the right", dist.Schedule(kind, stages=4, micro_batches=8)


def explained():
    """What a step moved, and why."""
    def body():
        x = dist.shard_tensor(ap.gaussian([6, 8], seed=3), MESH, [Shard(0), Shard(1)])
        return str(testing.explain(lambda: ap.softmax(x, 1)))

    yield "Why bytes were moved", dist.run_ranks(MESH.size, body)[0]


def page(parts):
    sections = []
    for words, thing in parts:
        look = thing._repr_html_() if hasattr(thing, "_repr_html_") else f"<pre>{thing}</pre>"
        sections.append(f"<section><h3>{words}</h3><div style='overflow-x:auto'>{look}</div></section>")
    return ("<!DOCTYPE html><html><head><meta charset='utf-8'><title>Autophi</title></head>"
            "<body style='font-family:Helvetica,Arial,sans-serif;max-width:1000px;margin:auto'>"
            f"<h1>What a program looks like</h1>{''.join(sections)}</body></html>")


def main():
    file = Path(sys.argv[1] if len(sys.argv) > 1 else "looks.html")
    parts = [part for chapter in (tensors, layouts, rules, schedules, explained) for part in chapter()]
    file.write_text(page(parts), encoding="utf-8")
    print(f"{file}: {len(parts)} pictures")


if __name__ == "__main__":
    main()
