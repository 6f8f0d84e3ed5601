# SPDX-License-Identifier: GPL-2.0-or-later
"""The names file: what one capture taught, for another that lacks it. Read and written by docs/names-file.md."""

import os
import re
import uuid

import pytest

import cost
from gen import client, model
from gen.buffers import NONE
from gen.model import ENGLISH, GERMAN, JAPANESE, TYPES
from gen.server import Query, bounded
from gen.scripted import Server, answers, ask, begin, counter, frames_of, learn, multiple, run, capture_talk
from gen.every_type import UNDECIDED
from gen.hostile import Pcq, string_table, utf16
from gen.stubs import VALIDATE
from learned import by_path, close_to, compare_paths, compare_values, one, read, read_and_said
from test_order import sharkd  # noqa: F401 (a fixture)

SERVER, OTHER = '192.0.2.20', '192.0.2.77'
ESCAPES = {'\\\\': '\\', '\\t': '\t', '\\n': '\n', '\\r': '\r'}


def write(tshark, scenario, folder, name='names', *args):
    """The names file of a scenario."""
    out = folder / name
    capture = scenario.write(folder / (name + '.pcap'))
    tshark.run('-q', '-r', capture, '-z', 'pcq,names,%s' % out, *scenario.options, *args)
    return out


def unescape(text):
    return re.sub(r'\\[\\tnr]', lambda pair: ESCAPES[pair[0]], text)


def identifier(text):
    return NONE if text == '-' else int(text, 0)


def facts(path):
    """The file by its documentation: {(server, 'name', GUID, id, language): text, …}"""
    out, server = {}, None
    text = path.read_text('utf-8')
    assert text.endswith('\n') and '\r' not in text
    for line in text[:-1].split('\n'):
        if not line or line.startswith('#'):
            continue
        kind, *f = line.split('\t')
        if kind == 'server':
            server, = f
        elif kind == 'set':
            guid, instances = f
            out[server, kind, guid] = int(instances, 0)
        elif kind == 'name':
            guid, cid, language, name = f
            key = server, kind, guid, identifier(cid), 'en' if language == 'en' else int(language, 0)
            assert key not in out
            out[key] = unescape(name)
        elif kind == 'counter':
            guid, cid, ctype, *ids, scale = f
            out[server, kind, guid, identifier(cid)] = (int(ctype, 0), *map(identifier, ids), int(scale))
        else:
            assert kind == 'title', line
    return out


def truth(sets, server=SERVER, languages=(ENGLISH, GERMAN)):
    """What the model's sets have, in the same form."""
    out = {}
    for s in sets:
        guid = '{%s}' % s.guid
        out[server, 'set', guid] = s.kind
        # a set that has no name in a language answers with the English one
        own = {lcid: s.names.get(lcid, s.name) for lcid in languages}
        for cid, names in [(NONE, own), *((c.id, c.names) for c in s.counters)]:
            for lcid in languages:
                if names.get(lcid):
                    out[server, 'name', guid, cid, 'en' if lcid == ENGLISH else lcid] = bounded(names[lcid])
        for c in s.counters:
            out[server, 'counter', guid, c.id] = (c.type, c.base, c.time, c.freq, c.multi, c.scale)
    return out


def both_languages(c, *sets):
    learn(c, *sets)
    for s in sets:
        c.reg_info(s.guid, 3, GERMAN)
        c.reg_info(s.guid, 5, GERMAN)


def engine(name='Engine'):
    s = multiple(name, counter(1, 'PERF_COUNTER_BULK_COUNT', 'Turns/sec', lambda at, k: 100 * at.number, scale=-3),
                 counter(2, 'PERF_AVERAGE_BULK', 'Load', lambda at, k: 6 * at.number, base=3),
                 counter(3, 'PERF_AVERAGE_BASE', None, lambda at, k: 2 * at.number))
    s.names[GERMAN], s.counters[1].names[GERMAN] = 'Motor', 'Last'
    return s


def queried(s, **options):
    """A capture with the query alone."""
    return capture_talk(Server([s]), lambda c: run(c, [ask(s, NONE, '*')]), **options)


