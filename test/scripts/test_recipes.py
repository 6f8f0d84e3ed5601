# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/recipes.md: each recipe is run as it stands, and what comes out is compared with what it promises. Those behind "Many files" are
run by script/dev/test-archive."""

import csv
import re
import shlex

import pytest

from conftest import TOP
from gen.stubs import REG_INFO
from gen.scripted import Server, ask, counter, learn, multiple, run, capture_talk
from test_docs import KEYS, PCAPS, shell_in
from network import captured

NTLM = ('smb3-ntlm', 'tcp-ntlm')


def recipe(heading):
    """The commands below a heading."""
    part, = re.findall(r'^## %s\n(.*?)(?=^## |\Z)' % re.escape(heading), (TOP / 'docs' / 'recipes.md').read_text(), re.M | re.S)
    return re.findall(r'^    (\S.*)$', part, re.M)


def given(command, word, capture):
    """With a bundled capture and its key for the word that stands for one"""
    return command.replace(word, shlex.join([str(PCAPS / (capture + '.pcap')), *KEYS[capture]]), 1)


@pytest.fixture
def shell(tshark, tmp_path):
    """shell(command) -> standard output; in a folder of its own, with the profile"""
    begun = shell_in(tmp_path, tshark, 'bash', '-euo', 'pipefail', '-c')

    def run(command, said=''):
        status, out, err = begun(command)
        assert status == 0 and re.fullmatch(said, err), (command, err)
        return out
    run.folder = tmp_path
    return run


@pytest.fixture
def rows(tshark):
    """rows(capture file, options) -> the long form's rows as dictionaries"""
    def read(path, *args, said=''):
        out, err = tshark.run('-q', '-r', path, *args, '-z', 'pcq,long,-')
        assert (said in err and err.count('\n') == 1) if said else err == ''
        return list(csv.DictReader(out.splitlines()))
    return read


@pytest.mark.parametrize('capture, number, stream', [('smb3-ntlm', 1, 0), ('smb3-kerberos', 1, 0), ('tcp-ntlm', 1, 0),
                                                     ('two-clients', 1, 1), ('two-clients', 2, 0)])
def test_one_query_cut_out(shell, rows, tshark, capture, number, stream):
    """Its key opens it still: each value is there as before, by a names file where another connection asked for the names."""
    which, write = recipe('One query cut out')
    assert shell(given(which, 'FILE', capture).replace('number == 1', 'number == %d' % number)) == '%d\n' % stream
    shell(given(write, 'FILE', capture).replace('stream == 0', 'stream == %d' % stream))
    whole, cut, names = PCAPS / (capture + '.pcap'), shell.folder / 'one-query.pcap', shell.folder / 'names.txt'
    assert tshark.fields(cut, ['tcp.stream'], '-Y', 'tcp.stream != 0') == []
    tshark.run('-q', '-r', whole, *KEYS[capture], '-z', 'pcq,names,%s' % names)

    def values(path, wanted):
        found = rows(path, *KEYS[capture], '-o', 'pcq.names_file:%s' % names)
        return [{k: v for k, v in row.items() if k not in ('frame', 'query')} for row in found if row['query'] == wanted]
    assert values(cut, '1') == values(whole, str(number)) and len(values(cut, '1')) > 20


def test_the_series_of_a_counter(shell, rows):
    profile, field, long, lines = recipe('One counter as numbers')
    everything = rows(PCAPS / 'smb3-ntlm.pcap', *KEYS['smb3-ntlm'])
    for command, path in ((profile, r'\\LABDC\Processor Information(_Total)\% Processor Time'),
                          (field, r'\\LABDC\Processor Information(0,0)\% Processor Time')):
        series = [(r['time'], float(r['result'])) for r in everything if r['path'] == path and r['result']]
        got = [line.split('\t') for line in shell(given(command, 'FILE', 'smb3-ntlm')).splitlines()]
        assert [float(v) for _, v in got] == pytest.approx([v for _, v in series], rel=1e-5) and len(got) == 9
        assert [t.split('.')[1] for t, _ in got] == [t.split('.')[1].rstrip('Z') for t, _ in series]
    shell(given(long, 'FILE', 'smb3-ntlm'))
    assert shell(lines).splitlines() == ['%s %s %s' % (r['time'], r['result'], r['reason'] or r['unit']) for r in everything
                                         if r['path'] == path]


