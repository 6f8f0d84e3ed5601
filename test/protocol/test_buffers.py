# SPDX-License-Identifier: GPL-2.0-or-later
"""Every structure of [MS-PCQ] 2.2.4 and every buffer of 3.1.4.1, one small capture each."""

import re

import pytest

from conftest import compare_scenario, compare_scenario_experts
from gen import buffers, model
from gen.buffers import NONE
from gen.damage import FILETIME, GUID, NAMES, STAMP, Bench
from gen.record import Record
from gen.stubs import DATA, ENUMERATE, INFO, INSTANCES, REG_INFO, VALIDATE


@pytest.fixture
def bench(shown):
    """Calls are made on it; check() compares all of them and gives the last frame."""
    b = Bench()

    def check(chat=()):
        b.scenario.chat = chat
        frames = b.frames = shown(b.scenario)
        compare_scenario(frames, b.scenario)
        compare_scenario_experts(frames, b.scenario)
        return frames[max(b.scenario.frames)]
    b.check = check
    return b


def label(frame, name, value=None):
    """The label of the field with that value, without the part before the colon."""
    for f in frame.all(name):
        if value is None or int(f.show, 0) == value:
            return f.label.partition(':')[2].strip()
    raise AssertionError('no %s %s' % (name, value))


# --- 2.2.4.1, 2.2.4.2 -------------------------------------------------------------------------------------------

KINDS = {0: 'SINGLE', 2: 'MULTI', 4: 'AGGREGATE', 6: 'AGGREGATE', 0x0C: 'HISTORY', 0x16: 'INSTANCE', 0x1E: '', 0x80000000: ''}
CODES = ('COUNTERSET_STRUCT', 'COUNTER_STRUCT', 'COUNTERSET_NAME_STRING', 'COUNTERSET_HELP_STRING', 'COUNTER_NAME_STRINGS', 'COUNTER_HELP_STRINGS',
         'PROVIDER_NAME', 'PROVIDER_GUID', 'COUNTERSET_ENGLISH_NAME', 'COUNTER_ENGLISH_NAMES')
NAMED = {    # field: {value: a part of its name}, and how a call is made with that value
    'pcq.counterset.instance_type': (KINDS, lambda b, kind: b.reg(1, buffers.counterset_reg_info(GUID, 0, kind))),
    'pcq.detail_level': ({100: 'NOVICE', 200: 'ADVANCED', 300: 'EXPERT', 400: 'WIZARD', 7: ''}, lambda b, level: b.reg(
        1, buffers.counterset_reg_info(GUID, 1, 2, level).add(buffers.counter_reg_info(1, 0x10000, detail=level)))),
    'pcq.counter.aggregate_func': (dict(enumerate(('UNDEFINED', 'TOTAL', 'AV', 'MIN', 'MAX'))), lambda b, value: b.reg(
        2, buffers.counter_reg_info(1, 0x10000, aggregate=value))),
    'pcq.request_code': ({i: 'PERF_REG_' + name for i, name in enumerate(CODES, 1)}, lambda b, code: b.ask(REG_INFO, RequestCode=code)),
    # which have no name: each of their bits, and a sign
    'pcq.counter.attrib': (dict.fromkeys([0, 1, 2, 4, 8, 0x10, 0x1F, 0x0D, 0xFFFFFFFFFFFFFFE0, 1 << 63], ''), lambda b, attrib: b.reg(
        2, buffers.counter_reg_info(1, 0x10000, attrib=attrib))),
    'pcq.counter.default_scale': (dict.fromkeys([-10, -1, 0, 3, 10], ''), lambda b, scale: b.reg(2, buffers.counter_reg_info(1, 0x10000, scale=scale))),
    'pcq.add': (dict.fromkeys([0, 1], ''), lambda b, add: b.ask(VALIDATE, lpData=buffers.identifiers([dict(guid=GUID, counter_id=1)]), dwAdd=add)),
}


