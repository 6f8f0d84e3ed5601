# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine that the servers run on: loopback that behaves like an Ethernet, names, Samba's configuration.

Runs inside private network and mount namespaces (make-captures sees to that), so nothing of the real machine changes.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time

REALM = 'LAB.TEST'
DOMAIN = 'LAB'
HOST = 'labdc'
FQDN = 'labdc.lab.test'
USER = 'Administrator'
PASSWORD = 'Lab-Passw0rd'

# What every Samba here has in common: its files below one folder, loopback only
GLOBAL = '''[global]
    netbios name = {netbios}
    workgroup = LAB
    realm = LAB.TEST
    interfaces = 127.0.0.1/8
    bind interfaces only = yes
    private dir = {folder}/private
    lock directory = {folder}
    pid directory = {folder}
    state directory = {folder}/state
    cache directory = {folder}/cache
    ncalrpc dir = {folder}/ncalrpc
    binddns dir = {folder}/bind-dns
    log level = 1
    log file = {folder}/log.%m
'''

KRB5_CONF = '''[libdefaults]
    default_realm = LAB.TEST
    dns_lookup_realm = false
    dns_lookup_kdc = false
    rdns = false
    udp_preference_limit = 1
[realms]
    LAB.TEST = {
        kdc = 127.0.0.1:88
    }
[domain_realm]
    .lab.test = LAB.TEST
'''


def run(*command, **options):
    """Run a command; its output, or an error that shows it."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        raise SystemExit('%s: exit status %d\n%s' % (' '.join(command), done.returncode, done.stdout))
    return done.stdout


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


class Machine:
    """A folder for everything, the loopback device and the machine's names."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix='pcq-lab-')
        self.keep = bool(os.environ.get('PCQ_LAB_KEEP'))
        write(self.path('krb5.conf'), KRB5_CONF)
        os.environ['KRB5_CONFIG'] = self.path('krb5.conf')
        os.environ.pop('KRB5CCNAME', None)
        write(self.path('hosts'), '127.0.0.1 localhost %s %s\n' % (FQDN, HOST))
        run('mount', '--bind', self.path('hosts'), '/etc/hosts')
        self.set_up_loopback()
        self.client_configuration = self.configure('client', 'LABCLIENT')

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    @staticmethod
    def set_up_loopback():
        """Frames as on an Ethernet, and windows that never make the sender cut a segment short.

        tshark 4.0 opens only the first NTLM-sealed PDU of a frame and then has lost the key stream, so several PDUs
        may not share one of loopback's 64 KiB segments: MTU 1492, no offloading. And it loses a TCP direction when a
        PDU's header is split between two segments: MSS 1440 is 90 times the 16 bytes of a header, and Samba's
        fragments over TCP are 365 times 16 bytes.
        """
        for memory in ('rmem', 'wmem'):
            write('/proc/sys/net/ipv4/tcp_' + memory, '4096 8388608 16777216')
        run('ip', 'link', 'set', 'lo', 'up', 'mtu', '1492')
        run('ethtool', '-K', 'lo', 'tso', 'off', 'gso', 'off', 'gro', 'off')

    def configure(self, name, netbios, more=''):
        """Write the smb.conf of one Samba and make its folders."""
        folder = self.path(name)
        for sub in ('private', 'state', 'cache'):
            os.makedirs(os.path.join(folder, sub), exist_ok=True)
        path = self.path(name + '.conf')
        write(path, GLOBAL.format(netbios=netbios, folder=folder) + more)
        return path

    def wait_for_ports(self, *ports):
        for _ in range(200):
            if all(self.is_open(port) for port in ports):
                return
            time.sleep(0.1)
        self.keep = True
        raise SystemExit('the server did not come up: see ' + self.folder)

    @staticmethod
    def is_open(port):
        with socket.socket() as probe:
            return probe.connect_ex(('127.0.0.1', port)) == 0

    def remove(self):
        run('umount', '/etc/hosts')
        if self.keep:
            print('kept', self.folder)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
