# SPDX-License-Identifier: GPL-2.0-or-later
"""The PerflibV2 captures: which client says what over which transport.

The counterset model and the request builders are those of test/gen; the bytes on the wire, from the stub down, are
Samba's and impacket's.
"""

import os
import shutil
import threading
import time

from gen import client as conversations, model, server, stubs
from gen.buffers import NONE
from gen.record import Record
from impacket.smb3structs import SMB2_DIALECT_21

import countersets
import expectations
from domain import SMB_PORT, TCP_PORT, Domain
from impacket_client import ImpacketClient
from machine import PASSWORD
from samba_client import Refused, SambaClient
from sniffer import Sniffer, pair_with_calls, read_stubs

MACHINE = '\\\\LABDC'
NTLM_KEY = 'ntlmssp.nt_password:' + PASSWORD
SECOND = 1.0
CAPTURES = {}


def capture(name):
    """Register a function that makes the capture of that name."""
    def register(function):
        CAPTURES[name] = function
        return function
    return register


def batches(names):
    """One domain does for all."""
    return [names] if names else []


def make(machine, names, folder):
    domain = Domain(machine)
    try:
        for name in names:
            CAPTURES[name](Recorder(domain, os.path.join(folder, name + '.pcap')))
    finally:
        domain.stop()


class Recorder:
    """Makes one capture of one domain: with Recorder(...).capture(sets): talk; then its key and expectations."""

    def __init__(self, domain, path):
        self.domain, self.machine, self.path = domain, domain.machine, path
        self.options = [NTLM_KEY]

    def use_keytab(self):
        keytab = os.path.splitext(self.path)[0] + '.keytab'
        shutil.copy(self.domain.keytab, keytab)
        os.chmod(keytab, 0o644)
        self.options = ['kerberos.decrypt:TRUE', 'kerberos.file:{pcaps}/' + os.path.basename(keytab)]

    def use_smb2_session_keys(self):
        """For SMB3's encryption: tshark does not derive its keys from a Kerberos ticket, and from an NT password in one
        pass only."""
        self.options += ['uat:smb2_seskey_list:%s,"",%s,%s' % keys for keys in self.domain.smb2_session_keys()[-1:]]

    def serve(self, sets, **options):
        clock = countersets.LiveClock()
        self.domain.socket.use(server.Model(sets, clock=clock, **options))
        self.sets = sets
        return sets

    def sniff(self):
        return Sniffer(self.path, (SMB_PORT, TCP_PORT))

    def transport(self, rpc):
        """rpc's calls as test/gen's conversations want them; a fault's code is asked of the model's side."""
        def call(opnum, request):
            try:
                return 0, rpc.call(opnum, bytes(request))
            except Refused:
                fault = self.domain.socket.calls[-1].fault
                if not fault:
                    raise
                return fault, b''
        return call

    def talk(self, rpc, order='<'):
        return conversations.Client(self.transport(rpc), MACHINE, order)

    def keep(self):
        """Prove the capture good, then write its expectations and its key."""
        folder = os.path.dirname(self.path)
        seen = read_stubs(self.path, expectations.as_arguments(self.options, folder))
        pairs = pair_with_calls(seen, self.domain.socket.calls)
        expectations.write_messages(self.path, expectations.pcq_messages(pairs))
        expectations.remember_key(self.path, self.options)
        print('%-24s %8d bytes, %4d calls' % (os.path.basename(self.path), os.path.getsize(self.path), len(pairs)))


def identifier(counterset, counter_id, name=None, **more):
    return dict(guid=counterset.guid, counter_id=counter_id, name=name, **more)


def named(sets, *names):
    """The sets of those names."""
    by_name = {counterset.name: counterset for counterset in sets}
    return [by_name[name] for name in names]


def look_up(client, sets, wanted):
    """What a monitor does first: which sets are there, what are they called, which of them is the wanted one."""
    client.enumerate()
    for counterset in sets:
        client.reg_info(counterset.guid, 9)
        if counterset.name == wanted.name:
            break
    client.reg_info(wanted.guid, 3, model.GERMAN)
    client.reg_info(wanted.guid, 4, model.GERMAN)
    client.reg_info(wanted.guid, 1)
    client.reg_info(wanted.guid, 10)
    client.reg_info(wanted.guid, 5, model.GERMAN)
    client.instances(wanted.guid)


