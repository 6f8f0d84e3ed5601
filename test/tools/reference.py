# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/reference.md from what tshark -G says: every field, expert info and preference of the plugin. Behind it stand the counter types, which
test/unit/print_counter_types writes."""

import functools
import os
import re
import subprocess
import sys

PREFIXES = ('pcq', 'hkpd')
TYPES = {'FT_NONE': 'structure', 'FT_FRAMENUM': 'frame', 'FT_STRING': 'text', 'FT_BYTES': 'bytes', 'FT_GUID': 'GUID',
         'FT_BOOLEAN': 'boolean', 'FT_DOUBLE': 'double', 'FT_ABSOLUTE_TIME': 'time', 'FT_RELATIVE_TIME': 'duration'}

HEAD = '''# Reference

Look up each field, expert info, preference and counter type by its name. How to filter with them: [cheat-sheet.md](cheat-sheet.md).
`script/dev/reference` makes this page of what `tshark -G` says and of the plugin's tables; tests compare them.

A field stands with its type, its name in the tree, and its meaning. Fields of one structure share a row.
'''
FINDINGS = '''## Expert infos

Analyze, Expert Information; `-z expert`. Each is a filter.
'''
PREFERENCES = '''## Preferences

Preferences, Protocols, PCQ and HKPD; on the command line `-o NAME:VALUE`. PCQ also has the table "Watched counters", whose rows
are fields `pcq.watch.NAME` of type double ([statistics.md](statistics.md#watched-counters)).
'''
TITLES = {'pcq': 'Fields of PerflibV2', 'hkpd': 'Fields of HKEY_PERFORMANCE_DATA'}


def tshark(*args):
    done = subprocess.run([os.environ.get('TSHARK', 'tshark'), *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return done.stdout.decode()


@functools.cache
def fields():
    """[(filter name, title, type, description)] of the plugin's fields"""
    rows = [line.split('\t') for line in tshark('-G', 'fields').splitlines() if line.startswith('F\t')]
    return sorted((r[2], r[1], r[3], r[7] if len(r) > 7 else '') for r in rows if r[2].split('.')[0] in PREFIXES)


@functools.cache
def preferences():
    """[(name, default, description)]"""
    found, text = [], []
    for line in tshark('-G', 'defaultprefs').splitlines():
        m = re.match(r'#?((?:%s)\.\w+): ?(.*)' % '|'.join(PREFIXES), line)
        if m:
            found.append((m[1], m[2], text[0]))
        text = text + [line.removeprefix('# ')] if line.startswith('# ') else []
    return sorted(found, key=lambda row: PREFIXES.index(row[0].split('.')[0]))


def cell(text):
    return text.replace('|', '\\|')


def table(titles, rows):
    return '\n'.join('| %s |' % ' | '.join(map(cell, row)) for row in [titles, ['---'] * len(titles), *rows]) + '\n'


def group(name, names):
    """What a field stands with: pcq.counter.type.size with pcq.counter.type, pcq.counter_data with pcq.counter.id"""
    parts = name.split('.')
    starts = ['.'.join(parts[:i]) for i in range(len(parts), 1, -1)]
    for start in starts:
        if len([n for n in names if n == start or n.startswith(start + '.')]) > 1:
            return start
    start = starts[-1].split('_')[0]
    return start if any(re.match(re.escape(start) + '[._]', n) for n in names if n != name) else name


def page():
    shown = fields()
    parts = [HEAD]
    for prefix in PREFIXES:
        mine = [row for row in shown if row[0].startswith(prefix + '.') and '.expert.' not in row[0]]
        rows = {}
        for name, title, kind, text in mine:
            kind = TYPES.get(kind) or kind.removeprefix('FT_').lower()
            rows.setdefault(group(name, [n for n, *_ in mine]), []).append('`%s` %s **%s** %s' % (name, kind, cell(title), cell(text).replace('*', '\\*')))
        parts.append('## %s\n\n| |\n| --- |\n%s' % (TITLES[prefix], ''.join('| %s |\n' % '<br>'.join(r) for r in rows.values())))
    findings = {}
    for name, title, _, text in shown:
        prefix, _, short = name.partition('.expert.')
        if short:
            findings.setdefault((short, title, text), []).append(prefix)
    rows = [(', '.join('`%s.expert.%s`' % (prefix, short) for prefix in sorted(by, key=PREFIXES.index)), title, text)
            for (short, title, text), by in sorted(findings.items())]
    parts.append('%s\n%s' % (FINDINGS, table(['expert info', 'meaning', 'what to do'], rows)))
    rows = [('`%s`' % name, '`%s`' % default if default else '', text) for name, default, text in preferences()]
    parts.append('%s\n%s' % (PREFERENCES, table(['preference', 'default', 'meaning'], rows)))
    return '\n'.join(parts)


if __name__ == '__main__':
    sys.stdout.write(page())
