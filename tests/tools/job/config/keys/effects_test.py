"""Every documented key of a job file changes what a job does: none is read and forgotten."""

import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))
import image_files  # pylint: disable=wrong-import-position
import launch  # pylint: disable=wrong-import-position

DATA = launch.DATA["paths"]
IMAGES = image_files.folder()
SMALL = {"model.seq_len": 8, "model.d_model": 16, "model.layers": 2, "model.heads": 2}
STEPS = {**SMALL, "data.paths": DATA, "run.steps": 2, "run.global_batch": 4, "run.micro_batches": 2}
FORWARD = {**STEPS, "mode": "forward"}
TRAIN = {**STEPS, "mode": "train"}
LLAMA = {**FORWARD, "model.kind": "llama"}
OF_IMAGES = {"mode": "forward", "run.steps": 2, "run.global_batch": 4, "run.micro_batches": 2, "data.kind": "images",
             "data.format": "cifar10", "data.paths": [str(IMAGES / "cifar10.bin")]}
RESNET = {**OF_IMAGES, "model.kind": "resnet", "model.blocks": [1], "model.width": 4}
VIT = {**OF_IMAGES, "model.kind": "vit", "model.d_model": 16, "model.layers": 1, "model.heads": 2, "model.patch": 8}
FOLDERS = {**RESNET, "data.format": "folders", "data.paths": [str(IMAGES / "train")], "model.classes": 3}
MLP = {**FOLDERS, "model.kind": "mlp", "models": ["MODELS"]}
for foreign in ("model.blocks", "model.width"):
    del MLP[foreign]
MOMENTUM = {**TRAIN, "optimizer.kind": "momentum", "run.steps": 3}  # it begins with the second update
COSINE = {**TRAIN, "optimizer.schedule.kind": "cosine"}
STEP = {**TRAIN, "optimizer.schedule.kind": "step"}
GENERATE = {**SMALL, "mode": "generate", "generate.tokens": 12}
LARGE = {**TRAIN, "run.steps": 1, "run.global_batch": 8, "run.micro_batches": 4, "model.seq_len": 64, "model.d_model": 128,
         "model.layers": 4, "model.heads": 4}
OF_A_STEP = ("loss", "grad_norm", "lr", "loss_scale", "applied")
# What the report repeats of the job file and of the text, and times.
OF_NO_INTEREST = {"job", "mode", "mesh", "dtype", "seconds", "tokens_per_s", "step_seconds", "device_limit_bytes",
                  "host_limit_bytes", "transfer_seconds", "wait_seconds", "text_bytes", "text_fingerprint", "data"}


def played(*dims, **more):
    """A job of two ranks along each of `dims`; see `outcome`."""
    return {**TRAIN, "mesh.shape": [2] * len(dims), "mesh.dims": list(dims), **more}


