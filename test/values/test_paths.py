# SPDX-License-Identifier: GPL-2.0-or-later
"""Which identifier a block belongs to, and the path that each value gets."""

import itertools

import pytest

from gen import buffers, client, model, stubs
from gen.buffers import NONE
from gen.model import ENGLISH
from gen.scene import Scene, tcp_line
from gen.story import Server, answers, ask, begin, counter, learn, multiple, run, single, story, unseen
from gen.stubs import INFO, VALIDATE
from learned import compare_paths, compare_values, one, read

ASSUMED = 'pcq.expert.order_assumed'
MODES = pytest.mark.parametrize('info', [True, False], ids=['with-info', 'without-info'])


def paths(frame):
    return [one(x, 'pcq.path') for x in frame.values]


def gauge(name='Set', count=4, **more):
    return multiple(name, *[counter(i, 'PERF_COUNTER_RAWCOUNT', 'Counter %d' % i, lambda at, k, i=i: 10 * i + k)
                            for i in range(1, count + 1)], **more)


def truth(message):
    return [v['path'] for v in message.record['values']]


# --- which block is whose -------------------------------------------------------------------------------------------


@pytest.mark.parametrize('removed', [0, 1])
def test_an_old_index_does_not_hold_after_a_change(tshark, tmp_path, removed):
    """Info, then a change whose info was not captured, and maybe as many counters as before: the old places must not be
    used without a word."""
    s = gauge()
    scene, c = begin(Server([s], order=lambda q: list(range(len(q.identifiers)))[::-1]), s)
    h = c.query([ask(s, 1, 'a'), ask(s, 2, 'a')])
    c.data(h, 9999)
    for i in range(removed):
        c.validate(h, [ask(s, 1 + i, 'a')], add=False)
    c.validate(h, [ask(s, 3, 'a')])
    c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, two_pass=True)
    first, second = answers(scene)
    assert paths(frames[first[0]]) == truth(first[1])
    shown = paths(frames[second[0]])
    assert len(shown) == 3 - removed
    assert None not in shown and ASSUMED in frames[second[0]].experts


OF_OWN_TYPES = {
    'four-types': lambda s: [ask(s, 1, 'a'), ask(s, NONE, 'a'), ask(s, 2, '*'), ask(s, NONE, '*')],
    'two-types': lambda s: [ask(s, 4, '*'), ask(s, NONE, 'b')],
}


@pytest.mark.parametrize('turn', [False, True], ids=['as-added', 'turned'])
@pytest.mark.parametrize('asked', OF_OWN_TYPES)
def test_without_info_where_each_has_a_type_of_its_own(tshark, tmp_path, asked, turn, two_pass):
    """In the order of the additions they are assumed so; in another their types do not fit, and nobody's names are shown."""
    s = gauge()
    server = Server([s], order=lambda q: list(range(len(q.identifiers)))[::-1] if turn else range(len(q.identifiers)))
    scene = story(server, lambda c: (learn(c, s), run(c, OF_OWN_TYPES[asked](s), info=False)))
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    for number, message in answers(scene):
        assert paths(frames[number]) == ([None] * len(truth(message)) if turn else truth(message))
        assert (ASSUMED in frames[number].experts) == (not turn)


SEVERAL = {
    'two-of-a-kind': lambda s: [ask(s, 1, 'a'), ask(s, 2, 'a')],
    'one-of-three': lambda s: [ask(s, NONE, '*'), ask(s, 3, '*'), ask(s, 1, '*')],
    'five': lambda s: [ask(s, i, n) for n in 'ab' for i in (1, 2, 3)][:5],
    'one-of-two-failed': lambda s: [ask(s, 1, 'a'), ask(s, 2, 'nobody')],
    'an-error-among-them': lambda s: [ask(s, 1, 'nobody'), ask(s, NONE, '*'), ask(s, 3, '*')],
}


