# SPDX-License-Identifier: GPL-2.0-or-later
"""Both CSV forms of conversations that nobody thought out: queries that change between samples, instances that come and go,
handles that are dealt out again, answers that were not captured, names and types that are learned behind the first samples.
What they must say is worked out from the generator's values alone (series.py, gen/cooking.py)."""

import random
from typing import NamedTuple

import pytest

from gen import hkpd_scene
from gen.model import ENGLISH, GERMAN, TYPES, Counter
from gen.scene import Scene, tcp_line
from gen.story import Server, ask, counter, learn, multiple, single, story
from gen.stubs import DATA
from series import compare_pdh, long_rows, pdh_rows, series
from test_csv import export, parts      # noqa: F401: a fixture

# Of the last ones two have the same name: in a block of one instance, which has no id, nobody could tell them apart.
NAMES = ['a', 'b', 'Ä, "quoted"', '0,0', '_Total', 'линия', '\U0001F682', "it's; 1", ' ', 'x' * 40, 'twice', 'twice']


class Uncertain(Server):
    """Deals out a handle again once it was closed; what is `lost` is no sample before for anybody who reads the capture."""

    lost = False

    def _cooked(self, query, values, at):
        before = query.previous, query.previous_at
        out = super()._cooked(query, values, at)
        if self.lost:
            query.previous, query.previous_at = before
        return out


def some_values(rng, width):
    """Grows, stands still, and begins again now and then."""
    rows, value = [], rng.randrange(1 << 20)
    for _ in range(80):
        value = rng.randrange(1000) if rng.random() < .08 else value + rng.choice([0, 1, rng.randrange(1 << 18)])
        rows.append(value)
    top = rng.choice([0, 0, (1 << 8 * width) - (1 << 19)])
    return lambda at, k: top + rows[min(at.number, 79)] + 977 * k


def some_counterset(rng, number):
    counters, kinds = [], ['PERF_COUNTER_RAWCOUNT', 'PERF_COUNTER_LARGE_RAWCOUNT', 'PERF_COUNTER_COUNTER', 'PERF_COUNTER_BULK_COUNT',
                           'PERF_RAW_FRACTION', 'PERF_AVERAGE_BULK', 'PERF_100NSEC_TIMER', 'PERF_100NSEC_TIMER_INV',
                           'PERF_COUNTER_DELTA', 'PERF_COUNTER_TEXT', 'PERF_SAMPLE_FRACTION', 'PERF_PRECISION_100NS_TIMER']
    bases = {'PERF_RAW_FRACTION': 'PERF_RAW_BASE', 'PERF_AVERAGE_BULK': 'PERF_AVERAGE_BASE',
             'PERF_SAMPLE_FRACTION': 'PERF_SAMPLE_BASE', 'PERF_PRECISION_100NS_TIMER': 'PERF_LARGE_RAW_BASE'}
    for kind in rng.sample(kinds, rng.randint(2, 7)):
        i = len(counters) + 1
        name = rng.choice(['Turns/sec', '% Busy', 'Größe "netto", kg', 'Länge']) + ' %d' % i
        if kind == 'PERF_COUNTER_TEXT':
            counters.append(Counter(i, TYPES[kind], {ENGLISH: name}, {}, lambda at, k: 'text %d, "%d"' % (at.number, k)))
            continue
        width = 8 if TYPES[kind] >> 8 & 3 == 1 else 4
        base = i + 1 if kind in bases else None
        counters.append(counter(i, kind, name, some_values(rng, width), **({'base': base} if base else {})))
        if base:
            counters.append(counter(base, bases[kind], name + ' base', some_values(rng, 4)))
    name = rng.choice(['Engine', 'Größen, alle', 'Set "%d"' % number, 'Set']) + ' %d' % number
    if rng.random() < .3:
        return single(name, *counters)
    there = [sorted(rng.sample(range(len(NAMES)), rng.randint(1, 6))) for _ in range(80)]
    steady = rng.random() < .3
    return multiple(name, *counters, instances=lambda n: [(10 + i, NAMES[i]) for i in there[0 if steady else min(n, 79)]])


