# SPDX-License-Identifier: GPL-2.0-or-later
"""The same client interface on impacket: no verification trailer, other padding, PDUs split over WRITEs and READs."""

from impacket.dcerpc.v5 import rpcrt, transport
from impacket.uuid import uuidtup_to_bin

from machine import DOMAIN, PASSWORD, USER

PERFLIB_V2 = 'da5a86c5-12c2-4943-ab30-7f74a813d853', '1.0'


def open_winreg_pipe(interface, level, piece=0, dialect=None):
    """A bound DCE/RPC connection on the winreg pipe. piece: bytes in one SMB WRITE or READ, 0 for whole fragments.
    level: an RPC_C_AUTHN_LEVEL; None for a bind without authentication."""
    pipe = transport.DCERPCTransportFactory('ncacn_np:127.0.0.1[\\pipe\\winreg]')
    pipe.set_credentials(USER, PASSWORD, DOMAIN)
    if dialect is not None:
        pipe.preferred_dialect(dialect)
    rpc = pipe.get_dce_rpc()
    if level:
        rpc.set_credentials(*pipe.get_credentials())
        rpc.set_auth_level(level)
    rpc.connect()
    rpc.bind(uuidtup_to_bin(interface))
    if piece:
        # Not before the bind: impacket cannot read a bind_ack in pieces
        pipe._max_send_frag = pipe._max_recv_frag = piece
    return rpc


class ImpacketClient:
    def __init__(self, piece=0, dialect=None):
        self.rpc = open_winreg_pipe(PERFLIB_V2, rpcrt.RPC_C_AUTHN_LEVEL_PKT_PRIVACY, piece, dialect)

    def call(self, opnum, stub):
        self.rpc.call(opnum, stub)
        return self.rpc.recv()

    def close(self):
        self.rpc.disconnect()
