# SPDX-License-Identifier: GPL-2.0-or-later
"""Monitors that are broken: each scenario with who is at fault, what it is, since when, how often. And what a rung of the ladder refuses: those
stand alone here, beside a monitor that is well, and, in healthy.py, before a try that came through."""

import re
import struct
from typing import NamedTuple

from gen.hkpd_stubs import OPEN_DATA, handle_back, open_root
from gen.pcap import PERFLIB, WINREG, Pipe, Rpc, SealedRpc, SignedRpc
from gen.stubs import DATA, INFO, OPEN, REG_INFO, VALIDATE, request
from gen.scenario import SECOND
from gen.scripted import ALL, Clock, ask, memory, processors
from gen.wires import (CREATE, FIN, NEGOTIATE, NEGOTIATED, NO_INTERFACE, NO_SYNTAX, NOT_REGISTERED, RST, SETUP, SYN, TREE, Link, Session, ask_mapper, bind, kerberos_error, knock)
from network import (CLIENT, OTHER, SRV01, SRV02, attempt, bad, block_size, ends, gone, good, leaves, lost, named, pause, start, swapped, polls, together, twice)

EITHER = 'client', 'server'


class Faulty(NamedTuple):
    """count: how many frames the filter shows, or may show, None: that is not for this table to say; at: who the server is; by: who the client is;
    also: kinds of findings that may be there, too"""
    play: object
    kind: str
    party: object
    count: object = None
    at: tuple = SRV01
    by: str = CLIENT
    also: tuple = ()
    healthy: tuple = (False,)
    says: str = ''          # what is said of it, in its text or in a line
    options: tuple = ()


# --- Late, and who it was ----------------------------------------------------------------------------------------------

def client_late(*parts, count=1, also=(), by=CLIENT, says='', **how):
    return Faulty(parts[0] if callable(parts[0]) else polls(*parts, **how), 'asked_late', 'client', count, also=also, by=by, says=says)


def slow(*plan, also=(), says='', count=10, **how):
    return Faulty(polls(*plan, **how), 'slow', 'server', count, also=also, says=says)


def resends(side, waits=(.3, .6, 1.2, 2.4)):
    def between(m):
        for wait in waits:
            m.network.wait(wait)
            m.tcp.resend(side)
    return between


def answer_resent(m, more=0):
    """The client's host has the answer with the fourth copy, or so long behind it, and only then asks again."""
    m.tcp.deaf = True
    m.sample(wait=0)
    resends(1)(m)
    m.network.wait(more)
    m.tcp.deaf = False
    m.tcp.ack(0)
    m.run(1)


def other_pipe(m):
    """The registry, by another pipe of the same connection, that is closed again."""
    pipe = Pipe(m.smb, file_id=0xF11E)
    bind(Rpc(pipe, WINREG))
    pipe.close()


def does_not_read(m, seconds=5, side=0):
    m.tcp.window[side] = 0
    m.tcp.ack(0)
    m.tcp.ack(1)
    m.network.wait(seconds)
    m.tcp.window[side] = 0xFFFF
    m.tcp.ack(side)


def never_acknowledged(m, side=0):
    """A response that is too large for the way: its copies, too, and that side gives up."""
    m.tcp.deaf = True
    named(lambda m: m.sample(wait=0))(m)
    resends(1, (.3, .6, 1.2))(m)
    m.network.wait(2.4)
    m.tcp.segment(side, b'', 4)
    m.forget()


def trickles(m):
    """The first segment of a response comes at once, the last one 2 s later."""
    w, before = m.network, len(m.network.capture.frames)
    m.tcp.deaf = True
    named(lambda m: m.sample(wait=0))(m)
    w.capture.frames[before + 2:] = [(when + 2 * SECOND, frame) for when, frame in w.capture.frames[before + 2:]]
    w.wait(2)
    m.tcp.deaf = False
    m.tcp.ack(0)
    w.wait(1)


def lost_on_its_way(m):
    """Of a response the first segment comes with its copies alone, from 2 s later on."""
    w, before = m.network, len(m.network.capture.frames)
    m.tcp.deaf = True
    named(lambda m: m.sample(wait=0))(m)
    _, segment = w.capture.frames.pop(before + 1)
    for _ in range(2):
        w.wait(2)
        w.capture.add(segment)
    m.tcp.deaf = False
    m.tcp.ack(0)


def and_then(play, change):
    """The capture of a scenario, changed."""
    def changed(w):
        play(w)
        change(w)
    return changed


def mirrored(play, more=3):
    return and_then(play, lambda w: twice(w, more))


def crowd(there):
    """there(number of the sample): the instances of the second set"""
    return dict(sets=[memory(), processors(there)])