@pytest.mark.parametrize('asked', SEVERAL)
@pytest.mark.parametrize('turn', [False, True], ids=['as-added', 'turned'])
def test_without_info_where_several_orders_are_possible(tshark, tmp_path, asked, turn, two_pass):
    """Names that may be wrong say so by an expert, or there are none; nobody reads a wrong name without a warning."""
    s = gauge()
    server = Server([s], order=lambda q: list(range(len(q.identifiers)))[::-1] if turn else range(len(q.identifiers)))
    scene = story(server, lambda c: (learn(c, s), run(c, SEVERAL[asked](s), info=False)))
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    for number, message in answers(scene):
        shown = paths(frames[number])
        right = truth(message)
        assert len(shown) == len(right)
        fits = not (turn and asked in ('one-of-three', 'an-error-among-them'))     # else dwTypes contradict the order of the additions
        assert (ASSUMED in frames[number].experts) == fits
        assert shown == right if not turn else (None not in shown if fits else shown == [None] * len(shown))


def test_info_without_the_additions(tshark, tmp_path, two_pass):
    """The capture begins behind the additions: QueryCounterInfo names all counters, so everything is known."""
    s = gauge()
    server = Server([s], order=lambda q: [1, 2, 0])
    scene, c = begin(server)
    hidden = unseen(server)
    learn(c, s)
    h = hidden.query([ask(s, 1, 'a'), ask(s, NONE, '*'), ask(s, 2, '*')], info=False)
    c.info(h)
    c.data(h, 9999)
    c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    shown = {n: paths(frames[n]) for n, _ in answers(scene)}
    # szMachine was in the request that opened the query: the address stands for it
    for number, message in answers(scene):
        assert shown[number] == [p.replace('\\\\SRV01', '\\\\192.0.2.20') for p in truth(message)]
    compare_values(frames, scene)


@pytest.mark.parametrize('gone', [[], [3]], ids=['', 'less'])
def test_a_change_after_info_without_the_additions(tshark, tmp_path, gone, two_pass):
    """QueryCounterInfo gave the whole list, without what was added and then removed unseen; what is added behind it is
    assumed to stand behind it."""
    s = gauge()
    server = Server([s])
    scene, c = begin(server)
    hidden = unseen(server)
    learn(c, s)
    h = hidden.open()
    for i in gone:
        c.validate(h, [ask(s, i, 'b')])
        hidden.validate(h, [ask(s, i, 'b')], add=False)
    hidden.validate(h, [ask(s, 1, 'a'), ask(s, NONE, '*')])
    c.info(h)
    c.validate(h, [ask(s, 2, '*')])
    c.data(h, 9999)
    c.validate(h, [ask(s, NONE, '*')], add=False)
    c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    for number, message in answers(scene):
        assert paths(frames[number]) == [p.replace('\\\\SRV01', '\\\\192.0.2.20') for p in truth(message)]
        assert ASSUMED in frames[number].experts


def test_an_addition_to_a_query_that_began_before(tshark, tmp_path, two_pass):
    """One addition was captured, others were not: its counter must not be given all the blocks."""
    s = gauge()
    server = Server([s])
    scene, c = begin(server)
    hidden = unseen(server)
    learn(c, s)
    h = hidden.query([ask(s, 1, 'a'), ask(s, 2, 'a')], info=False)
    c.validate(h, [ask(s, 3, 'a')])
    c.data(h, 9999)
    hidden.validate(h, [ask(s, 1, 'a'), ask(s, 2, 'a')], add=False)
    c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    for number, message in answers(scene):
        assert paths(frames[number]) == [None] * len(truth(message)) and ASSUMED not in frames[number].experts


