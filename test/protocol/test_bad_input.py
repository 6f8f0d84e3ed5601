# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes of bad input: each is reported, what came before the damage and what follows at the next certain place is
right, and tshark neither crashes nor complains. The captures say what is expected: gen/damage.py."""

import pytest

from conftest import compare_scenario, compare_scenario_experts
from gen import buffers
from gen.damage import DAMAGE, FILETIME, GUID, NAMES, STAMP, Bench
from gen.record import GAP_FIELD
from gen.stubs import DATA, INFO, INSTANCES, REG_INFO, VALIDATE


@pytest.mark.parametrize('name', DAMAGE)
def test_each_class(read, name):
    scenario, frames = read(name, DAMAGE[name])
    compare_scenario(frames, scenario)
    compare_scenario_experts(frames, scenario)
    # what is clear is damage, and is shown as far as it goes: only what lost a fragment looks like noise
    assert name.startswith('bad-11') or not [f for f in frames.values() if 'pcq.expert.not_decrypted' in f.experts]
    assert name != 'bad-04-actual-count' or sum(', room for ' in x.label for f in frames.values() for x in f.all('pcq.array')) == 5


@pytest.mark.parametrize('name', [n for n in DAMAGE if not n.startswith('bad-07')])
def test_05_07_every_class_in_another_representation(shown, name):
    """NDR64 and big-endian stubs meet the same damage."""
    scenario = DAMAGE[name](order='>', ndr64=True)
    scenario.name = name
    frames = shown(scenario)
    compare_scenario(frames, scenario)
    compare_scenario_experts(frames, scenario)


ROWS = [(1, 'one', [(10, 8), (20, 4)]), (2, '', [(30, 8), (40, 4)])]
IDENTIFIERS = [dict(guid=GUID, counter_id=i, name=n, index=i) for i, n in enumerate(('one', None, '*'))]
WHOLE = {
    'counterset': (REG_INFO, 1, buffers.counterset_reg_info(GUID, 2, 2).add(buffers.counter_reg_info(1, 0x10410400))
                   .add(buffers.counter_reg_info(2, 0x10000))),
    'strings': (REG_INFO, 10, buffers.string_buffer(NAMES)),
    'strings-from-end': (REG_INFO, 10, buffers.string_buffer(NAMES, base='end')),
    'instances': (INSTANCES, 0, buffers.instances([(1, 'one'), (2, ''), (3, 'three')])),
    'identifiers': (INFO, 0, buffers.identifiers(IDENTIFIERS)),
    'validated': (VALIDATE, 0, buffers.identifiers(IDENTIFIERS)),
    'single': (DATA, 0, buffers.data_buffer([buffers.single_block(i, w) for i, w in ((1, 4), (2, 8))], STAMP, FILETIME)),
    'multiple-counters': (DATA, 0, buffers.data_buffer([buffers.multi_counters_block([1, 2, 3], [(i, 8) for i in range(3)]),
                                                        buffers.single_block(7)], STAMP, FILETIME)),
    'multiple-instances': (DATA, 0, buffers.data_buffer([buffers.multi_instances_block([(i, n, v[:1]) for i, n, v in ROWS]),
                                                         buffers.single_block(7)], STAMP, FILETIME)),
    'counterset-data': (DATA, 0, buffers.data_buffer([buffers.counterset_block([1, 2], ROWS), buffers.error_block(232)],
                                                     STAMP, FILETIME)),
}
LENGTHS = {'pcq.' + n for n in '''counterset.num_counters string_buffer.size string_buffer.num_counters string.offset instance.size
           identifier.size data.total_size data.num_counters block.size block.type multi_counters.size multi_counters.count
           multi_instances.size multi_instances.count value.data_size value.size out_size'''.split()}
HUGE = (0x7FFFFFFF, 0x80000000, 0xFFFFFFF8, 0xFFFFFFFF)


@pytest.mark.parametrize('name', WHOLE)
def test_05_every_length_with_every_wrong_value(shown, name):
    """Each size, count, offset and type in turn: what stands before it stays right, and so does pcq.status; a number
    that cannot be true is remarked."""
    opnum, code, data = WHOLE[name]
    b = Bench()
    good = b.response(opnum, data=data, in_size=8192)
    for i, field in enumerate(good.fields):
        if field.name not in LENGTHS:
            continue
        for value in {0, 1, 7, field.value - 1, field.value + 1, field.value + 8, 3 * field.value, *HUGE} - {field.value, -1}:
            stub = bytearray(bytes(good))
            stub[field.offset:field.offset + 4] = value.to_bytes(4, 'little')
            b.ask(opnum, **(dict(RequestCode=code) if code else dict(lpData=data) if opnum == VALIDATE else {}))
            must = value in HUGE and (field.name, value) != ('pcq.string.offset', 0xFFFFFFFF)
            known = [*good.fields[:i], field._replace(value=value), GAP_FIELD, good.fields[-1]]
            b.answer(opnum, stub=bytes(stub), fields=known, experts=('',) if not must else (ANY,))
    b.scenario.name = name
    frames = shown(b.scenario)
    compare_scenario(frames, b.scenario)
    for number, messages in b.scenario.frames.items():
        if ANY in messages[0].experts:
            assert frames[number].experts, 'frame %d: nothing remarked on %s' % (number, messages[0].fields[-3])


ANY = 'any'