@pytest.mark.parametrize('field', NAMED)
def test_values_are_named(bench, field):
    names, call = NAMED[field]
    frames = {value: call(bench, value) for value in names}
    bench.check()
    for value, name in names.items():
        assert not name or name in label(bench.frames[frames[value]], field, value).upper(), (field, value)


def test_every_counter_type_is_named(bench):
    """All of winperf.h's types, value, name and bits."""
    r = buffers.counterset_reg_info(GUID, len(model.TYPES), 2)
    for i, value in enumerate(model.TYPES.values()):
        r.add(buffers.counter_reg_info(i, value))
    bench.reg(1, r)
    frame = bench.check()
    for name, value in model.TYPES.items():
        assert name in label(frame, 'pcq.counter.type', value), name


def test_helper_counters(bench):
    """Base, time, frequency and multi ids, and 0xFFFFFFFF that is none."""
    r = buffers.counterset_reg_info(GUID, 5, 0)
    r.add(buffers.counter_reg_info(1, 0x22410500, base=2, time=3, freq=4, multi=5))
    for i in range(2, 6):
        r.add(buffers.counter_reg_info(i, 0x10100))
    bench.reg(1, r)
    frame = bench.check()
    for name in ('base_id', 'perf_time_id', 'perf_freq_id', 'multi_id'):
        assert 'none' in label(frame, 'pcq.counter.' + name, NONE).lower()


# --- Single strings ------------------------------------------------------------------------------------------------

STRINGS = ['', 'x', 'Prozessorzeit (%)', '\U0001F98A\U0001F6A2', 'y' * 1024, '性能' * 700, model.LONG]
SINGLE = {3: 'pcq.counterset.name', 4: 'pcq.counterset.description', 7: 'pcq.provider.name', 9: 'pcq.counterset.name'}


@pytest.mark.parametrize('code', range(1, 12))
def test_request_lcid_by_code(bench, code):
    """A locale for 3 to 6 and what is no code, a counter id for 2, unused otherwise: then it is said, not reproached."""
    bench.ask(REG_INFO, RequestCode=code, RequestLCID=0x407)
    frame = bench.check(['request_code'] * (code > 10))
    if code == 2:
        assert frame.numbers('pcq.counter.id') == [0x407] and not frame.all('pcq.lcid')
    elif code in (3, 4, 5, 6, 11):
        assert re.search('german|de-de', label(frame, 'pcq.lcid'), re.I) and 'unused' not in label(frame, 'pcq.lcid')
    else:
        assert re.search('unused|not used|ignored', label(frame, 'pcq.lcid'), re.I)


# --- 2.2.4.3, 2.2.4.4 -------------------------------------------------------------------------------------------------

BLOCKS = [NAMES, [(1, 'alone')], [(3, ''), (4, ''), (5, '')], [(9, None), (8, 'after none')], [(8, 'before none'), (9, None)],
          [(1, model.LONG), (2, '\U0001F98A' * 1100), (65535, 'z')], [(i, 'counter %d' % i) for i in range(300)], [(0, ''), (NONE, 'id of all ones')],
          [(7, 'a'), (7, 'a')]]


@pytest.mark.parametrize('base', ['block', 'end'])
@pytest.mark.parametrize('code', [5, 6, 10])
def test_string_blocks(bench, base, code):
    """dwOffset counts from the block's start (Windows) or the headers' end ([MS-PCQ]); both are read."""
    name = 'pcq.counter.description' if code == 6 else 'pcq.counter.name'
    told = [bench.reg(code, buffers.string_buffer(strings, name, base), in_size=65536) for strings in BLOCKS]
    bench.check(('string_offset_base',))
    assert {'pcq.expert.string_offset_base' in bench.frames[n].experts for n in told} == {base == 'end'}


# --- 2.2.4.5 ------------------------------------------------------------------------------------------------------------

LISTS = [[(0, 'only')], [(0, ''), (1, ''), (NONE, '')], list(enumerate(model.ODD_NAMES)), [(5, 'n' * k) for k in range(9)],
         [(1, 'same'), (1, 'same')], [(i, 'p%d' % i) for i in range(500)]]


