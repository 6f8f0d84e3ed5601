# SPDX-License-Identifier: GPL-2.0-or-later
"""A packet looks the same whenever it is looked at: forward, backward, shuffled, once more, after a reload, on one pass."""

import contextlib
import json
import os
import random
import shutil
import subprocess
import threading

import pytest

from conftest import TOP
from gen.hkpd_scenario import SESSIONS, Talk
from gen.mutate import together
from gen.pcap import Capture
from gen.scenario import Scenario, tcp_line
from gen.scripted import Server, answers, ask, begin, counter, learn, multiple, run, seconds, capture_talk, unseen
from learned import item_of, read_texts
from test_values import big_scenario

PCAPS = TOP / 'test' / 'pcaps'
KEYS = json.loads((PCAPS / 'keys.json').read_text())
# Those of damage are read as one
CAPTURES = ['damage', *sorted(p.relative_to(PCAPS).as_posix() for p in PCAPS.glob('**/*.pcap') if not p.name.startswith('bad-'))]
SHARKD = os.environ.get('SHARKD', 'sharkd')
OURS = ('pcq', 'hkpd')
LATER = 'learned after this frame'
# What names and types that are learned later make possible
MAY_FOLLOW = {p + n for p in ('pcq.', 'hkpd.') for n in (
    'counterset.name', 'object.name', 'counter.name', 'counter.type', 'learned_in', 'path', 'identifier.path', 'cooked', 'cooked.none',
    'expert.order_assumed')} | {'_ws.expert' + x for x in ('', '.message', '.severity', '.group')}


def options(name):
    return [k.format(pcaps=PCAPS) for k in KEYS.get(name, [])]


class Sharkd:
    """Random access to the packets of a capture."""

    def __init__(self, tshark, home, *preferences):
        # sharkd's own setconf does not tell the dissectors
        config = home / '.config' / 'wireshark'
        config.mkdir(parents=True)
        (config / 'preferences').write_text(''.join('%s: %s\n' % tuple(p.split(':', 1)) for p in preferences
                                                    if not p.startswith('uat:')))
        self.is_idle = True
        self.child = subprocess.Popen([SHARKD, '-'], env=dict(tshark.env, HOME=str(home)), stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=(home / 'stderr').open('wb'))
        for preference in preferences:
            if preference.startswith('uat:'):
                self.ask(('setconf', dict(name='uat', value=preference.removeprefix('uat:'))))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stdin.close()
        self.child.stdout.close()
        assert self.child.wait(20) == 0, 'sharkd crashed'

    def ask(self, *requests, answer='result'):
        """[(method, parameters)] -> their results (or errors) as text"""
        self.is_idle = False
        lines = [json.dumps(dict(jsonrpc='2.0', id=1, method=method, params=p)) + '\n' for method, p in requests]
        # both pipes are smaller than a big packet's tree
        writer = threading.Thread(target=self.write, args=(''.join(lines).encode(),))
        writer.start()
        out = []
        for method, p in requests:
            line = self.child.stdout.readline().decode('utf-8', 'replace')
            assert line, 'sharkd ended at %s %s' % (method, p)
            assert line.startswith('{"jsonrpc":"2.0","id":1,"%s"' % answer), (method, p, line[:300])
            out.append(line)
        writer.join()
        self.is_idle = True
        return out

    def write(self, data):
        self.child.stdin.write(data)
        self.child.stdin.flush()

    def load(self, path):
        self.ask(('load', dict(file=str(path))))
        status, = self.ask(('status', {}))
        return list(range(1, json.loads(status)['result']['frames'] + 1))

    def frames(self, numbers):
        """{frame: its tree and columns as text}, asked in that order"""
        answers = self.ask(*[('frame', dict(frame=n, proto=True, columns=True)) for n in numbers])
        return dict(zip(numbers, answers))


def is_ours(text):
    """Does the plugin show something in that tree?"""
    return any('"f":"%s' % name in text or '"f":"_ws.expert"' in text and name in text for name in OURS)


def ours(text):
    """The plugin's trees of a packet, wherever they hang, with the columns."""
    found = []

    def search(nodes):
        for node in nodes:
            if str(node.get('f', '')).split(' ')[0] in OURS:
                found.append(node)
            else:
                search(node.get('n', ()))
    answer = json.loads(text, strict=False)['result']
    search(answer['tree'])
    return json.dumps([found, answer.get('col')])


def check_orders(sharkd, path, same=lambda a, b: False):
    """-> the frames that show something of the plugin. same: which differences are none, by the frames' texts"""
    all_frames = sharkd.load(path)
    first = {n: text for n, text in sharkd.frames(all_frames).items() if is_ours(text)}
    numbers = list(first)
    shuffled = numbers[:]
    random.Random(len(numbers)).shuffle(shuffled)
    compare(sharkd.frames(numbers[::-1]), first, 'backward', same)
    assert sharkd.load(path) == all_frames
    compare(sharkd.frames(shuffled), first, 'shuffled after a reload', same)
    return first


