# SPDX-License-Identifier: GPL-2.0-or-later
"""A tshark that was started once and does the work of many: most of what a small capture costs is tshark's start.

What it does before it reads its arguments is the same each time. forks.c lets it wait there; each run is a fork of it, whose
state is that of a tshark just started. Where that cannot be (no compiler, tshark.exe, options that are read sooner), or with
PCQ_NO_FORKS=1, tshark is started.
"""

import array
import fcntl
import os
import resource
import selectors
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

SOURCE = Path(__file__).with_suffix('.c')
MOST = 1 << 16              # bytes of arguments
AT_ONCE = 4                 # wait
AT_A_TIME = 1 << 20         # bytes of output
# What is read when everything is registered; '-r' sooner, so the waiting tshark has one that is then made to lead elsewhere
READ_LATE = {'-r', '-2', '-c', '-d', '-e', '-j', '-l', '-n', '-o', '-q', '-K', '-w', '-z', '-E', '-J', '-N', '-R', '-T', '-Y',
             '--disable-protocol', '--export-objects'}
# so are these, and some with their value, which the waiting one is given
WITH_VALUE = {'-C', '-X'}
READ_SOONER = {'-V', '-x', *WITH_VALUE}


def can_be(program):
    """Does it start once here?"""
    return not program.endswith('.exe') and not os.environ.get('PCQ_NO_FORKS') and shutil.which('cc') is not None


class Forks:
    """Runs a program that is tshark, in whatever surroundings; those that come again have one that waits."""

    def __init__(self, program, folder):
        self.program, self.folder, self.library = program, folder, None
        self.before, self.waiting = set(), {}

    def run(self, args, env, timeout):
        """As subprocess.run would"""
        waiting = self.waits(args, env)
        if waiting:
            return waiting.run(args, timeout)
        return subprocess.run([self.program, *args], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)

    def waits(self, args, env, is_new=False):
        """-> the Waiting that can run this, or None: none can, or these surroundings are new, and that is not allowed"""
        options = {a for a in args if a.startswith('-') and a != '-'}
        if args.count('-r') != 1 or '-' in args or not options <= READ_LATE | READ_SOONER or len(' '.join(args).encode()) > MOST:
            return None
        sooner = [a for before, a in zip(['', *args], args) if a in READ_SOONER or before in WITH_VALUE]
        key = tuple(sooner), tuple(sorted(env.items()))
        if key not in self.before and not is_new or not self.can_wait():
            self.before.add(key)
            return None
        if key not in self.waiting:
            while len(self.waiting) >= AT_ONCE:
                self.end(next(iter(self.waiting)))
            self.waiting[key] = Waiting(self.program, sooner, env, self.library)
        return self.waiting[key] if self.waiting[key].can_wait else None

    def can_wait(self):
        if self.library is None:
            self.library = self.folder / 'forks.so'
            if can_be(self.program):
                subprocess.run(['cc', '-O', '-shared', '-fPIC', '-Wall', '-Werror', '-o', self.library, SOURCE, '-ldl'], check=True)
        return self.library.exists()

    def end(self, *keys):
        for key in keys or list(self.waiting):
            self.waiting.pop(key).end()


class Waiting:
    """A tshark that waits, with the path that its capture will have"""

    def __init__(self, program, sooner, env, library):
        self.program = program
        self.socket, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.path = library.with_name('capture%d' % self.socket.fileno())
        env = dict(env, LD_PRELOAD=str(library), PCQ_FORKS=str(its.fileno()))
        with its:
            self.process = subprocess.Popen([program, '-r', self.path, *sooner], env=env, pass_fds=[its.fileno()],
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.can_wait = self.numbers() == [0]

    def end(self):
        self.socket.close()
        self.process.wait()

    def numbers(self):
        """What it says; nothing: it has ended"""
        return array.array('i', self.socket.recv(64)).tolist()

    def begin(self, args, out, err):
        """-> the process that runs them"""
        self.path.unlink(missing_ok=True)
        self.path.symlink_to(os.path.abspath(args[args.index('-r') + 1]))
        message = b''.join(os.fsencode(w) + b'\0' for w in [os.getcwd(), *args])
        socket.send_fds(self.socket, [message], [out, err])
        child, = self.numbers()
        return child

    def run(self, args, timeout):
        pipes = [os.pipe(), os.pipe()]
        fcntl.fcntl(pipes[0][0], fcntl.F_SETPIPE_SZ, AT_A_TIME)
        child = self.begin(args, *(end for _, end in pipes))
        for _, end in pipes:
            os.close(end)
        try:
            texts = read_all([start for start, _ in pipes], timeout)
        except subprocess.TimeoutExpired:
            os.kill(child, signal.SIGKILL)
            raise
        finally:
            status, *_ = self.numbers()
            for start, _ in pipes:
                os.close(start)
        return subprocess.CompletedProcess([self.program, *args], os.waitstatus_to_exitcode(status), *texts)

    def cost(self, args, limits):
        """(CPU seconds, megabytes, exit status) of a run whose output nobody reads; limits: {RLIMIT_…: how much}"""
        with open(os.devnull, 'wb') as out:
            child = self.begin(args, out.fileno(), out.fileno())
        try:
            for limit, most in limits.items():
                resource.prlimit(child, limit, (most, most))
        except ProcessLookupError:              # it has ended already, with less than that
            pass
        finally:                                # in any case what it says is read: the next run shall not take it for its own
            status, milliseconds, kilobytes = self.numbers()
        return milliseconds / 1000, kilobytes / 1024, os.waitstatus_to_exitcode(status)


def read_all(pipes, timeout):
    """What comes out of each"""
    texts, until = {pipe: [] for pipe in pipes}, time.monotonic() + timeout
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired('tshark', timeout)
            for key, _ in selector.select(until - time.monotonic()):
                texts[key.fd].append(os.read(key.fd, AT_A_TIME))
                if not texts[key.fd][-1]:
                    selector.unregister(key.fd)
    return [b''.join(texts[pipe]) for pipe in pipes]
