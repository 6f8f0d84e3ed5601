# SPDX-License-Identifier: GPL-2.0-or-later
"""Capturing a conversation, and reading its stubs back with stock tshark to prove the capture good."""

import os
import subprocess
import tempfile
import time
from collections import namedtuple

REQUEST, RESPONSE, FAULT = 0, 2, 3          # DCE/RPC packet types

# One request or response as tshark sees it
Stub = namedtuple('Stub', 'frame time stream kind opnum call_id data')


class Sniffer:
    """with Sniffer(path, ports): what happens on loopback meanwhile goes to a file."""

    def __init__(self, path, ports):
        self.path = path
        self.filter = ' or '.join('tcp port %d' % port for port in ports)

    def __enter__(self):
        self.process = subprocess.Popen(
            ['dumpcap', '-q', '-P', '-i', 'lo', '-B', '64', '-f', self.filter, '-w', self.path],
            stderr=subprocess.PIPE)
        for line in self.process.stderr:
            if b'File' in line:                 # "File: NAME" is printed once the capture runs
                break
        time.sleep(0.2)
        return self

    def __exit__(self, *_):
        time.sleep(0.5)
        self.process.terminate()
        self.process.wait()
        os.chmod(self.path, 0o644)


def stock_tshark(capture, options, fields, display_filter):
    """Rows of field values, 'a;b' where a field occurs twice in a frame."""
    command = ['tshark', '-r', capture, *options, '-Y', display_filter, '-T', 'fields', '-E', 'separator=/t',
               '-E', 'aggregator=;']
    for field in fields:
        command += ['-e', field]
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, 'HOME': home, 'TZ': 'UTC', 'LC_ALL': 'C.UTF-8'}
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                             env=environment).stdout
    return [line.split('\t') for line in out.splitlines()]


def read_stubs(capture, options):
    """Every stub of the capture in order. tshark shows a fragmented one whole, at its last fragment."""
    fields = ('frame.number', 'frame.time_epoch', 'tcp.stream', 'dcerpc.pkt_type', 'dcerpc.opnum', 'dcerpc.cn_call_id',
              'dcerpc.cn_flags.last_frag', 'dcerpc.decrypted_stub_data', 'dcerpc.stub_data')
    stubs = []
    for row in stock_tshark(capture, options, fields, 'dcerpc.pkt_type in {0, 2, 3}'):
        frame, moment, stream, kind, opnum, call_id, last, opened, plain = row
        if ';' in kind + opened + plain:
            raise SystemExit('frame %s holds more than one PDU' % frame)
        if last == '1':
            stubs.append(Stub(int(frame), float(moment), stream, int(kind), int(opnum), call_id,
                              bytes.fromhex(opened or plain)))
    return stubs


def pair_with_calls(stubs, calls):
    """[(request Stub, response Stub, Call)] in the order of the requests.

    Samba's client lets a verification trailer follow the first request stub ([MS-RPCE] 2.2.2.13), so a request need
    only begin with what the model was given.
    """
    responses = {(stub.stream, stub.call_id): stub for stub in stubs if stub.kind != REQUEST}
    waiting, pairs = list(calls), []
    for stub in stubs:
        if stub.kind != REQUEST:
            continue
        call = next((call for call in waiting
                     if call.opnum == stub.opnum and stub.data.startswith(call.request)), None)
        if call is None:
            raise SystemExit('frame %d: no call has this request stub: %s' % (stub.frame, stub.data[:64].hex()))
        waiting.remove(call)
        answer = responses[stub.stream, stub.call_id]
        if answer.kind == RESPONSE and answer.data != call.response:
            raise SystemExit('frame %d: not the response stub that was sent' % answer.frame)
        pairs.append((stub, answer, call))
    if waiting:
        raise SystemExit('%d calls are not in the capture, opnum %d first' % (len(waiting), waiting[0].opnum))
    return pairs