def with_file(tshark, tmp_path, scenario, path, **options):
    return read(tshark, scenario, tmp_path, '-o', 'pcq.names_file:%s' % path, **options)


def what_is_said(tshark, tmp_path, s, text):
    """Lines of a names file that tells all of this set, whatever else it says."""
    (tmp_path / 'names').write_bytes(text)
    scenario = queried(s)
    frames, err = read_and_said(tshark, scenario.write(tmp_path / 'x.pcap'), '-o', 'pcq.names_file:%s' % (tmp_path / 'names'))
    compare_paths(frames, scenario)
    assert compare_values(frames, scenario) == 4
    return [x for x in err.splitlines() if 'line' in x or 'skipped' in x]


# --- there and back -------------------------------------------------------------------------------------------------

def test_it_holds_all_that_the_capture_taught(tshark, tmp_path):
    """Every set, type, relation, scale and name of the model, in English and German, and nothing else."""
    sets = model.countersets()
    server = Server(sets, clock=model.Clock())
    scenario = capture_talk(server, lambda c: both_languages(c, *sets))
    assert facts(write(tshark, scenario, tmp_path)) == truth(sets)


def test_it_holds_the_first_locale_beside_english(tshark, tmp_path, monkeypatch):
    monkeypatch.setattr('gen.server.LANGUAGES', (ENGLISH, GERMAN, JAPANESE))
    s = engine()
    s.names[JAPANESE], s.counters[1].names[JAPANESE] = 'エンジン', '負荷'
    scenario, c = begin(Server([s]))
    for lcid in JAPANESE, GERMAN:
        c.reg_info(s.guid, 3, lcid)
        c.reg_info(s.guid, 5, lcid)
    learn(c, s)
    assert facts(write(tshark, scenario, tmp_path)) == truth([s], languages=(ENGLISH, JAPANESE))


def test_a_session_without_its_browsing(tshark, tmp_path):
    """The registration calls are cut out, the names file takes their place: the same paths and values."""
    browsed = Server(model.countersets(), clock=model.Clock())
    names = write(tshark, capture_talk(browsed, lambda c: client.browse(c, browsed.sets)), tmp_path)
    server = Server(model.countersets(), clock=model.Clock(), order=Query.block_order)
    scenario = capture_talk(server, lambda c: client.query(c, client.wanted(server.sets), 3))
    frames = with_file(tshark, tmp_path, scenario, names)
    compare_paths(frames, scenario)
    assert compare_values(frames, scenario, UNDECIDED) > 200
    assert not [x for f in frames.values() for x in f.all('pcq.learned_in')], 'no frame taught anything'


def test_a_second_round(tshark, tmp_path):
    """What the file told is not what the next capture taught, of which an empty file would replace a good one and help nobody;
    written again from the first it is the same file."""
    s = engine()
    browsed = capture_talk(Server([s]), lambda c: both_languages(c, s))
    first = write(tshark, browsed, tmp_path, 'first')
    option = '-o', 'pcq.names_file:%s' % first
    capture, second = queried(s).write(tmp_path / 'second.pcap'), tmp_path / 'second'
    precious = '# precious\nserver\t%s\n' % SERVER     # a comment alone is a log of some CAN bus to Wireshark 4.4
    second.write_text(precious)
    done = tshark.start('-q', '-r', capture, '-z', 'pcq,names,%s' % second, *option)
    assert done.returncode == 1 and b'no names' in done.stderr and second.read_text() == precious
    again = write(tshark, browsed, tmp_path, 'third', *option)
    assert again.read_bytes() == first.read_bytes()
    assert write(tshark, browsed, tmp_path, 'fourth', '-2').read_bytes() == first.read_bytes()


ODD = ['tab\there', 'line\nfeed', 'carriage\rreturn', 'back\\slash', '\\t', '\\', '#comment', '"quoted"', '\U0001F6A6 \u6027\u80fd',
       ' in front', 'behind ', ' ', '  two  ', '-', '*', 'en', 'x' * 30000, '\u202eleft', '\u00a0', 'behind\u00a0', '\x0b', '\x0c\x0c']


