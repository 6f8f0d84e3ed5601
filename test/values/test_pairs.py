# SPDX-License-Identifier: GPL-2.0-or-later
"""Who is who between two samples. Each process counts with a speed of its own, so a result says of which two it was made."""

import pytest

from gen import buffers
from gen.hkpd_block import Counter, Instance, Object, titles
from gen.hkpd_scenario import begin_talk
from gen.hkpd_stubs import REG_MULTI_SZ
from gen.model import TYPES
from gen.scripted import NONE, Server, ask, counter, learn, memory, multiple, run, single, capture_talk
from gen.stubs import INFO
from series import long_rows
from test_csv import export      # noqa: F401: a fixture

MOVED = 'instances of this name came or went'
NEW = 'instance is new'
FIRST = 'first sample'
NOT_COMPARED = 'cannot be compared with the sample before'


def count(place, number):
    """Of the process that has this place, in the sample of this number."""
    return 1000 * place + 7 * (place + 1) * number


def made(now, before):
    """The difference, as text, of process `now` in sample 1 and process `before` in sample 0."""
    return float(count(now, 1) - count(before, 0))


def of_second_sample(text, name):
    """[(instance, result or reason, assumed)] of one counter"""
    rows = [r for r in long_rows(text) if r['counter'] == name]
    rows = [r for r in rows if r['frame'] == rows[-1]['frame']]
    return [(r['instance'], float(r['result']) if r['result'] else r['reason'], r['assumed']) for r in rows]


# (id, name, process) of two samples -> what the second gives
CASES = {
    'names': ([(0, 'a', 0), (0, 'b', 1)], [(0, 'b', 1), (0, 'a', 0)], [('b', made(1, 1), '0'), ('a', made(0, 0), '0')]),
    'as many': ([(0, 'svc', 0), (0, 'svc', 1), (0, 'x', 2)], [(0, 'svc', 0), (0, 'svc', 1), (0, 'x', 2)],
                [('svc', made(0, 0), '1'), ('svc#1', made(1, 1), '1'), ('x', made(2, 2), '0')]),
    'fewer': ([(0, 'svc', 0), (0, 'svc', 1), (0, 'x', 2)], [(0, 'svc', 1), (0, 'x', 2)], [('svc', MOVED, '0'), ('x', made(2, 2), '0')]),
    'more': ([(0, 'svc', 0)], [(0, 'svc', 0), (0, 'svc', 1)], [('svc', MOVED, '0'), ('svc#1', MOVED, '0')]),
    'other ids': ([(i, name, i) for i, name in enumerate('abcdd')], [(0, 'b', 1), (1, 'c', 2), (2, 'd', 4)],
                  [('b', made(1, 1), '1'), ('c', made(2, 2), '1'), ('d', MOVED, '0')]),
    'ids that move': ([(4, 'svc', 0), (8, 'svc', 1)], [(8, 'svc', 1), (12, 'svc', 2)], [('svc', made(1, 0), '1'), ('svc#1', made(2, 1), '1')]),
}


def perflib(case):
    s = multiple('Set', counter(1, 'PERF_COUNTER_LARGE_DELTA', 'Delta', lambda at, k: count(k, at.number)),
                 instances=lambda number: CASES[case][min(number, 1)])
    return capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, NONE, '*'), ask(s, 1, 'q*')], 2)))


NO_ID = 2 ** 32 - 1


def registry(before, after, ids=None, called='ID Process', then=None, **server):
    """The same of HKEY_PERFORMANCE_DATA; ids: the processes' own. called: the title of their counter, then: a later one; None: no titles are captured."""
    rows = lambda at: (before, after)[min(at.number, 1)]
    place = lambda at, k: rows(at)[k][2]
    counters = [Counter(6, 'Delta', TYPES['PERF_COUNTER_LARGE_DELTA'], lambda at, k: count(place(at, k), at.number))]
    if ids:
        counters.append(Counter(784, called, TYPES['PERF_COUNTER_RAWCOUNT'], lambda at, k: ids[place(at, k)], 4))
    objects = [Object(230, 'Process', counters, lambda at: [Instance(name, -1 if i == NO_ID else i) for i, name, _ in rows(at)])]
    scenario, talk = begin_talk(objects, titles=bool(called), **server)
    talk.sample()
    talk.sample()
    if then:
        talk.titles(pairs={**talk.names, 784: then})
    return scenario


@pytest.mark.parametrize('case', CASES)
def test_instances_of_a_counterset(export, case, passes):
    text = export(perflib(case), 'long', *passes)
    assert of_second_sample(text, 'Delta') == CASES[case][2]


@pytest.mark.parametrize('case', CASES)
def test_instances_of_an_object(export, case, passes):
    text = export(registry(*CASES[case][:2]), 'long', *passes)
    assert of_second_sample(text, 'Delta') == CASES[case][2]


