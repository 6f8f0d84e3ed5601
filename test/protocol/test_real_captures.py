# SPDX-License-Identifier: GPL-2.0-or-later
"""The captures of a real server and real clients, each compared whole with what its server put on the wire.

NAME.expect.json was written when the capture was made (test/pcaps/README.md says how to read it).
"""

import functools
import json
from itertools import zip_longest

import pytest

from conftest import FRAME, TOP, Shown, brief, same
from gen.model import TYPE_NAMES
from gen.record import Field
from learned import close_to, cooked, one, read_file, shows

PCAPS = TOP / 'test' / 'pcaps'
KEYS = json.loads((PCAPS / 'keys.json').read_text())
PCQ = sorted(name for name in KEYS if not name.startswith('hkpd-'))
HKPD = sorted(name for name in KEYS if name.startswith('hkpd-'))
# handle-life has two calls with a closed handle
NOTES = {'pcq.expert.order_assumed', 'pcq.expert.call_failed', 'pcq.expert.counter_refused', 'pcq.expert.block_failed', 'pcq.expert.handle_closed'}


def key(name):
    """tshark's options that open the capture."""
    return [word for option in KEYS[name] for word in ('-o', option.replace('{pcaps}', str(PCAPS)))]


def messages(name):
    """{frame: [message...]}, the fields as they are compared."""
    frames = {}
    for message in json.loads((PCAPS / name).with_suffix('.expect.json').read_text())['messages']:
        message['fields'] = [Field(*pair, 0, 0) for pair in message['fields']]
        frames.setdefault(message['frame'], []).append(message)
    return frames


def notes(fields):
    """What may be remarked on a good message: error codes, and what no list has."""
    allowed = set(NOTES)
    for field in fields:
        if field.name == 'pcq.counter.type' and field.value not in TYPE_NAMES:
            allowed.add('pcq.expert.counter_type')
        if field.name == 'pcq.request_code' and not 1 <= field.value <= 10:
            allowed.add('pcq.expert.request_code')
    return allowed


def lacks_values(fields):
    """Some block has no value, and no error instead."""
    names = [f.name for f in fields if f.name in ('pcq.block.type', 'pcq.counter_data') and f.value != 0] + ['pcq.block.type']
    return ('pcq.block.type', 'pcq.block.type') in zip(names, names[1:])


def compare(shown, expected, where):
    for at, (got, field) in enumerate(zip_longest(shown, expected)):
        around = '%s: field %d, after %s' % (where, at, brief(shown[max(0, at - 3):at]))
        assert field is not None, '%s: too many: %s' % (around, brief(shown[at:at + 4]))
        assert got is not None, '%s: missing: %s' % (around, brief(expected[at:at + 4]))
        assert got.name == field.name, '%s: expected %s, got %s' % (
            around, brief(expected[at:at + 4]), brief(shown[at:at + 4]))
        assert same(got, field), '%s: expected %r, got %r' % (around, field, got)


@pytest.mark.parametrize('name', PCQ)
def test_every_field_of_every_call(tshark, name):
    shown = tshark.pdml(PCAPS / name, *key(name), '-Y', 'pcq', timeout=600)
    expected = messages(name)
    assert any(message['fields'] for there in expected.values() for message in there)
    for number, frame in shown.items():
        assert number in expected or not frame.wire, '%s frame %d: unexpected %s' % (
            name, number, brief(frame.wire[:4]))
    for number, there in expected.items():
        fields = [field for message in there for field in message['fields']]
        if not fields:
            continue                            # a fault
        where = '%s frame %d' % (name, number)
        assert number in shown, where + ': no PerflibV2 in it'
        frame = shown[number]
        compare(frame.wire, fields, where)
        may = {'pcq.expert.not_delivered'} if lacks_values(fields) else set()
        assert set(frame.experts) - may <= notes(fields), '%s: experts on a good message: %s' % (where, frame.experts)
        assert not frame.malformed, where + ': malformed'


@pytest.mark.parametrize('name', PCQ)
def test_nothing_is_shown_without_the_key(tshark, name):
    """Sealed stubs stay closed, and closed stubs teach nothing."""
    assert tshark.fields(PCAPS / name, ['frame.number'], '-Y', 'pcq.machine || pcq.handle || pcq.status') == []


@functools.cache
def trees(tshark, name, display_filter):
    """{frame: Item}"""
    return read_file(tshark, PCAPS / name, *key(name), '-Y', display_filter, shown='winreg hkpd ' + FRAME)


@pytest.mark.parametrize('name', [name for name in HKPD if name != 'hkpd-nmap.pcap'])  # it has a fault, and no data
def test_every_field_of_performance_data(tshark, name):
    expected = messages(name)
    shown = trees(tshark, name, 'hkpd')
    assert any(message['fields'] for there in expected.values() for message in there)
    names = {field.name for there in expected.values() for message in there for field in message['fields']}
    for number, there in expected.items():
        fields = [field for message in there for field in message['fields']]
        wire = [Shown(item.name, item.show, '', 0, item.size, item.label)
                for item in (shown[number].walk() if number in shown else ()) if item.size and item.name in names]
        if any(message.get('cut') for message in there):
            wire = wire[:len(fields)]           # a header with nothing behind it
        where = '%s frame %d' % (name, number)
        compare(wire, fields, where)
        remarks = [item.name for item in shown[number].walk()
                   if item.name.startswith(('hkpd.expert.', 'pcq.expert.', '_ws.malformed', '_ws.short')) and item.name not in NOTES] if fields else []
        if any(message.get('cut') for message in there):
            assert any(remark.startswith(('hkpd.expert.', 'pcq.expert.')) for remark in remarks), where + ': cut, and nothing said'
        else:
            assert not remarks, '%s: on a good block: %s' % (where, remarks)


@pytest.mark.parametrize('name', [name for name in PCQ + HKPD if name not in ('hkpd-net.pcap', 'hkpd-nmap.pcap')])
def test_every_path_and_calculated_value(tshark, name):
    """Each capture of PerflibV2 begins with the client's browsing; of the others only hkpd-signed does not ask for the counters' names.
    Instances of equal name keep their order."""
    answers = [m for there in messages(name).values() for m in there if m.get('values')]
    frames = trees(tshark, name, 'hkpd' if name in HKPD else 'pcq.counter_data')
    assert answers and (name in HKPD or sorted(frames) == [m['frame'] for m in answers])
    for message in answers:
        where, shown = '%s frame %d' % (name, message['frame']), frames[message['frame']].values
        assert len(shown) == len(message['values']), where
        for item, (path, value) in zip(shown, message['values']):
            got, (number, why) = one(item, 'pcq.path'), cooked(item)
            if name != 'hkpd-signed.pcap':      # that of a key is without its machine
                assert got is not None and shows(got[got.find('\\', 2):] if name in HKPD else got, path), '%s: %r, expected %r' % (where, got, path)
            assert number == (None if value is None else close_to(value)), '%s %s: %s (%s), expected %s' % (where, path, number, why, value)
