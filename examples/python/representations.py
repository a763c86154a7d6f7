"""Writes the notebook representations of tensors and meshes to one HTML file: representations.py [FILE].

A notebook shows the same objects this way: a tensor, its sharding, a mesh, a schedule, the result of a rule.
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
    """Shardings on rank 0 of four; ranks are threads here."""
    def body():
        x = ap.gaussian([6, 8], seed=2)
        shards: list[list[Placement]] = [[Shard(0), Shard(1)], [Replicate(), Shard(0)], [Shard(1), Partial()]]
        return [dist.shard_tensor(x, MESH, placements).sharding for placements in shards]

    for sharding in dist.run_ranks(MESH.size, body)[0]:
        yield "The shard that each rank stores; 0+1: the value is the sum of both shards", sharding


def rules():
    yield "Placements of a matmul of sharded tensors", spmd.infer(
        "matmul", ([64, 32], [Shard(0), Shard(1)]), ([32, 16], [Replicate(), Shard(0)]), mesh=MESH)
    yield "A softmax over a sharded dim reshards its input", spmd.infer("softmax", ([64, 32], [Shard(1)]), mesh=MESH)


def schedules():
    for kind in ("gpipe", "1f1b", "zb_h1"):
        yield "A pipeline of 4 stages; time runs to the right", dist.Schedule(kind, stages=4, micro_batches=8)


def explained():
    """The data that a step moved, and the reasons."""
    def body():
        x = dist.shard_tensor(ap.gaussian([6, 8], seed=3), MESH, [Shard(0), Shard(1)])
        return str(testing.explain(lambda: ap.softmax(x, 1)))

    yield "Data moved by a softmax, with the reasons", dist.run_ranks(MESH.size, body)[0]


def page(parts):
    sections = []
    for words, thing in parts:
        look = thing._repr_html_() if hasattr(thing, "_repr_html_") else f"<pre>{thing}</pre>"
        sections.append(f"<section><h3>{words}</h3><div style='overflow-x:auto'>{look}</div></section>")
    return ("<!DOCTYPE html><html><head><meta charset='utf-8'><title>Autophi</title></head>"
            "<body style='font-family:Helvetica,Arial,sans-serif;max-width:1000px;margin:auto'>"
            f"<h1>Representations of a program</h1>{''.join(sections)}</body></html>")


def main():
    file = Path(sys.argv[1] if len(sys.argv) > 1 else "looks.html")
    parts = [part for chapter in (tensors, layouts, rules, schedules, explained) for part in chapter()]
    file.write_text(page(parts), encoding="utf-8")
    print(f"{file}: {len(parts)} pictures")


if __name__ == "__main__":
    main()
