# SPDX-License-Identifier: GPL-2.0-or-later
"""A provider's instrumentation manifest where a names file is read: the schema of learn.microsoft.com, "Performance
Counters Schema"."""

import functools
import os
import tempfile
from pathlib import Path

import pytest

import cost
from conftest import TOP
from gen.model import TYPES
from gen.story_script import Script, answers, ask, counter, frames_of, multiple, run, story
from gen.stubs import VALIDATE
from learned import by_path, compare_paths, compare_values, read
from test_names_file import engine, home, queried, with_file, with_file_and_said  # noqa: F401

SAMPLE = TOP / 'test' / 'manifests' / 'engine.man'
GUID = '{5e5c1a57-6e6c-4a3f-9a0b-7d7f3e1c2b4d}'

HEAD = '''<?xml version="1.0" encoding="%s"?>
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
 <instrumentation><counters xmlns="http://schemas.microsoft.com/win/2005/12/counters" schemaVersion="1.1">
  <provider applicationIdentity="engine.exe" providerType="userMode" providerGuid="{11111111-2222-3333-4444-555555555555}">
'''
TAIL = '</provider></counters></instrumentation>%s</instrumentationManifest>\n'


def the_set():
    """The counterset of the sample, as a server has it."""
    s = engine()
    s.guid = GUID.strip('{}')
    return s


def manifest(*elements, encoding='UTF-8', localization=''):
    return HEAD % encoding + '\n'.join(elements) + TAIL % localization


def the_counters(**more):
    """The elements of the sample's counterset; more: other attributes of the first counter"""
    first = dict(id='1', uri='Engine.Turns', name='Turns/sec', type='perf_counter_bulk_count', detailLevel='standard',
                 defaultScale='-3')
    first.update(more)
    return ['<counterSet guid="%s" uri="Engine" name="Engine" symbol="E" description="x" instances="multiple">' % GUID,
            '<counter %s/>' % ' '.join('%s="%s"' % kv for kv in first.items()),
            '<counter id="2" uri="Engine.Load" name="Load" type="perf_average_bulk" baseID="3" detailLevel="standard"/>',
            '<counter id="0x3" uri="Engine.Base" type="perf_average_base" detailLevel="standard"><counterAttributes>',
            '<counterAttribute name="noDisplay"/></counterAttributes></counter></counterSet>']


def write(tmp_path, text, encoding='utf-8', name='engine.man'):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
    return path


@functools.cache
def silence(tshark):
    """What is said of a capture without a file"""
    with tempfile.TemporaryDirectory() as folder:
        _, err = tshark.run('-q', '-r', queried(the_set()).write(Path(folder) / 'x.pcap'))
    return err.splitlines()


def said(tshark, tmp_path, path):
    """What is reported when the file is read."""
    capture = queried(the_set()).write(tmp_path / 'x.pcap')
    _, err = tshark.run('-q', '-r', capture, '-o', 'pcq.names_file:%s' % path)
    return [line for line in err.splitlines() if line not in silence(tshark)]


def all_named(tshark, tmp_path, path):
    scene = queried(the_set())
    frames = with_file(tshark, tmp_path, scene, path)
    compare_paths(frames, scene)
    assert compare_values(frames, scene) == 4


def test_the_sample(tshark, tmp_path):
    """Names, types, scale and base of a counterset that the capture does not explain."""
    assert not said(tshark, tmp_path, SAMPLE)
    all_named(tshark, tmp_path, SAMPLE)


def test_what_the_tree_says(tshark, tmp_path):
    scene = story(Script([the_set()]), lambda c: run(c, [ask(the_set(), 1, 'a')], 1))
    frames = with_file(tshark, tmp_path, scene, SAMPLE)
    (number, _), = frames_of(scene, VALIDATE, 'request')
    for name in ('pcq.counterset.name', 'pcq.counter.name', 'pcq.counter.type'):
        x, = frames[number].all(name)
        assert 'names file' in x.label


@pytest.mark.parametrize('form', ['utf-8', 'utf-8-sig', 'utf-16', 'utf-16-le-bom', 'utf-16-be-bom', 'utf-16-le', 'utf-16-be',
                                  'crlf', 'no-declaration', 'comment-first', 'prefixes', 'last-line'])
