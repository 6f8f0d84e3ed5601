# SPDX-License-Identifier: GPL-2.0-or-later
"""Every operation of [MS-PCQ] 3.1.4.1, request and response: all fields, in order, with their bytes."""

import pytest

from conftest import TOP, compare_scenario, compare_scenario_experts
from gen.scenarios import SCENARIOS

PLAIN = TOP / 'test' / 'pcaps' / 'plain'
QUERIES = [n for n in SCENARIOS if n.startswith(('query-', 'fragments-', 'sizes-', 'values-'))]


@pytest.mark.parametrize('name', SCENARIOS)
def test_all_fields_in_order_with_their_bytes(read, name):
    """And nothing is remarked on what is normal; pcq.opnum is on every message, though it covers no bytes of the stub."""
    scenario, frames = read(name, SCENARIOS[name])
    compare_scenario(frames, scenario)
    compare_scenario_experts(frames, scenario)
    assert {n: frames[n].numbers('pcq.opnum') for n in scenario.frames} == {n: [m.opnum for m in ms] for n, ms in scenario.frames.items()}


def test_what_is_an_error_and_what_is_none(read):
    """Status 8 with a needed size is half of a normal call, all other statuses are noted."""
    for name, normal, least in ('query-tcp', True, 3), ('refusals', False, 6):
        scenario, frames = read(name, SCENARIOS[name])
        found = [n for n, (m,) in scenario.frames.items() if m.kind == 'response' and m.status not in (0, None) and (m.status == 8) == normal]
        assert len(found) >= least
        assert all(frames[n].experts == ([] if normal else ['pcq.expert.call_failed']) for n in found)


def test_the_captures_hold_every_operation_both_ways():
    """What is claimed above: each transport and transfer syntax carries all operations that a query needs."""
    for name in QUERIES:
        seen = {(m.opnum, m.kind) for ms in SCENARIOS[name]().frames.values() for m in ms}
        assert {(o, k) for o in range(3, 8) for k in ('request', 'response')} <= seen, name
    seen = {(m.opnum, m.kind) for make in SCENARIOS.values() for ms in make().frames.values() for m in ms}
    assert seen == {(o, k) for o in range(8) for k in ('request', 'response')}


def test_handle_is_the_same_bytes_in_every_representation(read):
    """A filter for a handle finds it whatever the data representation."""
    shown = {}
    for name in ('query-tcp', 'query-tcp-big-endian', 'query-tcp-ndr64', 'query-smb-big-endian-trailer'):
        _, frames = read(name, SCENARIOS[name])
        shown[name] = {f.show for frame in frames.values() for f in frame.all('pcq.handle')} - {':'.join(['00'] * 20)}
    assert len(set.union(*shown.values())) == 1, shown


def test_json_has_fields_alone(tshark):
    """-T json: all that is shown has a field's name, none is a text alone."""
    def keys(pairs):
        for key, value in pairs:
            yield key
            if isinstance(value, list):
                yield from keys(v for v in value if isinstance(v, (list, tuple)) and len(v) == 2)
    shown = [key for packet in tshark.json(PLAIN / 'query-tcp.pcap') for key in keys(packet) if 'pcq.' in key]
    assert len(shown) > 1000 and not [key for key in shown if ' ' in key]