def learn(client, counterset):
    """The least that names and types need."""
    client.reg_info(counterset.guid, 9)
    client.reg_info(counterset.guid, 1)
    client.reg_info(counterset.guid, 10)


def sample(client, handle, count, pause=SECOND, in_size=None):
    """count samples, a pause before each but the first; asks for the needed size once, as monitors do."""
    for number in range(count):
        if number:
            time.sleep(pause)
        status, needed, _ = client.data(handle, in_size)
        in_size = max(in_size or 0, needed + 1024)
        assert status in (0, 8), status


def monitor(recorder, rpc, samples=10, pause=SECOND):
    """A whole session, from the list of countersets to the closed query."""
    sets = recorder.serve(countersets.windows_like())
    cpu, disk, gpu = named(sets, 'Processor Information', 'FileSystem Disk Activity', 'GPU Engine')
    client = recorder.talk(rpc())
    look_up(client, sets, cpu)
    client.reg_info(cpu.guid, 6, model.ENGLISH)
    client.reg_info(cpu.guid, 7)
    client.reg_info(cpu.guid, 8)
    client.reg_info(cpu.guid, 2, 26)
    for counterset in (disk, gpu):
        learn(client, counterset)
        client.instances(counterset.guid)
    handle = client.open()
    client.validate(handle, [
        identifier(cpu, 26, '_Total'),
        identifier(cpu, 27, '_Total'),
        identifier(cpu, 0, '*'),
        identifier(cpu, NONE, '0,_Total'),
        identifier(disk, NONE, '*'),
        identifier(gpu, 2, '*engtype_3D'),
        identifier(cpu, 29, '*'),                                                     # no such counter
        identifier(cpu, 26, '_Total'),                                                # again
        dict(guid='3a22a8ec-297c-48ac-ab15-33ec93033fd8', counter_id=1, name='*'),    # no such set here
        identifier(cpu, 17, '0,7'),                                                   # no such processor
    ])
    client.info(handle)
    sample(client, handle, samples, pause)
    client.close(handle)
    return client


def session(recorder, connect, samples=10, pause=SECOND):
    """Capture a monitor's session over the connection that connect() makes."""
    with recorder.sniff():
        opened = []

        def rpc():
            opened.append(connect())
            return opened[0]
        monitor(recorder, rpc, samples, pause)
        opened[0].close()


@capture('smb3-ntlm')
def smb3_ntlm(recorder):
    session(recorder, lambda: SambaClient(recorder.machine, 'ntlm,seal'))
    recorder.keep()


@capture('smb3-kerberos')
def smb3_kerberos(recorder):
    recorder.use_keytab()
    session(recorder, lambda: SambaClient(recorder.machine, 'krb5,seal', kerberos=True), samples=4)
    recorder.keep()


@capture('smb3-encrypted')
def smb3_encrypted(recorder):
    settings = {'client smb encrypt': 'required'}
    session(recorder, lambda: SambaClient(recorder.machine, 'ntlm,seal', settings=settings), samples=4)
    recorder.use_smb2_session_keys()
    recorder.keep()


@capture('smb3-encrypted-kerberos')
def smb3_encrypted_kerberos(recorder):
    settings = {'client smb encrypt': 'required'}
    recorder.use_keytab()
    session(recorder, lambda: SambaClient(recorder.machine, 'krb5,seal', kerberos=True, settings=settings), samples=4)
    recorder.use_smb2_session_keys()
    recorder.keep()


@capture('tcp-ntlm')
def tcp_ntlm(recorder):
    session(recorder, lambda: SambaClient(recorder.machine, 'ntlm,seal', pipe=False), samples=4)
    recorder.keep()


def crowd(people=1050):
    """A set whose one wildcard answer is over 1 MiB: instance names of 500 characters, so that few fields do it."""
    counters = [countersets.counter(1, 'Steps/sec', 'Schritte/s', 'COUNTER_BULK_COUNT', countersets.rate(1.5, 10 ** 6))]
    instances = [model.Instance(number, ('person %d ' % number).ljust(500, '.')) for number in range(people)]
    return model.Counterset('Crowd', model.MULTIPLE, counters, lambda at: instances, provider='Model Provider')


