# SPDX-License-Identifier: GPL-2.0-or-later
"""Monitors that are well, whatever their plan; what a rung refused before a later try came through; and traffic that has nothing to do
with performance data, alone and beside a monitor that is well."""

import struct
from typing import NamedTuple

from gen.hkpd_stubs import OPEN_HKLM, OPEN_KEY, handle_back, open_key, open_root
from gen.pcap import PERFLIB, WINREG, Pipe, Rpc, SealedRpc, SignedRpc
from gen.wires import ACCEPTED, CREATE, FIN, NEGOTIATED, NO_INTERFACE, NO_SYNTAX, RST, SETUP, TREE, Link, Session, ask_mapper, bind, knock

from faulty import (FAR, RUNGS, and_then, asks_for_names, beside, bind_says, both_ports, client_leaves, crowd, cut_while_added, first_of_two, idles, in_steps,
    kdc_says, logs_on_again, mirrored, no_connection, not_in_mapper, one_from_the_middle, opens, other_pipe, outage, resends, slow_to_add, smb_says)
from gen.scripted import ALL
from gen.stubs import CLOSE, DATA, INFO, OPEN
from network import CLIENT, MODES, OTHER, SRV01, SRV02, attempt, count, gone, good, leaves, pause, start, swapped, polls, together


class Healthy(NamedTuple):
    """lines: how many monitors there are, or may be seen; healthy: what JSON says (None: it cannot be known, all is sealed); lacks: packets
    say what they lack, for they don't know that it comes and goes"""
    play: object
    lines: tuple = (1,)
    healthy: object = True
    options: tuple = ()
    lacks: bool = False


def groups(mode='tcp', size=2, each=60, within=1, count=8, ends=False):
    """So many samples close together in each period; ends: on a connection, or query, for each period."""
    def play(w):
        m = start(w, mode)
        for n in range(count):
            w.at(n * each)
            m.run(size, within)
            if ends:
                m.close()
        m.close()
    return play


def runs(pauses, mode='tcp', count=15, each=1):
    """The same command again and again, at its user's times."""
    def play(w):
        for pause in pauses:
            m = start(w, mode, browses=pause == pauses[0]).run(count, each)
            m.close()
            w.wait(pause)
    return play


def cannot_close(m):
    attempt(m.close)
    m.hang_up()


def two_plans(mode, first, second, at=.3, until=120, clients=(CLIENT, CLIENT)):
    def play(w):
        together(w, until, *((start(w, mode, client=c), each, n * at) for n, (c, each) in enumerate(zip(clients, (first, second)))))
    return play


def clock_set(seconds, mode, part=lambda m: None):
    """That of the machine that captures."""
    def play(w):
        m = start(w, mode).run(8)
        part(m)
        behind = len(w.capture.frames)
        m.run(8).close()
        w.capture.frames = [(when + seconds * 10 ** 6 * (n >= behind), frame) for n, (when, frame) in enumerate(w.capture.frames)]
    return play


def ends_unseen(m, samples, flags):
    """More samples, the query's end and the connection's are not captured; the server's next packet is."""
    with m.network.unseen():
        m.run(samples)
        m.client.close(m.handle)
        m.tcp.segment(0, b'', 0x11)
    m.tcp.segment(1, b'', flags)
    m.forget()


def second_port_silent(m):
    """... and a firewall lets it have the first alone."""
    m.open()
    knock(m.network.capture, SRV01[1], 139, m.network.port(), times=2)


def files_too(m):
    """Their user's password is another."""
    share()(m.network, SRV01)
    smb_says(SETUP, 0xC000006D)(m.network, SRV01)


def translated(w):
    """Captured on both sides of a NAT: behind it the client is another address and port."""
    start(w).run(8).close()
    def other(frame):
        side = 0 if frame[26:30] == bytes([192, 0, 2, 10]) else 1
        at, port = 26 + 4 * side, 34 + 2 * side
        return frame[:at] + bytes([203, 0, 113, 5]) + frame[at + 4:port] + struct.pack('>H', 40001) + frame[port + 2:]
    w.capture.frames = [(when + late, other(f) if late else f) for when, f in w.capture.frames for late in (0, 300)]


