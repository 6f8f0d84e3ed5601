# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets that were captured twice: mirrored, and on both sides of a translation of the client's address."""

import socket
import struct
from pathlib import Path

import pytest

from gen import hkpd_scenario
from gen.pcap import Capture, checksum
from gen.scripted import Server, ask, begin, counter, multiple, run

SIDE = ('192.0.2.10', 50001, '198.51.100.7', 40001)   # the client's address and port, and what they become


def translated(frame):
    frame, (was, port, now, there) = bytearray(frame), SIDE
    for address, at in (26, 34), (30, 36):
        if bytes(frame[address:address + 4]) == socket.inet_aton(was):
            frame[address:address + 4] = socket.inet_aton(now)
            if struct.unpack_from('>H', frame, at)[0] == port:
                struct.pack_into('>H', frame, at, there)
    frame[24:26] = b'\0\0'
    struct.pack_into('>H', frame, 24, checksum(bytes(frame[14:34])))
    return bytes(frame)


def twice(path, again):
    """The capture with each frame again right behind it."""
    capture = Capture.of_file(path)
    capture.frames = [x for when, frame in capture.frames for x in [(when, frame), (when, again(frame))]]
    return capture.write(path.with_name('twice.pcap'))


def rows(tshark, path, *passes):
    """Of the long form, without the numbers of frames and handles"""
    out, _ = tshark.run('-q', '-r', path, '-z', 'pcq,long,-', *passes)
    return [line.split(',')[:1] + line.split(',')[2:3] + line.split(',')[4:] for line in out.splitlines() if line[:2] == '20']


def conversation():
    s = multiple('Set', counter(1, 'PERF_COUNTER_BULK_COUNT', 'Rate', lambda at, k: 1000 * at.number), counter(2, 'PERF_COUNTER_RAWCOUNT', 'Level', [5, 6, 7]))
    scenario, c = begin(Server([s]), s)
    run(c, [ask(s, 1, '*'), ask(s, 2, 'a'), ask(s, 77, 'a')], 4)
    return scenario


@pytest.mark.parametrize('again', [bytes, translated], ids=['mirrored', 'translated'])
@pytest.mark.parametrize('make', [conversation, lambda: hkpd_scenario.session(samples=3)], ids=['pcq', 'hkpd'])
def test_an_answer_that_was_captured_twice_is_one_sample(tshark, tmp_path, make, again, passes):
    """TCP counts the one as sent again. The other one is a second client's answer: it has the values and results of the first, unmarked."""
    path = Path(make().write(tmp_path / 'scenario.pcap'))
    once, both = rows(tshark, path, *passes), rows(tshark, twice(path, again), *passes)
    assert sorted(both) == sorted(once * (1 if again is bytes else 2)) and len(once) > 8


def test_what_tcp_did_not_recognize_is_one_sample(tshark, tmp_path):
    """Without its analysis both responses are read: tables and exports have the first alone."""
    path = Path(conversation().write(tmp_path / 'scenario.pcap'))
    asked = ['-q', '-z', 'pcq,counters', '-z', 'pcq,queries', '-z', 'pcq,csv,-', '-o', 'tcp.analyze_sequence_numbers:FALSE']
    once, both = (tshark.run('-r', x, *asked)[0].splitlines() for x in (path, twice(path, bytes)))
    levels = [[line for line in x if r'(a)\Level |' in line or line.endswith('.000000"," "')] for x in (once, both)]
    assert levels[0] == levels[1] and len(levels[0]) == 5
