"""Jobs on token files: the same losses from every kind of file and on every mesh, and an error for each that is wrong."""

import json
import os
import pathlib
import random
import re
import sys
import unittest

import launch

sys.path.insert(0, str(launch.SOURCE_DIR / "tests/api/data"))
import batches  # pylint: disable=wrong-import-position

SEED = 11
VOCAB = 50
TOLERANCE = 1e-5  # relative, float32
TRAIN = {"steps": 4, "global_batch": 4, "micro_batches": 2}


class Jobs(unittest.TestCase):
    def setUp(self):
        self.folder = launch.Folder()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        draw = random.Random(SEED)
        # Documents of up to 60 tokens, of which windows of 17 are drawn.
        self.documents = [[[draw.randrange(VOCAB) for _ in range(draw.randrange(20))] for _ in range(draw.randrange(4))]
                          for _ in range(200)]
        self.ids = [id for document in self.documents for sequence in document for id in sequence]
        batches.write_megatron(self.path / "set", self.documents, "uint16")
        batches.write_tokens(self.path / "flat.bin", self.ids, "uint16")

    def job(self, kind, *names, vocab=VOCAB, mode="train", **data):
        paths = [str(self.path / name) for name in names]
        model = {"vocab": vocab, "seq_len": 16, "d_model": 32, "layers": 2, "heads": 2}
        return launch.job_text(mode=mode, model=model, run=TRAIN, data={"kind": kind, "paths": paths, **data})

    def report(self, processes, text, *flags):
        return self.folder.report(processes, text, *flags)

    def check_losses(self, losses, expected):
        worst = max(abs(a - b) / abs(b) for a, b in zip(losses, expected, strict=True))
        self.assertLess(worst, TOLERANCE, f"{losses} against {expected}")