def falls_back(rung, mode):
    def play(w):
        rung(w, SRV01)
        start(w, mode).run(8).close()
    return play


PLANS = {
    **{'plain-' + mode: Healthy(polls(8, mode=mode), healthy=None if 'sealed' in mode else True) for mode in MODES},
    'one-sample': Healthy(polls(1)),
    'refused-then-accepted': Healthy(and_then(polls(lambda m: m.open(), lambda m: m.close(), refuses=4201), polls(8)), lines=(1, 2)),
    'names-there-at-last': Healthy(polls(asks_for_names(2, 2), 8, mode='hkpd')),
    'size-probes-of-other-operations': Healthy(polls(lambda m: [m.open().client.info(m.handle) for _ in range(3)], 2)),
    'info-fails-at-first': Healthy(polls(lambda m: [m.open().client.info(m.handle) for _ in range(3)], 2, denies={INFO: (1450, [0])})),
    'opens-again': Healthy(polls(1, lambda m: attempt(m.client.open), lambda m: m.client.open(), 8, mode='sealed', faults={OPEN: (1723, [1])}), healthy=None),
    'size-probes': Healthy(polls(8, room=None)),
    **{'pairs-' + x: Healthy(groups(x)) for x in ('tcp', 'hkpd')},
    'pairs-sealed': Healthy(groups('sealed'), healthy=None),
    'pairs-own-queries': Healthy(groups(each=10, ends=True)),
    **{'%d-each-minute-%d-times' % x: Healthy(groups(size=x[0], count=x[1])) for x in ((3, 8), (3, 2))},
    'refresh-and-read': Healthy(groups(each=10, within=.1, count=20)),
    # No gap is late in which the client had closed its query or ended its connection
    **{'pauses-between-queries-' + x: Healthy(polls(8, pause(5), 8, mode=x)) for x in ('poller', 'connects')},
    'check-did-not-run': Healthy(polls(6, pause(300), 4, mode='hkpd-connects', each=300)),
    'check-each-5-minutes': Healthy(polls(10, each=300, mode='hkpd-connects')),
    'three-intervals-hkpd': Healthy(polls(10, good(10, 3), good(10, 10), mode='hkpd')),
    **{'two-scripts-of-two-plans-' + x: Healthy(two_plans(x, 20, 15, 4), lines=(1, 2)) for x in ('connects', 'hkpd-connects')},
    **{'two-queries-of-two-plans-' + x: Healthy(two_plans(x, 1, 15), healthy=None if x == 'sealed' else True) for x in ('tcp', 'hkpd', 'sealed')},
    'two-queries-one-closed': Healthy(polls(first_of_two, 8)),
    'two-queries-one-closed-sealed': Healthy(polls(first_of_two, 8, mode='sealed'), lines=(1, 2), healthy=None),
    'two-clients': Healthy(two_plans('tcp', 1, 1, until=12, clients=(CLIENT, OTHER)), lines=(2,)),
    'typeperf-at-any-time': Healthy(runs([47, 213, 20, 0], count=4)),
    'perflib-and-key': Healthy(lambda w: together(w, 20, (start(w), 1, 0), (start(w, 'hkpd-smb'), 1, .5)), lines=(2,)),
    'two-servers': Healthy(lambda w: together(w, 20, (start(w), 1, 0), (start(w, 'smb', server=SRV02), 1, .5)), lines=(2,)),
    'ctrl-c': Healthy(polls(8, leaves())),
    **{'ctrl-c-reset-' + x: Healthy(polls(8, leaves(RST), mode=x)) for x in ('tcp', 'hkpd', 'smb')},
    'ctrl-c-later': Healthy(polls(8, idles(30), leaves())),
    'minutes-as-the-capture-goes-on': Healthy(polls(6, idles(60), gone, each=60)),
    'ended-when-all-was-closed': Healthy(polls(8, lambda m: m.close(ends=False), idles(300), leaves(RST, 1))),
    'asks-as-the-capture-ends': Healthy(polls(8, lambda m: m.ask_alone(), gone)),
    **{'fails-sealed-for-%d-s' % (n * each): Healthy(polls(8 + n + 8, each=each, mode='sealed', denies={DATA: (1450, range(8, 8 + n))}), healthy=None) for n, each in ((5, 1), (3, 10))},
    'answers-of-nothing-twice': Healthy(polls(8, good(2, change=lambda stub: bytes(len(stub))), mode='hkpd')),
    'another-service-blocked': Healthy(lambda w: (ask_mapper(w.capture, SRV01[1], 49671, client_port=w.port()), polls(8)(w), no_connection(None, 49700)(w, SRV01))),
    'end-of-another-alone': Healthy(and_then(polls(8), lambda w: (Link(w.capture, 49671, w.port(), server=SRV01[1]).segment(0, b'', FIN), w.capture.frames.__delitem__(slice(-4, -1))))),
    'ended-with-its-pipe': Healthy(polls(8, lambda m: (m.pipe.close(), m.forget()), 8, mode='smb')),
    'binds-as-the-capture-ends': Healthy(and_then(polls(8, mode='smb'), lambda w: attempt(bind, Rpc(Pipe(Session(
        Link(w.capture, 445, w.port(), server=SRV01[1]), share='\\\\SRV01\\IPC$')), PERFLIB), answers=False))),
    # a set that never has an instance has none now
    **{'no-instances-' + x: Healthy(polls(16, mode=x, **crowd(lambda n: ()))) for x in ('tcp', 'poller')},
    **{'empty-%d-times' % x: Healthy(polls(20, **crowd(lambda n, x=x: () if 9 <= n < 9 + x else ('a', 'b'))), lacks=True) for x in (1, 4)},
    'instance-of-a-wildcard-goes': Healthy(polls(12, **crowd(lambda n: ('a', 'b') if n < 5 else ('a',)))),
    'instance-of-a-wildcard-comes': Healthy(polls(12, **crowd(lambda n: ('a',) if n < 5 else ('a', 'b')))),
    **{'empty-now-and-then-' + x: Healthy(polls(20, mode=x, **crowd(lambda n: ('a',) if n % 4 == 1 else ())), lacks=x == 'tcp') for x in ('tcp', 'poller')},
    **{'capture-clock-set-%d-%s' % x[:2]: Healthy(clock_set(*x)) for x in ((3600, 'tcp'), (8, 'hkpd'), (-30, 'tcp'), (-3600, 'hkpd'), (-60, 'tcp', slow_to_add), (-3600, 'poller', pause(4000)), (-3600, 'smb', logs_on_again))},
    'server-clock-set-back': Healthy(polls(8, lambda m: setattr(m.model.clock, 'boot', m.model.clock.boot + 30 * 10 ** 6), 8)),
    'slow-always': Healthy(polls(good(16, takes=.6))),
    'answer-of-0.3-s-once': Healthy(polls(6, good(takes=.3), 6)),
    'cancelled-soon': Healthy(polls(6, lambda m: attempt(m.sample, takes=4.8, instead=0xC0000120), 8, mode='smb')),
    'pending-once': Healthy(polls(6, good(takes=.2), 6, mode='smb')),
    'resent-once': Healthy(polls(6, good(between=resends(0, [.25])), 6)),
    **{'cannot-close-' + x: Healthy(polls(8, cannot_close, faults={CLOSE: (1726, ALL)}, mode=x), healthy=None if x == 'sealed' else True)
       for x in ('tcp', 'sealed')},
    'acknowledgements-before-answers': Healthy(and_then(polls(24), lambda w: swapped(w, 3, 56))),
    'captured-in-two-places': Healthy(mirrored(polls(8), 1000)),
    'pairs-then-each-minute': Healthy(polls(*[part for n in range(16) for part in (lambda m, n=n: m.network.at(60 * n), 1 if n > 7 else 2)])),
    'counters-added-later': Healthy(lambda w: cut_while_added(w, cuts=False)),
    'both-ports': Healthy(polls(both_ports, 8, mode='smb')),
    'second-port-silent': Healthy(polls(second_port_silent, 8, mode='smb')),
    'refused-once-between': Healthy(outage(RUNGS['logon-wrong-password'][0], [1], .1)),
    'refused-behind-a-pause': Healthy(polls(8, pause(600), lambda m: RUNGS['logon-wrong-password'][0](m.network, SRV01), 8, mode='connects', smb=True)),
    'read-cancelled-sealed': Healthy(polls(8, lambda m: (m.close(False), m.smb.ask(8, m.pipe.read_request()), m.smb.fails(0xC0000120, 8)), mode='sealed-smb'), healthy=None),
    'files-refused': Healthy(polls(4, files_too, 8, mode='smb')),
    'files-refused-to-another': Healthy(lambda w: (polls(8, mode='smb')(w), smb_says(SETUP, 0xC000006D, user='jane', client=OTHER)(w, SRV01))),
    'ends-unseen': Healthy(polls(8, lambda m: ends_unseen(m, 0, 0x11))),
    **{'mirrored-' + x: Healthy(mirrored(polls(8, mode=x))) for x in ('tcp', 'smb', 'hkpd')},
    # Another program of the client looks at what the server requires, or asks for a ticket that there is not
    'signing-required-of-another': Healthy(beside(client_leaves(mode=3, leaves=SETUP))),
    'signing-required-of-the-same': Healthy(and_then(polls(8, mode='smb'), lambda w: client_leaves(mode=3, leaves=SETUP)(w, SRV01))),
    'ticket-refused': Healthy(polls(8, lambda m: kdc_says(7)(m.network, SRV02), leaves(), mode='smb')),
    'other-service-blocked': Healthy(and_then(polls(8, mode='smb'), lambda w: no_connection(None, 49703)(w, SRV01))),
    'pipes-of-another-server': Healthy(beside(lambda w, server: Session(Link(w.capture, 445, w.port(), server=server[1])))),
    'another-pipe-closed': Healthy(polls(8, other_pipe, 8, mode='smb')),
    'translated': Healthy(translated, lines=(1, 2)),
    'falls-back-to-the-key': Healthy(falls_back(bind_says(NO_INTERFACE, smb=True), 'hkpd-smb')),
    'opens-the-key-first': Healthy(lambda w: (h := start(w, 'hkpd'), h.open(), attempt(start(w, denies={OPEN: (5, [0])}).open), h.run(8), h.close())),
    'falls-back-to-the-pipe': Healthy(falls_back(not_in_mapper(), 'smb')),
    'through-mapper': Healthy(polls(lambda m: ask_mapper(m.network.capture, SRV01[1]), 8)),
    'three-syntaxes-as-windows-binds': Healthy(polls(lambda m: setattr(m, 'results', (ACCEPTED, NO_SYNTAX, NEGOTIATED)), 8)),
    'queries-closed': Healthy(polls(opens(30, closes=True))),
    'little-room-twice': Healthy(polls(in_steps(2))),
    'each-50-ms': Healthy(polls(100, each=.05)),
    'signed-and-answered': Healthy(polls(8, protocol=SignedRpc)),
    'long-names': Healthy(polls(8, **FAR)),
    'another-language': Healthy(polls(lambda m: m.reach().client.reg_info(m.sets[0].guid, 3, 0x40C), 8)),
    'port-8445': Healthy(polls(8, mode='smb', port=8445), options=('-d', 'tcp.port==8445,nbss')),
}


