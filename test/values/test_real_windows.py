# SPDX-License-Identifier: GPL-2.0-or-later
"""What real Windows sends, made again by the generator: XP's counter blocks that say too little, sums that go backwards because a
process ended, and answers of a bare header."""

import struct

import pytest

from gen.hkpd_block import Counter, Instance, Object
from gen.hkpd_scenario import Talk, answers, begin_talk
from gen.model import TYPES, grows, share
from gen.scenario import Scenario
from gen.scripted import Server, ask, counter, learn, multiple, run, capture_talk
from series import long_rows, table
from test_hkpd import compare_values, experts, read


def says(place, size):
    """A change of one ByteLength or TotalByteLength."""
    def change(b):
        b.record.data[b.places[place]:b.places[place] + 4] = struct.pack('<I', size)
    return change


def processors(count=1):
    """XP's: 15 counters, of which the first seven lie in the first 64 bytes."""
    wide = [Counter(6 + 2 * n, 'Share %d' % n, TYPES['PERF_100NSEC_TIMER'], share(5 * n + 1)) for n in range(14)]
    last = Counter(148, 'Interrupts/sec', TYPES['PERF_COUNTER_COUNTER'], grows(1000, 700), 4)
    return Object(238, 'Processor', wide + [last], lambda at: [Instance(str(n)) for n in range(count)] + [Instance('_Total')])


def rows_of(tshark, capture):
    return long_rows(tshark.run('-q', '-r', capture, '-z', 'pcq,long,-')[0])


@pytest.mark.parametrize('size', [None, 64, 4, 0])
@pytest.mark.parametrize('last', [False, True])
def test_a_counter_block_that_says_another_size(tshark, tmp_path, size, last):
    """All values are there: shown, named, calculated, exported; and it is said. The twin says what is so."""
    scenario, talk = begin_talk(objects=[processors(2), Object(2, 'System', [Counter(44, 'Queue', TYPES['PERF_COUNTER_BULK_COUNT'], grows(1, 1))])])
    place = 238, 'counters', 2 if last else 0
    numbers = []
    for _ in range(3):
        b = talk.block()
        if size is not None:
            says(place, size)(b)
        numbers.append(talk.ask('238 2', bytes(b.record), record={'values': talk.meanings(b, True, talk.handle, '238 2')})[1])
        talk.clock.tick()
    frames = read(tshark, scenario, tmp_path)
    assert compare_values(frames, scenario) == 2 * (3 * 15 + 1)
    for number in numbers:
        assert experts(frames[number]) == ({'read_as'} if size is not None else set())
        assert not [x for x in frames[number].walk() if x.name.startswith('_ws.malformed')]
        assert frames[number].show_of('hkpd.counter_block.size')[2 if last else 0] == str(128 if size is None else size)
    messages = tshark.fields(tmp_path / 'hkpd.pcap', ['frame.number', '_ws.expert.message'], '-Y', 'pcq.expert.read_as')
    assert [(int(frame), text.split(': ', 1)[1]) for frame, text in messages] == ([] if size is None else [
        (number, 'ByteLength says %d, the counters take 128: read as that, which fits the object' % size) for number in numbers])
    rows = rows_of(tshark, tmp_path / 'hkpd.pcap')
    assert [(r['path'], r['raw']) for r in rows] == [(path, str(raw)) for _, m in answers(scenario) for path, raw, *_ in m.record['values']]
    assert sum(r['result'] != '' for r in rows) == 2 * (3 * 15 + 1)


# --- Answers of a bare header

def bare_header(talk):
    """122 bytes: PERF_DATA_BLOCK with its name, TotalByteLength 0, no object, and two bytes of padding."""
    data = bytes(talk.block([]).record)
    return data[:20] + bytes(4) + data[24:] + bytes(2)


