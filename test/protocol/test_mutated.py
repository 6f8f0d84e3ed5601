# SPDX-License-Identifier: GPL-2.0-or-later
"""Every plain capture with bytes of its stubs changed at random, or with numbers that lie where numbers lead: no crash, no
complaint of tshark, in bounded time, and the same in any order. script/dev/fuzz does more of it with a sanitized plugin."""

import random
import re

import pytest

from gen import mutate
from gen.damage import DAMAGE
from gen.hkpd_scene import SESSIONS
from gen.scenes import SCENES
from test_order import check_orders, sharkd  # noqa: F401 (a fixture)

ALL = {**SCENES, **DAMAGE}
FILES = ('names', 'csv', 'long', 'report')    # statistics that want to know where to write
EXTREMES = (0x00, 0x01, 0x07, 0x7F, 0x80, 0xFF)


def mutated(scene, seed, share):
    """The capture with that share of the bytes behind the RPC headers changed, half of them to extremes."""
    noise = random.Random(seed)
    frames = scene.capture.frames
    for number, messages in scene.frames.items():
        when, frame = frames[number - 1]
        stub = messages[-1].stub
        at = frame.find(stub[:32]) if len(stub) >= 8 else -1
        start = at if at > 0 else len(frame) // 2
        data = bytearray(frame)
        for i in range(start, len(data)):
            if noise.random() < share:
                data[i] = noise.choice(EXTREMES) if noise.random() < 0.5 else noise.randrange(256)
        frames[number - 1] = when, bytes(data)
    return scene


@pytest.mark.parametrize('share', [0.005, 0.1])
def test_mutated_stubs(tshark, tmp_path, share):
    """All in one capture, of which the last frame is read."""
    whole = mutate.together([mutated(make().copy(), name, share).capture for name, make in ALL.items()])
    out, _ = tshark.run('-r', whole.write(tmp_path / 'mutated.pcap'), '-V', '-2', timeout=300)
    assert '\nFrame %d: ' % len(whole.frames) in '\n' + out


@pytest.fixture
def lies(tmp_path):
    """lies(seed, share of the numbers): every capture, one behind the other, with numbers that lie"""
    def make(seed, share):
        noise = random.Random(seed)
        captures = [mutate.lying(make().copy(), noise, share).capture for make in {**ALL, **SESSIONS}.values()]
        return mutate.together(captures).write(tmp_path / 'lies.pcap')
    return make


@pytest.mark.parametrize('share', [0.01, 0.2])
@pytest.mark.parametrize('way', [['-2', '-V'], ['-T', 'json']], ids=' '.join)
def test_numbers_that_lie(tshark, lies, way, share):
    out, _ = tshark.run('-r', lies(str(way), share), *way)
    # the last capture of all was still read
    last = len(mutate.together([make().capture for make in {**ALL, **SESSIONS}.values()]).frames)
    assert re.search(r'Frame %d:|"frame.number": "%d"' % (last, last), out)


def test_numbers_that_lie_in_statistics(tshark, lies, tmp_path):
    """Each statistic and export that the plugin offers."""
    out, err = tshark.run('-z', 'help')
    known = sorted(set(re.findall(r'^\s*((?:pcq|hkpd),[\w,]+)', out + err, re.M)))
    assert known
    asked = [z if z.split(',')[1] not in FILES else '%s,%s,%s' % (*z.split(',')[:2], tmp_path / z.split(',')[1]) for z in known]
    out, _ = tshark.run('-q', '-r', lies('statistics', 0.05), *(x for z in asked for x in ('-z', z)))
    assert out


def test_numbers_that_lie_in_any_order(sharkd, lies):  # noqa: F811
    check_orders(sharkd(), lies('order', 0.05))
