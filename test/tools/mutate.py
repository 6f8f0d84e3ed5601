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
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).resolve().parents[2]
FAULTS = TOP / 'test' / 'faults.tsv'
# Changes that nobody could see: "file | change | line | reason"
EQUIVALENTS = TOP / 'test' / 'equivalent-changes'
BUILD = Path(os.environ.get('BUILD', TOP / 'build'))
# The unit programs, sanitized: what is read beyond the end of bytes is seen there alone.
UNITS = BUILD.with_name('units')
# A change that lets a program run for ever is noticed too; most tests have a shorter limit of their own.
MOST_SECONDS = 1800
# What a made change may cost a program of seconds and of bytes.
MOST_CPU = 60
MOST_MEMORY = 8 << 30


class Wrong(Exception):
    """A fault that cannot be put in."""


class Fault(NamedTuple):
    name: str
    what: str
    file: str
    change: object      # function(text) -> text
    tests: list
    units: list


# --- Faults that somebody thought of ------------------------------------------------------------------------------


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


# --- Faults that are made -------------------------------------------------------------------------------------------

# Which tests notice what is wrong in what begins so, behind plugin/: the cheapest that see much of it first, for the first
# that fails is the last. perf/ is judged by its unit programs before.
JUDGES = {
    'dcerpc/connections': 'twice sealed',
    'dcerpc/sealed': 'sealed twice summary lost',
    'dcerpc/': 'calls lost overlap corners findings twice bad_input operations',
    'hkpd/': 'hkpd hkpd_bad_input pairs hkpd_limits hkpd_text',
    'pcq/': 'paths values pairs buffers calls corners findings bad_input forms',
    'perf/block': 'hkpd_bad_input hkpd',
    'perf/calculate': 'words values hkpd',
    'perf/counter-types': 'words values',
    'taps/csv': 'csv',
    'perf/data': 'bad_input forms values',
    'text/decimal': 'words csv',
    'perf/known': 'names',
    'text/pattern': 'watch',
    'perf/summary': 'statistics',
    'text/writer': 'words paths',
    'perf/': 'paths hkpd values',
    'readings/tables': 'hkpd paths pairs forms values csv',
    'tap/tapped': 'tables statistics csv watch',
    'taps/left': 'tables statistics csv watch',
    'tap/watch': 'watch profile',
    'readings/': 'words paths hkpd values pairs corners csv sound',
    'state/facts': 'names paths names_file hkpd sound',
    'state/handles': 'handles hkpd corners statistics order',
    'state/hosts': 'names handles paths hkpd',
    'state/pace': 'summary statistics sealed',
    'state/queries': 'handles paths overlap lost corners sound calls statistics csv',
    'state/': 'forms hkpd hkpd_bad_input hkpd_limits values csv',
    'taps/document': 'csv',
    'taps/': 'summary statistics tables sealed',
}
OTHER = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '&&': '||', '||': '&&', '+': '-', '-': '+',
         '*': '/', '/': '*', '%': '*', '<<': '>>', '>>': '<<', '&': '|', '|': '&', '^': '|', '+=': '-=', '-=': '+=',
         '|=': '&=', '++': '--', '--': '++', 'true': 'false', 'false': 'true', '!': ''}
# Binary operators stand between blanks, as the formatter leaves them.
TOKENS = re.compile(r'(?<= )(?:<=|>=|==|!=|&&|\|\||<<|>>|\+=|-=|\|=|[<>+\-*/%&|^])(?= )|\+\+|--|!(?=[\w(])|'
                    r'\b(?:true|false)\b|(?<![\w.])(?:0x[0-9A-Fa-f]+|\d+)(?=[UuLl]*\b)(?![.\w]*\.)')


def blank_out(text):
    """The code alone, at its places: without comments, texts, characters and the preprocessor's lines."""
    def blanks(m):
        return re.sub(r'[^\n]', ' ', m[0])
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:\\\n|[^\n])*', blanks, text,
                  flags=re.S | re.M)


def other(token):
    if token in OTHER:
        return OTHER[token]
    return hex(int(token, 16) + 1) if token.startswith('0x') else str(int(token) + 1)


def at_place(start, end, now):
    return lambda text: text[:start] + now + text[end:]


def judges_of(file):
    names = next(names for beginning, names in JUDGES.items() if file.startswith('plugin/' + beginning))
    return [path_of('test_%s.py' % name) for name in names.split()]


def units_of(file):
    return all_units() if file.startswith('plugin/perf/') else []


def made_faults(file):
    """{line number: [Fault]} of a source, one for each token that can be another"""
    text = (TOP / file).read_text(encoding='utf-8')
    lines = text.split('\n')
    out = {}
    for m in TOKENS.finditer(blank_out(text)):
        number = text.count('\n', 0, m.start()) + 1
        column = m.start() - text.rfind('\n', 0, m.start())
        now = other(m[0])
        out.setdefault(number, []).append(Fault(
            '%s:%d:%d' % (file, number, column), '%s -> %s: %s' % (m[0], now or 'nothing', lines[number - 1].strip()), file,
            at_place(m.start(), m.end(), now), judges_of(file), units_of(file)))
    return out


