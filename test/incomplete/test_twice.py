# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets that were captured twice: mirrored, and on both sides of a translation of addresses. They count once."""

import json
import re
import socket
import struct
from pathlib import Path

import pytest

from conftest import TOP
from gen import hkpd_scene
from gen.pcap import Capture, checksum
from gen.scene import Scene, tcp_line
from gen.story import Server, Times, ask, begin, counter, learn, multiple, run, unseen

PCAPS = TOP / 'test' / 'pcaps'
KEYS = json.loads((PCAPS / 'keys.json').read_text())
# what the copy has in its place: (address, port of it or None, address there, port there); overtakes: its first block comes first
SIDES = {'mirrored': None, 'client': ('192.0.2.10', 50001, '198.51.100.7', 40001), 'overtakes': ('192.0.2.10', 50001, '198.51.100.7', 40001, True)}


def translated(frame, side):
    frame, (was, port, now, there, *_) = bytearray(frame), side
    for address, at in (26, 34), (30, 36):
        if bytes(frame[address:address + 4]) == socket.inet_aton(was):
            frame[address:address + 4] = socket.inet_aton(now)
            if struct.unpack_from('>H', frame, at)[0] == port:
                struct.pack_into('>H', frame, at, there)
    frame[24:26] = b'\0\0'
    struct.pack_into('>H', frame, 24, checksum(bytes(frame[14:34])))
    return bytes(frame)


def twice(path, side):
    """The capture with each frame again right behind it."""
    capture = Capture.of_file(path)
    block = next((n for n, (_, x) in enumerate(capture.frames) if side and side[4:] and 'PERF'.encode('utf-16-le') in x), -2)   # in two segments
    capture.frames = [x for n, (when, frame) in enumerate(capture.frames)
                      for x in [(when, frame), (when, translated(frame, side) if side else frame)][::-1 if n in (block, block + 1) else 1]]
    return capture.write(path.with_name('twice.pcap'))


def told(tshark, path, *passes):
    """What statistics and the long form say, without the frames' numbers and the slowest call's time"""
    out, _ = tshark.run('-q', '-r', path, '-z', 'pcq,long,-', *passes)
    rows = [line.split(',')[:1] + line.split(',')[2:] for line in out.splitlines() if line[:2] == '20']
    tables, _ = tshark.run('-q', '-r', path, '-z', 'pcq,counters', '-z', 'pcq,queries', *passes)
    table = [line.split(' |') for line in tables.splitlines() if line.startswith(('\\\\', 'query', 'hkpd'))]
    return rows, [[cell for i, cell in enumerate(row) if not cell.startswith('frame ') and (i != 9 or row[0][0] == '\\')] for row in table]


def conversation(s):
    scene, c = begin(Server([s]), s)
    run(c, [ask(s, 1, '*'), ask(s, 2, 'a'), ask(s, 77, 'a')], 4)
    return scene


def opened(s, by):
    """The query is opened before the capture, or on another connection."""
    scene, model = Scene(), Server([s])
    c = tcp_line(scene, model).client()
    h = by(scene, model).query([ask(s, 1, '*'), ask(s, 2, 'a')], info=False)
    learn(c, s)
    c.info(h, 9999)
    for _ in range(4):
        c.data(h, 9999)
    return scene


def keys(names, is_opened, **how):
    scene = Scene()
    for n, name in enumerate(names):
        talk = hkpd_scene.Talk(scene, system=name, called=name, client_port=50001 + n, **how)
        talk.handles = n
        talk.handle = talk.open() and talk.handle if is_opened else talk.new_handle()
        for call in [talk.titles, *3 * [talk.sample]]:
            call()
    return scene


SET = multiple('Set', counter(1, 'PERF_COUNTER_BULK_COUNT', 'Rate', lambda at, k: 1000 * at.number), counter(2, 'PERF_COUNTER_RAWCOUNT', 'Level', [5, 6, 7]))
MAKE = {'pcq': lambda: conversation(SET), 'hkpd': lambda: hkpd_scene.session(samples=3), 'pcq-opened-before': lambda: opened(SET, lambda scene, model: unseen(model)),
        'pcq-opened-elsewhere': lambda: opened(SET, lambda scene, model: tcp_line(scene, model, client_port=50002).client()),
        'hkpd-opened-before': lambda: keys(['SRV01'], False), 'hkpd-of-two-machines': lambda: keys(['ONE', 'TWO', 'ONE'], True),
        'hkpd-of-two-machines-in-pipes': lambda: keys(['ONE', 'TWO', 'ONE'], True, smb=True)}