@pytest.mark.parametrize('was, now', [((1, 'a'), (NONE, '*')), ((1, 'a'), (1, '*')), ((1, '*'), (1, 'a'))])
def test_a_block_that_cannot_be_its_identifiers(tshark, tmp_path, was, now, two_pass):
    """The counters changed unseen between info and sample, and the dwTypes show it: no wrong name on another dwType."""
    s = gauge()
    server = Server([s])
    scene, c = begin(server)
    hidden = unseen(server)
    learn(c, s)
    h = c.query([ask(s, *was)])
    hidden.validate(h, [ask(s, *was)], add=False)
    hidden.validate(h, [ask(s, *now)])
    c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    (number, message), = answers(scene)
    assert truth(message) and paths(frames[number]) == [None] * len(truth(message))


@pytest.mark.parametrize('what', ['info', 'add', 'remove'])
def test_damage_to_what_tells_the_order(tshark, tmp_path, what, two_pass):
    """The stub of that answer does not add up: names are right ('+'), said to be assumed ('?'), or stay away ('-')."""
    s = gauge()
    scene = Scene()
    opnum, which = {'info': (INFO, 1), 'add': (VALIDATE, 1), 'remove': (VALIDATE, 2)}[what]
    seen = itertools.count()

    def alter(op, kind, stub):
        return stub[:-9] if (op, kind) == (opnum, 'response') and next(seen) == which else stub
    server = Server([s], order=lambda q: list(range(len(q.identifiers)))[::-1])
    c = tcp_line(scene, server, alters=alter).client()
    learn(c, s)
    h = c.open()
    for asked, add in (([ask(s, 1, 'a'), ask(s, 2, 'a')], True), ([ask(s, 3, 'a')], True), ([ask(s, 1, 'a')], False)):
        data = buffers.identifiers(asked)
        c.call(VALIDATE, stubs.request(VALIDATE, hQuery=h, lpData=data, dwAdd=int(add)))
        if what == 'info' or add and len(asked) == 2:
            c.call(INFO, stubs.request(INFO, hQuery=h, dwInSize=9999))
        c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    said = ''
    for number, message in answers(scene):
        shown, is_assumed = paths(frames[number]), ASSUMED in frames[number].experts
        said += '?' if is_assumed and None not in shown else '+' if shown == truth(message) else '-' if not any(shown) else 'wrong'
    assert said == {'info': '+?+', 'add': '+--', 'remove': '+?-'}[what]


def test_damaged_changes_that_leave_as_many(tshark, tmp_path, two_pass):
    """One counter took another's place, and neither answer that says so could be read."""
    s = gauge()
    scene = Scene()
    seen = itertools.count()

    def alter(op, kind, stub):
        return stub[:-9] if (op, kind) == (VALIDATE, 'response') and next(seen) > 0 else stub
    c = tcp_line(scene, Server([s]), alters=alter).client()
    learn(c, s)
    h = c.open()
    for asked, add in ((ask(s, 1, 'a'), True), (ask(s, 2, 'a'), True), (ask(s, 1, 'a'), False)):
        c.call(VALIDATE, stubs.request(VALIDATE, hQuery=h, lpData=buffers.identifiers([asked]), dwAdd=int(add)))
    c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    (number, message), = answers(scene)
    assert truth(message) == ['\\\\SRV01\\Set(a)\\Counter 2'] and paths(frames[number]) == [None]


# --- what a path looks like -----------------------------------------------------------------------------------------


