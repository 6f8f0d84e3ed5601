# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes of bad input in PERF_DATA_BLOCK and lists of titles: each is reported, what stands before the damage and
behind it is right, nothing is learned from it, and tshark neither crashes nor complains."""

import struct

import pytest

from gen import hkpd_stubs as stubs
from gen.hkpd_block import Counter, Instance, Object, titles
from gen.hkpd_scenario import Talk, answers, begin_talk, machine
from gen.model import TYPES, grows, level
from gen.record import utf16
from gen.scenario import Scenario
from learned import compare_list
from series import long_rows
from test_hkpd import compare_values, experts, read, wire

# Offsets in the structures
B = dict(little=8, version=12, total=20, header=24, objects=28, time=36, freq=64, filetime=72, name_size=80, name=84)
O = dict(total=0, definitions=4, header=8, index=12, counters=32, instances=40, code_page=44, time=48, freq=56)
D = dict(size=0, index=4, scale=20, type=28, width=32, offset=36)
I = dict(size=0, parent=4, number=8, id=12, name=16, length=20)


def put(place, field, value):
    """A change of one number; place: () for the block, (title index, 'object'), (title index, 'instance', 1), ..."""
    table = B if not place else {'object': O, 'definition': D, 'instance': I, 'counters': dict(size=0)}[place[1]]

    def change(b):
        at = (b.places[place] if place else 0) + table[field]
        b.record.data[at:at + 4] = struct.pack('<I', value & 0xFFFFFFFF)
    change.lost = set(place[:1])
    return change


def costs(change, lost):
    """The objects that a change makes uncertain; of a put() it is the one that was changed."""
    change.lost = set(lost)
    return change


def both(*changes):
    def change(b):
        for one in changes:
            one(b)
    return costs(change, changes[0].lost)


def cut(size):
    def change(b):
        places = sorted((at, place[0]) for place, at in b.places.items() if place[1] == 'object')
        ends = [at for at, _ in places[1:]] + [len(b.record)]
        change.lost = {index for (_, index), end in zip(places, ends) if end > size}
        del b.record.data[size:]
    return change


def longer(data):
    def change(b):
        b.record.data += data
    return costs(change, ())


def thrown(frame):
    """What Wireshark says where a structure's bytes end too early, and of a dissector that reads beyond them."""
    return [x.label for x in frame.walk() if 'Exception occurred' in x.label or 'Dissector bug' in x.label]


def sound_values(frame, sound):
    """Values of these objects."""
    return [v for o in frame.all('hkpd.object') if o.numbers('hkpd.object.index')[0] in sound
            for v in o.all('pcq.counter_data')]


def check(tshark, folder, changes, wanted, objects=None, sample=True, two_pass=False):
    """Each change between two good answers. wanted: names of experts, one of which must be there; '' for none.
    sample: what a change does not make uncertain is right, and the sample for the next; what it does is none."""
    scenario, talk = begin_talk(objects=objects)
    talk.sample()
    talk.sample()
    numbers, expected = [], []
    for change in changes:
        b = talk.block()
        change(b)
        numbers.append(talk.ask('Global', bytes(b.record))[1])
        lost = set(getattr(change, 'lost', ()))
        lost |= {232} if 230 in lost else set()     # whose parents they are
        b.objects = [o for o in b.objects if o not in lost]
        b.values = [v for v in b.values if v.key[0] not in lost]
        expected.append((b.objects, talk.meanings(b, sample, talk.handle, 'Global')))
        talk.clock.tick()
    if not sample:
        # compared with what was changed
        number = talk.sample()[1]
        scenario.frames[number] = [m._replace(record={}) for m in scenario.frames[number]]
    talk.sample()
    frames = read(tshark, scenario, folder, two_pass=two_pass)
    compare_values(frames, scenario)
    good = [f.name for f in dict(answers(scenario))[answers(scenario)[0][0]].fields]
    for n, number in enumerate(numbers):
        found = experts(frames[number])
        assert found & set(wanted) or not found and '' in wanted, 'change %d: %s' % (n, found)
        assert 'malformed' in wanted or not thrown(frames[number]), 'change %d' % n
        assert frames[number].show_of('winreg.werror'), 'change %d: what follows the data' % n
        if sample:
            compare_list(sound_values(frames[number], expected[n][0]), expected[n][1], 'change %d' % n, paths=True)
    return [frames[number] for number in numbers], good


