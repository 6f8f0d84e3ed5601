# SPDX-License-Identifier: GPL-2.0-or-later
"""What a server sends first stays; what it sends otherwise later makes it assumed, wherever it is shown."""

import pytest

from gen.hkpd_block import Counter, Object
from gen.hkpd_scenario import Talk, begin_talk
from gen.model import GERMAN, TYPES
from gen.record import utf16
from gen.scenario import Scenario
from gen.scripted import Server, ask, begin, counter, learn, multiple, run
from series import long_rows

BULK, RAW = 'PERF_COUNTER_BULK_COUNT', 'PERF_COUNTER_RAWCOUNT'
LARGE = 'PERF_COUNTER_LARGE_RAWCOUNT'


def engine(name='Turns', kind=BULK, local='Umdrehungen'):
    s = multiple('Engine', counter(1, kind, name, lambda at, k: 10 * at.number), instances=['a'])
    s.names[GERMAN], s.counters[0].names[GERMAN] = 'Motor', local
    return s


# what the server sends of one counter, before the first of two samples, between both, and behind; its name, and whether it is assumed in each
SENT = {
    'alike': (['Turns'] * 3, 'Turns', '00', '00'),
    'otherwise between': (['Turns', 'Strokes', 'Turns'], 'Turns', '01', '11'),
    'otherwise behind': (['Turns', '', 'Strokes'], 'Turns', '00', '11'),
    'another type': (['Turns', LARGE, ''], 'Turns', '01', '11'),
    'another language': (['de', 'Turns', ''], 'Turns', '00', '00'),
    'two languages, one of them otherwise': (['Turns', 'de', 'de2'], 'Turns', '00', '00'),
    'a local name otherwise': (['de', 'de2', ''], 'Umdrehungen', '01', '11'),
}


@pytest.mark.parametrize('case', SENT)
def test_what_is_sent_first_stays(tshark, tmp_path, case, two_pass):
    sent, name, once, twice = SENT[case]
    s = engine()
    scenario, c = begin(server := Server([s]))
    learn(c, s, codes=(1, 9))
    h = c.query([ask(s, 1, 'a')])
    for number, what in enumerate(sent):
        shape = {'': {}, 'de': {}, 'de2': dict(local='Drehungen'), LARGE: dict(kind=LARGE)}.get(what, dict(name=what))
        server.sets = [engine(**shape)]
        server.sets[0].guid = s.guid
        if what:
            learn(c, *server.sets, codes=(5,) if what[:2] == 'de' else (1, 10), lcid=GERMAN)
        for _ in range(number < 2):
            c.data(h, 9999)
    rows = long_rows(tshark.run('-q', '-r', scenario.write(tmp_path / 'a.pcap'), '-z', 'pcq,long,-', *['-2'] * two_pass)[0])
    is_first_local = case == 'another language' and not two_pass
    assert [r['counter'] for r in rows] == ['Umdrehungen' if is_first_local else name, name]
    assert ''.join(r['assumed'] for r in rows) == (twice if two_pass else once)
    assert rows[1]['result'] != '', 'a mark takes no result'


def titles_of(scenario, *lists, types=(RAW, RAW), languages=('Counter 009',) * 2):
    """A sample, and another one behind each list of titles."""
    talk = Talk(scenario, objects=[], client_port=50001)
    talk.open()
    for number, pairs in enumerate(lists):
        kind = types[min(number, len(types) - 1)]
        talk.objects = [Object(5000, 'Set', [Counter(5002, 'One', TYPES[kind], lambda at, k: 1, 4)])]
        if isinstance(pairs, bytes):
            talk.ask(languages[number], pairs)
        elif pairs:
            talk.titles(languages[number], pairs)
        talk.sample()


SET = {5000: 'Set', 5002: 'One'}
# What stands behind bytes that are no title is assumed
BROKEN, BROKEN_TWO = (utf16('1\x005004\x005000\0Set\0five\0No\x005002\0%s\0\0' % name) for name in ('One', 'Two'))
TITLES = {
    'alike': ([SET, SET], {}, '00', '00'),
    'fewer': ([SET, {5000: 'Set'}], {}, '00', '00'),
    'otherwise': ([SET, {**SET, 5002: 'Two'}], {}, '01', '11'),
    'behind assumed ones': ([BROKEN, SET], {}, '10', '00'),
    'before assumed ones': ([SET, BROKEN_TWO], {}, '00', '00'),
    'in another language': ([SET, {**SET, 5002: 'Two'}], dict(languages=('Counter 007', 'Counter 00C')), '00', '00'),
}