@pytest.mark.parametrize('opening', ['captured', 'lost'])
def test_a_bare_header_is_a_size_probe(tshark, tmp_path, opening):
    """ERROR_MORE_DATA: its fields are shown, what it holds is no sample, and lpcbData is not the size that is needed."""
    scenario = Scenario()
    talk = Talk(scenario, objects=[processors()], system='NT4SRV')
    if opening == 'captured':
        talk.open()
    else:
        talk.handle = talk.new_handle()
    talk.titles()
    talk.ask('238 ', None, 234, room=0)
    probes = [talk.ask('238 ', bare_header(talk), 234, room=room, size=size)[1] for room, size in ((64, 106), (4096, 4096))]
    _, echo = talk.ask('238 ', bytes(talk.block().record), 234, room=4096)
    for _ in range(3):
        talk.sample('238 ')
    frames = read(tshark, scenario, tmp_path)
    assert compare_values(frames, scenario) == 2 * 2 * 15
    info = tshark.info(tmp_path / 'hkpd.pcap')
    for number in probes:
        frame = frames[number]
        assert experts(frame) == set() and frame.show_of('winreg.werror') == ['0x000000ea']
        assert frame.show_of('hkpd.system_name') == ['NT4SRV'] and frame.show_of('hkpd.header_size') == ['104']
        assert frame.show_of('hkpd.total_size') == frame.show_of('hkpd.num_objects') == ['0']
        assert len(frame.all('winreg.winreg_QueryValue.data')) == 0
        assert info[number].endswith('handle 1, Processor, size probe: needs more')
    assert not frames[echo].all('hkpd.data_block') and len(frames[echo].all('winreg.winreg_QueryValue.data')) > 100
    row = table(tshark, tmp_path / 'hkpd.pcap', 'pcq,queries')[0]
    assert (row['Samples'], row['No data']) == ('3', '0') and int(row['Size probes']) == (4 if opening == 'captured' else 3)


# --- Sums, and what began again

SUM, BACKWARDS = 'the sum went backwards, what it sums may have ended', 'value went backwards'


def in_hkpd(columns, folder):
    """columns: {counter: [{instance: value} of each sample]}"""
    rows = next(iter(columns.values()))
    scenario = Scenario()
    counters = [Counter(7000 + 2 * n, name, TYPES['PERF_COUNTER_BULK_COUNT'], lambda at, k, x=x: list(x[at.number].values())[k])
                for n, (name, x) in enumerate(columns.items())]
    talk = Talk(scenario, objects=[Object(6998, 'Set', counters, lambda at: [Instance(n) for n in rows[at.number]])])
    talk.open()
    talk.titles()
    for _ in rows:
        talk.sample('6998')
    return scenario.write(folder / 'sums.pcap')


def in_perflib(columns, folder):
    """The same; each instance keeps its id."""
    rows = next(iter(columns.values()))
    ids = {name: n for n, name in enumerate({name: 0 for row in rows for name in row})}
    counters = [counter(1 + n, 'PERF_COUNTER_BULK_COUNT', name, lambda at, k, x=x: list(x[min(at.number, len(x) - 1)].values())[k])
                for n, (name, x) in enumerate(columns.items())]
    s = multiple('Set', *counters, instances=lambda number: [(ids[n], n, k) for k, n in enumerate(rows[min(number, len(rows) - 1)])])
    return capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, name='*')], len(rows)))).write(folder / 'sums.pcap')


PROTOCOLS = pytest.mark.parametrize('made', [in_hkpd, in_perflib])


def summed(name, rows):
    """With a last instance that is the sum of the others."""
    return [{**row, name: sum(row.values())} for row in rows]


@pytest.fixture
def course(tshark):
    """(capture) -> ({(instance, counter): [reason or '' of each sample]}, {path: resets})"""
    def get(capture):
        reasons = {}
        for row in rows_of(tshark, capture):
            reasons.setdefault((row['instance'], row['counter']), []).append('' if row['result'] else row['reason'])
        resets = {row['Counter'].rsplit('Set', 1)[1]: int(row['Resets']) for row in table(tshark, capture, 'pcq,counters') if row['Resets']}
        return reasons, resets
    return get


