"""Ranks that were started differently: one message that names what differs and where, before anything is computed."""

import os
import pathlib
import shutil
import subprocess
import unittest

import launch

MODEL = {"seq_len": 8, "d_model": 16, "layers": 2, "heads": 2}
RUN = {"steps": 2, "global_batch": 4, "micro_batches": 2}


def job(**keys):
    return launch.job_text(model={**MODEL, **keys.pop("model", {})}, run={**RUN, **keys.pop("run", {})}, **keys)


class Agreement(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return str(pathlib.Path(self.folder.name) / name)

    def start_two(self, first, second, programs=(launch.AUTOPHI, launch.AUTOPHI)):
        """mpirun with a process for each list of words."""
        one = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "1", programs[0], *map(str, first)]
        words = [*one, ":", "-n", "1", programs[1], *map(str, second)]
        done = subprocess.run(words, cwd=launch.SOURCE_DIR, env=launch.environment(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        return launch.Outcome(done.returncode, done.stdout)

    def differs(self, outcome, *lines, status=2):
        self.assertEqual(outcome.status, status, outcome.output)
        self.assertEqual(outcome.count("started differently:"), 1, outcome.output)
        for line in lines:
            self.assertEqual(outcome.count(f"\n  {line}\n"), 1, f"wanted: {line}\ngot:\n{outcome.output}")
        self.assertEqual(outcome.count("step "), 0, outcome.output)

    def two_jobs(self, first, second):
        return self.start_two(
            ["run", self.folder.write("a.yaml", first)], ["run", self.folder.write("b.yaml", second)]
        )

    def test_keys(self):
        train = job(mode="train")
        rate = {"schedule": {"kind": "cosine"}}
        for other, line in [
            (job(mode="train", model={"seed": 4}), "model.seed is '3' at rank 0, '4' at rank 1"),
            (job(mode="train", optimizer={"lr": 0.5}), "optimizer.lr is '0.0003' at rank 0, '0.5' at rank 1"),
            (job(mode="train", optimizer=rate), "optimizer.schedule.kind is 'constant' at rank 0, 'cosine' at rank 1"),
            (job(mode="train", data={"seed": 6}), "data.seed is '5' at rank 0, '6' at rank 1"),
            (job(mode="train", run={"micro_batches": 1}), "run.micro_batches is '2' at rank 0, '1' at rank 1"),
            (job(), "mode is 'train' at rank 0, 'forward' at rank 1"),
        ]:
            with self.subTest(line=line):
                self.differs(self.two_jobs(train, other), line)

    def test_layouts(self):
        staged = {"model": {"layers": 4}, "mesh": {"shape": [2, 1], "dims": ["pp", "tp"]}}
        cuts = [job(pipeline={"cut": cut}, **staged) for cut in ([1, 3], [2, 2])]
        self.differs(self.two_jobs(*cuts), "pipeline.cut is '[1, 3]' at rank 0, '[2, 2]' at rank 1")
        rows = [job(placements={"parameters": {"head": {"tp": to}}}, **staged) for to in ("R", "S0")]
        line = "placements.parameters is '{head: {tp: R}}' at rank 0, '{head: {tp: S0}}' at rank 1"
        self.differs(self.two_jobs(*rows), line)

    def test_prompts(self):
        jobs = [launch.job_text(mode="generate", model=MODEL, generate={"prompt": text}) for text in ("abc", "abd")]
        self.differs(self.two_jobs(*jobs), "generate.prompt is 'abc' at rank 0, 'abd' at rank 1")

    def test_flags_and_meshes(self):
        file = self.folder.write("job.yaml", job())
        with_flag = self.start_two(["run", file], ["run", file, "--deadline_s=7"])
        self.differs(with_flag, "--deadline_s is '60' at rank 0, '7' at rank 1")
        meshes = self.start_two(["run", file, "--mesh=tp=2"], ["run", file, "--mesh=dp=2"])
        self.differs(meshes, "mesh.dims is '[tp]' at rank 0, '[dp]' at rank 1")

    def test_what_rank_0_alone_reads_may_differ(self):
        file = self.folder.write("job.yaml", job())
        report = self.path("report.json")
        outcome = self.start_two(["run", file, "--quiet", f"--report={report}"], ["run", file])
        self.assertEqual((outcome.status, outcome.output), (0, ""))
        self.assertTrue(os.path.exists(report))

    def data_in_two_places(self, change):
        """The same job in two folders, whose texts have one name and one size."""
        for place in ("one", "two"):
            os.makedirs(self.path(place))
            pathlib.Path(self.path(place), "text.txt").write_text("some text of a size " * 50)
        change(pathlib.Path(self.path("two"), "text.txt"))
        file = self.folder.write("job.yaml", job(data={"paths": ["text.txt"]}))
        places = ["bash", "-c", 'cd "$0" && exec "$@"']
        return self.start_two(
            [*places[1:], self.path("one"), launch.AUTOPHI, "run", file],
            [*places[1:], self.path("two"), launch.AUTOPHI, "run", file],
            programs=("bash", "bash"),
        )

    def test_text_of_the_same_size(self):
        outcome = self.data_in_two_places(lambda text: text.write_text("some tExt of a size " * 50))
        self.assertEqual(outcome.status, 2, outcome.output)
        self.assertRegex(outcome.output, r"\n  data.content is '\w{16}' at rank 0, '\w{16}' at rank 1\n")

    def test_weights(self):
        weights = self.path("weights")
        self.folder.report(0, job(run={"steps": 0, "save": weights}))
        shutil.copytree(weights, self.path("w"))
        file = pathlib.Path(self.path("w"), "model.safetensors")
        tail = bytearray(file.read_bytes())
        tail[-1] ^= 1
        text = job(weights="w")
        self.folder.write("job.yaml", text)
        os.makedirs(self.path("elsewhere"))
        shutil.copytree(self.path("w"), self.path("elsewhere/w"))
        pathlib.Path(self.path("elsewhere/w"), "model.safetensors").write_bytes(bytes(tail))
        go = ["-c", 'cd "$0" && exec "$@"']
        outcome = self.start_two(
            [*go, self.folder.name, launch.AUTOPHI, "run", self.path("job.yaml")],
            [*go, self.path("elsewhere"), launch.AUTOPHI, "run", self.path("job.yaml")],
            programs=("bash", "bash"),
        )
        self.assertEqual(outcome.status, 2, outcome.output)
        self.assertRegex(outcome.output, r"\n  weights.content is '\w{16}' at rank 0, '\w{16}' at rank 1\n")

    def test_programs(self):
        other = self.path("autophi")
        shutil.copy(launch.AUTOPHI, other)
        with open(other, "ab") as file:
            file.write(b"\0")
        words = ["run", self.folder.write("job.yaml", job())]
        outcome = self.start_two(words, words, programs=(launch.AUTOPHI, other))
        self.assertEqual(outcome.status, 2, outcome.output)
        self.assertRegex(outcome.output, r"\n  the program is '\w{16}' at rank 0, '\w{16}' at rank 1\n")

    def test_subcommands(self):
        file = self.folder.write("job.yaml", job())
        for other in (["export", file], ["--version"], [], ["run", "--help"], ["nonsense"]):
            with self.subTest(other=other):
                name = "run --help" if "--help" in other else other[0] if other else ""
                line = f"the subcommand is 'run' at rank 0, '{name}' at rank 1"
                self.differs(self.start_two(["run", file], other), line)
        outcome = self.start_two(["export", file], ["export", file, "--mode=train"])
        self.differs(outcome, "word 3 is absent at rank 0, '--mode=train' at rank 1")

    def test_one_process_does_what_is_not_parallel(self):
        outcome = launch.run(2, "export", self.folder.write("job.yaml", job()))
        self.assertEqual(outcome.status, 0, outcome.output)
        self.assertEqual(outcome.count("module @gpt_forward"), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