MANY = crowd(lambda n: ['instance %d' % i for i in range(150)])
MOST = 'tcp', 'smb', 'sealed', 'sealed-smb', 'sealed-hkpd', 'sealed-hkpd-smb', 'poller', 'connects', 'hkpd', 'hkpd-smb'
LATE = {
    **{'client-late-' + x: client_late(8, pause(5), bad(), 8, mode=x, says='(1 of 17 samples') for x in MOST if x not in ('poller', 'connects')},
    **{'client-late-mirrored-by-' + str(x): client_late(mirrored(polls(8, pause(5), bad(), 8), x), count=None) for x in (3, 1000)},
    'client-late-by-an-hour': client_late(8, pause(3600), bad(), 7),     # in the middle, as between two groups
    'client-late-twice': client_late(10, pause(30), bad(), 20, pause(30), 10, count=2),
    'client-late-behind-a-change': client_late(12, good(12, 2), pause(9), bad(1, 2), good(8, 2)),
    # What was resent, or lost by the capture, eight samples before, or behind, made nothing late
    **{'client-late-old-resend-' + x: client_late(4, good(between=resends(0, [.3])), 8, pause(5), bad(), 8, mode=x) for x in ('tcp', 'hkpd')},
    **{'client-late-old-loss-' + x: client_late(4, lost(), 8, pause(5), bad(), 16, lost(), 8, mode=x, also=('lost', 'assumed')) for x in ('tcp', 'hkpd')},
    'client-late-before-a-window-0': client_late(8, pause(5), bad(), 4, good(between=lambda m: does_not_read(m, .2)), 4),
    'client-late-and-resent': client_late(8, pause(5), bad(between=resends(0, [.3])), 8),
    **{'server-late-' + x: Faulty(polls(8, bad(takes=4.2), 8, mode=x), 'slow', 'server', 1, says={      # whose host acknowledged the request, if anybody's
        'tcp': 'SRV01 responds slowly', 'smb': 'SRV01 (or the network) responds slowly'}.get(x, '')) for x in MOST},
    'server-late-and-much-is-read-by-smb': Faulty(polls(8, bad(takes=4.2), 8, mode='smb', **MANY), 'slow', 'unknown', 1, says='Responses of SRV01 to 192.0.2.10 are slow'),
    'answered-by-a-clock-that-was-set': Faulty(polls(8, bad(behind=300.1), 8), 'slow', 'unknown', 1, says='Responses of SRV01 to 192.0.2.10 are slow'),
    'server-late-to-be-connected': Faulty(polls(8, pause(5), lambda m: (m.reach(), m.network.wait(6)), bad(each=5), 8, each=5, mode='connects'), 'resent', 'server', 1),
    'server-late-captured-in-two-places': Faulty(mirrored(polls(8, bad(takes=4.2), 8), 45000), 'slow', 'server'),
    **{'server-slow-' + x: slow(10, bad(10, takes=.8), mode=x) for x in ('tcp', 'smb', 'sealed', 'sealed-hkpd', 'hkpd', 'connects')},
    'server-slow-and-resent': slow(10, bad(6, takes=.8), good(between=resends(0)), bad(6, takes=.8), count=(12, 13), also=('resent',)),
    'server-late-once-in-an-hour': Faulty(polls(good(6, 300), bad(takes=40), good(6, 300), mode='smb'), 'slow', 'server', 1),
    'server-fast-since-the-middle': Faulty(polls(bad(8, takes=.6), 8), 'slow', 'server', 8),
    'client-comes-back-late': Faulty(polls(8, gone, pause(5), bad(), 8), 'asked_late', 'client', 1),
    'server-slow-each-2-s': slow(10, bad(10, 2, takes=1.9), each=2, says='(10 of 20 samples, 1.902 s, usually 1.0 ms)'),
    'server-slow-at-the-end': Faulty(polls(10, bad(4, 3, takes=2.995)), 'slow', 'server', 4, says='usually 1.0 ms'),
    'server-slow-each-time': slow(bad(9, 30, takes=20), count=9, says='(9 of 9 samples, 20.002 s): '),
    **{'request-resent-' + x: Faulty(polls(8, bad(between=resends(0)), 8, mode=x), 'resent', 'network', 1) for x in ('tcp', 'sealed')},
    'answer-trickles': Faulty(polls(8, trickles, 8, mss=200), 'resent', 'network', 1),
    'answer-lost-on-its-way': Faulty(polls(8, lost_on_its_way, 8, mss=200), 'lost_on_its_way', 'network', 1),
    'answer-resent': Faulty(polls(8, named(answer_resent), 8), 'resent', 'network', 1),
    'server-suspended': Faulty(polls(8, bad(between=lambda m: (resends(0)(m), m.network.wait(4))), 8), 'resent', 'server', 1),
    'client-suspended': Faulty(polls(8, named(lambda m: answer_resent(m, 8)), 8), 'resent', 'client', 1, says='(or the network)'),
    **{'client-does-not-read-' + x: Faulty(polls(8, bad(between=does_not_read), 8, mode=x), 'zero_window', 'client', 1)
       for x in ('tcp', 'smb', 'sealed')},
    'server-does-not-read': Faulty(polls(8, named(lambda m: (does_not_read(m, side=1), m.run(1))), 8), 'zero_window', 'server', 1),
}


# --- The ladder --------------------------------------------------------------------------------------------------------


def no_connection(answer, port=445, by_mapper=False):
    def rung(w, server):
        if by_mapper:       # whose answer lacks the end of its status
            number = ask_mapper(w.capture, server[1], port, client_port=w.port())
            w.capture.snap(number, len(w.capture.frames[number - 1][1]) - 2)
        with w.culprit():
            knock(w.capture, server[1], port, w.port(), answer)
    return rung


def smb_says(command, status, blob=b'', share='IPC$', name='winreg', user='monitor', client=CLIENT):
    """What SMB2 refuses before there is a pipe."""
    def rung(w, server):
        tcp = Link(w.capture, 445, w.port(), client=client, server=server[1])
        with w.culprit():
            if attempt(lambda: Pipe(Session(tcp, {command: status}, '\\\\%s\\%s' % (server[0], share), user, blob), name)):
                tcp.segment(0, b'', RST)
    return rung


def other_logon(m):
    """The same connection, another account: that is refused."""
    known, m.smb.says = m.smb.session, {SETUP: 0xC000006D}
    named(lambda m: attempt(m.smb.log_on, 'svc-prtg'))(m)
    m.smb.session, m.smb.says = known, {}


def outage(rung, times=(4, 1), wait=30, samples=8):
    """For each sample a connection, and so many times, between so many samples, none of use: one finding; then a pause, which it does not explain."""
    away = [lambda m: (rung(m.network, SRV01), m.network.wait(wait))]
    parts = [part for n in times for part in (samples, *away * n)]
    return polls(*parts, samples, pause(10 * wait), samples, mode='connects', smb=True, each=30)


Kerberos = type('Kerberos', (Session,), dict(log_on=lambda smb, *_: setattr(smb, 'session', smb.id)))     # no packet has the account's name


def denied(m, session=Session):
    """Another account."""
    tcp = Link(m.network.capture, 445, m.network.port(), server=m.server[1])
    with m.network.culprit():
        attempt(lambda: Pipe(session(tcp, {CREATE: 0xC0000022}, '\\\\%s\\IPC$' % m.server[0], 'svc-prtg')))
    tcp.close()


def garbled(w):
    """What a logon says of domain, user and workstation lies beyond its end."""
    w.capture.frames = [(when, re.sub(rb'(?s)(NTLMSSP\x00\x03.{23})..', b'\\1\xff\xff', frame)) for when, frame in w.capture.frames]


def by_udp(w):
    """What goes to port 88 and back: without the length in front."""
    frames, w.capture.frames = w.capture.frames, []
    for n, (when, frame) in enumerate(frames, 1):
        if b'\0\x58' in (frame[34:36], frame[36:38]):
            data = frame[58:]
            frame = data and b''.join((frame[:16], struct.pack('>H', 28 + len(data)), frame[18:23], b'\x11\0\0', frame[26:38], struct.pack('>HH', 8 + len(data), 0), data))
        w.capture.frames += [(when, frame)] * bool(frame)
        w.since = [len(w.capture.frames) if x == n else x for x in w.since]


def client_leaves(**how):
    """Nothing is refused, and yet the client goes no further."""
    def rung(w, server):
        tcp = Link(w.capture, 445, w.port(), server=server[1])
        with w.culprit():
            attempt(type('Leaves', (Session,), how), tcp)
        tcp.close()
    return rung


def kdc_says(error):
    def rung(w, server):
        tcp = Link(w.capture, 88, w.port(), server=server[1])
        tcp.send(0, struct.pack('>I', 4) + b'\x6a\2\x30\0')
        tcp.send(1, kerberos_error(25, True))  # as before each logon: it is to prove who it is
        with w.culprit():
            tcp.send(1, kerberos_error(error, True))
        tcp.close()
    return rung


