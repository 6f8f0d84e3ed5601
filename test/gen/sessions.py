# SPDX-License-Identifier: GPL-2.0-or-later
"""Random sessions of clients with a server, of which each value tells by itself whose it is.

A value of object number o is o * SPAN + speed(o) * t, with t the server's tick: whatever is shown beside it can be judged by the
value alone. An object is a counter of an instance as the server knows it: instances of one name and id are different objects.

A session is a list of steps, made from a seed, each of which can be left out: so a session that shows a fault shrinks to the
shortest that does.
"""

import random
import re
import uuid
from typing import NamedTuple

from . import buffers, stubs
from .hkpd_block import Counter as Column
from .hkpd_block import Instance as Row
from .hkpd_block import Object
from .hkpd_scene import Talk
from .model import ENGLISH, GERMAN, NAMESPACE, TYPES
from .pcap import Rpc, SealedRpc
from .scene import tcp_line
from .story import NONE, Server, ask, counter, learn, multiple, seconds
from .stubs import CLOSE, DATA, INFO, OPEN, VALIDATE

SPAN = 10 ** 12
DELTA = 'PERF_COUNTER_LARGE_DELTA'
SHARED = 'svc'
NAMES = ['one', 'two', 'three', '_Total']
OWN = 5             # the counter that is a process' own id
COUNTERS = {1: 'First', 2: 'Second', 3: 'Third', 4: 'Fourth'}
MOST_TICKS = 400
END = object()


class Thing(NamedTuple):
    """An object."""
    server: str
    counterset: str
    counter: str
    instance: str


class World:
    """All objects of all sessions of a capture."""

    def __init__(self):
        self.things, self.numbers = [None], {}
        self.silent = []        # [first, last] frame in which a server talks that has not said yet what it is, or what its counters are
        self.begun = 0          # the frame until which one says what it is first: where that is lost, nobody knows that it is another later

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


