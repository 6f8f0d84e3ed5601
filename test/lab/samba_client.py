# SPDX-License-Identifier: GPL-2.0-or-later
"""A PerflibV2 client: Samba's own libdcerpc with request stubs given as bytes.

Binding, NTLM, SPNEGO and Kerberos, header signing, sealing, verification trailers, fragments and SMB are Samba's. (Its
Python binding has a call for raw requests too, but crashes with any authentication.)

Each client is a process of its own, because Samba's settings are global to a process and so that two clients can be at
work at once: SambaClient starts one and talks to it.
"""

import ctypes
import multiprocessing
import os
import sys
from ctypes import POINTER, byref, c_bool, c_char_p, c_int, c_size_t, c_uint8, c_uint32, c_void_p

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from machine import DOMAIN, FQDN, PASSWORD, REALM, USER  # noqa: E402

PIPE_BINDING = 'ncacn_np:' + FQDN + '[\\pipe\\winreg,%s]'
TCP_BINDING = 'ncacn_ip_tcp:' + FQDN + '[49671,%s]'

PERFLIB_V2 = bytes.fromhex('c5865adac2124349ab307f74a813d853')

# Samba's settings for its client side, if a capture asks for no others
DEFAULTS = {
    'client ipc max protocol': 'SMB3_11',
    'client ipc min protocol': 'SMB2_02',
    'client smb encrypt': 'default',
}


class Refused(Exception):
    """The server, or Samba, did not do it: an NTSTATUS."""


class SambaClient:
    """options: those of a Samba binding string, such as 'ntlm,seal' or 'krb5,seal,bigendian'."""

    def __init__(self, machine, options, pipe=True, kerberos=False, settings=None):
        context = multiprocessing.get_context('spawn')
        self.connection, other = context.Pipe()
        binding = (PIPE_BINDING if pipe else TCP_BINDING) % options
        self.process = context.Process(target=work, daemon=True, args=(
            other, machine.client_configuration, binding, kerberos, {**DEFAULTS, **(settings or {})}))
        self.process.start()
        other.close()
        self.receive()

    def receive(self):
        done, result = self.connection.recv()
        if not done:
            raise Refused(result)
        return result

    def call(self, opnum, stub):
        self.connection.send((opnum, stub))
        return self.receive()

    def close(self):
        self.connection.send(None)
        self.process.join()


def work(connection, configuration, binding, kerberos, settings):
    """The client process: connect, then answer each (opnum, stub) with the response stub."""
    try:
        rpc = LibDcerpc(configuration, settings)
        rpc.connect(binding, kerberos)
        connection.send((True, None))
        for request in iter(connection.recv, None):
            try:
                connection.send((True, rpc.call(*request)))
            except Refused as why:
                connection.send((False, str(why)))
        rpc.close()
    except Refused as why:
        connection.send((False, str(why)))


class InterfaceTable(ctypes.Structure):
    """struct ndr_interface_table of Samba's librpc/ndr/libndr.h; only the head is used by raw calls."""
    _fields_ = [('name', c_char_p), ('uuid', c_uint8 * 16), ('version', c_uint32), ('helpstring', c_char_p),
                ('num_calls', c_uint32), ('calls', c_void_p), ('num_public_structs', c_uint32),
                ('public_structs', c_void_p), ('endpoints', c_void_p), ('authservices', c_void_p)]


class StringList(ctypes.Structure):
    _fields_ = [('count', c_uint32), ('names', POINTER(c_char_p))]


