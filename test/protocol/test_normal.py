# SPDX-License-Identifier: GPL-2.0-or-later
"""Nothing is remarked on what is normal: no expert, no malformed mark on any good message."""

import pytest

from conftest import TOP, compare_scene_experts
from gen.scenes import SCENES

PLAIN = TOP / 'test' / 'pcaps' / 'plain'


@pytest.mark.parametrize('two_pass', [False, True], ids=['one-pass', 'two-pass'])
@pytest.mark.parametrize('name', SCENES)
def test_good_messages_draw_no_remarks(read, name, two_pass):
    scene, frames = read(name, SCENES[name], two_pass)
    compare_scene_experts(frames, scene)


@pytest.mark.parametrize('name', SCENES)
def test_nothing_is_malformed_in_any_layer(tshark, name):
    assert tshark.fields(PLAIN / (name + '.pcap'), ['frame.number', '_ws.expert.message'], '-Y',
                         '_ws.malformed || _ws.short || _ws.expert.message contains "Long frame"') == []


def test_size_probe_is_half_of_a_normal_call(read):
    """Status 8 with a needed size is no error: no expert on it."""
    scene, frames = read('query-tcp', SCENES['query-tcp'])
    probes = [n for n, (m,) in scene.frames.items() if m.kind == 'response' and m.status == 8]
    assert len(probes) >= 3
    assert not any(frames[n].experts for n in probes)


def test_other_statuses_are_noted(read):
    scene, frames = read('refusals', SCENES['refusals'])
    refused = [n for n, (m,) in scene.frames.items() if m.kind == 'response' and m.status not in (0, 8, None)]
    assert len(refused) >= 6
    assert all(frames[n].experts == ['pcq.expert.call_failed'] for n in refused)
