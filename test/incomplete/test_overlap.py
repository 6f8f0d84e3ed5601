# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls that overlap. The server does what it is asked at some moment between request and response; the model knows when. What
is shown without a mark has to be so."""

import pytest

from gen import buffers, stubs
from gen.scene import Scene, tcp_line
from gen.story import Server, answers, ask, counter, learn, multiple
from gen.stubs import CLOSE, DATA, INFO, OPEN, VALIDATE
from learned import one, read
from test_sound import backward, gauge, lossy, three_counters

ASSUMED = 'pcq.expert.order_assumed'


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
        self.line.scene.expect(frame, self.line.message(self.opnum, 'response', self.stub, self.record['response'], self.record))


class Monitor:
    """Connections to one server, and the query of one of them."""

    def __init__(self, scene, connections=1, held=(1, 2, 3), info=True, **how):
        self.set = gauges()
        model = Server([self.set])
        self.lines = [tcp_line(scene, model, client_port=50001 + i, **how) for i in range(connections)]
        client = self.lines[0].client()
        learn(client, self.set)
        self.handle = client.open()
        client.validate(self.handle, [ask(self.set, i, 'a') for i in held])
        if info:
            client.info(self.handle)
        self.client = client

    def ask(self, what, connection=0):
        """'D', 'I', 'C' (closes), 'A4' (adds), 'R1' (removes); 'O' opens another"""
        line = self.lines[connection % len(self.lines)]
        if what in 'DIC':
            return Call(line, {'D': DATA, 'I': INFO, 'C': CLOSE}[what], hQuery=self.handle, dwInSize=9999)
        if what == 'O':
            return Call(line, OPEN, szMachine='\\\\SRV01')
        data = buffers.identifiers([ask(self.set, int(n), 'a') for n in what[1:]])
        return Call(line, VALIDATE, hQuery=self.handle, lpData=data, dwAdd=int(what[0] == 'A'))

    def run(self, steps):
        """'D? R1? R1! D!': ? asks, * does, ! answers, x refuses; a call that nobody did before its answer is done then. ?/1 asks on the other
        connection."""
        calls = {}
        for step in steps.split():
            step, connection = (step[:-2], 1) if step.endswith('/1') else (step, 0)
            name, how = step[:-1], step[-1]
            if how == '?':
                calls[name] = self.ask(name.split('.')[0], connection)
            elif how == '*':
                calls[name].do()
            elif how == 'x':
                self.lines[0].rpc.call_id = calls.pop(name).id
                self.lines[0].rpc.fault(5)
            elif how == '!':
                call = calls.pop(name)
                if not hasattr(call, 'stub'):
                    call.do()
                call.answer()


def shown(frame):
    return [one(v, 'pcq.path') for v in frame.values]


def truth(message):
    return [v['path'] for v in message.record['values']]


# steps -> for each answer: right ('+'), assumed ('?'), or nothing said ('-'); a later look takes what QueryCounterInfo told behind it
CASES = {
    # asked before a counter took another's place, answered after it
    'a-change-of-as-many': ('D? D* R1? R1! A4? A4! D! D.2? D.2!', '-?'),
    'the-same-done-late': ('D? R1? R1! A4? A4! D! D.2? D.2!', '-?'),
    # the number of blocks proves which side of an addition it is
    'before-an-addition': ('D? D* A4? A4! D! I? I! D.2? D.2!', '++'),
    'behind-an-addition': ('D? A4? A4! D! I? I! D.2? D.2!', '?+'),
    'behind-a-removal-of-all-but-one': ('D? R23? R23! D! D.2? D.2!', '++'),
    'an-addition-without-an-answer-yet': ('D? D* A4? D! A4! I? I! D.2? D.2!', '++'),
    'done-but-not-answered': ('D? A4? A4* D! A4! I? I! D.2? D.2!', '-+'),
    # what a change overlaps teaches nothing
    'info-of-before': ('I? I* R1? R1! A4? A4! I! D? D! I.2? I.2! D.2? D.2!', '?+'),
    'info-within': ('R1? R1* I? I* A4? A4* R1! A4! I! D? D! I.2? I.2! D.2? D.2!', '?+'),
    'a-closing-behind-an-opening-that-failed': ('O? Ox D? D* C? D! C!', '+'),
    'nothing-overlaps': ('D? D! A4? A4! I? I! D.2? D.2!', '++'),
}


@pytest.mark.parametrize('connections', [1, 2], ids=['one-connection', 'two-connections'])
@pytest.mark.parametrize('case', CASES)
def test_as_of_when(tshark, tmp_path, case, connections, two_pass):
    scene = Scene()
    steps, said = CASES[case]
    if connections == 2:        # all changes on the other one
        steps = ' '.join(s + '/1' if s[0] in 'AR' and s[-1] == '?' else s for s in steps.split())
    Monitor(scene, connections).run(steps)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    got = ''.join('-' if not any(shown(frames[n])) else '?' if ASSUMED in frames[n].experts else '+' if shown(frames[n]) == truth(m) else 'false'
                  for n, m in answers(scene))
    assert got == (said.replace('?', '+') if two_pass and 'I' in steps[steps.index('D'):] else said)


def removal_under_way():
    """The server has done it when the next sample is asked for, and has not answered it yet."""
    scene = Scene()
    Monitor(scene).run('R1? R1* D? D! R1!')
    return scene


def removal_without_an_answer():
    s, scene = gauge(), Scene()
    c = lossy(scene, Server([s], order=backward), (VALIDATE, 'response', 1))
    h = three_counters(c, s)
    c.validate(h, [ask(s, 1, 'a')], add=False)
    c.data(h, 9999)
    return scene


@pytest.mark.parametrize('make', [removal_under_way, removal_without_an_answer])
def test_what_a_query_holds_while_it_may_change(tshark, tmp_path, make, two_pass):
    """The request of the last sample lists Counter 1, which the query does not hold any more: as far as is known. Before the change, and at its
    own request, all is known."""
    frames = read(tshark, make(), tmp_path, two_pass=two_pass)
    known = {n: 'as far as is known' not in x.label for n, f in frames.items() for x in f.all('pcq.query')}
    last = [n for n in known if frames[n].all('pcq.in_size')][-1]
    assert known[last] is False and all(known[n] for n in known if n < last)