class LibDcerpc:
    """The few functions of Samba's libraries that a raw call needs."""

    SPECIFIED = 6                       # enum credentials_obtained: nothing may override it
    NEVER, ALWAYS = 0, 2                # enum credentials_use_kerberos

    def __init__(self, configuration, settings):
        self.load_libraries()
        self.settings = self.host.loadparm_init_global(False)
        if not self.host.lpcfg_load(self.settings, configuration.encode()):
            raise Refused('cannot read ' + configuration)
        for name, value in settings.items():
            if not self.host.lpcfg_set_cmdline(self.settings, name.encode(), value.encode()):
                raise Refused('no such setting: ' + name)
        self.rpc.dcerpc_init()
        self.table = self.interface()

    def load_libraries(self):
        def load(name):
            return ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)

        def declare(library, name, result, *arguments):
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments

        self.talloc, self.tevent = load('libtalloc.so.2'), load('libtevent.so.0')
        self.util, self.host = load('libsamba-util.so.0'), load('libsamba-hostconfig.so.0')
        self.credentials = load('libsamba-credentials.so.1')
        self.binding, self.rpc = load('libdcerpc-binding.so.0'), load('libdcerpc.so.0')
        pointer, string = c_void_p, c_char_p
        declare(self.talloc, '_talloc_free', c_int, pointer, string)
        declare(self.tevent, 'tevent_loop_allow_nesting', None, pointer)
        declare(self.util, 'samba_tevent_context_init', pointer, pointer)
        declare(self.host, 'loadparm_init_global', pointer, c_bool)
        declare(self.host, 'lpcfg_load', c_bool, pointer, string)
        declare(self.host, 'lpcfg_set_cmdline', c_bool, pointer, string, string)
        declare(self.credentials, 'cli_credentials_init', pointer, pointer)
        declare(self.credentials, 'cli_credentials_set_conf', c_bool, pointer, pointer)
        declare(self.credentials, 'cli_credentials_set_kerberos_state', c_bool, pointer, c_int, c_int)
        for name in ('username', 'password', 'domain', 'realm'):
            declare(self.credentials, 'cli_credentials_set_' + name, c_bool, pointer, string, c_int)
        declare(self.rpc, 'dcerpc_init', c_uint32)
        declare(self.rpc, 'dcerpc_pipe_connect', c_uint32, pointer, pointer, string, pointer, pointer, pointer, pointer)
        declare(self.binding, 'dcerpc_binding_handle_raw_call', c_uint32, pointer, pointer, c_uint32, c_uint32, string,
                c_size_t, pointer, pointer, pointer, pointer)

    def interface(self):
        self.service_names = (c_char_p * 1)(b'host')
        self.services = StringList(1, self.service_names)
        table = InterfaceTable(name=b'PerflibV2', version=1, num_calls=8,
                               authservices=ctypes.cast(ctypes.pointer(self.services), c_void_p))
        table.uuid[:] = PERFLIB_V2
        return table

    def log_on(self, kerberos):
        credentials = self.credentials.cli_credentials_init(None)
        self.credentials.cli_credentials_set_conf(credentials, self.settings)
        for name, value in (('username', USER), ('password', PASSWORD), ('domain', DOMAIN), ('realm', REALM)):
            setter = getattr(self.credentials, 'cli_credentials_set_' + name)
            setter(credentials, value.encode(), self.SPECIFIED)
        self.credentials.cli_credentials_set_kerberos_state(
            credentials, self.ALWAYS if kerberos else self.NEVER, self.SPECIFIED)
        return credentials

    def connect(self, binding, kerberos):
        events = self.util.samba_tevent_context_init(None)
        self.tevent.tevent_loop_allow_nesting(events)       # the exchange with the KDC runs inside another
        self.pipe = c_void_p()
        self.check(self.rpc.dcerpc_pipe_connect(None, byref(self.pipe), binding.encode(), byref(self.table),
                                                self.log_on(kerberos), events, self.settings), binding)
        self.handle = ctypes.cast(self.pipe, POINTER(c_void_p))[0]     # first member of struct dcerpc_pipe

    def call(self, opnum, stub):
        out, length, flags = c_void_p(), c_size_t(), c_uint32()
        self.check(self.binding.dcerpc_binding_handle_raw_call(
            self.handle, None, opnum, 0, stub, len(stub), None, byref(out), byref(length), byref(flags)),
            'opnum %d' % opnum)
        response = ctypes.string_at(out, length.value)
        self.talloc._talloc_free(out, b'')
        return response

    def close(self):
        self.talloc._talloc_free(self.pipe, b'')

    @staticmethod
    def check(status, what):
        if status:
            raise Refused('%s: NTSTATUS 0x%08x' % (what, status))
