# SPDX-License-Identifier: GPL-2.0-or-later
"""What a capture costs: CPU time and memory."""

import os
import resource
import subprocess
from typing import NamedTuple

SECONDS, MEGABYTES = 3, 400     # what a hostile capture may cost
if os.environ.get('TSHARK', '').endswith('.exe'):
    # The tshark.exe of the tests is compiled without optimization: in Wine it takes 3.5 times what Debian's takes for
    # captures without the plugin's protocols, too, and a tenth more memory. Linux' figures are what a value is held to.
    SECONDS, MEGABYTES = 15, 450
STOP_SECONDS, STOP_BYTES = 30, 6 << 30


class Cost(NamedTuple):
    seconds: float
    megabytes: float
    status: int


def limits(seconds):
    return {resource.RLIMIT_CPU: seconds, resource.RLIMIT_AS: STOP_BYTES}


def limit(seconds):
    for what, most in limits(seconds).items():
        resource.setrlimit(what, (most, most))


def run(path, *args, env, seconds):
    """tshark's own share of one run, whose output nobody reads"""
    child = subprocess.Popen([os.environ.get('TSHARK', 'tshark'), '-r', str(path), *args], env=env,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=lambda: limit(seconds))
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, child.returncode)


def of_tshark(tshark, path, *args, seconds=STOP_SECONDS):
    """The same of the tests' tshark, without its start where that is possible"""
    waiting = tshark.forks.waits(['-r', str(path), *args], tshark.env, is_new=True)
    if waiting:
        return Cost(*waiting.cost(['-r', str(path), *args], limits(seconds)))
    return run(path, *args, env=tshark.env, seconds=seconds)
