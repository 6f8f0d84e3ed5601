# SPDX-License-Identifier: GPL-2.0-or-later
"""What lies below a monitor's calls, as its hosts do it, and where each of them can say no: TCP with acknowledgements, logon and
share of SMB2, pipes, binds with any result, the endpoint mapper."""

import struct
import uuid

from .pcap import BIND, BIND_ACK, NDR, NDR64, PERFLIB, SESSION, Rpc, Smb2, Tcp, packed

SYN, RST, FIN, ACK = 0x02, 0x14, 0x11, 0x10
MORE_PROCESSING, PENDING = 0xC0000016, 0x00000103
NEGOTIATE, SETUP, TREE, CREATE, READ, IOCTL = 0, 1, 3, 5, 8, 11      # SMB2's commands
ERROR = struct.pack('<HBBIB', 9, 0, 0, 0, 0)
EPM = ('e1af8308-5d1f-11c9-91a4-08002b14a0fa', 3)
NOT_REGISTERED = 0x16C9A0D6
BIND_NAK, ALTER, ALTER_ACK, AUTH3 = 13, 14, 15, 16
ACCEPTED, NO_INTERFACE, NO_SYNTAX, NEGOTIATED = (0, 0), (2, 1), (2, 2), (3, 3)


class Refused(Exception):
    """Somebody said no; the client goes no further."""


class Link(Tcp):
    """The client acknowledges each answer at once; the server what it does not answer within 40 ms (who waits calls ack()).
    deaf: what the server sends does not come to the client."""

    def __init__(self, *args, **kw):
        self.last, self.deaf = {}, False
        super().__init__(*args, **kw)

    def send(self, side, data, **how):
        self.last[side] = self.seq[side], self.seq[1 - side], data[-self.mss:]
        number = super().send(side, data, **how)
        if side == 1 and not self.deaf:
            self.ack(0)
        return number

    def ack(self, side):
        return self.segment(side, b'', ACK)

    def resend(self, side):
        """The last segment of that side once more, as TCP does it: another packet with the same bytes."""
        seq, ack, data = self.last[side]
        return self.capture.add(self.frame(side, data, 0x18, self.seq[side] - len(data), ack))


def knock(capture, server, port=445, client_port=50001, answer=None, times=3, client='192.0.2.10'):
    """SYNs without a connection: no answer, or 'rst'. -> frames of the SYNs"""
    tcp, frames = Link.__new__(Link), []
    tcp.capture, tcp.v6, tcp.mss, tcp.ip_id, tcp.window, tcp.last = capture, ':' in server, 1440, 1, [0xFFFF, 0xFFFF], {}
    tcp.ends = (client, client_port), (server, port)
    for n in range(times):
        tcp.seq = [1000, 0]
        frames.append(tcp.segment(0, b'', SYN))
        if answer == 'rst':
            tcp.segment(1, b'', RST)
        capture.now += 2 ** n * 10 ** 6
    return frames


# --- SMB -------------------------------------------------------------------------------------------------------------

def ntlm(kind, user='monitor', domain='LAB', host='LABCLIENT'):
    """NEGOTIATE, CHALLENGE, AUTHENTICATE of [MS-NLMP] 2.2.1."""
    flags = 0xE2088297
    head = b'NTLMSSP\0' + struct.pack('<I', kind)
    if kind == 1:
        return head + struct.pack('<I', flags) + bytes(24)
    if kind == 2:
        return head + struct.pack('<HHIIQQHHI', 0, 0, 56, flags, 0x0123456789ABCDEF, 0, 0, 0, 56) + bytes(8)
    at, fields, payload = 72, b'', b''
    for text in (bytes(24), bytes(24), *(x.encode('utf-16-le') for x in (domain, user, host)), b''):
        fields += struct.pack('<HHI', len(text), len(text), at + len(payload))
        payload += text
    return head + fields + struct.pack('<I', flags) + bytes(8) + payload


def tlv(tag, *parts):
    body = b''.join(parts)
    size = bytes([len(body)]) if len(body) < 128 else bytes([0x82]) + struct.pack('>H', len(body))
    return bytes([tag]) + size + body


def kerberos_error(code, is_alone=False):
    """KRB-ERROR of RFC 4120 5.9.1, in a GSS token or as a key distribution center sends it by TCP."""
    when, name = tlv(0x18, b'20260929120000Z'), tlv(0x30, tlv(0xA0, tlv(2, b'\2')), tlv(0xA1, tlv(0x30, tlv(0x1B, b'cifs'), tlv(0x1B, b'SRV01'))))
    fields = [(0, tlv(2, b'\5')), (1, tlv(2, bytes([30]))), (4, when), (5, tlv(2, b'\0')), (6, tlv(2, bytes([code]))),
              (9, tlv(0x1B, b'LAB.TEST')), (10, name)]
    error = tlv(0x7E, tlv(0x30, *(tlv(0xA0 + n, x) for n, x in fields)))
    return struct.pack('>I', len(error)) + error if is_alone else tlv(0x60, bytes.fromhex('06092a864886f712010202'), b'\3\0', error)