@pytest.mark.parametrize('fill', [0, 0xFF])
def test_instance_lists(bench, fill):
    for items in LISTS:
        bench.both(INSTANCES, buffers.instances(items, fill), request=dict(dwInSize=65536), in_size=65536)
    assert ['p%d' % i in f.label for i, f in enumerate(bench.check().all('pcq.instance'))] == [True] * 500, 'nobody needs to open one'


# --- 2.2.4.6 ------------------------------------------------------------------------------------------------------------

# no name, an empty one, wildcards, a pattern, an odd length, room behind it, a long one, one beyond 16 bits, a total
IDENTIFIERS = [dict(counter_id=1), dict(counter_id=1, name=''), dict(name='*'), dict(counter_id=3, name='cpu?_*', instance_id=4), dict(name='abcd'),
               dict(name='x', room=64), dict(name='n' * 1024), dict(name='\U0001F98A'), dict(counter_id=0, name='_Total', index=0)]


def test_wildcards_and_any_instance_are_named(bench):
    bench.ask(VALIDATE, lpData=buffers.identifiers([dict(guid=GUID, name='*')]))
    frame = bench.check()
    assert label(frame, 'pcq.counter.id', NONE) not in (str(NONE), '')
    assert label(frame, 'pcq.instance.id', NONE) not in (str(NONE), '')


WIN32 = {0x1068: 'WMI_GUID_NOT_FOUND', 0x1069: 'WMI_INSTANCE_NOT_FOUND', 0x57: 'INVALID_PARAM', 0x106A: 'WMI_ITEMID_NOT_FOUND',
         0x1073: 'WMI_INVALID_REGINFO', 0xB7: 'ALREADY_EXISTS', 3: 'PATH_NOT_FOUND', 5: 'ACCESS_DENIED', 8: 'NOT_ENOUGH_MEMORY',
         0x5AA: 'NO_SYSTEM_RESOURCES', 0xE: 'OUTOFMEMORY', 1168: 'NOT_FOUND', 232: 'NO_DATA'}


def test_win32_codes_are_named(bench):
    """In pcq.status, in an identifier's Status and in a block's dwStatus."""
    frames = []
    for status in WIN32:
        bench.ask(VALIDATE, lpData=buffers.identifiers([dict(guid=GUID, counter_id=1)]))
        told = bench.answer(VALIDATE, buffers.identifiers([dict(guid=GUID, counter_id=1, status=status)]), status=status)
        frames += [(told, 'pcq.status', status), (told, 'pcq.identifier.status', status)]
        bench.ask(DATA)
        frames.append((bench.answer(DATA, buffers.data_buffer([buffers.error_block(status)], STAMP, FILETIME)), 'pcq.block.status', status))
    bench.check()
    for frame, field, status in frames:
        assert WIN32[status].replace('_', '') in label(bench.frames[frame], field, status).upper().replace('_', ''), field


# --- 2.2.4.7 to 2.2.4.11 ----------------------------------------------------------------------------------------------

# 48 bytes, and both times are UTC; the first two are from real Windows machines
TIMES = [134351767437550592, 133716612800215149, 116444736000000000, 125911584000000000]
VALUES = [(0xFFFFFFFF, 4), (2 ** 64 - 1, 8), (0, 8), *[(b'\xE1' * n, n) for n in (0, 1, 3, 5, 7, 12, 33)], ('running', 0), ('\U0001F98A is here', 0),
          ('t' * 500, 0)]
SIZINGS = [buffers.PADDED, buffers.ALIGNED]
ROWS = [(0, 'first', [(1, 4), (2, 8)]), (1, '', [(3, 4), (4, 8)]), (1, 'x' * 1024, [(5, 4), (6, 8)])]


def several(count):
    return range(10, 10 + count), [(i * 1000 + 1, 8 if i % 2 else 4) for i in range(count)]


