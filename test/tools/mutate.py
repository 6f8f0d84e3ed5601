# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts faults into this tree one at a time, builds it and runs the tests that should notice. script/dev/mutate runs it in
a copy.

A line of test/faults.tsv is a fault: between tabs its name, the function or table that it changes (FILE.c:NAME where two
files have one of that name; NAME#2 where the second place is meant), what stands there, what takes its place, the tests that
notice (as pytest takes them, without their folder, or a program of test/unit), and what breaks. Of what stands there the
tokens count, not how its lines are broken.
"""

import argparse
import functools
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).resolve().parents[2]
FAULTS = TOP / 'test' / 'faults.tsv'
BUILD = Path(os.environ.get('BUILD', TOP / 'build'))
# The unit programs, sanitized: what is read beyond the end of bytes is seen there alone.
UNITS = BUILD.with_name('units')
# A change that lets a program run for ever is noticed too; most tests have a shorter limit of their own.
MOST_SECONDS = 1800


class Wrong(Exception):
    """A fault that cannot be put in."""


class Fault(NamedTuple):
    name: str
    what: str
    file: str
    change: object      # function(text) -> text
    tests: list
    units: list


TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|\w+|->|\+\+|--|<<=|>>=|[-+*/%&|^=!<>]=|&&|\|\||<<|>>|\S', re.S)


def tokens_of(text):
    return [m for m in TOKEN.finditer(text) if not m[0].startswith(('/*', '//'))]


def end_of(lines, i):
    """The line behind a function, table or macro that begins here."""
    is_open = False
    while i + 1 < len(lines):
        is_macro, is_open = lines[i].endswith('\\') or lines[i].startswith('#'), is_open or lines[i].endswith('{')
        if re.match(r'\}(?!.*\{$)', lines[i]) or not lines[i].endswith('\\' if is_macro else ('{', ',', '(')) and (
                is_macro or not is_open and lines[i].endswith(';')):
            break
        i += 1
    return i + 1


@functools.cache
def parts_of(text):
    """[(name, start, end)] of the functions, tables and macros of a source"""
    out, lines, i = [], text.split('\n'), 0
    places = [0, *(m.end() for m in re.finditer('\n', text)), len(text)]
    while i < len(lines):
        m = re.match(r'#define (\w+)|(?:local )?function (\w+)|\w[^=({]*?(\w+)(?:\[[^\n]*\])*(?:\(| =| \{)', lines[i])
        if m and not m[2]:
            end = end_of(lines, i)
        elif m:
            end = lines.index('end', i) + 1
        else:
            i += 1
            continue
        behind = re.search(r'^\} (\w+)', '\n'.join(lines[i:end]), re.M)
        out.append((behind[1] if behind else m[1] or m[2] or m[3], places[i], places[end]))
        i = end
    return out


@functools.cache
def sources():
    return {str(p.relative_to(TOP)): p.read_text(encoding='utf-8')
            for p in sorted([*(TOP / 'plugin').rglob('*.[ch]'), *(TOP / 'script').glob('*.lua')])}


def part_named(where):
    """-> (file, start, end); of several what is longest: the others declare it"""
    stem, _, name = where.rpartition(':')
    found = [(end - start, file, start, end) for file, text in sources().items() if not stem or file.endswith('/' + stem)
             for known, start, end in parts_of(text) if known == name]
    bodies = [f for f in found if f[1].endswith('.lua') or '{' in sources()[f[1]][f[2]:f[3]]]
    if not found or len(bodies) > 1:
        raise Wrong('%d files have %s' % (len(bodies), where))
    return max(found)[1:]


def replacing(where, was, now):
    """-> (file, change)"""
    name, _, nth = where.partition('#')
    file, _, _ = part_named(name)

    def change(text):
        _, start, end = part_named(name)
        here, wanted = tokens_of(text[start:end]), [m[0] for m in tokens_of(was)]
        found = [i for i in range(len(here)) if [m[0] for m in here[i:i + len(wanted)]] == wanted]
        if len(found) < int(nth or 1) or not nth and len(found) > 1:
            raise Wrong('in %s "%s" stands %d times' % (name, was, len(found)))
        first = found[int(nth or 1) - 1]
        return text[:start + here[first].start()] + now + text[start + here[first + len(wanted) - 1].end():]
    return file, change


def read_fault(row):
    name, where, was, now, tests, what = row.split('\t')
    file, change = replacing(where, was, now)
    tests = tests.split()
    return Fault(name, what, file, change, [path_of(t) for t in tests if '.py' in t], [t for t in tests if '.py' not in t])


def known_faults(names):
    rows = {line.split('\t')[0]: line for line in FAULTS.read_text(encoding='utf-8').splitlines() if line and line[0] != '#'}
    for name in names:
        if name not in rows:
            raise Wrong('there is no fault "%s"' % name)
    return [rows[name] for name in names or rows]


def all_units():
    return sorted(p.stem for p in (TOP / 'test' / 'unit').glob('test_*.c'))


# --- Putting them in ------------------------------------------------------------------------------------------------

def configure(build, flags, *options):
    launcher = ['-DCMAKE_C_COMPILER_LAUNCHER=ccache'] if shutil.which('ccache') else []
    subprocess.run(['cmake', '-S', TOP, '-B', build, '-G', 'Ninja', '-DPCQ_WERROR=OFF', '-DCMAKE_BUILD_TYPE=None',
                    '-DCMAKE_C_FLAGS=' + flags + ' -w', *launcher, *options], check=True, stdout=subprocess.DEVNULL)


def ended(command, seconds, **more):
    """The exit status and what is said; a status of 1 where it took too long"""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, **more)
        return done.returncode, done.stdout.decode()
    except subprocess.TimeoutExpired:
        return 1, 'it takes too long'


def pytest(tests):
    return ended([sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', '--basetemp', BUILD.with_name('pytest'), '-q', '-x', '--tb=line',
                  *tests], MOST_SECONDS, cwd=TOP / 'test', env=dict(os.environ, WIRESHARK_PLUGIN_DIR=str(BUILD / 'plugins')))


def unit_fails(name):
    return ended([UNITS / name], 20)[0] != 0


def compile_in(build, target):
    status, said = ended(['ninja', '--quiet', '-C', build, target], MOST_SECONDS)
    if status != 0:
        raise Wrong('it does not compile:\n' + said)


def is_noticed(fault):
    # the unit that is named so knows most of a file
    for name in sorted(fault.units, key=lambda u: u.removeprefix('test_') != Path(fault.file).stem.replace('-', '_')):
        compile_in(UNITS, name)
        if unit_fails(name):
            return True
    if not fault.tests:
        return False
    compile_in(BUILD, 'pcq')
    status, said = pytest(fault.tests)
    if status not in (0, 1):
        raise Wrong('pytest ends with %d: are its tests called so?' % status)
    return status != 0


def judge(fault):
    """-> what became of the fault"""
    path = TOP / fault.file
    before = path.read_text(encoding='utf-8')
    path.write_text(fault.change(before), encoding='utf-8')
    try:
        return 'noticed' if is_noticed(fault) else 'SURVIVED'
    except Wrong as e:
        return 'CANNOT BE PUT IN: %s' % e
    finally:
        path.write_text(before, encoding='utf-8')


def check_tests(faults):
    """Without a fault the tests pass, else their failing says nothing."""
    units = sorted(set().union(*(f.units for f in faults)))
    tests = sorted(set().union(*(f.tests for f in faults)))
    for build, target in [(UNITS, u) for u in units] + [(BUILD, 'pcq')] * bool(tests):
        compile_in(build, target)
    bad = [u for u in units if unit_fails(u)]
    if bad:
        raise Wrong('fails without any fault: ' + ', '.join(bad))
    status, said = pytest(tests) if tests else (0, '')
    if status != 0:
        raise Wrong('tests fail without any fault:\n' + said[-2000:])


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument('--check', action='store_true', help='only look whether the faults can be put in')
    parser.add_argument('--unchecked', action='store_true', help='do not run the tests without a fault first')
    parser.add_argument('names', nargs='*')
    return parser.parse_args()


def path_of(test):
    """A test as pytest takes it: each file's name stands in one folder."""
    file, colons, function = test.partition('::')
    found = list((TOP / 'test').glob('*/' + file))
    return (str(found[0].relative_to(TOP / 'test')) if found else file) + colons + function


def is_test(name):
    file, _, function = name.partition('::')
    path = TOP / 'test' / file
    return path.is_file() and bool(re.search(r'^def %s\(' % function.partition('[')[0] if function else '', path.read_text(encoding='utf-8'), re.M))


def check_fault(fault):
    fault.change((TOP / fault.file).read_text(encoding='utf-8'))
    missing = [t for t in fault.tests if not is_test(t)] + sorted(set(fault.units) - set(all_units()))
    if missing:
        raise Wrong('there is no ' + ', '.join(missing))


def prove():
    """That the check finds what has no place, more than one, or no test."""
    for where, was, test in (
            ('no_function', 'x', 'test_info.py'), ('plugin_register', 'no source says so', 'test_info.py'),
            ('plugin_register', ';', 'test_info.py'), ('plugin_register', '(', 'test_nothing.py'),
            ('plugin_register#1', '(', 'test_info.py::test_nothing')):
        try:
            check_fault(read_fault('\t'.join(('name', where, was, '', test, 'what'))))
        except Wrong:
            continue
        raise AssertionError('the check does not find "%s", %s' % (was, test))


def check_compiled(faults):
    """Those of a source at once, from its end on, as far as they leave each other's place: to read headers takes longer. -> False: some do not"""
    flags, first = ended(['pkg-config', '--cflags', 'wireshark'], 20)[1].split(), faults[0]
    text, later = sources()[first.file], [f for f in faults if f.file != first.file]
    for fault in sorted((f for f in faults if f.file == first.file), key=lambda f: -len(os.path.commonprefix([text, f.change(text)]))):
        try:
            text = fault.change(text)
        except Wrong:
            later.append(fault)
    status, said = ended(['cc', '-fsyntax-only', '-w', '-Iplugin', '-DPCQ_VERSION=""', *flags, '-xc', '-'], 60, input=text.encode(), cwd=TOP)
    print('%s: its faults do not compile: %s\n' % (first.file, said) * (status != 0), end='')
    return status == 0 and (not later or check_compiled(later))


def check_faults(names):
    """Whether each finds its place and its tests, and compiles. -> how many do not"""
    prove()
    bad, good = 0, []
    for row in known_faults(names):
        try:
            good.append(read_fault(row))
            check_fault(good[-1])
        except Wrong as e:
            print('%s: %s' % (row.split('\t')[0], e))
            bad += 1
    good = [f for f in good if f.file.endswith(('.c', '.h'))]
    return bad or (not check_compiled(good) if good else 0)


def main():
    args = arguments()
    start = time.monotonic()
    results = []
    try:
        if args.check:
            sys.exit(1 if check_faults(args.names) else 0)
        configure(BUILD, '-O0')
        faults = [read_fault(row) for row in known_faults(args.names)]
        if any(f.units for f in faults):
            configure(UNITS, '-O0', '-DPCQ_SANITIZE=ON')
        if not args.unchecked:
            check_tests(faults)
    except Wrong as e:
        sys.exit('mutate: %s' % e)
    for fault in faults:
        began = time.monotonic()
        results.append(judge(fault))
        print('%s %4.1f s %s: %s' % (results[-1], time.monotonic() - began, fault.name, fault.what), flush=True)
    bad = [r for r in results if r != 'noticed']
    print('%d faults, %d survivors, %d that cannot be put in, %d s' % (
        len(faults), bad.count('SURVIVED'), len(bad) - bad.count('SURVIVED'), time.monotonic() - start))
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