HUGE = (0xFFFFFFFF, 0x7FFFFFFF, 0x80000000)


def test_13_22_to_34_numbers_that_lead_the_reader(tshark, tmp_path, two_pass):
    """One wrong one of each: the object is no sample, and the others are right. test/unit/test_table.c has each with many."""
    process, instance = (230, 'object'), (230, 'instance', 1)
    alone = [o for o in machine() if o.index != 232]        # without children of the object
    places = [(process, 'counters', 1000), (process, 'instances', 8), (process, 'instances', -4), (process, 'definitions', 63), (process, 'header', 63),
              (instance, 'size', 25), ((230, 'counters', 1), 'size', 1000), ((230, 'definition', 0), 'size', 39)]
    check(tshark, tmp_path, [put(*place) for place in places], ['count', 'size', 'text'], objects=alone, two_pass=two_pass)
    check(tshark, tmp_path, [costs(put((230, 'counters', 1), 'size', 15), ())], ['read_as'], two_pass=two_pass)
    check(tshark, tmp_path, [costs(put((), 'objects', n), [o.index for o in machine()][n:]) for n in (1, 10)], ['count', 'size'],
          two_pass=two_pass)


def test_15_parents_that_are_themselves_or_nothing(tshark, tmp_path):
    counters = [Counter(6, 'Work', TYPES['PERF_COUNTER_BULK_COUNT'], grows(10, 10))]
    one = Object(230, 'One', counters, lambda at: [Instance('self', parent=(230, 0)), Instance('far', parent=(230, 99)),
                                                   Instance('ring', parent=(232, 0)), Instance('lost', parent=(9, 1)),
                                                   Instance('beyond', parent=(999, 0))])
    two = Object(232, 'Two', counters, lambda at: [Instance('ring', parent=(230, 2)), Instance('none', parent=(2, 0))])
    three = Object(2, 'Three', counters)
    scenario, talk = begin_talk()
    for talk.objects in [one, two, three], [one, two, three], [one, Object(232, 'Two', counters), three], [
            one, Object(232, 'Two', counters, lambda at: [Instance('ring', parent=(230, 0))]), three]:
        talk.sample()
    assert compare_values(read(tshark, scenario, tmp_path), scenario) > 16


def test_16_unknown_counter_types(tshark, tmp_path):
    for kind in (0x12345678, 0xFFFFF3FF, 0x0000F000):
        frames, _ = check(tshark, tmp_path, [put((2, 'definition', 0), 'type', kind)], ['counter_type'], sample=False)
        assert frames[0].show_of('pcq.cooked.none')[0] == '14'


def test_18_24_answers_that_are_something_else(tshark, tmp_path):
    """A list where a block was asked for, a block where titles were, and neither."""
    scenario, talk = begin_talk(titles=False)
    numbers = [talk.ask('Global', data)[1] for data in (bytes(titles([(2, 'x')])), b'PERF', b'P\0E\0R\0', b'\0' * 200)]
    wrong = talk.ask('Counter 009', bytes(talk.block().record))[1]
    talk.titles()
    for name in ('*', '2 4 238', 'Foreign 2', 'x' * 3000, '', 'COSTLY'):     # whatever was asked for, a block is a block
        talk.sample(name)
    frames = read(tshark, scenario, tmp_path)
    compare_values(frames, scenario)
    assert all(not wire(frames[n]) for n in numbers)
    assert 'text' in experts(frames[wrong])


ALPHA = {5000: 'Alpha', 5002: 'First', 5004: 'Second'}
LIST = utf16('1\x005006\x005000\0Alpha\x005002\0First\x005004\0Second\0\0')


def alpha(scenario=None, **how):
    """Titles that no Windows has built in."""
    talk = Talk(scenario or Scenario(), objects=[Object(5000, 'Alpha', [
        Counter(i, ALPHA[i], TYPES['PERF_COUNTER_RAWCOUNT'], level([i]), 4) for i in (5002, 5004)])], known=False, **how)
    talk.open()
    return talk