# --- A later try came through ------------------------------------------------------------------------------------------

def way_of(name):
    """That of the try that was refused."""
    return ('hkpd-smb' if name in ('no-winreg', 'key-denied') else
            'smb' if name.startswith(('logon', 'share', 'pipe', 'open')) or 'smb' in name else 'tcp')


THROUGH = {'then-' + name: Healthy(falls_back(rung, way_of(name))) for name, (rung, *_) in RUNGS.items()
           if name != 'sealed-and-denied-by-fault' and not name.startswith('logon-') or name in ('logon-wrong-password', 'logon-kerberos-37')}


# --- Nothing to do with it -----------------------------------------------------------------------------------------------

SVCCTL, SPOOLSS = ('367abb81-9844-35f1-ad32-98f038001003', 2), ('12345678-1234-abcd-ef00-0123456789ab', 1)
NETLOGON = ('12345678-1234-abcd-ef00-01234567cffb', 1)


def calls(interface, *answers, pipe=None, protocol=Rpc):
    """[(operation, status or fault)] of another interface"""
    def rung(w, server):
        tcp = Link(w.capture, 445 if pipe else 49700, w.port(), server=server[1])
        rpc = protocol(Pipe(Session(tcp, share='\\\\%s\\IPC$' % server[0]), pipe) if pipe else tcp, interface)
        bind(rpc)
        for opnum, status, faults in answers:
            rpc.request(opnum, bytes(44))
            rpc.fault(status) if faults else rpc.response(bytes(20) + struct.pack('<I', status))
        tcp.close()
    return rung


