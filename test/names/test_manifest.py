# SPDX-License-Identifier: GPL-2.0-or-later
"""script/names-from-manifest: a names file of a provider's instrumentation manifest, by the schema of learn.microsoft.com,
"Performance Counters Schema"."""

import subprocess
import sys

import pytest

from conftest import TOP
from gen.model import TYPES
from gen.scripted import Server, answers, ask, counter, frames_of, multiple, run, capture_talk
from gen.stubs import VALIDATE
from learned import by_path, compare_paths, compare_values
from test_names_file import engine, queried, with_file

SCRIPT = TOP / 'script' / 'names-from-manifest'
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


def run_script(*paths):
    return subprocess.run([sys.executable, SCRIPT, *paths], capture_output=True, text=True)


def names_of(tmp_path, text, encoding='utf-8'):
    """The names file of a manifest, of which nothing is said."""
    done = run_script(text if text == SAMPLE else write(tmp_path, text, encoding))
    assert (done.returncode, done.stderr) == (0, '')
    return write(tmp_path, done.stdout, name='names')


def all_named(tshark, tmp_path, names, s=None):
    scenario = queried(s or the_set())
    frames = with_file(tshark, tmp_path, scenario, names)
    compare_paths(frames, scenario)
    assert compare_values(frames, scenario) == 4


def test_the_sample(tshark, tmp_path):
    """Names, types, scale and base of a counterset that the capture does not explain."""
    all_named(tshark, tmp_path, names_of(tmp_path, SAMPLE))


@pytest.mark.parametrize('form', ['utf-8', 'utf-8-sig', 'utf-16', 'utf-16-le-bom', 'utf-16-be-bom', 'crlf', 'no-declaration',
                                  'comment-first', 'prefixes'])
def test_forms(tshark, tmp_path, form):
    """UTF-16 is what Microsoft's own editor writes."""
    text, encoding = manifest(*the_counters(), encoding='UTF-16' if '16' in form else 'UTF-8'), form
    if form.endswith('-bom'):
        text, encoding = '\ufeff' + text, form[:-4]
    elif not form.startswith('utf'):
        encoding = 'utf-8'
    if form == 'crlf':
        text = text.replace('\n', '\r\n')
    elif form == 'no-declaration':
        text = text.split('\n', 1)[1]
    elif form == 'comment-first':
        text = '\n <!-- <counterSet guid="{0}"/> -->\n' + text.split('\n', 1)[1]
    elif form == 'prefixes':
        for name in ('counterSet', 'counterAttributes', 'counter '):
            text = text.replace('<' + name, '<c:' + name).replace('</' + name, '</c:' + name)
        text = text.replace('</counter>', '</c:counter>').replace('counters xmlns', 'counters xmlns:c')
    all_named(tshark, tmp_path, names_of(tmp_path, text, encoding))


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
    names = names_of(tmp_path, manifest(*elements, localization='<localization>%s%s%s</localization>' % (outside, tables, outside)))
    s = the_set()
    frames = with_file(tshark, tmp_path, capture_talk(Server([s]), lambda c: run(c, [ask(s, 1, 'a')], 2)), names)
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
    names = names_of(tmp_path, manifest(the_counters()[0], *rows, '</counterSet>'))
    scenario = capture_talk(Server([s]), lambda c: run(c, [ask(s, i + 1, 'a') for i in range(len(words))], 1))
    frames = with_file(tshark, tmp_path, scenario, names)
    (number, _), = frames_of(scenario, VALIDATE, 'request')
    assert frames[number].numbers('pcq.counter.type') == [TYPES[w] for w in words]


@pytest.mark.parametrize('word, number', [('single', 0), ('multiple', 2), ('globalAggregate', 4), ('multipleAggregate', 6),
                                          ('globalAggregateHistory', 12), ('instanceAggregate', 0x16), (None, 0)])
def test_kinds_of_instances(tshark, tmp_path, word, number):
    """A set of single instances has no parentheses in its paths; "single" is the schema's default."""
    elements = the_counters()
    elements[0] = elements[0].replace(' instances="multiple"', ' instances="%s"' % word if word else '')
    names = names_of(tmp_path, manifest(*elements))
    s = the_set()
    scenario = capture_talk(Server([s]), lambda c: run(c, [ask(s, 1, 'a')], 2))
    frames = with_file(tshark, tmp_path, scenario, names)
    shown, = by_path(frames[answers(scenario)[1][0]])
    assert ('(a)' in shown) == (number != 0)


# --- what is wrong ----------------------------------------------------------------------------------------------------

BROKEN = {
    'unknown type': (the_counters(type='perf_counter_composite'), 'type'),
    'no type': ([e.replace('type="perf_counter_bulk_count"', '') for e in the_counters()], 'type'),
    'no id': ([e.replace(' id="1"', '') for e in the_counters()], 'id'),
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
    path = write(tmp_path, manifest(*elements, *good))
    done = run_script(path)
    line, = done.stderr.splitlines()
    assert done.returncode == 0 and word in line
    assert line.startswith('%s: line %d: ' % (path, 5 if 'counterSet' in word or what in ('no guid', 'short guid', 'other instances') else 6))
    all_named(tshark, tmp_path, write(tmp_path, done.stdout, name='names'), engine())


def test_counters_of_a_set_without_a_guid_are_nobodys(tmp_path):
    others = [e.replace('guid="%s"' % GUID, '').replace('Turns/sec', 'Wrong') for e in the_counters()]
    outside = '<counter id="9" name="Wrong" type="perf_counter_rawcount"/>'
    done = run_script(write(tmp_path, manifest(*the_counters(), outside, *others, outside)))
    assert 'without a GUID' in done.stderr and 'Turns/sec' in done.stdout and 'Wrong' not in done.stdout


def test_a_name_is_escaped_and_has_at_most_1024_characters(tmp_path):
    done = run_script(write(tmp_path, manifest(*the_counters(name='ä' * 1020 + '&#9;\\&#10;&#13;'))))
    assert not done.stderr and 'ä' * 1020 + '\\t\\\\\\n\\r\n' in done.stdout


def test_several_manifests_are_one_names_file(tmp_path):
    one = run_script(SAMPLE).stdout.splitlines()
    assert run_script(SAMPLE, SAMPLE).stdout.splitlines() == one + one[2:]


UNREADABLE = {
    'no XML': '<',
    'cut': manifest(*the_counters())[:-40],
    'two roots': manifest(*the_counters()) + '<x></x>',
    'not UTF-8': manifest(*the_counters()).encode() + b'\xff\xfe',
    'an entity': manifest(*the_counters()) + '<a b="&lol;"/>',
    'half a character': manifest(*the_counters()).encode('utf-16') + b'\0',
    'entities': '<!DOCTYPE x [<!ENTITY a "%s">]>\n' % ('b' * 1000) + manifest(*the_counters(name='&a;' * 1000000)).split('\n', 1)[1],
    'events alone': '<instrumentationManifest><instrumentation><events/></instrumentation></instrumentationManifest>',
}


@pytest.mark.parametrize('what', UNREADABLE)
def test_what_is_no_manifest(tmp_path, what):
    """One line, and nothing is written."""
    path = write(tmp_path, UNREADABLE[what])
    done = run_script(path)
    assert done.returncode == 1 and not done.stdout
    line, = done.stderr.splitlines()
    assert line.startswith('%s: ' % path) and len(line) < 400
