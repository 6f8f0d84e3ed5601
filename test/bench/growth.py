#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How the work for hostile captures grows with their bytes: script/bench --growth runs this.

    growth.py PLUGINS [WAY|CAPTURE…]

Every capture in three sizes, n, 2n and 4n, one behind the other in one file, each with servers of its own; a frame of
LLC between them makes callgrind write down what was counted until then. So a way of looking is two runs of tshark, with
the plugin and without, and the work is what is between them. More than n to the power of 1.3 is a failure."""

import argparse
import glob
import math
import os
import struct
import subprocess
import sys
import tempfile

from shapes import Capture
from gen.hostile import HOSTILE, SCALE
from gen.mutate import own_servers

WAYS = {'list': [], 'V': ['-V'], '2': ['-2', '-V'], 'json': ['-T', 'json']}
MOST = 1.3
FREE = 3e6          # instructions that need no explanation: the first of everything
MARKER = bytes.fromhex('0180c2000000020000000001') + struct.pack('>H', 3) + b'\x42\x42\x03'.ljust(46, b'\0')


def combined(names, path):
    """-> [(name, size)] in the order of the file"""
    parts, everything = [], Capture()
    for name in names:
        for k in (1, 2, 4):
            capture = HOSTILE[name](k * SCALE[name])
            for _, frame in capture.frames:
                everything.add(own_servers(frame, len(parts)))
            parts.append((name, sum(len(f) for _, f in capture.frames)))
            everything.add(MARKER)
    everything.write(path)
    return parts


def counted(plugins, path, args, folder):
    """-> instructions between markers, in order"""
    out = os.path.join(folder, 'callgrind.out')
    for old in glob.glob(out + '*'):
        os.unlink(old)
    subprocess.run(['valgrind', '--tool=callgrind', '--dump-line=no', '--callgrind-out-file=' + out,
                    '--dump-before=dissect_xdlc_control', 'tshark', '-r', path, *args], check=True,
                   env=dict(os.environ, WIRESHARK_PLUGIN_DIR=plugins), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    dumps = sorted(glob.glob(out + '.*'), key=lambda p: int(p.rpartition('.')[2]))
    return [int(next(x for x in open(p) if x.startswith(('totals:', 'summary:'))).split()[1]) for p in dumps]


def exponent(sizes, work):
    """Of the last doubling, where it is clearest."""
    (a, b), (x, y) = sizes[1:], [max(w, FREE) for w in work[1:]]
    return math.log(y / x) / math.log(b / a)


def per_part(counts, parts, args):
    """With two passes the file goes by twice."""
    n = len(parts)
    if len(counts) < n * (2 if '-2' in args else 1):
        sys.exit('callgrind wrote %d counts for %d captures' % (len(counts), n))
    return [sum(counts[i::n]) if '-2' in args else counts[i] for i in range(n)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument('plugins')
    p.add_argument('what', nargs='*')
    a = p.parse_args()
    names = [x for x in a.what if x in HOSTILE] or list(HOSTILE)
    ways = [x for x in a.what if x in WAYS] or list(WAYS)
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'hostile.pcap')
        parts = combined(names, path)
        for way in ways:
            own, stock = (per_part(counted(where, path, WAYS[way], folder)[:2 * len(parts)], parts, WAYS[way])
                          for where in (a.plugins, '/nonexistent'))
            print('%-34s%10s%14s%14s%14s%7s' % (way, 'bytes', 'n', '2n', '4n', ''))
            for i, name in enumerate(names):
                sizes = [s for _, s in parts[3 * i:3 * i + 3]]
                work = [x - y for x, y in zip(own[3 * i:3 * i + 3], stock[3 * i:3 * i + 3])]
                e = exponent(sizes, work)
                over = e > MOST
                failed += [(way, name)] * over
                print('%-34s%10d%14d%14d%14d%7.2f%s' % (name, sizes[2], *work, e, '  OVER' if over else ''), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