@pytest.mark.parametrize('what', ['counter', 'set'])
def test_odd_names_survive(tshark, tmp_path, what):
    sets = [multiple('All', *[counter(i, 'PERF_COUNTER_RAWCOUNT', n, [i]) for i, n in enumerate(ODD, NONE - len(ODD))])]
    if what == 'set':
        sets = [multiple(n, counter(1, 'PERF_COUNTER_RAWCOUNT', 'x', [i])) for i, n in enumerate(ODD)]
    names = write(tshark, capture_talk(Server(sets), lambda c: learn(c, *sets)), tmp_path)
    written = facts(names)
    assert written == truth(sets, languages=(ENGLISH,))
    # in one order, whatever was learned first: a set's GUID as it is sent, the set itself, its counters
    places = [(uuid.UUID(guid).bytes_le, (cid[0] + 1) & NONE if cid else 0) for _, _, guid, *cid in written]
    assert places == sorted(places) and len(set(places)) > len(ODD)
    scenario = capture_talk(Server(sets), lambda c: run(c, [ask(s, NONE, 'a') for s in sets], 1))
    out, err = tshark.run('-r', scenario.write(tmp_path / 'x.pcap'), '-o', 'pcq.names_file:%s' % names, '-q')
    assert 'line' not in err, err
    compare_paths(with_file(tshark, tmp_path, scenario, names), scenario)


@pytest.mark.parametrize('owner, known', [(None, False), ('*', True), (OTHER, True), (OTHER + ':49671', True), ('[%s]:445' % OTHER, True), (SERVER, False),
                                          ('2001:db8::77', True)])
def test_another_server(tshark, tmp_path, owner, known):
    """What was browsed on one server names the counters of another only if the file says so: of all, or of that address; a port, which older files have, does
    not count."""
    s = engine()
    names = write(tshark, capture_talk(Server([s]), lambda c: learn(c, s)), tmp_path)
    if owner:
        names.write_text(names.read_text('utf-8').replace('server\t%s\n' % SERVER, 'server\t%s\n' % owner), 'utf-8')
    scenario = queried(s, **dict(server=owner, client='2001:db8::1', v6=True) if owner and '::' in owner else dict(server=OTHER))
    frames = with_file(tshark, tmp_path, scenario, names)
    if known:
        compare_paths(frames, scenario)
        assert compare_values(frames, scenario) == 4
    else:
        assert not [p for n, _ in answers(scenario) for p in by_path(frames[n]) if 'Engine' in p or 'Turns' in p]


# --- sources before and behind it -----------------------------------------------------------------------------------

CPU = '{b4fc721a-0378-476f-89ba-a5a79f810b36}'


def lines(path, *rows):
    path.write_text('# pcq names 1\n' + '\n'.join('\t'.join(map(str, r)) for r in rows) + '\n', 'utf-8')
    return path


@pytest.mark.parametrize('rows, shown', [
    ([], {'Processor Information(_Total)\\DPC Rate': (8.0, None)}),
    ([('name', CPU, '-', 'en', 'My Processor'), ('name', CPU, 7, 'en', 'My DPC'),
      ('counter', CPU, 7, '0x00400400', '-', '-', '-', '-', 0)], {'My Processor(_Total)\\My DPC': (3.0, None)}),
    ([('name', CPU, '-', '0x0407', 'Prozessor'), ('name', CPU, '-', 'en', 'Mine'), ('name', CPU, 7, 'en', 'DPC'),
      ('name', CPU, 7, '0x0407', 'Rate')], {'Mine(_Total)\\DPC': (8.0, None)}),
], ids=['no file', 'better than the built-in list', 'English before local'])
def test_the_file_knows_better(tshark, tmp_path, rows, shown):
    s = multiple('Processor Information', counter(7, 'PERF_COUNTER_RAWCOUNT', 'DPC Rate', [5, 8]), instances=['_Total'])
    s.guid = CPU.strip('{}')
    scenario = queried(s)
    frames = with_file(tshark, tmp_path, scenario, lines(tmp_path / 'n', *rows))
    assert by_path(frames[answers(scenario)[1][0]]) == {'\\\\SRV01\\' + path: value for path, value in shown.items()}


