# SPDX-License-Identifier: GPL-2.0-or-later
"""The HKEY_PERFORMANCE_DATA captures: Samba's own winreg server, asked by impacket, nmap and Samba's net.

Nothing of the answers is made here but the two tdb files behind them (perfmon.py). What is expected of an answer is
worked out from these and from the value name that was asked for, and checked against the bytes of the capture.
"""

import os
import struct
import subprocess
import time
from dataclasses import dataclass, replace

from impacket.dcerpc.v5 import rpcrt, rrp
from impacket.dcerpc.v5.rpcrt import DCERPCException
from impacket.smb3structs import SMB2_DIALECT_21

import expectations
from impacket_client import open_winreg_pipe
from machine import DOMAIN, PASSWORD, USER
from perfmon import Counter, Object, Perfmon
from registry_server import SMB_PORT, RegistryServer
from sniffer import REQUEST, RESPONSE, Sniffer, read_stubs

NTLM_KEY = 'ntlmssp.nt_password:' + PASSWORD
WINREG = '338cd001-2244-31f1-aaaa-900038001003', '1.0'
PERFLIB = 'SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\009'
ENUM_VALUE, QUERY_VALUE = 10, 17
CAPTURES = {}


def capture(name):
    """Register a function that makes the capture of that name."""
    def register(function):
        CAPTURES[name] = function
        return function
    return register


def batches(names):
    """A server for each, because clients want different settings."""
    return [[name] for name in names]


def make(machine, names, folder):
    for name in names:
        CAPTURES[name](Recorder(machine, os.path.join(folder, name + '.pcap')))


def grows(start, step):
    return lambda sample, instance: start + 1000 * instance + sample * (step + 7 * instance)


def steady(*values):
    return lambda sample, instance: values[instance % len(values)]