@PROTOCOLS
@pytest.mark.parametrize('name', ['_Total', '_Global_', '0,_Total'])
def test_a_sum_goes_backwards_when_an_instance_ends(tmp_path, course, made, name):
    """It did not begin again: no result for that one interval, and no reset."""
    rows = summed(name, [{'a': 100 + 10 * n, 'b': 7000 + n, **({'c': 5000 + n} if n < 3 else {'d': n})} for n in range(6)])
    reasons, resets = course(made({'Work/sec': rows}, tmp_path))
    assert reasons[name, 'Work/sec'][1:] == ['', '', SUM, '', '']
    assert set(reasons['a', 'Work/sec'][1:]) == set(reasons['b', 'Work/sec'][1:]) == {''}
    assert set(resets.values()) == {0}


@PROTOCOLS
@pytest.mark.parametrize('name, reason', [('_Total', SUM), ('My_Total', BACKWARDS), ('_Total 2', BACKWARDS)])
def test_a_sum_alone(tmp_path, course, made, name, reason):
    """What it sums is not there: its name alone tells."""
    rows = [{name: n} for n in (100, 200, 150, 250)]
    reasons, resets = course(made({'Work/sec': rows}, tmp_path))
    assert reasons[name, 'Work/sec'][1:] == ['', reason, ''] and [*resets.values()] == [reason == BACKWARDS]


@PROTOCOLS
@pytest.mark.parametrize('beside, others', [(3, 7000), (4000, 7000), (3, 0), (1018, 0)])
def test_an_instance_that_begins_again_while_another_ends(tmp_path, course, made, beside, others):
    """It is no sum, however much the other had: others have more; it lost more than the other had; or all are 0."""
    rows = [{'a': 1000 + 10 * n if n < 3 else n - 3, 'b': others and others + n, **({'c': beside + n} if n < 3 else {})} for n in range(6)]
    reasons, resets = course(made({'Work/sec': rows}, tmp_path))
    assert reasons['a', 'Work/sec'][1:] == ['', '', BACKWARDS, '', '']
    assert resets == {'(a)\\Work/sec': 1, '(b)\\Work/sec': 0, '(c)\\Work/sec': 0}


# --- Names that read like the second of another

@pytest.mark.parametrize('names, paths', [      # and which of them are assumed
    (['site', 'site', 'site#1', 'x'], ['site', 'site#1*', 'site#1*', 'x']),
    (['site', 'site', 'C# 2', 'x#a1'], ['site', 'site#1', 'C# 2', 'x#a1']),
    (['site#1', 'site', 'site#90', 'site', 'site#x'], ['site#1*', 'site', 'site#90*', 'site#1*', 'site#x']),
    (['site', 'site#1', 'site#2', 'C#', 'site#1x', '#1'], ['site', 'site#1', 'site#2', 'C#', 'site#1x', '#1'])])
@PROTOCOLS
def test_a_name_that_reads_like_the_second_of_another(tshark, tmp_path, made, names, paths):
    """Where names repeat, those that are called so are assumed, whatever the sample before."""
    if made is in_hkpd:
        scenario = Scenario()
        work = Counter(7002, 'Work', TYPES['PERF_COUNTER_RAWCOUNT'], lambda at, k: k, 4)
        talk = Talk(scenario, objects=[Object(7000, 'Set', [work], lambda at: [Instance(n) for n in names])])
        talk.open()
        talk.titles()
        talk.sample()
    else:
        s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Work', lambda at, k: k), instances=names)
        scenario = capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, name='*')], 1)))
    rows = rows_of(tshark, scenario.write(tmp_path / 'names.pcap'))
    assert [r['instance'] + '*' * int(r['assumed']) for r in rows] == paths
