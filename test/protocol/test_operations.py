# SPDX-License-Identifier: GPL-2.0-or-later
"""Every operation of [MS-PCQ] 3.1.4.1, request and response: all fields, in order, with their bytes."""

import re

import pytest

from conftest import TOP, compare_scenario, compare_scenario_experts
from gen.scenarios import SCENARIOS

PLAIN = TOP / 'test' / 'pcaps' / 'plain'


@pytest.mark.parametrize('name', SCENARIOS)
def test_all_fields_in_order_with_their_bytes(read, name):
    """And nothing is remarked on what is normal; pcq.opnum is on every message, though it covers no bytes of the stub."""
    scenario, frames = read(name, SCENARIOS[name])
    compare_scenario(frames, scenario)
    compare_scenario_experts(frames, scenario)
    assert {n: frames[n].numbers('pcq.opnum') for n in scenario.frames} == {n: [m.opnum for m in ms] for n, ms in scenario.frames.items()}
    ends = [m.pos + m.size - a.pos - a.size for f in frames.values() for a, m in zip(f.all('pcq.array'), f.all('pcq.machine'))]
    assert not any(ends + [(s.pos - a.pos - a.size) // 4 for f in frames.values() for a, s in zip(f.all('pcq.array'), f.all('pcq.status'))])


def test_what_is_an_error_and_what_is_none(read):
    """Status 8 with a needed size is half of a normal call, all other statuses are noted."""
    for name, normal, least in ('query-tcp', True, 3), ('refusals', False, 6):
        scenario, frames = read(name, SCENARIOS[name])
        found = [n for n, (m,) in scenario.frames.items() if m.kind == 'response' and m.status not in (0, None) and (m.status == 8) == normal]
        assert len(found) >= least
        assert all(frames[n].experts == ([] if normal else ['pcq.expert.call_failed']) for n in found)


def test_json_has_fields_alone(tshark):
    """-T json: all that is shown has a field's name, none is a text alone. What no packet holds stands in brackets."""
    def keys(pairs):
        for key, value in pairs:
            yield key
            if isinstance(value, list):
                yield from keys(v for v in value if isinstance(v, (list, tuple)) and len(v) == 2)
    shown = [key for packet in tshark.json(PLAIN / 'query-tcp.pcap') for key in keys(packet) if 'pcq.' in key]
    assert len(shown) > 1000 and not [key for key in shown if ' ' in key]
    named = 'Opened in', 'Closed in', 'Query', 'Path', 'Previous sample', 'Interval', 'Calculated value', 'No calculated value'
    text, _ = tshark.run('-r', PLAIN / 'query-tcp.pcap', '-2', '-V')
    assert {m.groups() for m in re.finditer(r'^ +(\[?)(%s): ' % '|'.join(named), text, re.M)} == {('[', x) for x in named}
