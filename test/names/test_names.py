# SPDX-License-Identifier: GPL-2.0-or-later
"""Names and types: where they come from, for whom they hold, and how the tree says so."""

import csv

import pytest

from gen import client, model
from gen.buffers import NONE
from gen.model import ENGLISH, GERMAN
from gen.scenario import Scenario, tcp_line
from gen.scripted import Server, answers, ask, begin, counter, frames_of, learn, multiple, run, capture_talk, taught_in
from gen.server import bounded
from gen.stubs import DATA, REG_INFO, VALIDATE
from learned import by_path, close_to, read
from series import table
from test_report import page_data

NAMED = ('pcq.counterset.name', 'pcq.counter.name', 'pcq.counter.type')


def engine(name='Engine', **more):
    """A multi-instance set with a rate, an average and its nameless base; names in two languages."""
    s = multiple(name, counter(1, 'PERF_COUNTER_BULK_COUNT', 'Turns/sec', lambda at, k: 100 * at.number),
                 counter(2, 'PERF_AVERAGE_BULK', 'Load', lambda at, k: 6 * at.number, base=3),
                 counter(3, 'PERF_AVERAGE_BASE', None, lambda at, k: 2 * at.number), **more)
    s.names[GERMAN] = 'Motor'
    s.counters[0].names[GERMAN], s.counters[1].names[GERMAN] = 'Umdrehungen/s', 'Last'
    return s


def paths(scenario, frames, which=-1):
    return list(by_path(frames[answers(scenario)[which][0]]))


def learned(item, name):
    """[(shown, label, frame or None)] of the learned fields of that name below an item"""
    out = []
    for x in item.all(name):
        if x.size == 0:
            after = x.after()
            taught = after is not None and after.name == 'pcq.learned_in'
            # a long name leaves no room for the remark, which the frame repeats
            out.append((x.show, x.label + (after.label if taught else ''), int(after.show) if taught else None))
    return out


# --- from the capture -----------------------------------------------------------------------------------------------

def test_from_earlier_frames(tshark, tmp_path, two_pass):
    """Beside each identifier: name of set and counter and the counter's type, each with the frame that taught it."""
    s = engine()
    scenario = capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, 1, 'a'), ask(s, NONE, '*'), ask(s, 3, 'b')])))
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    set_in, types_in, names_in = taught_in(scenario, 9, s.guid), taught_in(scenario, 1, s.guid), taught_in(scenario, 10, s.guid)
    for kind in ('request', 'response'):
        (number, _), = frames_of(scenario, VALIDATE, kind)
        one_counter, all_counters, base = frames[number].identifiers
        for item in (one_counter, all_counters, base):
            (name, label, frame), = learned(item, 'pcq.counterset.name')
            assert (name, frame) == ('Engine', set_in) and 'after' not in label
        assert [(n, f) for n, _, f in learned(one_counter, 'pcq.counter.name')] == [('Turns/sec', names_in)]
        assert [(int(t, 0), f) for t, _, f in learned(one_counter, 'pcq.counter.type')] == [(0x10410500, types_in)]
        assert not learned(all_counters, 'pcq.counter.name') and not learned(all_counters, 'pcq.counter.type')
        assert not learned(base, 'pcq.counter.name'), 'the base has no name'
        assert [(int(t, 0), f) for t, _, f in learned(base, 'pcq.counter.type')] == [(0x40030402, types_in)]


def test_from_later_frames(tshark, tmp_path):
    """Browsing after the query: nothing on one pass; on the second names and values, and the label says whence."""
    s = engine()
    scenario = capture_talk(Server([s]), lambda c: (run(c, [ask(s, 1, 'a'), ask(s, 2, 'a'), ask(s, 3, 'a')]), learn(c, s)))
    once, twice = read(tshark, scenario, tmp_path), read(tshark, scenario, tmp_path, two_pass=True)
    assert paths(scenario, once) == ['\\\\SRV01\\{%s}(a)\\#%d' % (s.guid, i) for i in (1, 2, 3)]
    assert paths(scenario, twice) == ['\\\\SRV01\\Engine(a)\\%s' % n for n in ('Turns/sec', 'Load', '#3')]
    assert [v for v, _ in by_path(twice[answers(scenario)[-1][0]]).values()][1] == close_to(3.0)
    (number, _), = frames_of(scenario, VALIDATE, 'response')
    assert not [x for n in NAMED for x in learned(once[number], n)]
    for name, code in zip(NAMED, (9, 10, 1)):
        found = learned(twice[number], name)
        assert found and {f for _, _, f in found} == {taught_in(scenario, code, s.guid)}
        for _, label, frame in found:
            assert frame > number and 'learned after this frame' in label


