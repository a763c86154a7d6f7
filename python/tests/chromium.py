"""Opens pages in headless Chromium, without a network."""

import re
import shutil
import subprocess
import tempfile

import pytest

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(not PROGRAM, reason="there is no chromium here (Debian: apt-get install chromium)")


def opened(page, *flags):
    """Return the document after its scripts have run. A message of the console is a failure."""
    with tempfile.TemporaryDirectory() as profile:
        command = [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   f"--user-data-dir={profile}", "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr",
                   "--virtual-time-budget=20000", "--window-size=1100,900", *flags, "--dump-dom", f"file://{page}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not said, said
    return done.stdout


def texts(document):
    """Return what a reader sees: the texts of the page and of its figures, without scripts."""
    visible = re.sub(r"<(script|style)\b.*?</\1>", "", document, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", visible))