def key_of_others_denied(w, server):
    """The registry over the same pipe: another key than performance data is denied."""
    tcp = Link(w.capture, 445, w.port(), server=server[1])
    rpc = Rpc(Pipe(Session(tcp, share='\\\\%s\\IPC$' % server[0])), WINREG)
    bind(rpc)
    root = b'\1\0\0\0' + bytes(range(16))
    rpc.request(OPEN_HKLM, bytes(open_root()))
    rpc.response(bytes(handle_back(root)))
    rpc.request(OPEN_KEY, bytes(open_key(root, 'SECURITY')))
    rpc.response(bytes(handle_back(bytes(20), status=5)))
    tcp.close()


def share(*steps):
    """A file server's traffic: (command, body, status) of each request"""
    def rung(w, server):
        tcp = Link(w.capture, 445, w.port(), server=server[1])
        smb = Session(tcp, share='\\\\%s\\DATA' % server[0])
        for command, body, status in steps:
            smb.ask(command, body)
            smb.fails(status, command)
        tcp.close()
    return rung


def web_one_way(w, server):
    """HTTP, of which the capture lacks the responses, and the end of the first request."""
    tcp = Link(w.capture, 80, w.port(), server=server[1])
    first = len(w.capture.frames)
    for _ in range(4):
        tcp.send(0, b'GET / HTTP/1.1\r\n\r\n')
        tcp.send(1, b'HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n' + bytes(200))
    w.capture.frames[first:] = [f for f in w.capture.frames[first:] if f[1][26:30] == bytes([192, 0, 2, 10])]
    w.capture.snap(first + 1, 60)