def test_forms(tshark, tmp_path, form):
    """UTF-16 is what Microsoft's own editor writes."""
    text, encoding = manifest(*the_counters(), encoding='UTF-16' if '16' in form else 'UTF-8'), form
    if form.endswith('-bom'):
        text, encoding = '\ufeff' + text, form[:-4]
    elif form == 'crlf':
        text, encoding = text.replace('\n', '\r\n'), 'utf-8'
    elif form == 'no-declaration':
        text, encoding = text.split('\n', 1)[1], 'utf-8'
    elif form == 'comment-first':
        text, encoding = '\n <!-- <counterSet guid="{0}"/> -->\n' + text.split('\n', 1)[1], 'utf-8'
    elif form == 'prefixes':
        for name in ('counterSet', 'counterAttributes', 'counter '):
            text = text.replace('<' + name, '<c:' + name).replace('</' + name, '</c:' + name)
        text = text.replace('</counter>', '</c:counter>')
        encoding = 'utf-8'
    elif form == 'last-line':
        text, encoding = text.rstrip('\n'), 'utf-8'
    path = write(tmp_path, text, encoding)
    assert not said(tshark, tmp_path, path)
    all_named(tshark, tmp_path, path)


@pytest.mark.parametrize('cultures, path', [
    (['en-US'], '\\\\SRV01\\Engine(a)\\Turns/sec'), (['de-DE', 'en-GB'], '\\\\SRV01\\Engine(a)\\Turns/sec'),
    ([None], '\\\\SRV01\\Engine(a)\\Turns/sec'), (['zh'], '\\\\SRV01\\Fadongji(a)\\Turns/sec'),
    (['de-DE', 'fr-FR'], '\\\\SRV01\\Motor(a)\\Turns/sec')])
def test_a_table_of_strings(tshark, tmp_path, cultures, path):
    """$(string.ID) stands for a string that comes later in the file; English goes before others."""
    words = {'en-US': 'Engine', 'en-GB': 'Engine', None: 'Engine', 'de-DE': 'Motor', 'fr-FR': 'Moteur',
             'zh': 'Fadongji'}      # of no one country
    tables = ''.join('<resources%s><stringTable><string id="Engine.Name" value="%s"/></stringTable></resources>' %
                     (' culture="%s"' % c if c else '', words[c]) for c in cultures)
    elements = [e.replace('name="Engine"', 'name="$(string.Engine.Name)"') for e in the_counters()]
    outside = '<string id="Engine.Name" value="In no table"/>'
    names = write(tmp_path, manifest(*elements, localization='<localization>%s%s%s</localization>' % (outside, tables, outside)))
    assert not said(tshark, tmp_path, names)
    s = the_set()
    frames = with_file(tshark, tmp_path, story(Script([s]), lambda c: run(c, [ask(s, 1, 'a')], 2)), names)
    shown = {p for f in frames.values() for p in (by_path(f) if f.values else {})}
    assert shown == {path}
    label = [f.all('pcq.counterset.name') for f in frames.values() if f.all('pcq.counterset.name')][0][0].label
    assert ('German' in label) == ('de-DE' in cultures and 'en-GB' not in cultures) and 'Chinese' not in label


def test_every_type(tshark, tmp_path):
    """Each of the schema's words is the number that [MS-PCQ] and winperf.h have."""
    words = sorted(w for w in TYPES if w not in ('PERF_COUNTER_NODATA', 'PERF_DOUBLE_RAW', 'PERF_COUNTER_HISTOGRAM_TYPE'))
    s = multiple('Engine', *(counter(i + 1, w, 'Number %d' % i, [1, 2]) for i, w in enumerate(words)))
    s.guid = GUID.strip('{}')
    rows = ['<counter id="%d" name="Number %d" uri="u%d" type="%s" detailLevel="advanced"/>' % (i + 1, i, i, w.lower())
            for i, w in enumerate(words)]
    names = write(tmp_path, manifest(the_counters()[0], *rows, '</counterSet>'))
    assert not said(tshark, tmp_path, names)
    scene = story(Script([s]), lambda c: run(c, [ask(s, i + 1, 'a') for i in range(len(words))], 1))
    frames = with_file(tshark, tmp_path, scene, names)
    (number, _), = frames_of(scene, VALIDATE, 'request')
    assert frames[number].numbers('pcq.counter.type') == [TYPES[w] for w in words]


@pytest.mark.parametrize('word, number', [('single', 0), ('multiple', 2), ('globalAggregate', 4), ('multipleAggregate', 6),
                                          ('globalAggregateHistory', 12), ('instanceAggregate', 0x16), (None, 0)])
