# SPDX-License-Identifier: GPL-2.0-or-later
"""The scripts: what they say of themselves, of what they do and of what goes wrong."""

import os
import re
import shlex
import shutil
import subprocess

import pytest

from conftest import TOP
from test_docs import alike, lines

SCRIPTS = sorted(p for p in (TOP / 'script').rglob('*') if os.access(p, os.X_OK) and p.is_file())
PCAPS = TOP / 'test' / 'pcaps'
NTLM = PCAPS / 'tcp-ntlm.pcap'
PASSWORD = ['-o', 'ntlmssp.nt_password:Lab-Passw0rd']


def run(script, *args, path=None, cwd=None, **env):
    """-> (exit status, standard output, standard error)"""
    plain = {k: v for k, v in os.environ.items() if k not in ('BUILD', 'CC', 'WIRESHARK_PLUGIN_DIR')}
    plain['PATH'] = ('%s:' % path if path else '') + plain['PATH']
    done = subprocess.run([script, *map(str, args)], env=dict(plain, **env), cwd=cwd, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture(scope='module', autouse=True)
def quick_tshark(tshark, tmp_path_factory):
    """The scripts choose tshark's surroundings, so what makes its start cheaper (conftest.py) goes with the program. What it
    says of the tested plugin alone it is asked once: a copy changes nothing but its path."""
    folder, data = tmp_path_factory.mktemp('quick'), tshark.env.get('WIRESHARK_DATA_DIR')
    program, plugins = folder / 'tshark', tshark.env['WIRESHARK_PLUGIN_DIR']
    listed, _ = tshark.run('-G', 'plugins')
    assert 'pcq.so' in listed and plugins in listed
    (folder / 'listed').write_text(listed.replace(plugins, '@'))
    program.write_text('''#!/bin/sh
if [ "$*" = "-G plugins" ] && ! [ -e "$HOME/.local/lib/wireshark" ] && diff -r "${WIRESHARK_PLUGIN_DIR:-/nowhere}" %s >/dev/null 2>&1; then
    exec sed "s|@|$WIRESHARK_PLUGIN_DIR|" %s
fi
%s exec %s "$@"
''' % (*map(shlex.quote, (plugins, str(folder / 'listed'))), 'WIRESHARK_DATA_DIR=%s' % shlex.quote(data) if data else '',
       shutil.which('tshark')))
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as surroundings:
        surroundings.setenv('PATH', '%s:%s' % (folder, os.environ['PATH']))
        yield


@pytest.fixture
def fakes(tmp_path):
    """fakes(name=text of a shell script, …) -> a folder for the front of PATH"""
    folder = tmp_path / 'bin'
    folder.mkdir()

    def make(**programs):
        for name, text in programs.items():
            program = folder / name.replace('_', '-')
            program.write_text('#!/bin/sh\n%s\n' % text)
            program.chmod(0o755)
        return folder
    return make


# For dpkg-query: whatever is asked for is there.
INSTALLED = 'shift 3; for p; do echo "$p installed"; done'


@pytest.fixture(scope='module')
def tree(tmp_path_factory):
    """A checkout of one's own."""
    top = tmp_path_factory.mktemp('checkout') / 'pcq'
    top.mkdir()
    shutil.copy(TOP / 'CMakeLists.txt', top)
    for name in ('plugin', 'script', 'test'):
        shutil.copytree(TOP / name, top / name, ignore=shutil.ignore_patterns('pcaps', '__pycache__'))
    return top


@pytest.mark.parametrize('script', SCRIPTS, ids=[s.name for s in SCRIPTS])
def test_help(script):
    """Each says how it is called and what it does, and does nothing; CONTRIBUTING.md says when to run it."""
    status, out, err = run(script, '--help', path='/nowhere')
    assert status == 0 and err == '' and out.startswith(str(script.relative_to(TOP))) and len(out) > 40
    assert run(script, '-h', path='/nowhere') == (status, out, err)
    assert re.search(r'`(script/(dev/)?)?%s\b' % script.name, (TOP / 'CONTRIBUTING.md').read_text())


def test_no_page_names_a_script_that_is_none():
    pages = [TOP / 'README.md', TOP / 'CONTRIBUTING.md', TOP / '.ci' / 'run', *(TOP / 'docs').glob('*.md'), *SCRIPTS]
    named = {name for page in pages for name in re.findall(r'\bscript/(?:dev/)?[a-z][a-z.-]*[a-z]', page.read_text())}
    assert len(named) > 15 and [name for name in sorted(named) if not (TOP / name).exists()] == []


# --- installing ------------------------------------------------------------------------------------------------------

NOTHING_INSTALLED = {'dpkg_query': 'exit 1', 'sudo': 'exec "$@"'}


@pytest.fixture
def bare(fakes, tmp_path):
    """bare(name=text, …) -> the only folder of PATH: of the system's tools there is none that bootstrap could want."""
    def make(**programs):
        folder = fakes(**programs)
        for tool in ('sh', 'sed', 'dirname', 'id', 'cksum', 'cut', 'env', 'cat', 'awk', 'mkdir', 'flock', 'head', 'tr', 'true', 'dpkg'):
            if not (folder / tool).exists():
                (folder / tool).symlink_to(shutil.which(tool))
        return {'PATH': str(folder), 'HOME': str(tmp_path), 'Wireshark_DIR': str(tmp_path)}
    return make


def bootstrap(env, *groups):
    done = subprocess.run([TOP / 'script' / 'dev' / 'bootstrap', *groups], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


APT = 'case "$*" in *--print-uris*) now=--print-uris;; *update*) now=update;; *) now=install;; esac\n'
FAILS = APT + 'if [ $now = %s ]; then echo "E: broken" >&2; exit 100; fi'
SIZES = 'case "$*" in *--print-uris*) for i in 1 2 3; do echo "\'http://x\' p_$i.deb 9000000 SHA256:0"; done;; esac'
REFUSED = 'echo "sudo: you are not in the sudoers file" >&2; exit 1'


@pytest.mark.parametrize('programs, status, said, last', [
    # How many packages with what they need, how many megabytes, and how long it takes
    (dict(NOTHING_INSTALLED, apt_get=SIZES), 0, ['installing 3 packages, 28 MB to fetch: minutes', 'cmake', 'tshark'], []),
    # apt's own words first, then one sentence
    (dict(NOTHING_INSTALLED, apt_get=FAILS % 'update'), 1, ['E: broken'], ['update failed', 'network']),
    (dict(NOTHING_INSTALLED, apt_get=FAILS % '--print-uris'), 1, ['E: broken'], ['cannot install', 'cmake']),
    (dict(NOTHING_INSTALLED, apt_get=FAILS % 'install'), 1, ['E: broken'], ['install failed', 'cmake']),
    # a sudo that does not let one is what is said, with what somebody else may run; nothing is said of a network
    (dict(NOTHING_INSTALLED, apt_get='exit 0', sudo=REFUSED), 1, ['not in the sudoers file'], ['apt-get install', 'gcc', 'tshark']),
    # no apt: what to install, by the names of the usual systems, and the plain commands
    ({}, 1, ["Missing, by Debian's names: gcc", 'dnf install', 'pacman -S', 'brew install', 'cmake -S . -B build', 'ninja -C build'], []),
], ids=['installs', 'update', 'uris', 'install', 'sudo', 'another system'])
def test_what_is_installed_or_cannot_be_is_said(bare, programs, status, said, last):
    got, out, err = bootstrap(bare(**programs))
    assert (got, out) == (status, '') and all(w in err for w in said) and all(w in err.splitlines()[-1] for w in last), err
    assert 'network' in last or 'network' not in err


def test_all_there_is_silent(fakes):
    assert run(TOP / 'script' / 'dev' / 'bootstrap', path=fakes(dpkg_query=INSTALLED, apt_get='exit 9')) == (0, '', '')


def test_tools_of_another_system_do(bare, tmp_path):
    """No dpkg and no apt, but all that is needed: silence. The tests' own tools are asked for with the tests alone."""
    (tmp_path / 'WiresharkConfig.cmake').touch()
    tools = bare(cc='exit 0', cmake='exit 0', ninja='exit 0', tshark='exit 0', pkg_config='exit 0')
    assert bootstrap(tools) == (0, '', '')
    status, _, err = bootstrap(tools, 'test')
    missing = err.splitlines()[0]
    assert status == 1 and 'ccache' in missing and 'cmake' not in missing


def test_a_user_needs_no_pytest(bare, tmp_path):
    """script/dissect and script/install build, and no more."""
    asked = tmp_path / 'asked'
    bootstrap(bare(dpkg_query='shift 3; echo "$@" >%s' % asked))
    assert 'cmake' in asked.read_text() and 'python' not in asked.read_text()


# --- building --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('programs', [{}, {'apt_get': 'exit 9', 'sudo': 'exit 1'}], ids=['no apt', 'no sudo'])
def test_the_chart_library_alone_is_missing(bare, tmp_path, programs):
    """Who cannot install it builds without the report."""
    (tmp_path / 'WiresharkConfig.cmake').touch()
    tools = bare(cc='exit 0', cmake='exit 0', ninja='exit 0', tshark='exit 0', pkg_config='exit 0', **programs)
    assert bootstrap(dict(tools, PCQ_DYGRAPHS=str(tmp_path / 'none')))[:2] == (0, '')


def test_without_the_chart_library(tshark, tmp_path):
    """It is said by name when the build is configured, and where the report is asked for."""
    done = subprocess.run(['cmake', '-S', TOP, '-B', tmp_path / 'build', '-G', 'Ninja', '-DPCQ_DYGRAPHS=%s' % (tmp_path / 'none'),
                           '-DCMAKE_BUILD_TYPE=Debug', '-DCMAKE_C_FLAGS_DEBUG=-O0'],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, LC_ALL='C.UTF-8'), check=True)
    assert 'without the report' in done.stderr.decode() and 'libjs-dygraphs' in done.stderr.decode()
    subprocess.run(['ninja', '-C', tmp_path / 'build', 'pcq'], stdout=subprocess.DEVNULL, check=True)
    done = subprocess.run(['tshark', '-q', '-r', NTLM, '-z', 'pcq,report,%s' % (tmp_path / 'report.html')], stderr=subprocess.PIPE,
                          env=dict(tshark.env, WIRESHARK_PLUGIN_DIR=str(tmp_path / 'build' / 'plugins')))
    assert 'libjs-dygraphs' in done.stderr.decode() and not (tmp_path / 'report.html').exists()


@pytest.mark.parametrize('tool, text, words', [
    ('cmake', 'echo "CMake Error: no compiler" >&2; exit 1', ['CMake Error: no compiler', 'cmake failed']),
    ('ninja', 'echo "FAILED: x.o"; exit 1', ['FAILED: x.o', 'the build failed'])])
def test_a_build_that_fails(fakes, tmp_path, tool, text, words):
    status, _, err = run(TOP / 'script' / 'dev' / 'build', BUILD=str(tmp_path / 'build'),
                         path=fakes(**{'cmake': 'exit 0', 'ninja': 'exit 0', 'dpkg_query': INSTALLED, tool: text}))
    assert status == 1 and all(w in err for w in words), err


def test_two_builds_at_once(fakes, tmp_path):
    """The second waits for the first, says so, and does it then."""
    slow = 'echo begin >>%s; sleep 1; echo end >>%s' % (tmp_path / 'log', tmp_path / 'log')
    fake = fakes(dpkg_query=INSTALLED, cmake='exit 0', ninja=slow)
    env = dict(os.environ, PATH='%s:%s' % (fake, os.environ['PATH']), BUILD=str(tmp_path / 'build'))
    both = [subprocess.Popen([TOP / 'script' / 'dev' / 'build'], env=env, stderr=subprocess.PIPE) for _ in range(2)]
    said = b''.join(p.communicate()[1] for p in both)
    assert [p.returncode for p in both] == [0, 0]
    assert (tmp_path / 'log').read_text().split() == ['begin', 'end', 'begin', 'end']
    assert b'waiting for another run in %s' % str(tmp_path / 'build').encode() in said


def test_a_moved_checkout_builds_again(tree, fakes):
    """A folder that was renamed: no error of CMake, and nothing old in what it makes."""
    # CMake tries the compiler with it; what it would build is not looked at.
    ninja = 'case "$*" in --quiet*) exit 0;; *) exec %s "$@";; esac' % shutil.which('ninja')
    fake = fakes(dpkg_query=INSTALLED, ninja=ninja)
    top = shutil.copytree(tree, tree.parent / 'before', ignore=shutil.ignore_patterns('CMakeCache.txt', 'CMakeFiles'))
    assert run(top / 'script' / 'dev' / 'build', path=fake)[0] == 0
    moved = top.rename(tree.parent / 'moved')
    status, out, err = run(moved / 'script' / 'dev' / 'build', path=fake)
    assert (status, out, err) == (0, '', '')
    assert 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\n' % moved in (moved / 'build' / 'CMakeCache.txt').read_text()
    assert str(top) + '/' not in (moved / 'build' / 'build.ninja').read_text()


# --- opening a capture -----------------------------------------------------------------------------------------------

def dissect(fakes, *args, **more):
    """script/dissect with the plugin that is tested"""
    plugins = os.environ['WIRESHARK_PLUGIN_DIR']
    build = plugins.removesuffix('/plugins')
    fake = fakes(dpkg_query=INSTALLED, cmake='exit 0', ninja='exit 0')
    if not os.path.exists(build + '/CMakeCache.txt') or not os.access(build, os.W_OK):
        build = str(fake.parent / 'build')
        shutil.copytree(plugins, build + '/plugins', dirs_exist_ok=True)
        (fake.parent / 'build' / 'CMakeCache.txt').write_text('CMAKE_HOME_DIRECTORY:INTERNAL=%s\nCMAKE_CACHEFILE_DIR:INTERNAL=%s\n' %
                                                              (TOP, build))
    return run(TOP / 'script' / 'dissect', *args, path=fake, BUILD=build, **more)


def shown(page, command):
    """What the page shows that it prints"""
    return next(output for line, output in lines(TOP / page) if line == command and output)


def test_the_bundled_capture(fakes):
    """README begins with it."""
    status, out, err = dissect(fakes)
    assert status == 0 and 'every call' in out and 'OpenQueryHandle' in out and 'pcq' not in err
    assert alike(shown('README.md', 'script/dissect'), out.splitlines()) is None


CIFS = 'the keytab is for: cifs/labdc.lab.test@LAB.TEST'


@pytest.mark.parametrize('name, args, words', [
    ('smb3-ntlm', [], ['116 calls could not be opened', 'NTLM', 'ntlmssp.nt_password:PASSWORD', 'docs/decryption.md',
                       'the password is that of: LAB\\Administrator\n']),
    ('smb3-ntlm', ['-o', 'ntlmssp.nt_password:x'], ['could not be opened', 'does not fit', 'docs/decryption.md']),
    ('smb3-kerberos', [], ['could not be opened', 'Kerberos', 'kerberos.file:KEYTAB',
                           CIFS + ' (key version 1, encryption type 18), host/labdc.lab.test@LAB.TEST (']),
    ('smb3-kerberos', ['-K', PCAPS / 'tcp-kerberos.keytab'], ['104 calls could not be opened', 'does not fit', CIFS]),
    ('smb3-encrypted-kerberos', [], ['125 packets are encrypted by SMB3', CIFS, '-o kerberos.decrypt:TRUE -o kerberos.file:KEYTAB']),
    ('smb3-encrypted', [], ['encrypted by SMB3', 'smb2_seskey_list', 'docs/decryption.md', 'LAB\\Administrator', '-o ntlmssp.nt_password:PASSWORD'])])
def test_what_could_not_be_opened_is_said(fakes, name, args, words):
    status, _, err = dissect(fakes, PCAPS / (name + '.pcap'), '-q', *args)
    assert status == 0 and all(w in err for w in words), err


@pytest.mark.parametrize('args, words', [
    (['/nowhere.pcap'], 'dissect: no such capture: /nowhere.pcap'),
    ([PCAPS], 'dissect: no capture, for it is not a file: %s' % PCAPS),
    (['--hlep'], 'dissect: the capture comes first, and --hlep is none: script/dissect CAPTURE [tshark options…], or --help'),
    (['-Y', 'pcq', NTLM], 'dissect: the capture comes first, and -Y is none: script/dissect CAPTURE [tshark options…], or --help'),
    ([NTLM, PCAPS / 'smb3-ntlm.pcap'], 'dissect: one capture at a time, and this is another: %s' % (PCAPS / 'smb3-ntlm.pcap')),
    ([NTLM, '-q', '-o', 'kerberos.file:/nowhere.keytab'], 'dissect: no such file: /nowhere.keytab'),
    ([NTLM, '-qK/nowhere.keytab'], 'dissect: no such file: /nowhere.keytab'),
    ([NTLM, '-o', 'nonsense:1'], 'tshark: -o flag "nonsense:1" specifies unknown preference'),
    ([NTLM, '-Y', 'nonsense == 1'], 'nonsense'),
    ([NTLM, '--hlep'], 'hlep'),
    ([NTLM, '-q', '-z', 'pcq,nonsense'], 'pcq,nonsense'),
    ([PCAPS / 'README.md'], 'tshark: The file "%s" isn\'t a capture file in a format TShark understands.' % (PCAPS / 'README.md'))])
def test_wrong_arguments(fakes, args, words):
    """What is wrong and nothing else: no usage, no advice about keys, no conclusion from what was not read."""
    status, out, err = dissect(fakes, *args)
    first, *more = err.splitlines()
    assert status != 0 and out == '' and words in first
    # Where in the filter, and of the statistics that there are ours
    assert all(line.startswith('    ') for line in more) and len(more) < 14, err
    if words.startswith(('dissect: ', 'tshark: ')):
        assert (first, more) == (words, [])


def test_a_capture_that_may_not_be_read(fakes, tmp_path):
    capture = tmp_path / 'mine.pcap'
    capture.touch(mode=0)
    assert dissect(fakes, capture)[::2] == (1, 'dissect: not allowed to read %s\n' % capture)


@pytest.mark.parametrize('options, calls_alone', [([], True), (['-nt', 'u', '-zpcq,queries'], True), (['-Y', 'frame'], False),
                                                  (['-Yframe'], False), (['-2', '-Rframe'], False), (['frame'], False),
                                                  (['-nT', 'fields', '-e', 'frame.number'], False)], ids=str)
def test_the_conversation_is_shown(fakes, options, calls_alone):
    """The calls, not TCP, unless the options ask for something else."""
    status, out, err = dissect(fakes, NTLM, *PASSWORD, *options)
    packets = [line for line in out.splitlines() if re.match(r' *\d+( (?!in all[,;] )|$)', line)]
    assert (status, err) == (0, '')
    assert all(' PCQ ' in line for line in packets if ' to LABDC ' not in line) == calls_alone and len(packets) > 50
    # and in the end the verdict
    assert ('# what is wrong, worst first; ' in out) == calls_alone == bool(re.search(r' to LABDC: 4 samples, longest gap [0-9.]+ s, frame \d+', out))


def test_what_was_cut_short(fakes, tmp_path):
    """tshark's own word, and what the rest holds; not that there would be nothing. A whole one of something else has no call."""
    cut = tmp_path / 'cut.pcap'
    cut.write_bytes(NTLM.read_bytes()[:20000])
    status, _, err = dissect(fakes, cut)
    assert status != 0 and '"%s" appears to have been cut short' % cut in err and 'calls could not be opened' in err
    cut.write_bytes(NTLM.read_bytes()[:100])
    status, _, err = dissect(fakes, cut)
    assert status != 0 and len(err.splitlines()) == 1 and 'cut short' in err
    cut.write_bytes(NTLM.read_bytes()[:24])
    status, _, err = dissect(fakes, cut, '-q')
    assert status == 0 and 'no call of PerflibV2 or HKEY_PERFORMANCE_DATA' in err


def test_outputs_arrive(fakes, tmp_path):
    """Or it is said that they cannot."""
    status, _, err = dissect(fakes, NTLM, *PASSWORD, '-q', '-z', 'pcq,names,names', '-w', 'out.pcap', cwd=tmp_path)
    assert (status, err) == (0, '')
    assert (tmp_path / 'names').read_text().startswith('# pcq names 1\n') and (tmp_path / 'out.pcap').stat().st_size > 24
    status, out, _ = dissect(fakes, tmp_path / 'out.pcap', '-T', 'fields', '-e', 'tcp.flags.syn', *PASSWORD)
    assert status == 0 and set(out.split()) in ({'1', '0'}, {'True', 'False'})      # all packets are written
    status, _, err = dissect(fakes, NTLM, *PASSWORD, '-q', '-z', 'pcq,names,/nowhere/names')
    assert status == 1 and '/nowhere' in err and 'dissect: ' not in err


# --- docs/install.md's own lines ---------------------------------------------------------------------------------------

@pytest.fixture(scope='module')
def built(tree, tmp_path_factory):
    """(a tree that the commands of docs/install.md for whoever has no apt have built, where it was installed)"""
    page, home = (TOP / 'docs' / 'install.md').read_text(), tmp_path_factory.mktemp('home')
    for command in ('cmake -S . -B build -G Ninja', 'ninja -C build', 'WIRESHARK_PLUGIN_DIR=build/plugins tshark -G plugins',
                    'cmake --install build'):
        assert '    %s\n' % command in page
        # an unoptimized build takes a third of the time
        env = dict(os.environ, DESTDIR=str(home), HOME=str(home), CMAKE_BUILD_TYPE='None', CFLAGS='-O0')
        done = subprocess.run(['sh', '-c', command], cwd=tree, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == 0, done.stderr
        assert 'tshark' not in command or b'pcq.so' in done.stdout
    return tree, home


def test_the_plain_commands(built):
    assert list(built[1].glob('usr/**/plugins/*/epan/pcq.so'))


def test_the_profile_is_installed_and_removed(built, fakes, tmp_path):
    """Beside the plugin; one that the user has changed stays, whatever happens."""
    tree, _ = built
    # what is built need not be built again
    fake = fakes(dpkg_query=INSTALLED, cmake='case "$1" in --install) exec %s "$@";; esac' % shutil.which('cmake'), ninja='exit 0')
    profile = tmp_path / '.config' / 'wireshark' / 'profiles' / 'Performance Counters'
    home = {'HOME': str(tmp_path), 'XDG_CONFIG_HOME': str(tmp_path / '.config')}

    def install(*args):
        return run(tree / 'script' / 'install', *args, path=fake, **home)
    status, out, err = install()
    assert status == 0 and str(profile) in out, err
    assert alike(shown('docs/install.md', 'script/install'), out.splitlines()) is None
    assert (profile / 'colorfilters').read_bytes() == (TOP / 'plugin/profile/Performance Counters/colorfilters').read_bytes()
    assert list(tmp_path.glob('.local/lib/wireshark/plugins/*/epan/pcq.so'))
    (profile / 'recent').write_text('as Wireshark leaves it\n')
    assert 'kept' not in install()[1]
    (profile / 'preferences').write_text('mine\n')
    assert 'kept' in install()[1] and 'kept' in install('--remove')[1]
    mine = '#ntlmssp.nt_password: \nntlmssp.nt_password: Secret\n'
    (profile / 'preferences').write_text(mine)
    for args in (), ('--remove',):
        out = install(*args)[1]
        assert 'a password lies in %s, ' % (profile / 'preferences') in out and 'Secret' not in out
    assert (profile / 'preferences').read_text() == mine
    shutil.copy(TOP / 'plugin/profile/Performance Counters/preferences', profile)
    assert install('--remove')[0] == 0
    assert not profile.exists() and not list(tmp_path.glob('.local/lib/wireshark/plugins/*/epan/pcq.so'))


def test_removing_by_hand(tmp_path):
    """docs/install.md's two lines take away what was installed, and no more."""
    plugin = tmp_path / '.local/lib/wireshark/plugins/4.0/epan/pcq.so'
    other = plugin.with_name('other.so')
    profile = tmp_path / '.config/wireshark/profiles/Performance Counters/preferences'
    for path in (plugin, other, profile):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    lines = [x for x in (TOP / 'docs' / 'install.md').read_text().splitlines() if x.startswith('    rm ')]
    assert len(lines) == 2
    for line in lines:
        subprocess.run(['sh', '-euc', line], env=dict(os.environ, HOME=str(tmp_path)), check=True)
    assert other.exists() and not plugin.exists() and not profile.parent.exists()