def rows(counters, instances):
    return [(i, n, v[:counters]) for i, n, v in ROWS[:instances]]


BLOCKS_OF = {   # dwType: its blocks, whether dwSize of a value counts its padding or not, and that of an odd number of ids
    '1': lambda sizing, padded: [buffers.single_block(*value, sizing=sizing) for value in VALUES],
    '2': lambda sizing, padded: [buffers.multi_counters_block(*several(n), padded, sizing) for n in (0, 1, 2, 3, 8)],
    '2, all lengths': lambda sizing, padded: [buffers.multi_counters_block(range(len(VALUES)), VALUES, sizing=sizing)],
    # a name behind every instance header, whatever figure 9 says
    '4': lambda sizing, padded: [buffers.multi_instances_block(rows(1, n), sizing, fill=0xAB) for n in (0, 1, 3)],
    '6': lambda sizing, padded: [buffers.counterset_block(range(n), rows(n, m), padded, sizing) for n, m in ((0, 0), (0, 2), (1, 0), (1, 3), (2, 3))],
}


@pytest.mark.parametrize('sizing', SIZINGS)
@pytest.mark.parametrize('padded', [False, True])
@pytest.mark.parametrize('kind', BLOCKS_OF)
def test_each_block_is_shown(bench, kind, padded, sizing):
    for block in BLOCKS_OF[kind](sizing, padded):
        bench.data([block, buffers.single_block(7)])
    bench.check()


def guid_of(bench):
    r = Record()
    r.guid('pcq.provider.guid', GUID)
    bench.reg(8, r)


def one_counter(bench):
    """RequestCode 2: the request's RequestLCID is a counter id."""
    for value in 0x10410400, 0x20C20400, 0x23510500, 0x00000B00, 0x80000000:
        bench.ask(REG_INFO, RequestCode=2, RequestLCID=65535)
        bench.answer(REG_INFO, buffers.counter_reg_info(65535, value))


def identified(bench):
    for item in IDENTIFIERS:
        item['guid'] = GUID
        bench.ask(VALIDATE, lpData=buffers.identifiers([item, dict(item, counter_id=77)]))
        bench.answer(VALIDATE, buffers.identifiers([dict(item, status=0), dict(item, counter_id=77, status=0x106A)]))
        bench.ask(INFO)
        bench.answer(INFO, buffers.identifiers([item]))


CALLS = {
    'guids': lambda b: [b.both(ENUMERATE, [str(model.uuid.uuid5(model.NAMESPACE, str(i))) for i in range(n)]) for n in (0, 1, 2, 256)],
    'one counter': one_counter, 'provider': guid_of, 'identifiers': identified,
    **{'string of %d' % code: lambda b, code=code: [b.reg(code, buffers.single_string(SINGLE[code], text)) for text in STRINGS] for code in SINGLE},
    'no strings': lambda b: [b.reg(5, buffers.string_buffer([(i, None) for i in range(n)])) for n in (0, 1, 3)],
    'data header': lambda b: [b.both(DATA, buffers.data_buffer([], 2 ** 63 - 1, when, 3579545)) for when in TIMES],
}


@pytest.mark.parametrize('call', CALLS)
def test_each_call_is_shown(bench, call):
    CALLS[call](bench)
    bench.check(('order_assumed',) if call == 'string of 9' else ())      # other names for one counterset


def test_block_types_are_named(bench):
    names = {0: 'ERROR_RETURN', 1: 'SINGLE_COUNTER', 2: 'COUNTERS', 4: 'INSTANCES', 6: 'COUNTERSET'}
    bench.data([buffers.error_block(232), buffers.single_block(1), buffers.multi_counters_block([1], [(1, 8)]),
                buffers.multi_instances_block(ROWS[:0]), buffers.counterset_block([1], []),
                buffers.block(6, buffers.multi_counters([1], behind=4).add(buffers.multi_instances(0, 0)))])
    frame = bench.check()
    assert all(name in label(frame, 'pcq.block.type', kind) for kind, name in names.items())
