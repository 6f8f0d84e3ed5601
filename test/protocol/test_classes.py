# SPDX-License-Identifier: GPL-2.0-or-later
"""Bad input of the classes 43 and 44, which are about state: packets in any order, servers that look alike, preferences (fuzz/regressions/stubs
too). Much of it (41, 42) is gen/hostile.py's, the others are gen/damage.py's, by their numbers."""

import json
import random

import pytest

from gen.hostile import HANDLE, Capture, Pcq, block, identifier, instance, instances, string_table, utf16, values
from gen.mutate import together
from test_order import compare, is_ours, sharkd  # noqa: F401 (a fixture)




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
