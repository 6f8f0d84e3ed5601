# SPDX-License-Identifier: GPL-2.0-or-later
"""Both CSV forms of conversations that nobody thought out, and names and types that are learned behind the first samples."""

import pytest

from gen import hkpd_scenario
from gen.model import GERMAN
from gen.scenario import Scenario
from gen.sessions import Network
from gen.scripted import Server, ask, counter, learn, multiple, capture_talk
from series import compare_pdh, long_rows, pdh_rows, series
from test_csv import export      # noqa: F401: a fixture
from test_sessions import add_session


@pytest.mark.parametrize('kind', ['orderly', 'losses', 'aliases'])
def test_both_forms_say_the_same(tshark, tmp_path, kind):
    """Queries that change between samples, instances that come and go, handles that are dealt out again, answers that were lost: what is
    true of a row of the long form (test_sessions.py) is so of a cell."""
    network, scenario = Network(), Scenario()
    for place in range(20):
        add_session(network, scenario, kind, place, place)
    path, count = scenario.write(tmp_path / 'a.pcap'), 0
    tshark.run('-q', '-2', '-r', path, '-z', 'pcq,long,%s' % (tmp_path / 'long'), '-z', 'pcq,csv,%s' % (tmp_path / 'out.csv'))
    queries = {}
    for row in long_rows((tmp_path / 'long').read_bytes().decode()):
        if row['query'] and row['path'] and row['status'] == '0':
            query = queries.setdefault((row['protocol'].replace('pcq', 'query'), row['query']), {})
            time = '{1}/{2}/{0} '.format(*row['time'][:10].split('-')) + row['time'][11:23]      # as PDH-CSV has it
            query.setdefault((row['frame'], time), {}).setdefault(row['path'], row['result'])
    for number, answers in queries.items():
        file = tmp_path / ('out-%s-%s.csv' % number)
        header, *rows = pdh_rows((file if file.exists() else tmp_path / 'out.csv').read_bytes().decode())
        rows = [row for row in rows if row[0] in {at for _, at in answers}]
        assert [row[0] for row in rows] == [at for _, at in answers]
        for row, results in zip(rows, answers.values()):
            assert set(results) <= set(header)
            for path, cell in zip(header[1:], row[1:]):
                result = results.get(path, '')
                assert cell == ('%.6f' % float(result) if result else ' '), (number, row[0], path)
                count += cell != ' '
    assert len(queries) > 15 and count > 100


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
    return capture_talk(Server([s], order=order), talk)


LATE = {
    'names': dict(codes=(9, 10), before=(1,)),
    'types': dict(codes=(1,), before=(9, 10)),
    'everything': dict(codes=(1, 9, 10)),
    'English behind German': dict(codes=(9, 10), before=(1, 3, 5)),
    'the kind of instances': dict(codes=(1,), before=(9, 10)),
    'whose the blocks are': dict(codes=(9, 10), before=(1,), info=False, order=lambda q: [2, 0, 1]),
}


@pytest.mark.parametrize('what', LATE)
def test_a_counter_has_one_column(export, what):
    how = dict(LATE[what])
    scenario = late(*how.pop('codes'), **how)
    text = export(scenario, 'csv', '-2')
    assert compare_pdh(text, series(scenario)) == 11
    assert pdh_rows(text)[0][1:] == ['\\\\SRV01\\Engine(' + i for i in (
        ['a)\\Turns/sec', 'b)\\Size', 'a)\\Size'] if 'blocks' not in what else ['a)\\Size', 'a)\\Turns/sec', 'b)\\Size'])]


def test_titles_that_come_late(export):
    """HKEY_PERFORMANCE_DATA: the list of titles is asked for behind the samples, which hold now these objects and now those."""
    scenario = Scenario('titles')
    talk = hkpd_scenario.Talk(scenario)
    talk.open()
    for only in None, [238], [230, 232], [238], None, [2, 234]:
        talk.sample(' '.join(map(str, only)) if only else 'Global', only)
    talk.titles()
    talk.close()
    assert compare_pdh(export(scenario, 'csv', '-2'), series(scenario)) > 60