@capture('tcp-kerberos')
def tcp_kerberos(recorder):
    """Everything that the model has, every request code, every refusal; Kerberos through SPNEGO."""
    recorder.use_keytab()
    sets = recorder.serve(model.countersets(10))
    with recorder.sniff():
        rpc = SambaClient(recorder.machine, 'spnego,seal', pipe=False, kerberos=True)
        client = recorder.talk(rpc)
        conversations.whole(client, sets, samples=2)
        conversations.refusals(client, sets)
        rpc.close()
    recorder.keep()


@capture('big-answer')
def big_answer(recorder):
    """One instance list and one sample, each of over 1 MiB; the second sample is of the set's first instance alone."""
    people, = recorder.serve([crowd()])
    with recorder.sniff():
        rpc = SambaClient(recorder.machine, 'ntlm,seal')
        client = recorder.talk(rpc)
        learn(client, people)
        handle = client.open()
        client.validate(handle, [identifier(people, 1, '*')])
        client.data(handle, 2 ** 21)
        client.validate(handle, [identifier(people, 1, '*')], add=False)
        client.validate(handle, [identifier(people, 1, 'person 0 *')])
        client.data(handle, 2 ** 21)
        client.close(handle)
        rpc.close()
    recorder.keep()


class Unhurried:
    """A model that takes its time, so that the other client's request comes before the answer to the first."""

    def __init__(self, inner, pause=0.02):
        self.inner, self.pause = inner, pause

    def handle(self, *call):
        time.sleep(self.pause)
        return self.inner.handle(*call)


