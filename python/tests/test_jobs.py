"""Jobs of dicts: the report is that of the command; errors; dry jobs; several processes."""

import json
import os
import subprocess

import pytest

import autophi.distributed as dist
from autophi import jobs

COMMAND = os.environ.get("AUTOPHI_COMMAND")
JOB = {"mode": "train",
       "model": {"kind": "gpt", "vocab": 256, "seq_len": 16, "d_model": 32, "layers": 2, "heads": 4},
       "data": {"paths": [os.path.dirname(os.path.abspath(__file__))]},
       "run": {"steps": 3, "global_batch": 8, "micro_batches": 2},
       "optimizer": {"lr": 3.0e-3}}
# What differs from run to run.
TIMES = {"step_seconds", "tokens_per_s", "seconds", "job", "process_bytes"}  # what differs by run


def without_times(report):
    """The report without times, transfers of its ranks included."""
    def kept(value):
        if isinstance(value, dict):
            return {key: kept(each) for key, each in value.items()
                    if key not in TIMES and not key.endswith("seconds")}
        return [kept(each) for each in value] if isinstance(value, list) else value
    return kept(report)


def test_a_report(capfd):
    report = jobs.run(JOB)
    assert len(report["losses"]) == 3 and report["losses"][2] < report["losses"][0]
    assert report["world_size"] == 1 and len(report["ranks"]) == 1
    assert capfd.readouterr().out == ""
    assert without_times(jobs.run(JOB, quiet=False)) == without_times(report)
    assert "loss" in capfd.readouterr().out


@pytest.mark.skipif(not COMMAND, reason="AUTOPHI_COMMAND does not say where the command autophi is")
def test_the_report_is_that_of_the_command(tmp_path, run_program):
    (tmp_path / "job.yaml").write_text(json.dumps(JOB))
    said = str(tmp_path / "report.json")
    subprocess.run([COMMAND, "run", str(tmp_path / "job.yaml"), f"--report={said}", "--quiet"], check=True)
    with open(said, encoding="utf-8") as file:
        want = without_times(json.load(file))
    program = "import json; from autophi import jobs; print(json.dumps(jobs.run({!r})))"
    for config in (str(tmp_path / "job.yaml"), JOB):
        assert without_times(json.loads(run_program(program.format(config)).stdout)) == want


def test_a_dry_job():
    report = jobs.run({**JOB, "mesh": {"shape": [64, 2, 2]}, "run": {"global_batch": 64}}, dry_run=True,
                      world_size=256, rank=77)
    assert report["dry_run"] and report["world_size"] == 256 and report["ranks"][0]["rank"] == 77
    assert dist.world_size() == 1


def test_options_hold_for_one_job(tmp_path):
    trace = tmp_path / "trace.json"
    jobs.run(JOB, trace=str(trace), deadline_s=5)
    written = trace.read_bytes()
    jobs.run({**JOB, "run": {"steps": 1, "global_batch": 8}})
    assert trace.read_bytes() == written


def test_checkpoints_of_a_job(tmp_path):
    whole = jobs.run(JOB)["losses"]
    job = {**JOB, "checkpoint": {"dir": str(tmp_path / "runs"), "every": 1}}
    first = jobs.run({**job, "run": {**JOB["run"], "steps": 2}})["losses"]
    rest = jobs.run(job, resume=True)
    assert first + rest["losses"] == whole and rest["first_step"] == 3


@pytest.mark.parametrize(("config", "options", "kind", "words"), [
    ({**JOB, "modle": {}}, {}, ValueError, "'modle'"),
    ({**JOB, "run": {"steps": "three"}}, {}, ValueError, "key 'run.steps'"),
    (JOB, {"mseh": "dp=1"}, ValueError, "a job has no option 'mseh', did you mean 'mesh'?"),
    (JOB, {"deadline_s": "soon"}, ValueError, "option 'deadline_s' of a job cannot be 'soon'"),
    (JOB, {"world_size": 4}, ValueError, "world_size"),
    (JOB, {"mesh": "dp=x"}, ValueError, "--mesh"),
    ({**JOB, "data": {"paths": ["/none"]}}, {}, ValueError, "key 'data.paths'"),
])
def test_errors_say_what_is_wrong(config, options, kind, words, capfd):
    with pytest.raises(kind) as caught:
        jobs.run(config, **options)
    assert words in str(caught.value) and capfd.readouterr().err == ""
    assert len(jobs.run(JOB)["losses"]) == 3


def test_no_job_on_ranks_that_are_threads():
    with pytest.raises(RuntimeError, match="a job needs a process without other ranks"):
        dist.run_ranks(2, jobs.run, JOB)


def test_several_processes(run_program):
    program = f"""
from autophi import jobs
import autophi.distributed as dist
report = jobs.run({JOB!r}, mesh="dp=2")
if dist.rank() == 0:
    print("losses", report["losses"], len(report["ranks"]))
"""
    (line,) = [line for line in run_program(program, ranks=2).stdout.splitlines() if line.startswith("losses")]
    losses, ranks = line.removeprefix("losses ").rsplit(" ", 1)
    assert json.loads(losses) == pytest.approx(jobs.run(JOB)["losses"], rel=1e-5) and ranks == "2"
    fault = program.replace('"mesh": "dp=2"', "").replace('mesh="dp=2"', 'mesh="dp=3"')
    assert "ValueError" in run_program(fault, ranks=2, status=1).both
