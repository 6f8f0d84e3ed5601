# SPDX-License-Identifier: GPL-2.0-or-later
"""Random sessions of clients with a server, of which each value tells by itself whose it is.

A value of object number o is o * SPAN + speed(o) * t, with t the server's tick: whatever is shown beside it can be judged by the
value alone. An object is a counter of an instance as the server knows it: instances of one name and id are different objects.

A session is a list of steps, made from a seed, each of which can be left out: so a session that shows a fault shrinks to the
shortest that does.
"""

import random
import uuid
from typing import NamedTuple

from . import buffers, stubs
from .hkpd_block import Counter as Column
from .hkpd_block import Instance as Row
from .hkpd_block import Object
from .hkpd_scenario import Talk
from .model import NAMESPACE, TYPES
from .scenario import tcp_line
from .scripted import NONE, Server, ask, counter, learn, multiple, seconds
from .stubs import CLOSE, DATA, INFO, OPEN, VALIDATE

SPAN = 10 ** 12
DELTA = 'PERF_COUNTER_LARGE_DELTA'
SHARED = 'svc'
NAMES = ['one', 'two', 'three', '_Total']
COUNTERS = {1: 'First', 2: 'Second', 3: 'Third', 4: 'Fourth'}
MOST_TICKS = 400


class Thing(NamedTuple):
    """An object."""
    server: str
    counterset: str
    counter: str
    instance: str


class Network:
    """All objects of all sessions of a capture."""

    def __init__(self):
        self.things, self.numbers = [None], {}

    def number(self, thing, which):
        """which: tells apart what has equal names"""
        key = thing, which
        if key not in self.numbers:
            self.numbers[key] = len(self.things)
            self.things.append(thing)
        return self.numbers[key]

    def value(self, thing, which, tick):
        number = self.number(thing, which)
        return number * SPAN + speed(number) * tick


def speed(number):
    """No two sums of few of them are alike."""
    return 1009 + number * 7919


def whose(raw):
    return raw // SPAN


class Crowd:
    """Instances that come and go. Names but SHARED are given once, and who was alone with that one stays: where one instance takes
    another's place under a name that nobody else has, no capture could tell."""

    def __init__(self, pick, ids, again=False):
        """again: names are given out again, and anybody goes, for ids of their own tell them apart"""
        self.pick, self.ids, self.now, self.made, self.past, self.stays, self.again = pick, ids, [], 0, [], set(), again
        self.names = list(NAMES)
        for _ in range(pick.randint(1, 5)):
            self.come()

    def come(self):
        if self.again and self.pick.random() < .3:
            self.names = [n for n in NAMES if n not in (x[1] for x in self.now)]
        name = self.names.pop() if self.names and self.pick.random() < .3 else SHARED
        number = {'own': self.made + 5, 'none': 0, 'some': 0 if name == SHARED else self.made + 5}[self.ids]
        self.now.insert(self.pick.randint(0, len(self.now)), (number, name, self.made))
        self.made += 1

    def go(self):
        out = self.pick.choice(self.now)
        if (self.again or out not in self.stays) and len(self.now) > 1:
            self.now.remove(out)

    def at(self, tick):
        """[(id, name, which)] of a tick; ticks are asked for in order, each as often as wanted."""
        while len(self.past) <= tick:
            chance = self.pick.random()
            if chance < .2:
                self.go()
            elif chance < .35:
                self.come()
            elif chance < .42:
                self.pick.shuffle(self.now)
            same = [x for x in self.now if x[1] == SHARED]
            self.stays |= set(same) if len(same) == 1 else set()
            self.past.append(list(self.now))
        return self.past[tick]


# --- PerflibV2 -------------------------------------------------------------------------------------------------------

LOST, CUT = '~', '^'    # not captured; captured up to its PDU's header


class Step(NamedTuple):
    """what: 'ask', 'do', 'answer' of a call; 'ack' on a connection."""
    what: str
    call: int
    connection: int = 0
    opnum: int = 0
    query: int = 0
    argument: tuple = ()
    gone: str = ''          # LOST or CUT


# What is special: connections that are used, what is gone of which calls. Sessions of "ports", "aliases" and "restarts" have another port, name, or life
# of the server on each connection.
KINDS = {
    'orderly': {},
    'losses': dict(gone=LOST),      # of polls
    'cut': dict(gone=CUT),
    'ports': dict(connections=[3]), 'aliases': dict(connections=[3]), 'restarts': {},
}


