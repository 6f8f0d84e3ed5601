# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls that overlap. The server does what it is asked at some moment between request and response; the model knows when. What
is shown without a mark has to be so; what overlaps a change is marked."""

import pytest

from gen import buffers, stubs
from gen.scenario import Scenario, tcp_line
from gen.scripted import Server, ask, counter, learn, multiple
from gen.stubs import DATA, INFO, VALIDATE
from learned import marks, read


def gauges():
    """Counter i counts 1,000 i and something, and i + 1 more in each sample."""
    return multiple('Set', *[counter(i, 'PERF_COUNTER_DELTA', 'Counter %d' % i, lambda at, k, i=i: 1000 * i + (i + 1) * at.number)
                             for i in range(1, 7)])


class Call:
    """One that is asked, done and answered at moments of its own."""

    def __init__(self, line, opnum, **p):
        self.line, self.opnum, self.id = line, opnum, line.rpc.call_id
        self.request = stubs.request(opnum, **p)
        line.rpc.call_id += 1
        line.rpc.transport.to_server(line.rpc.request_pdus(opnum, bytes(self.request), call_id=self.id))

    def do(self):
        _, self.stub, self.record = self.line.model.handle(self.opnum, bytes(self.request), 6)
        return self

    def answer(self):
        frame = self.line.rpc.transport.to_client(self.line.rpc.response_pdus(self.stub, self.id))
        self.line.scenario.expect(frame, self.line.message(self.opnum, 'response', self.stub, self.record['response'], self.record))


class Monitor:
    """A query of three counters, which QueryCounterInfo told."""

    def __init__(self, scenario, info=True, **how):
        self.set = gauges()
        self.line = tcp_line(scenario, Server([self.set]), **how)
        client = self.line.client()
        learn(client, self.set)
        self.handle = client.query([ask(self.set, i, 'a') for i in (1, 2, 3)], info=info)

    def ask(self, what):
        """'D', 'I', 'A4' (adds), 'R1' (removes)"""
        if what in 'DI':
            return Call(self.line, {'D': DATA, 'I': INFO}[what], hQuery=self.handle, dwInSize=9999)
        data = buffers.identifiers([ask(self.set, int(n), 'a') for n in what[1:]])
        return Call(self.line, VALIDATE, hQuery=self.handle, lpData=data, dwAdd=int(what[0] == 'A'))

    def run(self, steps):
        """'D? R1? R1! D!': ? asks, * does, ! answers; a call that nobody did before its answer is done then."""
        calls = {}
        for step in steps.split():
            name, how = step[:-1], step[-1]
            if how == '?':
                calls[name] = self.ask(name.split('.')[0])
            elif how == '*':
                calls[name].do()
            else:
                call = calls.pop(name)
                if not hasattr(call, 'stub'):
                    call.do()
                call.answer()


# steps -> for each answer, in one pass and in two: right ('+'), assumed ('?'), or nothing said ('-')
CASES = {
    'a-change-of-as-many': ('D? D* R1? R1! A4? A4! D! I? I! D.2? D.2!', '?+', '?+'),
    'before-an-addition': ('D? D* A4? A4! D! I? I! D.2? D.2!', '?+', '?+'),
    'behind-an-addition': ('D? A4? A4! D! I? I! D.2? D.2!', '?+', '?+'),
    'behind-a-removal-of-all-but-one': ('D? R23? R23! D! D.2? D.2!', '?+', '?+'),
    'an-addition-without-an-answer-yet': ('D? D* A4? D! A4! I? I! D.2? D.2!', '?+', '?+'),
    'done-but-not-answered': ('D? A4? A4* D! A4! I? I! D.2? D.2!', '?+', '?+'),
    # without an answer, ever: as many blocks as without the change, or with all of it
    'a-removal-without-an-answer': ('R1? R1* D? D! D.2? D.2! I? I! D.3? D.3!', '??+', '?++'),
    'a-removal-that-was-not-done': ('R1? D? D! I? I! D.2? D.2!', '?+', '?+'),
    # what tells while the query changes tells nothing of it
    'info-of-before': ('I? I* R1? R1! A4? A4! I! D? D! I.2? I.2! D.2? D.2!', '?+', '++'),
    'an-answer-behind-what-settled-it': ('R1? R1* I? I! D? D! R1! D.2? D.2!', '++', '++'),
    'an-addition-that-is-refused': ('A9? A9! D? D!', '+', '+'),
    'without-info': ('D? D! D.2? D.2* A4? A4! D.2! D.3? D.3!', '???', '???'),     # the order before and behind an addition
    'nothing-overlaps': ('D? D! A4? A4! I? I! D.2? D.2!', '++', '++'),
}


@pytest.mark.parametrize('case', CASES)
def test_what_a_change_overlaps(tshark, tmp_path, case, two_pass):
    scenario = Scenario()
    steps, *said = CASES[case]
    Monitor(scenario, case != 'without-info').run(steps)
    assert marks(read(tshark, scenario, tmp_path, two_pass=two_pass), scenario) == said[two_pass]