# key: a job that reads it, and another value of it.
CASES = {
    "mode": (FORWARD, "train"),
    "ops": ({**FORWARD, "model.activation": "t_cube"}, ["OPS"]),
    "models": (MLP, []),
    "model.kind": (FORWARD, "llama"),
    "model.vocab": (FORWARD, 300),
    "model.seq_len": (FORWARD, 9),
    "model.d_model": (FORWARD, 32),
    "model.layers": (FORWARD, 3),
    "model.heads": (FORWARD, 4),
    "model.mlp_ratio": (FORWARD, 2),
    "model.activation": (FORWARD, "relu"),
    "model.dropout": (FORWARD, 0.5),
    "model.kv_heads": (LLAMA, 1),
    "model.ffn": (LLAMA, 100),
    "model.rope_base": (LLAMA, 5.0),
    "model.qkv_bias": (LLAMA, True),
    "model.tied_head": (FORWARD, True),
    "model.norm_eps": (FORWARD, 0.001),
    "model.seed": (FORWARD, 2),
    "model.blocks": (RESNET, [1, 1]),
    "model.width": (RESNET, 6),
    "model.channels": (RESNET, 1),
    "model.classes": (FOLDERS, 4),
    "model.image_size": ({**VIT, "data.image_size": 16}, 16),
    "model.patch": (VIT, 4),
    "model.hidden": (VIT, 8),
    "mesh.shape": ({**FORWARD, "mesh.shape": [4, 1], "mesh.dims": ["dp", "tp"]}, [2, 2]),
    "mesh.dims": ({**FORWARD, "mesh.shape": [4, 1], "mesh.dims": ["dp", "tp"]}, ["tp", "dp"]),
    "data.kind": ({**FORWARD, "data.paths": ["IDS"]}, "tokens"),
    "data.paths": (FORWARD, [DATA[0] + "/chapters/two.txt"]),
    "data.dtype": ({**FORWARD, "data.kind": "tokens", "data.paths": ["IDS"]}, "uint8"),
    "data.documents": ({**FORWARD, "data.paths": ["IDS", "IDS"]}, "apart"),
    "data.seed": (FORWARD, 2),
    "data.format": (FOLDERS, "cifar10"),
    "data.image_size": (RESNET, 16),
    "data.mean": (RESNET, [0.1, 0.2, 0.3]),
    "data.std": (VIT, [0.25]),  # batch norms undo a scale
    "run.steps": (FORWARD, 3),
    "run.global_batch": (FORWARD, 6),
    "run.micro_batches": (FORWARD, 4),
    "run.dtype": (FORWARD, "bfloat16"),
    "run.sequence_parallel": (played("tp"), True),
    "run.capture": (FORWARD, True),
    "run.schedule": (played("pp", **{"run.micro_batches": 4}), "gpipe"),
    "run.chunks": (played("pp", **{"model.layers": 4, "run.schedule": "interleaved"}), 2),
    "run.zero_stage": (played("dp"), 1),
    "run.recompute": (TRAIN, "full"),
    "run.save": (FORWARD, "SAVED"),
    "pipeline.cut": (played("pp", **{"model.layers": 4}), [1, 3]),
    "placements.parameters": (played("tp"), {"layer*.up.weight": {"tp": "R"}}),
    "placements.inputs": (played("tp"), {"layer1": {"tp": "S1"}}),
    "placements.outputs": (played("tp"), {"layer0": {"tp": "S1"}}),
    "optimizer.kind": (TRAIN, "sgd"),
    "optimizer.lr": (TRAIN, 0.1),
    "optimizer.betas": ({**TRAIN, "run.steps": 3}, [0.5, 0.6]),  # the first update does not depend on them
    "optimizer.eps": (TRAIN, 0.1),
    "optimizer.weight_decay": (TRAIN, 9.0),
    "optimizer.momentum": (MOMENTUM, 0.1),
    "optimizer.nesterov": (MOMENTUM, True),
    "optimizer.grad_clip": (TRAIN, 0.01),
    "optimizer.schedule": (TRAIN, "cosine"),
    "optimizer.schedule.kind": (TRAIN, "cosine"),
    "optimizer.schedule.warmup_steps": (TRAIN, 2),
    "optimizer.schedule.min_ratio": (COSINE, 0.9),
    "optimizer.schedule.milestones": (STEP, [1]),
    "optimizer.schedule.gamma": ({**STEP, "optimizer.schedule.milestones": [1]}, 0.5),
    "memory.device": (LARGE, "64MiB"),
    "memory.host": ({**LARGE, "memory.device": "5MiB", "memory.host": "64MiB"}, "1MiB"),
    "memory.disk": ({**LARGE, "memory.device": "5MiB", "memory.host": "1MiB"}, "FOLDER"),
    "weights": ({**FORWARD, "run.save": ""}, "WEIGHTS"),
    "generate.prompt": (GENERATE, "abc"),
    "generate.tokens": (GENERATE, 5),
    "generate.temperature": (GENERATE, 0.01),
    "generate.top_k": (GENERATE, 1),
    "generate.top_p": (GENERATE, 0.01),
    "generate.seed": (GENERATE, 2),
}
# What these do is seen where a job is stopped, fails, or goes on: resume_test.py and tests/tools/supervise.
OF_FAILURES = {"checkpoint.dir", "checkpoint.every", "checkpoint.minutes", "checkpoint.keep", "checkpoint.async",
               "checkpoint.fallback", "elastic.dp", "run.on_nonfinite", "run.loss_jump"}
# What it does is seen where several ranks generate text: layout_test.py.
OF_CACHES = {"placements.caches"}
# What these do is seen where a planned job runs: plan_key_test.py.
OF_PLANS = {"plan.devices", "plan.machine", "plan.machine_content", "plan.step_seconds", "plan.peak_bytes", "plan.of"}
# What these do is seen where a GPU is: gpu_job_test.cc.
OF_GPUS = {"place", "run.tf32", "run.messages", "run.reduction", "run.graphs"}
# What the same key does in another job.
ELSEWHERE = [
    ("run.zero_stage", {**FORWARD, "mesh.shape": [2], "mesh.dims": ["dp"]}, 3),
    ("model.seed", {**FORWARD, "weights": "WEIGHTS", "model.dropout": 0.5}, 2),
]


