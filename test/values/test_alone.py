# SPDX-License-Identifier: GPL-2.0-or-later
"""What is worked out only where somebody asks for it: a field that is asked for alone shows what it shows among all others."""

import pytest

from gen import hkpd_scenario
from gen.scripted import Server, ask, begin, counter, run, seconds, single
from gen.every_type import every_type, together

FIELDS = ['pcq.' + name for name in '''path cooked cooked.none value value.text value.raw sample.previous
          sample.interval learned_in'''.split()] + ['hkpd.counter.type', 'pcq.counter.type.kind']


@pytest.fixture(scope='module')
def capture(tmp_path_factory):
    """Values of every type of both protocols."""
    types = every_type(False)
    odd = single('Odd', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Five bytes', lambda at, k: b'12345'))
    asked, shown = together(types, 6)
    scenario, c = begin(Server([types, odd], clock=seconds(9), shows=shown), types, odd)
    run(c, [*asked, ask(odd, 1)], 2)
    talk = hkpd_scenario.Talk(scenario, [hkpd_scenario.every_type()], client_port=50009)
    talk.open()
    talk.titles()
    talk.sample()
    talk.sample()
    return scenario.write(tmp_path_factory.mktemp('alone') / 'a.pcap')


def test_a_filter_of_one_field(tshark, capture):
    """With -T fields Wireshark shows a whole tree to whoever looks, behind a filter only what that asks for."""
    whole = tshark.fields(capture, ['frame.number', 'hkpd.version', *FIELDS])
    for i, field in enumerate(FIELDS):
        out, _ = tshark.run('-r', capture, '-o', 'gui.column.format:"No.","%m"', '-Y', field)
        there = [(row[0], row[1] != '') for row in whole if row[2 + i]]
        assert out.split() == [n for n, _ in there] and {is_hkpd for _, is_hkpd in there} == {field.startswith('hkpd'), True}, field
