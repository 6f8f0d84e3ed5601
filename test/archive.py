# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs docs/archive.md by the letter: parallel over ssh to an sshd of this user's, COPY into a PostgreSQL of this user's.

Called by script/dev/test-archive in a folder with archive.md and captures/. What the page's commands make is compared with what
one tshark makes of each file."""

import csv
import glob
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

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
    return [line[4:] for line in (HERE / 'archive.md').read_text().splitlines() if line.startswith('    ')]


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
    for capture in sorted((HERE / 'captures').glob('*.pcap')):
        run('tshark -q -r %s -o ntlmssp.nt_password:%s -z pcq,long,alone/%s.csv' % (capture, PASSWORD, capture.stem))
    expected = rows('alone')
    assert len(expected) == 3 and all(len(r) > 40 for r in expected.values())

    run(step("parallel --will-cite 'tshark"))
    assert rows() == expected
    print('ok      many files, one machine')
    run(step('mergecap'))
    assert (HERE / 'day.pcap').stat().st_size > 100000

    sshd, login = start_sshd()
    try:
        (HERE / 'hosts').write_text('1/%s\n1/:\n' % login)
        listed = run(step('parallel --will-cite --sshloginfile hosts --nonall').replace('captures/', str(HERE / 'captures') + '/'))
        assert listed.count('smb3-ntlm.pcap') == 2, listed
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
        run(step('cat captures/'))
        run('psql -qc "%s"' % step('CREATE INDEX'))
        total = sum(len(r) - 1 for r in expected.values())
        assert int(run('psql -Atc "SELECT count(*) FROM sample"')) == total
        print('ok      %d rows in PostgreSQL' % total)
        flat = [r for file in expected.values() for r in file[1:]]
        check_moved(run('psql -At -F "\t" -c "%s"' % step('SELECT path')), flat)
        waits = run('psql -At -F "\t" -c "%s"' % step('SELECT * FROM')).splitlines()
        assert waits and all(re.match(r'LABDC\t\d+\t2026-', w) for w in waits), waits
        print('ok      two queries')
    finally:
        postgres.terminate()
        postgres.wait()
    unseen = [s for s in steps if s not in seen]
    assert not unseen, unseen
    shutil.rmtree(HERE / 'db')


def check_moved(out, flat):
    """The first query's figures against the same by Python."""
    got = [line.split('\t') for line in out.splitlines()]
    assert len(got) == 10
    for path, unit, count, low, mean, high, _ in got:
        values = [float(r[10]) for r in flat if r[8] == path and r[10] and r[4] == 'LABDC']
        assert int(count) == len(values) and abs(float(mean) - sum(values) / len(values)) < 1e-6 * max(1, abs(float(mean))), path
        assert abs(float(low) - min(values)) < 1e-9 * max(1, abs(min(values))) and abs(float(high) - max(values)) < 1e-9 * max(1, abs(max(values)))


if __name__ == '__main__':
    main()
