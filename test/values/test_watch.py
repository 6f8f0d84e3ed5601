# SPDX-License-Identifier: GPL-2.0-or-later
"""pcq.watch.NAME: the results of the counters that a row of the table names, and of no others."""

import csv
import io
import re

import pytest

from gen import hkpd_scenario
from gen.scripted import Server, ask, begin, counter, learn, multiple, run, capture_talk, unseen
from series import series
from test_order import sharkd  # noqa: F401 (a fixture)

CPU = '\\Processor(*)\\% Time'


def row(name, paths):
    """A row as it is typed behind -o: each backslash twice."""
    return 'uat:pcq_watch:"%s","%s"' % (name, paths.replace('\\', '\\\\'))


def rows(**paths):
    return [x for name in paths for x in ('-o', row(name, paths[name]))]


def processors_set(instances=('0', '1', '_Total')):
    return multiple('Processor', counter(1, 'PERF_100NSEC_TIMER', '% Time', lambda at, k: 1000000 * at.number * (k + 1) + k),
                    counter(2, 'PERF_COUNTER_RAWCOUNT', 'Level', lambda at, k: 100 * at.number + k),
                    instances=instances if callable(instances) else list(instances))


def processors(samples=4, instances=('0', '1', '_Total'), info=True):
    s = processors_set(instances)
    scenario, c = begin(Server([s]), s)
    run(c, [ask(s, 1, '*'), ask(s, 2, '*')], samples, info)
    return scenario


@pytest.fixture
def watched(tshark, tmp_path):
    """watched(scenario, paths) -> {frame: [what it shows]}"""
    def get(scenario, paths, *args):
        scenario.write(tmp_path / 'scenario.pcap')
        got = tshark.fields(tmp_path / 'scenario.pcap', ['frame.number', 'pcq.watch.w'], *rows(w=paths), *args)
        return {int(n): [float(x) for x in shown.split(',')] for n, shown in got if shown}
    return get


def compare(shown, scenario, wanted, numbers=None):
    expected = {}
    for answer in series(scenario, numbers):
        results = [v.cooked for v in answer.values if wanted(v.path) and v.cooked is not None]
        if results:
            expected[answer.frame] = results
    assert shown.keys() == expected.keys() and expected
    for frame, results in expected.items():
        assert shown[frame] == pytest.approx(results, rel=1e-5), frame      # -T fields prints six digits


# --- Which values they are ----------------------------------------------------------------------------------------

@pytest.mark.parametrize('paths, wanted', [
    ('\\\\SRV01\\Processor(_Total)\\% Time', r'\(_Total\)\\% Time$'),
    ('\\Processor(_Total)\\% Time', r'\(_Total\)\\% Time$'),
    ('\\processor(_total)\\% TIME', r'\(_Total\)\\% Time$'),
    (CPU, r'\\% Time$'),
    ('\\Processor(0)\\*', r'\(0\)'),
    ('\\Processor(0)\\Level; \\Processor(1)\\% Time', r'\(0\)\\Level$|\(1\)\\% Time$'),
    ('\\Nothing\\Of it; \\*\\*', ''),
])
def test_paths(watched, paths, wanted, passes):
    scenario = processors()
    compare(watched(scenario, paths, *passes), scenario, lambda path: re.search(wanted, path))


@pytest.mark.parametrize('paths', ['\\\\OTHER\\*\\*', '\\Processor(*)\\', '\\Processor\\% Time'])
def test_paths_that_fit_nothing(watched, paths):
    assert watched(processors(), paths + 'x') == {}


def test_hkpd(watched, passes):
    """The same field, also for paths of nameless instances."""
    scenario = hkpd_scenario.session(samples=3)
    compare(watched(scenario, '\\*\\*/sec', *passes), scenario, lambda path: path.endswith('/sec'))


