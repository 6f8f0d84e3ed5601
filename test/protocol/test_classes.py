# SPDX-License-Identifier: GPL-2.0-or-later
"""Bad input of the classes 41 to 44, which are about state: much of it, packets in any order, servers that look alike, preferences
(fuzz/regressions/stubs too). The others are gen/damage.py's, by their numbers."""

import json
import random
import struct

import pytest

import cost
from gen.hostile import HANDLE, Capture, Pcq, block, identifier, instance, instances, string_table, utf16, values
from gen.mutate import together
from test_order import compare, is_ours, sharkd  # noqa: F401 (a fixture)

MANY = 20000
A_FRAME = 200           # PDUs


def pipelined(p, opnum, requests, responses):
    """Calls by the hundred in a frame."""
    rpc = p.rpc
    for at in range(0, len(requests), A_FRAME):
        first = rpc.call_id
        for side, stubs in ((0, requests), (1, responses)):
            send = rpc.transport.to_client if side else rpc.transport.to_server
            send([pdu for i, stub in enumerate(stubs[at:at + A_FRAME]) for pdu in
                  (rpc.response_pdus(stub, first + i) if side else rpc.request_pdus(opnum, stub, call_id=first + i))])
        rpc.call_id = first + A_FRAME


def fits(tshark, path, *args):
    used = cost.of_tshark(tshark, path, *args)
    plain = cost.run(path, *args, env=tshark.env, plugin=False)
    assert used.status == 0
    assert used.megabytes - plain.megabytes < cost.MEGABYTES and used.seconds - plain.seconds < cost.SECONDS


def machine(text):
    data = utf16(text)
    data = struct.pack('<3I', len(data) // 2, 0, len(data) // 2) + data
    return data + bytes(-len(data) % 4)


def test_05_41_handles_never_closed(tshark, tmp_path):
    """Very many of them, and the first still known in the end."""
    p = Pcq()
    handles = [bytes(4) + struct.pack('<4I', i, 1, 2, 3) for i in range(MANY)]
    pipelined(p, 3, [machine('\\\\SRV')] * MANY, [h + bytes(4) for h in handles])
    p.handle = handles[0]
    p.change([identifier(0, None)])
    path = p.capture.write(tmp_path / 'handles.pcap')
    fits(tshark, path)
    opened = tshark.fields(path, ['pcq.handle.opened_in'], '-Y', 'pcq.add')
    assert opened == [['7']]        # behind the handshake, the bind and the first frame of requests


def test_05_42_countersets_learned(tshark, tmp_path):
    """Very many names, and the first still known in the end."""
    p = Pcq()
    guids = [struct.pack('<4I', i, 1, 2, 3) for i in range(MANY)]
    pipelined(p, 1, [machine('\\\\SRV') + g + struct.pack('<3I', 9, 0x409, 4096) for g in guids],
              [struct.pack('<5I', 16, 16, 4096, 0, 16) + utf16('Set %03d' % (i % 1000)) + bytes(4)
               for i in range(MANY)])
    p.open()
    p.change([identifier(0, None, guids[0])])
    path = p.capture.write(tmp_path / 'sets.pcap')
    fits(tshark, path)
    names = tshark.fields(path, ['pcq.counterset.name'], '-Y', 'pcq.add')
    assert names and 'Set 000' in names[0][0]


def monitored(server, first, handle=HANDLE, samples=4):
    """A client that samples one counter of a server with its own names."""
    p = Pcq(server=server, handle=handle)
    p.registration(9, utf16('Set of %d' % first))
    p.counters([0])
    p.registration(10, string_table([(0, 0)], utf16('counter of %d' % first)))
    p.open()
    p.change([identifier(0)])
    for n in range(samples):
        p.data(block(4, instances([instance('i') + values(1, n * first)])))
    return p.capture


def shown(tshark, path):
    return [x for x in tshark.fields(path, ['pcq.path', 'pcq.cooked', 'pcq.value']) if x[2:] and x[2]]


def test_05_43_servers_with_equal_handles(tshark, tmp_path):
    """Two servers that gave out the same handle, frame by frame in turn: each is what it is alone."""
    alone = [monitored('192.0.2.%d' % (20 + i), 1000 * (i + 1)) for i in range(2)]
    each = [shown(tshark, c.write(tmp_path / 'alone.pcap')) for c in alone]
    merged = Capture()
    for pair in zip(*(c.frames for c in alone)):
        for _, frame in pair:
            merged.add(frame)
    got = shown(tshark, merged.write(tmp_path / 'merged.pcap'))
    assert got[0::2] == each[0] and got[1::2] == each[1]
    assert [float(row[1]) for row in each[0][1:]] == [1000.0] * 3 and float(each[1][1][1]) == 2000.0


def test_05_43_a_late_frame_first_and_filters(sharkd, tmp_path):  # noqa: F811
    """The last frame before any other, another filter, the file once more."""
    path = together([monitored(None, 1000), monitored(None, 7)]).write(tmp_path / 'a.pcap')
    s = sharkd()
    numbers = s.load(path)
    late = s.frames(numbers[-1:])
    forward = s.frames(numbers)
    ours = {n: text for n, text in forward.items() if is_ours(text)}
    assert len(ours) > 20
    compare(late, {n: ours[n] for n in late}, 'the last first')
    listed = [s.ask(('frames', dict(filter=f)))[0] for f in ('pcq', 'pcq.cooked > 10', 'tcp', 'pcq')]
    assert len(json.loads(listed[0])['result']) == len(ours) and listed[0] == listed[3]
    compare(s.frames(list(ours)), ours, 'after filters')
    assert s.load(path) == numbers
    order = list(ours)
    random.Random(1).shuffle(order)
    compare(s.frames(order), ours, 'after a reload')


@pytest.mark.parametrize('preference', ['pcq.sample_limit:0', 'hkpd.decode:FALSE'])
def test_05_44_other_preferences_between_two_files(sharkd, tmp_path, preference):  # noqa: F811
    """What a preference does to one file is not seen in the next, once it is what it was."""
    path = together([monitored(None, 1000)]).write(tmp_path / 'a.pcap')
    name, _, _ = preference.partition(':')
    usual = {'pcq.sample_limit': '1024', 'hkpd.decode': 'TRUE'}[name]
    s = sharkd()
    numbers = s.load(path)
    first = {n: text for n, text in s.frames(numbers).items() if is_ours(text)}
    for value in (preference.partition(':')[2], usual):
        s.ask(('setconf', dict(name=name, value=value)))
        s.frames(numbers)
        s.load(path)
    compare(s.frames(list(first)), first, 'with %s as before' % name)
