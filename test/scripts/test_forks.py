# SPDX-License-Identifier: GPL-2.0-or-later
"""A fork of a tshark that waits is a tshark just started (forks.py)."""

import os
import re
import resource
import subprocess
import time

import pytest

import cost
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


@pytest.mark.skipif(TSHARK.endswith('.exe'), reason='Windows has no such file')
def test_a_run_that_takes_too_long_is_ended(tshark, tmp_path):
    os.mkfifo(tmp_path / 'nothing')
    expected = tshark.start('-r', CAPTURE).stdout
    with pytest.raises(subprocess.TimeoutExpired):
        tshark.start('-r', tmp_path / 'nothing', timeout=0.3)
    assert tshark.start('-r', CAPTURE).stdout == expected != b''


def test_a_run_that_ends_before_its_limits_are_set_leaves_nothing_behind(tshark, monkeypatch):
    """Where another process has the processor it is gone by then; the runs behind it have outcomes of their own."""
    prlimit = resource.prlimit

    def late(*args):
        time.sleep(0.3)
        return prlimit(*args)
    monkeypatch.setattr(resource, 'prlimit', late)
    cost.of_tshark(tshark, CAPTURE, '-q')
    assert [tshark.start('-r', CAPTURE, '-Y', x).returncode == 0 for x in ('pcq', 'no such field', 'pcq')] == [True, False, True]