def choose(faults, seed):
    """The same one for the same text of a line, wherever it stands."""
    return random.Random('%s %s' % (seed, faults[0].what.split(': ', 1)[1])).choice(faults)


def equivalents():
    """{(file, changed line, change)}"""
    out = set()
    for line in EQUIVALENTS.read_text(encoding='utf-8').splitlines():
        if line and not line.startswith('#'):
            file, change, code, _ = re.fullmatch(r'(\S+) \| (\S+ -> \S+) \| (.+) \| (.+)', line).groups()
            out.add((file, '%s: %s' % (change, code)))
    return out


def all_units():
    return sorted(p.stem for p in (TOP / 'test' / 'unit').glob('test_*.c'))


def executed_lines(files):
    """{file: {line numbers}} that the tests execute, which judge the folders of these files."""
    build = BUILD.with_name('coverage')
    configure(build, '--coverage -O0')
    judges = sorted({t for f in files for t in judges_of(f)})
    subprocess.run(['ninja', '--quiet', '-C', build], check=True)
    for unit in all_units():
        subprocess.run([build / unit], check=True, stdout=subprocess.DEVNULL)
    if judges:
        pytest(judges, build, MOST_SECONDS * 10)
    lines = {f: set() for f in files}
    for data in build.rglob('*.gcda'):
        done = subprocess.run(['gcov', '--json-format', '--stdout', data], cwd=build, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True)
        for text in done.stdout.decode().splitlines():
            for about in json.loads(text)['files']:
                # the plugin's sources are named from the top, see CMakeLists.txt
                file = os.path.relpath(about['file'], TOP) if os.path.isabs(about['file']) else about['file']
                if file in lines:
                    lines[file] |= {x['line_number'] for x in about['lines'] if x['count'] > 0}
    shutil.rmtree(build)
    # an expression's later lines count as its first
    for file, there in lines.items():
        text = (TOP / file).read_text(encoding='utf-8').split('\n')
        for number in sorted(there):
            while number < len(text) and not re.search(r'[;{}]\s*(/\*.*)?$', text[number - 1]) and text[number - 1].strip():
                number += 1
                there.add(number)
    return lines


def faults_of(file, lines, args):
    """What is made of a source: one fault for each line that is executed (--all: each token)."""
    made, known = made_faults(file), equivalents()
    executed = [faults for number, faults in made.items() if number in lines]
    wanted = [f for faults in executed for f in (faults if args.all else [choose(faults, args.seed)])]
    return [f for f in wanted if (f.file, f.what) not in known]


def faults_at(names):
    """Those that an earlier run named so: FILE:LINE:COLUMN"""
    made = {f.name: f for file in {n.split(':')[0] for n in names} for faults in made_faults(file).values() for f in faults}
    if not set(names) <= set(made):
        raise Wrong('nothing can be changed at ' + ', '.join(sorted(set(names) - set(made))))
    return [made[name] for name in names]


# --- Putting them in ------------------------------------------------------------------------------------------------


def configure(build, flags, *options):
    launcher = ['-DCMAKE_C_COMPILER_LAUNCHER=ccache'] if shutil.which('ccache') else []
    subprocess.run(['cmake', '-S', TOP, '-B', build, '-G', 'Ninja', '-DPCQ_WERROR=OFF', '-DCMAKE_BUILD_TYPE=None',
                    '-DCMAKE_C_FLAGS=' + flags + ' -w', *launcher, *options], check=True, stdout=subprocess.DEVNULL)


def limit_cpu():
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU, MOST_CPU))


def set_limits():
    limit_cpu()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def pytest(tests, build, seconds, *options, limit=None):
    """The exit status; None: it took too long"""
    env = dict(os.environ, WIRESHARK_PLUGIN_DIR=str(build / 'plugins'))
    try:
        return subprocess.run([sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', '--basetemp',
                               str(build.with_name('pytest')), '-q', *options, *tests], cwd=TOP / 'test', env=env,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, preexec_fn=limit).returncode
    except subprocess.TimeoutExpired:
        return None


