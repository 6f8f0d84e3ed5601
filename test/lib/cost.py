#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a capture costs beyond Wireshark's own: CPU time and memory.

    cost.py [-o OUT] [--modes list,V,…] CAPTURE…   prints a table, against the same without the plugin
"""

import argparse
import os
import resource
import subprocess
from typing import NamedTuple

MODES = {
    'list': (),
    'no tree': ('-q', '-z', 'io,stat,0'),
    'filter': ('-Y', 'pcq.cooked > 1e300 || pcq.cooked > 1e300'),
    'V': ('-V',),
    '2': ('-2', '-V'),
    'fields': ('-T', 'fields', '-e', 'pcq.path', '-e', 'pcq.cooked', '-e', 'pcq.path', '-e', 'pcq.cooked'),
    'json': ('-T', 'json'),
    'pdml': ('-T', 'pdml'),
}
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


def run(path, *args, env=None, plugin=True, seconds=STOP_SECONDS):
    """tshark's own share of one run, whose output nobody reads"""
    env = dict(env or os.environ)
    if not plugin:
        env['WIRESHARK_PLUGIN_DIR'] = '/nonexistent'
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


def beyond(path, mode, env=None, seconds=STOP_SECONDS):
    """The cost that the plugin adds."""
    args = MODES[mode]
    if mode == 'filter':        # without the plugin there are no such fields
        without = run(path, '-Y', 'frame.number > 100000000', env=env, plugin=False, seconds=seconds)
    elif mode == 'fields':
        without = run(path, '-T', 'fields', '-e', 'frame.number', env=env, plugin=False, seconds=seconds)
    else:
        without = run(path, *args, env=env, plugin=False, seconds=seconds)
    own = run(path, *args, env=env, seconds=seconds)
    return Cost(own.seconds - without.seconds, own.megabytes - without.megabytes, own.status), without


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--modes', default='list,filter,V,json')
    p.add_argument('captures', nargs='+')
    a = p.parse_args()
    modes = a.modes.split(',')
    print('%-36s' % '' + ''.join('%22s' % m for m in modes))
    for path in a.captures:
        cells = []
        for mode in modes:
            c, without = beyond(path, mode)
            bad = c.seconds > SECONDS or c.megabytes > MEGABYTES or c.status
            cells.append('%7.2f s %6d MB %s' % (c.seconds, c.megabytes, ('!%d' % c.status if c.status else '!') if bad else ' '))
        print('%-36s' % os.path.basename(path).removesuffix('.pcap') + ''.join('%22s' % c for c in cells), flush=True)


if __name__ == '__main__':
    main()