def test_who_was_busy_at_a_time(shell, rows):
    """The means of that time alone, the largest first."""
    command, = recipe('Who was busy at a time')
    as_it_stands = shell(given('TZ=UTC ' + command, 'FILE', 'smb3-ntlm'))
    assert r'\\LABDC\Processor Information(0,0)\% Processor Time' in as_it_stands and 'no ' not in as_it_stands
    assert shell(given('TZ=UTC ' + command.replace('2026-11-21', '2027-11-21'), 'FILE', 'smb3-ntlm'), 'tshark: pcq: no call .*\n').startswith('no call of PerflibV2 ')
    command = command.replace('2026-11-21 10:10:00', '2026-11-21 10:10:30').replace('2026-11-21 10:11:00', '2026-11-21 10:10:33')
    lines = shell(given('TZ=UTC ' + command, 'FILE', 'smb3-ntlm')).splitlines()
    results = {}
    for row in rows(PCAPS / 'smb3-ntlm.pcap', *KEYS['smb3-ntlm']):
        if '% Processor Time' in row['path'] and '_Total)' not in row['path'] and '2026-11-21T10:10:30' <= row['time'] < '2026-11-21T10:10:33':
            results.setdefault(row['path'], {})[row['time']] = float(row['result'])    # one counter may stand in an answer twice
    means = sorted(((sum(v.values()) / len(v), path) for path, v in results.items()), reverse=True)
    shown = [line.split(' |') for line in lines]
    assert [(row[0], int(row[1])) for row in shown] == [(path, len(results[path])) for _, path in means] and len(shown) == 2
    assert [float(row[3]) for row in shown] == pytest.approx([mean for mean, _ in means], rel=1e-5)


def test_captures_that_are_not_healthy(shell):
    """The one with refused counters, and not the one of a monitor with which all is well."""
    command, = recipe('Captures that are not healthy')
    (shell.folder / 'captures').mkdir()
    (shell.folder / 'captures' / 'refused.pcap').symlink_to(PCAPS / 'smb3-ntlm.pcap')
    captured(shell.folder / 'captures' / 'well.pcap', 8)
    out = shell(command.replace('ntlmssp.nt_password:PASSWORD', 'ntlmssp.nt_password:Lab-Passw0rd'))
    assert out == 'False captures/refused.pcap\n'


@pytest.mark.parametrize('capture, server, interval', [('smb3-ntlm', 'LABDC (127.0.0.1)', 1.004), ('two-clients', None, None)])
def test_who_asks_with_which_account(shell, capture, server, interval):
    command, = recipe('Accounts')
    lines = [line.split('|') for line in shell(given(command, 'FILE', capture)).splitlines()]
    assert lines and all(len(line) == 5 and line[2] for line in lines)
    if server:
        (client, named, account, samples, each), = lines
        assert (client, named, account, samples) == ('127.0.0.1', server, r'LAB\Administrator (LABCLIENT)', '10')
        assert float(each) == pytest.approx(interval, abs=1e-3)


