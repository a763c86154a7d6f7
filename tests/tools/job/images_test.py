"""Models of images in a job: equal losses on every mesh, resumption, and what is refused."""

import json
import pathlib
import shutil
import unittest

import image_files
import launch

IMAGES = image_files.folder()
RESNET = {"kind": "resnet", "blocks": [1, 1], "width": 4, "classes": 3}
VIT = {"kind": "vit", "patch": 8, "classes": 10, "d_model": 16, "layers": 2, "heads": 4, "hidden": 32}
FOLDERS = {"kind": "images", "paths": [str(IMAGES / "train")]}
CIFAR = {"kind": "images", "format": "cifar10", "paths": [str(IMAGES / "cifar10.bin")]}
RUN = {"steps": 4, "global_batch": 8, "micro_batches": 2}


def job_text(model, data, run=None, **top):
    job = {"mode": "train", "model": model, "data": data, "run": {**RUN, **(run or {})},
           "optimizer": {"lr": 0.01}, **top}
    if job["mode"] != "train":
        del job["optimizer"]
    return json.dumps(job, indent=1)


class Images(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)

    def report(self, processes, text, *flags):
        return self.folder.report(processes, text, *flags)

    def losses(self, processes, text, *flags):
        return self.report(processes, text, *flags)[0]["losses"]

    def expect_equal_on(self, text, *meshes):
        alone = self.losses(0, text, "--mesh=1")
        self.assertEqual(len(alone), RUN["steps"])
        for processes, mesh in meshes:
            with self.subTest(mesh=mesh):
                for one, other in zip(alone, self.losses(processes, text, f"--mesh={mesh}")):
                    self.assertAlmostEqual(one, other, places=4)
        return alone

    def fails(self, words, text, processes=0, *flags):
        outcome = launch.run(processes, "run", self.folder.write("job.yaml", text), *flags)
        self.assertNotEqual(outcome.status, 0, outcome.output)
        self.assertIn(words, outcome.output)

    def test_a_residual_network_trains_equally_on_any_mesh(self):
        self.expect_equal_on(job_text(RESNET, FOLDERS), (2, "dp=2"), (3, "dp=3"))

    def test_a_vision_transformer_trains_equally_on_any_mesh(self):
        self.expect_equal_on(job_text(VIT, CIFAR), (2, "dp=2"), (2, "tp=2"), (2, "pp=2"), (4, "dp=2,tp=2"))

    def test_forward_passes_have_losses_too(self):
        for model, data in ((RESNET, FOLDERS), (VIT, CIFAR)):
            self.expect_equal_on(job_text(model, data, mode="forward"), (2, "dp=2"))

    def test_it_learns(self):
        run = {"steps": 30, "global_batch": 24, "micro_batches": 1}
        losses = self.losses(0, job_text(RESNET, FOLDERS, run=run))
        self.assertLess(sum(losses[-5:]) / 5, 0.6 * losses[0])

    def test_options_of_training_give_the_same_losses(self):
        text = lambda **run: job_text(RESNET, FOLDERS, run=run)
        alone = self.losses(0, text())
        self.assertEqual(alone, self.losses(0, text(capture=True)))
        for one, other in zip(alone, self.losses(2, text(zero_stage=2), "--mesh=dp=2")):
            self.assertAlmostEqual(one, other, places=4)

    def test_half_precision_trains(self):
        for model, data in ((RESNET, FOLDERS), (VIT, CIFAR)):
            whole = self.losses(0, job_text(model, data))
            half = self.losses(0, job_text(model, data, run={"dtype": "bfloat16"}))
            self.assertAlmostEqual(whole[0], half[0], places=1)

    def test_gray_images_have_one_channel(self):
        color = self.losses(0, job_text(RESNET, FOLDERS))
        gray = self.losses(0, job_text({**RESNET, "channels": 1}, {**FOLDERS, "image_size": 24}))
        self.assertNotEqual(color, gray)

    def test_a_resumed_job_has_the_losses_of_one_that_was_not_stopped(self):
        saves = lambda steps, name: job_text(RESNET, FOLDERS, run={"steps": steps},
                                             checkpoint={"dir": str(pathlib.Path(self.folder.name) / name), "every": 2})
        for processes in (0, 2):
            whole = self.losses(processes, job_text(RESNET, FOLDERS, run={"steps": 6}))
            name = f"saved{processes}"
            first = self.losses(processes, saves(4, name))
            rest, _ = self.report(processes, saves(6, name), "--resume")
            self.assertEqual(rest["first_step"], 5)
            self.assertEqual(first + rest["losses"], whole)

    def test_saved_weights_are_loaded_and_compared(self):
        saved = str(pathlib.Path(self.folder.name) / "weights")
        self.report(0, job_text(RESNET, FOLDERS, run={"save": saved}))
        again = lambda model: job_text(model, FOLDERS, weights=saved)
        self.assertNotEqual(self.losses(0, job_text(RESNET, FOLDERS))[0], self.losses(0, again(RESNET))[0])
        self.fails("'width' of the model is 6; in", again({**RESNET, "width": 6}))
        text = json.dumps({"weights": saved, "data": launch.DATA})
        self.fails("the model is a gpt; '", text)
        job = self.folder.write("job.yaml", job_text(RESNET, FOLDERS))
        outcome = launch.run(0, "weights", "convert", saved, saved + "_of_others", f"--job={job}")
        self.assertIn("key 'model.kind': weights of kind resnet have no other format", outcome.output)

    def test_the_report_and_the_header_describe_the_data(self):
        report, outcome = self.report(0, job_text(RESNET, FOLDERS))
        self.assertEqual(report["data"], {"kind": "images", "images": 120, "classes": 3, "files_left_out": 0})
        self.assertIn("120 images of 3 classes in 120 files · 2 micro-batches of 4 images a step", outcome.output)
        self.assertIn("img/s", outcome.output)

    def test_a_damaged_file_is_named_where_it_is_read(self):
        train = pathlib.Path(self.folder.name) / "train"
        shutil.copytree(IMAGES / "train", train)
        (train / "vertical/07.png").write_bytes((train / "vertical/07.png").read_bytes()[:200])
        data = {"kind": "images", "paths": [str(train)]}
        text = job_text(RESNET, data, run={"steps": 1, "global_batch": 120, "micro_batches": 1})
        self.fails("vertical/07.png' is a damaged PNG file", text, 2, "--mesh=dp=2")

    def test_what_does_not_fit_is_told_with_the_key(self):
        for words, model, data, more in (
            ("key 'data.kind': is bytes, and a model of kind resnet takes images", RESNET,
             {"kind": "bytes", "paths": launch.DATA["paths"]}, {}),
            ("key 'data.kind': is images, and a model of kind gpt takes token ids", {"kind": "gpt"}, FOLDERS, {}),
            ("key 'model.channels': images have 1 channel (luma) or 3", {**RESNET, "channels": 2}, FOLDERS, {}),
            ("key 'data.image_size': is 16, and model.image_size is 32", VIT, {**CIFAR, "image_size": 16}, {}),
            ("key 'data.mean': must be one number, or one for each of the 3 channels; got 2", RESNET,
             {**FOLDERS, "mean": [0.1, 0.2]}, {}),
            ("key 'data.paths': the data has 3 folders of classes in", {**RESNET, "classes": 5}, FOLDERS, {}),
            ("key 'mode': mode generate writes text, and a model of kind vit takes images", VIT, CIFAR,
             {"mode": "generate"}),
            ("key 'run.recompute': applies only to a job with a model.kind with repeated layers", RESNET, FOLDERS,
             {"run": {"recompute": "full"}}),
        ):
            with self.subTest(words=words):
                self.fails(words, job_text(model, data, **more))

    def test_a_mesh_that_cannot_split_the_model_is_refused(self):
        text = job_text(RESNET, FOLDERS)
        self.fails("a model without repeated layers cannot be split over pipeline stages", text, 2, "--mesh=pp=2")
        self.fails("a model without placements along tp cannot be split over it", text, 2, "--mesh=tp=2")

    def test_a_rank_of_any_job_can_be_simulated_and_a_step_exported(self):
        flags = ["--dry_run", "--world_size=8", "--rank=5", "--mesh=dp=8"]
        report, _ = self.report(0, job_text(RESNET, FOLDERS, run={"global_batch": 16}), *flags)
        self.assertTrue(report["dry_run"])
        job = self.folder.write("job.yaml", job_text(VIT, CIFAR, mode="forward"))
        outcome = launch.run(0, "export", job, "--mesh=dp=2,tp=2")
        self.assertEqual(outcome.status, 0, outcome.output)
        self.assertIn("images0", outcome.output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