def test_kinds_of_instances(tshark, tmp_path, word, number):
    """A set of single instances has no parentheses in its paths; "single" is the schema's default."""
    elements = the_counters()
    elements[0] = elements[0].replace(' instances="multiple"', ' instances="%s"' % word if word else '')
    names = write(tmp_path, manifest(*elements))
    assert not said(tshark, tmp_path, names)
    s = the_set()
    scene = story(Script([s]), lambda c: run(c, [ask(s, 1, 'a')], 2))
    frames = with_file(tshark, tmp_path, scene, names)
    shown, = by_path(frames[answers(scene)[1][0]])
    assert ('(a)' in shown) == (number != 0)


# --- what is wrong ----------------------------------------------------------------------------------------------------


BROKEN = {
    'unknown type': (the_counters(type='perf_counter_composite'), 'type'),
    'no type': ([e.replace('type="perf_counter_bulk_count"', '') for e in the_counters()], 'type'),
    'no id': ([e.replace('id="1"', '') for e in the_counters()], 'id'),
    'long id': (the_counters(id='0x100000001'), 'id'),
    'base that is no number': (the_counters(baseID='three'), 'reference'),
    'long name': (the_counters(name='x' * 1025), 'name'),
    'empty name': (the_counters(name=''), 'name'),
    'no guid': ([e.replace('guid="%s"' % GUID, '') for e in the_counters()], 'GUID'),
    'short guid': ([e.replace(GUID, '{5e5c1a57}') for e in the_counters()], 'GUID'),
    'other instances': ([e.replace('"multiple"', '"many"') for e in the_counters()], 'instances'),
    'a string that is missing': (the_counters(name='$(string.Nobody)'), 'string'),
}


@pytest.mark.parametrize('what', BROKEN)
def test_what_is_broken_is_said_with_its_line(tshark, tmp_path, what):
    """And the rest counts: another counterset in the same file is read."""
    elements, word = BROKEN[what]
    good = [e.replace(GUID, '{%s}' % engine().guid) for e in the_counters()]
    names = write(tmp_path, manifest(*elements, *good))
    scene = queried(engine())
    frames, err = with_file_and_said(tshark, tmp_path, scene, names)
    line, = [x for x in err.splitlines() if x not in silence(tshark)]
    assert 'engine.man' in line and word in line and 'line 5' in line.replace('line 6', 'line 5')
    compare_paths(frames, scene)
    assert compare_values(frames, scene) == 4


def test_counters_of_a_set_without_a_guid_are_nobodys(tshark, tmp_path):
    others = [e.replace('guid="%s"' % GUID, '').replace('Turns/sec', 'Wrong').replace('bulk_count', 'rawcount') for e in the_counters()]
    names = write(tmp_path, manifest(*the_counters(), *others))
    line, = said(tshark, tmp_path, names)
    assert 'without a GUID' in line
    all_named(tshark, tmp_path, names)


def test_ten_faults_of_a_file_are_said(tshark, tmp_path):
    folder = tmp_path / 'names'
    folder.mkdir()
    for count in (10, 11):
        write(folder, 'bad\n' * count, name='%d.txt' % count)
        rows = ['<counter id="%d" name="x" uri="u%d" type="none"/>' % (i, i) for i in range(count)]
        write(folder, manifest(the_counters()[0], *rows, '</counterSet>'), name='%d.man' % count)
    lines = said(tshark, tmp_path, folder)
    assert [('and others' in line, line.count(',') + 1) for line in lines] == [(False, 10), (False, 10), (True, 11), (True, 10)]


def test_a_name_of_1024_characters(tshark, tmp_path):
    names = write(tmp_path, manifest(*the_counters(name='ä' * 1024)))
    assert not said(tshark, tmp_path, names)


UNREADABLE = {
    'no XML': '<',
    'cut': manifest(*the_counters())[:-40],
    'two roots': manifest(*the_counters()) + '<x></y>',
    'not UTF-8': manifest(*the_counters()).encode() + b'\xff\xfe',
    'an entity': manifest(*the_counters()) + '<a b="&lol;"/>',
}


@pytest.mark.parametrize('what', UNREADABLE)
def test_broken_xml(tshark, tmp_path, what):
    """Said in a line; what stands before the fault counts."""
    names = write(tmp_path, UNREADABLE[what])
    line, = said(tshark, tmp_path, names)
    assert 'engine.man' in line
    if what != 'no XML':
        all_named(tshark, tmp_path, names)


def test_half_a_character(tshark, tmp_path):
    names = write(tmp_path, manifest(*the_counters()).encode('utf-16') + b'\0')
    line, = said(tshark, tmp_path, names)
    assert 'engine.man' in line


