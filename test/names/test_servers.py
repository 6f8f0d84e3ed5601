# SPDX-License-Identifier: GPL-2.0-or-later
"""A server is an address: all its ports, names and clients share what it sent. Two computer names behind one address make its titles
assumed."""

import pytest

from gen.hkpd_block import Counter, Object
from gen.hkpd_scenario import Talk
from gen.model import TYPES
from gen.scenario import Scenario, tcp_line
from gen.scripted import Server, ask, counter, learn, multiple, run
from series import long_rows

RAW = 'PERF_COUNTER_RAWCOUNT'


def talk_of(scenario, system, port, **how):
    """A client of HKEY_PERFORMANCE_DATA: an object of its own, and one whose titles every Windows has."""
    objects = [Object(5000, 'Set', [Counter(5002, 'Apples', TYPES[RAW], lambda at, k: 1, 4)]),
               Object(2, 'System', [Counter(44, 'Processor Queue Length', TYPES[RAW], lambda at, k: 1, 4)])]
    talk = Talk(scenario, objects=objects, system=system, client_port=port, **how)
    talk.handles = port
    talk.open()
    talk.titles()
    return talk


@pytest.mark.parametrize('second, is_shared', [('TWO', True), ('one', False), ('', False), ('ONE.', True)])
def test_two_computer_names_make_titles_assumed(tshark, tmp_path, second, is_shared, two_pass):
    """Those that every Windows has alike stay as they are. The response that has another name than the first says both."""
    scenario = Scenario()
    for port, name in enumerate(('ONE', second, 'ONE'), 50001):
        talk = talk_of(scenario, name, port)
        talk.sample()
    s = multiple('Fruit', counter(1, RAW, 'Pears', [1]))      # names of PerflibV2 have GUIDs, the same on each computer
    c = tcp_line(scenario, Server([s], handles=[talk.handle]), client_port=50004).client()
    learn(c, s)
    run(c, [ask(s, 1, 'a')], 1)
    talk.sample()       # of a key that is no query, though its bytes are
    path, passes = scenario.write(tmp_path / 'a.pcap'), ['-2'] * two_pass
    rows = long_rows(tshark.run('-q', '-r', path, '-z', 'pcq,long,-', *passes)[0])
    pears = rows.pop(6)
    assert [r['counter'] for r in rows] == ['Apples', 'Processor Queue Length'] * 4 and rows[-1]['query'] == rows[4]['query'] != rows[0]['query']
    first = 0 if two_pass else 1        # nobody knows yet that there is another
    assert [r['assumed'] for r in rows] == [str(int(is_shared and n >= first)) if c == 'Apples' else '0'
                                            for n in range(4) for c in ('Apples', 'System')] and pears['assumed'] == '0'
    found = tshark.fields(path, ['frame.number', '_ws.expert.message'], '-Y', 'pcq.expert.systems', *passes)
    assert [f for f, _ in found] == [rows[2]['frame']] * is_shared
    assert all(second in text and 'ONE' in text for _, text in found)
