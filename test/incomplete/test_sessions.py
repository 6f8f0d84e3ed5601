# SPDX-License-Identifier: GPL-2.0-or-later
"""Random sessions: whatever is shown without a mark is true. SESSIONS=10000 SEED=7 runs others and more."""

import functools
import os
import re

import pytest

from gen.scenario import Scenario
from gen.sessions import KINDS, SPAN, Session, Network, registry, steps_of, whose
from series import long_rows

SESSIONS, SEED = int(os.environ.get('SESSIONS', 100)), int(os.environ.get('SEED', 0))
IN_ONE = 100        # sessions of a capture
PASSES = pytest.mark.parametrize('passes', [(), ('-2',)], ids=['one-pass', 'two-pass'])


def address(n):
    return '10.%d.%d.%d' % (1 + n // 62500, n // 250 % 250, 1 + n % 250)


def left_of(kind, seed, left_out):
    return [s for s in steps_of(seed, kind) if s.call not in left_out]


def add_session(network, scenario, kind, seed, place, left_out=()):
    if kind == 'registry':
        registry(network, scenario, seed, address(place), left_out)
        return
    for life in range(1 + (kind == 'restarts')):
        Session(network, scenario, seed, address(place), kind, life).run(left_of(kind, seed, left_out))


def false_rows(rows, network):
    """[(row, what is so)] of rows that say what is not so, without a mark."""
    seen, wrong = {}, []
    for row in rows:
        if not row['raw'] or int(row['raw']) < SPAN:
            continue
        raw = int(row['raw'])
        thing = network.things[whose(raw)]
        if row['assumed'] == '0' and row['path']:
            shown = row['server'], row['counterset'], row['counter'], re.sub(r'#\d+$', '', row['instance'].split('/')[-1])
            if any(x not in names.split('|') and x[:1] not in '#{' for x, names in zip(shown, thing)):
                wrong.append((row, thing))
        if row['assumed'] == '0' and row['result']:
            differences = {raw - before for before in seen.get(whose(raw), ())}
            if float(row['result']) not in differences:
                wrong.append((row, thing, 'one of', differences))
        seen.setdefault(whose(raw), []).append(raw)
    return wrong


@functools.lru_cache(maxsize=1)
def network_of(kind, seeds, left_out=frozenset()):
    """-> (World, Scenario), the same for both passes"""
    network, scenario = Network(), Scenario()
    for place, seed in enumerate(seeds):
        add_session(network, scenario, kind, seed, place, left_out)
    return network, scenario


def rows_of_sessions(tshark, tmp_path, kind, seeds, passes, left_out=frozenset()):
    """-> (false rows, rows with a true result that is not marked, rows)"""
    network, scenario = network_of(kind, seeds, left_out)
    out, _ = tshark.run('-q', '-r', scenario.write(tmp_path / 'a.pcap'), '-z', 'pcq,long,-', *passes)
    rows = long_rows(out)
    return false_rows(rows, network), [r for r in rows if r['result'] and r['assumed'] == '0'], rows


def shortest(tshark, tmp_path, kind, seed, passes):
    """Which calls (or samples) of a session can be left out, and it still shows what is false."""
    left_out = frozenset()
    calls = {s.call for s in steps_of(seed, kind)} if kind in KINDS else set(range(10))
    for call in sorted(calls, reverse=True):
        if rows_of_sessions(tshark, tmp_path, kind, range(seed, seed + 1), passes, left_out | {call})[0]:
            left_out |= {call}
    return left_out


@PASSES
@pytest.mark.parametrize('kind', [*KINDS, 'registry'])
def test_what_is_not_marked_is_true(tshark, tmp_path, kind, passes):
    results = rows = 0
    for first in range(SEED, SEED + SESSIONS, IN_ONE):
        seeds = range(first, min(first + IN_ONE, SEED + SESSIONS))
        wrong, true, all_rows = rows_of_sessions(tshark, tmp_path, kind, seeds, passes)
        for row, *so in wrong[:1]:
            seed = int(re.search(r'\d+', so[0].server)[0])
            left_out = shortest(tshark, tmp_path, kind, seed, passes)
            steps = left_of(kind, seed, left_out) if kind in KINDS else 'without samples %s' % sorted(left_out)
            pytest.fail('%d false rows; SEED=%d SESSIONS=1, at least %s: %s is not so: %s' % (len(wrong), seed, steps, row, so))
        results, rows = results + len(true), rows + len(all_rows)
    assert results > rows / 20     # most answers of these sessions overlap changes


@pytest.mark.parametrize('kind', ['orderly', 'losses', 'registry'])
def test_info_says_what_an_export_says(tshark, tmp_path, kind):
    """Info finds its one value in the sample before without tables: result, reason and mark are those of a look at all values."""
    (network, scenario), rows, checked = network_of(kind, range(SEED, SEED + 60)), {}, 0
    path = scenario.write(tmp_path / 'a.pcap')
    for row in long_rows(tshark.run('-q', '-r', path, '-z', 'pcq,long,-')[0]):
        rows.setdefault((row['frame'], re.sub(r'^\\\\[^\\]*', '', row['path'])), row)
    for number, info in tshark.info(path, '-Y', 'pcq.block || hkpd.data_block').items():
        headline = re.search(r'(\\[^=]*) = (.*)', info)
        if headline:
            row, shown = rows[str(number), headline[1]], re.split(r', [\d,]+ more value|; \d+ failed| \(\d+ (?:block|object)', headline[2])[0]
            result = row['result'] and {'{:,.1f}'.format(float(row['result'])), '{:,}'.format(int(float(row['result'])))}
            assert shown.split(' ')[0] in result if result else '(raw; %s' % row['reason'] in shown, (number, info, row)
            assert (row['assumed'] == '1') == shown.endswith('(assumed)'), (number, info, row)
            checked += 1
    assert checked > 90
