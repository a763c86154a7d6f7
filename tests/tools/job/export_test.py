"""autophi export: the example's step as text, by one process, and what is said of bad calls."""

import pathlib
import re
import unittest

import launch

EXAMPLE = launch.SOURCE_DIR / "examples/gpt_export.yaml"


class Export(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def export(self, *args):
        return launch.run(0, "export", *args)

    def test_training_step_is_written(self):
        file = pathlib.Path(self.folder.name) / "step.mlir"
        outcome = self.export(EXAMPLE, f"--out={file}")
        self.assertEqual(outcome.status, 0, outcome.output)
        text = file.read_text()
        self.assertIn("module @gpt_train attributes {mhlo.num_partitions = 8 : i32", text)
        self.assertIn('sdy.mesh @mesh = <["dp"=2, "pp"=2, "tp"=2]>', text)
        self.assertRegex(text, r"%layer0\.qkv\.weight: tensor<64x192xf32> {sdy.sharding = ")
        self.assertIn("%layer0.qkv.weight.moment1: ", text)
        self.assertIn('jax.result_info = "layer0.qkv.weight.moment2.new"', text)
        inputs = re.findall(r"%([\w.]+): tensor", text[: text.index(") -> (")])
        self.assertEqual(inputs[:6], ["ids0", "labels0", "ids1", "labels1", "learning_rate", "step"])
        # Every input has a name of its own.
        self.assertEqual([name for name in inputs if re.fullmatch(r"arg\d+", name)], [])

    def test_forward_goes_to_the_standard_output_and_has_no_update(self):
        outcome = self.export(EXAMPLE, "--mode=forward", "--mesh=dp=4,tp=2")
        self.assertEqual(outcome.status, 0, outcome.output)
        self.assertIn('sdy.mesh @mesh = <["dp"=4, "tp"=2]>', outcome.output)
        self.assertEqual(outcome.count("jax.result_info"), 1)

    def test_how_a_step_is_run_does_not_matter(self):
        folder = launch.Folder()
        self.addCleanup(folder.cleanup)

        def exported(**keys):
            job = launch.job_text(mode="train", **keys)
            outcome = self.export(folder.write("job.yaml", job), f"--out={folder.name}/step.mlir")
            self.assertEqual(outcome.status, 0, outcome.output)
            return pathlib.Path(folder.name, "step.mlir").read_text()

        plain = exported()
        self.assertEqual(exported(run={"capture": True}), plain)
        self.assertEqual(exported(memory={"device": "4MiB", "host": "64MiB"}), plain)

    def test_what_cannot_be_exported_is_said(self):
        for args, message in [
            ([EXAMPLE, "--mode=generate"], "not of mode 'generate'"),
            ([], "autophi export expects one job file, got 0"),
            ([EXAMPLE, "--out=/no/such/folder/x"], "cannot write the step '/no/such/folder/x': No such file"),
            ([EXAMPLE, "--otu=x"], "unknown flag --otu"),
        ]:
            with self.subTest(args=args):
                outcome = self.export(*args)
                self.assertNotEqual(outcome.status, 0)
                self.assertEqual(outcome.count(message), 1, outcome.output)


if __name__ == "__main__":
    unittest.main()
