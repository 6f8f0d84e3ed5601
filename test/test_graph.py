# SPDX-License-Identifier: GPL-2.0-or-later
"""pcq.graph and hkpd.graph: the results of the counters that the preference names, and of no others."""

import re

import pytest

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
        assert all(line.endswith('\t0') for line in out.splitlines()), limit