def unit(name):
    # sanitized programs have more addresses than memory
    env = dict(os.environ, ASAN_OPTIONS='hard_rss_limit_mb=%d' % (MOST_MEMORY >> 20))
    try:
        return subprocess.run([UNITS / name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=20, env=env,
                              preexec_fn=limit_cpu).returncode
    except subprocess.TimeoutExpired:
        return None


def ninja(build, *targets):
    return subprocess.run(['ninja', '--quiet', '-C', build, *targets], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def builds(build, target, is_made):
    """False if a made change does not compile, as it may."""
    built = ninja(build, target)
    if built.returncode != 0 and not is_made:
        raise Wrong('it does not compile:\n' + built.stdout.decode())
    return built.returncode == 0


def is_noticed(fault, is_made):
    """None: it does not compile"""
    # the unit that is named so knows most of a file
    for name in sorted(fault.units, key=lambda u: u.removeprefix('test_') != Path(fault.file).stem.replace('-', '_')):
        if not builds(UNITS, name, is_made):
            return None
        if unit(name) != 0:
            return True
    if not fault.tests:
        return False
    if not builds(BUILD, 'pcq', is_made):
        return None
    status = pytest(fault.tests, BUILD, MOST_SECONDS, '-x', limit=set_limits if is_made else None)
    if status not in (None, 0, 1):
        raise Wrong('pytest ends with %d: are its tests called so?' % status)
    return status != 0


def judge(fault, is_made):
    """-> what became of the fault"""
    path = TOP / fault.file
    before = path.read_text(encoding='utf-8')
    path.write_text(fault.change(before), encoding='utf-8')
    try:
        return {True: 'noticed', False: 'SURVIVED', None: 'does not compile'}[is_noticed(fault, is_made)]
    finally:
        path.write_text(before, encoding='utf-8')


def check_tests(faults):
    """Without a fault the tests pass, else their failing says nothing."""
    units = sorted(set().union(*(f.units for f in faults)))
    tests = sorted(set().union(*(f.tests for f in faults)))
    for build, target in [(UNITS, u) for u in units] + [(BUILD, 'pcq')] * bool(tests):
        builds(build, target, False)
    bad = [u for u in units if unit(u) != 0]
    if bad:
        raise Wrong('fails without any fault: ' + ', '.join(bad))
    if tests and pytest(tests, BUILD, MOST_SECONDS * 10, '-x') != 0:
        pytest_again = subprocess.run([sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', '-q', '-x', '--tb=line', *tests],
                                      cwd=TOP / 'test', env=dict(os.environ, WIRESHARK_PLUGIN_DIR=str(BUILD / 'plugins')),
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        raise Wrong('tests fail without any fault:\n' + pytest_again.stdout.decode()[-2000:])


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument('--generated', action='store_true')
    parser.add_argument('--all', action='store_true')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--check', action='store_true', help='only look whether the faults can be put in')
    parser.add_argument('--unchecked', action='store_true', help='do not run the tests without a fault first')
    parser.add_argument('names', nargs='*')
    return parser.parse_args()


def chosen(args):
    if not args.generated:
        return [read_fault(row) for row in known_faults(args.names)]
    named = [n for n in args.names if ':' in n]
    files = [n for n in args.names if ':' not in n]
    if not args.names:
        files = sorted(str(p.relative_to(TOP)) for folder in {b.split('/')[0] for b in JUDGES}
                       for p in (TOP / 'plugin' / folder).glob('*.[ch]'))
    lines = executed_lines(files) if files else {}
    return faults_at(named) + [f for file in files for f in faults_of(file, lines[file], args)]


def path_of(test):
    """A test as pytest takes it: each file's name stands in one folder."""
    file, colons, function = test.partition('::')
    found = list((TOP / 'test').glob('*/' + file))
    return (str(found[0].relative_to(TOP / 'test')) if found else file) + colons + function


def is_test(name):
    file, _, function = name.partition('::')
    path = TOP / 'test' / file
    return path.is_file() and bool(re.search(r'^def %s\(' % function if function else '', path.read_text(encoding='utf-8'), re.M))


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


def check_faults(names):
    """Whether each finds its place and its tests. -> how many do not"""
    prove()
    bad = 0
    for row in known_faults(names):
        try:
            check_fault(read_fault(row))
        except Wrong as e:
            print('%s: %s' % (row.split('\t')[0], e))
            bad += 1
    return bad


def main():
    args = arguments()
    start = time.monotonic()
    survivors = broken = 0
    try:
        if args.check:
            sys.exit(1 if check_faults(args.names) else 0)
        configure(BUILD, '-O0')
        faults = chosen(args)
        if any(f.units for f in faults):
            configure(UNITS, '-O0', '-DPCQ_SANITIZE=ON')
        if not args.unchecked:
            check_tests(faults)
    except Wrong as e:
        sys.exit('mutate: %s' % e)
    for fault in faults:
        began = time.monotonic()
        try:
            result = judge(fault, args.generated)
        except Wrong as e:
            result = 'CANNOT BE PUT IN: %s' % e
            broken += 1
        survivors += result == 'SURVIVED'
        print('%s %4.1f s %s: %s' % (result, time.monotonic() - began, fault.name, fault.what), flush=True)
    print('%d faults, %d survivors, %d that cannot be put in, %d s' % (len(faults), survivors, broken, time.monotonic() - start))
    sys.exit(1 if survivors or broken else 0)


if __name__ == '__main__':
    main()
