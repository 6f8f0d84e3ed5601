# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables, the summary and files of traffic that is busy: calls under way at once, one pipe beside another, refusals and errors before
names are known."""

import dataclasses
import json

import pytest

from gen import hkpd_stubs as registry
from gen.buffers import error_block, multi_instances_block
from gen.hkpd_block import Counter as Number
from gen.hkpd_block import Object
from gen.hkpd_scenario import begin_talk
from gen.model import ENGLISH, TYPES, grows
from gen.scenario import SECOND, Scenario
from gen.scripted import NONE, Server, ask, begin, counter, learn, memory, processors, run, single, capture_talk
from gen.stubs import DATA
from series import long_rows, table
from test_overlap import Monitor

OVERTAKEN = 'a later sample was answered before this one'


@pytest.fixture
def ask_all(tshark, tmp_path):
    """ask_all(scenario, *options) -> (rows of pcq,queries, the JSON of pcq,summary, rows of pcq,long)"""
    def get(scenario, *args):
        capture = scenario.write(tmp_path / 'scenario.pcap')
        out = [tmp_path / n for n in ('summary.json', 'long.csv')]
        tshark.run('-q', '-r', capture, '-z', 'pcq,summary,%s' % out[0], '-z', 'pcq,long,%s' % out[1], *args)
        rows = [r for r in table(tshark, capture, 'pcq,queries', *args) if r['Server'] is not None]
        return rows, json.loads(out[0].read_text('utf-8')), long_rows(out[1].read_bytes().decode())
    return get


def kinds(summary):
    return [f['kind'] for m in summary['monitors'] for f in m['findings']]


# --- Two calls under way at once ------------------------------------------------------------------------------------

def paced(steps, **how):
    """Each step a second after the one before."""
    scenario = Scenario()
    m = Monitor(scenario, **how)
    for step in steps:
        m.run(step)
        scenario.capture.now += SECOND
    return scenario


@pytest.mark.parametrize('steps', [
    ['D? D!'] * 3 + ['D.1? D.1* D.2? D.2* D.2! D.1!'] + ['D? D!'] * 3,      # the answers change places,
    ['D? D!'] * 3 + ['D.1? D.2? D.2* D.1* D.1! D.2!'] + ['D? D!'] * 3,      # or the calls themselves do on the server
], ids=['answers', 'calls'])
def test_an_overtaken_sample(ask_all, steps, passes):
    """It has no result, and neither is the server's clock said to have begun again nor a later sample late."""
    rows, summary, long = ask_all(paced(steps), *passes)
    assert kinds(summary) == [] and summary['healthy']
    assert summary['monitors'][0]['samples'] == 8
    frames = sorted({int(r['frame']) for r in long})
    reasons = {f: {r['reason'] for r in long if int(r['frame']) == f} for f in frames}
    assert [reasons[f] for f in frames] == [{'first sample'}] + [{''}] * 3 + [{OVERTAKEN}] + [{''}] * 3
    row, = rows
    assert (row['Samples'], row['Late'], row['Slow']) == ('8', '0', '0')
    assert float(row['Longest gap (s)']) < 2.01


# --- What the registry says beside data --------------------------------------------------------------------------------

@pytest.mark.parametrize('size', [None, 4096], ids=['no-size', 'size'])
def test_probes_and_failures_of_the_registry_are_counted(ask_all, size, passes):
    """ERROR_MORE_DATA, also of a server that does not say how much, and ERROR_NO_SYSTEM_RESOURCES; titles that are not there are neither."""
    scenario, talk = begin_talk([Object(2, 'System', [Number(3, 'Things', TYPES['PERF_COUNTER_RAWCOUNT'], lambda at, k: 7, 4)])], titles=False)
    talk.ask('Counter 007', None, status=2)
    talk.titles()
    for n in range(4):
        talk.ask('Global', None, status=registry.MORE_DATA, room=1024, size=size)
        talk.ask('Global', None, status=1450) if n == 2 else talk.sample()
        scenario.capture.now += SECOND
    (row,), summary, _ = ask_all(scenario, *passes)
    assert (row['Samples'], row['Size probes'], row['No data']) == ('3', '4', '1')
    assert summary['monitors'][0]['size_probes'] == 4


# --- Answers without a value ---------------------------------------------------------------------------------------------

def registry_session(names, change):
    """A sample each second; what is asked for by each name, and what change(talk, n) makes of the objects before the nth."""
    scenario, talk = begin_talk([Object(2, 'System', [Number(3, 'Things', TYPES['PERF_COUNTER_RAWCOUNT'], lambda at, k: 7, 4)])])
    for n, name in enumerate(names):
        change(talk, n)
        talk.sample(name)
        scenario.capture.now += SECOND
    return scenario