# what a capture does not show of a session
KINDS = {
    'orderly': {}, 'own-ids': {},
    'losses': dict(connections=[1], gone=LOST),
    'cut': dict(gone=CUT),
    'apart': dict(connections=[1, 2]),              # what goes in several segments or fragments is not put together
    'sealed-beside': dict(connections=[2, 3]),      # all but the first connection
    'first-calls': dict(connections=[2, 3]),        # of all but the first connection are lost
    'given-anew': dict(connections=[1, 2], gone=LOST, handles=1, opnums=[8, 3, 1, 3]),
    'equal-call-ids': dict(connections=[1, 2]),
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
            opnum = pick.choices([DATA, VALIDATE, INFO, CLOSE], how.get('opnums', [8, 3, 1.5, .3]))[0]
            argument = (pick.random() < .5, *pick.sample(range(1, 9), pick.randint(1, 2))) if opnum == VALIDATE else ()
            query = pick.randrange(2)
            gone = losses if losses and pick.random() < .15 else ''     # request and response
            lost = gone or losses if losses and (gone or pick.random() < .07) else ''
            out.append(Step('ask', number, pick.randrange(connections), opnum, query, argument, lost))
            waiting.append([number, 'do', gone])
            number += 1
            if opnum == CLOSE and pick.random() < .7:
                waiting.append([number, 'reopen', query])
                number += 1
        elif waiting:
            at = pick.randrange(len(waiting))
            call, state, more = waiting[at]
            if state == 'do':
                out.append(Step('do', call))
                waiting[at][1] = 'answer'
            elif state == 'answer':
                out.append(Step('answer', call, gone=more or losses if losses and (more or pick.random() < .07) else ''))
                waiting.pop(at)
            else:
                out += at_once(call, Step('ask', 0, 0, OPEN, more))
                out += at_once(call + 1000, Step('ask', 0, 0, VALIDATE, more, (True, *pick.sample(range(1, 9), pick.randint(1, 3)))))
                waiting.pop(at)
        if losses and pick.random() < .1:
            out.append(Step('ack', -1, 0, pick.randrange(2)))
    return out


LETTERS = {'O': OPEN, 'C': CLOSE, 'I': INFO, 'D': DATA, 'V': VALIDATE}
WHAT = {'?': 'ask', '*': 'do', '!': 'answer'}


def written(text):
    """[Step] of '?1V0+2,4/0 *1 !1 ?3D0/1~': asked, done, answered, each with its call's number; a query, what is added or removed, the
    connection; ~ is lost, ^ cut. '#0' is an acknowledgement of the client, '#1' of the server."""
    out = []
    for word in text.split():
        gone, word = word[-1] if word[-1] in LOST + CUT else '', word.rstrip(LOST + CUT)
        what, number, letter, query, sign, argument, connection = re.fullmatch(
            r'([?*!#])(\d+)(?:([OCIDV])(\d))?(?:([+-])([\d,]+))?(?:/(\d))?', word).groups()
        if what == '#':
            out.append(Step('ack', -1, 0, int(number)))
            continue
        change = (sign == '+', *map(int, argument.split(','))) if argument else ()
        out.append(Step(WHAT[what], int(number), int(connection or 0), LETTERS.get(letter, 0), int(query or 0), change, gone))
    return out


def write(steps):
    """The same text."""
    signs, letters = {v: k for k, v in WHAT.items()}, {v: k for k, v in LETTERS.items()}
    words = []
    for s in steps:
        change = '%s%s' % ('+' if s.argument[0] else '-', ','.join(map(str, s.argument[1:]))) if s.argument else ''
        asked = '%s%d%s/%d' % (letters[s.opnum], s.query, change, s.connection) if s.what == 'ask' else ''
        words.append('#%d' % s.opnum if s.what == 'ack' else signs[s.what] + str(s.call) + asked + s.gone)
    return ' '.join(words)


def at_once(call, step):
    return [step._replace(call=call), Step('do', call), Step('answer', call)]


class Session:
    """One server, its clients' connections, and the calls of the steps. Of kind own-ids instances are processes, whose own ids are asked
    for, too. site: which of several that were captured each for itself; told: names and types are asked for in the capture."""

    def __init__(self, world, scene, seed, address, kind='orderly', site=0, told=True):
        pick = random.Random('%d session' % seed)
        self.machine, self.kind, own = 'SRV%d' % seed, kind, kind == 'own-ids'
        called = [self.machine, self.machine.lower() + '.example.com', self.machine + '.'] if site else [self.machine]
        self.called = lambda: random.Random('%d %d' % (seed, self.model.clock.number)).choice(called)
        server = '|'.join([*called, address] if KINDS[kind] else called)        # what it is called may not be seen
        names = {i: list(COUNTERS.values())[(i + site) % 4] for i in COUNTERS} if site else COUNTERS
        crowd = Crowd(random.Random('%d crowd' % seed), pick.choice(['own', 'none', 'some']), again=own)

        def value(at, k, name):
            which = crowd.at(at.number)
            thing = next(x for x in which if x[2] == k)
            return world.value(Thing(server, 'Work', name, thing[1]), (seed, k), at.number)
        counters = [counter(i, DELTA, n, lambda at, k, n=n: value(at, k, n)) for i, n in names.items()]
        if own:
            counters.insert(seed % 5, counter(OWN, 'PERF_COUNTER_RAWCOUNT', 'ID Process', lambda at, k: 400 + 4 * k))
        self.set = multiple('Work', *counters, instances=crowd.at)
        several = KINDS[kind].get('handles', 2)
        handles = [bytes(4) + bytes([1 + i % several + 2 * site]) * 16 for i in range(40)]
        self.model = Server([self.set], handles=handles if pick.random() < .5 or site or several == 1 else (), clock=seconds(MOST_TICKS))
        how = dict(mss=90) if kind == 'apart' else dict(mss=pick.choice([1440, 1440, 90]))
        if kind == 'apart' and pick.random() < .5:
            how = dict(max_frag=120)
        self.lines = [tcp_line(scene, self.model, server=address, client='10.0.%d.1' % site, client_port=50001 + i,
                               protocol=SealedRpc if kind == 'sealed-beside' and i else Rpc, **how) for i in range(3)]
        self.lost_first = [0] + [pick.randint(1, 4) if kind == 'first-calls' else 0 for i in range(2)]
        self.scene, self.queries, self.calls, self.cut = scene, {}, {}, pick.randint(0, 40)
        if told:
            learn(self.lines[0].client(self.called()), self.set)
        # alone, a block of one instance does not say that others have its name
        self.asked = {i: [ask(self.set, *identifier) for identifier in both] for i, both in enumerate(
            [[(1, '*')], [(2, '*')], [(NONE, '*')], [(1, 'one')], [(2, 'two')], [(3, SHARED), (4, '*')], [(NONE, '_Total')],
             [(4, 's*')]], 1)}
        # they are not taken away
        self.asked_too = {i: [ask(self.set, OWN, x['name']) for x in both if own and x['counter_id'] != NONE]
                          for i, both in self.asked.items()}

    def run(self, steps):
        for _ in self.step_by_step(steps):
            pass

    def step_by_step(self, steps):
        for step in steps:
            yield getattr(self, step.what)(step)

    def ask(self, step):
        """What cannot be asked any more, since another step was left out, is left out, too."""
        line, p = self.lines[step.connection], {}
        if step.opnum == OPEN:
            p = dict(szMachine=self.called())
        elif step.query not in self.queries:
            return
        else:
            p = dict(hQuery=self.queries[step.query])
        if step.opnum in (DATA, INFO):
            p['dwInSize'] = 99999
        elif step.opnum == VALIDATE:
            add, *which = step.argument
            asked = [x for i in which for x in self.asked[i] + self.asked_too[i] * add]
            p.update(lpData=buffers.identifiers(asked), dwAdd=int(add))
        if step.opnum == CLOSE:
            del self.queries[step.query]
        request = bytes(stubs.request(step.opnum, **p))
        self.calls[step.call] = call = dict(line=line, id=line.rpc.call_id, step=step, request=request)
        line.rpc.call_id += self.kind != 'equal-call-ids' or step.call % 3 == 0
        call['gone'] = LOST if self.lost_first[step.connection] else ''
        self.lost_first[step.connection] -= self.lost_first[step.connection] > 0
        pdus = line.rpc.request_pdus(step.opnum, request, call_id=call['id'])
        self.send(line, 0, pdus, call['gone'] or step.gone)
        if call['gone']:        # a number that is skipped tells
            line.client(self.machine).reg_info(self.set.guid, 9)

    def send(self, line, side, pdus, gone):
        tcp = line.rpc.transport
        if gone == LOST:
            tcp.skip(side, b''.join(pdus))
            return
        first = len(self.scene.capture.frames) + 1
        last = (tcp.to_client if side else tcp.to_server)(pdus)
        for number in range(first, last + 1) if gone == CUT else ():
            self.scene.capture.snap(number, 54 + (24 + self.cut) * (number == first))

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
        rpc, gone = call['line'].rpc, call['gone'] or step.gone
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

def registry(world, scene, seed, address, left_out=()):
    for _ in registry_steps(world, scene, seed, address, left_out):
        pass
    return scene


def registry_steps(world, scene, seed, address, left_out=(), site=0, told=True):
    """Processes and their threads, call by call: whether the server said its name. left_out: samples that are not made, for shrinking. site, told: as of Session."""
    first, second = ('First', 'Second') if site % 2 == 0 else ('Second', 'First')
    pick = random.Random('%d registry' % seed)
    machine = 'REG%d' % seed
    unique, own = pick.choice(['none', 'none', 'own', 'some']), pick.random() < .5
    crowd = Crowd(random.Random('%d crowd' % seed), unique, again=own or unique == 'own')

    def threads_of(at):
        """[(name, place of the process, which)]: they live as long as their process"""
        return [(str(t), i, (row[2], t)) for i, row in enumerate(crowd.at(at.number)) for t in range(1 + row[2] % 2)]

    def process(at, k):
        _, name, which = crowd.at(at.number)[k]
        return world.value(Thing(machine, 'Process', first, name), (seed, which), at.number)

    def thread(at, k):
        name, _, which = threads_of(at)[k]
        return world.value(Thing(machine, 'Thread', second, name), (seed, which), at.number)

    def processes(at):
        return [Row(n, i if unique != 'none' else -1) for i, n, _ in crowd.at(at.number)]
    columns = [Column(5006, first, TYPES[DELTA], process)]
    if own:
        columns.append(Column(784, 'ID Process', TYPES['PERF_COUNTER_RAWCOUNT'], lambda at, k: 400 + 4 * crowd.at(at.number)[k][2], 4))
    objects = [Object(230, 'Process', columns, processes),
               Object(232, 'Thread', [Column(5008, second, TYPES[DELTA], thread)],
                      lambda at: [Row(n, parent=(230, i)) for n, i, _ in threads_of(at)])]

    def connect(number, like=None):
        """Now and then anew, over a pipe or TCP, by one or another of its names."""
        talk = Talk(scene, objects=objects, server=address, client='10.0.%d.1' % site, system=machine, client_port=50001 + number,
                    smb=bool(site) and pick.random() < .5, called=pick.choice([machine, machine.lower() + '.example.com', address]))
        talk.handles = 1000 * site + 10 * number
        talk.clock = like.clock if like else talk.clock
        talk.open()
        if told and (like is None or pick.random() < .5):
            talk.titles()
        return talk
    talk = connect(0)
    yield False
    for n in range(pick.randint(3, 9)):
        only, lost = pick.choice([None, None, [230]]), pick.random() < .1
        if n not in left_out and not lost:
            talk.sample(only=only)
            yield True
        else:
            talk.clock.tick()
        if site and pick.random() < .2:
            talk = connect(n + 1, talk)
            yield False


# --- What is given out anew ------------------------------------------------------------------------------------------

TITLES = {ENGLISH: 'Counter 009', GERMAN: 'Counter 007'}


class Renewed:
    """A set (an object) and its two counters get other names, each then another thing. They are browsed at once in one language,
    always the same, on any connection; in the other now and then, before it or behind."""

    def __init__(self, world, scene, seed, address, is_hkpd):
        self.world, self.scene, self.seed, self.pick, self.is_hkpd = world, scene, seed, random.Random('%d renewed' % seed), is_hkpd
        self.machine, self.versions = ('REG%d' if is_hkpd else 'SRV%d') % seed, {'set': 0, 1: 0, 2: 0}
        self.always = self.pick.choice([ENGLISH, GERMAN])
        if is_hkpd:
            columns = [Column(5000 + 2 * i, None, TYPES[DELTA], lambda at, k, i=i: self.value(at, k, i)) for i in (1, 2)]
            self.talks = [Talk(scene, objects=[Object(5000, None, columns)], server=address, client='10.0.0.1', client_port=50001 + i,
                               system=self.machine) for i in range(self.pick.choice([1, 2, 3]))]
            for i, talk in enumerate(self.talks):
                talk.clock, talk.handles = self.talks[0].clock, 100 * i
                talk.open()
        else:
            self.model = Server([self.set()], clock=seconds(MOST_TICKS))
            self.client = tcp_line(scene, self.model, server=address, client='10.0.0.1').client(self.machine)
            self.handle = self.client.open()
            self.client.validate(self.handle, [ask(self.set(), 1, '*'), ask(self.set(), 2, 'a')])
            self.client.info(self.handle)

    def name(self, what, language):
        word = {'set': ('Set', 'Menge'), 1: ('First', 'Erster'), 2: ('Second', 'Zweiter')}[what]
        return '%s %d' % (word[language == GERMAN], self.versions[what])

    def names(self, what):
        return '|'.join(self.name(what, x) for x in (ENGLISH, GERMAN))

    def value(self, at, k, what):
        instance = '' if self.is_hkpd else 'ab'[k]
        thing = Thing(self.machine, self.names('set'), self.names(what), instance)
        return self.world.value(thing, self.seed, at.number)

    def set(self):
        counters = [counter(i, DELTA, self.name(i, ENGLISH), lambda at, k, i=i: self.value(at, k, i)) for i in (1, 2)]
        s = multiple(self.name('set', ENGLISH), *counters, instances=['a', 'b'])
        s.guid = str(uuid.uuid5(NAMESPACE, self.machine))
        for thing, what in zip((s, *counters), ('set', 1, 2)):
            thing.names[GERMAN] = self.name(what, GERMAN)
        return s

    def browse(self, languages):
        for language in languages:
            if self.is_hkpd:
                pairs = {5000 if x == 'set' else 5000 + 2 * x: self.name(x, language) for x in self.versions}
                self.pick.choice(self.talks).titles(TITLES[language], pairs)
            else:
                learn(self.client, self.model.sets[0], codes=(1, 9, 10) if language == ENGLISH else (1, 3, 5), lcid=language)

    def run(self):
        self.browse([self.always])
        self.world.begun = len(self.scene.capture.frames)
        for _ in range(self.pick.randint(4, 12)):
            chance, both = self.pick.random(), self.pick.sample([ENGLISH, GERMAN], 2)
            if chance < .25:
                for what in self.pick.sample(['set', 1, 2], self.pick.randint(1, 2)):
                    self.versions[what] += 1
                if not self.is_hkpd:
                    self.model.sets = [self.set()]
                frames, first = self.scene.capture.frames, len(self.scene.capture.frames) + 1
                for _ in range(self.pick.choice([0, 0, 0, 1, 2])):      # before that is told
                    self.sample()
                self.browse(both if self.pick.random() < .5 else [self.always])
                self.world.silent.append([first, len(frames)])
            elif chance < .4:
                self.browse(both[:self.pick.randint(1, 2)])
            else:
                self.sample()

    def sample(self):
        if self.is_hkpd:
            self.pick.choice(self.talks).sample()
        else:
            self.client.data(self.handle, 9999)


# --- What a capture lacks --------------------------------------------------------------------------------------------

DISTURBED = 'cut', 'moved', 'dropped', 'lost', 'doubled'


def disturb(scene, world, first, seed):
    """Frames from `first` on, one in twenty that carries data, are cut, moved by up to six, dropped, or are there twice; or whole calls
    are lost, also several in a row. A connection's last call is there: nothing would show that it is lost."""
    pick, capture = random.Random('%d frames' % seed), scene.capture
    first = max(first, world.begun + 1)
    way, old, out = pick.choice(DISTURBED), [(n, capture.cut.get(n)) for n in range(first, len(capture.frames) + 1)], []
    asks = [n for n, _ in old for f in [capture.frames[n - 1][1]] if len(f) > 54 and f[34:36] > f[36:38]]     # a client's port is higher
    by_line = {n: capture.frames[n - 1][1][26:38] for n in asks}
    latest = {line: n for n, line in by_line.items()}.values()
    chosen = False
    for number, cut in old:
        size = len(capture.frames[number - 1][1])
        if way != 'lost':
            chosen = size > 54 and pick.random() < .05 and not (way == 'dropped' and number - 1 in latest)
        elif number in asks:
            chosen = number not in latest and pick.random() < (.5 if chosen else .05)
        if chosen and way == 'cut':
            cut = min(cut or size, 54 + pick.choice([0, 16, 24, 30, 60, 100, pick.randint(0, 400)]))
        place = number + pick.uniform(-6, 6) * (chosen and way == 'moved')
        out += [(place, number, cut)] * (0 if chosen and way in ('dropped', 'lost') else 2 if chosen and way == 'doubled' else 1)
    out = [(number, cut) for _, number, cut in sorted(out, key=lambda x: x[0])]
    whens = [capture.frames[first - 1][0] + 1000 * i for i in range(len(out))]
    capture.frames[first - 1:] = [(when, capture.frames[number - 1][1]) for when, (number, _) in zip(whens, out)]
    capture.cut = {n: size for n, size in capture.cut.items() if n < first} | {first + i: size for i, (_, size) in enumerate(out) if size}
    places = {number: first + i for i, (number, _) in reversed(list(enumerate(out)))}
    for silent in world.silent:
        there = [places.get(n, n) for n in range(silent[0], min(silent[1], old[-1][0]) + 1) if n < first or n in places]
        lost = {line for n, line in by_line.items() if silent[0] <= n <= silent[1]}     # that shows when its client asks for more
        there += [min([places[n] for n in asks if n > silent[1] and n in places and by_line[n] == line], default=0) for line in lost]
        begins = [places.get(n, n) for n in range(silent[0], old[-1][0] + 1) if n < first or n in places]
        silent[:] = [min(begins, default=0), max(there, default=0) if silent[1] <= old[-1][0] else silent[1]]


# --- Several sites of one address ------------------------------------------------------------------------------------

def merged(world, scene, seed, address):
    """What was captured at two or three sites, each of which gave its server the same address; or the address went from one to the next.
    What one calls its counters another calls otherwise, and not all are asked for names in the capture."""
    pick = random.Random('%d merged' % seed)
    def one(site):
        number, told = 4 * seed + site, pick.random() < .7
        if pick.random() < .5:
            session = Session(world, scene, number, address, site=site, told=told)
            yield from session.step_by_step(steps_of(number, 'orderly'))
        else:
            steps, silent = registry_steps(world, scene, number, address, site=site, told=told), [0, -1]
            before = len(scene.capture.frames)
            for is_named in steps:
                if not is_named and silent[1] < before:
                    silent = [before, 10 ** 9]
                    world.silent.append(silent)
                elif is_named:
                    silent[1] = min(silent[1], len(scene.capture.frames) - 1)
                yield
                before = len(scene.capture.frames)
    sites = [one(i + 1) for i in range(pick.choice([2, 2, 3]))]
    in_turn = pick.random() < .3
    while sites:
        one = sites[0] if in_turn else pick.choice(sites)
        if next(one, END) is END:
            sites.remove(one)