def test_the_capture_knows_better(tshark, tmp_path, two_pass):
    """An earlier frame before the file, in whatever language, and on the second pass a later one too."""
    s = engine()
    guid = '{%s}' % s.guid
    names = lines(tmp_path / 'n', ('server', SERVER), ('name', guid, '-', 'en', 'Other'), ('name', guid, 1, 'en', 'Other 1'),
                  ('counter', guid, 1, '0x00010100', '-', '-', '-', '-', 0), ('name', guid, 2, 'en', 'Other 2'))
    mine, others = {'\\\\SRV01\\Engine(a)\\Turns/sec': (close_to(99.0, 0.1), None)}, {'\\\\SRV01\\Other(a)\\Other 1': (100.0, None)}
    german = {'\\\\SRV01\\Motor(a)\\Other 1': (close_to(99.0, 0.1), None)}
    for told, shown in ((lambda c: (learn(c, s), run(c, [ask(s, 1, 'a')])), mine),
                        (lambda c: (learn(c, s, codes=(1, 3), lcid=GERMAN), run(c, [ask(s, 1, 'a')])), german),
                        (lambda c: (run(c, [ask(s, 1, 'a')]), learn(c, s)), mine if two_pass else others)):
        scenario = capture_talk(Server([s]), told)
        frames = with_file(tshark, tmp_path, scenario, names, two_pass=two_pass)
        assert by_path(frames[answers(scenario)[1][0]]) == shown


@pytest.mark.parametrize('language, locale', [('en', 'names file'), ('0x0407', 'German|0x0407'), ('1031', 'German|0x0407')])
def test_the_tree_says_names_file(tshark, tmp_path, language, locale):
    """Of a name and of a type; with its locale of one that is known in another language alone."""
    s = engine()
    guid = '{%s}' % s.guid
    names = lines(tmp_path / 'n', ('name', guid, '-', language, 'Motor'), ('name', guid, 1, language, 'Umdrehungen'),
                  ('counter', guid, 1, '0x10410500', '-', '-', '-', '-', -3))
    scenario = capture_talk(Server([s]), lambda c: run(c, [ask(s, 1, 'a')], 1))
    frames = with_file(tshark, tmp_path, scenario, names)
    assert list(by_path(frames[answers(scenario)[0][0]])) == ['\\\\SRV01\\Motor(a)\\Umdrehungen']
    (number, _), = frames_of(scenario, VALIDATE, 'request')
    for name, shown in (('pcq.counterset.name', 'Motor'), ('pcq.counter.name', 'Umdrehungen'), ('pcq.counter.type', None)):
        x, = frames[number].all(name)
        assert x.size == 0 and 'names file' in x.label and shown in (x.show, None)
        assert shown is None or re.search(locale, x.label)
    assert not frames[number].all('pcq.learned_in')


# --- what users write -----------------------------------------------------------------------------------------------

def guided(s):
    guid = '{%s}' % s.guid
    return guid, [('name', guid, '-', 'en', 'Engine'), ('set', guid, '0x02'), ('name', guid, 1, 'en', 'Turns/sec'),
                  ('name', guid, 2, 'en', 'Load'), ('counter', guid, 1, '0x10410500', '-', '-', '-', '-', -3),
                  ('counter', guid, 2, '0x40020500', 3, '-', '-', '-', 0),
                  ('counter', guid, 3, TYPES['PERF_AVERAGE_BASE'], '-', '-', '-', '-', 0)]