def compare(frames, first, name, same=lambda a, b: False):
    for number in first:
        if frames[number] != first[number] and not same(frames[number], first[number]):
            a, b = ours(first[number]), ours(frames[number])
            assert a == b, '%s: frame %d differs: %s' % (name, number, difference(a, b))


def difference(a, b):
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return '…%s… / …%s…' % (a[max(0, at - 200):at + 100], b[max(0, at - 200):at + 100])


@pytest.fixture
def sharkd(tshark, tmp_path):
    """sharkd(preference, …) -> a running one"""
    assert shutil.which(SHARKD), 'no sharkd'
    with contextlib.ExitStack() as stack:
        yield lambda *preferences: stack.enter_context(Sharkd(tshark, tmp_path / 'home', *preferences))


@pytest.fixture(scope='module')
def reader(tshark, tmp_path_factory):
    """reader(preference, …) -> one that reads all captures with these, or what comes after one that did not answer"""
    running = {}
    with contextlib.ExitStack() as stack:
        def get(*preferences):
            if preferences not in running or not running[preferences].is_idle:
                running[preferences] = stack.enter_context(Sharkd(tshark, tmp_path_factory.mktemp('home'), *preferences))
            return running[preferences]
        yield get


@pytest.fixture
def patient(tshark, monkeypatch):
    """winreg alone shows each byte of a big value as an item, which is too many for the tests' environment."""
    monkeypatch.setattr(tshark, 'env', {k: v for k, v in tshark.env.items() if k != 'WIRESHARK_ABORT_ON_TOO_MANY_ITEMS'})


@pytest.fixture(scope='module')
def capture_of(tmp_path_factory):
    damage = together([Capture.of_file(p) for p in sorted(PCAPS.glob('plain/bad-*.pcap'))]).write(tmp_path_factory.mktemp('damage') / 'all.pcap')
    return lambda name: damage if name == 'damage' else PCAPS / name


@pytest.mark.parametrize('name', CAPTURES)
def test_any_order(reader, patient, capture_of, name):
    assert check_orders(reader(*options(name)), capture_of(name))


def our_part(packet):
    return [x for x in packet.children if x.name in OURS]


def plain(packet, later):
    """A packet without what a later frame tells, and without what takes its place on the first pass.

    Labels of structures speak of names, so do those of GUIDs in a list of countersets.
    """
    told_later = ('.closed_in', '.response_in', '.number')
    rows = [x for part in our_part(packet) for x in part.walk() if not x.name.endswith(told_later)]
    if later:
        return [(x.name, x.show, x.size) for x in rows if x.size or x.name not in MAY_FOLLOW]
    return [(x.name, x.show, x.size, '' if x.name == 'pcq.counterset.guid' else x.label) for x in rows]


def knows_more(packet):
    """Was something learned after it, or by a later call of the same frame? Of a server that a later block shows to be Samba too:
    it has not the objects of every Windows."""
    rows = [x for part in our_part(packet) for x in part.walk()]
    own = packet.show_of('pcq.learned_in') + packet.show_of('pcq.learned_in') if len(our_part(packet)) > 1 else []
    return any(LATER in x.label or 'object #' in x.label or x.label.endswith(('(assumed)', 'as far as is known')) for x in rows) or packet.show_of('num')[0] in own


@pytest.mark.parametrize('name', CAPTURES)
def test_one_pass_and_two(tshark, patient, capture_of, name):
    """Equal, except for closed_in and the numbers of handles, and for names that are learned later and the paths and
    values they make possible."""
    args = [x for k in options(name) for x in ('-o', k)]
    first, second = (read_texts(tshark, capture_of(name), *args, two_pass=x)[0] for x in (False, True))
    assert len(first) == len(second) > 0
    for number, texts in enumerate(zip(first, second), 1):
        if texts[0] == texts[1]:
            continue
        once, twice = map(item_of, texts)
        later = knows_more(twice)
        a, b = plain(once, later), plain(twice, later)
        assert a == b, (number, [x for x in zip(a, b) if x[0] != x[1]][:3], len(a), len(b))


# --- scenarios with much that refers to other frames ------------------------------------------------------------------

def both(name='Set'):
    return multiple(name, counter(1, 'PERF_COUNTER_BULK_COUNT', 'Rate', lambda at, k: 7 * at.number ** 2 + k),
                    counter(2, 'PERF_AVERAGE_BULK', 'Average', lambda at, k: 6 * at.number, base=3),
                    counter(3, 'PERF_AVERAGE_BASE', None, lambda at, k: 2 * at.number),
                    instances=lambda n: ['a', 'b', 'c', 'a'][n % 3:])