def test_many_rows_at_once(tshark, tmp_path):
    """Each has its own values; a value that two rows fit is in both."""
    scenario = processors(3, ['i%d' % i for i in range(40)])
    scenario.write(tmp_path / 'scenario.pcap')
    names = {'w%d' % i: '\\Processor(i%d)\\Level' % i for i in range(40)} | {'all_of_them': '\\*\\Level'}
    got = tshark.fields(tmp_path / 'scenario.pcap', ['frame.number', *('pcq.watch.' + n for n in names)], *rows(**names))
    shown = {int(n): cells for n, *cells in got if any(cells)}
    answers = series(scenario)
    assert shown.keys() == {a.frame for a in answers}
    for n, answer in enumerate(answers):
        levels = [100 * n + i for i in range(40)]
        assert [float(x) for x in shown[answer.frame][:-1]] == levels
        assert [float(x) for x in shown[answer.frame][-1].split(',')] == levels


THERE = ['abc', 'acb', 'bc', 'bca', 'bca', 'c', '', 'aab', 'aba']


@pytest.mark.parametrize('paths, wanted', [('\\Processor(b)\\*', r'\(b\)'), ('\\Processor(a#1)\\*', r'\(a#1\)')])
def test_instances_that_come_and_go(watched, paths, wanted, passes):
    """What stood in a place in the answer before tells nothing that is not made sure."""
    scenario = processors(len(THERE), lambda n: [(0, x) for x in THERE[n]])
    compare(watched(scenario, paths, *passes), scenario, lambda path: re.search(wanted, path))


# --- Where they stand ---------------------------------------------------------------------------------------------


def labels(tshark, capture, *args):
    out, _ = tshark.run('-r', capture, *args, '-T', 'pdml')
    return re.findall('<field name="pcq.watch.w" showname="([^"]*)" size="0"', out)


def test_label(tshark, tmp_path):
    """The path and the unit; the field is generated."""
    scenario = processors()
    capture = scenario.write(tmp_path / 'scenario.pcap')
    assert labels(tshark, capture, *rows(w='\\Processor(1)\\Level')) == [
        r'w: %d = \\SRV01\Processor(1)\Level' % level for level in (1, 101, 201, 301)]
    assert labels(tshark, capture, *rows(w='\\Processor(1)\\% Time')) == [r'w: 20.0 % = \\SRV01\Processor(1)\% Time'] * 3
    assert r'w: 101 = \\SRV01\Processor(1)\Level' in labels(tshark, capture, *rows(w='\\Processor(*)\\Level'))


def test_what_is_assumed_says_so(tshark, tmp_path):
    scenario = processors(info=False)
    shown = labels(tshark, scenario.write(tmp_path / 'scenario.pcap'), *rows(w='\\*\\*'))
    assert shown and all((' (assumed) = ' in x) for x in shown)
    s = multiple('Set', counter(1, 'PERF_COUNTER_BULK_COUNT', 'Rate', lambda at, k: (10 * k + 1) * at.number),
                 instances=lambda n: [*enumerate('axxb')])
    scenario = capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, 1, '*')])))
    assert ': w 1.00 /sec to 31.0 /sec (assumed), 4 values (' in str(tshark.info(scenario.write(tmp_path / 'scenario.pcap'), *rows(w='\\*\\*')))


# --- All that they have in an answer ----------------------------------------------------------------------------------

RAW = ' (raw; first sample)'


@pytest.mark.parametrize('paths, first, later', [
    ('\\Processor(1)\\Level', '1', '%d01'),
    ('\\Processor(*)\\Level', '0 to 2, 3 values', '%d00 to %d02, 3 values'),
    ('\\Processor(1)\\% Time', '1' + RAW, '20.0 %%'),
    ('\\Processor(?)\\%*;\\Processor(_Total)\\% Time', '0' + RAW + ', first of 3 values', '10.0 %% to 30.0 %%, 3 values'),
    ('\\Nothing\\Of it', None, None)])
def test_several_values(tshark, tmp_path, paths, first, later):
    """Least and most, and how many, in the Info column."""
    scenario = processors(3)
    capture, frames = scenario.write(tmp_path / 'scenario.pcap'), [a.frame for a in series(scenario)]
    expected = {} if first is None else {f: later.replace('%d', str(n)) % () if n else first for n, f in enumerate(frames)}
    info = tshark.info(capture, *rows(w=paths))
    assert {f: re.sub(r'.*: (w .*), \d more values? .*', r'\1', info[f]) for f in frames if ': w ' in info[f]} == \
        {f: 'w ' + x for f, x in expected.items()}


