"""Libraries of operators in a job: the model uses their operators, equally on every mesh; errors are reported."""

import os
import pathlib
import shutil
import unittest

import launch

OPS = os.environ["T_FIRST_OPS"]
CUBE = {"activation": "t_cube"}


class Ops(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def losses(self, processes, *flags, **job):
        text = launch.job_text(mode="train", **job)
        return self.folder.report(processes, text, *flags)[0]["losses"]

    def fails(self, words, **job):
        outcome = launch.run(2, "run", self.folder.write("job.yaml", launch.job_text(mode="train", **job)))
        self.assertNotEqual(outcome.status, 0)
        self.assertIn(words, outcome.output)
        self.assertEqual(outcome.count(words), 1, "one rank says it")

    def test_a_model_trains_with_an_operator_of_a_library_on_any_mesh(self):
        alone = self.losses(0, "--mesh=1", model=CUBE, ops=[OPS])
        self.assertNotEqual(alone, self.losses(0, "--mesh=1"), "the operator has an effect")
        for processes, mesh in ((2, "tp=2"), (4, "dp=2,tp=2"), (2, "pp=2")):
            with self.subTest(mesh=mesh):
                for one, other in zip(alone, self.losses(processes, f"--mesh={mesh}", model=CUBE, ops=[OPS])):
                    self.assertAlmostEqual(one, other, places=4)

    def test_any_operator_of_one_tensor_will_do(self):
        self.assertNotEqual(self.losses(0, "--mesh=1", model={"activation": "relu"}), self.losses(0, "--mesh=1"))

    def test_what_is_not_there_is_told_with_the_key(self):
        self.fails("key 'model.activation': there is no operator 't_cube'", model=CUBE)
        self.fails("key 'model.activation': 'matmul' is not an activation", model={"activation": "matmul"})
        self.fails("key 'ops': there is no operator library 'no/such.so'", ops=["no/such.so"])

    def test_it_is_found_from_the_jobs_folder_too(self):
        (pathlib.Path(self.folder.name) / "jobs").mkdir()
        shutil.copy(OPS, pathlib.Path(self.folder.name) / "libnear.so")
        job = self.folder.write("jobs/job.yaml", launch.job_text(mode="train", model=CUBE, ops=["libnear.so"]))
        outcome = launch.run(0, "run", job)
        self.assertEqual(outcome.status, 0, outcome.output)

    def test_a_library_of_other_headers_is_refused(self):
        other = pathlib.Path(self.folder.name) / "libother.so"
        shutil.copy(OPS, other)
        code = other.read_bytes()
        at = code.index(b"autophi_abi_")
        end = code.index(b"\0", at)
        other.write_bytes(code.replace(code[at:end], code[at : end - 1] + b"z"))
        self.fails("was built against other headers", ops=[str(other)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