def nested(settings):
    """{"run.steps": 2} as {"run": {"steps": 2}}."""
    job = {}
    for path, value in settings.items():
        *sections, key = path.split(".")
        at = job
        for section in sections:
            at = at.setdefault(section, {})
        at[key] = value
    return job


def paths(job, prefix=""):
    """The keys of nested maps; a map below a key of a section is a key too (optimizer.schedule)."""
    for key, value in job.items():
        if not isinstance(value, dict) or prefix:
            yield prefix + key
        if isinstance(value, dict):
            yield from paths(value, f"{prefix}{key}.")


def stripped(value):
    if isinstance(value, dict):
        return {key: stripped(inner) for key, inner in value.items() if key not in OF_NO_INTEREST}
    return [stripped(inner) for inner in value] if isinstance(value, list) else value


class Effects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = launch.Folder()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.disk = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.disk.cleanup)
        cls.outcomes = {}
        cls.ids = pathlib.Path(cls.folder.name) / "ids.bin"  # uint16, all less than 256
        cls.ids.write_bytes(bytes(byte for n in range(200) for byte in (n * n % 251, 0)))
        cls.weights = str(pathlib.Path(cls.folder.name) / "weights")
        cls.outcome({**FORWARD, "model.seed": 5, "run.save": cls.weights})

    @classmethod
    def outcome(cls, settings):
        """The results of the job: its status, report and steps. A job with a mesh is a dry run."""
        text = json.dumps(nested(settings))
        if text in cls.outcomes:
            return cls.outcomes[text]
        root = pathlib.Path(cls.folder.name)
        report, metrics = root / "report.json", root / "metrics.jsonl"
        report.unlink(missing_ok=True)
        metrics.unlink(missing_ok=True)
        flags = ["--quiet", f"--report={report}"]
        ranks = 1
        for extent in settings.get("mesh.shape", []):
            ranks *= extent
        if ranks > 1:
            flags += ["--dry_run", f"--world_size={ranks}", "--rank=1"]
        elif settings["mode"] != "generate":
            flags += [f"--metrics={metrics}"]
        ended = launch.run(0, "run", cls.folder.write("job.yaml", text), *flags)
        said = stripped(json.loads(report.read_text())) if report.exists() else ended.output
        steps = [json.loads(line) for line in metrics.read_text().splitlines()] if metrics.exists() else []
        steps = [{key: step.get(key) for key in OF_A_STEP} for step in steps]
        cls.outcomes[text] = (ended.status, said, steps)
        return cls.outcomes[text]

    def test_another_value_of_a_key_is_another_outcome(self):
        names = {"['OPS']": [os.environ["T_FIRST_OPS"]], "SAVED": str(pathlib.Path(self.folder.name) / "saved"),
                 "FOLDER": self.disk.name, "WEIGHTS": self.weights, "['MODELS']": [os.environ["T_MODELS"]]}
        named = lambda given: [str(self.ids)] * len(given) if "IDS" in str(given) else names.get(str(given), given)
        cases = [(key, settings, value) for key, (settings, value) in CASES.items()]
        for key, settings, value in cases + ELSEWHERE:
            with self.subTest(key=key):
                settings = {path: named(given) for path, given in settings.items()}
                changed = {**settings, key: named(value)}
                before, after = self.outcome(settings), self.outcome(changed)
                # Only host memory that does not suffice, an operator or a model that is not there, and data
                # that does not fit the model, is no job.
                failing = {"memory.host": (0, 1), "memory.disk": (1, 0), "ops": (1, 0), "models": (0, 1),
                           "model.classes": (0, 1), "model.image_size": (1, 0),
                           "data.format": (0, 1)}.get(key, (0, 0))
                self.assertEqual((before[0] != 0, after[0] != 0), tuple(map(bool, failing)), (before, after))
                self.assertNotEqual(before, after)
        self.assertTrue(os.listdir(names["SAVED"]))

    def test_each_documented_key_has_a_case(self):
        blocks = re.findall("```yaml\n(.*?)```", (launch.SOURCE_DIR / "docs/running.md").read_text(), re.DOTALL)
        documented = set(paths(yaml.safe_load(blocks[0])))
        for model in re.findall(r"model: \{.*?\}", blocks[1], re.DOTALL):
            documented |= set(paths(yaml.safe_load(model)))
        self.assertEqual(set(CASES) | OF_FAILURES | OF_CACHES | OF_PLANS | OF_GPUS, documented)


if __name__ == "__main__":
    os.chdir(launch.SOURCE_DIR)
    unittest.main(verbosity=2)