def steps_of(seed, kind):
    """[Step]: calls that overlap, in the order in which they are asked, done and answered."""
    pick, how = random.Random(seed), KINDS[kind]
    connections = pick.choice(how.get('connections', [1, 1, 2, 3]))
    losses = how.get('gone')
    out, waiting, number = [], [], 0
    for query in range(pick.choice([1, 1, 2])):
        out += at_once(number, Step('ask', 0, query % connections, OPEN, query))
        out += at_once(number + 1, Step('ask', 0, query % connections, VALIDATE, query, (True, *pick.sample(range(1, 9), pick.randint(1, 4)))))
        if pick.random() < .7:
            out += at_once(number + 2, Step('ask', 0, query % connections, INFO, query))
        number += 3
    depth = pick.choice([1, 1, 2, 4])
    left = pick.randint(5, 16)
    while left or waiting:
        if left and len(waiting) < depth and (not waiting or pick.random() < .5):
            left -= 1
            opnum = pick.choices([DATA, VALIDATE, INFO, CLOSE], [8, 3, 1.5, .3])[0]
            argument = (pick.random() < .5, *pick.sample(range(1, 9), pick.randint(1, 2))) if opnum == VALIDATE else ()
            query = pick.randrange(2)
            may_be_gone = losses and (losses == CUT or opnum == DATA)
            gone = losses if may_be_gone and pick.random() < .15 else ''     # request and response
            lost = gone or losses if may_be_gone and (gone or pick.random() < .07) else ''
            out.append(Step('ask', number, pick.randrange(connections), opnum, query, argument, lost))
            waiting.append([number, 'do', gone, may_be_gone])
            number += 1
            if opnum == CLOSE and pick.random() < .7:
                waiting.append([number, 'reopen', query, False])
                number += 1
        elif waiting:
            at = pick.randrange(len(waiting))
            call, state, more, may_be_gone = waiting[at]
            if state == 'do':
                out.append(Step('do', call))
                waiting[at][1] = 'answer'
            elif state == 'answer':
                out.append(Step('answer', call, gone=more or losses if may_be_gone and (more or pick.random() < .07) else ''))
                waiting.pop(at)
            else:
                out += at_once(call, Step('ask', 0, 0, OPEN, more))
                out += at_once(call + 1000, Step('ask', 0, 0, VALIDATE, more, (True, *pick.sample(range(1, 9), pick.randint(1, 3)))))
                waiting.pop(at)
        if losses and pick.random() < .1:
            out.append(Step('ack', -1, 0, pick.randrange(2)))
    return out


def at_once(call, step):
    return [step._replace(call=call), Step('do', call), Step('answer', call)]