def test_a_result_that_some_lack(tshark, tmp_path):
    """Instances that are new beside those that stay; and the table's rows in their order."""
    s = multiple('GPU', counter(1, 'PERF_100NSEC_TIMER', 'Busy', lambda at, k: 1000000 * at.number * (2 * (k + (at.number < 2)) % 5)),
                 instances=lambda n: [(i, 'xabcy'[i]) for i in range(n < 2, 4 + (n == 2))])
    scenario, c = begin(Server([s]), s)
    run(c, [ask(s, 1, '*')], 3)
    capture = scenario.write(tmp_path / 'scenario.pcap')
    last = series(scenario)[2].frame
    assert ': v 40.0 %, w 10.0 % to 40.0 %, 5 values (1 block, ' in tshark.info(capture, *rows(v='\\GPU(b)\\Busy', w='\\GPU(*)\\Busy'))[last]


def test_how_several_become_one_number(tshark, tmp_path):
    """max() of a display filter."""
    scenario = processors()
    capture, several = scenario.write(tmp_path / 'scenario.pcap'), rows(v=CPU, w='\\Processor(*)\\Level')
    out, _ = tshark.run('-r', capture, *several, '-Y', 'max(pcq.watch.w) == 302')
    assert [line.split()[0] for line in out.splitlines()] == [str(series(scenario)[3].frame)]


# --- The table ----------------------------------------------------------------------------------------------------

NAME, PATH = 'is no name of a watched counter', r'is no path like \Set(Instance)\Counter or \\SERVER\Set\Counter, with ; between several (behind -o, each \ is typed twice)'


@pytest.mark.parametrize('name, paths, why', [
    ('CPU', '\\a\\b', NAME), ('', '\\a\\b', NAME), ('1a', '\\a\\b', NAME), ('_a', '\\a\\b', NAME), ('a.b', '\\a\\b', NAME),
    ('a b', '\\a\\b', NAME), ('ä', '\\a\\b', NAME),
    ('a', '', PATH), ('a', ' ; ', PATH), ('a', 'Processor', PATH), ('a', '\\a\\b;c', PATH), ('a', '*', PATH),
])
def test_rows_that_are_none(tshark, tmp_path, name, paths, why):
    capture = processors(1).write(tmp_path / 'scenario.pcap')
    done = tshark.start('-r', capture, '-o', row(name, paths))
    assert done.returncode == 1 and why in done.stderr.decode() and done.stdout == b''


def test_a_name_twice(tshark, tmp_path):
    """The field has the values of both rows."""
    capture = processors(1).write(tmp_path / 'scenario.pcap')
    shown = tshark.fields(capture, ['pcq.watch.w'], *rows(v=CPU, w='\\Processor(1)\\Level'), '-o', row('w', '\\Processor(_Total)\\Level'), '-Y', 'pcq.watch.w')
    assert shown == [['1,2']]


def test_rows_that_change_while_a_capture_is_open(sharkd, tmp_path):  # noqa: F811
    """Fields come and stay what they are; whatever was found before is found anew."""
    scenario = processors()
    capture = scenario.write(tmp_path / 'scenario.pcap')
    s = sharkd()
    s.load(capture)
    answer = series(scenario)[3].frame
    assert 'pcq.watch.w' not in s.frames([answer])[answer]
    for name, paths, expected in (('w', '\\Processor(1)\\Level', '301'), ('v', '\\Processor(_Total)\\Level', '302'),
                                  ('u', '\\Nothing\\Level', None)):
        s.ask(('setconf', dict(name='uat', value=row(name, paths).removeprefix('uat:'))))
        text = s.frames([answer])[answer]
        assert ('pcq.watch.%s == %s' % (name, expected) in text) == (expected is not None), name
        assert 'pcq.watch.w == 301' in text and set(re.findall(r'pcq[.]watch[.](\w+)', text)) <= {'w', 'v'}


# --- Letters and characters that mean something ------------------------------------------------------------------------

