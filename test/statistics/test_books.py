# SPDX-License-Identifier: GPL-2.0-or-later
"""What answers hold is shown or said to be left out: the tree, files, tables and the verdict add up to the same, in every capture there is."""

import csv
import json
import re
import sys
from collections import Counter

import pytest

from conftest import TOP

sys.path.insert(0, str(TOP / 'test' / 'verdict'))
from broken import BROKEN  # noqa: E402
from well import PLANS  # noqa: E402
from world import World  # noqa: E402

PCAPS = TOP / 'test' / 'pcaps'
KEYS = json.loads((PCAPS / 'keys.json').read_text())
CAPTURES = sorted(p.relative_to(PCAPS).as_posix() for p in [*PCAPS.glob('*.pcap'), *PCAPS.glob('plain/*.pcap')])
SCENES = {**PLANS, **BROKEN}
LEFT_OUT = [r'values of a counter that is not known: (\d+)', r'texts, which have no row: (\d+)', r'values of a path that the answer had before: (\d+)']
ASSUMED = r'samples of an assumed (?:counter|instance): (\d+)'
NOT_SAMPLES = r'answers that do not add up: |answers of no known (?:query|handle): '


def in_all(findings, kind):
    """How many things a finding of the verdict says there are"""
    said = [re.search(r'; (?:(\d+) in all)?', f['text'] + '; ') for f in findings if f['kind'] == kind]
    return sum(int(m[1] or 1) for m in said)


def balance(tshark, path, options, folder):
    """-> values of all answers"""
    long_form, summary = folder / 'long.csv', folder / 'summary.json'
    text, said = tshark.run('-q', '-2', '-r', path, *options, '-z', 'pcq,counters', '-z', 'pcq,long,%s' % long_form, '-z', 'pcq,summary,%s' % summary)
    with open(long_form, encoding='utf-8') as f:
        rows = list(csv.DictReader(f))
    values = [r for r in rows if r['status'] in ('', '0')]
    tree = tshark.fields(path, ['frame.number', 'pcq.counter_data', 'pcq.expert.size'], '-2', '-Y', 'pcq.counter_data', '-E', 'aggregator=|', *options)
    shown = {int(n): (len(x.split('|')), len(x.split('|')) - bool(damage)) for n, x, damage in tree}       # one that cannot be read is shown, too
    exported = Counter(int(r['frame']) for r in values)
    # What was captured twice, or answers no known query, is shown and counts for nothing
    assert all(count in shown[n] for n, count in exported.items()), {n: (shown[n], count) for n, count in exported.items() if count not in shown[n]}
    samples = sum(int(line.split('|')[1]) for line in text.splitlines() if line.startswith('\\\\'))
    left_out = [sum(map(int, re.findall(kind, text))) for kind in LEFT_OUT]
    held = samples + sum(left_out)
    assert held == len(values) or re.search(NOT_SAMPLES, text) and held < len(values), (samples, left_out, len(values))
    assert left_out[0] <= sum(not r['path'] for r in values)
    found = [f for m in json.loads(summary.read_text('utf-8'))['monitors'] for f in m['findings']]
    # of an answer that does not add up the verdict says so, and nothing of its values
    damaged = {n for f in found if f['kind'] == 'damaged' for n in re.findall(r'\d+', f['filter'])}
    assumed, in_doubt = ([r['frame'] in damaged for r in values if r['assumed'] == '1'].count(x) for x in (False, True))
    told, noted = in_all(found, 'assumed'), sum(map(int, re.findall(ASSUMED, text)))
    assert assumed <= told <= assumed + in_doubt and assumed <= noted <= assumed + in_doubt, (assumed, in_doubt, told, noted, found)
    assert len(rows) - len(values) == in_all(found, 'block_failed'), found
    return len(values)


@pytest.mark.parametrize('name', CAPTURES)
def test_captures(tshark, tmp_path, name):
    options = [x for o in KEYS.get(name, []) for x in ('-o', o.replace('{pcaps}', str(PCAPS)))]
    balance(tshark, PCAPS / name, options, tmp_path)


@pytest.mark.parametrize('name', SCENES)
def test_scenes(tshark, tmp_path, name):
    world = World()
    SCENES[name].story(world)
    balance(tshark, world.capture.write(tmp_path / 'scene.pcap'), SCENES[name].options, tmp_path)