def instead(old, new):
    old, new = utf16(old), new if isinstance(new, bytes) else utf16(new)
    assert LIST.count(old) == 1
    return LIST.replace(old, new)


# list; titles that it does not tell; bytes shown as such; the offset of the first such bytes, or of the missing end; counters that are
# assumed: those behind such bytes, and the title in front of them, of which a part may be missing
LISTS = {
    'whole': (LIST, (), [], None, ''), 'an empty title': (instead('First\0', '\0'), (5002,), [], None, ''),
    'a byte too many': (LIST + b'\0', (), [], None, ''), 'another': (LIST + b'x', (), [], None, ''),
    'zeros behind it': (LIST + bytes(200), (), [], None, ''),
    'an empty pair': (instead('5002', '\0\x005002'), (), ['\0\0'], 36, 'First Second'), 'half of one': (instead('5002', '\x005002'), (), ['\0'], 36, 'First Second'),
    'no number': (instead('5002', 'five'), (5002,), ['five\0First\0'], 36, '#5002 Second'),
    'too far': (instead('5002', '4294967296'), (5002,), ['4294967296\0First\0'], 36, '#5002 Second'),
    'two in one': (instead('First\0', 'First'), (5004,), ['Second\0\0'], 66, 'First5004'),
    'a byte between': (instead('First', b'\0' + utf16('First')), (5004,), [b'\0' + utf16('5004\0Second\0\0')], 58, ''.join(chr(ord(c) << 8) for c in 'First')),
    'a number too many': (instead('5002', 'x\x0077\x005002'), (5002,), ['x\0', 'First\0'], 36, '#5002 Second'),
    'no end': (LIST[:-2], (), [], len(LIST) - 2, ''), 'half an end': (LIST[:-1], (), [], len(LIST) - 2, ''),
    'no terminator': (LIST[:-4], (5004,), ['5004\0Second'], 58, ''), 'no text': (LIST[:-len(utf16('Second\0\0'))], (5004,), ['5004\0'], 58, ''),
    'half a number': (LIST[:-len(utf16('04\0Second\0\0'))], (5004,), ['50'], 58, 'First'),
}


@pytest.mark.parametrize('case', LISTS)
def test_19_20_21_titles(tshark, tmp_path, case):
    """Each sound pair is learned, other bytes are shown as such, and said once. Beside them which text is of which index is assumed."""
    data, lost, rest, said, assumed = LISTS[case]
    talk = alpha()
    number = talk.ask('Counter 009', data)[1]
    talk.names = {i: n for i, n in ALPHA.items() if i not in lost}
    if case in ('two in one', 'a byte between'):
        talk.names[5002] = assumed
    talk.sample()
    frames = read(tshark, talk.scenario, tmp_path)
    compare_values(frames, talk.scenario)
    said = [] if said is None else ["Byte %d of the list begins neither a title nor the list's end" % said]
    assert [x.label for x in frames[number].all('pcq.expert.text')] == said
    assert [bytes.fromhex(x.replace(':', '')) for x in frames[number].show_of('hkpd.title.bytes')] == [
        x if isinstance(x, bytes) else utf16(x) for x in rest]
    tshark.run('-q', '-r', tmp_path / 'hkpd.pcap', '-z', 'pcq,long,%s' % (tmp_path / 'long.csv'))
    rows = long_rows((tmp_path / 'long.csv').read_bytes().decode())
    object_too = LISTS[case][3] == 36      # the object's title is in front
    assert {r['counter'] for r in rows if r['assumed'] == '1'} == ({r['counter'] for r in rows} if object_too else {assumed} - {''})


def test_23_places_of_names(tshark, tmp_path):
    """Outside its instance or the header, or with half a character. Without a name the computer is the one of the blocks before."""
    name, alone = (230, 'instance', 1), [o for o in machine() if o.index != 232]
    check(tshark, tmp_path, [put(name, 'name', n) for n in (0, 23, 41, 0xFFFFFFF8, *HUGE)], ['text'], objects=alone)
    check(tshark, tmp_path, [put(name, 'length', n) for n in (100, *HUGE)], ['text'], objects=alone)
    check(tshark, tmp_path, [put((238, 'instance', 1), 'length', n) for n in (3, 5)], ['text'], sample=False)
    check(tshark, tmp_path, [put((), 'name', n) for n in (0, 87, *HUGE)], ['text'])
    check(tshark, tmp_path, [put((), 'name_size', 0)], [''])


