# SPDX-License-Identifier: GPL-2.0-or-later
"""What real Windows sends, made again by the generator: XP's counter blocks that say too little, sums that go backwards because a
process ended, and answers of a bare header."""

import csv
import struct

import pytest

from gen.hkpd_block import Counter, Instance, Object
from gen.hkpd_scene import Talk, answers
from gen.model import TYPES, grows, share
from gen.scene import Scene
from series import table
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


def long_rows(tshark, capture, folder):
    tshark.run('-q', '-r', capture, '-z', 'pcq,long,%s' % (folder / 'long.csv'))
    with open(folder / 'long.csv', newline='') as f:
        return list(csv.DictReader(f))


@pytest.mark.parametrize('size', [None, 64, 4, 0, 136, 10 ** 6])
@pytest.mark.parametrize('last', [False, True])
def test_a_counter_block_that_says_another_size(tshark, tmp_path, size, last):
    """All values are there: shown, named, calculated, exported; and it is said. The twin says what is so."""
    scene = Scene()
    talk = Talk(scene, objects=[processors(2), Object(2, 'System', [Counter(44, 'Queue', TYPES['PERF_COUNTER_BULK_COUNT'], grows(1, 1))])])
    talk.open()
    talk.titles()
    place = 238, 'counters', 2 if last else 0
    numbers = []
    for _ in range(3):
        b = talk.block()
        if size is not None:
            says(place, size)(b)
        numbers.append(talk.ask('238 2', bytes(b.record), record={'values': talk.meanings(b, True, talk.handle)})[1])
        talk.clock.tick()
    frames = read(tshark, scene, tmp_path)
    assert compare_values(frames, scene) == 2 * (3 * 15 + 1)
    for number in numbers:
        assert experts(frames[number]) == ({'read_as'} if size is not None else set())
        assert not [x for x in frames[number].walk() if x.name.startswith('_ws.malformed')]
        assert frames[number].show_of('hkpd.counter_block.size')[2 if last else 0] == str(128 if size is None else size)
    messages = tshark.fields(tmp_path / 'hkpd.pcap', ['frame.number', '_ws.expert.message'], '-Y', 'pcq.expert.read_as')
    assert [(int(frame), text.split(': ', 1)[1]) for frame, text in messages] == ([] if size is None else [
        (number, 'ByteLength says %d, its counters take 128: read as 128, which fits the object' % size) for number in numbers])
    rows = long_rows(tshark, tmp_path / 'hkpd.pcap', tmp_path)
    assert [(r['path'], r['raw']) for r in rows] == [(path, str(raw)) for _, m in answers(scene) for path, raw, *_ in m.record['values']]
    assert sum(r['result'] != '' for r in rows) == 2 * (3 * 15 + 1)


# --- Answers of a bare header

def bare_header(talk):
    """122 bytes: PERF_DATA_BLOCK with its name, TotalByteLength 0, no object, and two bytes of padding."""
    data = bytes(talk.block([]).record)
    return data[:20] + bytes(4) + data[24:] + bytes(2)


@pytest.mark.parametrize('opening', ['captured', 'lost'])
def test_a_bare_header_is_a_size_probe(tshark, tmp_path, opening):
    """ERROR_MORE_DATA: its fields are shown, what it holds is no sample, and lpcbData is not the size that is needed."""
    scene = Scene()
    talk = Talk(scene, objects=[processors()], system='NT4SRV')
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
    frames = read(tshark, scene, tmp_path)
    assert compare_values(frames, scene) == 2 * 2 * 15
    info = tshark.info(tmp_path / 'hkpd.pcap')
    for number, room in zip(probes, (64, 4096)):
        frame = frames[number]
        assert experts(frame) == set() and frame.show_of('winreg.werror') == ['0x000000ea']
        assert frame.show_of('hkpd.system_name') == ['NT4SRV'] and frame.show_of('hkpd.header_size') == ['104']
        assert frame.show_of('hkpd.total_size') == frame.show_of('hkpd.num_objects') == ['0']
        assert len(frame.all('winreg.winreg_QueryValue.data')) == 0
        assert info[number].endswith('handle 1, object Processor, size probe: needs more than %d bytes' % room)
    assert not frames[echo].all('hkpd.data_block') and len(frames[echo].all('winreg.winreg_QueryValue.data')) > 100
    row = table(tshark, tmp_path / 'hkpd.pcap', 'pcq,queries')[0]
    assert (row['Samples'], row['No data']) == ('3', '0') and int(row['Size probes']) == (4 if opening == 'captured' else 3)