def test_a_manifest_of_events(tshark, tmp_path):
    """There are many more of them, and they are no use here."""
    names = write(tmp_path, '<instrumentationManifest><instrumentation><events/></instrumentation></instrumentationManifest>')
    line, = said(tshark, tmp_path, names)
    assert 'no counterset' in line


def entities(size):
    return '<!DOCTYPE x [<!ENTITY a "%s">]>\n' % ('b' * 1000) + manifest(*the_counters(name='&a;' * (size // 3)))


HOSTILE = {
    'deep': lambda n: '<a>' * (n // 3),
    'attributes': lambda n: '<counterSet ' + ''.join('a%d="" ' % i for i in range(n // 12)) + '/>',
    'countersets': lambda n: manifest(*(the_counters() * (n // 800))),
    'broken counters': lambda n: manifest('<counterSet>' * (n // 12)),
    'one name': lambda n: manifest(*the_counters(name='x' * n)),
    'one tag': lambda n: '<' + 'x' * n,
    'comment': lambda n: '<!--' + '-' * n,
    'brackets': lambda n: '<!DOCTYPE ' + '<' * n,
    'entities': entities,
    'strings': lambda n: '<r><resources>' + ''.join('<string id="%d" value=""/>' % i for i in range(n // 28)) + '</resources></r>',
    'a quote': lambda n: '<counter name="' + '&amp;' * (n // 5),
}


def cost_of_names(tshark, tmp_path, path):
    """What it costs to read a capture with these names."""
    used = cost.of_tshark(tshark, tmp_path / 'x.pcap', '-q', '-o', 'pcq.names_file:%s' % path)
    assert used.status == 0
    return used


@pytest.mark.parametrize('what', HOSTILE)
def test_a_hostile_file(tshark, tmp_path, what):
    """8 MB of it cost at most 3 s of CPU and 400 MB beyond Wireshark's own, and are reported in few words."""
    queried(engine()).write(tmp_path / 'x.pcap')
    usual = cost_of_names(tshark, tmp_path, write(tmp_path, manifest()))
    names = write(tmp_path, HOSTILE[what](8_000_000), name='hostile.man')
    used = cost_of_names(tshark, tmp_path, names)
    assert used.seconds - usual.seconds < 3 and used.megabytes - usual.megabytes < 400
    assert sum(map(len, said(tshark, tmp_path, names))) < 4000


# --- folders -----------------------------------------------------------------------------------------------------------


def test_a_folder(tshark, tmp_path):
    """Names files and manifests side by side, in the order of their names; the later goes before the earlier."""
    folder = tmp_path / 'names'
    folder.mkdir()
    (folder / 'sub').mkdir()
    (folder / '.hidden').write_text('nonsense\n')
    write(folder, manifest(*the_counters()), name='a.man')
    write(folder, 'name\t%s\t1\ten\tRevolutions/sec\n' % GUID, name='b')
    s = the_set()
    scene = story(Script([s]), lambda c: run(c, [ask(s, 1, 'a')], 2))
    assert not said(tshark, tmp_path, folder)
    frames = with_file(tshark, tmp_path, scene, folder)
    assert list(by_path(frames[answers(scene)[1][0]])) == ['\\\\SRV01\\Engine(a)\\Revolutions/sec']
    write(folder, 'name\t%s\t1\ten\tRounds/sec\n' % GUID, name='0')
    frames = with_file(tshark, tmp_path, scene, folder)
    assert list(by_path(frames[answers(scene)[1][0]])) == ['\\\\SRV01\\Engine(a)\\Revolutions/sec']


def test_the_default_folder(tshark, home, tmp_path):  # noqa: F811
    """pcq_names in the personal configuration folder may be a folder too."""
    (home / 'pcq_names').mkdir()
    write(home / 'pcq_names', manifest(*the_counters()))
    scene = queried(the_set())
    compare_paths(read(tshark, scene, tmp_path), scene)


def test_a_pipe_is_no_names_file(tshark, tmp_path):
    """Opening one would wait for ever."""
    os.mkfifo(tmp_path / 'pipe')
    line, = said(tshark, tmp_path, tmp_path / 'pipe')
    assert 'pipe' in line


def test_none_of_it_is_shown_without_the_file(tshark, tmp_path):
    scene = queried(the_set())
    shown = by_path(read(tshark, scene, tmp_path)[answers(scene)[1][0]])
    assert shown and all(GUID in p for p in shown)
