#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How the work for hostile captures grows with their bytes: script/dev/bench --growth runs this, in about a quarter of an hour.

    growth.py PLUGINS BEGIN [WAY|CAPTURE…]

Every capture in three sizes, n, 2n and 4n, one behind the other in one file, each with servers of its own; a frame of
LLC between them makes callgrind write down what was counted until then. So a way of looking is one run of tshark, and the
work is all that it does from one such frame to the next. What statistics do in their end is a row of its own. More than
n to the power of 1.2 is a failure."""

import argparse
import math
import os
import sys
import tempfile
from typing import NamedTuple

from bench import all_of, callgrind
from shapes import MARKER, Capture
from gen.hostile import HOSTILE, SCALE, Pcq, counters_query
from gen.mutate import own_servers


class Way(NamedTuple):
    args: tuple
    scale: float            # of a capture's smallest size
    apart: bool = False     # a run for each size, so that the work behind the last frame is told too


STATISTICS = ('pcq,tree', 'pcq,counters', 'pcq,queries', 'pcq,csv,%s/out.csv', 'pcq,long,%s/out.long',
              'pcq,names,%s/out.names')
WAYS = {
    'list': Way((), 2),
    'filter': Way(('-Y', 'pcq.cooked > 1e300 || pcq.cooked > 1e300'), 1),
    '2': Way(('-2', '-V'), 1),
    'json': Way(('-T', 'json'), 0.5),
    'statistics': Way(('-q', *(x for z in STATISTICS for x in ('-z', z))), 1, True),
}
SIZES = (1, 2, 4)
MOST = 1.2
FREE = 3e6          # instructions that need no explanation: the first of everything
END = '(the end)'


def combined(names, sizes, path):
    """-> the bytes of each capture in each size, in the order of the file"""
    parts, everything = [], Capture()
    # Who opens the file is not counted; and there is a name to write.
    for _, frame in counters_query(Pcq()).capture.frames:
        everything.add(frame)
    everything.add(MARKER)
    for name in names:
        for size in sizes:
            capture = HOSTILE[name](int(size * SCALE[name]))
            for _, frame in capture.frames:
                everything.add(own_servers(frame, len(parts)))
            parts.append(sum(len(f) for _, f in capture.frames))
            everything.add(MARKER)
    everything.write(path)
    return parts


def counted(bench, path, args, folder):
    """-> instructions between markers, in order, and those behind the last"""
    plugins, begin = bench
    return [all_of(d) for d in callgrind(plugins, path, [a % folder if '%' in a else a for a in args], begin)]


def per_part(counts, n, args):
    """The work for n captures and in the end. With two passes the file goes by twice."""
    passes = 2 if '-2' in args else 1
    if len(counts) != passes * (n + 1) + 1:
        sys.exit('callgrind wrote %d counts for %d captures' % (len(counts), n))
    return [sum(counts[i + 1:-1:n + 1]) for i in range(n)] + counts[-1:]


def measured(bench, way, names, folder):
    """-> {capture or the end: (bytes in each size, work in each size)}"""
    path = os.path.join(folder, 'hostile.pcap')
    if not way.apart:
        bytes_of = combined(names, [way.scale * k for k in SIZES], path)
        work = per_part(counted(bench, path, way.args, folder), len(bytes_of), way.args)
        n = len(SIZES)
        return {name: (bytes_of[n * i:n * i + n], work[n * i:n * i + n]) for i, name in enumerate(names)}
    runs = []
    for k in SIZES:
        bytes_of = combined(names, [way.scale * k], path)
        runs.append((bytes_of + [sum(bytes_of)], per_part(counted(bench, path, way.args, folder), len(names), way.args)))
    return {name: ([b[i] for b, _ in runs], [w[i] for _, w in runs]) for i, name in enumerate(list(names) + [END])}


def exponent(sizes, work):
    """The lesser of the last doubling's and that of both: a table that is made larger in one size, or a name that is as long
    as it may be in another, is no growth."""
    work = [max(w, FREE) for w in work]
    return min(math.log(work[-1] / work[i]) / math.log(sizes[-1] / sizes[i]) for i in (0, 1))


def main():
    p = argparse.ArgumentParser()
    p.add_argument('plugins')
    p.add_argument('begin')
    p.add_argument('what', nargs='*')
    a = p.parse_args()
    names = [x for x in a.what if x in HOSTILE] or list(HOSTILE)
    ways = [x for x in a.what if x in WAYS] or list(WAYS)
    failed, bench = 0, (a.plugins, a.begin)
    with tempfile.TemporaryDirectory() as folder:
        for way in ways:
            print('%-34s%10s%14s%14s%14s%7s' % (way, 'bytes', 'n', '2n', '4n', ''))
            for name, (sizes, work) in measured(bench, WAYS[way], names, folder).items():
                e = exponent(sizes, work)
                failed += e > MOST
                print('%-34s%10d%14d%14d%14d%7.2f%s' % (name, sizes[-1], *work, e, '  OVER' if e > MOST else ''), flush=True)
    print('%d captures in %d ways: %d grow by more than n to the power of %.1f' % (len(names), len(ways), failed, MOST))
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