@pytest.mark.parametrize('side', SIDES)
@pytest.mark.parametrize('make', MAKE)
def test_each_call_counts_once(tshark, tmp_path, make, side, passes):
    """Where neither logon nor opening was captured the same answer with the server's clocks tells."""
    path = Path(MAKE[make]().write(tmp_path / 'scene.pcap'))
    once, again = told(tshark, path, *passes), told(tshark, twice(path, SIDES[side]), *passes)
    assert again == once and len(once[0]) > 8


def test_a_number_that_two_clients_have_is_no_copy(tshark, tmp_path):
    """Two clients do the same at the same time; the server, which has no clock, gives each a handle of its own. Then both use one."""
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Level', [5, 6, 7, 8]))
    scene, model = Scene(), Server([s], clock=Times([(0, 0)] * 4))
    a, b = (tcp_line(scene, model, client_port=50001 + i).client() for i in range(2))
    handles = [c.open() for c in (a, b)]
    for c, h in zip((a, b), handles):
        c.validate(h, [ask(s, 1, 'a')])
    for c, h in zip((a, b, a, b), handles + handles[:1] * 2):
        c.data(h, 9999)
    out, _ = tshark.run('-q', '-r', scene.write(tmp_path / 'scene.pcap'), '-z', 'pcq,queries')
    assert [line.split(' |')[:2] for line in out.splitlines() if line.startswith('query')] == [['query 1', '3'], ['query 2', '1']]


@pytest.mark.parametrize('order', [1, -1])
def test_handles_that_two_machines_have_are_no_copies(tshark, tmp_path, order, passes):
    """Behind one address; that they are two is known as soon as each has said what it is called."""
    scene = Scene()
    talks = [hkpd_scene.Talk(scene, system='SRV0%d' % n, client_port=50000 + n) for n in (1, 2)]
    for call in [talk.open for talk in talks] + 3 * [talk.sample for talk in talks[::order]]:
        call()
    rows = told(tshark, scene.write(tmp_path / 'scene.pcap'), *passes)[0]
    paths = [path for _, m in hkpd_scene.answers(scene) for path, *_ in m.record['values']]
    assert [x[:7] for row in rows for x in row if x.startswith('\\\\')] == [path[:7] for path in paths]


# of real servers: sealed over TCP with NTLM and Kerberos, through pipes, and winreg's
SEALED = ['tcp-ntlm', 'tcp-kerberos', 'smb3-ntlm', 'smb3-encrypted', 'hkpd-sealed']


def ends_of(tshark, path):
    """Client with its port, and server, of the capture's connection"""
    return tshark.fields(path, ('ip.src', 'tcp.srcport', 'ip.dst'), '-Y', 'tcp.flags.syn == 1 && tcp.flags.ack == 0')[-1]


@pytest.mark.parametrize('with_key', [True, False], ids=['key', 'no-key'])
@pytest.mark.parametrize('side', ['client', 'server'])
@pytest.mark.parametrize('name', SEALED)
def test_what_is_sealed_counts_once(tshark, tmp_path, name, side, with_key):
    """A server's answer to a logon is no other's: clients' addresses may be translated, and the server's."""
    path = PCAPS / (name + '.pcap')
    keys = [x for k in KEYS[path.name] for x in ('-o', k.format(pcaps=PCAPS))] if with_key else []
    client, port, server = ends_of(tshark, path)
    (tmp_path / 'once.pcap').write_bytes(path.read_bytes())
    place = (client, int(port), '198.51.100.7', 40001) if side == 'client' else (server, None, '198.51.100.9', None)
    copied = twice(tmp_path / 'once.pcap', place)
    outcome = [tshark.run('-q', '-r', p, *keys, '-z', 'pcq,queries', '-z', 'pcq,monitors', '-z', 'pcq,refusals')[0]
               for p in (path, copied)]
    once, again = ([re.sub(r'frame\.number (== \d+|in \{[^}]*\})|(since [\d:]+|ms), frame \d+|frame ', '', line).split(' |') for line in out.splitlines()] for out in outcome)
    assert len(again) == len(once) > 4
    for a, b in zip(again, once):
        # frame n is frame 2 n - 1 there, which no count becomes that is twice too high
        assert [x for x, y in zip(a, b) if x != y and not (y.isdigit() and int(x) == 2 * int(y) - 1)] == [] and len(a) == len(b)
    closed = [tshark.fields(p, ['frame.number'], *keys, '-Y', 'pcq.expert.handle_closed') for p in (path, copied)]
    assert closed[1] == [[str(2 * int(number) - 1)] for number, in closed[0]]
