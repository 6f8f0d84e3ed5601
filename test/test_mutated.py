# SPDX-License-Identifier: GPL-2.0-or-later
"""Every plain capture with bytes of its stubs changed at random: no crash, no complaint of tshark, in bounded time."""

import random
import time

import pytest

from gen.damage import DAMAGE
from gen.scenes import SCENES

ALL = {**SCENES, **DAMAGE}
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
@pytest.mark.parametrize('name', ALL)
def test_mutated_stubs(tshark, tmp_path, name, share):
    scene = mutated(ALL[name](), name, share)
    path = scene.write(tmp_path / 'mutated.pcap')
    start = time.monotonic()
    tshark.run('-r', path, '-V', '-2', *scene.options)
    assert time.monotonic() - start < 30
