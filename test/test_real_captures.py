# SPDX-License-Identifier: GPL-2.0-or-later
"""The captures of a real server and real clients, each compared whole with what its server put on the wire.

NAME.expect.json was written when the capture was made (test/lab/expectations.py says how to read it).
"""

import json
import re
import xml.etree.ElementTree as ElementTree
from itertools import zip_longest

import pytest

from conftest import TOP, Shown, brief, same
from gen.record import Field

PCAPS = TOP / 'test' / 'pcaps'
KEYS = json.loads((PCAPS / 'keys.json').read_text())
PCQ = sorted(name for name in KEYS if not name.startswith('hkpd-'))
HKPD = sorted(name for name in KEYS if name.startswith('hkpd-'))
PASSES = pytest.mark.parametrize('two_pass', [False, True], ids=['one-pass', 'two-pass'])
# The notes that good packets may have: an error code, and calls with a handle that was closed (handle-life has two)
NOTES = {'pcq.expert.status', 'pcq.expert.handle_closed'}


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


def compare(shown, expected, where):
    for at, (got, field) in enumerate(zip_longest(shown, expected)):
        around = '%s: field %d, after %s' % (where, at, brief(shown[max(0, at - 3):at]))
        assert field is not None, '%s: too many: %s' % (around, brief(shown[at:at + 4]))
        assert got is not None, '%s: missing: %s' % (around, brief(expected[at:at + 4]))
        assert got.name == field.name, '%s: expected %s, got %s' % (
            around, brief(expected[at:at + 4]), brief(shown[at:at + 4]))
        assert same(got, field), '%s: expected %r, got %r' % (around, field, got)


@PASSES
@pytest.mark.parametrize('name', PCQ)
def test_every_field_of_every_call(tshark, name, two_pass):
    shown = tshark.pdml(PCAPS / name, *key(name), '-Y', 'pcq', two_pass=two_pass, timeout=600)
    expected = messages(name)
    for number, frame in shown.items():
        assert number in expected or not frame.wire, '%s frame %d: unexpected %s' % (name, number, brief(frame.wire[:4]))
    for number, there in expected.items():
        fields = [field for message in there for field in message['fields']]
        if not fields:
            continue                            # a fault
        where = '%s frame %d' % (name, number)
        assert number in shown, where + ': no PerflibV2 in it'
        frame = shown[number]
        compare(frame.wire, fields, where)
        assert set(frame.experts) <= NOTES, '%s: experts on a good message: %s' % (where, frame.experts)
        assert not frame.malformed, where + ': malformed'


@pytest.mark.parametrize('name', PCQ)
def test_nothing_is_malformed(tshark, name):
    assert tshark.fields(PCAPS / name, ['frame.number'], *key(name), '-Y', '_ws.malformed || pcq.expert.not_decrypted') == []


@pytest.mark.parametrize('name', PCQ)
def test_nothing_is_shown_without_the_key(tshark, name):
    """Sealed stubs stay closed, and closed stubs teach nothing."""
    assert tshark.fields(PCAPS / name, ['frame.number'], '-Y', 'pcq.machine || pcq.handle || pcq.status') == []


@PASSES
def test_one_answer_is_over_a_mebibyte(tshark, two_pass):
    name = 'big-answer.pcap'
    rows = tshark.fields(PCAPS / name, ['pcq.out_size', 'pcq.multi_instances.count'], *key(name),
                         *(['-2'] if two_pass else []), '-Y', 'pcq.out_size > 1048576')
    assert rows == [['1083672', '1050']]


def test_the_two_clients_are_interleaved(tshark):
    """Or the capture would not show what it is for."""
    name = 'two-clients.pcap'
    calls = tshark.fields(PCAPS / name, ['tcp.stream', 'dcerpc.pkt_type'], *key(name), '-Y', 'pcq')
    # answers that do not come directly after a request of their own client
    between = sum(answer[1] == '2' and before[0] != answer[0] for before, answer in zip(calls, calls[1:]))
    assert between > 10
    handles = tshark.fields(PCAPS / name, ['pcq.handle'], *key(name), '-Y', 'pcq.opnum == 6 && pcq.in_size')
    assert len({row[0] for row in handles}) == 2


def hkpd_frames(tshark, name, two_pass):
    """{frame: [Shown wire field...]} of HKEY_PERFORMANCE_DATA"""
    out, _ = tshark.run('-r', PCAPS / name, *key(name), '-Y', 'hkpd', '-T', 'pdml', *(['-2'] if two_pass else []),
                        timeout=600)
    frames = {}
    for packet in ElementTree.fromstring(out.encode('utf-8')).iter('packet'):
        number = int(packet.find(".//field[@name='num']").get('show'))
        frames[number] = [
            Shown(e.get('name'), e.get('show') or '', e.get('value') or '', int(e.get('pos') or 0),
                  int(e.get('size') or 0), e.get('showname') or '')
            for e in packet.iter('field') if e.get('name', '').startswith('hkpd.')]
    return frames


@PASSES
@pytest.mark.parametrize('name', HKPD)
def test_every_field_of_performance_data(tshark, name, two_pass):
    if not re.search(r'\thkpd$', tshark.run('-G', 'protocols')[0], re.M):
        pytest.skip('HKEY_PERFORMANCE_DATA is not decoded yet')
    expected = messages(name)
    shown = hkpd_frames(tshark, name, two_pass)
    names = {field.name for there in expected.values() for message in there for field in message['fields']}
    for number, there in expected.items():
        fields = [field for message in there for field in message['fields']]
        wire = [got for got in shown.get(number, []) if got.size > 0 and got.name in names]
        if any(message.get('cut') for message in there):
            wire = wire[:len(fields)]           # a header with nothing behind it: what follows is the finding's business
        compare(wire, fields, '%s frame %d' % (name, number))
