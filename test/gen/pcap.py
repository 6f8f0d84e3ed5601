# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures without a network: Ethernet, IP, TCP, SMB2 and DCE/RPC written into a classic pcap file.

    capture = Capture()
    rpc = Rpc(Tcp(capture))             # or Rpc(Pipe(Tcp(capture, port=445)))
    rpc.bind()
    frame = rpc.request(opnum, stub)    # the number of the frame that completes the PDU
    frame = rpc.response(stub)
"""

import functools
import ipaddress
import struct
import uuid

PERFLIB = ('da5a86c5-12c2-4943-ab30-7f74a813d853', 1)
WINREG = ('338cd001-2244-31f1-aaaa-900038001003', 1)
NDR = ('8a885d04-1ceb-11c9-9fe8-08002b104860', 2)
NDR64 = ('71710533-beba-4937-8319-b5dbef9ccc36', 1)

CLIENT, SERVER = ('192.0.2.10', '2001:db8::10'), ('192.0.2.20', '2001:db8::20')
MACS = bytes.fromhex('020000000001'), bytes.fromhex('020000000002')
MTU_DATA = 1440


class Capture:
    """Frames in the order they are written, 1 ms apart."""

    def __init__(self, start=1790703143):
        self.frames, self.now, self.cut, self.faults = [], start * 1000000, {}, set()

    @classmethod
    def of_file(cls, path):
        """What write() wrote; what was not captured of a frame is zero."""
        data, at, out = path.read_bytes(), 24, cls()
        while at < len(data):
            seconds, microseconds, size, length = struct.unpack_from('<4I', data, at)
            out.frames.append((seconds * 1000000 + microseconds, data[at + 16:at + 16 + size].ljust(length, b'\0')))
            if size < length:
                out.snap(len(out.frames), size)
            at += 16 + size
        return out

    def add(self, frame):
        self.frames.append((self.now, frame))
        self.now += 1000
        return len(self.frames)

    def snap(self, number, length):
        """Only so many bytes of that frame were captured."""
        self.cut[number] = length

    def file(self, snaplen=None):
        """The capture as the bytes of a pcap file."""
        out = [struct.pack('<IHHiIII', 0xA1B2C3D4, 2, 4, 0, 0, 0x40000, 1)]
        for i, (when, frame) in enumerate(self.frames, 1):
            part = frame[:min(self.cut.get(i, len(frame)), snaplen or len(frame))]
            out.append(struct.pack('<4I', when // 1000000, when % 1000000, len(part), len(frame)) + part)
        return b''.join(out)

    def write(self, path, **kw):
        with open(path, 'wb') as f:
            f.write(self.file(**kw))
        return str(path)


def checksum(data):
    if len(data) % 2:
        data += b'\0'
    # a sum with the carry added is the remainder by 0xFFFF, which Python takes of all bytes at once
    number = int.from_bytes(data, 'big')
    return 0xFFFF - (number % 0xFFFF or (0xFFFF if number else 0))


@functools.cache
def packed(address):
    return ipaddress.ip_address(address).packed


class Tcp:
    """One connection. send() cuts what it is given into segments and returns the frame that completes it."""

    def __init__(self, capture, port=49671, client_port=50001, v6=False, client=None, server=None, mss=MTU_DATA, seq=1000):
        self.capture, self.v6, self.mss = capture, v6, mss
        at = int(v6)
        self.ends = ((client or CLIENT[at], client_port), (server or SERVER[at], port))
        self.seq, self.window = [seq, 500000], [0xFFFF, 0xFFFF]
        self.ip_id = 1
        self.segment(0, b'', 0x02)
        self.segment(1, b'', 0x12)
        self.segment(0, b'', 0x10)

    def frame(self, side, data, flags, seq, ack):
        """The bytes of one Ethernet frame; side 0 is the client."""
        (src, sport), (dst, dport) = self.ends[side], self.ends[1 - side]
        a, b = packed(src), packed(dst)
        tcp = struct.pack('>HHIIBBHHH', sport, dport, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, 0x50, flags, self.window[side],
                          0, 0)
        pseudo = (a + b + struct.pack('>I3xB', len(tcp) + len(data), 6)) if self.v6 else (
            a + b + struct.pack('>BBH', 0, 6, len(tcp) + len(data)))
        tcp = tcp[:16] + struct.pack('>H', checksum(pseudo + tcp + data)) + tcp[18:]
        if self.v6:
            ip = struct.pack('>IHBB', 6 << 28, len(tcp) + len(data), 6, 64) + a + b
        else:
            ip = struct.pack('>BBHHHBBH', 0x45, 0, 20 + len(tcp) + len(data), self.ip_id & 0xFFFF, 0x4000, 64, 6, 0) + a + b
            ip = ip[:10] + struct.pack('>H', checksum(ip)) + ip[12:]
            self.ip_id += 1
        return MACS[1 - side] + MACS[side] + (b'\x86\xdd' if self.v6 else b'\x08\0') + ip + tcp + data

    def segment(self, side, data, flags):
        ack = 0 if flags == 0x02 else self.seq[1 - side]
        number = self.capture.add(self.frame(side, data, flags, self.seq[side], ack))
        self.seq[side] += len(data) + (1 if flags & 3 else 0)
        return number

    def send(self, side, data, lose=(), again=(), order=None, whole=False):
        """lose: segments that are not in the capture; again: segments that are sent twice; order: the order in
        which the segments come; whole: one segment whatever its size. All count from 0."""
        step = max(len(data), 1) if whole else self.mss
        pieces = [data[i:i + step] for i in range(0, len(data), step)]
        start, ack = self.seq[side], self.seq[1 - side]
        complete = 0
        for i in order or range(len(pieces)):
            if i in lose:
                continue
            flags = 0x18 if i == len(pieces) - 1 else 0x10
            args = side, pieces[i], flags, start + i * step, ack
            complete = self.capture.add(self.frame(*args))
            if i in again:
                self.capture.add(self.frame(*args))
        self.seq[side] = start + len(data)
        return complete

    def skip(self, side, data):
        """Data that went by before or beside the capture."""
        self.seq[side] += len(data)

    def to_server(self, pdus, **how):
        return self.send(0, b''.join(pdus), **how)

    def to_client(self, pdus, **how):
        return self.send(1, b''.join(pdus), **how)

    def close(self):
        self.segment(0, b'', 0x11)
        self.segment(1, b'', 0x11)
        self.segment(0, b'', 0x10)


BUFFER_OVERFLOW = 0x80000005
SESSION = 0x1122334455667788


class Smb2:
    """A session with IPC$ connected; pipes are opened on it. Messages are the least that SMB 2.1 needs. mode: the server's SecurityMode"""

    mode = 1

    def __init__(self, tcp, session=SESSION, tree=7, called='SRV01'):
        self.tcp, self.session, self.tree, self.message = tcp, 0, 0, 0
        self.negotiate()
        self.session = session
        self.exchange(1, struct.pack('<HBBIIHHQ', 25, 0, 1, 0, 0, 88, 0, 0), struct.pack('<HHHH', 9, 0, 72, 0))
        self.connect('\\\\%s\\IPC$' % called, tree)

    def negotiate(self):
        guid = uuid.UUID('5d3e1f0a-6b0c-4a52-9d0e-0c0ffee00002').bytes_le
        self.exchange(0, struct.pack('<HHHHI16sQH', 36, 1, 1, 0, 0, guid, 0, 0x0210),
                      struct.pack('<HHHH16sIIIIQQHHI', 65, self.mode, 0x0210, 0, guid, 4, 65536, 65536, 65536,
                                  134351767437550592, 0, 128, 0, 0))

    def connect(self, share, tree=7):
        path, self.tree = share.encode('utf-16-le'), 0
        self.exchange(3, struct.pack('<HHHH', 9, 0, 72, len(path)) + path,
                      struct.pack('<HBBIII', 16, 2 if share.endswith('$') else 1, 0, 0x30, 0, 0x1F01FF), response_tree=tree)
        self.tree = tree

    def pdu(self, command, body, response=False, status=0, tree=None, message=None):
        head = struct.pack('<4sHHIHHIIQIIQ16s', b'\xfeSMB', 64, 1, status, command, 1, int(response), 0,
                           self.message if message is None else message, 0xFEFF,
                           self.tree if tree is None else tree, self.session, bytes(16))
        return struct.pack('>I', len(head) + len(body)) + head + body

    def ask(self, command, body):
        """-> frame of the request; the message id is used by the next answer()"""
        number = self.tcp.send(0, self.pdu(command, body))
        self.asked = self.message
        self.message += 1
        return number

    def answer(self, command, body, status=0, tree=None):
        return self.tcp.send(1, self.pdu(command, body, True, status, tree, self.asked))

    def exchange(self, command, request, response, response_tree=None):
        self.ask(command, request)
        return self.answer(command, response, tree=response_tree)