@pytest.mark.parametrize('case', TITLES)
def test_titles(tshark, tmp_path, case, two_pass):
    """A counter of another type is another one by now: its title and its object's, too."""
    lists, how, once, twice = TITLES[case]
    titles_of(scenario := Scenario(), *lists, **how)
    path, passes = scenario.write(tmp_path / 'a.pcap'), ['-2'] * two_pass
    rows = long_rows(tshark.run('-q', '-r', path, '-z', 'pcq,long,-', *passes)[0])
    definitions = [line for line in tshark.run('-r', path, '-V', '-O', 'hkpd', *passes)[0].split('\n') if 'definition: One' in line]
    assert {(r['counterset'], r['counter']) for r in rows} == {('Set', 'One')}
    assert ''.join(r['assumed'] for r in rows) == ''.join(str(int('One (assumed)' in line)) for line in definitions) == (twice if two_pass else once)


@pytest.mark.parametrize('known, counter', [(None, 'Eins'), ('Counter 007', 'Uno'), ('Counter 009', 'Uno')])
def test_an_unknown_language_gives_way(tshark, tmp_path, known, counter, two_pass):
    """A list called "Counter" of a key whose opening was not captured is in any language: it is used, and disputes nothing."""
    scenario, talk = begin_talk([Object(5000, 'Set', [Counter(5002, 'One', TYPES[RAW], lambda at, k: 1, 4)])], titles=False)
    key = bytes(19) + b'\1'
    talk.titles('Counter', {5000: 'Satz', 5002: 'Eins'}, handle=key)
    if known:
        talk.titles(known, {5000: 'Set', 5002: 'Uno'})
    talk.titles('Counter', {5000: 'Menge', 5002: 'Drei'}, handle=key)
    talk.sample()
    row, = long_rows(tshark.run('-q', '-r', scenario.write(tmp_path / 'a.pcap'), '-z', 'pcq,long,-', *['-2'] * two_pass)[0])
    assert (row['counter'], row['assumed']) == (counter, '0')


def test_a_names_file_has_no_disputed_names(tshark, tmp_path):
    """One comment counts them, and no address has a port."""
    s, other = engine(), engine('Strokes')
    other.guid = s.guid
    scenario, c = begin(server := Server([s]), s)
    server.sets = [other]
    learn(c, other)
    tshark.run('-q', '-r', scenario.write(tmp_path / 'a.pcap'), '-z', 'pcq,names,%s' % (tmp_path / 'names'))
    lines = (tmp_path / 'names').read_text().splitlines()
    assert [x for x in lines if x.startswith('server')] == ['server\t192.0.2.20']
    assert not any('Turns' in x or 'Strokes' in x for x in lines)
    assert lines[-1] == '# omitted: 1 names and types that are assumed'


def test_the_mark_is_the_same_everywhere(tshark, tmp_path):
    """Of what was refused, too, which has no value."""
    s, renamed = engine(), engine('Strokes')
    renamed.guid = s.guid
    scenario, c = begin(server := Server([s], refuses=4201), s)
    c.validate(c.open(), [ask(s, 1, 'a')])
    server.refuses = None
    run(c, [ask(s, 1, 'a'), ask(s, name='a')], 1)
    server.sets = [renamed]
    learn(c, renamed)
    path, shown = scenario.write(tmp_path / 'x.pcap'), '\\Engine(a)\\Turns (assumed)'
    for passes, assumed in ([], False), (['-2'], True):
        lines = [*tshark.run('-r', path, '-V', '-O', 'pcq', '-z', 'pcq,summary', *passes)[0].split('\n'), *tshark.info(path, *passes).values()]
        assert [line for line in lines if '(a)\\Turns' in line and ' = ' not in line and line[-6:] != 'Turns]' and (shown in line) != assumed] == []
        assert [line.split(',')[0].strip() for line in lines if '  Block ' in line][1:] == ['Block 1: \\Engine(a)\\*']
    told = tshark.fields(path, ['_ws.expert.message'], '-2', '-Y', 'pcq.expert.order_assumed && pcq.identifier')
    assert told and all('frame %d has another name' % max(scenario.frames) in text for text, in told)
