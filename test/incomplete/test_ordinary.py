# SPDX-License-Identifier: GPL-2.0-or-later
"""Ordinary captures keep what they teach: polls and others' calls that were not captured, several clients, restarts, ports and aliases
leave each value its name and its result, and none is assumed."""

import random

import pytest

from gen.hkpd_block import Counter, Instance, Object
from gen.hkpd_scenario import Talk
from gen.model import TYPES
from gen.scenario import SECOND, Scenario, tcp_line
from gen.scripted import Clock, Server, ask, counter, learn, multiple
from series import long_rows

BULK, POLLS = 'PERF_COUNTER_BULK_COUNT', 200
RATES = {'Things/sec': 2, 'Parts/sec': 20}      # of the first instance, in counts of 100 ns; one more for each other
NAMES = ['a', 'b']


def value_of(name):
    """A rate that is the same between any two samples."""
    return lambda at, k: (RATES[name] + k) * at.stamp


class Pcq:
    """A server of PerflibV2 on dynamic ports."""

    def __init__(self, scenario):
        self.scenario, self.address = scenario, '192.0.2.20'
        self.set = multiple('Set', *(counter(i, BULK, name, value_of(name)) for i, name in enumerate(RATES, 1)), instances=NAMES)
        self.start()

    def start(self):
        self.model = Server([self.set], scenario=self.scenario, boot=self.scenario.capture.now - 100 * SECOND)

    def monitor(self, client_port, called='SRV01', learns=True, **line):
        """-> a poll"""
        c = tcp_line(self.scenario, self.model, client_port=client_port, **line).client('\\\\' + called)
        if learns:
            learn(c, self.set)
        h = c.query([ask(self.set, i, '*') for i in (1, 2)])
        return lambda: c.data(h, 9999)


class Hkpd:
    """A server of HKEY_PERFORMANCE_DATA."""

    def __init__(self, scenario):
        self.scenario, self.address, self.handles = scenario, '192.0.2.30', 0
        self.objects = [Object(6000, 'Set', [Counter(6002 + 2 * i, name, TYPES[BULK], value_of(name), 8) for i, name in enumerate(RATES)],
                               lambda at: [Instance(x) for x in NAMES])]
        self.start()

    def start(self):
        self.boot = self.scenario.capture.now - 100 * SECOND

    def monitor(self, client_port, called='SRV01', learns=True, **line):
        talk = Talk(self.scenario, objects=self.objects, server=self.address, client_port=client_port, smb=True, called=called, **line)
        talk.clock, talk.handles = Clock(self.scenario.capture, self.boot), self.handles
        self.handles += 1
        talk.open()
        if learns:
            talk.titles()
        return lambda: talk.sample()


def poll(scenario, monitors, count=POLLS, lost=lambda n, monitor: False, every=SECOND):
    """Each monitor in turn; a poll that is lost was made, and not captured."""
    for n in range(count):
        for number, monitor in enumerate(monitors):
            first, scenario.capture.now = len(scenario.capture.frames), scenario.capture.now + every // len(monitors)
            monitor()
            if lost(n, number):
                del scenario.capture.frames[first:]


def lost_at_random(share, burst=1):
    """So many of 100 polls, `burst` of them in a row."""
    pick = random.Random(share * 10 + burst)
    begins = [[pick.random() < share / 100 / burst for _ in range(POLLS)] for _ in range(8)]
    return lambda n, monitor: 0 < n < POLLS - 1 and any(begins[monitor][max(n - burst + 1, 1):n + 1])


def losses(share, burst=1, clients=1):
    def play(scenario, server):
        poll(scenario, [server.monitor(50001 + i) for i in range(clients)], lost=lost_at_random(share, burst))
    return play


def restarts_of_the_server(scenario, server):
    for port in range(50001, 50004):
        poll(scenario, [server.monitor(port)], 20)
        server.start()


def behind_one_address(scenario, server):
    """Three clients come from one address; one of them stops."""
    monitors = [server.monitor(50001 + i, client='198.51.100.7') for i in range(3)]
    poll(scenario, monitors, 20)
    poll(scenario, monitors[:2], 20)


def other_ports(scenario, server):
    """The service has another dynamic port each time; who comes later asks for no names."""
    for n, port in enumerate((49671, 49702, 49800)):
        poll(scenario, [server.monitor(50001 + n, learns=n == 0, **dict(port=port) if isinstance(server, Pcq) else {})], 10)


def aliases(scenario, server):
    for n, name in enumerate((server.address, 'SRV01', 'files.example.com', 'FILES')):
        poll(scenario, [server.monitor(50001 + n, name, learns=n == 0)], 10)


def others_lists(gone):
    """Another client asks for the names, and the answers are lost, or cut by the snapshot length."""
    def play(scenario, server):
        first = server.monitor(50001)
        poll(scenario, [first], 10)
        for n in range(3):
            frames, before = scenario.capture.frames, len(scenario.capture.frames)
            other = server.monitor(50002 + n)
            for number in range(before + 1, len(frames) + 1):
                if len(frames[number - 1][1]) > 500:
                    scenario.capture.snap(number, 150)
            if gone:
                del frames[before + 8:-2]
            poll(scenario, [first], 10)
            del other
    return play


def others_calls_lost(scenario, server):
    """Three polls of another client, or what it did beside them."""
    monitors = [server.monitor(50001), server.monitor(50002, client='192.0.2.99')]
    poll(scenario, monitors, 40, lost=lambda n, monitor: monitor == 1 and n in (10, 11, 25))


KINDS = {
    **{'%d of 100 lost' % share: losses(share) for share in (1, 3, 5)},
    **{'%d of 100 lost, three at once' % share: losses(share, 3) for share in (3, 5)},
    'three clients': losses(0, clients=3), 'three clients, 3 of 100 lost': losses(3, clients=3),
    'restarts of the server': restarts_of_the_server,
    'behind one address': behind_one_address, 'other ports': other_ports, 'aliases': aliases,
    'lists of others are lost': others_lists(True), 'lists of others are cut': others_lists(False),
    'calls of others are lost': others_calls_lost,
}


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('protocol', [Pcq, Hkpd])
def test_ordinary_captures_keep_what_they_teach(tshark, tmp_path, protocol, kind, passes):
    KINDS[kind](scenario := Scenario(), protocol(scenario))
    rows = long_rows(tshark.run('-q', '-r', scenario.write(tmp_path / 'a.pcap'), '-z', 'pcq,long,-', *passes)[0])
    assert len(rows) >= 80
    assert {(r['counterset'], r['instance'], r['counter']) for r in rows} == {('Set', i, c) for i in NAMES for c in RATES}
    seen = set()
    for r in rows:
        series = r['query'], r['server'], r['path']
        wanted = (RATES[r['counter']] + NAMES.index(r['instance'])) * 1e7
        assert (float(r['result']) == pytest.approx(wanted)) if series in seen else r['reason'].startswith('first sample'), r
        seen.add(series)
    assert {r['assumed'] for r in rows} == {'0'}