class Pipe:
    """A named pipe as transport: WRITE and READ, or FSCTL_PIPE_TRANSCEIVE; read_size cuts PDUs over several READs."""

    def __init__(self, smb, name='winreg', transceive=True, read_size=65536, write_size=65536, file_id=0xF11E0001):
        self.smb, self.transceive, self.read_size, self.write_size = smb, transceive, read_size, write_size
        self.file = struct.pack('<QQ', file_id, file_id ^ 0xFFFF)
        self.waiting = False
        data = name.encode('utf-16-le')
        create = struct.pack('<HBBIQQIIIIIHHII', 57, 0, 0, 2, 0, 0, 0x12019F, 0, 3, 1, 0, 120, len(data), 0, 0) + data
        created = struct.pack('<HBBI4QQQII16sII', 89, 0, 0, 1, 0, 0, 0, 0, 4096, 0, 0x80, 0, self.file, 0, 0)
        smb.exchange(5, create, created)

    def write(self, data):
        body = struct.pack('<HHIQ16sIIHHI', 49, 112, len(data), 0, self.file, 0, 0, 0, 0, 0) + data
        number = self.smb.ask(9, body)
        self.smb.answer(9, struct.pack('<HHIIHH', 17, 0, len(data), 0, 0, 0))
        return number

    def read_request(self):
        return struct.pack('<HBBIQ16sIIIHHB', 49, 0x50, 0, self.read_size, 0, self.file, 0, 0, 0, 0, 0, 0)

    def read(self, data, more):
        self.smb.ask(8, self.read_request())
        return self.smb.answer(8, struct.pack('<HBBIII', 17, 80, 0, len(data), 0, 0) + data,
                               BUFFER_OVERFLOW if more else 0)

    def to_server(self, pdus):
        parts = [p[i:i + self.write_size] for p in pdus for i in range(0, len(p), self.write_size)]
        last = parts.pop() if self.transceive else None
        number = 0
        for p in parts:
            number = self.write(p)
        if last is not None:
            body = struct.pack('<HHI16sIIIIIIII', 57, 0, 0x11C017, self.file, 120, len(last), 0, 0, 0, self.read_size,
                               1, 0) + last
            number = self.smb.ask(11, body)
            self.waiting = True
        return number

    def to_client(self, pdus):
        number = 0
        for p in pdus:
            parts = [p[i:i + self.read_size] for i in range(0, len(p), self.read_size)]
            for i, part in enumerate(parts):
                more = i + 1 < len(parts)
                if self.waiting:
                    body = struct.pack('<HHI16sIIIIII', 49, 0, 0x11C017, self.file, 112, 0, 112, len(part), 0, 0)
                    number = self.smb.answer(11, body + part, BUFFER_OVERFLOW if more else 0)
                    self.waiting = False
                else:
                    number = self.read(part, more)
        return number

    def close(self):
        self.smb.exchange(6, struct.pack('<HHI16s', 24, 0, 0, self.file),
                          struct.pack('<HHI4QQQI', 60, 0, 0, 0, 0, 0, 0, 0, 0, 0x80))