def test_why_an_instance_is_assumed(tshark, tmp_path):
    """Not for want of QueryCounterInfo: HKEY_PERFORMANCE_DATA has none, and with it is known which counter it is."""
    for scenario in perflib('as many'), registry(*CASES['as many'][:2]):
        _, notes = tshark.run('-q', '-r', scenario.write(tmp_path / 'a.pcap'), '-z', 'pcq,long,%s' % (tmp_path / 'long.csv'))
        assert 'values that are assumed: 2; ' in notes
        assert len(tshark.fields(tmp_path / 'a.pcap', ['frame.number'], '-Y', 'pcq.expert.order_assumed')) == 1


def test_an_id_that_another_name_has(export, passes):
    """A name tells which instance it is. An id alone does not."""
    before, after = [(4, 'cmd', 0), (8, 'svc', 1)], [(8, 'svc', 1), (4, 'git', 2)]
    assert of_second_sample(export(registry(before, after), 'long', *passes), 'Delta') == [
        ('svc', made(1, 1), '0'), ('git', NEW, '0')]


def test_the_process_own_id_tells(export, passes):
    """One of three ends, another begins: by place each would be taken for another one."""
    before = [(NO_ID, 'svc', 0), (NO_ID, 'svc', 1), (NO_ID, 'svc', 2), (NO_ID, 'one', 3), (NO_ID, 'two', 4)]
    after = [(NO_ID, 'svc', 1), (NO_ID, 'svc', 2), (NO_ID, 'svc', 5), (NO_ID, 'one', 6), (NO_ID, 'two', 4)]
    scenario = registry(before, after, ids=[400, 404, 408, 412, 416, 420, 424])
    assert of_second_sample(export(scenario, 'long', *passes), 'Delta') == [
        ('svc', made(1, 1), '0'), ('svc#1', made(2, 2), '0'), ('svc#2', MOVED, '0'), ('one', MOVED, '0'),
        ('two', made(4, 4), '0')]


@pytest.mark.parametrize('called, then, samba, is_id', [
    ('ID Process', None, False, True), ('ID Process', None, True, True), (None, None, False, True),      # nothing says otherwise
    ('Queue Length', None, False, False), ('Queue Length', None, True, False), (None, None, True, False),
    ('ID Process', 'Queue Length', False, None)])       # it may have been another already
def test_an_own_id_is_one_by_its_title(export, passes, called, then, samba, is_id):
    """Title index 784 is the process' id on every Windows, and elsewhere what the titles say: two instances change their numbers."""
    before, after = [(NO_ID, 'svc', 0), (NO_ID, 'svc', 1)], [(NO_ID, 'svc', 2), (NO_ID, 'svc', 3)]
    text = export(registry(before, after, [5, 7, 7, 5], called, then, samba=samba), 'long', *passes)
    is_id = not passes if is_id is None else is_id
    counter = called and 'Delta' or ('#6' if samba else '% Processor Time')
    assert of_second_sample(text, counter) == [
        ('svc', made(2, 1), '0') if is_id else ('svc', made(2, 0), '1'),
        ('svc#1', made(3, 0), '0') if is_id else ('svc#1', made(3, 1), '1')]


def test_own_ids_that_repeat(export):
    """They prove nothing."""
    rows = [(NO_ID, 'svc', 0), (NO_ID, 'svc', 1)]
    assert of_second_sample(export(registry(rows, rows, ids=[0, 0]), 'long'), 'Delta') == [('svc', made(0, 0), '1'), ('svc#1', made(1, 1), '1')]


def test_counters_of_one_index_that_come_and_go(export, passes):
    """Which of them is gone, and which of them came, nobody knows; nor which of two has the index: one has the path, both the mark."""
    delta = lambda place: Counter(10, 'Delta', TYPES['PERF_COUNTER_LARGE_DELTA'], lambda at, k: count(place, at.number))
    scenario, talk = begin_talk(titles=False)
    for talk.objects in [[Object(230, 'Process', [delta(i) for i in there])] for there in ((1, 5), (5,), (5,), (1, 5))]:
        talk.sample()
    rows = [(r['result'] or r['reason'], r['path'][-4:], r['assumed']) for r in long_rows(export(scenario, 'long', *passes))]
    other, second = NOT_COMPARED, ('counter not known', '', '1')
    assert rows == [(FIRST, '/sec', '1'), second, (other, '/sec', '0'), (str(count(5, 2) - count(5, 1)), '/sec', '0'), (other, '/sec', '1'), second]


def told_twice(protocol, second):
    """One answer tells a name of id 5002 twice, the second is this; of 5004 once."""
    delta = lambda i: lambda at, k: count(i, at.number)
    if protocol == 'hkpd':
        columns = [Counter(5000 + 2 * i, None, TYPES['PERF_COUNTER_LARGE_DELTA'], delta(i)) for i in (1, 2)]
        scenario, talk = begin_talk([Object(5000, None, columns)], titles=False)
        pairs = [(5000, 'Object'), (5002, 'Reads'), (5002, second), (5004, 'Writes')]
        talk.ask('Counter 009', titles(pairs[:2] + pairs[3:]), kind=REG_MULTI_SZ)
        talk.ask('Counter 009', titles(pairs), kind=REG_MULTI_SZ)
        talk.sample()
        talk.sample()
        return scenario
    names = 'Reads', second, 'Writes'
    s = multiple('Object', *[counter(n, 'PERF_COUNTER_LARGE_DELTA', name, delta(n // 2 - 2500)) for n, name in zip((5002, 5002, 5004), names)])
    return capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, 5002, 'a'), ask(s, 5004, 'a')], 2)))


