#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a value costs, in instructions: script/bench runs this.

    bench.py PLUGINS FLOOR [--budget FILE [--write]] [SHAPE|MODE…]

Each figure is the slope between two captures that differ in the number of answers alone, counted by callgrind, so
start-up and everything that is paid once falls out. "above" is what the plugin adds to a run without any."""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from shapes import BUDGET, MILLION, PEERS, SHAPES

NOWHERE = '/nonexistent'
# Way of looking -> tshark's options, for a protocol's prefix.
MODES = {
    'no tree': lambda p: ['-q', '-z', 'io,stat,0'],
    'list': lambda p: [],
    'filter': lambda p: ['-Y', p],
    'filter on values': lambda p: ['-Y', VALUE_FILTER[p]],
    'fields': lambda p: ['-T', 'fields'] + [x for f in FIELDS[p] for x in ('-e', f)],
    'V': lambda p: ['-V'],
    'json': lambda p: ['-T', 'json'],
    'pdml': lambda p: ['-T', 'pdml'],
}
VALUE_FILTER = {'pcq': 'pcq.cooked > 1e300', 'hkpd': 'hkpd.cooked > 1e300', 'cflow': 'cflow.octets > 4294967290',
                'pcp': 'pcp.instance.value.int > 2147483646'}
FIELDS = {'pcq': ('pcq.path', 'pcq.cooked'), 'hkpd': ('hkpd.path', 'hkpd.cooked'),
          'cflow': ('cflow.octets', 'cflow.packets'), 'pcp': ('pcp.instance', 'pcp.instance.value.int')}
BUDGET_MODES = ('list', 'filter', 'fields')
TOLERANCE = 1.05


def tshark(plugins, path, args, wrap=()):
    env = dict(os.environ, WIRESHARK_PLUGIN_DIR=plugins)
    return subprocess.run([*wrap, os.environ.get('TSHARK', 'tshark'), '-r', path, *args], env=env,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)


def callgrind(plugins, path, args):
    """-> the lines of callgrind's output"""
    with tempfile.NamedTemporaryFile(prefix='callgrind.') as out:
        tshark(plugins, path, args, ['valgrind', '--tool=callgrind', '--dump-line=no', '--callgrind-out-file=' + out.name])
        return Path(out.name).read_text(errors='replace').splitlines()


def all_of(lines):
    return int(next(x for x in reversed(lines) if x.startswith(('totals:', 'summary:'))).split()[1])


def of_object(lines, name):
    """The instructions within one library, calls to others not counted."""
    names, here, called, total = {}, False, False, 0
    for line in lines:
        if line.startswith('ob='):
            number, _, text = line[3:].partition(' ')
            names.setdefault(number, text)
            here = names[number].endswith(name)
        elif line.startswith('calls='):
            called = True
        elif line[:1] in '0123456789+-*':
            if here and not called:
                total += sum(map(int, line.split()[1:2]))       # a cost of 0 may be left out
            called = False
        elif line.startswith('cob='):
            number, _, text = line[4:].partition(' ')
            names.setdefault(number, text)
    return total


