# SPDX-License-Identifier: GPL-2.0-or-later
"""What answers hold is shown or said to be left out: the tree, files, tables and the verdict add up to the same, in every
capture there is; of scenarios test/verdict/test_scenarios.py looks at it."""

import csv
import json
import re
from collections import Counter
from typing import NamedTuple

import pytest

from conftest import TOP
from series import pdh_rows

PCAPS = TOP / 'test' / 'pcaps'
KEYS = json.loads((PCAPS / 'keys.json').read_text())
CAPTURES = sorted(p.relative_to(PCAPS).as_posix() for p in [*PCAPS.glob('*.pcap'), *PCAPS.glob('plain/*.pcap')])
WITHOUT_ROW = r'values without a row \(texts, repeated paths\): (\d+)'
ASSUMED = r'values that are assumed: (\d+)'
NOT_SAMPLES = r'malformed responses: |responses of no known query or handle: '


def in_all(findings, kind):
    """How many things a finding of the verdict says there are"""
    said = [re.search(r'; (?:(\d+) in all)?', f['text'] + '; ') for f in findings if f['kind'] == kind]
    return sum(int(m[1] or 1) for m in said)


class Looked(NamedTuple):
    """A capture read in two passes: what its packets show, what statistics and files say of it"""
    tree: list          # (frame, blank for each value, damage, blank for what is not delivered, findings)
    text: str           # pcq,summary, then the table of pcq,counters
    rows: list          # of the long form
    files: list         # the rows of each file of PDH-CSV
    summary: dict


def look(tshark, path, options, folder):
    long_form, summary = folder / 'long.csv', folder / 'summary.json'
    for left in folder.glob('run*.csv'):
        left.unlink()
    names = 'frame.number', 'pcq.counter_data', 'pcq.expert.size', 'pcq.expert.not_delivered', '_ws.expert.message'
    text, _ = tshark.run('-2', '-r', path, *options, '-T', 'fields', *[x for n in names for x in ('-e', n)], '-E', 'aggregator=|',
                         '-Y', 'pcq.counter_data || pcq.expert.not_delivered', '-z', 'pcq,counters', '-z', 'pcq,summary',
                         '-z', 'pcq,summary,%s' % summary, '-z', 'pcq,long,%s' % long_form,
                         '-z', 'pcq,csv,%s' % (folder / 'run.csv'))
    tree = [line.split('\t') for line in text.splitlines() if re.match(r'\d+\t', line)]
    with open(long_form, encoding='utf-8') as f:
        rows = list(csv.DictReader(f))
    files = [pdh_rows(p.read_bytes().decode()) for p in folder.glob('run*.csv')]
    return Looked(tree, re.sub(r'\A(\d+\t.*\n)*', '', text), rows, files, json.loads(summary.read_text('utf-8')))


def balance(looked):
    tree, text, rows, files, summary = looked
    assert files and all(len({len(row) for row in file}) == 1 and file[0][0] == '(PDH-CSV 4.0) (UTC)(0)' for file in files)
    assert all(r['raw'] or r['reason'] for r in rows)
    values = [r for r in rows if r['status'] in ('', '0')]
    shown = {int(n): (len(x.split('|')), len(x.split('|')) - bool(damage)) for n, x, damage, *_ in tree if x}       # one that cannot be read is shown, too
    exported = Counter(int(r['frame']) for r in values)
    # What was captured twice, or answers no known query, is shown and counts for nothing
    assert all(count in shown[n] for n, count in exported.items()), {n: (shown[n], count) for n, count in exported.items() if count not in shown[n]}
    samples = sum(int(line.split('|')[1]) for line in text.splitlines() if line.startswith('\\\\'))
    held = samples + sum(map(int, re.findall(WITHOUT_ROW, text)))
    assert held == len(values) or re.search(NOT_SAMPLES, text) and held < len(values), (samples, held, len(values))
    found = [f for m in summary['monitors'] for f in m['findings']]
    # of an answer that does not add up the verdict says so, and nothing of its values
    damaged = {n for f in found if f['kind'] == 'damaged' for n in re.findall(r'\d+', f['filter'])}
    for f in found:
        if f['kind'] == 'damaged' and not f['filter']:       # too many to be listed
            damaged |= {str(n) for n in range(f['since']['frame'], f['until']['frame'] + 1 if f['until'] else 10 ** 6)}
    assumed, in_doubt = ([r['frame'] in damaged for r in values if r['assumed'] == '1'].count(x) for x in (False, True))
    told, noted = in_all(found, 'assumed'), sum(map(int, re.findall(ASSUMED, text)))
    assert assumed <= told <= assumed + in_doubt and noted <= assumed + in_doubt, (assumed, in_doubt, told, noted, found)
    assert len(rows) - len(values) == in_all(found, 'block_failed'), found


@pytest.mark.parametrize('name', CAPTURES)
def test_captures(tshark, tmp_path, name):
    options = [x for o in KEYS.get(name, []) for x in ('-o', o.replace('{pcaps}', str(PCAPS)))]
    balance(look(tshark, PCAPS / name, options, tmp_path))