@pytest.mark.parametrize('protocol', ['pcq', 'hkpd'])
@pytest.mark.parametrize('second, assumed', [('Opens', '1'), ('Reads', '0')])
def test_an_answer_that_tells_an_id_twice(tshark, tmp_path, protocol, second, assumed, passes):
    """The first of both names is shown, and assumed; the other counter's name is certain."""
    out, said = tshark.run('-q', '-r', told_twice(protocol, second).write(tmp_path / 'a.pcap'), '-z', 'pcq,long,-', *passes)
    rows = [(r['counter'], r['result'], r['assumed']) for r in long_rows(out)]
    assert rows == [('Reads', '', assumed), ('Writes', '', '0'), ('Reads', '14', assumed), ('Writes', '21', '0')]
    assert ('values that are assumed: 2; ' in said) == (assumed == '1')
    assert 'assumed instance' not in said and 'assumed counter' not in said


def test_labels_and_columns_say_so(tshark, tmp_path):
    capture = tmp_path / 'scenario.pcap'
    perflib('as many').write(capture)
    tree, _ = tshark.run('-r', capture, '-V', '-O', 'pcq')
    assert 'Set(svc)\\Delta = 7.00 (assumed)' in tree and 'Set(svc#1)\\Delta = 14.0 (assumed)' in tree and 'Set(x)\\Delta = 21.0\n' in tree
    counters, _ = tshark.run('-q', '-r', capture, '-z', 'pcq,counters')
    assert ['(assumed)' in line for line in counters.splitlines() if 'Delta' in line] == [True, True, False]


class Same(Server):
    """A block of these (id, value) pairs in the sample of that number."""

    def __init__(self, sets, pairs):
        super().__init__(sets)
        self.pairs = pairs

    def _block(self, i, at):
        ids, values = zip(*self.pairs(at.number))
        return buffers.multi_counters_block(list(ids), [(v, 8) for v in values]), []


def test_two_counters_of_an_id_of_which_one_goes(export, passes):
    """Which of them the second answer lacks nobody knows, nor which of two has the id: the first has the path, both are marked."""
    s = single('Set', counter(3, 'PERF_COUNTER_LARGE_DELTA', 'Delta', lambda at, k: 0))
    pairs = lambda n: [(3, 100 + 7 * n), (3, 1000 + 9 * n)][n == 1:]
    rows = long_rows(export(capture_talk(Same([s], pairs), lambda c: (learn(c, s), run(c, [ask(s)], 4))), 'long', *passes))
    assert [r['result'] + r['path'][-5:] + r['assumed'] for r in rows] == ['Delta1', '1', 'Delta0', 'Delta1', '1', 'Delta1', '1']


def test_two_bases_of_an_id(export, passes):
    """By one of them the result is 10, by the other 2. BaseCounterId says neither."""
    s = single('Set', counter(1, 'PERF_AVERAGE_BULK', 'Average', lambda at, k: 0, base=2), counter(2, 'PERF_AVERAGE_BASE', 'Base', lambda at, k: 0))
    server = Same([s], lambda n: [(1, 100 * n), (2, 10 * n), (2, 50 * n)])
    rows = long_rows(export(capture_talk(server, lambda c: (learn(c, s), run(c, [ask(s)], 3))), 'long', *passes))
    assert {r['result'] for r in rows} == {''}


def test_a_base_of_one_of_two_namesakes(export, passes):
    """In a block of its own, which has one instance of the name: whose it is nobody knows."""
    s = multiple('Set', counter(1, 'PERF_AVERAGE_BULK', 'Average', lambda at, k: 0, base=2), counter(2, 'PERF_AVERAGE_BASE', 'Base', lambda at, k: 0), instances='ab')
    server = Server([s])
    server._block = lambda i, at: (buffers.multi_instances_block([(k, 'a', [(100 * at.number // i.counter_id, 8)]) for k in range(3 - i.counter_id)]), [])
    rows = long_rows(export(capture_talk(server, lambda c: (learn(c, s), run(c, [ask(s, 1, '*'), ask(s, 2, '*')], 3))), 'long', *passes))
    assert len(rows) == 9 and {r['result'] for r in rows} == {''}, rows


def test_an_identifier_told_twice(export, passes):
    """By QueryCounterInfo, which never tells the second: the answer contradicts itself, and which of both blocks is the first's is not known."""
    def told(self, call):
        query = self.queries[call.p['hQuery']]
        kept, query.identifiers = query.identifiers, query.identifiers[:1] * 2
        return [Server._info(self, call), setattr(query, 'identifiers', kept)][0]
    s, server = memory(), Server([memory()])
    server._operations = {**server._operations, INFO: told}
    rows = long_rows(export(capture_talk(server, lambda c: (learn(c, s), run(c, [ask(s, 1), ask(s, 2)]))), 'long', *passes))
    assert [r['assumed'] for r in rows] == ['1'] * 4
