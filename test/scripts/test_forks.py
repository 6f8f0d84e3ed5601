# SPDX-License-Identifier: GPL-2.0-or-later
"""A fork of a tshark that waits is a tshark just started (forks.py)."""

import re
import subprocess

import pytest

from conftest import TOP, TSHARK

CAPTURE = TOP / 'test' / 'pcaps' / 'plain' / 'query-tcp.pcap'
WAYS = {'list': [], 'tree': ['-V'], 'two passes': ['-2', '-T', 'pdml'], 'fields': ['-T', 'fields', '-e', 'pcq.path', '-Y', 'pcq'],
        'statistics': ['-q', '-z', 'pcq,long,-', '-z', 'pcq,tree'], 'wrong': ['-z', 'pcq,nothing'],
        'preference': ['-o', 'pcq.sample_limit:10', '-V'], 'a protocol less': ['--disable-protocol', 'pcq', '-T', 'json']}


@pytest.mark.parametrize('way', WAYS.values(), ids=WAYS)
def test_a_fork_says_what_a_started_one_says(tshark, way):
    def said(done):
        return done.returncode, re.sub(b'<pdml .*?>', b'', done.stdout), done.stderr

    args = ['-r', CAPTURE, *way]
    started = said(subprocess.run([TSHARK, *args], env=tshark.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    assert len(started[1]) > 1000 if started[0] == 0 else b'pcq,nothing' in started[2]
    again = [said(tshark.start(*args)) for _ in range(3)]
    assert bool(tshark.forks.waiting) == tshark.forks.can_wait()
    assert again == [started] * 3
