# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of `-z` beside each other: twice in one run, with other filters, again and again, in other locales."""

import itertools
import json
import re
import subprocess

import pytest

from conftest import TSHARK
from gen import stubs
from gen.scripted import Server, ask, begin, counter, learn, multiple, run, single, capture_talk, whole_session
from test_order import PCAPS, sharkd  # noqa: F401 (a fixture)

TABLES = 'pcq,counters', 'pcq,monitors', 'pcq,queries', 'pcq,refusals'
ALL = *TABLES, 'pcq,tree'
NOTED = [t for t in TABLES if t != 'pcq,monitors']      # whose last rows say what failed, or is malformed: of pcq,monitors findings do


def drawn(tshark, capture, *statistics, args=(), env=None):
    """What tshark prints of each -z, without the filter's line; a tree's rule is as wide as the tree."""
    before = tshark.env
    tshark.env = dict(before, **env or {})
    try:
        out, _ = tshark.run('-q', '-r', capture, *args, *[x for s in statistics for x in ('-z', s)])
    finally:
        tshark.env = before
    parts = [p.strip('\n') for p in re.split(r'^=+$', out, flags=re.M)]
    return [re.sub('Filter for statistics:.*\n', '', p) for p in parts if p]


@pytest.mark.parametrize('statistic, more', zip(TABLES, ['', ',frame.number < 50'] * 2))
def test_a_table_twice_in_one_run_is_refused(tshark, tmp_path, statistic, more):
    """Wireshark has one table for it: what passed the one filter or the other would be added up."""
    path = whole_session().write(tmp_path / 'a.pcap')
    out = subprocess.run([TSHARK, '-q', '-r', path, '-z', statistic, '-z', statistic + more], env=tshark.env, capture_output=True, text=True)
    assert out.returncode == 1 and 'pcq: -z %s can be given once' % statistic in out.stderr and out.stdout == ''


# --- what they could not take -----------------------------------------------------------------------------------------

def last_rows(text):
    """The notes behind a table's rows: one line each, that fits a window."""
    rows = [line[:-2] for line in text.split('\n')[3:] if line.count(' |') == 1 and line.endswith(' |')]
    assert all(len(r) <= 60 for r in rows), rows
    return rows


def said_so(rows, lines, label, count):
    """A brief note in the table, and on standard error the same with what to do."""
    note = '%s: %d' % (label, count)
    return rows == [note] and len(lines) == 1 and lines[0].startswith(note + '; ')


def notes(tshark, capture, statistic, *args):
    """-> (last rows, lines on standard error)"""
    out, err = tshark.run('-q', '-r', capture, '-z', statistic, *args)
    return last_rows(out.strip().split('\n', 1)[1]), [x.split('pcq: ')[1] for x in err.splitlines() if 'pcq: ' in x]


SEALED = PCAPS / 'tcp-ntlm.pcap'
PASSWORD = '-o', 'ntlmssp.nt_password:Lab-Passw0rd'


@pytest.mark.parametrize('statistic', TABLES)
def test_sealed_calls_are_not_silently_left_out(tshark, statistic):
    rows, lines = notes(tshark, SEALED, statistic)
    assert len(lines) == 1 and all(w in lines[0] for w in ('not decoded: ', 'NTLM', 'ntlmssp.nt_password')), lines
    sealed = tshark.fields(SEALED, ['frame.number'], '-Y', 'pcq.expert.sealed')
    assert said_so(rows, lines, 'requests and responses not decoded', len(sealed)), rows
    rows, lines = notes(tshark, SEALED, statistic, *PASSWORD)
    assert lines == [] and rows in ([], ['values without a row (texts, repeated paths): 4'])     # some are asked for twice


def test_a_table_that_nothing_passes_says_so(tshark, tmp_path):
    path = whole_session().write(tmp_path / 'a.pcap')
    for statistic in TABLES:
        row, = notes(tshark, path, statistic + ',frame.number == 0')[0]
        assert 'no call of PerflibV2' in row