def test_a_block_without_objects(ask_all, tshark, tmp_path, passes):
    """What was asked for is gone: nothing is damaged, and nothing came late."""
    whole = []
    scenario = registry_session(['2'] * 8, lambda talk, n: setattr(talk, 'objects', whole.append(talk.objects) or ([] if n in (3, 4) else whole[0])))
    (row,), summary, _ = ask_all(scenario, *passes)
    assert (row['Samples'], row['Late'], row['Slow']) == ('8', '0', '0')
    assert [(f['kind'], f['count']) for f in summary['monitors'][0]['findings']] == [('not_delivered', 2)]
    infos = [i for i in tshark.run('-r', tmp_path / 'scenario.pcap', '-Y', 'hkpd', '-T', 'fields', '-e', '_ws.col.Info')[0].splitlines()
             if 'no value (no objects' in i or 'no value (0 objects' in i]
    assert len(infos) == 2


def test_descriptions_are_neither_samples_nor_damaged(ask_all, passes):
    def change(talk, n):
        talk.objects = [dataclasses.replace(o, instances=-3 if n == 3 else None) for o in talk.objects]
    names = ['2', '2', '2', 'MetadataGlobal', '2', '2']
    (row,), summary, _ = ask_all(registry_session(names, change), *passes)
    assert (row['Samples'], row['No data']) == ('5', '0')
    assert summary['healthy'] and summary['notes'] == []


# --- Behind an error -----------------------------------------------------------------------------------------------------


class Failing(Server):
    """In one of the samples the block of a query's first identifier is an error ([MS-PCQ] 2.2.4.9), or its value is empty."""

    def __init__(self, sets, number, status):
        super().__init__(sets)
        self.number, self.status = number, status

    def _block(self, i, at):
        if at.number != self.number or i is not next(iter(self.queries.values())).identifiers[0]:
            return super()._block(i, at)
        return (error_block(self.status) if self.status else multi_instances_block([(0, 'a', [(b'', 0)])])), []


@pytest.mark.parametrize('make, asked, status, reason', [
    (memory, (NONE, None), 1460, 'it had an error in the sample before'),
    (memory, (2, None), 232, 'it had an error in the sample before'),
    (processors, (NONE, '*'), 1460, 'it had an error in the sample before'),
    (processors, (2, '*'), 5, 'it had an error in the sample before'),
    (processors, (2, 'a'), 232, 'instance is new'),
    (processors, (2, '*'), 232, 'instance is new'),
    (processors, (2, '*'), 0, 'value or base had another size in the sample before')])
def test_behind_an_error(ask_all, make, asked, status, reason, passes):
    """ERROR_TIMEOUT, once, says nothing of instances; ERROR_NO_DATA does where one was asked for."""
    s = make()
    beside = [ask(s, NONE, 'b*')] if s.kind else []     # has no instance that could say more of the first identifier's
    scenario = capture_talk(Failing([s], 2, status), lambda c: (learn(c, s), run(c, [ask(s, *asked), *beside], 5)))
    _, _, rows = ask_all(scenario, *passes)
    rows = [r for r in rows if r['counter'] == s.counters[1].names[ENGLISH] and r['raw'] and r['instance'] != 'b']
    frames = sorted({int(r['frame']) for r in rows})
    assert [{r['reason'] for r in rows if int(r['frame']) == f} for f in frames] == [
        {'first sample'}, {''}, {reason}, {''}]


@pytest.mark.parametrize('asked, reasons', [
    ([1], ['cannot be compared with the sample before', 'first sample', 'base counter is not there']), ([2, 1], ['first sample', ''])])
def test_behind_a_damaged_answer(ask_all, asked, reasons, passes):
    """The first block of the first answer ends where it begins: it is shown as far as its parts fit, and is no sample."""
    s, first = single('Set', counter(1, 'PERF_AVERAGE_BULK', 'Mean', grows(9, 9), base=2), counter(2, 'PERF_AVERAGE_BASE', None, grows(1, 1))), [DATA]
    scenario, c = begin(Server([s]), s, alters=lambda opnum, kind, stub: stub[:76] + bytes(4) + stub[80:] if kind == 'response' and opnum in first and first.pop() else stub)
    run(c, [ask(s, i) for i in asked], 3)
    assert [r['reason'] for r in ask_all(scenario, *passes)[2] if r['counter'] == 'Mean'] == reasons
