# SPDX-License-Identifier: GPL-2.0-or-later
"""Samba's own winreg server: a standalone smbd that answers HKEY_PERFORMANCE_DATA from two tdb files."""

import os
import subprocess
import time

from machine import PASSWORD, USER, run, write

SMB_PORT = 445

SERVER = '''    server role = standalone server
    server min protocol = NT1
    ntlm auth = ntlmv1-permitted
    server signing = {signing}
    username map = {map}
    passdb backend = tdbsam
    disable spoolss = yes
    load printers = no
    max log size = 0
'''


class RegistryServer:
    """Runs while a capture is made. signing: 'mandatory' makes impacket exchange a key, without which tshark has none;
    'auto' for clients that cannot sign."""

    def __init__(self, machine, signing='mandatory'):
        self.machine = machine
        map_file = machine.path('username.map')
        write(map_file, 'root = %s\n' % USER)
        self.configuration = machine.configure('registry', 'REG', SERVER.format(signing=signing, map=map_file))
        self.perfmon = machine.path('registry', 'state', 'perfmon')
        os.makedirs(self.perfmon, exist_ok=True)
        run('pdbedit', '-s', self.configuration, '-a', '-t', 'root', input='%s\n%s\n' % (PASSWORD, PASSWORD))

    def __enter__(self):
        with open(self.machine.path('smbd.out'), 'w', encoding='utf-8') as log:
            self.process = subprocess.Popen(
                ['smbd', '-s', self.configuration, '--foreground', '--no-process-group', '--debug-stdout'],
                stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
        self.machine.wait_for_ports(SMB_PORT)
        time.sleep(0.5)
        return self

    def __exit__(self, *_):
        """What smbd has started besides ends with the namespaces."""
        self.process.terminate()
        self.process.wait(20)
