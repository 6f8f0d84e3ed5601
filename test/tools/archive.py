# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs docs/recipes.md from "Many files" on by the letter: parallel over ssh to an sshd of this user's, COPY into a PostgreSQL of this user's.

Called by script/dev/test-archive in a folder with recipes.md and captures/. What the page's commands make is compared with what
one tshark makes of each file."""

import csv
import datetime
import glob
import io
import math
import os
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pandas

HERE = Path.cwd()
PASSWORD = 'Lab-Passw0rd'


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def run(command, **more):
    done = subprocess.run(['bash', '-euo', 'pipefail', '-c', command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    assert done.returncode == 0, '%s\n%s\n%s' % (command, done.stdout.decode(), done.stderr.decode())
    return done.stdout.decode()


def start_sshd():
    """-> (process, line for parallel's list of hosts). sshd runs as this user, for this user."""
    port = free_port()
    ssh = HERE / 'ssh'
    ssh.mkdir(mode=0o700)
    run('ssh-keygen -q -t ed25519 -N "" -f %s/host; ssh-keygen -q -t ed25519 -N "" -f %s/id; cp %s/id.pub %s/authorized' % ((ssh,) * 4))
    environment = ' '.join('%s=%s' % (k, os.environ[k]) for k in ('WIRESHARK_PLUGIN_DIR', 'HOME', 'PATH', 'TZ', 'LC_ALL') if k in os.environ)
    (ssh / 'config').write_text('''Port %d
ListenAddress 127.0.0.1
HostKey %s/host
PidFile none
AuthorizedKeysFile %s/authorized
StrictModes no
UsePAM no
PasswordAuthentication no
Subsystem sftp internal-sftp
SetEnv %s
''' % (port, ssh, ssh, environment))
    server = subprocess.Popen(['/usr/sbin/sshd', '-D', '-e', '-f', str(ssh / 'config')], stderr=open(ssh / 'log', 'w'))
    login = 'ssh -p %d -i %s/id -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR localhost' % (port, ssh)
    for _ in range(50):
        if subprocess.run(login.split() + ['true'], stderr=subprocess.DEVNULL).returncode == 0:
            return server, login
        time.sleep(0.2)
    server.terminate()
    sys.exit('sshd lets nobody in:\n' + (ssh / 'log').read_text())


def start_postgres():
    binaries = sorted(glob.glob('/usr/lib/postgresql/*/bin'))[-1]
    data = HERE / 'db'
    run('%s/initdb -D %s -A trust -U archive --no-sync -E UTF8 >/dev/null' % (binaries, data))
    server = subprocess.Popen([binaries + '/postgres', '-D', str(data), '-k', str(HERE), '-c', 'listen_addresses=', '-c', 'fsync=off'],
                              stdout=subprocess.DEVNULL, stderr=open(HERE / 'db.log', 'w'))
    os.environ.update(PGHOST=str(HERE), PGUSER='archive', PGDATABASE='postgres')
    for _ in range(100):
        if subprocess.run(['psql', '-qc', 'SELECT 1'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            return server
        time.sleep(0.2)
    server.terminate()
    sys.exit('no PostgreSQL:\n' + (HERE / 'db.log').read_text())


def rows(folder='captures'):
    """{file name: its rows}"""
    out = {}
    for path in sorted((HERE / folder).glob('*.csv')):
        with open(path, newline='') as f:
            out[path.name] = list(csv.reader(f))
    return out


def page():
    """The commands of the page, in order; SQL statements too."""
    text = (HERE / 'recipes.md').read_text().split('\n## Many files\n')[1]
    return [line[4:] for line in text.splitlines() if line.startswith('    ')]


def clear():
    for path in (HERE / 'captures').glob('*.csv'):
        path.unlink()


def main():
    steps, seen = page(), set()

    def step(start):
        command, = [s for s in steps if s.startswith(start)]
        seen.add(command)
        return command.replace('PASSWORD', PASSWORD)

    (HERE / 'alone').mkdir()
    captures = sorted((HERE / 'captures').glob('*.pcap'))
    for capture in captures:
        run('tshark -q -r %s -o ntlmssp.nt_password:%s -z pcq,long,alone/%s.csv' % (capture, PASSWORD, capture.stem))
    expected = rows('alone')
    assert len(expected) == len(captures) and sum(len(r) > 40 for r in expected.values()) > 20

    run(step("parallel --will-cite 'tshark"))
    assert rows() == expected
    print('ok      many files, one machine')
    run(step('mergecap'))
    assert (HERE / 'day.pcap').stat().st_size > 100000

    sshd, login = start_sshd()
    try:
        (HERE / 'hosts').write_text('1/%s\n1/:\n' % login)
        clear()
        run(step('parallel --will-cite --sshloginfile hosts --transferfile'))
        assert rows() == expected
        log = (HERE / 'ssh' / 'log').read_text()
        assert 'Accepted publickey' in log, log
    finally:
        sshd.terminate()
        sshd.wait()
    print('ok      many machines: over ssh')

    postgres = start_postgres()
    try:
        run('psql -qc "%s"' % step('CREATE TABLE'))
        run(step('for f in'))
        total = sum(len(r) - 1 for r in expected.values())
        assert int(run('psql -Atc "SELECT count(*) FROM sample"')) == total
        print('ok      %d rows in PostgreSQL' % total)
        flat = [r for file in expected.values() for r in file[1:]]
        check_moved(run('psql -At -F "\t" -c "%s"' % step('SELECT path, unit')), flat)
        print('ok      a query')
        check_live(expected['smb3-ntlm.csv'])
    finally:
        postgres.terminate()
        postgres.wait()
    check_pandas(step("pandas.read_csv('captures"), step("pandas.read_csv('run"), expected['smb3-ntlm.csv'])
    long, pdh = [s for s in steps if s.startswith('soffice')]
    seen |= {long, pdh}
    check_spreadsheet(long, pdh, expected['smb3-ntlm.csv'])
    unseen = [s for s in steps if s not in seen]
    assert not unseen, unseen
    shutil.rmtree(HERE / 'db')


def table(query):
    """The rows of a query; names hold whatever a server sends."""
    out = subprocess.run(['psql', '--csv', '-tc', query], stdout=subprocess.PIPE, check=True).stdout.decode()
    return list(csv.reader(io.StringIO(out, newline='')))


def check_live(expected):
    """recipes.md's live rows into the table, of a capture that comes through a pipe; who may capture is the system's matter."""
    command, = [x[4:] for x in (HERE / 'recipes.md').read_text().splitlines() if x.startswith('    tshark') and 'psql' in x]
    run('cat captures/smb3-ntlm.pcap | ' + command.replace('-i eth0', '-i -').replace('PASSWORD', PASSWORD))
    got = table('SELECT frame, path, raw FROM sample WHERE file IS NULL ORDER BY frame')
    assert sorted(map(tuple, got)) == sorted((r[1], r[8], r[9]) for r in expected[1:])
    print('ok      live')


def check_pandas(long, pdh, expected):
    """Both forms as a data frame: numbers are numbers, and what has none is none."""
    frame = eval(long, dict(pandas=pandas))     # the page's own line
    assert list(frame.columns) == expected[0] and len(frame) == len(expected) - 1
    assert str(frame.time.dtype).startswith('datetime64') and frame.result.dtype == 'float64'
    for name, at in (('raw', 9), ('instance', 6), ('path', 8), ('reason', 12)):
        assert list(frame[name]) == [r[at] for r in expected[1:]], name
    assert [None if x != x else x for x in frame.result] == [float(r[10]) if r[10] else None for r in expected[1:]]
    run('tshark -q -r captures/smb3-ntlm.pcap -o ntlmssp.nt_password:%s -z pcq,csv,run.csv' % PASSWORD)
    frame = eval(pdh, dict(pandas=pandas))
    with open(HERE / 'run.csv', newline='') as f:
        cells = list(csv.reader(f))
    assert list(frame.columns) == cells[0][1:] and str(frame.index.dtype).startswith('datetime64')
    assert set(map(str, frame.dtypes)) == {'float64'}
    for row, line in zip(frame.values.tolist(), cells[1:], strict=True):
        assert [None if x != x else x for x in row] == [None if c == ' ' else float(c) for c in line[1:]]
    print('ok      pandas')


def sheet(command, path):
    """The cells (type, what it shows or is, formula) of what the page's command makes of a file."""
    *words, _ = command.split()
    run(' '.join(words).replace('soffice', 'soffice -env:UserInstallation=file://%s/office' % HERE) + ' ' + path)
    names = {k: '{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}' % k for k in ('table', 'office')}
    content = zipfile.ZipFile(HERE / (Path(path).stem + '.ods')).read('content.xml')
    out = []
    for row in ElementTree.fromstring(content).iter(names['table'] + 'table-row'):
        cells = []
        for cell in row.iter(names['table'] + 'table-cell'):
            kind, formula = cell.get(names['office'] + 'value-type'), cell.get(names['table'] + 'formula')
            shown = cell.get(names['office'] + ('date-value' if kind == 'date' else 'value')) or ''.join(cell.itertext())
            cells += [(kind, shown, formula)] * int(cell.get(names['table'] + 'number-columns-repeated', '1'))
        out += [cells] * int(row.get(names['table'] + 'number-rows-repeated', '1'))
    return out


NUMBERS = ('frame', 'query', 'result', 'status', 'assumed')


def check_spreadsheet(long, pdh, expected):
    """Numbers are numbers, times of PDH-CSV times, and all else is the text that it was, a formula too."""
    for cells, row in zip(sheet(long, 'captures/smb3-ntlm.csv')[1:], expected[1:]):
        for name, (kind, shown, formula), text in zip(expected[0], cells, row):
            assert formula is None and kind == (None if text == '' else 'float' if name in NUMBERS else 'string'), (name, kind, text)
            assert math.isclose(float(shown), float(text), rel_tol=1e-14) if kind == 'float' else shown == text, (name, shown, text)
    with open(HERE / 'run.csv', newline='') as f:
        cells = list(csv.reader(f))
    got = sheet(pdh, 'run.csv')
    for line, row in zip(got[1:], cells[1:]):
        at = datetime.datetime.strptime(row[0], '%m/%d/%Y %H:%M:%S.%f')
        kind, shown, _ = line[0]
        assert kind == 'date' and abs((datetime.datetime.fromisoformat(shown.ljust(23, '0')) - at).total_seconds()) < 0.01, (shown, row[0])
        for (kind, shown, _), text in zip(line[1:], row[1:]):
            assert kind == 'string' and shown.strip() == '' if text == ' ' else kind == 'float' and float(shown) == float(text), (shown, text)
    assert [c[1] for c in got[0][:len(cells[0])]] == cells[0]
    print('ok      spreadsheet')


def check_moved(out, flat):
    """The first query's figures against the same by Python."""
    got = [line.split('\t') for line in out.splitlines()]
    assert len(got) == 10
    for path, unit, count, low, mean, high, _ in got:
        values = [float(r[10]) for r in flat if r[8] == path and r[10] and r[4] == 'LABDC' and r[14] == '0' and
                  r[0].startswith('2026-11-21T10')]
        assert int(count) == len(values) and abs(float(mean) - sum(values) / len(values)) < 1e-6 * max(1, abs(float(mean))), path
        assert abs(float(low) - min(values)) < 1e-9 * max(1, abs(min(values))) and abs(float(high) - max(values)) < 1e-9 * max(1, abs(max(values)))


if __name__ == '__main__':
    main()