def kdc_refuses(w, server, error=14, center=None):
    """KDC_ERR_ETYPE_NOSUPP, or another; then the client does not log on."""
    kdc_says(error)(w, center or server)
    client_leaves(mode=3, leaves=SETUP)(w, server)
    del w.since[1:]


def bind_says(*results, nak=None, interface=PERFLIB, smb=False, pipe='winreg'):
    def rung(w, server):
        carrier = Link(w.capture, 445 if smb else 49671, w.port(), server=server[1])
        tcp = carrier
        if smb:
            carrier = Pipe(Session(tcp, share='\\\\%s\\IPC$' % server[0]), pipe)
        with w.culprit():
            attempt(bind, Rpc(carrier, interface), *results, nak=nak)
        tcp.close()
    return rung


def not_in_mapper(interface=PERFLIB):
    def rung(w, server):
        with w.culprit():
            ask_mapper(w.capture, server[1], interface=interface, status=NOT_REGISTERED, client_port=w.port())
    return rung


def stuck(command=None, ends=None, smb=True):
    """A step that the server does not answer, or ends the connection (flags) instead; without a command: the bind."""
    def rung(w, server):
        tcp = Link(w.capture, 445 if smb else 49671, w.port(), server=server[1])
        is_pending = command == CREATE and not ends     # STATUS_PENDING, acknowledged
        attempt(lambda: bind(Rpc(Pipe(Session(tcp, {command: 0x103 if is_pending else None}, '\\\\%s\\IPC$' % server[0])) if smb else tcp, PERFLIB), answers=False))
        if ends:
            tcp.segment(1, b'', ends)
        w.since.append(len(w.capture.frames) - 2 * is_pending)
        if not ends:
            w.wait(.04)
            Link(w.capture, 139, w.port(), server=server[1]).close()
            smb and tcp.ack(1)      # else SYN/ACK shows that packets of the server's were captured
            w.wait(12)
            tcp.close() if smb else tcp.segment(0, b'', RST)
    return rung


def mapper_faults(w, server):
    with w.culprit():
        ask_mapper(w.capture, server[1], fault=5, client_port=w.port())


def call_says(opnum, code, way='denies', mode='tcp', **how):
    def rung(w, server):
        m = start(w, mode, server=server, **{way: {opnum: (code, ALL)}}, **how)
        with w.culprit():
            attempt(m.sample if opnum == DATA else m.open)
        m.hang_up(RST)
    return rung


def names_denied(w, server):
    m = start(w, 'smb', server=server, denies={REG_INFO: (5, ALL)}, browses=False).reach()
    with w.culprit():
        m.client.reg_info(m.sets[0].guid, 1)
    m.hang_up(RST)


def open_unanswered(w, server):
    m = start(w, server=server).reach()
    with w.culprit():
        m.ask_alone(OPEN)
    w.wait(.04)
    m.tcp.ack(1)
    w.wait(8)
    m.hang_up(RST)


def first_call_reset(w, server):
    m = start(w, server=server, browses=False).reach()
    m.ask_alone(OPEN)
    with w.culprit():
        m.hang_up(RST, 1)


def names_fail_sealed(m):
    """The service ends at the first call."""
    m.reach().line.fate = dict(opnum=REG_INFO, instead=0xC000014B)
    named(lambda m: attempt(m.client.reg_info, m.sets[0].guid, 1))(m)
    leaves()(m)


def key_denied(w, server):
    m = start(w, 'hkpd-smb', server=server)
    carrier = m.connect()
    rpc = Rpc(carrier, WINREG)
    bind(rpc)
    with w.culprit():
        rpc.request(OPEN_DATA, bytes(open_root()))
        rpc.response(bytes(handle_back(bytes(20), status=5)))
    m.hang_up()


LOGON = {'wrong-password': 0xC000006D, 'no-such-user': 0xC0000064, 'locked': 0xC0000234, 'disabled': 0xC0000072, 'account-expired': 0xC0000193,
         'password-expired': 0xC0000071, 'must-change-password': 0xC0000224, 'not-from-the-network': 0xC000015B, 'clock-skew': 0xC0000133,
         'no-logon-server': 0xC000005E, 'account-restriction': 0xC000006E, 'outside-hours': 0xC000006F, 'not-supported': 0xC00000BB, 'ntlm-blocked': 0xC0000418,
         'not-from-this-machine': 0xC0000070, 'wrong-password-alone': 0xC000006A, 'no-trust': 0xC000018D, 'no-more-sessions': 0xC00000D0, 'of-no-row': 0xC00000E5}