REQUEST, RESPONSE, FAULT, BIND, BIND_ACK = 0, 2, 3, 11, 12
FIRST, LAST = 1, 2
TRAILER = bytes.fromhex('8ae3137102f43671')


def verification_trailer(stub):
    """[MS-RPCE] 2.2.2.13: the stub, padded to 4, and a trailer with one bitmask command."""
    return stub + bytes(-len(stub) % 4) + TRAILER + struct.pack('<HHI', 0x4001, 4, 1)


class Rpc:
    """Connection-oriented DCE/RPC for one interface and context over a transport."""

    offered_before = ()     # [(interface, its transfer syntaxes)], of contexts 0, 1, ...
    group = 0x1234          # association group that the server puts it into

    def __init__(self, transport, interface=PERFLIB, order='<', ndr64=False, max_frag=4280, context=0):
        self.transport, self.interface, self.order, self.ndr64 = transport, interface, order, ndr64
        self.max_frag, self.context, self.call_id = max_frag, context, 1

    def pdu(self, kind, body, call_id, flags=FIRST | LAST, auth=0):
        drep = b'\x10\0\0\0' if self.order == '<' else bytes(4)
        return struct.pack('BBBB', 5, 0, kind, flags) + drep + struct.pack(
            self.order + 'HHI', 16 + len(body), auth, call_id) + body

    def uuid(self, text):
        g = uuid.UUID(text)
        return g.bytes_le if self.order == '<' else g.bytes

    def bind(self):
        syntax, version = NDR64 if self.ndr64 else NDR
        o = self.order
        head = struct.pack(o + 'HHI', self.max_frag, self.max_frag, 0 if not self.context else self.group)
        offers = [*enumerate(self.offered_before), (self.context, (self.interface, [(syntax, version)]))]
        offer = struct.pack(o + 'B3x', len(offers))
        for context, (interface, syntaxes) in offers:
            offer += struct.pack(o + 'HBx', context, len(syntaxes))
            offer += b''.join(self.uuid(text) + struct.pack(o + 'I', number) for text, number in [interface, *syntaxes])
        self.transport.to_server([self.pdu(BIND, head + offer, self.call_id)])
        name = b'\\PIPE\\winreg\0'
        address = struct.pack(o + 'H', len(name)) + name
        address += bytes(-(len(address) + 24) % 4)
        result = struct.pack(o + 'B3xHH', 1, 0, 0) + self.uuid(syntax) + struct.pack(o + 'I', version)
        ack = struct.pack(o + 'HHI', self.max_frag, self.max_frag, self.group) + address + result
        number = self.transport.to_client([self.pdu(BIND_ACK, ack, self.call_id)])
        self.call_id += 1
        return number

    room_of = 0, 8          # beside the header, and a multiple of this: what a fragment has room for
    auth = 0                # bytes of the verifier

    def part(self, kind, part):
        """As it stands in a fragment"""
        return part

    def fragments(self, kind, head, stub, call_id):
        beside, multiple = self.room_of
        room = (self.max_frag - 24 - beside) // multiple * multiple
        parts = [stub[i:i + room] for i in range(0, len(stub), room)] or [b'']
        out, at = [], 0
        for i, part in enumerate(parts):
            flags = (FIRST if i == 0 else 0) | (LAST if i + 1 == len(parts) else 0)
            out.append(self.pdu(kind, struct.pack(self.order + 'I', len(stub) - at) + head + self.part(kind, part), call_id, flags, self.auth))
            at += len(part)
        return out

    def request_pdus(self, opnum, stub, trailer=False, call_id=None):
        if trailer:
            stub = verification_trailer(stub)
        return self.fragments(REQUEST, struct.pack(self.order + 'HH', self.context, opnum), stub,
                              call_id or self.call_id)

    def response_pdus(self, stub, call_id=None):
        return self.fragments(RESPONSE, struct.pack(self.order + 'HBx', self.context, 0), stub, call_id or self.call_id)

    def request(self, opnum, stub, trailer=False, **how):
        return self.transport.to_server(self.request_pdus(opnum, stub, trailer), **how)

    def response(self, stub, **how):
        number = self.transport.to_client(self.response_pdus(stub), **how)
        self.call_id += 1
        return number

    def fault(self, code):
        body = struct.pack(self.order + 'IHBxI4x', 32, self.context, 0, code)
        number = self.transport.to_client([self.pdu(FAULT, body, self.call_id)])
        below = self.transport
        while not hasattr(below, 'capture'):
            below = below.smb if hasattr(below, 'smb') else below.tcp
        below.capture.faults.add(number)
        self.call_id += 1
        return number


class SealedRpc(Rpc):
    """As NTLM seals it, for nobody's key: [MS-RPCE] 2.2.2.11, [MS-NLMP] 2.2.2.9.1."""

    auth_type, level, auth, room_of = 10, 6, 16, (8 + 16, 16)

    def __init__(self, *args, **kw):
        super().__init__(*args, **kw)
        self.sequences = {}

    def token(self, number):
        return struct.pack('<IQI', 1, number * 0x9E3779B97F4A7C15 % 2 ** 64, number)

    @staticmethod
    def hide(data, number):
        return bytes((b * 167 + 13 * n + number) % 256 for n, b in enumerate(data))

    def part(self, kind, part):
        padding = -len(part) % 16
        number = self.sequences[kind] = self.sequences.get(kind, -1) + 1
        trailer = struct.pack('BBBBI', self.auth_type, self.level, padding, 0, 0) + self.token(number)
        return self.hide(part + bytes(padding), number) + trailer


class SignedRpc(SealedRpc):
    """As NTLM signs it: what it says is in clear."""

    level = 5

    @staticmethod
    def hide(data, number):
        return data