class Session:
    """One server, its clients' connections, and the calls of the steps. life: how often it was restarted."""

    def __init__(self, network, scenario, seed, address, kind='orderly', life=0):
        pick = random.Random('%d session' % seed)
        self.machine = 'SRV%d' % seed
        self.names = [self.machine] * 3 if kind != 'aliases' else [self.machine, self.machine.lower() + '.example.com', address]
        crowd = Crowd(random.Random('%d crowd' % seed), pick.choice(['own', 'none', 'some']))

        def value(at, k, name):
            which = crowd.at(at.number)
            thing = next(x for x in which if x[2] == k)
            return network.value(Thing('|'.join(self.names), 'Work', name, thing[1]), (seed, k), at.number)
        counters = [counter(i, DELTA, n, lambda at, k, n=n: value(at, k, n)) for i, n in COUNTERS.items()]
        self.set = multiple('Work', *counters, instances=crowd.at)
        self.set.guid = str(uuid.uuid5(NAMESPACE, self.machine))
        handles = [bytes(4) + bytes([1 + i % 2 + 2 * life]) * 16 for i in range(40)]
        self.model = Server([self.set], handles=handles if pick.random() < .5 else (), clock=seconds(MOST_TICKS))
        self.model.clock.number = life * 100
        self.lines = [tcp_line(scenario, self.model, server=address, client='10.0.0.1', client_port=50001 + i + 3 * life,
                               port=49671 + i * (kind == 'ports'), mss=pick.choice([1440, 1440, 90])) for i in range(3)]
        self.scenario, self.queries, self.calls, self.cut = scenario, {}, {}, pick.randint(0, 40)
        if life == 0:
            learn(self.lines[0].client(self.machine), self.set)
        # nobody asks for one of several instances by their name: its block does not say which it is
        self.asked = {i: [ask(self.set, *identifier) for identifier in both] for i, both in enumerate(
            [[(1, '*')], [(2, '*')], [(NONE, '*')], [(1, 'one')], [(2, 'two')], [(3, 'three'), (4, '*')], [(NONE, '_Total')],
             [(4, 's*')]], 1)}

    def run(self, steps):
        for step in steps:
            getattr(self, step.what)(step)

    def ask(self, step):
        """What cannot be asked any more, since another step was left out, is left out, too."""
        line, p = self.lines[step.connection], {}
        if step.opnum == OPEN:
            p = dict(szMachine=self.names[step.connection])
        elif step.query not in self.queries:
            return
        else:
            p = dict(hQuery=self.queries[step.query])
        if step.opnum in (DATA, INFO):
            p['dwInSize'] = 99999
        elif step.opnum == VALIDATE:
            add, *which = step.argument
            asked = [x for i in which for x in self.asked[i]]
            p.update(lpData=buffers.identifiers(asked), dwAdd=int(add))
        if step.opnum == CLOSE:
            del self.queries[step.query]
        request = bytes(stubs.request(step.opnum, **p))
        self.calls[step.call] = call = dict(line=line, id=line.rpc.call_id, step=step, request=request)
        line.rpc.call_id += 1
        self.send(line, 0, line.rpc.request_pdus(step.opnum, request, call_id=call['id']), step.gone)

    def send(self, line, side, pdus, gone):
        tcp = line.rpc.transport
        if gone == LOST:
            tcp.skip(side, b''.join(pdus))
            return
        first = len(self.scenario.capture.frames) + 1
        last = (tcp.to_client if side else tcp.to_server)(pdus)
        for number in range(first, last + 1) if gone == CUT else ():
            self.scenario.capture.snap(number, 54 + (24 + self.cut) * (number == first))

    def do(self, step):
        call = self.calls.get(step.call)
        if call is None:
            return
        call['fault'], call['stub'], record = self.model.handle(call['step'].opnum, call['request'], 6)
        if call['step'].opnum == OPEN:
            self.queries[call['step'].query] = list(self.model.queries)[-1]

    def answer(self, step):
        call = self.calls.pop(step.call, None)
        if call is None:
            return
        rpc, gone = call['line'].rpc, step.gone
        if call['fault']:
            rpc.call_id, now = call['id'], rpc.call_id
            if not gone:
                rpc.fault(call['fault'])
            rpc.call_id = now
            return
        self.send(call['line'], 1, rpc.response_pdus(bytes(call['stub']), call['id']), gone)

    def ack(self, step):
        self.lines[step.connection].rpc.transport.segment(step.opnum, b'', 0x10)


# --- HKEY_PERFORMANCE_DATA -------------------------------------------------------------------------------------------

def registry(network, scenario, seed, address, left_out=()):
    """Processes and their threads. left_out: samples that are not made, for shrinking."""
    first, second = 'First', 'Second'
    pick = random.Random('%d registry' % seed)
    machine = 'REG%d' % seed
    unique, own = pick.choice(['none', 'none', 'own', 'some']), pick.random() < .5
    crowd = Crowd(random.Random('%d crowd' % seed), unique, again=own or unique == 'own')

    def threads_of(at):
        """[(name, place of the process, which)]: they live as long as their process"""
        return [(str(t), i, (row[2], t)) for i, row in enumerate(crowd.at(at.number)) for t in range(1 + row[2] % 2)]

    def process(at, k):
        _, name, which = crowd.at(at.number)[k]
        return network.value(Thing(machine, 'Process', first, name), (seed, which), at.number)

    def thread(at, k):
        name, _, which = threads_of(at)[k]
        return network.value(Thing(machine, 'Thread', second, name), (seed, which), at.number)

    def processes(at):
        return [Row(n, i if unique != 'none' else -1) for i, n, _ in crowd.at(at.number)]
    columns = [Column(5006, first, TYPES[DELTA], process)]
    if own:
        columns.append(Column(784, 'ID Process', TYPES['PERF_COUNTER_RAWCOUNT'], lambda at, k: 400 + 4 * crowd.at(at.number)[k][2], 4))
    objects = [Object(230, 'Process', columns, processes),
               Object(232, 'Thread', [Column(5008, second, TYPES[DELTA], thread)],
                      lambda at: [Row(n, parent=(230, i)) for n, i, _ in threads_of(at)])]

    talk = Talk(scenario, objects=objects, server=address, client='10.0.0.1', system=machine)
    talk.open()
    talk.titles()
    for n in range(pick.randint(3, 9)):
        only, lost = pick.choice([None, None, [230]]), pick.random() < .1
        if n not in left_out and not lost:
            talk.sample(only=only)
        else:
            talk.clock.tick()