NOT_THE_CLIENT = {'no-logon-server', 'not-supported', 'ntlm-blocked', 'no-trust', 'no-more-sessions', 'of-no-row'}     # STATUS_INTERNAL_ERROR is said by the server
PIPE = {'missing': (0xC0000034, 'pipe_missing'), 'starting': (0xC00000AC, 'pipe_starting'), 'denied': (0xC0000022, 'pipe_denied')}
# rung: (what goes by, kind, party, count)
RUNGS = {
    'syn-unanswered': (no_connection(None), 'unreachable', 'network', 3),
    'syn-unanswered-mapper': (lambda *at: [no_connection(None, port)(*at) for port in (445, 135)], 'unreachable', 'network', 3),
    'syn-unanswered-behind-mapper': (no_connection(None, 49671, True), 'unreachable', 'network', 3),
    'syn-refused': (no_connection('rst'), 'refused_connection', 'server', 3),
    **{'logon-' + name: (smb_says(SETUP, status), 'logon_failed', 'server' if name in NOT_THE_CLIENT else EITHER, 1)
       for name, status in LOGON.items()},
    'no-version-of-smb': (smb_says(NEGOTIATE, 0xC00000BB), 'logon_failed', EITHER, 1),
    **{'logon-kerberos-%d' % n: (smb_says(SETUP, 0xC000006D, kerberos_error(n)), 'logon_failed', party, 1)
       for party, errors in (('client', (6, 18, 23, 24)), ('server', (7, 60)), (EITHER, (37,))) for n in errors},
    'logon-kerberos-modified': (smb_says(SETUP, 0xC0000016, kerberos_error(41)), 'logon_failed', 'client', 1),
    'logon-kdc': (kdc_refuses, 'logon_failed', 'server', 1),
    'logon-signing-required': (client_leaves(mode=3, leaves=SETUP), 'logon_failed', 'client', 1),
    'logon-guest': (client_leaves(flags=1, leaves=TREE), 'logon_failed', 'client', 1),
    'share-denied': (smb_says(TREE, 0xC0000022), 'share_denied', EITHER, 1),
    'share-not-there': (smb_says(TREE, 0xC00000CC), 'share_denied', 'server', 1),
    **{'pipe-' + name: (smb_says(CREATE, status), kind, EITHER if name == 'denied' else 'server', 1) for name, (status, kind) in PIPE.items()},
    'bind-nak': (bind_says(nak=4), 'bind_refused', 'server', 1),
    'bind-nak-over-smb': (bind_says(nak=0, smb=True), 'bind_refused', 'server', 1),
    'no-interface': (bind_says(NO_INTERFACE), 'interface_missing', 'server', 1),
    'no-interface-of-three': (bind_says(NO_INTERFACE, NO_INTERFACE, NEGOTIATED, smb=True), 'interface_missing', 'server', 1),
    'no-syntax': (bind_says(NO_SYNTAX), 'bind_refused', 'server', 1),
    'no-winreg': (bind_says(NO_INTERFACE, interface=WINREG, smb=True), 'interface_missing', 'server', 1),
    'not-in-mapper': (not_in_mapper(), 'interface_missing', 'server', 1),
    'mapper-faults': (mapper_faults, 'bind_refused', 'server', 1),
    'bind-unanswered': (stuck(smb=False), 'unanswered', 'server', 1),
    'bind-unanswered-smb': (stuck(), 'unanswered', 'server', 1),
    'bind-reset': (stuck(ends=RST, smb=False), 'broken', 'server', 1),
    'pipe-unanswered': (stuck(CREATE), 'unanswered', 'server', 1),
    'pipe-reset': (stuck(CREATE, RST), 'broken', 'server', 1),
    'open-denied': (call_says(OPEN, 5, mode='smb', browses=False), 'call_failed', EITHER, 1),
    'names-denied': (names_denied, 'call_failed', EITHER, 1),
    'open-unanswered': (open_unanswered, 'unanswered', 'server', 1),
    'open-reset': (first_call_reset, 'broken', 'server', 1),
    'open-faults': (call_says(OPEN, 5, 'faults', 'smb', browses=False), 'call_failed', EITHER, 1),
    'unknown-interface-fault': (call_says(OPEN, 0x1C010003, 'faults', browses=False), 'interface_missing', 'server', 1),
    'signed-and-denied': (call_says(OPEN, 5, browses=False, protocol=SignedRpc), 'not_sealed', 'client', 1),
    'signed-and-denied-by-fault': (call_says(OPEN, 5, 'faults', browses=False, protocol=SignedRpc), 'not_sealed', 'client', 1),
    'sealed-and-denied-by-fault': (call_says(OPEN, 5, 'faults', browses=False, protocol=SealedRpc), 'call_failed', EITHER, 1),
    'key-denied': (key_denied, 'call_failed', EITHER, 1),
}


# What nothing says of is meant for performance counters, but that its client asks others for them, or nobody for anything else
STUCK = {name + way: (stuck(command, flags), kind, 'server', 1) for name, command in (('negotiate', NEGOTIATE), ('logon', SETUP), ('share', TREE))
         for way, flags, kind in (('-unanswered', None, 'unanswered'), ('-reset', RST, 'broken'), ('-ended', FIN, 'broken'))}


def beside(rung, mode='tcp'):
    """While the monitor of another server is well."""
    def play(w):
        m = start(w, mode).run(5, 10)
        began = w.capture.now
        m.sample(wait=0)
        rung(w, SRV02)
        w.capture.now = max(w.capture.now, began + 10 * SECOND)
        m.run(5, 10).close()
    return play


LADDER = {
    **{name: Faulty(lambda w, rung=rung: rung(w, SRV01), kind, party, count) for name, (rung, kind, party, count) in {**RUNGS, **STUCK}.items()},
    **{name + '-beside': Faulty(beside(rung), kind, party, count, at=SRV02) for name, (rung, kind, party, count) in {**RUNGS, **STUCK}.items()
       if not name.startswith('logon-') or name in ('logon-wrong-password', 'logon-no-logon-server')},
    **{name + '-thrice': Faulty(lambda w, rung=rung: [rung(w, SRV01) for _ in range(3)], kind, party, 3) for name, (rung, kind, party, _) in {**RUNGS, **STUCK}.items()
       if name in ('logon-guest', 'logon-kerberos-37', 'logon-unanswered', 'bind-nak-over-smb', 'bind-unanswered-smb')},
    **{name + '-for-a-while': Faulty(outage(rung, samples=4 if 'logon' in name else 8), kind, party, 5 * count) for name, (rung, kind, party, count) in RUNGS.items()
       if name in ('syn-unanswered', 'syn-refused', 'logon-no-logon-server', 'logon-locked', 'pipe-missing', 'not-in-mapper')},
    'blocked-at-another-port': Faulty(lambda w: (polls(8)(w), no_connection(None, 49700, True)(w, SRV01)), 'unreachable', 'network', 3),
    'blocked-behind-mapper': Faulty(lambda w: [no_connection(None, 49671, True)(w, SRV01) for _ in range(3)], 'unreachable', 'network', 9),
    'one-of-two-accounts': Faulty(polls(4, lambda m: smb_says(SETUP, 0xC000006D, user='svc-prtg')(m.network, SRV01), 4, mode='smb'), 'logon_failed', 'client', 1,
                                  says=' as LAB\\svc-prtg ('),
    'denied-to-one-of-two-accounts': Faulty(polls(4, denied, 4, denied, 4, mode='smb'), 'pipe_denied', EITHER, 2, says=' as LAB\\svc-prtg (no rights): since '),
    'denied-to-one-by-kerberos': Faulty(polls(4, lambda m: denied(m, Kerberos), 4, mode='smb'), 'pipe_denied', EITHER, 1),
    'one-of-two-accounts-of-a-connection': Faulty(polls(4, other_logon, 4, mode='smb'), 'logon_failed', 'client', says=' as LAB\\svc-prtg ('),
    'account-of-another-client': Faulty(lambda w: (polls(8, mode='smb')(w), smb_says(SETUP, 0xC000006D, client=OTHER)(w, SRV01)), 'logon_failed', 'client', 1, by=OTHER),
    'share-denied-beside-files': Faulty(lambda w: (Session(Link(w.capture, 445, w.port(), server=SRV01[1]), share='\\\\SRV01\\DATA'),
                                                   smb_says(TREE, 0xC0000022)(w, SRV01)), 'share_denied', EITHER, 1),
    'pipe-with-another-status': Faulty(lambda w: [smb_says(CREATE, status)(w, SRV01) for status in (0xC0000034, 0xC0000043)], 'pipe_missing', 'server', 1, says='(STATUS_SHARING_VIOLATION)'),
    'account-with-a-dollar': Faulty(lambda w: [*(smb_says(SETUP, 0xC000006D, user=x)(w, SRV01) for x in ('monitor', 'SQL$SALES')), no_connection(None, 135)(w, SRV01)], 'logon_failed', 'client', 1, says=' as LAB\\SQL$SALES ('),
    'account-garbled': Faulty(and_then(lambda w: smb_says(SETUP, 0xC000006D)(w, SRV01), garbled), 'logon_failed', 'client', 1, says=' as NULL ('),
    'logon-kdc-by-udp': Faulty(and_then(lambda w: kdc_refuses(w, SRV01), by_udp), 'logon_failed', 'server', 1),
    'logon-kdc-behind-a-run': Faulty(and_then(polls(8), lambda w: kdc_refuses(w, SRV01, 24, SRV02)), 'logon_failed', 'client', 1, says=', says the KDC 192.0.2.40 (wrong password)'),
    'pipe-missing-beside-sealed': Faulty(beside(RUNGS['pipe-missing'][0], 'sealed'), 'pipe_missing', 'server', 1, at=SRV02),
}


