# SPDX-License-Identifier: GPL-2.0-or-later
"""What is worked out only where somebody asks for it: a field that is asked for alone shows what it shows among all others."""

import pytest

from gen import hkpd_scene
from gen.scene import Scene, tcp_line
from gen.story_script import Script, ask, counter, learn, run, seconds, single
from gen.story_types import every_type, together

FIELDS = ['%s.' + name for name in '''path cooked cooked.none value value.text value.raw sample.previous
          sample.interval counter.type.kind learned_in'''.split()]


@pytest.fixture(scope='module')
def capture(tmp_path_factory):
    """Values of every type of both protocols."""
    types = every_type(False)
    odd = single('Odd', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Five bytes', lambda at, k: b'12345'))
    asked, shown = together(types, 6)
    scene = Scene()
    c = tcp_line(scene, Script([types, odd], clock=seconds(9), shows=shown)).client()
    learn(c, types, odd)
    run(c, [*asked, ask(odd, 1)], 2)
    talk = hkpd_scene.Talk(scene, [hkpd_scene.every_type()], client_port=50009)
    talk.open()
    talk.titles()
    talk.sample()
    talk.sample()
    return scene.write(tmp_path_factory.mktemp('alone') / 'a.pcap')


def test_a_filter_of_one_field(tshark, capture):
    """With -T fields Wireshark shows a whole tree to whoever looks, behind a filter only what that asks for."""
    names = [name % protocol for name in FIELDS for protocol in ('pcq', 'hkpd')]
    whole = tshark.fields(capture, ['frame.number', 'pcq.block.type', *names])
    for i, field in enumerate(FIELDS):
        out, _ = tshark.run('-r', capture, '-o', 'gui.column.format:"No.","%m"', '-Y',
                            ' || '.join(field % protocol for protocol in ('pcq', 'hkpd')))
        there = [(row[0], row[2 + 2 * i] != '', row[3 + 2 * i] != '') for row in whole if row[2 + 2 * i] or row[3 + 2 * i]]
        assert out.split() == [n for n, _, _ in there] and any(a for _, a, _ in there) and any(b for _, _, b in there), field
