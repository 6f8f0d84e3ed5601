# SPDX-License-Identifier: GPL-2.0-or-later
"""The generator itself: expectations that are wrong would be worse than none."""

import struct
import uuid

import pytest

from gen import buffers, client, model, stubs
from gen.damage import DAMAGE
from gen.record import GAP
from gen.scenes import SCENES
from gen.server import Model

ALL = {**SCENES, **DAMAGE}
BITS = ('pcq.counter.type.', 'pcq.counter.attrib.')


def meaning(field, data, order):
    """What the bytes say, or None where they may say it in either byte order."""
    if isinstance(field.value, bool):
        return int.from_bytes(data, 'little' if order == '<' else 'big') != 0
    if isinstance(field.value, int):
        return int.from_bytes(data, 'little' if order == '<' else 'big', signed=field.value < 0)
    if field.name.endswith('guid'):
        return str(uuid.UUID(bytes_le=data) if order == '<' else uuid.UUID(bytes=data))
    if field.name == 'pcq.handle':
        return (data if order == '<' else stubs.swap_handle(data)).hex()
    if field.name == 'pcq.value.raw':
        return data.hex()
    if field.name == 'pcq.data.system_time':
        return buffers.system_time_text(struct.unpack('<8H', data))
    text = data.decode('utf-16-le' if order == '<' else 'utf-16-be', 'surrogatepass')
    return text.removesuffix('\0')


# of noise nothing is certain
@pytest.mark.parametrize('name', [n for n in ALL if n != 'bad-12-sealed-stub-as-clear'])
def test_every_field_says_what_its_bytes_say(name):
    count = 0
    for messages in ALL[name]().frames.values():
        for m in messages:
            for f in m.fields:
                if f.name == GAP or f.value is None or f.name.startswith(BITS):
                    continue
                data = m.stub[f.offset:f.offset + f.length]
                assert len(data) == f.length, (m.kind, m.opnum, f)
                assert f.value in (meaning(f, data, '<'), meaning(f, data, '>')), (m.kind, m.opnum, f)
                count += 1
    assert count > 0


@pytest.mark.parametrize('name', SCENES)
def test_no_byte_is_forgotten(name):
    """What no field covers is a count of the array, padding, or filled up: never more than 32 bytes in a row."""
    frames = SCENES[name]().frames
    assert frames
    for messages in frames.values():
        for m in messages:
            covered = bytearray(len(m.stub))
            for f in m.fields:
                if f.value is not None:
                    covered[f.offset:f.offset + f.length] = b'\1' * f.length
            assert bytes(33) not in bytes(covered), (name, m.kind, m.opnum)


@pytest.mark.parametrize('order', '<>')
@pytest.mark.parametrize('ndr64', [False, True])
def test_requests_are_read_as_they_were_written(order, ndr64):
    guid = str(uuid.uuid4())
    idents = buffers.identifiers([dict(guid=guid, name='x')])
    cases = {0: dict(szMachine='a', dwInSize=1), 1: dict(szMachine='bc', CounterSetGuid=guid, RequestCode=2, RequestLCID=3, dwInSize=4),
             2: dict(szMachine='', CounterSetGuid=guid, dwInSize=5), 3: dict(szMachine='\U0001F98A'), 4: dict(hQuery=bytes(range(20))),
             5: dict(hQuery=bytes(range(20)), dwInSize=6), 6: dict(hQuery=bytes(range(20)), dwInSize=7),
             7: dict(hQuery=bytes(range(20)), lpData=idents, dwAdd=1)}
    for opnum, p in cases.items():
        r = stubs.request(opnum, order, ndr64, **p)
        got = stubs.parse_request(opnum, bytes(r), order, ndr64)
        expected = {k: bytes(v) if k == 'lpData' else v for k, v in p.items()}
        assert got == {**expected, **({'dwInSize': len(idents)} if opnum == 7 else {})}


def test_the_public_dump_of_a_real_answer():
    """Bytes at the places where a real machine had them (Windows 11, Processor Information)."""
    message = next(m for ms in SCENES['real-dump']().frames.values() for m in ms if m.opnum == 6 and m.kind == 'response')
    data = message.stub[20:132]
    at = struct.unpack_from
    assert at('<2IQQQ', data) == (112, 2, 0x000001255CE1A66F, 0x01DD50387D0FA400, 10000000)
    assert at('<8H', data, 32) == (2026, 9, 2, 29, 17, 32, 23, 755)
    assert at('<4I2IQ', data, 48) == (0, 1, 32, 0, 8, 16, 0x000002F653E84CD6)
    assert at('<4I2IIxxxx', data, 80) == (0, 1, 32, 0, 4, 16, 0x56196EC4)
    assert buffers.system_time(134351767437550592) == (2026, 9, 2, 29, 17, 32, 23, 755)
    assert buffers.system_time(133716612800215149)[:7] == (2024, 9, 2, 24, 14, 21, 20)


def test_types_are_those_of_the_header():
    """Some decimal values that other products publish."""
    t = model.TYPES
    assert (t['PERF_COUNTER_BULK_COUNT'], t['PERF_RAW_FRACTION'], t['PERF_AVERAGE_BULK'], t['PERF_LARGE_RAW_BASE'],
            t['PERF_COUNTER_LARGE_RAWCOUNT']) == (272696576, 537003008, 1073874176, 1073939712, 65792)
    assert len(t) == 40 and len(set(t.values())) == 40


def test_blocks_do_not_come_in_the_order_they_were_added():
    server = Model()
    calls = []
    c = client.Client(client.against(server, calls=calls))
    client.query(c, client.wanted(server.sets), 1)
    info = next(r for o, _, _, _, r in calls if o == 5 and r['status'] == 0)
    index = [f.value for f in info['response'] if f.name == 'pcq.identifier.index']
    assert sorted(index) == list(range(len(index))) and index != sorted(index)


def test_the_model_has_what_the_tests_need():
    sets = model.countersets()
    used = {c.type for s in sets for c in s.counters}
    assert set(model.TYPES.values()) <= used
    assert {s.kind for s in sets} >= {0, 2, 4, 6}
    names = [i.name for s in sets for i in s.instances(model.Clock().now())]
    assert '' in names and len(names) != len(set(names)) and max(map(len, names)) >= 1024
    assert any(ord(ch) > 0xFFFF for n in names for ch in n)
    texts = [c.names for s in sets for c in s.counters]
    assert any(not t for t in texts) and any('' in t.values() for t in texts) and any(model.GERMAN in t for t in texts)
    for counterset in sets:
        for c in counterset.counters:
            for other in (c.base, c.time, c.freq, c.multi):
                assert other == buffers.NONE or counterset.counter(other), (counterset.name, c.id)