@pytest.mark.parametrize('statistic', ['pcq,counters', 'pcq,long,%s'])
@pytest.mark.parametrize('samples, paths, is_met', [
    (3, r'\Nix\A', False), (3, r'\Thing(x)\*', True), (3, r'\thing(*)\one; \Nix(*)\*', True), (3, r'\\OTHER\Thing(x)\One', False), (0, r'\Nix\A', False)])
def test_paths_that_no_counter_fits_are_reported(tshark, tmp_path, statistic, samples, paths, is_met):
    thing = multiple('Thing', counter(1, 'PERF_COUNTER_RAWCOUNT', 'One', [1, 1]), instances=('x', 'y'))
    capture = capture_talk(Server([thing]), lambda c: (learn(c, thing), run(c, [ask(thing, 1, '*')], samples))).write(tmp_path / 'a.pcap')
    shown, said = tshark.run('-q', '-r', capture, '-z', '%s,%s' % (statistic.replace('%s', str(tmp_path / 'long')), paths))
    note = 'no counter fits the paths; -z pcq,counters lists all' if samples else 'no response with counter data is here or passes the filter; -z pcq,summary says why'
    assert said.splitlines() == ([] if is_met else ['tshark: pcq: ' + note])
    assert (note.split(';')[0] in shown) == (statistic == 'pcq,counters' and not is_met)


def test_damaged_answers_and_unknown_queries_are_said(tshark, tmp_path):
    s, is_damaged = single('Small', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Things', lambda at, k: 10)), iter([False, True, False])
    scenario, c = begin(Server([s]), s, alters=lambda opnum, kind, stub: stub if (opnum, kind) != (stubs.DATA, 'response') or not next(is_damaged) else
                        stub[:20 + 48 + 4] + b'\7' + stub[20 + 48 + 5:])      # the type of the only block: there is no 7
    run(c, [ask(s, 1)], 3)
    path = scenario.write(tmp_path / 'a.pcap')
    for statistic in NOTED:
        rows, lines = notes(tshark, path, statistic)
        assert said_so(rows, lines, 'malformed responses', 1), rows


@pytest.mark.parametrize('kind, learned, label', [('PERF_COUNTER_RAWCOUNT', True, 'values that are assumed'),
                                                  ('PERF_COUNTER_BULK_COUNT', False, 'values of a counter or type that is not known')])
def test_samples_in_doubt_are_said(tshark, tmp_path, kind, learned, label):
    s = multiple('Set', counter(1, kind, 'One', [1, 1]), counter(2, kind, 'Two', [2, 2]))
    scenario = capture_talk(Server([s]), lambda c: (learned and learn(c, s), run(c, [ask(s, 1, 'a'), ask(s, 2, 'a')], 3, info=not learned)))
    rows, lines = notes(tshark, scenario.write(tmp_path / 'a.pcap'), 'pcq,counters')
    assert said_so(rows, lines, label, 6), rows


# --- sharkd ---------------------------------------------------------------------------------------------------------

def tap(running, *statistics):
    """{tap: its answer}"""
    names = ['stat:pcq' if s == 'pcq,tree' else 'nstat:' + s for s in statistics]
    out, = running.ask(('tap', {'tap%d' % i: n for i, n in enumerate(names)}))
    return {t['tap']: t for t in json.loads(out, strict=False)['result']['taps']}


def test_sharkd_taps_again_and_again(sharkd, tmp_path):
    """Alone, together, in any order, after another capture: the same each time."""
    one, other = whole_session(), whole_session(samples=2)
    one, other = one.write(tmp_path / 'one.pcap'), other.write(tmp_path / 'other.pcap')
    running = sharkd()
    expected = {}
    for capture in one, other:
        running.load(capture)
        expected[capture] = {k: v for s in ALL for k, v in tap(running, s).items()}
        assert len(expected[capture]) == len(ALL)
    assert expected[one] != expected[other]
    for capture, order in zip([one, one, other, one], itertools.islice(itertools.permutations(ALL), 2, None, 7)):
        running.load(capture)
        for _ in range(2):
            assert tap(running, *order) == expected[capture]
        for s in order:
            (k, v), = tap(running, s).items()
            assert v == expected[capture][k], k
