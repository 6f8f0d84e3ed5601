# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures whose cost somebody chose (gen/hostile.py): a megabyte of each takes three seconds and 400 MB at most, beyond
what tshark needs for nothing. How the work grows with the bytes: script/bench --growth."""

import pytest

import cost
from gen.hostile import HOSTILE
from gen.pcap import Capture

BYTES = {'-2 -V': 1000000, 'json': 300000}
WAYS = {'-2 -V': ('-2', '-V'), 'json': ('-T', 'json')}


@pytest.fixture(scope='module')
def nothing(tshark, tmp_path_factory):
    path = Capture().write(tmp_path_factory.mktemp('nothing') / 'empty.pcap')
    return cost.run(path, env=tshark.env)


@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('name', HOSTILE)
def test_05_bounded(tshark, tmp_path, nothing, name, way):
    path = HOSTILE[name](BYTES[way]).write(tmp_path / 'hostile.pcap')
    used = cost.run(path, *WAYS[way], env=tshark.env, seconds=20)
    assert used.status == 0
    assert used.seconds - nothing.seconds <= cost.SECONDS
    assert used.megabytes - nothing.megabytes <= cost.MEGABYTES
