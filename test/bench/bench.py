#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a value costs, in instructions: script/dev/bench runs this.

    bench.py PLUGINS BEGIN [--budget FILE [--write] | --memory [ANSWERS]] [SHAPE|WAY…]     BEGIN: the library of begin.c

Each figure is what the last answers of a capture cost, counted by callgrind, so start-up and everything that is paid once
falls out. All shapes are in one capture (shapes.py): a way of looking is one run of tshark with the plugin and one without.
"above" is what the plugin adds to the run without; "whole" is all that tshark does for it."""

import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from shapes import AT_MARKER, BUDGET, LISTED, SHAPES, day, measured

NOWHERE, NO_TREE = '/nonexistent', ['-q', '-z', 'io,stat,0']


def watching(rows):
    """So many watched counters, of the first instances and counters of each shape, each asked for; what has none of its own,
    for any value."""
    table = [x for n in range(rows) for x in ('-o', r'uat:pcq_watch:"w%d","\\*(instance %d)\\counter 0;\\Set\\counter %d"' % (n, n, n))]
    return [*table, '-Y', ' || '.join('pcq.watch.w%d > 1e300' % n for n in range(rows))]


# Way of looking -> tshark's options with the plugin, and without it where it knows no such field or statistic
WAYS = {
    'no tree': (NO_TREE,),
    'list': ([],),
    'long': (['-q', '-z', 'pcq,long,/dev/null'], NO_TREE),
    'filter': (['-Y', 'pcq || hkpd'], []),
    'filter on values': (['-Y', 'pcq.cooked > 1e300'], []),
    'watched': (watching(1), []),
    'watched, 16': (watching(16), []),
    'fields': (['-T', 'fields', '-e', 'pcq.path', '-e', 'pcq.cooked'], ['-T', 'fields', '-e', 'frame.number']),
    'V': (['-V'],),
    'json': (['-T', 'json'],),
    'pdml': (['-T', 'pdml'],),
}
# Answers of 10,000 values where a value costs little, else of 1,000.
WHOLE = ('no tree', 'list', 'long', 'filter', 'filter on values', 'watched', 'watched, 16')
BUDGET_WAYS = ('long', 'filter', 'filter on values', 'fields', 'V', 'json')
TOLERANCE = 1.05
# Of --memory: MiB of samples, and what the plugin may take beside; packets of a session; what one run may differ from the next by.
LIMIT, ROOM, SESSION, FLICKER = 10, 32, 500, 4


def begun(plugins, path, args, wrap=(), **how):
    """A tshark with the plugins of that folder"""
    return subprocess.Popen([*wrap, os.environ.get('TSHARK', 'tshark'), '-r', path, *args], env=dict(os.environ, WIRESHARK_PLUGIN_DIR=plugins),
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how)


def used(child):
    """-> what it took, when it has ended"""
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit('%s ended with %d' % (' '.join(map(str, child.args)), child.returncode))
    return usage


def callgrind(plugins, path, args, begin):
    """-> the lines of callgrind's output, for each marker and the end; begin: a library to preload that lets it begin when
    tshark has started"""
    with tempfile.TemporaryDirectory(prefix='callgrind.') as folder:
        out = os.path.join(folder, 'out')
        used(begun(plugins, path, args, ['env', 'LD_PRELOAD=' + begin, 'valgrind', '--instr-atstart=no', '--tool=callgrind', '--dump-line=no',
                                         AT_MARKER, '--callgrind-out-file=' + out]))
        dumps = sorted(glob.glob(out + '.*'), key=lambda p: int(p.rpartition('.')[2])) + [out]
        return [Path(d).read_text(errors='replace').splitlines() for d in dumps if os.path.exists(d)]


def all_of(lines):
    return int(next(x for x in reversed(lines) if x.startswith(('totals:', 'summary:'))).split()[1])


class Bench:
    def __init__(self, folder, plugins, begin):
        self.folder, self.plugins, self.begin = Path(folder), plugins, begin
        self.workers = ThreadPoolExecutor(os.cpu_count())

    def capture(self, names, units):
        path = self.folder / ('%s-%d.pcap' % ('-'.join(names), units))
        if not path.exists():
            measured([SHAPES[n] for n in names], units).write(path)
        return str(path)

    def run(self, plugins, names, units, args):
        """-> {name: instructions for a unit}, of answers of so many"""
        dumps = [all_of(d) for d in callgrind(plugins, self.capture(names, units), args, self.begin)]
        if len(dumps) < 2 + 2 * len(names):
            sys.exit('callgrind wrote %d counts for %d captures' % (len(dumps), len(names)))
        got = {}
        for i, name in enumerate(names):
            low, high = SHAPES[name].answers
            got[name] = (dumps[3 + 2 * i] - dumps[1]) / ((high - low) * (units if SHAPES[name].unit == 'value' else 1))
        return got

    def ask(self, names, way):
        """Futures of run(): with the plugin, without it."""
        units = 10000 if way in WHOLE else 1000
        self.capture(names, units)
        return [self.workers.submit(self.run, plugins, names, units, args)
                for plugins, args in ((self.plugins, WAYS[way][0]), (NOWHERE, WAYS[way][-1]))]

    def table(self, names, ways):
        asked = [(way, self.ask(names, way)) for way in ways]
        for way, futures in asked:
            own, without = (f.result() for f in futures)
            print('%-18s%-14s%12s %12s %12s' % (way, '', 'whole', 'without', 'above'))
            for n in names:
                print('%18s%-14s%12.0f %12.0f %12.0f' % ('', n, own[n], without[n], own[n] - without[n]), flush=True)
        print()
        for name in names:
            print('%-14s%s, a %s' % (name, SHAPES[name].about, SHAPES[name].unit))

    @staticmethod
    def piped(plugins, answers, args):
        """-> the most memory that tshark takes for so many answers that come from a pipe"""
        child = begun(plugins, '-', args, stdin=subprocess.PIPE)
        with child.stdin:
            day(child.stdin, answers)
        return used(child).ru_maxrss / 1024

    def memory(self, answers):
        """-> False if so many answers from a pipe take more than samples may, what they take without the plugin, and some;
        or a session that follows others takes more than they."""
        limit = ['-o', 'pcq.sample_limit:%d' % LIMIT]
        good = True
        for way, args, stock in ('list', [], []), ('counters', ['-q', '-z', 'pcq,counters'], ['-q', '-z', 'io,stat,0']):
            without, own = self.piped(NOWHERE, answers, stock), self.piped(self.plugins, answers, [*limit, *args])
            over = own - without - LIMIT
            good = good and over <= ROOM
            print('%d answers, %-10s%8.0f MiB, %8.0f without: %6.0f MiB above the limit of samples%s'
                  % (answers, way, own, without, over, '  OVER' if over > ROOM else ''), flush=True)
        # Wireshark itself keeps growing.
        few, many = (self.piped(self.plugins, n, [*limit, *session]) - self.piped(NOWHERE, n, session)
                     for session in [['-M', '%d' % SESSION]] for n in (answers // 10, answers))
        print('-M %d: %.0f MiB above the run without for %d answers, %.0f for %d' % (SESSION, few, answers // 10, many, answers))
        return good and many <= few + FLICKER

    # Of the reference compiler, Debian 12's: another may make another number of the same code.
    def budget(self):
        """{shape: {way: instructions of tshark for a unit}}, since what the plugin lets libraries do is its cost, too"""
        self.capture(BUDGET, 1000)
        asked = {way: self.workers.submit(self.run, self.plugins, BUDGET, 1000, WAYS[way][0]) for way in BUDGET_WAYS}
        return {n: {way: round(asked[way].result()[n], 1) for way in BUDGET_WAYS} for n in BUDGET}

    def lists(self):
        """{shape: how many times as much as without the plugin a list costs}"""
        own, without = (f.result() for f in self.ask(tuple(LISTED), 'list'))
        return {n: own[n] / without[n] for n in LISTED}


def check(rows):
    """rows: (shape, what, how much, how much it may be, what is over). -> 1 if any is"""
    failed = 0
    for name, what, got, most, over in rows:
        failed += got > over
        print('%-12s%-18s%12.3f of %12.3f%s' % (name, what, got, most, '  OVER' if got > over else ''))
    return 1 if failed else 0


def check_lists(bench):
    return check((name, 'list, times', times, LISTED[name], LISTED[name]) for name, times in bench.lists().items())


def check_budget(bench, path, write):
    now = bench.budget()
    if write:
        path.write_text(json.dumps(now, indent=4) + '\n')
        return 0
    # a fraction of an instruction is no regression
    return check((name, way, now[name][way], most, most * TOLERANCE + 1)
                 for name, ways in json.loads(path.read_text()).items() for way, most in ways.items())


def main():
    p = argparse.ArgumentParser()
    p.add_argument('plugins')
    p.add_argument('begin')
    p.add_argument('--budget', type=Path)
    p.add_argument('--write', action='store_true')
    p.add_argument('--memory', type=int, const=3600, nargs='?', metavar='ANSWERS')
    p.add_argument('what', nargs='*')
    a = p.parse_args()
    names = [x for x in SHAPES if x in a.what] or list(SHAPES)
    ways = [x for x in WAYS if x in a.what] or list(WAYS)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, a.plugins, a.begin)
        if a.budget:
            sys.exit(check_budget(bench, a.budget, a.write) | check_lists(bench))
        if a.memory:
            sys.exit(not bench.memory(a.memory))
        bench.table(names, ways)


if __name__ == '__main__':
    main()