def broken_lines(guid):
    return ['nonsense', 'name', 'name\t%s' % guid, 'name\t%s\t1\ten' % guid, 'name\t%s\tone\ten\tx' % guid,
            'name\tb4fc\t1\ten\tx', 'name\t%s\t1\tEnglish\tx' % guid, 'name\t%s\t1\ten\tx\ty' % guid,
            'counter\t%s\t1\t0x10410500\t-\t-\t-\t-' % guid, 'counter\t%s\t1\t0x110410500\t-\t-\t-\t-\t0' % guid,
            'counter\t%s\t1\tPERF\t-\t-\t-\t-\t0' % guid, 'counter\t%s\t1\t0x10410500\t-\t-\t-\tx\t0' % guid,
            'counter\t%s\t1\t0x10410500\t-\t-\t-\t-\tmany' % guid, 'counter\t%s\t1\t-5\t-\t-\t-\t-\t0' % guid,
            'set\t%s' % guid, 'set\t%s\tmany' % guid, 'set\t%s\t2' % guid[:-2], 'server', 'title\tx\ten\tProcessor',
            'title\t1\ten', 'server\t192.0.2.20\tSRV01', ' name\t%s\t1\ten\tx' % guid, 'Name\t%s\t1\ten\tx' % guid,
            'name\t%s\t1\t0x1ffffffff\tx' % guid, 'name\t%s\t1\ten\t\udcff\udcfe' % guid, 'name\t%s\t1\ten\t' % guid,
            'set\t%s\t2\t3' % guid, 'title\t1\tEnglish\tProcessor', 'counter\t%s\tone\t0x10410500\t-\t-\t-\t-\t0' % guid,
            *('counter\t%s\t1\t0x10410500\t%s\t0' % (guid, ids) for ids in ('x\t-\t-\t-', '-\tx\t-\t-', '-\t-\tx\t-')),
            'counter\t%s\t1\t0x10410500\t-\t-\t-\t-\t2147483648' % guid]


@pytest.mark.parametrize('which', range(33))
def test_a_broken_line_is_reported_and_skipped(tshark, tmp_path, which):
    """One broken line among good ones: its number is told, the others count, and it changes nothing."""
    s = engine()
    guid, good = guided(s)
    text = ['# pcq names 1', 'server\t*', *('\t'.join(map(str, r)) for r in good[:4]), broken_lines(guid)[which], '',
            '# a comment', *('\t'.join(map(str, r)) for r in good[4:])]
    said, = what_is_said(tshark, tmp_path, s, '\n'.join(text).encode('utf-8', 'surrogateescape'))
    assert 'names' in said and said.endswith(': 1 of its lines cannot be read and are skipped, the first is line 7')


FORMS = {   # how editors on other systems leave it
    'crlf': lambda text: text.replace('\n', '\r\n').encode(),
    'no-last-newline': lambda text: text[:-1].encode(),
    'no-first-line': lambda text: text.split('\n', 1)[1].encode(),
    'bom': lambda text: text.encode('utf-8-sig'),
    'upper-case-guid': lambda text: re.sub('{.*?}', lambda guid: guid[0].upper(), text).encode(),
    'hex-and-decimal': lambda text: re.sub(r'(?<=\t)\d+(?=\t)', lambda number: hex(int(number[0])), text).encode(),
}


@pytest.mark.parametrize('form', FORMS)
def test_forms_of_a_file(tshark, tmp_path, form):
    s = engine()
    text = '# pcq names 1\n' + '\n'.join('\t'.join(map(str, r)) for r in guided(s)[1]) + '\n'
    assert what_is_said(tshark, tmp_path, s, FORMS[form](text)) == []


@pytest.mark.parametrize('what', ['tabs', 'one word', 'servers', 'lines'])
def test_a_hostile_names_file(tshark, tmp_path, what):
    """Memory and time in proportion to the file: fields are not made of what is no field."""
    capture = queried(engine()).write(tmp_path / 'x.pcap')
    hostile = {'tabs': b'\t' * 30_000_000, 'one word': b'x' * 30_000_000, 'lines': b'x\n' * 1_000_000,
               'servers': b''.join(b'server\t192.0.2.%d\n' % i for i in range(300_000))}[what]
    used = []
    for text in b'# pcq names 1\n', hostile:
        (tmp_path / 'names').write_bytes(text)
        used.append(cost.of_tshark(tshark, capture, '-q', '-o', 'pcq.names_file:%s' % (tmp_path / 'names')))
        assert used[-1].status == 0
    assert used[1].seconds - used[0].seconds < 3 and used[1].megabytes - used[0].megabytes < 200


# --- where it is looked for -----------------------------------------------------------------------------------------

