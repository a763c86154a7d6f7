"""Pages about real runs and predictions: what they say, in Chromium too; sources that are refused."""

import json
import os
import re
import subprocess
import sys

import chromium
import pytest

import autophi as ap
from autophi import jobs, plan
from autophi.viewing.charts import Table

pytest.importorskip("plotly", reason="plotly is not installed here")
COMMAND = os.environ.get("AUTOPHI_COMMAND")
needs_command = pytest.mark.skipif(not COMMAND, reason="AUTOPHI_COMMAND does not say where the command autophi is")
MOST_BYTES = 6 << 20  # of a page
JOB = {"mode": "train",
       "model": {"kind": "gpt", "vocab": 256, "seq_len": 16, "d_model": 32, "layers": 4, "heads": 4},
       "data": {"paths": [os.path.dirname(os.path.abspath(__file__))]},
       "run": {"steps": 3, "global_batch": 8, "micro_batches": 2},
       "optimizer": {"lr": 3.0e-3}}
MACHINE = """
device: cpu
memory_GiB: 1
links: [{name: node, latency_us: 1, GBps: 10}]
peak_TFLOPS: {float32: 0.01}
families:
  float32:
    matmul: {ops: [matmul, matmul_grad], by: flops, points: [[1, 1e9]]}
    bytes: {points: [[1, 1e10]]}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("view")
    (path / "machine.yaml").write_text(MACHINE, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def files_of_4_ranks(folder):
    """The files of a job on 4 processes, by kind."""
    files = {kind: str(folder / f"{kind}.json") for kind in ("report", "trace", "metrics")}
    options = {"mesh": "pp=2,tp=2", "machine": str(folder / "machine.yaml"), **files}
    program = f"from autophi import jobs\njobs.run({JOB!r}, **{options!r})"
    mpirun = os.environ.get("AUTOPHI_MPIRUN") or "mpirun"
    subprocess.run([mpirun, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "4", sys.executable,
                    "-c", program], check=True, timeout=120, stdin=subprocess.DEVNULL)
    return files


@pytest.fixture(scope="module")
def files_of_16384_ranks(folder):
    """The prediction and the simulated trace of a Llama on 16,384 ranks."""
    files = {kind: str(folder / f"{kind}_of_16384.json") for kind in ("prediction", "trace")}
    (folder / "job.yaml").write_text(json.dumps({
        "mode": "train", "place": "gpu", "data": JOB["data"],
        "mesh": {"shape": [128, 16, 8], "dims": ["dp", "pp", "tp"]},
        "model": {"kind": "llama", "vocab": 1024, "seq_len": 128, "d_model": 1024, "layers": 16, "heads": 16,
                  "kv_heads": 8, "ffn": 4096},
        "run": {"steps": 2, "global_batch": 512, "micro_batches": 4, "dtype": "bfloat16", "zero_stage": 1,
                "sequence_parallel": True}}), encoding="utf-8")
    subprocess.run([COMMAND, "simulate", folder / "job.yaml", "--machine=h100_80g", f"--json={files['prediction']}",
                    f"--trace={files['trace']}"], check=True, timeout=240, stdout=subprocess.DEVNULL)
    return files


def plans_of(predicted):
    """Plans in the form that view reads, with a prediction that autophi made."""
    layout = {"mesh": {"shape": [128, 16, 8], "dims": ["dp", "pp", "tp"]},
              "pipeline": {"cut": [1] * 16, "schedule": "1f1b"}}
    return {"plans": [{"layout": {**layout, "run": {"zero_stage": stage}}, "predicted": predicted,
                       "peak_tensor_bytes": 1 << 20} for stage in (0, 1)]}


def titles(page):
    return [section.title for section in page.sections]


def test_a_page_of_four_ranks(files_of_4_ranks, tmp_path):
    page = ap.view(*files_of_4_ranks.values(), out=tmp_path / "page.html")
    assert titles(page) == [
        "Files", "Loss by step", "Throughput by step (tok/s)", "Learning rate by step", "Predicted beside measured",
        "A step's timeline by rank", "Predicted time by rank", "Memory at the peak, by what holds it",
        "Bytes sent to other ranks, by collective", "Bytes sent in a step, by collective and link",
        "Bytes sent and received by rank",
        "The mesh and each parameter's placements"]
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(text.encode()) < MOST_BYTES
    assert "http" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "Plans side by side: needs plans" in text
    assert "mesh of 4 ranks: pp 2 x tp 2" in text and "layer{0-3}.qkv.weight" in text


@chromium.needs_chromium
@pytest.mark.parametrize("theme", ["", "--blink-settings=preferredColorScheme=0"])
def test_chromium_draws_four_ranks(files_of_4_ranks, tmp_path, theme):
    page = ap.view(*files_of_4_ranks.values(), out=tmp_path / "page.html")
    seen = chromium.texts(chromium.opened(tmp_path / "page.html", *filter(None, [theme])))
    for title in titles(page):
        assert title in seen
    for words in ("rank 0 rank 1 rank 2 rank 3", "forward", "backward", "optimizer", "operators", "messages and waits",
                  "weights", "gradients", "optimizer states", "activations", "learning rate", "tok/s", "time of a step",
                  "bytes sent", "all_reduce, node"):
        assert words in seen, words


@chromium.needs_chromium
@needs_command
def test_chromium_draws_16384_ranks(files_of_16384_ranks, tmp_path):
    with open(files_of_16384_ranks["prediction"], encoding="utf-8") as file:
        values = json.load(file)
    prediction = plan.Prediction(values["step_seconds"], values["tokens_per_s"], values["ranks"], values, "")
    page = ap.view(prediction, files_of_16384_ranks["trace"], plans_of(values), out=tmp_path / "page.html")
    assert os.path.getsize(tmp_path / "page.html") < MOST_BYTES
    assert titles(page) == [
        "Files", "A step's timeline by rank", "Predicted time by rank", "Memory at the peak, by what holds it",
        "Bytes sent in a step, by collective and link", "Bytes sent and received by rank", "Plans side by side"]
    seen = chromium.texts(chromium.opened(tmp_path / "page.html"))
    for title in titles(page):
        assert title in seen
    for words in ("16,384 ranks in 16 classes of equal ranks", "rank 8 (of 1,024 equal ranks)",
                  "112-119, .. (1,024 ranks)", "exchange, cluster", "run.zero_stage",
                  "mesh: dp 128 x pp 16 x tp 8, pipeline.cut: 16 x 1", "waits for other ranks"):
        assert words in seen, words
    assert "rank 77 " not in seen


def test_runs_are_laid_over_each_other(tmp_path):
    reports = []
    for name, rate in (("slow", 1e-4), ("fast", 1e-2)):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(jobs.run({**JOB, "optimizer": {"lr": rate}})), encoding="utf-8")
        reports.append(path)
    loss = next(section for section in ap.view(*reports).sections if section.anchor == "loss")
    (chart,) = loss.parts
    assert [line["name"] for line in chart.data] == ["slow", "fast"]
    assert [line["x"] for line in chart.data] == [[1, 2, 3]] * 2
    assert chart.data[0]["y"] == json.loads(reports[0].read_text())["losses"]


def test_metrics_belong_to_the_run_of_their_losses(files_of_4_ranks):
    page = ap.view(files_of_4_ranks["report"], files_of_4_ranks["metrics"])
    sections = {section.anchor: section for section in page.sections}
    assert [line["name"] for line in sections["loss"].parts[0].data] == ["report"]
    assert [line["name"] for line in sections["learning_rate"].parts[0].data] == ["report"]


@needs_command
def test_the_parts_of_a_rank_are_those_of_the_prediction(files_of_16384_ranks):
    page = ap.view(files_of_16384_ranks["prediction"])
    chart = next(section for section in page.sections if section.anchor == "memory").parts[1]
    with open(files_of_16384_ranks["prediction"], encoding="utf-8") as file:
        ranks = json.load(file)["ranks"]
    assert len(ranks) == 16
    for row, entry in enumerate(ranks):
        drawn = sum(bar["x"][row] for bar in chart.data)
        unit = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[chart.layout["xaxis"]["title"]["text"].split()[-1]]
        assert drawn * unit == pytest.approx(entry["peak_tensor_bytes"], rel=1e-4)


def test_many_ranks_become_classes():
    from autophi.viewing.ranks import rank_rows
    entries = [{"rank": rank, "bytes_sent": 5 if rank % 100 else 7} for rank in range(1000)]
    rows, note = rank_rows(entries, ("bytes_sent",))
    assert [(row.count, row.values["bytes_sent"]) for row in rows] == [(10, 7), (990, 5)]
    assert note == "1,000 ranks in 2 classes of equal ranks." and rows[0].label.endswith("(10 ranks)")
    rows, note = rank_rows([{"rank": rank, "bytes_sent": rank} for rank in range(1000)], ("bytes_sent",))
    assert len(rows) == 64 and min(row.values["bytes_sent"] for row in rows) == 936
    assert "Shown are the 64 with the largest bytes sent" in note


def test_long_lines_keep_their_extremes():
    from autophi.viewing.charts import thinned
    values = [float(i % 97) for i in range(100_000)]
    values[54_321], values[77_777] = 1e6, -1e6
    x, y = thinned(range(100_000), values)
    assert len(x) <= 4000 and x == sorted(x) and (x[0], x[-1]) == (0, 99_999)
    assert (54_321, 1e6) in zip(x, y) and (77_777, -1e6) in zip(x, y)


def test_plans_without_parts():
    page = ap.view({"plans": [{"layout": {"mesh": "dp=2"}}, {"predicted": {"step_seconds": 2.0}}, {}]})
    (plans,) = [section for section in page.sections if section.anchor == "plans"]
    table = plans.parts[1]
    assert list(table.columns) == ["", "time of a step", "mesh"]
    assert [list(row) for row in table.rows] == [["plan 1", "", "dp=2"], ["plan 2", "2.00 s", ""], ["plan 3", "", ""]]


def test_rules_of_thumb_and_reasons_are_beside_plans():
    rule = {"rule": "data parallel alone", "plan": {"layout": {"dp": 8}, "predicted": {"step_seconds": 3.0}}}
    page = ap.view({"plans": [{"layout": {"dp": 4}}], "rules_of_thumb": [rule, {"rule": "none"}],
                    "refused": [{"reason": "tp does not divide heads", "layouts": 1234}]})
    (plans,) = [section for section in page.sections if section.anchor == "plans"]
    tables = [part for part in plans.parts if isinstance(part, Table)]
    assert [list(row) for row in tables[0].rows] == [["plan 1", "", "4"], ["data parallel alone", "3.00 s", "8"]]
    assert [list(row) for row in tables[1].rows] == [["tp does not divide heads", "1,234"]]


def test_a_notebook_displays_the_page():
    shown = ap.view({"step_seconds": 1.0, "ranks": []})._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "Predicted" not in repr(shown)[:200]
    assert "&lt;h1&gt;" in shown


def test_texts_of_files_are_no_markup():
    page = ap.view({"world_size": 1, "ranks": [], "job": "</script><b>", "losses": [1.0], "mesh": "<i>"}).html()
    assert "</script><b>" not in page and "<i>" not in page


@pytest.mark.parametrize(("text", "words"), [
    ('{"a": 1, "b": 2}',
     "'{path}' is none of the files that can be viewed: it has the keys a, b. Pass a report (autophi run"),
    ("[1, 2]", "'{path}' is none of the files that can be viewed: it is no object of JSON with keys"),
    ("", "'{path}' is empty"),
    ("{", "{path}:1: this is no JSON"),
    ('{"step": 1, "loss": 2}\n{"step": 2,', "{path}:2: this is no JSON"),
])
def test_files_of_other_kinds_are_refused(tmp_path, text, words):
    path = tmp_path / "wrong.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError) as caught:
        ap.view(path)
    assert words.format(path=path) in str(caught.value)


def test_other_sources_are_refused(tmp_path):
    (tmp_path / "report.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match=r"cannot read '.*repot.json': No such file .*; did you mean '.*report.json'"):
        ap.view(tmp_path / "repot.json")
    with pytest.raises(ValueError, match="an object of type int cannot be viewed"):
        ap.view(3)
    with pytest.raises(ValueError, match="nothing to view; pass a report"):
        ap.view()
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is not text"):
        ap.view(tmp_path / "bytes")


def test_without_plotly_the_message_names_the_command(run_program):
    done = run_program("import sys; sys.modules['plotly'] = None; sys.modules['plotly.offline'] = None\n"
                       "import autophi as ap; ap.view({'step_seconds': 1.0, 'ranks': []})", status=1)
    assert "ModuleNotFoundError: a page is drawn by plotly" in done.both and "pip install 'autophi[view]'" in done.both


@needs_command
def test_the_command(files_of_4_ranks, tmp_path):
    def run(*words):
        return subprocess.run([COMMAND, "view", f"--python={sys.executable}", *words], capture_output=True, text=True,
                              timeout=60, check=False)
    page = tmp_path / "page.html"
    done = run(files_of_4_ranks["report"], f"--out={page}")
    assert done.returncode == 0 and done.stdout.startswith(f"{page}: Files, Loss by step"), done.stderr
    assert page.read_text(encoding="utf-8") == ap.view(files_of_4_ranks["report"]).html()
    failed = run(str(tmp_path / "none.json"), f"--out={page}")
    assert failed.returncode == 1 and "autophi view: cannot read" in failed.stderr
    failed = run(files_of_4_ranks["report"], f"--out={tmp_path}/none/page.html")
    assert failed.returncode == 1 and f"cannot write '{tmp_path}/none/page.html': No such file" in failed.stderr