def test_who_asks_and_is_denied(shell):
    """It has no query, and is named all the same."""
    command, = recipe('Accounts')
    thing = multiple('Thing', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Count', [1]))
    scenario = capture_talk(Server([thing], denies={REG_INFO: (5, range(9))}), lambda c: learn(c, thing))
    line, = shell(command.replace('FILE', shlex.quote(str(scenario.write(shell.folder / 'denied.pcap'))))).splitlines()
    client, server, account, *rest = line.split('|')
    assert (client, server, rest) == ('192.0.2.10', 'SRV01 (192.0.2.20)', ['0', '-'])


def test_memory_of_a_process(shell):
    """Of each process of that name what it has; beside each value its process, though the first one ends."""
    table, export, beside = recipe('Memory of a process')
    sets = multiple('Process', counter(1, 'PERF_COUNTER_LARGE_RAWCOUNT', 'Working Set', [4096, 8192, 12288]),
                    counter(2, 'PERF_COUNTER_LARGE_RAWCOUNT', 'Private Bytes', [1024, 2048, 3072]),
                    counter(3, 'PERF_COUNTER_RAWCOUNT', 'ID Process', lambda at, k: 100 + k + (4 if at.number > 1 else 0)), instances=['sqlservr', 'sqlservr#1', 'other'])
    scenario = capture_talk(Server([sets]), lambda c: (learn(c, sets), run(c, [ask(sets, 1, '*'), ask(sets, 2, '*'), ask(sets, 3, '*')], 3)))
    path = shlex.quote(str(scenario.write(shell.folder / 'a.pcap')))
    out = shell(table.replace('FILE', path))
    found = re.findall(r'^\\\\[^\\]*\\Process\((.*?)\)\\(.*?) \|', out, re.M)
    assert sorted(found) == sorted((i, c) for i in ('sqlservr', 'sqlservr#1') for c in ('Working Set', 'Private Bytes'))
    shell(export.replace('FILE', path))
    assert sorted(tuple(x.split()[::2]) for x in shell(beside).splitlines()) == \
        [(str(100 + k), str(x)) for k in (0, 1) for x in (1024, 2048)] + [(str(104 + k), '3072') for k in (0, 1)]


def test_two_days_compared(shell, rows):
    monday, tuesday, join, one_day_only, moved = recipe('Two days compared')
    shell(given(monday, 'MONDAY', NTLM[0]))
    shell(given(tuesday, 'TUESDAY', NTLM[1]))
    shell(join)
    both = [line.split('|') for line in (shell.folder / 'both.txt').read_text().splitlines()]
    days = [rows(PCAPS / (name + '.pcap'), *KEYS[name]) for name in NTLM]
    paths = [{r['path'] for r in day if r['raw']} for day in days]       # that have samples
    assert paths[0] & paths[1] and {row[0] for row in both} >= paths[0] | paths[1] and all(len(row) == 8 for row in both)
    changed = set()
    for path, unit, *cells in both:
        results = [[float(r['result']) for r in day if r['path'] == path and r['result']] for day in days]
        for i, values in enumerate(results):
            mean, maximum, samples = cells[i::2]
            if values:
                assert (float(mean), float(maximum)) == pytest.approx((sum(values) / len(values), max(values)), rel=1e-5)
            else:
                assert (mean, maximum) == ('-', '-'), path
            assert samples != '-' if path in paths[i] else True
        if all(results):
            means = [sum(v) / len(v) for v in results]
            if all(means) and not 0.5 < means[1] / means[0] < 2:
                changed.add(path)
    alone = {line.split('|')[0] for line in shell(one_day_only).splitlines()}
    assert alone & (paths[0] | paths[1]) == paths[0] ^ paths[1]
    assert {line.split('|')[0] for line in shell(moved).splitlines()} == changed and changed


class Refusing(Server):
    """Has no counter of one set any longer."""
    gone = None

    def _add(self, query, i):
        return 1168 if i.guid == self.gone else super()._add(query, i)


def test_two_days_with_zeros_and_refusals(shell):
    """A mean that was zero, a counter that is refused on the second day, and one that is as it was"""
    def day(busy, server):
        sets = [multiple(name, counter(1, 'PERF_COUNTER_RAWCOUNT', 'Count', lambda at, k, v=value: v))
                for name, value in (('Busy', busy), ('Gone', 5), ('Same', 7), ('Idle', 0))]
        server = server(sets)
        server.gone = sets[1].guid
        return capture_talk(server, lambda c: (learn(c, *sets), run(c, [ask(s, 1, '*') for s in sets], 4)))
    monday, tuesday, join, one_day_only, moved = recipe('Two days compared')
    for command, word, scenario in ((monday, 'MONDAY', day(0, Server)), (tuesday, 'TUESDAY', day(21, Refusing))):
        shell(command.replace(word, shlex.quote(str(scenario.write(shell.folder / (word + '.pcap'))))))
    shell(join)
    sets = [{line.split('|')[0].split('\\')[3].split('(')[0] for line in shell(command).splitlines()} for command in (one_day_only, moved)]
    assert sets == [{'Gone'}, {'Busy'}]


# --- live ------------------------------------------------------------------------------------------------------------

def from_a_pipe(command, capture='smb3-ntlm'):
    """The command with the bundled capture coming in through a pipe, as from a network card."""
    command = command.replace('ntlmssp.nt_password:PASSWORD', 'ntlmssp.nt_password:Lab-Passw0rd')
    path = shlex.quote(str(PCAPS / (capture + '.pcap')))
    command = re.sub(r"^sudo tcpdump [^|]*", 'cat %s ' % path, command)
    return re.sub(r"^tshark (.*?)-i eth0( -f '[^']*')?", r'cat %s | tshark \1-i -' % path, command)


SAID = r"(?s).*Capturing on .*"


@pytest.mark.parametrize('which', [0, 1])
def test_live_into_a_file(shell, rows, which):
    command = recipe('Live: rows as they come')[which]
    shell(from_a_pipe(command), SAID)
    with open(shell.folder / 'values.csv', newline='') as f:
        assert list(csv.DictReader(f)) == rows(PCAPS / 'smb3-ntlm.pcap', *KEYS['smb3-ntlm'])


def test_live_and_chosen(shell, rows):
    everything = rows(PCAPS / 'smb3-ntlm.pcap', *KEYS['smb3-ntlm'])
    *_, watched = recipe('Live: rows as they come')
    got = [float(line.split('\t')[1]) for line in shell(from_a_pipe(watched), SAID).splitlines()]
    path = r'\\LABDC\Processor Information(_Total)\% Processor Time'
    assert got == pytest.approx([float(r['result']) for r in everything if r['path'] == path and r['result']], rel=1e-5) and got


def test_live_into_a_database(shell, rows):
    """psql gets every row once, in batches and without the first line; script/dev/test-archive asks the real one."""
    psql = shell.folder / 'bin' / 'psql'
    psql.write_text('#!/bin/sh\nprintf "%%s\\n" "$3" >>%s\ncat >>%s\n' % (shell.folder / 'asked', shell.folder / 'rows'))
    psql.chmod(0o755)
    command, = recipe('Live: into PostgreSQL')
    shell(from_a_pipe(command), SAID)
    asked = (shell.folder / 'asked').read_text().splitlines()
    names, = {re.fullmatch(r"\\copy sample \((.*)\) FROM STDIN \(FORMAT csv\)", a)[1] for a in asked}
    everything = rows(PCAPS / 'smb3-ntlm.pcap', *KEYS['smb3-ntlm'])
    assert names.split(', ') == list(everything[0]) and len(asked) == -(-len(everything) // 100) > 1
    with open(shell.folder / 'rows', newline='') as f:
        assert list(csv.reader(f)) == [list(row.values()) for row in everything]
