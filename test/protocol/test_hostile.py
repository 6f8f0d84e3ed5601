# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures whose cost somebody chose (gen/hostile.py): a megabyte of each takes three seconds and 400 MB at most, beyond
what tshark needs for nothing. How the work grows with the bytes: script/dev/bench --growth."""

import csv
import os

import pytest

import cost
from gen.hostile import HOSTILE, Pcq, block, identifier, instance, instances, utf16, values
from gen.pcap import Capture

STATISTICS = ('pcq,tree', 'pcq,counters', 'pcq,queries', 'pcq,refusals', 'pcq,monitors', 'pcq,csv,{0}/csv', 'pcq,long,{0}/long',
              'pcq,names,{0}/names')
EVERY = (*(x for z in STATISTICS for x in ('-z', z)), '--export-objects', 'pcq,{0}/objects')
WAYS = {'-2 -V': ('-2', '-V'), 'json': ('-T', 'json'), 'statistics': ('-q', *EVERY), 'all at once': ('-2', '-V', *EVERY)}
# What builds all items beside all statistics, for each change; script/dev/release sets PCQ_ALL_WAYS
HERE = ['-2 -V', 'json', 'statistics'] if os.environ.get('PCQ_ALL_WAYS') else ['all at once']
BYTES = {'-2 -V': 1000000, 'json': 300000, 'statistics': 2000000, 'all at once': 400000}


@pytest.fixture(scope='module')
def nothing(tshark, tmp_path_factory):
    path = Capture().write(tmp_path_factory.mktemp('nothing') / 'empty.pcap')
    return cost.of_tshark(tshark, path)


@pytest.mark.parametrize('way', HERE)
@pytest.mark.parametrize('name', HOSTILE)
def test_05_bounded(tshark, tmp_path, nothing, name, way):
    path = HOSTILE[name](BYTES[way]).write(tmp_path / 'hostile.pcap')
    used = cost.of_tshark(tshark, path, *(a.format(tmp_path) for a in WAYS[way]), seconds=20)
    assert used.status == 0 or '--export-objects' in WAYS[way] and used.status == 1     # no name to export
    assert used.seconds - nothing.seconds <= cost.SECONDS * (.4 if way == 'all at once' else 1)
    assert used.megabytes - nothing.megabytes <= cost.MEGABYTES


def test_05_refused_counters_are_not_looked_at_with_each_response(tshark, tmp_path, nothing):
    path = HOSTILE['refused-but-one'](6000000).write(tmp_path / 'refused.pcap')
    assert cost.of_tshark(tshark, path).seconds - nothing.seconds <= cost.SECONDS


def ever_new(answers):
    """Each with an instance that no other has."""
    p = Pcq()
    p.registration(9, utf16('Set'))
    p.counters([0], kind=0x00010100)  # PERF_COUNTER_LARGE_RAWCOUNT: 8 bytes, as values() has them
    p.open()
    p.change([identifier(0)])
    for n in range(answers):
        p.data(block(4, instances([instance('new %d' % n, n) + values(1, n)])))
    return p.capture


def test_05_38_a_table_of_ever_new_instances_is_bounded(tshark, tmp_path):
    """4,000 answers of an instance each would make a table of 16 million cells, nearly all of them empty: the first columns
    are written, as many as fit, and it is said what is not."""
    path = ever_new(4000).write(tmp_path / 'new.pcap')
    _, err = tshark.run('-q', '-r', path, '-z', 'pcq,csv,%s' % (tmp_path / 'out.csv'))
    rows = list(csv.reader((tmp_path / 'out.csv').read_text().splitlines()))
    columns = len(rows[0]) - 1
    assert len(rows) == 4001 and 1000 <= columns < 3000 and {len(r) for r in rows} == {columns + 1}
    assert 'values that are not in the CSV: %d;' % (4000 - columns) in err
    assert [i for i, r in enumerate(rows[1:]) if any(x.strip() for x in r[1:])] == list(range(columns))


def test_05_38_statuses_of_the_tree_are_bounded(tshark, tmp_path):
    """Wireshark walks along all nodes for each new one: statuses without a name have one together."""
    path = HOSTILE['statuses-all-different'](1100 * 330).write(tmp_path / 'statuses.pcap')
    out, _ = tshark.run('-q', '-r', path, '-z', 'pcq,tree')
    rows = [line.split() for line in out.splitlines()]
    assert not any(r[:1] == ['error'] for r in rows)
    assert [r[2] for r in rows if r[:2] == ['other', 'statuses']] == ['1100']