class Bench:
    def __init__(self, folder, plugins, floor):
        self.folder, self.plugins, self.floor, self.paths = Path(folder), plugins, floor, {}
        self.workers = ThreadPoolExecutor(os.cpu_count())

    def path(self, name, make, answers):
        key = '%s-%d.pcap' % (re.sub(r'\W+', '-', name), answers)
        if key not in self.paths:
            self.paths[key] = make(answers).write(self.folder / key)
        return self.paths[key]

    def slope(self, name, shape, args, plugins):
        """A future of the instructions for a unit."""
        low, high = shape.answers
        paths = [self.path(name, shape.make, n) for n in (low, high)]

        def measure():
            a, b = (all_of(callgrind(plugins, p, args)) for p in paths)
            return (b - a) / ((high - low) * shape.per_answer)
        return self.workers.submit(measure)

    def ask(self, name, shape, mode):
        args = MODES[mode](shape.protocol)
        if name in PEERS:
            return {'whole': self.slope(name, shape, args, NOWHERE)}
        # Without the plugin its fields are unknown: the same way of looking asks for none.
        plain = {'filter': ['-Y', 'frame.number == 0'], 'filter on values': ['-Y', 'frame.number == 0'],
                 'fields': ['-T', 'fields', '-e', 'frame.number']}.get(mode, args)
        asked = {'with': self.slope(name, shape, args, self.plugins), 'without': self.slope(name, shape, plain, NOWHERE)}
        if name in ('one', 'tall', 'blocks'):
            asked['floor'] = self.slope(name, shape, args, self.floor)
        return asked

    def row(self, asked):
        got = {k: f.result() for k, f in asked.items()}
        if 'whole' in got:
            return '%12s %12s %12.0f %12s %8s' % ('', '', got['whole'], '', '')
        above = got['with'] - got['without']
        cells = '%12.0f %12.0f %12.0f' % (got['with'], got['without'], above)
        if 'floor' not in got:
            return cells + '%13s %8s' % ('', '')
        floor = got['floor'] - got['without']
        return cells + ' %12.0f %8.2f' % (floor, above / floor if floor > 1 else float('nan'))

    def table(self, names, modes):
        shapes = {n: s for n, s in {**SHAPES, **PEERS}.items() if n in names}
        print('%-14s%-18s%12s %12s %12s %12s %8s' % ('shape', 'looking', 'with', 'without', 'above', 'floor', 'ratio'))
        asked = [(n, m, self.ask(n, s, m)) for n, s in shapes.items() for m in modes]
        for name, mode, a in asked:
            print('%-14s%-18s%s' % (name, mode, self.row(a)), flush=True)
        print()
        for name, s in shapes.items():
            print('%-14s%s, a %s' % (name, s.about, s.unit))

    def start_up(self):
        empty = self.path('empty', lambda _: __import__('gen.pcap').pcap.Capture(), 0)
        a, b = (all_of(callgrind(p, empty, [])) for p in (self.plugins, NOWHERE))
        print('%-14s%-18s%12.0f %12.0f %12.0f' % ('start-up', '', a, b, a - b))

    def cpu(self, plugins, path, args):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        tshark(plugins, path, args)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime

    def million(self):
        """CPU time of one answer, the best of three."""
        for name, make in MILLION.items():
            path = self.path(name, make, 1)
            for mode in ('no tree', 'list', 'filter'):
                args = MODES[mode]('pcq')
                plain = args if mode != 'filter' else ['-Y', 'frame.number == 0']
                a = min(self.cpu(self.plugins, path, args) for _ in range(3))
                b = min(self.cpu(NOWHERE, path, plain) for _ in range(3))
                print('%-20s%-12s%10.3f s %10.3f s without: %.2f' % (name, mode, a, b, a / b), flush=True)

    # Of the reference compiler, Debian 12's: another may make another number of the same code.
    def budget(self):
        """{shape: {mode: instructions within the plugin for a value}}, with what is paid once of it"""
        def within(name, mode, answers):
            values, make = BUDGET[name]
            lines = callgrind(self.plugins, self.path('budget-' + name, make, answers), MODES[mode]('pcq'))
            return of_object(lines, 'pcq.so')
        asked = {(n, m, k): self.workers.submit(within, n, m, k) for n in BUDGET for m in BUDGET_MODES for k in (1, 3)}
        return {n: {m: round((asked[n, m, 3].result() - asked[n, m, 1].result()) / (2 * BUDGET[n][0]), 1)
                    for m in BUDGET_MODES} for n in BUDGET}


def check_budget(bench, path, write):
    now = bench.budget()
    if write:
        path.write_text(json.dumps(now, indent=4) + '\n')
        return 0
    failed, allowed = 0, json.loads(path.read_text())
    for name, modes in allowed.items():
        for mode, most in modes.items():
            got = now[name][mode]
            # a fraction of an instruction is no regression
            over = got > most * TOLERANCE + 1
            failed += over
            print('%-10s%-18s%10.1f of %10.1f%s' % (name, mode, got, most, '  OVER' if over else ''))
    return 1 if failed else 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument('plugins')
    p.add_argument('floor')
    p.add_argument('--budget', type=Path)
    p.add_argument('--write', action='store_true')
    p.add_argument('--folder')
    p.add_argument('what', nargs='*')
    a = p.parse_args()
    shapes = [x for x in a.what if x in SHAPES or x in PEERS] or [*SHAPES, *PEERS]
    modes = [x for x in a.what if x in MODES] or list(MODES)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(a.folder or folder, a.plugins, a.floor)
        if a.budget:
            sys.exit(check_budget(bench, a.budget, a.write))
        bench.table(shapes, modes)
        if not a.what:
            bench.start_up()
            bench.million()


if __name__ == '__main__':
    main()
