#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""corpus.py FOLDER: what the fuzzers begin with, from the generator's captures: FOLDER/stubs, /table."""

import hashlib
import os
import sys
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from gen.damage import DAMAGE  # noqa: E402
from gen.hkpd_scenario import SESSIONS  # noqa: E402
from gen.pcap import PERFLIB, Rpc  # noqa: E402
from gen.scenarios import SCENARIOS  # noqa: E402

# session.h
TREE_FIRST, LABELS, BACKWARD, STATISTICS = 1, 2, 4, 16
WINREG, RESPONSE, NDR64, BIG_ENDIAN, FAULT = 1, 2, 4, 8, 0x80
LARGEST = 24000


class Listener:
    """Notes the calls of every RPC connection while captures are made."""

    def __init__(self):
        self.pdus, self.servers = [], {}

    def note(self, rpc, kind, second, stub):
        server = self.servers.setdefault(getattr(rpc.transport, 'server', None), len(self.servers) % 4)
        kind |= (WINREG if rpc.interface != PERFLIB else 0) | (NDR64 if rpc.ndr64 else 0)
        kind |= (BIG_ENDIAN if rpc.order == '>' else 0) | server << 4
        self.pdus.append((kind, second, bytes(stub)))

    def __enter__(self):
        self.kept = Rpc.request_pdus, Rpc.response_pdus, Rpc.fault
        request, response, fault = self.kept

        def heard_request(rpc, opnum, stub, *more, **how):
            self.note(rpc, 0, opnum & 0xFF, stub)
            return request(rpc, opnum, stub, *more, **how)

        def heard_response(rpc, stub, *more, **how):
            self.note(rpc, RESPONSE, 0, stub)
            return response(rpc, stub, *more, **how)

        def heard_fault(rpc, code):
            self.note(rpc, FAULT, 0, b'')
            return fault(rpc, code)
        Rpc.request_pdus, Rpc.response_pdus, Rpc.fault = heard_request, heard_response, heard_fault
        return self

    def __exit__(self, *_):
        Rpc.request_pdus, Rpc.response_pdus, Rpc.fault = self.kept


def encode(pdus, how=LABELS | BACKWARD):
    return bytes([how]) + b''.join(bytes([kind, second]) + len(stub).to_bytes(2, 'little') + stub
                                   for kind, second, stub in pdus if len(stub) < LARGEST)


def sessions(pdus):
    """The whole, and pieces of a handful of calls each: small inputs are what a fuzzer is quick with."""
    yield encode(pdus)[:4 * LARGEST]
    for i in range(0, len(pdus), 8):
        for how in (0, STATISTICS, TREE_FIRST | LABELS, LABELS | BACKWARD):
            yield encode(pdus[max(0, i - 2):i + 8], how)
    for i in range(0, len(pdus) - 1, 2):
        yield encode(pdus[i:i + 2])


def buffers_of(pdus):
    """What looks like counter data or a PERF_DATA_BLOCK in the stubs."""
    for kind, _, stub in pdus:
        at = stub.find('PERF'.encode('utf-16-le'))
        if kind & WINREG and at >= 0:
            yield stub[at:]
        if not kind & WINREG and kind & RESPONSE and not kind & (NDR64 | BIG_ENDIAN) and len(stub) > 72:
            size = int.from_bytes(stub[:4], 'little')
            if stub[20:24] == stub[:4] and len(stub) >= 20 + size:
                yield stub[20:20 + size]


def write(folder, target, data):
    place = folder / target
    place.mkdir(parents=True, exist_ok=True)
    (place / hashlib.sha1(data).hexdigest()[:16]).write_bytes(data)


def main(folder):
    for make in (*SCENARIOS.values(), *DAMAGE.values(), *SESSIONS.values()):
        with Listener() as heard:
            make()
        for data in sessions(heard.pdus):
            write(folder, 'stubs', data)
        for data in buffers_of(heard.pdus):
            write(folder, 'table', data)


if __name__ == '__main__':
    main(Path(sys.argv[1]))