@capture('two-clients')
def two_clients(recorder):
    """Two connections at once, one over SMB, one over TCP; each learns other sets and samples both."""
    sets = recorder.serve(countersets.windows_like())
    recorder.domain.socket.model = Unhurried(recorder.domain.socket.model)
    cpu, disk, thermal = named(sets, 'Processor Information', 'FileSystem Disk Activity', 'Thermal Zone Information')

    def work(rpc, known, *wanted):
        client = recorder.talk(rpc)
        for counterset in known:
            learn(client, counterset)
        handle = client.open()
        client.validate(handle, [identifier(*one) for one in wanted])
        client.info(handle)
        sample(client, handle, 4, 0.3)
        client.close(handle)
        rpc.close()

    with recorder.sniff():
        clients = [
            (SambaClient(recorder.machine, 'ntlm,seal'), [cpu, thermal], (disk, NONE, '*'), (cpu, 0, '*'),
             (cpu, 17, '_Total')),
            (SambaClient(recorder.machine, 'ntlm,seal', pipe=False), [disk], (cpu, 0, '*'),
             (thermal, NONE, '\\_TZ.THM0'), (disk, 1, '_Total')),
        ]
        threads = [threading.Thread(target=work, args=one) for one in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    recorder.keep()


@capture('handle-life')
def handle_life(recorder):
    """A query that changes while it is sampled, then calls with the closed handle, then the same handle again."""
    sets = recorder.serve(countersets.windows_like() + model.countersets(6)[:1] + model.countersets(6)[2:4])
    cpu, disk, gpu, every, lanes, harbour = named(
        sets, 'Processor Information', 'FileSystem Disk Activity', 'GPU Engine', 'Every Type', 'Lanes \U0001F6A6',
        'Harbour')
    first = [identifier(cpu, 26, '_Total'), identifier(cpu, 27, '_Total'), identifier(harbour, NONE, '*')]
    more = [identifier(every, NONE), identifier(gpu, 2, '*'), identifier(disk, 1, '_Total')]
    with recorder.sniff():
        rpc = SambaClient(recorder.machine, 'ntlm,seal')
        client = recorder.talk(rpc)
        for counterset in (cpu, disk, gpu, every, lanes, harbour):
            learn(client, counterset)
        handle = client.open()
        sample(client, handle, 1)                                           # an empty query: the header alone
        client.validate(handle, first)
        client.info(handle)
        sample(client, handle, 3, 0.5, 8192)
        client.validate(handle, more)
        client.info(handle)
        sample(client, handle, 3, 0.5, 8192)
        client.validate(handle, [first[1], more[1], identifier(cpu, 3, '*')], add=False)    # the last was never added
        client.info(handle)
        sample(client, handle, 2, 0.5, 8192)
        client.validate(handle, [identifier(lanes, NONE, '*'), first[1]])
        client.info(handle)
        sample(client, handle, 2, 0.5, 65536)
        client.close(handle)
        for late in (client.data, client.close):
            try:
                late(handle)
            except conversations.Fault:
                pass
        recorder.domain.socket.model.opened -= 1                            # the server deals out the same handle again
        again = client.open()
        assert again == handle
        client.validate(again, [identifier(disk, NONE, '*')])
        sample(client, again, 2, 0.5, 8192)
        client.close(again)
        rpc.close()
    recorder.keep()


def big_endian_session(recorder, client, rpc, samples):
    sets = recorder.sets
    cpu, disk = named(sets, 'Processor Information', 'FileSystem Disk Activity')
    look_up(client, sets, cpu)
    learn(client, disk)
    handle = client.open()
    client.validate(handle, [identifier(cpu, 0, '*'), identifier(disk, NONE, '*'), identifier(cpu, 29, '*')])
    client.info(handle)
    sample(client, handle, samples, 0.3)
    client.close(handle)
    rpc.close()


@capture('tcp-bigendian')
def tcp_bigendian(recorder):
    """Client and server send stubs in big-endian data representation; the buffers inside stay little-endian."""
    recorder.serve(countersets.windows_like())
    with recorder.domain.big_endian(), recorder.sniff():
        rpc = SambaClient(recorder.machine, 'ntlm,seal,bigendian', pipe=False)
        big_endian_session(recorder, recorder.talk(rpc, '>'), rpc, 3)
    recorder.keep()


class Swapped:
    """Before a little-endian model: makes big-endian requests little-endian, and leaves the answers so."""

    def __init__(self, inner):
        self.inner = inner

    def handle(self, opnum, stub, auth_level, order):
        assert order == '>'
        return self.inner.handle(opnum, swapped(opnum, stub, '>', '<'), auth_level, '<')


def swapped(opnum, stub, order, other):
    """A request stub in the other byte order."""
    parameters = stubs.parse_request(opnum, stub, order)
    if 'lpData' in parameters:
        buffer = Record()
        buffer.raw(parameters['lpData'])
        parameters['lpData'] = buffer
    return bytes(stubs.request(opnum, other, **parameters))


@capture('tcp-mixed-endian')
def tcp_mixed_endian(recorder):
    """Big-endian requests, little-endian answers: each side sends in its own representation."""
    recorder.serve(countersets.windows_like())
    recorder.domain.socket.model = Swapped(recorder.domain.socket.model)
    with recorder.sniff():
        rpc = SambaClient(recorder.machine, 'ntlm,seal,bigendian', pipe=False)
        transport = recorder.transport(rpc)
        client = conversations.Client(lambda opnum, request: transport(opnum, swapped(opnum, bytes(request), '<', '>')),
                                      MACHINE)
        big_endian_session(recorder, client, rpc, 2)
    recorder.keep()


@capture('smb2-impacket')
def smb2_impacket(recorder):
    """impacket over SMB 2.1: no verification trailer, other padding, each PDU in two WRITEs or several READs.

    Samba takes a PDU in two WRITEs but not in three, so identifiers are added one at a time.
    """
    sets = recorder.serve(countersets.windows_like())
    cpu, disk, gpu = named(sets, 'Processor Information', 'FileSystem Disk Activity', 'GPU Engine')
    with recorder.sniff():
        rpc = ImpacketClient(piece=100, dialect=SMB2_DIALECT_21)
        client = recorder.talk(rpc)
        client.enumerate()
        for counterset in (cpu, disk, gpu):
            learn(client, counterset)
        handle = client.open()
        for wanted in ((cpu, 0, '*'), (disk, NONE, '*'), (gpu, 1, '*3D'), (cpu, 29, '*')):
            client.validate(handle, [identifier(*wanted)])
        client.info(handle)
        sample(client, handle, 3, 0.3)
        client.close(handle)
        rpc.close()
    recorder.keep()
