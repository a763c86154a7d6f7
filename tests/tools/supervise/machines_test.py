"""autophi supervise over two machines, which are network namespaces with a cable between them.

Open MPI reaches the second one through a launch agent, as it does through ssh, and ranks talk TCP. Needs
root and a system that gives namespaces; else it says so, and is skipped.
"""

import os
import pathlib
import signal
import subprocess
import sys
import unittest

from supervised import Supervised

PARITY = 2e-6
NET = f"10.{os.getpid() // 250 % 250}.{os.getpid() % 250}"
HERE, THERE = f"{NET}.1", f"{NET}.2"
NAMES = {HERE: f"here{os.getpid()}", THERE: f"there{os.getpid()}"}
CABLE = {HERE: f"vh{os.getpid()}", THERE: f"vt{os.getpid()}"}
# Runs a command on a machine, with no session, variables, or files of who asks for it, as ssh does.
AGENT = """#!/bin/sh
test "$1" = {there} || exit 255
shift
exec setsid ip netns exec {name} unshare --uts env -i PATH="$PATH" HOME="$HOME" OMP_NUM_THREADS=1 \\
  sh -c 'hostname {name}; cd /; eval "$1"' sh "$*" < /dev/null > {log} 2>&1
"""
# A machine that answers refuses the connection; one that has vanished says nothing.
PROBE = """import errno, socket, sys
connection = socket.socket()
connection.settimeout(10)
sys.exit(connection.connect_ex((sys.argv[1], 9)) != errno.ECONNREFUSED)
"""


def call(*words, check=True):
    return subprocess.run(list(map(str, words)), check=check, capture_output=True, text=True)


def processes_on(machine):
    return [int(pid) for pid in call("ip", "netns", "pids", NAMES[machine], check=False).stdout.split()]


def kill_all_on(machine):
    for pid in processes_on(machine):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def make_machines():
    for machine in NAMES:
        call("ip", "netns", "add", NAMES[machine])
    call("ip", "link", "add", CABLE[HERE], "netns", NAMES[HERE], "type", "veth", "peer", "name", CABLE[THERE],
         "netns", NAMES[THERE])
    for machine, name in NAMES.items():
        call("ip", "-n", name, "addr", "add", f"{machine}/24", "dev", CABLE[machine])
        for device in ("lo", CABLE[machine]):
            call("ip", "-n", name, "link", "set", device, "up")


def remove_machines():
    for machine, name in NAMES.items():
        kill_all_on(machine)
        call("ip", "netns", "del", name, check=False)


class Machines(Supervised):
    def setUp(self):
        super().setUp()
        self.addCleanup(remove_machines)
        make_machines()
        self.agent = self.folder.write("agent", AGENT.format(there=THERE, name=NAMES[THERE], log=self.path("agent.log")))
        self.agent.chmod(0o755)
        self.probe = self.folder.write("probe.py", PROBE)
        self.hosts = self.folder.write("hosts", f"{HERE} slots=1\n{THERE} slots=1\n")

    def supervise(self, job, *words):
        return self.start(
            f"--hostfile={self.hosts}",
            f"--probe={sys.executable} {self.probe} $1",
            f"--mpirun_args=--mca plm_rsh_agent {self.agent} --mca btl self,tcp --bind-to none",
            "--grace_s=3",
            *words,
            job,
            run=["--deadline_s=8"],
            prefix=["ip", "netns", "exec", NAMES[HERE], "unshare", "--uts", "sh", "-c",
                    f'hostname {NAMES[HERE]}; exec "$@"', "sh"],
        )

    def test_a_job_goes_on_without_a_machine_that_has_vanished(self):
        steps = 200
        keys = {"elastic": {"dp": [1, 2]}}
        job = self.job(steps, **keys)
        process = self.supervise(job)
        self.await_steps(7)
        self.assertTrue(processes_on(THERE), "a rank is on the other machine")
        call("ip", "-n", NAMES[THERE], "link", "set", CABLE[THERE], "down")
        output = self.finish(process, 0)
        self.assertRegex(output, r"\n1 .* 2  dp=2 .*\n2 .* 1  dp=1 ", output)
        self.assertRegex(output, r"resuming after step \d+ from")
        self.check_losses(self.unbroken(steps, **keys), PARITY)

    def test_a_machine_that_was_away_for_a_moment_is_taken_again(self):
        steps = 200
        job = self.job(steps)
        process = self.supervise(job)
        self.await_steps(7)
        kill_all_on(THERE)
        output = self.finish(process, 0)
        self.assertRegex(output, r"\n1 .* 2  dp=2 .*\n2 .* 2  dp=2 ", output)
        self.check_losses(self.unbroken(steps), PARITY)


def what_is_missing():
    if os.geteuid() != 0:
        return "only root makes network namespaces"
    try:
        make_machines()
    except (OSError, subprocess.CalledProcessError) as error:
        return f"the system gives no network namespaces: {getattr(error, 'stderr', None) or error}"
    finally:
        remove_machines()
    return ""


if __name__ == "__main__":
    MISSING = what_is_missing()
    if MISSING:
        print("skipped:", MISSING)
        sys.exit(77)
    unittest.main(verbosity=2)