def test_27_fields_of_the_header(tshark, tmp_path):
    """What no server sends is said, once, and costs nothing."""
    for field, values, found in (('little', (2, 0x01000000), 'number'), ('version', (0, 2, 0xFFFFFFFF), 'number'),
                                 ('name_size', (11, 13), 'text')):
        frames, _ = check(tshark, tmp_path, [put((), field, n) for n in values], [found])
        assert all(experts(frame) == {found} for frame in frames)


def test_27_cut_blocks(tshark, tmp_path):
    """At every structure's edge, and within them."""
    check(tshark, tmp_path, [cut(n) for n in (8, 12, 40, 87, 88, 104, 110, 168, 200, 500, 1000, 2000)],
          ['malformed', 'size', 'count'], objects=[o for o in machine() if o.index != 232])
    check(tshark, tmp_path, [longer(bytes(8)), longer(bytes(3)), longer(b'\xff' * 1000)], ['size', 'length'])


def test_32_more_or_fewer_values(tshark, tmp_path):
    """A definition whose place lies outside the counter block: it has no values, the others are right."""
    for field, values in (('offset', (0, 3, 1000, 0xFFFFFFF8, *HUGE)), ('width', (1000, 0xFFFFFFF8, *HUGE))):
        frames, _ = check(tshark, tmp_path, [put((230, 'definition', 0), field, n) for n in values], ['number'], [machine()[2]], sample=False)
        for frame in frames:
            assert [p for p in frame.show_of('pcq.path') if p.endswith('\\ID Process')]
            assert not [p for p in frame.show_of('pcq.path') if '\\Process(' in p and p.endswith('Time')]
        info = tshark.info(tmp_path / 'hkpd.pcap').values()
        assert sum(': \\Process(Idle)\\ID Process = 0, ' in x for x in info) == len(values)      # the first value that is there


def test_35_times(tshark, tmp_path):
    def month(b):
        b.record.data[38:40] = b'\x0d\0'

    def filetime(value):
        def change(b):
            b.record.data[72:80] = struct.pack('<Q', value)
        return change

    def no_freq(b):
        b.record.data[64:72] = bytes(8)
    check(tshark, tmp_path, [month, filetime(2 ** 63), filetime(2 ** 64 - 1), no_freq], ['time'], sample=False)


def test_39_announced_and_not_there(tshark, tmp_path):
    """A gigabyte by its counts, a kilobyte in the stub."""
    scenario, talk = begin_talk()
    b = talk.block()
    numbers = []
    for actual, room in ((2 ** 30, 2 ** 30), (len(b.record) + 1, 65536), (len(b.record), 10)):
        numbers.append(talk.call(stubs.QUERY_VALUE, stubs.query(talk.handle, 'Global'),
                                 stubs.answer(bytes(b.record), room=room, actual=actual))[1])
    talk.sample()
    frames = read(tshark, scenario, tmp_path)
    compare_values(frames, scenario)
    assert 'malformed' in experts(frames[numbers[0]]) and 'array_counts' in experts(frames[numbers[2]])
    assert all(frames[n].all('hkpd.data_block') for n in numbers)


def test_requests_that_end_too_soon_are_counted(tshark, tmp_path):
    """The stock function throws at their end; the call was made all the same."""
    scenario, talk = begin_talk(titles=False)
    for size in (0, 4, 12, 60):     # the last one within the name
        request = stubs.query(talk.handle, 'Global')
        del request.data[len(request.data) - size:]
        talk.call(stubs.QUERY_VALUE, request, stubs.answer(None, 234, size=5000))
    out, _ = tshark.run('-q', '-r', scenario.write(tmp_path / 'a.pcap'), '-z', 'pcq,tree')
    said = ' '.join(out.split())     # these and the one that opens the key
    assert 'Requests by operation 5 ' in said and 'QueryValue 4 ' in said, out