def test_the_notation(tshark, tmp_path, two_pass):
    """PDH notation written out for each shape of a query; the one file of expectations that no model computed."""
    one_only = single('System Things', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Up Time', [5]),
                      counter(2, 'PERF_COUNTER_RAWCOUNT', None, [6]))
    many = multiple('Lanes', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Cars/sec', [5]), counter(2, 'PERF_COUNTER_RAWCOUNT', None, [6]),
                    instances=[(4, 'left', 0), (4, 'left', 0), (9, 'right', 1), (5, 'left', 2)])
    stranger = multiple('not browsed', counter(1, 'PERF_COUNTER_RAWCOUNT', 'not browsed', [1]), instances=['x', 'x'])
    asked = [ask(one_only, 1), ask(one_only, NONE), ask(many, 1, 'left'), ask(many, NONE, 'right'), ask(many, 1, '*'),
             ask(many, NONE, '*'), ask(stranger, 1, '*'), ask(many, 1, 'r*', instance_id=9)]
    scene = story(Server([one_only, many, stranger]), lambda c: (learn(c, one_only, many), run(c, asked, 1)))
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    lanes = '\\\\SRV01\\Lanes'
    unknown = '\\\\SRV01\\{%s}' % stranger.guid
    assert paths(frames[answers(scene)[0][0]]) == [
        '\\\\SRV01\\System Things\\Up Time',
        '\\\\SRV01\\System Things\\Up Time', '\\\\SRV01\\System Things\\#2',
        lanes + '(left)\\Cars/sec',
        lanes + '(right)\\Cars/sec', lanes + '(right)\\#2',
        lanes + '(left)\\Cars/sec', lanes + '(left#1)\\Cars/sec', lanes + '(right)\\Cars/sec', lanes + '(left#2)\\Cars/sec',
        lanes + '(left)\\Cars/sec', lanes + '(left)\\#2', lanes + '(left#1)\\Cars/sec', lanes + '(left#1)\\#2',
        lanes + '(right)\\Cars/sec', lanes + '(right)\\#2', lanes + '(left#2)\\Cars/sec', lanes + '(left#2)\\#2',
        unknown + '(x)\\#1', unknown + '(x#1)\\#1',
        lanes + '(right)\\Cars/sec']


@pytest.mark.parametrize('machine, shown', [
    ('\\\\SRV01', 'SRV01'), ('SRV01', 'SRV01'), ('\\\\srv.example.com', 'srv.example.com'), ('\\\\10.1.2.3', '10.1.2.3'),
    ('\\\\[2001:db8::1]', '[2001:db8::1]'), ('', '192.0.2.20'), ('', '2001:db8::20'), ('\\\\', '192.0.2.20'), ('\\\\Ω-сервер', 'Ω-сервер')])
def test_the_server(tshark, tmp_path, machine, shown):
    """szMachine without its backslashes, or the server's address where it is empty."""
    s = gauge(count=1)
    scene = Scene()
    c = tcp_line(scene, Server([s]), v6=shown == '2001:db8::20').client(machine)
    learn(c, s)
    run(c, [ask(s, 1, 'a')], 1)
    frames = read(tshark, scene, tmp_path)
    assert paths(frames[answers(scene)[0][0]]) == ['\\\\%s\\Set(a)\\Counter 1' % shown]


@MODES
def test_single_instance_sets_have_no_parentheses(tshark, tmp_path, info):
    """Without a name in the identifier, with an empty one, which [MS-PCQ] 2.2.4.6 also has, and with that of the only
    instance, as .NET's example has it."""
    s = single('Alone', counter(1, 'PERF_COUNTER_RAWCOUNT', 'One', [1]), counter(2, 'PERF_COUNTER_RAWCOUNT', 'Two', [2]))
    asked = [[ask(s, 1, name), ask(s, NONE, name)] for name in (None, '', 'Alone Instance')]
    for names, which in zip(('none', 'empty', 'one'), asked):
        scene = story(Server([s]), lambda c: (learn(c, s), run(c, which, 1, info)))
        frames = read(tshark, scene, tmp_path)
        alone = '\\\\SRV01\\Alone\\'
        assert paths(frames[answers(scene)[0][0]]) == [alone + 'One', alone + 'One', alone + 'Two'], names