def machine_at_work():
    """Objects with and without instances, in the manner of the classic ones; the indexes that Windows has where a
    counter's index is above its object's, as Samba wants it."""
    def processes(sample):
        return ['Idle', 'System', 'smbd', 'gr\xf6\xdfe', 'explorer', 'explorer'] + ['backup'] * (sample % 2)

    return Perfmon([
        Object(2, 'System', [
            Counter(10, 'File Read Operations/sec', 0x10410400, grows(4294960000, 1500)),
            Counter(16, 'File Read Bytes/sec', 0x10410500, grows(2 ** 40, 12345678)),
            Counter(44, 'Processor Queue Length', 0x00010000, steady(3)),
            Counter(674, 'System Up Time', 0x30240500, lambda sample, instance: 134351700000000000),
            Counter(700, 'Registry Quota In Use', 0x20020400, grows(250, 40)),
            Counter(702, 'Registry Quota In Use Base', 0x40030403, steady(5000)),
            Counter(704, 'State', 0x00010B00, lambda sample, instance: 'sample number %d' % sample),
        ]),
        Object(4, 'Memory', [
            Counter(24, 'Available Bytes', 0x00010100, grows(8 * 10 ** 9, -4096)),
            Counter(28, 'Page Faults/sec', 0x10410400, grows(77, 321)),
        ]),
        Object(230, 'Process', [
            Counter(680, 'Thread Count', 0x00010000, steady(4, 190, 12)),
            Counter(682, 'Priority Base', 0x00010000, steady(8, 8, 13)),
            Counter(784, 'ID Process', 0x00010000, lambda sample, instance: 4 * instance),
            Counter(952, 'Handle Count', 0x00010000, steady(395, 21)),
            Counter(1000, '% Processor Time', 0x20510500, grows(10 ** 9, 1230000)),
            Counter(1410, 'Creating Process ID', 0x00010000, lambda sample, instance: 4 * (instance // 2)),
        ], processes),
        Object(234, 'PhysicalDisk', [
            Counter(1200, 'Avg. Disk sec/Read', 0x30020400, grows(10 ** 7, 90000)),
            Counter(1202, 'Avg. Disk sec/Read Base', 0x40030402, grows(500, 9)),
            Counter(1204, 'Disk Bytes/sec', 0x10410500, grows(10 ** 10, 5 * 10 ** 6)),
        ], lambda sample: ['0 C:', '1 D: \U0001F4BE', '_Total']),
        Object(238, 'Processor', [
            Counter(1300, '% Processor Time', 0x21510500, grows(10 ** 12, 3200000)),
            Counter(1302, '% User Time', 0x20510500, grows(10 ** 11, 900000)),
            Counter(1304, 'Interrupts/sec', 0x10410400, grows(10 ** 6, 700)),
        ], lambda sample: ['0', '1', '_Total']),
        Object(1500, 'Print Queue', [Counter(1502, 'Jobs', 0x00010000, steady(1))], lambda sample: []),
    ])


def crowd(instances=1950):
    """One object of over 1 MiB: instance names of 250 characters, so that few fields do it."""
    counters = [Counter(302, 'Steps/sec', 0x10410500, grows(10 ** 9, 1000))]
    return Perfmon([Object(300, 'Crowd', counters,
                           lambda sample: [('person %d ' % n).ljust(250, '.') for n in range(instances)])])


class Recorder:
    """Makes one capture: serve() in a with statement, then keep()."""

    def __init__(self, machine, path):
        self.machine, self.path = machine, path
        self.options, self.history = [], []

    def serve(self, perfmon, **server):
        """A server with these objects, and the sniffer on it."""
        self.perfmon, self.server = perfmon, RegistryServer(self.machine, **server)
        self.sample(0)
        return Running(self.server, Sniffer(self.path, (SMB_PORT,)))

    def sample(self, number):
        """From now on the server has the sample of that number."""
        time.sleep(0.05)
        self.perfmon.write(self.server.perfmon, number)
        self.history.append((time.time(), replace(self.perfmon)))
        time.sleep(0.05)

    def served_at(self, moment):
        return [perfmon for since, perfmon in self.history if since < moment][-1]

    def keep(self, with_values=True):
        arguments = expectations.as_arguments(self.options, os.path.dirname(self.path))
        stubs = read_stubs(self.path, arguments + ['--disable-protocol', 'winreg'])
        messages = list(self.messages(stubs))
        if with_values and not any(message['fields'] for message in messages):
            raise SystemExit(self.path + ': no answer has any performance data')
        expectations.write_messages(self.path, messages)
        expectations.remember_key(self.path, self.options)
        print('%-24s %8d bytes, %4d answers' % (os.path.basename(self.path), os.path.getsize(self.path), len(messages)))

    def messages(self, stubs):
        requests, self.before = {}, None
        for stub in stubs:
            key = stub.stream, stub.call_id
            if stub.kind == REQUEST:
                requests[key] = stub
            elif stub.opnum in (ENUM_VALUE, QUERY_VALUE):
                message = {'frame': stub.frame, 'opnum': stub.opnum, 'fields': []}
                if stub.kind == RESPONSE:
                    message['direction'] = 'response'
                    self.expect(message, requests[key], stub)
                else:
                    message['direction'] = 'fault'
                yield message

    def expect(self, message, request, stub):
        answer = Answer.read(request, stub)
        message.update(asked=answer.name, status=answer.status)
        if answer.status or not answer.data:
            return
        candidates = self.candidates(answer.name, request.time, stub.time)
        for record in candidates:
            if agree(record, answer.data):
                message['fields'] = expectations.wire_fields(record.fields)
                if record.fields[0].name == 'hkpd.data_block':
                    perfmon = self.served_at(request.time)
                    message['values'] = perfmon.values(self.before)
                    self.before = perfmon
                return
            if agree(record, answer.data, header_only=True):
                # Given too small a buffer, Samba answers with the header and nothing behind it
                message['fields'] = expectations.wire_fields(header_of(record))
                message['cut'] = True
                return
        if candidates:
            raise SystemExit('%s frame %d: %r is not what the tdb files hold' % (self.path, stub.frame, answer.name))

    def candidates(self, name, asked, answered):
        """What the server may have made of that value; it looks at the clock between request and answer."""
        perfmon = self.served_at(asked)
        if name == 'Global' or name[:1].isdigit():
            return [perfmon.block(second) for second in range(int(asked), int(answered) + 1)]
        if name.split(' ')[0] in ('Counter', 'Counters'):
            return [perfmon.title_list()]
        if name.split(' ')[0] in ('Explain', 'Help'):
            return [perfmon.title_list(helps=True)]
        return []


class Running:
    """Enters the server, then the sniffer; leaves them the other way round."""

    def __init__(self, *managers):
        self.managers = managers

    def __enter__(self):
        for manager in self.managers:
            manager.__enter__()

    def __exit__(self, *why):
        for manager in reversed(self.managers):
            manager.__exit__(*why)


def header_of(record):
    return [field for field in record.fields if field.offset < record.fields[0].length]


def agree(record, data, header_only=False):
    """Do the bytes of all fields stand in the data? What lies between fields is not Samba's business either."""
    fields = [field for field in (header_of(record) if header_only else record.fields)
              if field.name and field.value is not None]
    if not header_only and len(data) != len(record):
        return False
    return all(data[f.offset:f.offset + f.length] == record.data[f.offset:f.offset + f.length] for f in fields)


@dataclass
class Answer:
    """What a QueryValue or EnumValue answer says ([MS-RRP] 3.1.5.17, 3.1.5.11)."""
    name: str
    data: bytes
    status: int

    @classmethod
    def read(cls, request, response):
        reader = Reader(response.data)
        if response.opnum == QUERY_VALUE:
            question = Reader(request.data)
            question.take(20)
            name = question.string()
        else:
            name = reader.string()
        kind, data = reader.pointer(reader.dword), reader.pointer(reader.array)
        reader.pointer(reader.dword), reader.pointer(reader.dword)
        del kind
        return cls(name, data or b'', reader.dword())


class Reader:
    """Just enough NDR."""

    def __init__(self, stub):
        self.stub, self.at = stub, 0

    def take(self, size):
        self.at += size
        return self.stub[self.at - size:self.at]

    def dword(self):
        self.at += -self.at % 4
        return struct.unpack('<I', self.take(4))[0]

    def pointer(self, read):
        return read() if self.dword() else None

    def array(self, width=1):
        self.dword(), self.dword()
        return self.take(width * self.dword())

    def string(self):
        self.take(4)                                # Length, MaximumLength
        text = self.pointer(lambda: self.array(2)) or b''
        return text.decode('utf-16-le').rstrip('\0')


def try_value(rpc, handle, name, size, query=rrp.hBaseRegQueryValue):
    """A query that may fail: an error status is part of the conversation."""
    try:
        return query(rpc, handle, name, dataLen=size)
    except DCERPCException:
        return None


def ask_everything(recorder, rpc):
    """Titles first, with a buffer too small for them, then samples, then the other places that hold titles."""
    data = rrp.hOpenPerformanceData(rpc)['phKey']
    try_value(rpc, data, 'Counter 009', 256)        # ERROR_MORE_DATA, and impacket's second try
    try_value(rpc, data, 'Explain 009', 4096)
    for number in range(4):
        recorder.sample(number)
        time.sleep(0.4)
        try_value(rpc, data, 'Global', 8192)
    try_value(rpc, data, '2 4 238', 8192)
    try_value(rpc, data, 'Global', 1024)            # too small: a header with nothing behind it, status 0
    recorder.sample(4)
    time.sleep(0.4)
    try_value(rpc, data, 'Global', 8192)            # to be compared with the last whole sample
    try_value(rpc, data, 'Costly', 1024)            # Samba knows no such value
    rrp.hBaseRegCloseKey(rpc, data)
    try_value(rpc, data, 'Global', 512)             # the handle is closed
    text = rrp.hOpenPerformanceText(rpc)['phKey']
    for name in ('Counters', 'Help'):
        try_value(rpc, text, name, 8192)
    rrp.hBaseRegCloseKey(rpc, text)
    local = rrp.hOpenLocalMachine(rpc)['phKey']
    perflib = rrp.hBaseRegOpenKey(rpc, local, PERFLIB)['phkResult']
    for name in ('Counter', 'Help'):
        try_value(rpc, perflib, name, 8192)
    for index in (0, 1):
        try_value(rpc, perflib, index, 8192, rrp.hBaseRegEnumValue)
    rrp.hBaseRegCloseKey(rpc, perflib)
    rrp.hBaseRegCloseKey(rpc, local)


def impacket_session(recorder, level):
    with recorder.serve(machine_at_work()):
        rpc = open_winreg_pipe(WINREG, level, dialect=SMB2_DIALECT_21)
        ask_everything(recorder, rpc)
        rpc.disconnect()
    recorder.keep()


@capture('hkpd-plain')
def hkpd_plain(recorder):
    impacket_session(recorder, None)


@capture('hkpd-sealed')
def hkpd_sealed(recorder):
    recorder.options = [NTLM_KEY]
    impacket_session(recorder, rpcrt.RPC_C_AUTHN_LEVEL_PKT_PRIVACY)


@capture('hkpd-signed')
def hkpd_signed(recorder):
    """Stubs that can be read without a key, with a signature behind each."""
    recorder.options = [NTLM_KEY]
    with recorder.serve(machine_at_work()):
        rpc = open_winreg_pipe(WINREG, rpcrt.RPC_C_AUTHN_LEVEL_PKT_INTEGRITY, dialect=SMB2_DIALECT_21)
        data = rrp.hOpenPerformanceData(rpc)['phKey']
        for number in range(2):
            recorder.sample(number)
            time.sleep(0.4)
            try_value(rpc, data, '230', 8192)
        rrp.hBaseRegCloseKey(rpc, data)
        rpc.disconnect()
    recorder.keep()


def query_without_data(handle, name, room):
    """A BaseRegQueryValue request stub with room for that many bytes, none of which are sent ([MS-RRP] 3.1.5.17)."""
    text = (name + '\0').encode('utf-16-le')
    counts = struct.pack('<3I', len(text) // 2, 0, len(text) // 2)
    stub = handle + struct.pack('<2HI', len(text), len(text), 0x20000) + counts + text
    stub += bytes(-len(stub) % 4)
    stub += struct.pack('<2I', 0x20004, 0)                          # lpType
    stub += struct.pack('<4I', 0x20008, room, 0, 0)                 # lpData: max count, offset, actual count
    return stub + struct.pack('<4I', 0x2000C, room, 0x20010, 0)     # lpcbData, lpcbLen


@capture('hkpd-big')
def hkpd_big(recorder):
    """An answer of over 1 MiB. The request has the room for it but sends none of it, as Windows does."""
    with recorder.serve(crowd()):
        rpc = open_winreg_pipe(WINREG, None, dialect=SMB2_DIALECT_21)
        rpc.get_rpc_transport().get_smb_connection().setTimeout(120)
        data = rrp.hOpenPerformanceData(rpc)['phKey']
        try_value(rpc, data, 'Counter 009', 1024)
        rpc.call(QUERY_VALUE, query_without_data(data.getData(), 'Global', 2 ** 21))
        rpc.recv()
        rrp.hBaseRegCloseKey(rpc, data)
        rpc.disconnect()
    recorder.keep()


@capture('hkpd-nmap')
def hkpd_nmap(recorder):
    """nmap's process list, over SMB1. Its requests are cut short, and Samba answers them with faults."""
    with recorder.serve(machine_at_work(), signing='auto'):
        subprocess.run(['nmap', '-Pn', '-n', '-p', str(SMB_PORT), '--script', 'smb-enum-processes', '--script-args',
                        'smbusername=%s,smbpassword=%s,smbdomain=%s' % (USER, PASSWORD, DOMAIN), '127.0.0.1'],
                       check=True, stdout=subprocess.DEVNULL)
    recorder.keep(with_values=False)


@capture('hkpd-net')
def hkpd_net(recorder):
    """Samba's own command-line client."""
    login = ['-U', '%s/%s%%%s' % (DOMAIN, USER, PASSWORD), '-S', '127.0.0.1',
             '-s', recorder.machine.client_configuration]
    with recorder.serve(machine_at_work()):
        for what in (['getvalue', 'HKPD', 'Global'], ['getvalue', 'HKPD', 'Counter 009'], ['enumerate', 'HKPT'],
                     ['getvalue', 'HKLM\\' + PERFLIB, 'Counter']):
            subprocess.run(['net', 'rpc', 'registry', *what, *login], check=False, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    recorder.keep()
