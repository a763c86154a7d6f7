"""Libraries of models in a job: their kinds train on every mesh; errors are reported."""

import json
import os
import pathlib
import shutil
import unittest

import image_files
import launch

MODELS = os.environ["T_MODELS"]  # examples/model_kind
IMAGES = image_files.folder()
MLP = {"kind": "mlp", "image_size": 8, "channels": 1, "classes": 3, "hidden": 16}


def job_text(model=None, models=(MODELS,), **top):
    return json.dumps({"mode": "train", "models": list(models), "model": model or MLP,
                       "data": {"kind": "images", "paths": [str(IMAGES / "train")], "image_size": 8},
                       "run": {"steps": 3, "global_batch": 8, "micro_batches": 2}, **top})


class Models(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def fails(self, words, text):
        outcome = launch.run(2, "run", self.folder.write("job.yaml", text))
        self.assertEqual(outcome.status, 2, outcome.output)
        self.assertIn(words, outcome.output)
        self.assertEqual(outcome.count(words), 1, "one rank says it")

    def test_a_kind_of_a_library_trains_on_any_mesh(self):
        alone = self.folder.report(0, job_text(), "--mesh=1")[0]["losses"]
        for processes, mesh in ((2, "dp=2"), (2, "tp=2"), (4, "dp=2,tp=2")):
            with self.subTest(mesh=mesh):
                losses = self.folder.report(processes, job_text(), f"--mesh={mesh}")[0]["losses"]
                for one, other in zip(alone, losses):
                    self.assertAlmostEqual(one, other, places=4)

    def test_its_weights_are_saved_and_loaded(self):
        saved = str(pathlib.Path(self.folder.name) / "weights")
        run = {"steps": 3, "global_batch": 8, "micro_batches": 2}
        self.folder.report(2, job_text(run={**run, "save": saved}))
        self.folder.report(0, job_text(weights=saved))
        self.fails("'hidden' of the model is 8; in", job_text({**MLP, "hidden": 8}, weights=saved))

    def test_what_is_wrong_is_told_with_the_key(self):
        self.fails("key 'model.kind': must be one of gpt, llama, resnet, vit, or of a library in the key 'models'; "
                   "got 'mlp'", job_text(models=[]))
        self.fails("key 'model.kind': must be one of gpt, llama, resnet, vit, mlp", job_text({**MLP, "kind": "mpl"}))
        self.fails("key 'models': there is no model library 'no/such.so'", job_text(models=["no/such.so"]))
        self.fails("key 'model.hidden': must be an integer from 1 to", job_text({**MLP, "hidden": 0}))
        self.fails("key 'model.hiden': there is no such key, did you mean 'hidden'?", job_text({**MLP, "hiden": 3}))
        self.fails("key 'model.width': applies only to a job with model.kind: resnet", job_text({**MLP, "width": 3}))
        self.fails("key 'data.image_size': is 8, and model.image_size is 16", job_text({**MLP, "image_size": 16}))

    def test_it_is_found_from_the_jobs_folder_too(self):
        (pathlib.Path(self.folder.name) / "jobs").mkdir()
        shutil.copy(MODELS, pathlib.Path(self.folder.name) / "libnear.so")
        outcome = launch.run(0, "run", self.folder.write("jobs/job.yaml", job_text(models=["libnear.so"])))
        self.assertEqual(outcome.status, 0, outcome.output)

    def test_a_library_of_other_headers_is_refused(self):
        other = pathlib.Path(self.folder.name) / "libother.so"
        code = pathlib.Path(MODELS).read_bytes()
        at = code.index(b"autophi_abi_")
        end = code.index(b"\0", at)
        other.write_bytes(code.replace(code[at:end], code[at : end - 1] + b"z"))
        self.fails("was built against other headers", job_text(models=[str(other)]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