class Session(Smb2):
    """SMB2 with a logon by NTLM. says: {command: status} where the server says no, or nothing (None), which ends it.
    flags: of the session, 1: a guest's; leaves: what the client does no more"""

    flags, leaves = 0, None

    def __init__(self, tcp, says=None, share='\\\\SRV01\\IPC$', user='monitor', blob=b'', session=SESSION):
        self.tcp, self.session, self.tree, self.message, self.says, self.id = tcp, 0, 0, 0, says or {}, session
        self.negotiate()
        self.log_on(user, blob)
        if share:
            self.connect(share)

    def log_on(self, user='monitor', blob=b''):
        def setup(kind):
            token = ntlm(kind, user)
            return struct.pack('<HBBIIHHQ', 25, 0, 1, 0, 0, 88, len(token), 0) + token
        self.ask(SETUP, setup(1))
        self.session, challenge = self.id, ntlm(2)
        self.answer(SETUP, struct.pack('<HHHH', 9, 0, 72, len(challenge)) + challenge, MORE_PROCESSING)
        self.exchange(SETUP, setup(3), struct.pack('<HHHH', 9, self.flags, 72, len(blob)) + blob)

    def ask(self, command, body):
        if command == self.leaves:
            raise Refused
        return super().ask(command, body)

    def exchange(self, command, request, response, response_tree=None):
        asked, status = self.ask(command, request), self.says.get(command, 0)
        if status is None:
            raise Refused(asked)
        kept = response if command == SETUP and status and len(response) > 8 else ERROR
        number = self.answer(command, kept if status else response, status, response_tree)
        if status:
            raise Refused(number)
        return number

    def fails(self, status, command=IOCTL):
        """Answers what was asked last so."""
        return self.answer(command, ERROR, status)

    def pending(self):
        """STATUS_PENDING: the answer comes later; SMB2_FLAGS_ASYNC_COMMAND and SMB2_FLAGS_SERVER_TO_REDIR."""
        body = bytearray(self.pdu(IOCTL, ERROR, True, PENDING, None, self.asked))
        body[4 + 16:4 + 20], body[4 + 32:4 + 40] = struct.pack('<I', 3), struct.pack('<Q', 5)
        return self.tcp.send(1, bytes(body))


# --- DCE/RPC ---------------------------------------------------------------------------------------------------------

def contexts(rpc, syntaxes):
    out = struct.pack('<HHIB3x', 4280, 4280, 0, len(syntaxes))
    for n, (text, version) in enumerate(syntaxes):
        out += struct.pack('<HBx', n, 1) + rpc.uuid(rpc.interface[0]) + struct.pack('<I', rpc.interface[1]) + rpc.uuid(text) + struct.pack('<I', version)
    return out


def with_auth(rpc, kind, body, token):
    """A PDU with the logon's token, where the protocol has a security provider: [MS-RPCE] 2.2.2.11."""
    if not hasattr(rpc, 'auth_type'):
        return rpc.pdu(kind, body, rpc.call_id)
    body += bytes(-len(body) % 4)
    return rpc.pdu(kind, body + struct.pack('BBBBI', rpc.auth_type, rpc.level, 0, 0, 0) + ntlm(token), rpc.call_id, auth=len(ntlm(token)))


def bind(rpc, *results, nak=None, alter=False, answers=True):
    """A bind (or alter_context) of as many contexts as there are results, or one that is refused as a whole, or not answered."""
    results = results or (ACCEPTED,)
    syntaxes = [NDR, NDR64, ('6cb71c2c-9812-4540-0300-000000000000', 1)][:len(results)]
    asked = rpc.transport.to_server([with_auth(rpc, ALTER if alter else BIND, contexts(rpc, syntaxes), 1)])
    if not answers:
        raise Refused(asked)
    if nak is not None:
        number = rpc.transport.to_client([rpc.pdu(BIND_NAK, struct.pack('<HBBB3x', nak, 1, 5, 0), rpc.call_id)])
        raise Refused(number)
    name = b'' if alter else b'\\PIPE\\winreg\0'
    body = struct.pack('<HHIH', 4280, 4280, 0x1234, len(name)) + name
    body += bytes(-(len(body)) % 4) + struct.pack('<B3x', len(results))
    for (result, reason), (text, version) in zip(results, syntaxes):
        body += struct.pack('<HH', result, reason) + (bytes(20) if result else rpc.uuid(text) + struct.pack('<I', version))
    number = rpc.transport.to_client([with_auth(rpc, ALTER_ACK if alter else BIND_ACK, body, 2)])
    if hasattr(rpc, 'auth_type') and not alter:
        rpc.transport.to_server([with_auth(rpc, AUTH3, bytes(4), 3)])
    rpc.call_id += 1
    if ACCEPTED not in results:
        raise Refused(number)
    return number


def tower(interface, address, port):
    """Floors of ncacn_ip_tcp, C706 appendix L."""
    def floor(left, right):
        return struct.pack('<H', len(left)) + left + struct.pack('<H', len(right)) + right
    floors = [floor(b'\r' + uuid.UUID(text).bytes_le + struct.pack('<H', version), bytes(2)) for text, version in (interface, NDR)]
    floors += [floor(b'\x0b', bytes(2)), floor(b'\7', struct.pack('>H', port)), floor(b'\t', packed(address))]
    body = struct.pack('<H', len(floors)) + b''.join(floors)
    return struct.pack('<II', len(body), len(body)) + body + bytes(-len(body) % 4)


def ask_mapper(capture, server, port=49671, interface=PERFLIB, status=0, client='192.0.2.10', client_port=50900, fault=None):
    """ept_map of an interface: its port, or a status, or a fault. -> frame of the answer"""
    tcp = Link(capture, 135, client_port, client=client, server=server)
    rpc = Rpc(tcp, EPM)
    rpc.bind()
    rpc.request(3, struct.pack('<I16s', 1, bytes(16)) + struct.pack('<I', 2) + tower(interface, '0.0.0.0', 135) + bytes(20) + struct.pack('<I', 4))
    found = [tower(interface, server, port)] if not status else []
    number = rpc.fault(fault) if fault is not None else rpc.response(
        bytes(20) + struct.pack('<IIII', len(found), 4, 0, len(found)) + b''.join(struct.pack('<I', 3) + x for x in found) + struct.pack('<I', status))
    tcp.close()
    return number