# What has ids and no names: identifiers, arrays of ids, registration records, and tables of descriptions
STRUCTURES = {'pcq.identifier', 'pcq.multi_counters', 'pcq.counter_reg_info', 'pcq.string_counter'}


def test_every_learned_field_is_generated_and_its_frame_holds_it(tshark, tmp_path, two_pass):
    """Over a whole session: what is said to be learned in a frame stands there, and no byte is highlighted for it."""
    server = Server(model.countersets(), clock=model.Clock())
    scenario = capture_talk(server, lambda c: client.whole(c, server.sets))
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    wire = {n: {(f.name, bounded(f.value) if isinstance(f.value, str) else f.value) for m in ms for f in m.fields}
            for n, ms in scenario.frames.items()}
    count, where = 0, set()
    for number, frame in frames.items():
        where |= {x for x in STRUCTURES if any(learned(item, 'pcq.counter.name') for item in frame.all(x))}
        for name in NAMED:
            for shown, label, taught in learned(frame, name):
                count += 1
                if taught is None:
                    assert 'built-in' in label, (number, name, shown)
                    continue
                value = int(shown, 0) if name == 'pcq.counter.type' else shown
                assert (name, value) in wire[taught], (number, name, shown, taught)
                assert taught < number or two_pass and 'after' in label
        for name in ('pcq.learned_in', 'pcq.handle.opened_in', 'pcq.handle.closed_in', 'pcq.path', 'pcq.cooked',
                     'pcq.cooked.none', 'pcq.sample.previous', 'pcq.sample.interval'):
            assert not [x for x in frame.all(name) if x.size], name
    assert count > 300 and where == STRUCTURES


# --- from the built-in list -----------------------------------------------------------------------------------------

CPU = 'b4fc721a-0378-476f-89ba-a5a79f810b36'


