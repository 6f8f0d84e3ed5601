# SPDX-License-Identifier: GPL-2.0-or-later
"""pcq.graph and hkpd.graph: the results of the counters that the preference names, and of no others."""

import os
import re
import subprocess

import pytest

from conftest import TSHARK, TShark
from gen import hkpd_scene
from gen.story_script import Script, ask, counter, learn, multiple, run, story
from series import series

PASSES = pytest.mark.parametrize('passes', [[], ['-2']], ids=['one-pass', 'two-pass'])
CPU = '\\Processor(*)\\% Time'


def processors(samples=4, instances=('0', '1', '_Total')):
    s = multiple('Processor', counter(1, 'PERF_100NSEC_TIMER', '% Time', lambda at, k: 1000000 * at.number * (k + 1)),
                 counter(2, 'PERF_COUNTER_RAWCOUNT', 'Level', lambda at, k: 100 * at.number + k), instances=list(instances))
    server = Script([s])

    def talk(c):
        learn(c, s)
        run(c, [ask(s, 1, '*'), ask(s, 2, '*')], samples)
    return story(server, talk)


@pytest.fixture
def graphed(tshark, tmp_path):
    """graphed(scene, pattern) -> {frame: [what it shows]}"""
    def get(scene, pattern, *args, field='pcq.graph'):
        scene.write(tmp_path / 'scene.pcap')
        rows = tshark.fields(tmp_path / 'scene.pcap', ['frame.number', field], '-o', 'pcq.graph:' + pattern, *args)
        return {int(n): [float(x) for x in shown.split(',')] for n, shown in rows if shown}
    return get


def compare(shown, scene, wanted):
    expected = {}
    for answer in series(scene):
        results = [v.cooked for v in answer.values if wanted(v.path) and v.cooked is not None]
        if results:
            expected[answer.frame] = results
    assert shown.keys() == expected.keys() and expected
    for frame, results in expected.items():
        assert shown[frame] == pytest.approx(results, rel=1e-5), frame      # -T fields prints six digits


@PASSES
@pytest.mark.parametrize('pattern, wanted', [
    ('\\\\SRV01\\Processor(_Total)\\% Time', r'\(_Total\)\\% Time$'),
    ('\\Processor(_Total)\\% Time', r'\(_Total\)\\% Time$'),
    ('\\processor(_total)\\% TIME', r'\(_Total\)\\% Time$'),
    (CPU, r'\\% Time$'),
    ('\\Processor(0)\\*', r'\(0\)'),
    ('\\Processor(0)\\Level; \\Processor(1)\\% Time', r'\(0\)\\Level$|\(1\)\\% Time$'),
    ('*', ''),
])
def test_patterns(graphed, pattern, wanted, passes):
    scene = processors()
    compare(graphed(scene, pattern, *passes), scene, lambda path: re.search(wanted, path))


@pytest.mark.parametrize('pattern', ['', ' ', 'Processor', '\\\\OTHER\\*', '\\Processor(*)'])
def test_patterns_that_fit_nothing(graphed, pattern):
    assert graphed(processors(), pattern) == {}


@PASSES
def test_hkpd(graphed, passes):
    """The same preference; paths of nameless instances too."""
    scene = hkpd_scene.session(samples=3)
    compare(graphed(scene, '\\*/sec', *passes, field='hkpd.graph'), scene, lambda path: path.endswith('/sec'))
    assert graphed(scene, '\\*/sec', field='pcq.graph') == {}


def test_io_graph(tshark, tmp_path):
    """What an I/O graph draws: one counter out of all that a frame holds."""
    scene = processors()
    scene.write(tmp_path / 'scene.pcap')
    out, _ = tshark.run('-q', '-r', tmp_path / 'scene.pcap', '-o', 'pcq.graph:\\Processor(1)\\Level',
                        '-z', 'io,stat,0,MAX(pcq.graph)pcq.graph,AVG(pcq.graph)pcq.graph,COUNT(pcq.graph)pcq.graph')
    row = next(line for line in out.splitlines() if '<>' in line)
    numbers = [float(x) for x in row.split('|')[2:5]]
    assert numbers == [301, 151, 4]