def names_come_last():
    s = both()
    return capture_talk(Server([s]), lambda c: (run(c, [ask(s, 1, '*'), ask(s, 9, '*'), ask(s, 2, '*')]), learn(c, s)))


def from_the_middle():
    s = both()
    server = Server([s])
    hidden = unseen(server)
    handles = [hidden.open() for _ in range(3)]
    for h in handles:
        hidden.validate(h, [ask(s, 1, '*'), ask(s, 2, '*')])
    scenario, c = begin(server)
    for h in handles:
        c.data(h, 9999)
        c.info(h)
        c.data(h, 9999)
    for h in handles:
        c.close(h)
    learn(c, s)
    return scenario


LONG_SCENARIOS = [names_come_last, from_the_middle]


@pytest.mark.parametrize('make', LONG_SCENARIOS, ids=lambda f: f.__name__)
def test_scenarios_in_any_order(sharkd, tmp_path, make):
    assert len(check_orders(sharkd(), make().write(tmp_path / 'x.pcap'))) > 10


def test_with_dropped_samples(sharkd, tmp_path):
    """What the memory limit took is missing whenever one looks."""
    scenario = big_scenario(5)[1]
    shown = check_orders(sharkd('pcq.sample_limit:1'), scenario.write(tmp_path / 'x.pcap'))
    dropped = ['pcq.cooked.none == 17' in shown[n] for n, _ in answers(scenario)]
    assert dropped == [False, True, True, True, False]


@pytest.fixture(params=['block', 'block_fast'])
def places(tshark, monkeypatch, request):
    """What is known of a file lies elsewhere than what was known of the one before, or where that lay."""
    monkeypatch.setattr(tshark, 'env', dict(tshark.env, WIRESHARK_DEBUG_WMEM_OVERRIDE=request.param))


def test_one_capture_teaches_the_next_nothing(sharkd, places, tmp_path):
    """Names, handles and samples end with the file."""
    s = both()
    handles = [bytes(20 * [7])]
    browsed = capture_talk(Server([s], handles=handles), lambda c: (learn(c, s), run(c, [ask(s, 1, 'a'), ask(s, 2, '*')], close=False)))
    server = Server([s], handles=handles, clock=seconds(9))
    hidden = unseen(server)
    hidden.validate(hidden.open(), [ask(s, 1, 'a'), ask(s, 2, '*')])
    scenario, c = begin(server)
    c.data(handles[0], 9999)
    first, second = browsed.write(tmp_path / 'a.pcap'), scenario.write(tmp_path / 'b.pcap')
    child = sharkd()
    numbers = child.load(second)
    alone = child.frames(numbers)
    child.frames(child.load(first))
    child.load(second)
    compare(child.frames(numbers), alone, 'after another capture')
    number = answers(scenario)[0][0]
    for word in ('Rate', 'Average', 'opened_in', 'sample.previous', 'learned_in'):
        assert word not in alone[number]


@pytest.mark.parametrize('what', ['open', 'sample', 'titles', 'name'])
def test_a_capture_of_one_call_once_more(sharkd, places, tmp_path, what):
    """The call is the first and the last of its file."""
    scenario = Scenario()
    if what in ('open', 'name'):
        s = both()
        c = tcp_line(scenario, Server([s])).client()
        c.open() if what == 'open' else c.reg_info(s.guid, 9, in_size=999)
    else:
        talk = Talk(scenario)
        talk.handle = talk.new_handle()
        talk.sample() if what == 'sample' else talk.titles()
    child = sharkd()
    path = scenario.write(tmp_path / 'x.pcap')
    numbers = child.load(path)
    once = child.frames(numbers)
    assert len([text for text in once.values() if is_ours(text)]) >= (1 if what in ('sample', 'titles') else 2)
    for _ in range(3):
        assert child.load(path) == numbers
    compare(child.frames(numbers), once, 'loaded once more')


@pytest.mark.parametrize('name, other, usual, make', [('pcq.sample_limit', '0', '1024', names_come_last), ('hkpd.decode', 'FALSE', 'TRUE', SESSIONS['hkpd-0'])])
def test_another_preference_between_two_files(sharkd, tmp_path, name, other, usual, make):
    """What it does to one file is not seen in the next, once it is what it was."""
    child, path = sharkd(), make().write(tmp_path / 'x.pcap')
    numbers = child.load(path)
    first = child.frames(numbers)
    for value in other, usual:
        child.ask(('setconf', dict(name=name, value=value)))
        child.load(path)
        last = child.frames(numbers)
    compare(last, {n: text for n, text in first.items() if is_ours(text)}, 'with %s as before' % name)
