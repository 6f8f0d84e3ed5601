# SPDX-License-Identifier: GPL-2.0-or-later
"""HKEY_PERFORMANCE_DATA inside winreg: every field of every answer, names, paths and calculated values, and that the
rest of the registry stays as Wireshark shows it."""

import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

from conftest import TOP, TSHARK, Shown, compare_places, same
from gen import hkpd_stubs as stubs
from gen.hkpd_block import Counter, Instance, Object
from gen.hkpd_scene import Talk, answers, every_type, names_of, session
from gen.model import TYPES, grows
from gen.scene import Scene
from learned import Item, close_to, one, shows

WIRE = frozenset('hkpd.' + name for name in '''
    data_block little_endian version revision total_size header_size num_objects default_object system_time perf_time
    perf_freq perf_time_100ns system_name_size system_name_offset system_name
    object object.total_size object.definition_size object.header_size object.index object.help_index
    object.detail_level object.num_counters object.default_counter object.num_instances object.code_page
    object.perf_time object.perf_freq
    counter_definition definition.size counter.index counter.help_index counter.default_scale detail_level counter.type
    counter.size counter.offset instance instance.size instance.parent_object_index instance.parent_instance
    instance.unique_id instance.name_offset instance.name_size instance.name counter_block counter_block.size
    counter_data value value.text value.raw title title.index title.text'''.split())
PASSES = pytest.mark.parametrize('two_pass', [False, True], ids=['one-pass', 'two-pass'])
REPRESENTATIONS = {'ndr': {}, 'ndr64': dict(ndr64=True), 'big-endian': dict(order='>'),
                   'big-endian-ndr64': dict(order='>', ndr64=True), 'smb': dict(smb=True),
                   'big-endian-block': dict(block_order='>'), 'samba': dict(samba=True, fill=0xA5),
                   'no-system-name': dict(system=''), 'fragments': dict(max_frag=400)}


def read(tshark, scene, folder, *args, two_pass=False):
    """{frame number: Item} of each frame"""
    path = folder / 'hkpd.pcap'
    scene.write(path)
    out, _ = tshark.run('-r', path, '-T', 'pdml', *(['-2'] if two_pass else []), *args)
    frames = {}
    for packet in ElementTree.fromstring(out.encode('utf-8')).iter('packet'):
        item = Item(packet)
        item.element = packet
        frames[item.numbers('num')[0]] = item
    return frames


def wire(item):
    return [Shown(e.get('name'), e.get('show') or '', e.get('unmaskedvalue') or e.get('value') or '',
                  int(e.get('pos') or 0), int(e.get('size') or 0), e.get('showname') or '')
            for e in item.element.iter() if e.get('name') in WIRE and int(e.get('size') or 0) > 0]


def experts(item):
    return {x.name.removeprefix('hkpd.expert.') for x in item.walk() if x.name.startswith('hkpd.expert.')}


def compare_fields(frames, scene):
    """Each response shows exactly the fields that its stub has, over exactly their bytes."""
    for number, messages in scene.frames.items():
        shown = wire(frames[number])
        for message in messages:
            expected = [f for f in message.fields if f.name in WIRE and f.length > 0]
            names = [f.name for f in expected]
            got, shown = shown[:len(names)], shown[len(names):]
            assert [s.name for s in got] == names, 'frame %d' % number
            for s, f in zip(got, expected):
                assert same(s, f) or f.name == 'hkpd.value.raw' and s.show.replace(':', '') == f.value, (
                    'frame %d' % number, s, f)
            if expected:
                whole = scene.capture.frames[number - 1][1]
                compare_places([s._replace(value=message.stub[f.offset:f.offset + f.length].hex())
                                if f.name == 'hkpd.title.index' else s for s, f in zip(got, expected)],
                               expected, message, whole, 'frame %d' % number)
        assert not shown, 'frame %d: too many: %s' % (number, shown[:4])


def compare_values(frames, scene, paths=True):
    """-> how many were calculated"""
    count = 0
    for number, message in answers(scene):
        items = frames[number].all('hkpd.counter_data')
        assert len(items) == len(message.record['values']), number
        for item, (path, raw, kind, cooked) in zip(items, message.record['values']):
            where = 'frame %d %s' % (number, path)
            if paths:
                got = one(item, 'hkpd.path')
                assert got is not None and shows(got, path), '%s: %r' % (where, got)
            value, why = one(item, 'hkpd.cooked'), one(item, 'hkpd.cooked.none')
            if isinstance(raw, str):
                assert value is None and why is None, where
            elif cooked is None:
                assert value is None and why is not None, '%s: %s' % (where, value)
            else:
                assert value is not None and float(value) == close_to(cooked), '%s: %s (%s), expected %r' % (
                    where, value, why, cooked)
                count += 1
    return count


def no_experts(frames, scene):
    for number in scene.frames:
        assert not experts(frames[number]), 'frame %d' % number
        assert not [x for x in frames[number].walk() if x.name.startswith('_ws.malformed')], 'frame %d' % number


# --- Fields, paths and values

@PASSES
@pytest.mark.parametrize('how', REPRESENTATIONS)
def test_every_field_path_and_value(tshark, tmp_path, how, two_pass):
    scene = session(**REPRESENTATIONS[how])
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    compare_fields(frames, scene)
    assert compare_values(frames, scene) > 60
    no_experts(frames, scene)


@PASSES
def test_every_counter_type(tshark, tmp_path, two_pass):
    scene = session(objects=[every_type()], samples=3)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    compare_fields(frames, scene)
    assert compare_values(frames, scene) > 70
    no_experts(frames, scene)


def test_every_counter_type_in_a_big_endian_block(tshark, tmp_path):
    scene = session(objects=[every_type()], block_order='>')
    frames = read(tshark, scene, tmp_path)
    compare_fields(frames, scene)
    compare_values(frames, scene)