def test_within_the_budget(tshark, tmp_path):
    """A tree that has no room for all values has none for their doubles either."""
    scene = processors(2, ['i%d' % i for i in range(2000)])
    scene.write(tmp_path / 'scene.pcap')
    for limit in 5000, 9000, 14000, 60000:
        out, _ = tshark.run('-r', tmp_path / 'scene.pcap', '-o', 'pcq.graph:*', '-o', 'gui.max_tree_items:%d' % limit, '-T',
                            'fields', '-e', 'pcq.graph', '-e', 'pcq.status', '-Y', 'pcq.opnum == 6 && pcq.status')
        lines = out.splitlines()
        assert len(lines) == 2 and all(line.endswith('\t0') for line in lines), limit


# --- The menu -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope='session')
def wireshark_window(tmp_path_factory):
    """wireshark_window(capture, (frame, field, count, entry), …) -> what is saved, and what is said"""
    t = TShark(tmp_path_factory.mktemp('home'))
    t.env['WIRESHARK_PLUGIN_DIR'] = os.environ['PCQ_WINDOW']

    def press(capture, *entries):
        asked = [x for entry in entries for x in ('-z', 'window,%d,%s,%d,%s' % entry)]
        done = subprocess.run([TSHARK, '-r', str(capture), '-V', *asked], env=t.env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=True, timeout=60)
        return re.findall('^window: (.*)$', done.stdout.decode(), re.M), done.stderr.decode()
    return press


FIRST, NEXT, SELECTED = 'First of the Selected Packet', 'Next of the Selected Packet', 'Selected Value'


def test_the_first_and_the_next(wireshark_window, tmp_path):
    """Next begins with the first, and goes from the last one to the first again; another packet begins anew."""
    scene = processors()
    capture = scene.write(tmp_path / 'scene.pcap')
    answers = series(scene)
    paths = ['pcq.graph: ' + v.path for v in answers[1].values]
    at, other = answers[1].frame, answers[2].frame
    saved, said = wireshark_window(capture, *[(at, '-', 0, NEXT)] * 8, (other, '-', 0, FIRST))
    assert saved == paths[:6] + paths[:2] + paths[:1] and said == ''
    assert wireshark_window(capture, *[(at, '-', 0, NEXT)] * 3, (other, '-', 0, NEXT))[0] == paths[:3] + paths[:1]


@pytest.mark.parametrize('field', ['pcq.path', 'pcq.cooked', 'pcq.value', 'pcq.counter_data', 'pcq.value.size', 'pcq.instance'])
def test_the_selected_value(wireshark_window, graphed, tmp_path, field):
    """Whatever of it is selected: what is saved picks this counter and no other."""
    scene = processors()
    capture = scene.write(tmp_path / 'scene.pcap')
    answer = series(scene)[1]
    for n, v in enumerate(answer.values, 1):
        saved, said = wireshark_window(capture, (answer.frame, field, n, SELECTED))
        assert (saved, said) == (['pcq.graph: ' + v.path], ''), n
    compare(graphed(scene, v.path), scene, lambda path: path == v.path)


def test_the_selected_value_of_hkpd(wireshark_window, tmp_path):
    scene = hkpd_scene.session(samples=2)
    capture = scene.write(tmp_path / 'scene.pcap')
    answer = series(scene)[1]
    for n in 1, 5, 20:
        saved, said = wireshark_window(capture, (answer.frame, 'hkpd.counter_data', n, SELECTED))
        assert (saved, said) == (['pcq.graph: ' + answer.values[n - 1].path], '')


def test_nothing_to_graph(wireshark_window, tmp_path):
    scene = processors()
    capture = scene.write(tmp_path / 'scene.pcap')
    at = series(scene)[0].frame
    for entry in (1, '-', 0, FIRST), (at, '-', 0, SELECTED), (1, 'tcp.port', 1, SELECTED):
        saved, said = wireshark_window(capture, entry)
        assert saved == [] and 'pcq: select a' in said, entry


def test_a_path_with_a_separator(wireshark_window, graphed, tmp_path):
    """What separates patterns in the preference is any character then."""
    s = multiple('Odd', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Level; deep', lambda at, k: 5 + k), instances=['a', 'b'])
    scene = story(Script([s]), lambda c: (learn(c, s), run(c, [ask(s, 1, '*')], 2)))
    capture = scene.write(tmp_path / 'scene.pcap')
    saved, _ = wireshark_window(capture, (series(scene)[0].frame, 'pcq.value', 2, SELECTED))
    assert saved == [r'pcq.graph: \\SRV01\Odd(b)\Level* deep']
    compare(graphed(scene, saved[0].partition(': ')[2]), scene, lambda path: '(b)' in path)
