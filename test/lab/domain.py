# SPDX-License-Identifier: GPL-2.0-or-later
"""A Samba AD domain controller that serves PerflibV2 on \\PIPE\\winreg and TCP, with a counterset model behind it."""

import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time
from collections import namedtuple
from contextlib import contextmanager

from machine import DOMAIN, HOST, PASSWORD, REALM, run, write

HERE = os.path.dirname(os.path.abspath(__file__))
SMB_PORT, KDC_PORT, TCP_PORT = 445, 88, 49671

SERVER_ROLE = '    server role = active directory domain controller\n'
SERVER = SERVER_ROLE + '''    server services = s3fs, rpc, ldap, cldap, kdc, winbindd
    dcerpc endpoint servers = epmapper, samr, netlogon, lsarpc, drsuapi, pcq
    rpc start on demand helpers = no
    debug encryption = yes
    idmap_ldb:use rfc2307 = yes
'''

# One answered call: what came, what went, and the model's own record of it
Call = namedtuple('Call', 'opnum auth_level request response fault record')


class ModelSocket:
    """The Unix socket through which pcq_endpoint.c asks; `calls` is what was asked and answered, in order."""

    CALL, ANSWER = struct.Struct('=4I'), struct.Struct('=2I')

    def __init__(self, path):
        os.environ['PCQ_LAB_SOCKET'] = path
        self.model, self.calls = None, []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)
        os.chmod(path, 0o777)
        threading.Thread(target=self.serve, daemon=True).start()

    def use(self, model):
        self.model, self.calls = model, []

    def serve(self):
        while True:
            connection, _ = self.listener.accept()
            with connection:
                opnum, level, drep, length = self.CALL.unpack(receive(connection, self.CALL.size))
                request = receive(connection, length)
                fault, response, record = self.model.handle(opnum, request, level, '<' if drep & 0x10 else '>')
                self.calls.append(Call(opnum, level, request, response, fault, record))
                connection.sendall(self.ANSWER.pack(fault, len(response)) + response)


def receive(connection, length):
    data = bytearray()
    while len(data) < length:
        more = connection.recv(length - len(data))
        if not more:
            raise EOFError('the endpoint closed its connection')
        data += more
    return bytes(data)


class Domain:
    """The domain is made anew for each run, and its keys with it: each Kerberos capture needs its own keytab."""

    def __init__(self, machine):
        self.machine = machine
        self.install_endpoint()
        folder = machine.path('dc')
        self.configuration = folder + '/etc/smb.conf'
        self.provision(folder)
        self.keytab = machine.path('lab.keytab')
        run('samba-tool', 'domain', 'exportkeytab', '-s', self.configuration, self.keytab)
        self.socket = ModelSocket(machine.path('model.sock'))
        self.start()

    def install_endpoint(self):
        """Build the module into Samba's module folder, as this mount namespace sees it."""
        modules = run('pkg-config', '--variable=modulesdir', 'dcerpc_server').strip()
        os.makedirs(modules, exist_ok=True)
        run('mount', '-t', 'tmpfs', 'tmpfs', modules)
        flags = run('pkg-config', '--cflags', 'dcerpc_server').replace('-I', '-isystem ').split()
        run('gcc', '-std=gnu11', '-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-Werror', *flags,
            '-o', modules + '/pcq.so', HERE + '/pcq_endpoint.c', '-ldcerpc-server-core', '-lndr', '-ltalloc')

    def provision(self, folder):
        first = self.machine.configure('dc', 'LABDC', SERVER_ROLE)
        run('samba-tool', 'domain', 'provision', '-s', first, '--realm=' + REALM, '--domain=' + DOMAIN,
            '--host-name=' + HOST, '--host-ip=127.0.0.1', '--server-role=dc', '--dns-backend=NONE',
            '--adminpass=' + PASSWORD, '--targetdir=' + folder, '--use-rfc2307')
        final = self.machine.configure('dc', 'LABDC', SERVER)
        with open(final, encoding='utf-8') as file:
            write(self.configuration, file.read())

    @contextmanager
    def big_endian(self):
        """Meanwhile the server answers in big-endian data representation."""
        self.stop()
        run('sed', '-i', '/\\[global\\]/a rpc big endian = yes', self.configuration)
        self.start()
        yield
        self.stop()
        run('sed', '-i', '/rpc big endian/d', self.configuration)
        self.start()

    def start(self):
        self.log = self.machine.path('samba.out')
        with open(self.log, 'w', encoding='utf-8') as log:
            self.process = subprocess.Popen(['samba', '-s', self.configuration, '-i', '-M', 'single', '--debug-stdout'],
                                            stdout=log, stderr=subprocess.STDOUT)
        self.machine.wait_for_ports(KDC_PORT, SMB_PORT, TCP_PORT)
        pipe = self.machine.path('dc', 'ncalrpc', 'np', 'winreg')
        while not os.path.exists(pipe):
            time.sleep(0.1)
        time.sleep(1)

    def smb2_session_keys(self):
        """(session id, server-to-client key, client-to-server key) of each SMB3 session, from smbd's own log."""
        sessions, name = [], None
        with open(self.log, encoding='utf-8', errors='replace') as log:
            for line in log:
                if 'dumping generated session keys' in line:
                    sessions.append({})
                dump = re.search(r'(?:(Session Id|Session Key|Signing Key|App Key|ServerIn Key|ServerOut Key) +)?'
                                 r'\[00[0-9A-F]0\] (.{50})', line)
                if dump and sessions:
                    name = dump.group(1) or name
                    sessions[-1][name] = sessions[-1].get(name, '') + dump.group(2).replace(' ', '')
        return [(keys['Session Id'], keys['ServerOut Key'], keys['ServerIn Key'])
                for keys in sessions if 'ServerIn Key' in keys]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