def test_letters_and_what_stands_for_any(tshark, tmp_path):
    """Without case: sharp s is ss, the dotless i no i."""
    there = ['ZÜRICH', 'диск', 'ς', 'straße', 'ı', 'é', '*', 'xy', 'ü', 'a;b', 'Intel[R] 1', 'abcabd']
    fits = {'zürich)\\level': ['ZÜRICH'], 'ДИСК)\\Level': ['диск'], 'Σ)\\Level': ['ς'], 'STRASSE)\\Level': ['straße'], 'I)\\Level': [],
            'e)\\Level': [], '?)\\Level': ['ς', 'ı', 'é', '*', 'ü'], 'a?b)\\Level': ['a;b'], 'intel[r] *)\\Level': ['Intel[R] 1'],
            '*ab?)\\L*v*': ['abcabd'], '*abc)\\Level': []}
    capture = processors(samples=1, instances=there).write(tmp_path / 'scenario.pcap')
    asked = {'w%d' % n: '\\Processor(' + path for n, path in enumerate(fits)}
    shown, = tshark.fields(capture, ['pcq.watch.' + n for n in asked], *rows(**asked), '-Y', 'pcq.counter_data')
    assert [[there[int(x)] for x in cell.split(',') if x] for cell in shown] == list(fits.values())


# --- Paths that a statistic is asked for ------------------------------------------------------------------------------

LEVELS = [r'\\SRV01\Processor(%s)\Level' % i for i in ('0', '1', '_Total')]


def asked_for(tshark, capture, argument):
    """The paths of both statistics: each once in the table, once a sample in the rows."""
    out, _ = tshark.run('-q', '-r', capture, '-z', 'pcq,counters' + argument)
    table = [line.split(' |')[0] for line in out.splitlines() if line.startswith('\\\\')]
    out, _ = tshark.run('-q', '-r', capture, '-z', 'pcq,long,-' + argument)
    return table, [r['path'] for r in csv.DictReader(io.StringIO(out))]


@pytest.mark.parametrize('argument, paths, samples', [
    (r',\Processor(*)\Level', LEVELS, 4), (r',\\srv01\processor(?)\LEVEL', LEVELS[:2], 4), (r',\\OTHER\*\*', [], 4),
    (r',\Processor(1)\Level; \Processor(_Total)\Level', LEVELS[1:], 4), (r',\Processor(*)\#9', [], 0)])
def test_a_statistic_of_some_paths(tshark, tmp_path, argument, paths, samples):
    s = processors_set()
    scenario = capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, 1, '*'), ask(s, 2, '*'), ask(s, 9, '*')], 4)))
    assert asked_for(tshark, scenario.write(tmp_path / 'scenario.pcap'), argument) == (paths, paths * samples)


def test_values_without_a_path(tshark, tmp_path):
    """Nobody knows whose they are: they fit nothing."""
    s = processors_set()
    server = Server([s])
    early = unseen(server).query([ask(s, 2, '*')], info=False)
    capture = capture_talk(server, lambda c: c.data(early, 1 << 20)).write(tmp_path / 'scenario.pcap')
    assert asked_for(tshark, capture, ',\\*\\*') == ([], []) and ': 3 values (' in str(tshark.info(capture, *rows(w='\\*\\*')))


@pytest.mark.parametrize('argument', ['', ',', ',pcq || pcq.path contains "\\\\"'])
def test_a_statistic_of_all_paths(tshark, tmp_path, argument):
    """Without an argument, or with a display filter that has a backslash somewhere."""
    table, in_rows = asked_for(tshark, processors().write(tmp_path / 'scenario.pcap'), argument)
    assert table == [x.replace('Level', name) for name in ('% Time', 'Level') for x in LEVELS] and in_rows == table * 4


@pytest.mark.parametrize('statistic', ['counters,', 'long,-,'])
def test_a_statistic_of_paths_that_are_none(tshark, tmp_path, statistic):
    """Wireshark takes them for a filter."""
    done = tshark.start('-q', '-r', processors(1).write(tmp_path / 'scenario.pcap'), '-z', 'pcq,' + statistic + '\\a\\b;Processor')
    assert done.returncode == 1 and 'Filter "\\a\\b;Processor" is invalid' in done.stderr.decode() and done.stdout == b''