class TokenData(Jobs):
    def test_every_mesh_sees_the_same_batches(self):
        for data in (self.job("tokens", "flat.bin"), self.job("megatron", "set", documents="apart")):
            expected, _ = self.report(0, data, "--mesh=1")
            self.assertGreater(expected["losses"][0], 3.8)  # log(50) is 3.9
            for mesh in ("dp=2", "tp=2", "pp=2"):
                with self.subTest(mesh=mesh, data=data):
                    report, _ = self.report(2, data, f"--mesh={mesh}")
                    self.check_losses(report["losses"], expected["losses"])
                    self.assertEqual(report["data"], expected["data"])
                    self.assertEqual(report["text_fingerprint"], expected["text_fingerprint"])

    def test_the_kind_of_file_makes_no_difference(self):
        batches.write_tokens(self.path / "text", self.ids, "uint8")
        batches.write_tokens(self.path / "one.bin", self.ids[:777], "int32")
        batches.write_tokens(self.path / "two.bin", self.ids[777:], "int32")
        jobs = [self.job("bytes", "text", vocab=256), self.job("tokens", "flat.bin", vocab=256),
                self.job("tokens", "one.bin", "two.bin", vocab=256, dtype="int32"), self.job("megatron", "set.idx", vocab=256)]
        reports = [self.report(0, job)[0] for job in jobs]
        for report in reports:
            self.assertEqual(report["losses"], reports[0]["losses"])
        self.assertNotIn("data", reports[0])
        self.assertEqual(reports[2]["data"], {"kind": "tokens", "dtype": "int32", "tokens": len(self.ids)})

    def test_documents_that_are_too_short_are_counted(self):
        lengths = [sum(map(len, document)) for document in self.documents]
        short = sum(length <= 16 for length in lengths)
        report, outcome = self.report(2, self.job("megatron", "set", documents="apart"), "--mesh=dp=2")
        self.assertIn(f" · 200 separate documents, {short} of them too short and left out · 2 micro-batches", outcome.output)
        self.assertEqual(report["data"]["documents"], 200)
        self.assertEqual(report["data"]["documents_left_out"], short)
        joined, outcome = self.report(2, self.job("megatron", "set"), "--mesh=dp=2")
        self.assertIn(f"{len(self.ids) / 1000:.1f}k tokens (uint16) of 1 file · 2 micro-batches", outcome.output)
        self.assertNotEqual(joined["losses"], report["losses"])

    def test_a_rank_reads_its_rows(self):
        report, _ = self.report(2, self.job("tokens", "flat.bin", mode="forward"), "--mesh=dp=2")
        ids_and_labels = 2 * 2 * 16 * TRAIN["steps"] * TRAIN["global_batch"]  # uint16
        for rank in report["ranks"]:
            self.assertEqual(rank["transfers"]["disk_to_device"]["bytes"], ids_and_labels // 2)

    def test_paths_are_looked_for_above_the_job_file(self):
        (self.path / "jobs").mkdir()
        job = self.folder.write("jobs/job.yaml", json.dumps({**json.loads(self.job("megatron", "set")),
                                                             "data": {"kind": "megatron", "paths": ["set"]}}))
        outcome = launch.run(0, "run", job)
        self.assertEqual(outcome.status, 0, outcome.output)

    def test_a_dry_run_reads_no_ids(self):
        outcome = launch.run(0, "run", self.folder.write("job.yaml", self.job("tokens", "flat.bin", vocab=2)), "--dry_run",
                             "--world_size=4", "--rank=1")
        self.assertEqual(outcome.status, 0, outcome.output)


class BadData(Jobs):
    def check(self, text, message, processes):
        outcome = launch.run(processes, "run", self.folder.write("job.yaml", text))
        self.assertEqual(outcome.status, 2, outcome.output)
        self.assertEqual(outcome.count(message), 1, f"wanted once: {message}\ngot:\n{outcome.output}")

    def test_what_is_wrong_before_the_start_is_said_once(self):
        path = self.path
        (path / "odd.bin").write_bytes(b"abc")
        (path / "empty.bin").write_bytes(b"")
        (path / "cut.idx").write_bytes((path / "set.idx").read_bytes()[:-1])
        (path / "cut.bin").write_bytes((path / "set.bin").read_bytes())
        (path / "other.idx").write_bytes((path / "set.idx").read_bytes())
        (path / "other.bin").write_bytes((path / "set.bin").read_bytes()[:-2])
        (path / "magic.idx").write_bytes(b"TNTIDX\0\0" + (path / "set.idx").read_bytes()[8:])
        (path / "magic.bin").write_bytes((path / "set.bin").read_bytes())
        batches.write_megatron(path / "short", [[[1] * 16], [[2] * 16]], "uint16")
        key = "key 'data.paths': "
        cases = [
            (self.job("tokens", "nowhere.bin"), f"{key}no file or folder '{path}/nowhere.bin'"),
            (self.job("tokens", "odd.bin"), f"{key}'{path}/odd.bin' has 3 bytes, which is not a multiple of uint16 ids"),
            (self.job("tokens", "empty.bin"), f"{key}'{path}/empty.bin' is empty."),
            (self.job("tokens", "set.idx"), f"{key}'{path}/set.idx' does not contain only ids: it is an index of Megatron-LM"),
            (self.job("tokens", ""), "is a folder; list its files of token ids"),
            (self.job("megatron", "flat.bin"), f"{key}no file or folder '{path}/flat.idx'"),
            (self.job("megatron", "cut"), f"{key}'{path}/cut.idx' has "),
            (self.job("megatron", "other"), f"{key}'{path}/other.idx' does not match its .bin, which has"),
            (self.job("megatron", "magic"), f"{key}'{path}/magic.idx' is not an index of Megatron-LM: it does not begin with MMIDIDX"),
            (self.job("megatron", "short", documents="apart"),
             "key 'model.seq_len': none of 2 documents is long enough for a window of seq_len 16 + 1: the longest has 16"),
            (self.job("tokens", "flat.bin", documents="apart"), "key 'data.documents': applies only to a job with data.kind: bytes or"),
            (self.job("megatron", "set", dtype="int32"), "key 'data.dtype': applies only to a job with data.kind: tokens"),
            (self.job("tokens", "flat.bin", dtype="uint64"), "key 'data.dtype': must be one of uint8, int8, uint16"),
            (self.job("token", "flat.bin"), "key 'data.kind': must be one of bytes, tokens, megatron, images; got 'token', did"),
            (self.job("bytes", "flat.bin"), "key 'model.vocab': 50 is less than 256: data of kind bytes has ids up to 255."),
        ]
        for number, (text, message) in enumerate(cases):
            with self.subTest(message=message):
                self.check(text, message, processes=2 if number % 5 == 0 else 0)

    def test_an_id_beyond_the_vocabulary_ends_the_job(self):
        ids = list(self.ids)
        for at in range(1000, 1400):
            ids[at] = VOCAB
        batches.write_tokens(self.path / "flat.bin", ids, "uint16")
        text = self.job("tokens", "flat.bin")
        outcome = launch.run(2, "run", self.folder.write("job.yaml", text), "--mesh=dp=2")
        self.assertNotEqual(outcome.status, 0)
        found = re.search(rf"token (\d+) of '{self.path}/flat.bin' \(byte offset (\d+)\) is the id 50, which is outside a vocab of 50",
                          outcome.output)
        self.assertTrue(found, outcome.output)
        token, offset = map(int, found.groups())
        self.assertEqual(offset, 2 * token)
        self.assertTrue(1000 <= token < 1400)
        self.assertIn("of 2, step ", outcome.output)


if __name__ == "__main__":
    os.chdir(launch.SOURCE_DIR)
    unittest.main(verbosity=2)
