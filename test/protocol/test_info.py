# SPDX-License-Identifier: GPL-2.0-or-later
"""The Info column tells the scenario without opening the tree."""

import re

import pytest

from conftest import TOP
from gen.hkpd_block import Counter, Instance, Object
from gen.hkpd_scenario import begin_talk
from gen.model import TYPES
from gen.scenario import Scenario, tcp_line
from gen.scenarios import SCENARIOS
from gen.stubs import DATA, ENUMERATE, INFO, INSTANCES, REG_INFO, VALIDATE
from gen.scripted import Server, ask, counter, learn, single, capture_talk
from series import series

PLAIN = TOP / 'test' / 'pcaps' / 'plain'
NAMES = ['query-tcp', 'query-smb', 'query-tcp-big-endian-ndr64', 'browse-every-type', 'browse-sorts-of-sets', 'refusals']


@pytest.fixture(scope='module', params=[[], ['-2']], ids=['one-pass', 'two-pass'])
def scenarios(tshark, request):
    """[(where, message, Info)] of all messages that stand alone in their frame"""
    out = []
    for name in NAMES:
        info = tshark.info(PLAIN / (name + '.pcap'), *request.param)
        for number, messages in SCENARIOS[name]().frames.items():
            if len(messages) == 1:
                out.append(('%s frame %d' % (name, number), messages[0], info[number]))
    return out


def values(message, name):
    return [f.value for f in message.fields if f.name == name]


def test_size_probe_says_what_is_needed(scenarios):
    probes = [(w, m, i) for w, m, i in scenarios if m.kind == 'response' and m.status == 8]
    assert len(probes) > 50
    for where, m, info in probes:
        unit = 'GUIDs' if m.opnum == ENUMERATE else 'bytes'
        assert 'needs %d' % values(m, 'pcq.rtn_size')[0] in info and unit in info, (where, info)
        assert 'NOT_ENOUGH' not in info, (where, info)
    asked = [(m, i) for _, m, i in scenarios if m.kind == 'request' and m.opnum == ENUMERATE]
    assert asked and all('buffer size: %d GUID' % values(m, 'pcq.in_size')[0] in i for m, i in asked), asked


def test_registration_request_says_what_it_asks(scenarios):
    words = {1: 'COUNTERSET', 2: 'COUNTER', 3: 'COUNTERSET_NAME', 4: 'COUNTERSET_HELP', 5: 'COUNTER_NAME', 6: 'COUNTER_HELP',
             7: 'PROVIDER_NAME', 8: 'PROVIDER_GUID', 9: 'COUNTERSET_ENGLISH_NAME', 10: 'COUNTER_ENGLISH_NAMES'}
    seen = set()
    for where, m, info in scenarios:
        if m.opnum == REG_INFO and m.kind == 'request' and m.record['parameters']['RequestCode'] in words:
            seen.add(m.record['parameters']['RequestCode'])
            assert words[m.record['parameters']['RequestCode']] in info, (where, info)
    assert seen == set(words)


def test_counter_data_counts(scenarios):
    count = 0
    for where, m, info in scenarios:
        if m.opnum == DATA and m.kind == 'response' and m.status == 0 and values(m, 'pcq.value'):
            n = len(m.record['values'])
            assert '%d values' % n in info or '%d more' % (n - 1) in info, (where, info)
            count += 1
    assert count > 5


def test_lists_say_how_many(scenarios):
    lists, seen = {ENUMERATE: 'pcq.counterset.guid', INSTANCES: 'pcq.instance.id', INFO: 'pcq.identifier.size'}, set()
    for where, m, info in scenarios:
        count = len(values(m, lists.get(m.opnum)))
        if m.kind == 'response' and m.status == 0 and m.opnum in lists and (count or m.opnum != INFO):
            seen.add(m.opnum)
            assert str(count) in info, (where, info)
    assert seen == set(lists)


def test_info_begins_with_a_value_of_the_first_block(tshark):
    scenario, path, results = SCENARIOS['query-tcp'](), PLAIN / 'query-tcp.pcap', 0
    info = tshark.info(path)
    for a in series(scenario):
        if len(scenario.frames[a.frame]) == 1:
            head = a.values[0]      # the block has one
            said = re.search(r' response, query 1: (.*?) = (\S+)', info[a.frame])
            assert said[1] == head.path.removeprefix('\\\\SRV01')
            if head.cooked is None:
                assert '(raw; first sample)' in info[a.frame]
            else:
                assert float(said[2].replace(',', '')) == pytest.approx(head.cooked, rel=0.005, abs=0.05)
                results += 1
    assert results > 2


@pytest.mark.parametrize('total', [True, False])
def test_info_shows_one_instance_from_packet_to_packet(tshark, tmp_path, total):
    """Of an object whose instances come and go: _Total, which Windows writes last, else the first sample's first one. Bases are nobody's."""
    def instances(at):
        names = ['new%d' % n for n in range(6)] * (at.number % 2) + ['Idle'] + ['p%d' % n for n in range(40)]
        return [Instance(n) for n in names + ['_Total'] * total]
    counters = [Counter(5002, 'Base', TYPES['PERF_RAW_BASE'], lambda at, k: 9, 4), Counter(5004, 'Work', TYPES['PERF_COUNTER_RAWCOUNT'], lambda at, k: 7, 4)]
    scenario, talk = begin_talk(objects=[Object(5000, 'Set', counters, instances)])
    numbers = [talk.sample()[1] for _ in range(5)]
    for passes in ([], ['-2']):
        info = tshark.info(scenario.write(tmp_path / 'a.pcap'), *passes)
        assert all(': \\Set(%s)\\Work = 7, ' % ('_Total' if total else 'Idle') in info[n] for n in numbers), info


@pytest.mark.parametrize('refused, more', [(1, ''), (5, ', 4 more')])
def test_the_first_refusal_is_named_and_the_others_are_counted(tshark, tmp_path, refused, more):
    """Control characters of names do not reach a terminal."""
    s = single('Small\x1b\u202e', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Things', [1]))
    scenario = capture_talk(Server([s]), lambda c: (learn(c, s), c.validate(c.open(), [ask(s, 10 + i) for i in range(refused)])))
    number, = [n for n, there in scenario.frames.items() if (there[0].opnum, there[0].kind) == (VALIDATE, 'response')]
    info = tshark.info(scenario.write(tmp_path / 'a.pcap'))[number]
    assert info.startswith('ValidateCounters response, %d refused: \\Small\\033\\u202E\\#10 (ERROR_WMI_ITEMID_NOT_FOUND)%s, query 1, ' % (refused, more))


@pytest.mark.parametrize('shift', range(4))
def test_a_long_one_ends_with_a_whole_character(tshark, tmp_path, shift):
    """The column has 4,095 bytes; letters of four bytes end in each of them in turn."""
    scenario = Scenario()
    tcp_line(scenario, Server([])).client(machine='x' * shift + '🚦' * 1020).open()
    done = tshark.start('-r', scenario.write(tmp_path / 'a.pcap'), '-T', 'json', '-e', '_ws.col.Info')
    longest = max(done.stdout.split(b'\n'), key=len).strip().strip(b'"')
    assert 4000 < len(longest) < 4096
    longest.decode()
