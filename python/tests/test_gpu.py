"""GPUs from Python: where there is none, the reason is said and the CPU goes on."""

import subprocess

import autophi as ap
import autophi.distributed as dist
import pytest


def has_driver():
    try:
        return subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.skipif(has_driver(), reason="this machine has a GPU: tools/gpu_check is for it")
def test_without_a_gpu_the_reason_is_said():
    with pytest.raises(RuntimeError, match="no NVIDIA driver is available|this build has no CUDA"):
        dist.use_gpu()
    with pytest.raises(RuntimeError, match="no NVIDIA driver is available|this build has no CUDA"):
        dist.use_gpu(tf32=True)
    with pytest.raises(RuntimeError, match="no NVIDIA driver is available|this build has no CUDA"):
        dist.use_gpu(messages="host", reduction="fast")
    assert (ap.tensor([1.0]) + 1).tolist() == [2.0]


def test_words_that_are_not_known_are_refused():
    with pytest.raises(ValueError, match="messages is 'post'; use 'nccl'"):
        dist.use_gpu(messages="post")
    with pytest.raises(ValueError, match="reduction is 'quick'; use 'exact' or 'fast'"):
        dist.use_gpu(reduction="quick")
