"""Small files of images for tests of jobs: those of the example, written once."""

import atexit
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "examples/images/make_images.py"


def folder():
    """A folder with train/CLASS/N.png of three classes and cifar10.bin, there until the tests end."""
    made = tempfile.TemporaryDirectory()
    atexit.register(made.cleanup)
    subprocess.run([sys.executable, "-B", SCRIPT, made.name], check=True)
    return pathlib.Path(made.name)