def processor():
    """As on a real Windows; ids, names and types of facts 8.1, under names that only the built-in list can better."""
    s = multiple('?', counter(0, 'PERF_100NSEC_TIMER_INV', '?', lambda at, k: at.filetime * 3 // 4),
                 counter(3, 'PERF_COUNTER_COUNTER', '?', lambda at, k: 2 ** 32 - 50 + 100 * at.number),
                 counter(7, 'PERF_COUNTER_RAWCOUNT', '?', lambda at, k: 5),
                 counter(26, 'PERF_AVERAGE_BULK', '?', lambda at, k: 48462010 * at.number, base=27),
                 counter(27, 'PERF_AVERAGE_BASE', None, lambda at, k: 625966 * at.number),
                 counter(21, 'PERF_PRECISION_100NS_TIMER', '?', lambda at, k: 77 * at.number, base=22),
                 counter(22, 'PERF_LARGE_RAW_BASE', '?', lambda at, k: 700 * at.number), instances=['_Total'])
    s.guid = CPU
    return s


def test_from_the_built_in_list(tshark, tmp_path, two_pass):
    """No registration in the capture: names, types and even calculated values of the best known set."""
    s = processor()
    scenario = capture_talk(Server([s]), lambda c: run(c, [ask(s, NONE, '_Total'), ask(s, 26, '_Total')]))
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    got = by_path(frames[answers(scenario)[-1][0]])
    path = '\\\\SRV01\\Processor Information(_Total)\\'
    assert {path + n for n in ('% Processor Time', 'Interrupts/sec', 'DPC Rate', '% Processor Utility',
                               'Average Idle Time', 'Average Idle Time Base')} <= set(got)
    assert got[path + '% Processor Utility'][0] == pytest.approx(77.4196, abs=5e-5)
    assert got[path + 'Average Idle Time'][0] == close_to(11.0)
    assert got[path + 'DPC Rate'] == (5.0, None)
    assert got[path + '% Processor Time'][0] == pytest.approx(25.0, abs=0.01)
    (number, _), = frames_of(scenario, VALIDATE, 'request')
    for name, shown in zip(NAMED, ('Processor Information', '% Processor Utility', 0x40020500)):
        x = frames[number].identifiers[1].all(name)[0]
        assert (int(x.show, 0) if isinstance(shown, int) else x.show) == shown
        assert x.size == 0 and 'built-in' in x.label
    assert not frames[number].all('pcq.learned_in'), 'no frame taught it'


# --- for whom it holds ----------------------------------------------------------------------------------------------


def test_two_servers_do_not_share(tshark, tmp_path, two_pass):
    """The same GUID on two servers is not the same set: names, types and handles of one never serve the other. Clients call them alike: each
    has rows of its own, and they can be told apart."""
    mine, yours, nobodys = engine('Mine'), engine('Yours'), engine('Nobody')
    yours.guid = nobodys.guid = mine.guid
    yours.counters[0] = counter(1, 'PERF_COUNTER_RAWCOUNT', 'Level', lambda at, k: 7)
    scenario, lines = Scenario(), []
    for i, s in enumerate((mine, yours, nobodys)):
        lines.append((tcp_line(scenario, Server([s]), client_port=50001 + i, server='192.0.2.2%d' % i).client(), s))
    for c, s in lines[:2]:
        learn(c, s)
    opened = [(c, s, c.open()) for c, s in lines]
    assert len({h for *_, h in opened}) == 1
    for c, s, h in opened:
        c.validate(h, [ask(s, 1, 'a')])
        c.info(h)
    for _ in range(2):
        for c, s, h in opened:
            c.data(h, 9999)
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    wanted = ['\\\\SRV01\\Mine(a)\\Turns/sec', '\\\\SRV01\\Yours(a)\\Level', '\\\\SRV01\\{%s}(a)\\#1' % mine.guid]
    got = [by_path(frames[n]) for n, _ in answers(scenario)]
    assert [list(g) for g in got] == [[w] for w in wanted] * 2
    assert got[4][wanted[1]] == (7.0, None) and got[5][wanted[2]][0] is None


def test_servers_that_are_called_alike(tshark, tmp_path):
    """Rows and lines of a path are the first server's; the other's values are counted as left out."""
    scenario, sets = Scenario(), []
    for i, value in enumerate((10, 9990)):
        s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Level', lambda at, k, value=value: value))
        s.guid = sets[0].guid if sets else s.guid
        sets.append(s)
        c = tcp_line(scenario, Server([s]), server='192.0.2.2%d' % i, client_port=50001 + i).client('\\\\SRV01')
        learn(c, s)
        run(c, [ask(s, 1, 'a')])
    path, level = scenario.write(tmp_path / 'x.pcap'), r'\\SRV01\Set(a)\Level'
    rows = [(r['Counter'], r['Mean']) for r in table(tshark, path, 'pcq,counters')]
    assert rows == [(level, '10'), ('values without a row (texts, repeated paths): 2', None)]
    tshark.run('-q', '-r', path, '-z', 'pcq,report,%s' % (tmp_path / 'page'))
    assert [(row[0], row[4]) for row in page_data((tmp_path / 'page').read_text())['series']] == [(level, 10)]
    assert [r['Server'] for r in table(tshark, path, 'pcq,queries')] == ['SRV01 (192.0.2.20)', 'SRV01 (192.0.2.21)']


def test_countersets_of_one_name(tshark, tmp_path):
    """The row, line and column of a path are the first's, and of its type; other values are left out, which is said."""
    sets = [multiple('Set', *[counter(i, 'PERF_COUNTER_RAWCOUNT', 'Level', lambda at, k, i=i: 10 * i) for i in (1, 2)], instances='a') for _ in range(2)]
    sets[1].guid = sets[1].guid[:-1] + '0'
    scenario, c = begin(Server(sets), *sets)
    h = run(c, [ask(sets[0], 1, 'a')], close=False)
    c.validate(h, [ask(sets[0], 1, 'a')], add=False)
    c.validate(h, [ask(sets[0], 2, 'a'), ask(sets[1], 1, 'a')])
    c.info(h)
    c.data(h, 9999)
    path, level = scenario.write(tmp_path / 'x.pcap'), '\\\\SRV01\\Set(a)\\Level'
    rows = [(r['Counter'], r['Mean']) for r in table(tshark, path, 'pcq,counters')]
    assert rows == [(level, '10'), ('values without a row (texts, repeated paths): 2', None)]
    tshark.run('-q', '-r', path, '-z', 'pcq,report,%s' % (tmp_path / 'page'), '-z', 'pcq,csv,%s' % (tmp_path / 'x.csv'))
    page = page_data((tmp_path / 'page').read_text())
    assert [(row[0], row[4]) for row in page['series']] == [(level, 10)] and page['roomless'] == 2
    assert [row[1:] for row in csv.reader((tmp_path / 'x.csv').open())] == [[level], *[['10.000000']] * 2, [' ']]


# --- languages ------------------------------------------------------------------------------------------------------

def learn_local(c, s, lcid):
    learn(c, s, codes=(1, 3, 5), lcid=lcid)


ORDERS = {
    'english-first': [lambda c, s: learn(c, s), lambda c, s: learn_local(c, s, GERMAN)],
    'german-first': [lambda c, s: learn_local(c, s, GERMAN), lambda c, s: learn(c, s)],
    'english-locale': [lambda c, s: learn_local(c, s, GERMAN), lambda c, s: learn_local(c, s, ENGLISH)],
    # which has no use for RequestLCID ([MS-PCQ] 3.1.4.1.2)
    'english-request-with-a-locale': [lambda c, s: [c.reg_info(s.guid, code, GERMAN) for code in (9, 10)],
                                      lambda c, s: learn(c, s, codes=(1,))],
    'english-locale-first': [lambda c, s: learn_local(c, s, ENGLISH), lambda c, s: learn_local(c, s, GERMAN)],
}


@pytest.mark.parametrize('order', ORDERS)
def test_english_names_are_preferred(tshark, tmp_path, order):
    scenario = capture_talk(Server([s := engine()]), lambda c: ([f(c, s) for f in ORDERS[order]], run(c, [ask(s, 1, 'a')])))
    frames = read(tshark, scenario, tmp_path)
    assert paths(scenario, frames) == ['\\\\SRV01\\Engine(a)\\Turns/sec']
    (number, _), = frames_of(scenario, VALIDATE, 'request')
    (_, label, frame), = learned(frames[number], 'pcq.counterset.name')
    assert 'German' not in label and 'English' not in label
    assert frame == (taught_in(scenario, 3, s.guid, ENGLISH) if order.startswith('english-locale') else taught_in(scenario, 9, s.guid))


def test_localized_names_with_their_locale(tshark, tmp_path, two_pass):
    """No English is known: the localized name is used, and the tree says which locale it is."""
    scenario = capture_talk(Server([s := engine()]), lambda c: (learn_local(c, s, GERMAN), run(c, [ask(s, n, 'a') for n in (1, 2, 3)])))
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    got = by_path(frames[answers(scenario)[-1][0]])
    assert got['\\\\SRV01\\Motor(a)\\Last'] == (3.0, None)
    (number, _), = frames_of(scenario, VALIDATE, 'response')
    for name, code, shown in (('pcq.counterset.name', 3, 'Motor'), ('pcq.counter.name', 5, 'Umdrehungen/s')):
        value, label, frame = learned(frames[number], name)[0]
        assert (value, frame) == (shown, taught_in(scenario, code, s.guid))
        assert 'german' in label.lower() or '0x0407' in label.lower() or 'de-de' in label.lower(), label


# --- what must not be learned ---------------------------------------------------------------------------------------

def rubbish(stub):
    """As a wrong key makes of it."""
    return bytes((x * 5 + i * 97 + 11) & 0xFF for i, x in enumerate(stub))


DAMAGES = {
    'rubbish': rubbish,
    'no-status': lambda stub: stub[:-4],
    'actual-count': lambda stub: stub[:16] + bytes([stub[16] ^ 0x10]) + stub[17:],
    'offset': lambda stub: stub[:12] + b'\1' + stub[13:],
    'max-count': lambda stub: stub[:8] + b'\0\0\0\0' + stub[12:],
    'empty': lambda stub: b'',
    'refused': lambda stub: stub[:-4] + b'\5\0\0\0',
}


@pytest.mark.parametrize('damage', DAMAGES)
def test_nothing_is_learned_from_damage(tshark, tmp_path, damage, two_pass):
    """Every registration answer is damaged: no name, no type, in no later frame."""
    s, scenario = engine(), Scenario()

    def alter(opnum, kind, stub):
        return DAMAGES[damage](stub) if (opnum, kind) == (REG_INFO, 'response') else stub
    c = tcp_line(scenario, Server([s]), alters=alter).client()
    learn(c, s, codes=(1, 2, 3, 5, 9, 10), lcid=GERMAN)
    run(c, [ask(s, 1, 'a'), ask(s, NONE, '*')])
    learn(c, s)
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    for number in [n for o in (VALIDATE, DATA) for k in ('request', 'response') for n, _ in frames_of(scenario, o, k)]:
        assert not frames[number].all('pcq.learned_in'), number
    assert set(paths(scenario, frames)) == {'\\\\SRV01\\{%s}(%s)\\#%d' % (s.guid, i, n) for i in 'ab' for n in (1, 2, 3)}