def some_identifier(rng, s):
    name = None if not s.named_instances else '*' if rng.random() < .6 else rng.choice(NAMES[:-2])
    return ask(s, name=name) if rng.random() < .5 else ask(s, rng.choice(s.counters).id, name)


class Life(NamedTuple):
    handle: bytes
    number: int


class Told:
    """A conversation, and whose life of a handle each of its answers belongs to."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.sets = [some_counterset(rng, i) for i in range(rng.randint(1, 3))]
        shuffled = {}

        def order(query):
            count = len(query.identifiers)
            return shuffled.setdefault((query.handle, count), rng.sample(range(count), count))
        self.server = Uncertain(self.sets, order=order)
        self.scene = Scene('seed %d' % seed)
        self.line = tcp_line(self.scene, self.server, alters=self.alter)
        self.client = self.line.client()
        self.lives, self.open, self.held, self.free, self.number = {}, [], {}, [], 0

    def alter(self, opnum, kind, stub):
        return None if self.server.lost and opnum == DATA else stub

    def learn_some(self):
        learn(self.client, self.rng.choice(self.sets), codes=self.rng.choice([(1,), (9,), (10,), (1, 9, 10), (9, 10)]))

    def open_one(self):
        if self.free and self.rng.random() < .7:
            self.server.handles = [self.free.pop()]
        self.number += 1
        life = Life(self.client.open(), self.number)
        self.open.append(life)
        self.held[life] = []
        self.change(life)

    def change(self, life):
        asked = self.held[life]
        if asked and self.rng.random() < .3:
            gone = asked.pop(self.rng.randrange(len(asked)))
            self.client.validate(life.handle, [gone], add=False)
        new = [some_identifier(self.rng, self.rng.choice(self.sets)) for _ in range(self.rng.randint(1, 4))]
        self.client.validate(life.handle, new)
        for i in new:
            if key(i) not in map(key, asked):
                asked.append(i)
        self.client.info(life.handle)

    def sample(self, life):
        self.server.lost = self.rng.random() < .1
        self.client.data(life.handle, self.rng.choice([None, 1 << 20, 1 << 20]))
        if not self.server.lost:
            self.lives[max(self.scene.frames)] = life.number
        self.server.lost = False

    def close(self, life):
        self.client.close(life.handle)
        self.open.remove(life)
        self.free.append(life.handle)

    def tell(self, steps=45):
        self.open_one()
        for _ in range(steps):
            if not self.open:
                self.open_one()
            what, life = self.rng.random(), self.rng.choice(self.open)
            if what < .1:
                self.learn_some()
            elif what < .2 and len(self.open) < 4:
                self.open_one()
            elif what < .27:
                self.change(life)
            elif what < .32:
                self.close(life)
            else:
                self.sample(life)
        learn(self.client, *self.sets)
        return self


def key(asked):
    return tuple(sorted(asked.items()))


@pytest.mark.parametrize('seed', range(6))
def test_a_conversation(export, tmp_path, seed):
    told = Told(seed).tell()
    answers = series(told.scene)
    lives = list(dict.fromkeys(told.lives[a.frame] for a in answers))
    for passes in [], ['-2']:
        first = export(told.scene, 'csv', *passes)
        count = 0
        for life in lives:
            text = first if life == lives[0] else (tmp_path / ('out-query-%d.csv' % life)).read_bytes().decode()
            count += compare_pdh(text, [a for a in answers if told.lives[a.frame] == life], refused=None)
        assert len(list(tmp_path.glob('out*.csv'))) == len(lives) and count > 20
        for path in tmp_path.glob('out*.csv'):
            path.unlink()
    compare_rows(long_rows(export(told.scene, 'long', '-2')), answers, told.lives)


def compare_rows(rows, answers, lives):
    """Of the long form, where each value is a row; blocks of an error have rows of their own."""
    values = [r for r in rows if r['status'] == '0']
    expected = [(a, v) for a in answers for v in a.values]
    assert len(values) == len(expected)
    for row, (answer, v) in zip(values, expected):
        where = (answer.frame, v, row)
        assert (row['frame'], row['query'], row['path']) == (str(answer.frame), str(lives[answer.frame]), v.path), where
        assert (row['server'], row['counter']) == (parts(v.path)[0], parts(v.path)[-1]), where
        assert row['raw'] == str(v.raw), where
        if v.cooked is None:
            assert row['result'] == '' and (row['reason'] != '') == (not v.is_text), where
        else:
            assert float(row['result']) == pytest.approx(v.cooked, rel=1e-12) and row['reason'] == '', where


# --- What is learned late ---------------------------------------------------------------------------------------------


def engine():
    return multiple('Engine', counter(1, 'PERF_COUNTER_BULK_COUNT', 'Turns/sec', lambda at, k: 1000 * at.number * (k + 1)),
                    counter(2, 'PERF_COUNTER_RAWCOUNT', 'Size', lambda at, k: 7 * at.number + k))


def late(*codes, before=(), lcids=(0,), info=True, order=None):
    """Two samples, then what is asked for, then two more."""
    s = engine()
    s.names[GERMAN] = 'Maschine'
    for c in s.counters:
        c.names[GERMAN] = 'Deutsch %d' % c.id

    def talk(c):
        learn(c, s, codes=before, lcid=GERMAN)
        handle = c.query([ask(s, 1, 'a'), ask(s, 2, 'b'), ask(s, 2, 'a')], info=False)
        if info:
            c.info(handle)
        for _ in range(2):
            c.data(handle, 1 << 20)
        for lcid in lcids:
            learn(c, s, codes=codes, lcid=lcid)
        if not info:
            c.info(handle)
        for _ in range(2):
            c.data(handle, 1 << 20)
        learn(c, s)
    return story(Server([s], order=order), talk)


LATE = {
    'names': dict(codes=(9, 10), before=(1,)),
    'types': dict(codes=(1,), before=(9, 10)),
    'everything': dict(codes=(1, 9, 10)),
    'English behind German': dict(codes=(9, 10), before=(1, 3, 5)),
    'the kind of instances': dict(codes=(1,), before=(9, 10)),
    'whose the blocks are': dict(codes=(9, 10), before=(1,), info=False, order=lambda q: [2, 0, 1]),
}


@pytest.mark.parametrize('what', LATE)
def test_a_counter_has_one_column(export, what, passes):
    how = dict(LATE[what])
    scene = late(*how.pop('codes'), **how)
    text = export(scene, 'csv', *passes)
    assert compare_pdh(text, series(scene)) == 11
    assert pdh_rows(text)[0][1:] == ['\\\\SRV01\\Engine(' + i for i in (
        ['a)\\Turns/sec', 'b)\\Size', 'a)\\Size'] if 'blocks' not in what else ['a)\\Size', 'a)\\Turns/sec', 'b)\\Size'])]


def test_titles_that_come_late(export, passes):
    """HKEY_PERFORMANCE_DATA: the list of titles is asked for behind the samples, which hold now these objects and now those."""
    scene = Scene('titles')
    talk = hkpd_scene.Talk(scene)
    talk.open()
    for only in None, [238], [230, 232], [238], None, [2, 234]:
        talk.sample(' '.join(map(str, only)) if only else 'Global', only)
    talk.titles()
    talk.close()
    assert compare_pdh(export(scene, 'csv', *passes), series(scene)) > 60


@pytest.mark.parametrize('form', ['csv', 'long', 'counters', 'queries'])
def test_a_session_that_is_reset(tshark, tmp_path, form):
    """tshark -M forgets the capture in its middle: what was read stays, and nothing of it is looked at again."""
    told = Told(3).tell()
    out = tmp_path / 'out.csv'
    tshark.run('-M', '50', '-q', '-r', told.scene.write(tmp_path / 'scene.pcap'), '-z',
               'pcq,%s' % form if form in ('counters', 'queries') else 'pcq,%s,%s' % (form, out))
    if form == 'csv':
        rows = [pdh_rows(p.read_bytes().decode()) for p in tmp_path.glob('out*.csv')]
        assert rows and all(len({len(x) for x in r}) == 1 for r in rows)
    elif form == 'long':
        assert long_rows(out.read_bytes().decode())