@pytest.fixture
def home(tshark, tmp_path, monkeypatch):
    """A home of the test's own; -> its personal configuration folder"""
    folder = tmp_path / 'home' / '.config' / 'wireshark'
    (folder / 'profiles' / 'work').mkdir(parents=True)
    monkeypatch.setattr(tshark, 'env', dict(tshark.env, HOME=str(tmp_path / 'home')))
    return folder


def set_name(tshark, tmp_path, *args):
    scenario = queried(engine())
    frames = read(tshark, scenario, tmp_path, *args)
    return one(frames[answers(scenario)[0][0]].values[0], 'pcq.path').split('\\')[3]


def test_default_places(tshark, tmp_path, home):
    """The preference, of the command or of the profile, else the profile's pcq_names, else the personal folder's."""
    guid = '{%s}' % engine().guid
    assert set_name(tshark, tmp_path) == guid + '(a)'
    lines(home / 'pcq_names', ('name', guid, '-', 'en', 'Personal'))
    assert set_name(tshark, tmp_path) == 'Personal(a)'
    assert set_name(tshark, tmp_path, '-C', 'work') == 'Personal(a)'
    lines(home / 'profiles' / 'work' / 'pcq_names', ('name', guid, '-', 'en', 'Work'))
    assert set_name(tshark, tmp_path, '-C', 'work') == 'Work(a)'
    assert set_name(tshark, tmp_path) == 'Personal(a)'
    chosen = lines(tmp_path / 'chosen', ('name', guid, '-', 'en', 'Chosen'))
    assert set_name(tshark, tmp_path, '-C', 'work', '-o', 'pcq.names_file:%s' % chosen) == 'Chosen(a)'
    (home / 'profiles' / 'other').mkdir()
    (home / 'profiles' / 'other' / 'preferences').write_text('pcq.names_file: %s\n' % chosen)
    assert set_name(tshark, tmp_path, '-C', 'other') == 'Chosen(a)'


def test_read_whenever_a_capture_is_opened(sharkd, tmp_path):
    """A file that changes between two captures, while the program runs."""
    guid = '{%s}' % engine().guid
    scenario = queried(engine())
    path, number = scenario.write(tmp_path / 'x.pcap'), answers(scenario)[0][0]
    names = lines(tmp_path / 'n', ('name', guid, '-', 'en', 'Before'), ('name', guid, 2, 'en', 'Two'))
    child = sharkd('pcq.names_file:%s' % names)
    child.load(path)
    before = child.frames([number])[number]
    lines(names, ('name', guid, '-', 'en', 'After'))
    child.load(path)
    after = child.frames([number])[number]
    assert 'Before(a)' in before and 'Two' in before
    assert 'After(a)' in after and 'Before' not in after and 'Two' not in after


@pytest.mark.parametrize('make, words', [
    (os.mkdir, 'other: '), (lambda path: None, 'other: '),
    (lambda path: path.write_text('\nbad\n# \nbad\n'), 'other: 2 of its lines cannot be read and are skipped, the first is line 2')],
    ids=['folder', 'nothing', 'other lines'])
def test_what_is_no_names_file_is_reported_once(tshark, tmp_path, make, words):
    """All else works."""
    capture = queried(engine()).write(tmp_path / 'x.pcap')
    make(tmp_path / 'other')
    option = '-o', 'pcq.names_file:%s' % (tmp_path / 'other')
    silence, err = (tshark.run('-q', '-r', capture, *args)[1].splitlines() for args in ((), option))
    line, = (x for x in err if x not in silence)
    assert words in line


def test_countersets_and_titles_are_two_things(tshark, tmp_path):
    """A GUID of zeros is one of a counterset, too: its counters are no titles."""
    p = Pcq()
    p.registration(10, string_table([(6, 0)], utf16('abc')), guid=bytes(16))
    tshark.run('-q', '-r', p.capture.write(tmp_path / 'zeros.pcap'), '-z', 'pcq,names,%s' % (tmp_path / 'names'))
    lines = [line.split('\t') for line in (tmp_path / 'names').read_text().splitlines() if not line.startswith('#')]
    assert [line[:3] for line in lines if line[0] != 'server'] == [['name', '{%s}' % uuid.UUID(int=0), '6']]
