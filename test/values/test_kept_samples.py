# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples are kept whole, up to a limit, with the tables of the newest two."""

import csv
import struct
import subprocess
import sys

from conftest import TOP, TSHARK
from gen.hostile import ROOM, Pcq, block, identifier, values


def most_memory(env, *args):
    """tshark's largest resident size, in bytes; a process as large as this one must not start it."""
    script = ('import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); '
              'print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)')
    done = subprocess.run([sys.executable, '-c', script, TSHARK, *map(str, args)], env=env, stdout=subprocess.PIPE, check=True)
    return int(done.stdout) * 1024


def test_samples_take_little_more_than_their_bytes(tshark, tmp_path):
    """64 MiB of blocks of one value, for each of which the tables have more than its own size. With a limit of 10 MiB the oldest are discarded."""
    count, size, p = 128, 1 << 19, Pcq()
    p.open()
    p.change([identifier(0, None)])
    data = [block(1, struct.pack('<2I8s', 8, 16, b'%'))] * (size // 32)
    for _ in range(count):
        p.data(*data)
    path = p.capture.write(tmp_path / 'a.pcap')
    small, large = (most_memory(tshark.env, '-r', path, '-o', 'pcq.sample_limit:%d' % x) for x in (10, 1024))
    bare = most_memory(dict(tshark.env, WIRESHARK_PLUGIN_DIR=str(TOP / 'test')), '-r', path)
    assert count * size < large - bare < count * size * 1.4, (large - bare) >> 20
    assert small - bare < 30 << 20, (small - bare) >> 20


def test_a_sample_of_the_same_frame_makes_none_unreadable(tshark, tmp_path):
    """Two responses end in each frame. With a limit of 0 the second discards the first, whose memory goes with the frame."""
    blocks, pairs, p = 900, 80, Pcq()       # 145 samples fill the memory that samples share
    p.open()
    p.change([identifier(0, None)])
    first, tcp = p.rpc.call_id, p.rpc.transport
    for n in range(0, 2 * pairs, 2):
        two = first + n, first + n + 1
        tcp.to_server([b''.join(p.rpc.request_pdus(6, p.handle + struct.pack('<I', ROOM), call_id=i)) for i in two])
        tcp.to_client([b''.join(x for i in two for x in p.rpc.response_pdus(p.counter_data(*[block(1, values(1, i))] * blocks), call_id=i))])
    path, out = p.capture.write(tmp_path / 'a.pcap'), tmp_path / 'a.csv'
    env = dict(tshark.env, MALLOC_PERTURB_='165', GLIBC_TUNABLES='')
    subprocess.run([TSHARK, '-q', '-r', path, '-o', 'pcq.sample_limit:0', '-z', 'pcq,long,%s' % out], env=env, check=True)
    with open(out, encoding='utf-8') as rows:
        assert [int(row['raw']) for row in csv.DictReader(rows)] == [first + n for n in range(2 * pairs) for _ in range(blocks)]