def test_a_set_registered_anew_as_another_kind(tshark, tmp_path):
    """A provider's new version has one instance where there were many: the newest registration is what is right."""
    many = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'One', [1]), instances=['x'])
    one = single('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'One', [1]))
    one.guid = many.guid
    server = Server([many])
    scene, c = begin(server, many)
    run(c, [ask(many, 1, 'x')], 1)
    server.sets[:] = [one]
    learn(c, one)
    run(c, [ask(one, 1, 'Set Instance')], 1)
    frames = read(tshark, scene, tmp_path)
    assert [paths(frames[n]) for n, _ in answers(scene)] == [['\\\\SRV01\\Set(x)\\One'], ['\\\\SRV01\\Set\\One']]


def test_parentheses_of_sets_of_unknown_kind(tshark, tmp_path):
    """Nothing was browsed: an identifier without a name is that of a single-instance set."""
    alone, many = single('Alone', counter(1, 'PERF_COUNTER_RAWCOUNT', 'x', [1])), gauge(count=1)
    scene = story(Server([alone, many]), lambda c: run(c, [ask(alone, 1), ask(many, 1, 'b')], 1))
    frames = read(tshark, scene, tmp_path)
    assert paths(frames[answers(scene)[0][0]]) == ['\\\\SRV01\\{%s}\\#1' % alone.guid, '\\\\SRV01\\{%s}(b)\\#1' % many.guid]


ODD = ['', ' ', '_Total', 'a' * 1023, '\U0001F98A\U0001F6A2', 'CJK 性能', '\u202eleft', 'a(b)c', 'a\\b', 'a/b#1', '*not a star',
       '?', 'per%cent %s %n', '"quoted"', '<xml>&amp;', 'é', 'é', '#7', '{guid}', 'nul\u2400', 'line\u2028end']


def test_odd_characters(tshark, tmp_path):
    """Names of instances, sets and counters as they are, of any length and script, with no meaning given to any of it."""
    counters = [counter(i, 'PERF_COUNTER_RAWCOUNT', n, [i]) for i, n in enumerate(
        ['% Time', 'a\\b(c)', '\U0001F697' * 511, '#1', '{x}', '<b>', 'tab\there', 'bell\x07'])]
    s = multiple('Spuren (\U0001F6A6) 100% \\ "x"', *counters, instances=ODD)
    scene = story(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, NONE, '*'), ask(s, 3, '*')], 1)))
    frames = read(tshark, scene, tmp_path)
    compare_paths(frames, scene)


def test_long_names(tshark, tmp_path):
    """65,000 characters of a counter's name, and as many of a set's: a path shows 1,024 of each."""
    s = multiple('S' * 65000, counter(1, 'PERF_COUNTER_RAWCOUNT', 'n' * 65000, [1]), instances=['i' * 32000])
    scene = story(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, 1, '*')], 1)))
    frames = read(tshark, scene, tmp_path)
    path, = paths(frames[answers(scene)[0][0]])
    assert path == '\\\\SRV01\\%s…(%s…)\\%s…' % ('S' * 1024, 'i' * 1024, 'n' * 1024)


def test_lone_surrogates(tshark, tmp_path):
    """Half a character is shown as U+FFFD, and the path still stands."""
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'x\udc00y', [1]), instances=['\ud83d', 'b'])
    s.names[ENGLISH] = 'Set \ud800'
    scene = story(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, 1, '*')], 1)))
    frames = read(tshark, scene, tmp_path)
    for path, instance in zip(paths(frames[answers(scene)[0][0]]), ('\ufffd', 'b')):
        # for a damaged name what is known for certain may stand instead
        assert path in ['\\\\SRV01\\%s(%s)\\%s' % (x, instance, y) for x in ('Set \ufffd', '{%s}' % s.guid)
                        for y in ('x\ufffdy', '#1')]


def test_equal_names_have_a_path_each(tshark, tmp_path):
    """#1 for the second of equal names, and no two values with one path, in blocks of one counter and of all."""
    s = gauge(count=2, instances=[(0, 'x', 0), (1, 'x', 1), (0, 'y', 2), (0, 'x', 3)])
    scene = story(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, NONE, '*')], 2)))
    frames = read(tshark, scene, tmp_path)
    for number, _ in answers(scene):
        got = paths(frames[number])
        assert len(set(got)) == len(got) == 8
        assert got[::2] == ['\\\\SRV01\\Set(%s)\\Counter 1' % n for n in ('x', 'x#1', 'y', 'x#2')]