# --- While it runs -------------------------------------------------------------------------------------------------------

def refused(counters, **how):
    """So many counters that there are, and one that there is not."""
    return polls(named(lambda m: m.open()), 8, asked=lambda s: [ask(s, c) for c in counters], sets=[memory()], **how)


def until(number):
    return crowd(lambda n: ('a', 'b') if n < number else ())


def machine(age):
    """Another one answers from here on, that was started so many seconds ago."""
    def part(m):
        boot = m.network.capture.now - age * SECOND
        m.model, m.clock = m.network.model(m.sets, boot) if m.sets else None, Clock(m.network.capture, boot)
    return part


def first_of_two(m, between=0):
    """Two queries of one connection, of which the first is closed."""
    first, m.handle = m.open().handle, None
    for _ in range(8):
        second = m.open().handle
        m.handle = first
        m.sample(wait=between)
        m.handle = second
        m.run(1, 1 - between)
    m.client.close(first)


def slow_to_add(m, takes=7):
    m.line.fate.update(takes=takes, opnum=VALIDATE)
    m.client.validate(m.handle, m.asked)


def newer_one_reset_first(w):
    for m in reversed([start(w).run(4) for _ in range(2)]):
        ends(RST)(m)


def idles(seconds):
    """Nothing but TCP's signs of life."""
    def part(m):
        for _ in range(seconds // 30):
            m.network.wait(30)
            m.tcp.ack(0)
            m.tcp.ack(1)
    return part


def hangs(m):
    """A request that the server acknowledges, and never answers."""
    named(lambda m: m.ask_alone())(m)
    m.network.wait(.04)
    m.tcp.ack(1)
    idles(60)(m)


def hangs_beside_arp(m):
    """... and nothing of TCP goes by any more."""
    named(lambda m: m.ask_alone())(m)
    m.network.wait(60)
    m.network.capture.add(bytes(12) + b'\x08\x06\0\1\x08\0\6\4\0\1'.ljust(46, b'\0'))
    m.forget()


def hangs_behind_a_probe(m):
    m.line.call(DATA, request(DATA, hQuery=m.handle, dwInSize=0))
    hangs(m)


def dies(m, side=0):
    """A request that is sent in vain; then that side ends the connection."""
    named(lambda m: m.ask_alone())(m)
    resends(0)(m)
    m.network.wait(4.8 * side)
    m.hang_up(RST, side)


def opens(count, closes=False):
    """A query for each sample, none closed."""
    def part(m):
        for _ in range(count):
            with m.network.culprit():
                m.run(1)
            if closes:
                m.close(ends=False)
            m.handle = None
    return part


def in_steps(calls, samples=8):
    """The client begins with little room and takes a little more each time."""
    def part(m):
        m.open()
        for _ in range(samples):
            with m.network.culprit():
                for n in range(1, calls):
                    m.client.data(m.handle, 8 * n)
                m.sample()
    return part


def comes_back(says):
    """The client tries again, and is told no."""
    def part(m):
        m.says = says
        for _ in range(3):
            m.network.wait(5)
            attempt(m.reach)
            m.forget()
    return part


def fails(*parts, count=1, party='server', says='', also=(), **how):
    return Faulty(polls(*parts, **how), 'call_failed', party, count, says=says, also=also)


def smb_fails(status, kind, party='server', mode='smb', says=''):
    return Faulty(polls(8, bad(3, any=True, instead=status), leaves(), mode=mode), kind, party, 3, says=says)


def missing(*parts, count=None, says='', **how):
    return Faulty(polls(*parts, **how), 'not_delivered', 'server', count, says=says)


def damaged(change, count=1, more=8, **how):
    return Faulty(polls(8, bad(count, change=change), more, **how), 'damaged', 'server', count, also=('not_delivered',))


def odd(kind, party, *parts, count=None, also=(), healthy=(False,), **how):
    return Faulty(polls(*parts, **how), kind, party, count, also=also, healthy=healthy)


def asks_for_names(count, status):
    """A list of names that is not there."""
    def part(m):
        m.open()
        with m.network.culprit():
            for _ in range(count):
                m.talk.ask('Counter 009', None if status else bytes(4), status=status)
    return part


FROM_9, THE_9TH = range(8, 999), [8]
ONE_OF_TWO = dict(name='230 238', only=[238], mode='hkpd')
BOTH = dict(ONE_OF_TWO, only=[230, 238])
DURING = {
    **{'pipe-broken-' + x: smb_fails(0xC000014B, 'pipe_broken', mode=x) for x in ('smb', 'smb-reads', 'hkpd-smb', 'sealed-smb', 'sealed-smb-reads', 'sealed-hkpd-smb')},
    **{'smb-fails-%x' % x: smb_fails(x, 'smb_failed', says='STATUS_' + says) for x, says in (
        (0xC00000B5, 'IO_TIMEOUT'), (0xC00000B0, 'PIPE_DISCONNECTED'), (0xC00000C9, 'NETWORK_NAME_DELETED'), (0xC0000128, 'FILE_CLOSED'))},
    'pipe-broken-at-the-first-call-sealed': odd('pipe_broken', 'server', names_fail_sealed, count=1, mode='sealed-smb', browses=False),
    'session-expired': smb_fails(0xC000035C, 'session_expired', EITHER, says='STATUS_NETWORK_SESSION_EXPIRED'),
    'session-deleted-sealed': smb_fails(0xC0000203, 'session_expired', EITHER, 'sealed-smb', says='STATUS_USER_SESSION_DELETED'),
    'provider-gone': fails(8, bad(8), denies={DATA: (4200, FROM_9)}, count=8, says='ERROR_WMI_GUID_NOT_FOUND'),
    'data-not-found': fails(8, bad(8), denies={DATA: (1168, FROM_9)}, count=8),
    'data-denied-and-info-fails': fails(8, bad(8), denies={DATA: (5, FROM_9), INFO: (1450, ALL)}, count=8, party=EITHER, also=('assumed',)),
    **{'server-busy-' + x: fails(8, bad(), 8, mode=x, faults={DATA: (1723, THE_9TH)}, says='ERROR_RPC_S_SERVER_TOO_BUSY') for x in ('tcp', 'sealed')},
    # What was not opened is not left open
    **{'open-faults-beside-a-query-' + x: fails(2, named(lambda m: attempt(m.client.open)), 8, lambda m: m.close(False), leaves(RST, 1), mode=x,
                                                faults={OPEN: (1723, [1])}) for x in ('tcp', 'sealed')},
    **{'fails-sealed-for-%d-s' % (n * each): Faulty(polls(8, bad(n, each), 8, each=each, mode='sealed', denies={DATA: (1450, range(8, 8 + n))}), 'failed_by_size', EITHER, n) for n, each in ((6, 1), (4, 10))},
    'adding-faults': fails(2, named(lambda m: attempt(m.client.validate, m.handle, m.asked)), 8, faults={VALIDATE: (1723, [1])}),
    'access-faults-sealed': fails(8, bad(8), mode='sealed', faults={DATA: (5, FROM_9)}, count=8, party=EITHER),
    'two-errors': fails(8, bad(2), 8, denies={DATA: (1450, THE_9TH)}, faults={DATA: (1723, [9])}, count=2, says='with errors, first ERROR_NO_SYSTEM'),
    'data-denied-to-a-poller': fails(8, bad(4), 8, mode='poller', denies={DATA: (5, range(8, 12))}, count=4, party=EITHER),
    'handle-unknown': fails(8, lambda m: m.model.queries.clear(), bad(3), leaves(), count=3, also=('restarted',), says='nca_s_fault_context_mismatch'),
    'validate-denied': Faulty(lambda w: call_says(VALIDATE, 5, mode='smb')(w, SRV01), 'call_failed', EITHER, 1, also=('not_delivered', 'counter_refused')),
    'names-not-there': odd('names_failed', 'server', asks_for_names(5, 2), leaves(), count=5, mode='hkpd', titles=False),
    'names-empty': odd('names_failed', 'server', asks_for_names(1, 0), leaves(), count=1, mode='hkpd', titles=False),
    'counter-refused': Faulty(refused([1, 77]), 'counter_refused', 'server', 1, says='#77'),
    'counter-refused-before-one-that-is-there-twice': Faulty(refused([1, 77, 1]), 'counter_refused', 'server', 1, says='#77'),
    'counter-refused-for-rights': Faulty(refused([1], refuses=5), 'counter_refused', EITHER, 1, also=('not_delivered', 'no_data')),
    'all-counters-refused': Faulty(refused([77, 78]), 'counter_refused', 'server', 1, also=('not_delivered', 'no_data')),
    'instance-gone': Faulty(polls(8, bad(8), 8, asked=lambda m, p: [ask(m), ask(p, 2, 'a'), ask(p, 2, 'b')], **crowd(lambda n: ('a', 'b') if n < 8 else ('a',))),
                            'block_failed', 'server', 16, says='Processor(b)'),
    'delivered-at-first': missing(8, bad(8), count=8, **until(8), says='Processor'),
    'gone-again': missing(12, bad(8), count=8, **crowd(lambda n: () if 4 <= n < 8 or n >= 12 else ('a', 'b'))),
    'two-objects-never-delivered': missing(bad(16), count=16, says='; 32 in all', name='230 2 238', only=[2], mode='hkpd'),
    'object-never-delivered': missing(bad(16), count=16, says='230', **ONE_OF_TWO),
    'object-for-another': Faulty(and_then(polls(8, client='192.0.2.11', **BOTH), polls(bad(8), **ONE_OF_TWO)), 'not_delivered', 'server', 8,
                                 says='; 192.0.2.11 gets it: may this account read it?'),
    'object-gone': missing(8, bad(8, only=[238]), count=8, says='230', **BOTH),
    'last-block-damaged': damaged(block_size(1, 4000), 8),
    **{'as-many-as-are-listed-%d' % n: damaged(change, n) for n, change in ((200, lambda stub: stub + bytes([1] * 24)), (201, lambda stub: bytes(4) + stub[4:]))},
    **{'nonsense-' + str(n): damaged(lambda stub, n=n: bytes([n] * len(stub)), 8, mode='hkpd') for n in (1, 255)},
    'answers-of-nothing': odd('failed_by_size', 'server', 8, bad(3, change=lambda stub: bytes(len(stub))), count=3, mode='hkpd'),
    'first-block-damaged': damaged(block_size(0, 5), 8, 0),
    'probes-from-the-start': odd('probe_loop', 'client', lambda m: setattr(m, 'room', 8), bad(3), count=3),
    **{'probes-since-the-middle-' + x: odd('probe_loop', EITHER, 8, lambda m: setattr(m, 'room', 8), bad(9), count=9, mode=x) for x in ('tcp', 'smb', 'sealed')},
    **{'server-restarted-' + x: odd('other_clock', 'server', 8, leaves(), pause(30), machine(20), bad(), 8, count=1, mode=x) for x in ('tcp', 'hkpd')},
    'server-rebooted': odd('other_clock', 'server', 8, leaves(RST, 1), pause(30), machine(20), bad(), 8, count=1, also=('broken',)),
    **{'another-machine-' + x: odd('other_clock', 'server', 8, leaves(), machine(80000), bad(2, any=True), 8, mode=x) for x in ('tcp', 'hkpd')},
    'service-stopped': odd('pipe_broken', 'server', 8, bad(instead=0xC000014B), leaves(), comes_back({CREATE: 0xC0000034}), count=1,
                           also=('pipe_missing',), mode='smb'),
    'session-expired-for-good': odd('session_expired', EITHER, 8, bad(instead=0xC000035C), leaves(), comes_back({SETUP: 0xC000006D}), count=1,
                                    also=('logon_failed',), mode='smb'),
    # At the port of its calls, which no endpoint mapper told
    'gone-behind-a-run': Faulty(lambda w: (polls(8)(w), w.wait(60), no_connection(None, 49671)(w, SRV01)), 'unreachable', 'network', 3),
    'refused-behind-a-run': Faulty(lambda w: (polls(8)(w), w.wait(60), no_connection('rst', 49671)(w, SRV01)), 'refused_connection', 'server', 3),
    **{'reset-by-the-server-' + x: odd('broken', ('server', 'network'), 8, ends(RST), count=1, mode=x) for x in ('tcp', 'sealed')},
    **{'reset-with-one-open-' + x: odd('broken', ('server', 'network'), first_of_two, 8, ends(RST), count=1, mode=x) for x in ('tcp', 'sealed')},
    'reset-behind-another-pipe': odd('broken', 'server', 8, other_pipe, ends(RST), count=1, mode='smb'),
    'acknowledged-late': Faulty(polls(8, bad(between=lambda m: (pause(3)(m), m.tcp.ack(1), pause(1)(m))), 8, **MANY), 'slow', 'server', 1, says='(or the network)'),
    'late-and-then-reset': Faulty(polls(8, pause(5), 8, ends(RST)), 'broken', ('server', 'network'), 1, also=('asked_late',), says='polled SRV01 late'),
    'newer-one-reset-first': Faulty(newer_one_reset_first, 'broken', ('server', 'network'), 2),
    'dropped-by-an-idle-firewall': odd('broken', 'network', 3, pause(59.2), lambda m: dies(m, 1), count=1),
    'idle-stop': odd('idle_stop', 'server', 3, pause(589.2), bad(instead=0xC000014B), leaves(), 3, count=1, healthy=(True,), mode='smb'),
    'ended-by-the-server': odd('broken', 'server', 8, ends(0x11), count=1),
    'reset-and-gone': odd('broken', 'server', 8, ends(RST), lambda m: no_connection(None, 49671)(m.network, SRV01), count=1),
    'reset-and-back-and-gone': odd('unreachable', 'network', 8, lambda m: m.hang_up(RST, 1), 8, leaves(), lambda m: no_connection(None, 49671)(m.network, SRV01), count=3, also=('broken',)),
    'reset-and-back': odd('broken', ('server', 'network'), 8, lambda m: m.ask_alone(), ends(RST), pause(20), 8, count=1),
    **{'large-answers-dropped' + x: Faulty(polls(8, never_acknowledged, mode=mode), 'unanswered', 'network', 1, says='MTU') for x, mode in (('', 'tcp'), ('-smb', 'smb'))},
    'gone-in-the-middle': Faulty(lambda w: (polls(8, dies)(w), no_connection(None, 49671)(w, SRV01)), 'unanswered', 'network', 1),
    **{'server-hangs-' + x: odd('unanswered', 'server', 8, hangs, gone, count=1, mode=x) for x in ('tcp', 'smb')},
    'server-hangs-until-it-is-cancelled': odd('unanswered', 'server', 8, bad(takes=9, instead=0xC0000120), count=1, mode='smb'),
    'server-hangs-and-resets': odd('unanswered', 'server', 8, hangs, lambda m: m.hang_up(RST, 1), count=1),
    'in-vain-and-reset': odd('unanswered', 'network', 3, pause(58.1), lambda m: dies(m, 1), count=1),
    'answers-dropped-and-reset': odd('unanswered', 'network', 8, lambda m: never_acknowledged(m, 1), count=1),
    'server-hangs-and-only-others-go-on': odd('unanswered', 'server', 8, hangs_beside_arp, count=1),
    'gone-as-the-clock-is-set-back': Faulty(lambda w: (polls(8)(w), w.wait(-60), no_connection(None, 49671)(w, SRV01)), 'unreachable', 'network', 3,
                                            says='Times of the capture go back'),
    'server-hangs-behind-a-probe-sealed': odd('unanswered', 'server', 8, hangs_behind_a_probe, gone, count=1, mode='sealed'),
    'server-hangs-behind-probes': odd('unanswered', 'server', *[lambda m: m.open(), hangs_behind_a_probe, leaves(RST)] * 3, count=3),
    'server-hangs-client-asks-on': odd('unanswered', 'server', 8, hangs, 8, count=1),
    **{'server-hangs-client-comes-back-' + x: odd('unanswered', 'server', 8, hangs, leaves(RST), 8, count=1, mode=x) for x in ('tcp', 'sealed')},
    'titles-denied': odd('call_failed', 'server', 8, asks_for_names(1, 5), 8, count=1, mode='hkpd', titles=False),
    'slow-of-a-server-without-a-name': Faulty(polls(8, bad(takes=4.2), 8, server=('', SRV01[1])), 'slow', 'server', 1, at=(SRV01[1],)),
    'late-behind-a-slow-call': Faulty(polls(8, lambda m: slow_to_add(m, .7), bad(), 8), 'resent', 'server', 1),
    'slow-to-add': odd('slow', 'server', 8, named(slow_to_add), 8, count=1, also=('asked_late',)),
    'pipe-broken-and-back': odd('pipe_broken', 'server', 3, pause(588.1), bad(3, any=True, instead=0xC000014B), leaves(), 2, count=3, mode='smb'),
    'handles-open': odd('handles_open', 'client', opens(10), leaves(), count=10, healthy=(True,)),
}


# --- The capture -------------------------------------------------------------------------------------------------------

def logs_on_again(m):
    """The session has expired, which each has after some hours; the client logs on anew and goes on."""
    attempt(m.sample, wait=0, instead=0xC000035C)
    m.smb.log_on()


def snapped(length):
    """Of each frame so many bytes were captured."""
    def change(w):
        for n, (_, frame) in enumerate(w.capture.frames, 1):
            if len(frame) > length:
                w.capture.snap(n, length)
                w.since.append(n)
    return change


def one_of_two_cut(w):
    """Of one client so little was captured that no call of its can be read."""
    together(w, 20, (start(w), 1, 0), (start(w, 'smb', client=OTHER), 1, .5))
    for n, (_, frame) in enumerate(w.capture.frames, 1):
        if bytes([192, 0, 2, 11]) in (frame[26:30], frame[30:34]) and len(frame) > 200:
            w.capture.snap(n, 200)
            w.since.append(n)


def cut_while_added(w, cuts=True):
    """The counters that a query gets while it runs: what was captured of the call that adds them has no ends."""
    s, other = memory(), processors()
    m = start(w, sets=[s, other], asked=lambda s, other: [ask(s)]).run(4)
    before = len(w.capture.frames)
    m.client.validate(m.handle, [ask(other, name='*')])
    m.client.info(m.handle)
    for n in range(before + 1, len(w.capture.frames) + 1):
        if cuts and len(w.capture.frames[n - 1][1]) > 100:
            w.capture.snap(n, 100)
            w.since.append(n)
    m.run(4)


def both_ports(m):
    """The client tries 445 and 139 at once, and ends the second when the first is there."""
    m.open()
    Link(m.network.capture, 139, m.network.port(), server=SRV01[1]).segment(0, b'', RST)


def one_direction(*sides):
    """Only what these send passes where it was captured."""
    def change(w):
        w.capture.frames = [f for f in w.capture.frames if f[1][29] in sides]
        w.since = range(1, len(w.capture.frames) + 1)
    return change


def merged(w):
    """Of two captures, of which the server's clock is behind: its first answer stands before the SYN."""
    w.capture.frames = sorted((when - 3000 * (frame[26:30] == bytes([192, 0, 2, 20])), frame) for when, frame in w.capture.frames)
    w.since = [n for n, (_, frame) in enumerate(w.capture.frames, 1) if frame[47] == SYN]


def low_port(play):
    """The client's is below the server's."""
    def changed(w):
        w.ports = 49300
        play(w)
    return changed


def from_the_middle(w):
    """... but for a first SYN"""
    del w.capture.frames[1:60]
    w.since = range(1, len(w.capture.frames) + 1)


def behind_the_mapper(w):
    """Nothing was captured between its request and the first sample."""
    with w.unseen(*range(7, 99)):
        ask_mapper(w.capture, SRV01[1], client_port=w.port())
    with w.unseen():
        m = start(w).open()
    with w.culprit():
        m.run(8).close()


def one_from_the_middle(mode, *parts):
    """A monitor, and before it one whose bind was not captured."""
    def play(w):
        polls(16, mode=mode)(w)
        del w.capture.frames[:60]
        w.since = [n for n, (_, frame) in enumerate(w.capture.frames, 1) if len(frame) > 60][:1]
        polls(8, *parts, mode=mode)(w)
    return play


def not_captured(*packets, also=(), mode='tcp'):
    return odd('lost', 'capture', 8, named(lost(3, *packets)), bad(), 8, also=also, mode=mode)


UNKNOWN = (None,)
CAPTURE = {
    **{'answers-lost-' + x: not_captured(1, mode=x) for x in ('tcp', 'smb', 'hkpd', 'sealed')},
    'samples-lost-behind-a-thousand-packets': odd('lost', 'capture', 8, *[lost(), bad()] * 500, lost(20), 8, count=1000, also=('assumed',)),
    'samples-lost': not_captured(also=('assumed',)),
    'requests-lost': not_captured(0, also=('assumed',)),
    **{'out-of-order-' + x: Faulty(and_then(polls(24, mode=x), swapped), 'out_of_order', 'capture', also=('assumed',))
       for x in ('tcp', 'hkpd', 'sealed')},
    'cut': Faulty(and_then(polls(8), snapped(160)), 'cut', 'capture'),
    'cut-hkpd': Faulty(and_then(polls(8, mode='hkpd'), snapped(200)), 'cut', 'capture', also=('damaged', 'assumed')),
    'cut-of-one-client': Faulty(one_of_two_cut, 'cut', 'capture', by=OTHER, healthy=(None,)),
    'cut-while-counters-are-added': Faulty(cut_while_added, 'cut', 'capture', also=('assumed',)),
    'cut-smb': Faulty(and_then(polls(8, logs_on_again, 8, mode='smb'), snapped(300)), 'cut', 'capture'),
    'cut-segments': Faulty(and_then(polls(8, mode='smb', **MANY), snapped(1000)), 'cut', 'capture'),
    **{'cut-all-' + x: Faulty(and_then(polls(8, mode=x), snapped(96)), 'cut', 'capture', healthy=(None,)) for x in ('tcp', 'smb')},
    'mapper-faults-without-winreg': Faulty(beside(mapper_faults), 'bind_refused', 'server', 1, at=SRV02, options=('--disable-protocol', 'winreg')),
    'requests-alone': Faulty(and_then(beside(RUNGS['syn-refused'][0]), one_direction(10)), 'one_way', 'capture', healthy=UNKNOWN),
    'requests-alone-that-wait': Faulty(and_then(beside(STUCK['logon-unanswered'][0]), one_direction(10)), 'one_way', 'capture', healthy=UNKNOWN),
    'answers-alone': Faulty(and_then(polls(8), one_direction(20)), 'one_way', 'capture', healthy=UNKNOWN),
    'requests-alone-of-two': Faulty(and_then(lambda w: together(w, 20, (start(w), 1, 0), (start(w, server=SRV02), 1, .5)), one_direction(10, 20)), 'one_way', 'capture', healthy=UNKNOWN),
    'requests-alone-low-port': Faulty(and_then(low_port(polls(8)), lambda w: (w.capture.frames.pop(0), one_direction(10)(w))), 'one_way', 'capture',
                                      healthy=UNKNOWN),
    'out-of-order-from-the-start': Faulty(and_then(polls(24), lambda w: swapped(w, 4, 0)), 'out_of_order', 'capture', also=('assumed',)),
    'merged': Faulty(and_then(polls(8), merged), 'out_of_order', 'capture', 1, healthy=UNKNOWN),
    'from-the-middle-low-port': Faulty(and_then(low_port(polls(lambda m: knock(m.network.capture, SRV01[1], 135, m.network.port(), times=1), 16)),
                                                from_the_middle), 'from_middle', 'capture', says='192.0.2.10 to 192.', healthy=UNKNOWN),
    'from-the-middle-behind-the-mapper': Faulty(behind_the_mapper, 'from_middle', 'capture', healthy=UNKNOWN),
    'from-the-middle-beside-a-fault': Faulty(one_from_the_middle('tcp', bad(takes=4.2), 8), 'slow', 'server', 1, also=('from_middle',)),
}

# Names so long that not all of a sentence finds room in its line
SIXES = '2001:db8:1111:2222:3333:4444:5555:6666', '2001:db8:1111:2222:3333:4444:5555:7777'
FAR = dict(v6=True, client=SIXES[0], server=('a-server-of-a-long-name.branch-17.example.com', SIXES[1]))


def wide(there=None):
    """Sets whose names have 128 characters."""
    sets = [memory(), processors(there)] if there else [memory(), processors()]
    for n, s in enumerate(sets):
        s.name = (s.name + ' of a name that does not end')[:60].ljust(128, 'xy'[n])
    return dict(sets=sets, **FAR)


def far(*parts, **how):
    return polls(*parts, **{**FAR, **how})


CROWDED = {
    'slow': far(10, bad(10, 2, takes=1.9)), 'other_clock': far(8, leaves(), machine(80000), bad(2), 8),
    'not_delivered': polls(8, bad(8), **wide(lambda n: ('a', 'b') if n < 8 else ())),
    'block_failed': polls(8, bad(8), 8, asked=lambda m, p: [ask(m), ask(p, 2, 'a'), ask(p, 2, 'b')], **wide(lambda n: ('a', 'b') if n < 8 else ('a',))),
    'counter_refused': polls(named(lambda m: m.open()), 8, asked=lambda m, p: [ask(m, c) for c in (1, 77)], **wide()),
    'not_sealed': lambda w: call_says(OPEN, 5, browses=False, protocol=SignedRpc, **{k: x for k, x in FAR.items() if k != 'server'})(w, FAR['server']),
    'cut': and_then(far(8), snapped(180)), 'asked_late': far(8, pause(5), bad(), 8, mode='sealed'),
}

FAULTY = {**LATE, **LADDER, **DURING, **CAPTURE}
