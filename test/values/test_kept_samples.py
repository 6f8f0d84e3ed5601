# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples are kept whole, up to a limit, with the tables of the newest two."""

import struct
import subprocess
import sys

from conftest import TOP, TSHARK
from gen.hostile import Pcq, block, identifier


def most_memory(env, *args):
    """tshark's largest resident size, in bytes; a process as large as this one must not start it."""
    script = ('import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); '
              'print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)')
    done = subprocess.run([sys.executable, '-c', script, TSHARK, *map(str, args)], env=env, stdout=subprocess.PIPE, check=True)
    return int(done.stdout) * 1024


def test_samples_take_little_more_than_their_bytes(tshark, tmp_path):
    """64 MiB of blocks of one value, for each of which the tables have more than its own size. With a limit of 10 MiB the oldest are discarded."""
    count, size, p = 128, 1 << 19, Pcq()
    p.open()
    p.change([identifier(0, None)])
    data = [block(1, struct.pack('<2I8s', 8, 16, b'%'))] * (size // 32)
    for _ in range(count):
        p.data(*data)
    path = p.capture.write(tmp_path / 'a.pcap')
    small, large = (most_memory(tshark.env, '-r', path, '-o', 'pcq.sample_limit:%d' % x) for x in (10, 1024))
    bare = most_memory(dict(tshark.env, WIRESHARK_PLUGIN_DIR=str(TOP / 'test')), '-r', path)
    assert count * size < large - bare < count * size * 1.4, (large - bare) >> 20
    assert small - bare < 30 << 20, (small - bare) >> 20