def test_a_path_for_each_value_and_where(tshark, tmp_path):
    """pcq.path is in its pcq.counter_data, generated, once; the label of the structure has it too."""
    server = Server(model.countersets(), clock=model.Clock())
    scene = story(server, lambda c: client.whole(c, server.sets))
    frames = read(tshark, scene, tmp_path)
    for number, _ in answers(scene):
        values = frames[number].values
        assert len(frames[number].all('pcq.path')) == len(values) > 0
        for x in values:
            field, = x.own('pcq.path')
            assert field.size == 0
            assert len(field.show) > 60 or not field.show.isprintable() or field.show in x.label


def test_filters_find_paths(tshark, tmp_path):
    """A display filter by path or value finds the frame, with no tree asked for."""
    s = gauge()
    scene = story(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, NONE, '*')], 2)))
    path = scene.write(tmp_path / 'x.pcap')
    numbers = [str(n) for n, _ in answers(scene)]
    for text in (r'pcq.path == "\\\\SRV01\\Set(b)\\Counter 4"', 'pcq.path contains "Counter 4"', 'pcq.cooked == 41',
                 'pcq.cooked.none == 0 || pcq.cooked > 40'):
        assert [r[0] for r in tshark.fields(path, ['frame.number'], '-Y', text)] == numbers, text
    assert tshark.fields(path, ['frame.number'], '-Y', 'pcq.path contains "Counter 5"') == []


def test_changed_counters_without_info(tshark, tmp_path):
    """Added, then removed: what is left alone is certain, several are assumed to stand as they were added."""
    s = gauge()
    scene, c = begin(Server([s]), s)
    h = c.query([ask(s, 1, 'a'), ask(s, NONE, '*')], info=False)
    c.data(h, 9999)
    c.validate(h, [ask(s, 1, 'a')], add=False)
    c.data(h, 9999)
    c.validate(h, [ask(s, 3, 'b')])
    c.data(h, 9999)
    c.validate(h, [ask(s, 77, 'b')])
    c.data(h, 9999)
    # the first of three is left
    h = c.query([ask(s, i, 'a') for i in (1, 2, 3)], info=False)
    c.validate(h, [ask(s, i, 'a') for i in (2, 3)], add=False)
    c.data(h, 9999)
    for two_pass in (False, True):
        frames = read(tshark, scene, tmp_path, two_pass=two_pass)
        compare_paths(frames, scene)
        assert [ASSUMED in frames[number].experts for number, _ in answers(scene)] == [True, False, True, True, False]


def test_a_refused_counter_has_no_block(tshark, tmp_path, two_pass):
    """Refused in the call that the others were accepted in, and nothing tells the order."""
    s = gauge()
    scene = story(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, 77, 'a'), ask(s, 1, 'a'), ask(s, 78, '*')], info=False)))
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    compare_paths(frames, scene)
    assert not [f for f in frames.values() if ASSUMED in f.experts]


@pytest.mark.parametrize('kind', ['a', '*'])
def test_a_counter_in_anothers_place_without_info(tshark, tmp_path, kind, two_pass):
    """Removed, and another of the same kind added: its block looks like the first one's, but is its own."""
    s = gauge()
    scene, c = begin(Server([s]), s)
    h = c.open()
    for i in (1, 2, 3, 1):
        c.validate(h, [ask(s, i, kind)])
        c.data(h, 9999)
        c.data(h, 9999)
        c.validate(h, [ask(s, i, kind)], add=False)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    compare_paths(frames, scene)
    shown = [paths(frames[number])[0] for number, _ in answers(scene)]
    assert [p.rpartition(' ')[2] for p in shown] == list('11223311')
