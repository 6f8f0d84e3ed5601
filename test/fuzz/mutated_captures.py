#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""mutated_captures.py SECONDS FOLDER: captures with lying numbers and damaged bytes through tshark, looked at in every
way that there is, and through sharkd in every order. What breaks one of them is kept in FOLDER with the command.
script/dev/fuzz runs this with a sanitized plugin."""

import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / 'protocol')]

from gen import mutate  # noqa: E402
from gen.damage import DAMAGE  # noqa: E402
from gen.hkpd_scenario import SESSIONS  # noqa: E402
from gen.scenarios import SCENARIOS  # noqa: E402
from test_order import Sharkd, check_orders  # noqa: E402

ALL = {**SCENARIOS, **DAMAGE, **SESSIONS}
WAYS = (['-V'], ['-2', '-V'], ['-T', 'json'], ['-2', '-T', 'json'], ['-T', 'pdml'], ['-T', 'fields', '-e', 'pcq.path', '-e',
        'pcq.cooked', '-e', 'pcq.path', '-e', 'pcq.cooked'], ['-Y', 'pcq.cooked > 90 || pcq.cooked > 90'], [])
ORDER = 'order'     # sharkd: forward, backward, shuffled, after a reload
BAD = re.compile(r'Sanitizer|runtime error|GLib-CRITICAL|\*\* ERROR|Dissector bug, protocol (PCQ|HKPD)')


def capture(noise):
    captures = []
    for name in noise.sample(sorted(ALL), 12):
        scenario = mutate.lying(ALL[name]().copy(), noise, noise.choice((0.01, 0.1)))
        captures.append((mutate.damaged(scenario, noise, 0.01) if noise.random() < 0.3 else scenario).capture)
    return mutate.together(captures)


def of_dcerpc(text):
    """What Wireshark itself makes of a frame: whether it is DCE/RPC, and to which frame it belongs."""
    return ':dcerpc' in text, re.findall(r'dcerpc\.(?:request|response)_in == \d+', text)


def is_not_ours(a, b):
    """With lying sizes SMB2 takes a frame for DCE/RPC on one look and not on another."""
    return of_dcerpc(a) != of_dcerpc(b)


def look_in_any_order(path, home):
    """-> (command, what differs), or None"""
    home.mkdir()
    try:
        with Sharkd(SimpleNamespace(env=dict(os.environ)), home) as sharkd:
            check_orders(sharkd, path, is_not_ours)
    except (AssertionError, pytest.fail.Exception) as e:
        return ['sharkd', '-', str(path)], str(e).encode()
    finally:
        shutil.rmtree(home)
    return None


def look(tshark, path, way, statistics_asked, out):
    """-> (command, what it said), or None if all was well"""
    if way == ORDER:
        return look_in_any_order(path, out.with_name('home'))
    args = [tshark, '-r', str(path), *way, *(x for z in statistics_asked for x in ('-z', z))]
    # every program of ours is done in a second or two; a sanitized one takes its time
    try:
        done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    except subprocess.TimeoutExpired:
        return args, b'no end in 120 seconds'
    # a capture that has nothing to export is no finding
    failed = done.returncode not in (0, 1) or done.returncode == 1 and b'was not written' not in done.stdout
    bad = failed or BAD.search(done.stdout.decode('utf-8', 'replace'))
    return (args, done.stdout[-20000:]) if bad else None


def replay(tshark, known, out):
    """What was found before, with all statistics at once. -> the number of findings"""
    found = 0
    for path in sorted((Path(__file__).parent / 'regressions' / 'captures').glob('*.pcap')):
        for way in (['-V'], ['-2', '-T', 'json'], ORDER):
            bad = look(tshark, path, way, known, out)
            if bad:
                found += 1
                print(shlex.join(bad[0]), bad[1].decode('utf-8', 'replace')[-3000:], sep='\n')
    return found


def main(seconds, folder):
    tshark, out = os.environ.get('TSHARK', 'tshark'), folder / 'out'
    folder.mkdir(parents=True, exist_ok=True)
    said = subprocess.run([tshark, '-z', 'help'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode()
    known, end, runs = mutate.statistics(said, folder), time.monotonic() + seconds, 0
    found = replay(tshark, known, out)
    # A seed of 0 is none: another way each time.
    seeds = random.Random(int(os.environ.get('PCQ_FUZZ_SEED', 0)) or None)
    while not runs or time.monotonic() < end:
        seed = seeds.randrange(1 << 32)
        noise = random.Random(seed)
        path = folder / ('captures-%08x.pcap' % seed)
        capture(noise).write(path)
        bad = look(tshark, path, noise.choice([*WAYS, ORDER]), noise.sample(known, min(len(known), 3)), out)
        runs += 1
        if bad:
            found += 1
            path.with_suffix('.log').write_bytes(shlex.join(bad[0]).encode() + b'\n' + bad[1])
        else:
            path.unlink()
    for left in folder.glob('out*'):
        left.unlink()
    print('%-12s %12d runs of tshark, with the statistics %s: %d findings' % ('captures', runs, ' '.join(known), found))
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(int(sys.argv[1]), Path(sys.argv[2])))