READ = struct.pack('<HBBIQ16sIIIHHB', 49, 0x50, 0, 4096, 0, bytes(16), 0, 0, 0, 0, 0, 0)
NOISE = {
    'another-pipe-missing': smb_says(CREATE, 0xC0000034, name='spoolss'),
    'file-with-the-name-of-the-pipe': smb_says(CREATE, 0xC0000034, share='DATA'),
    'another-share-denied': smb_says(TREE, 0xC0000022, share='DATA'),
    'file-session-expired': share((8, READ, 0xC000035C)),
    'netlogon-bind-nak': bind_says(nak=4, interface=NETLOGON),
    'svcctl-bind-refused': bind_says(NO_INTERFACE, interface=SVCCTL, smb=True, pipe='svcctl'),
    'svcctl-faults': calls(SVCCTL, (15, 5, True)),
    'svcctl-signed-and-denied': calls(SVCCTL, (15, 5, False), protocol=SignedRpc),
    'sealed-registry': calls(WINREG, (2, 0, False), *[(17, 0, False)] * 8, (5, 0, False), pipe='winreg', protocol=SealedRpc),
    'spoolss-errors': calls(SPOOLSS, (69, 1801, False), (69, 5, False), (1, 1722, True), pipe='spoolss'),
    'netlogon-not-in-mapper': not_in_mapper(NETLOGON),
    'rdp-unanswered': no_connection(None, 3389),
    'web-refused': no_connection('rst', 80),
    'another-key-denied': key_of_others_denied,
    'web-one-way': web_one_way,
}
QUIET = {name: Healthy(lambda w, rung=rung: rung(w, SRV01), healthy=None) for name, rung in NOISE.items()}
BESIDE = {name + '-beside': Healthy(beside(rung)) for name, rung in NOISE.items()}
BESIDE['pipe-of-before-beside'] = Healthy(one_from_the_middle('smb'))

HEALTHY = {**PLANS, **THROUGH, **BESIDE}
