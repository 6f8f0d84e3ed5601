# SPDX-License-Identifier: GPL-2.0-or-later
"""The scripts: what they say of themselves, of what they do and of what goes wrong."""

import os
import shutil
import subprocess

import pytest

from conftest import TOP

SCRIPTS = sorted(p for p in (TOP / 'script').iterdir() if os.access(p, os.X_OK) and p.is_file())
PCAPS = TOP / 'test' / 'pcaps'
PASSWORD = ['-o', 'ntlmssp.nt_password:Lab-Passw0rd']


def run(script, *args, path=None, cwd=None, **env):
    """-> (exit status, standard output, standard error)"""
    plain = {k: v for k, v in os.environ.items() if k not in ('BUILD', 'CC', 'WIRESHARK_PLUGIN_DIR')}
    plain['PATH'] = ('%s:' % path if path else '') + plain['PATH']
    done = subprocess.run([script, *map(str, args)], env=dict(plain, **env), cwd=cwd, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


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
@pytest.mark.parametrize('option', ['--help', '-h'])
def test_help(script, option):
    """Each says how it is called and what it does, and does nothing."""
    status, out, err = run(script, option, path='/nowhere')
    assert status == 0 and err == '' and out.startswith('script/%s' % script.name) and len(out) > 40


# --- installing ------------------------------------------------------------------------------------------------------


NOTHING_INSTALLED = {'dpkg_query': 'exit 1', 'sudo': 'exec "$@"'}


def test_what_is_installed_is_said(fakes):
    """How many packages with what they need, how many megabytes, and how long it takes."""
    apt = 'case "$*" in *--print-uris*) for i in 1 2 3; do echo "\'http://x\' p_$i.deb 9000000 SHA256:0"; done;; esac'
    status, _, err = run(TOP / 'script' / 'bootstrap', path=fakes(apt_get=apt, **NOTHING_INSTALLED))
    assert status == 0
    assert 'installing 3 packages, 28 MB to fetch: minutes' in err and 'cmake' in err and 'tshark' in err


def test_all_there_is_silent(fakes):
    status, out, err = run(TOP / 'script' / 'bootstrap', path=fakes(dpkg_query='echo installed', apt_get='exit 9'))
    assert (status, out, err) == (0, '', '')


@pytest.mark.parametrize('when, words', [('update', ['update failed', 'network']), ('--print-uris', ['cannot install', 'cmake']),
                                         ('install', ['install failed', 'cmake'])])
def test_apt_fails(fakes, when, words):
    """Its own words first, then one sentence and exit status 1."""
    apt = 'case "$*" in *--print-uris*) now=--print-uris;; *update*) now=update;; *) now=install;; esac\n' \
          'if [ $now = %s ]; then echo "E: broken" >&2; exit 100; fi' % when
    status, _, err = run(TOP / 'script' / 'bootstrap', path=fakes(apt_get=apt, **NOTHING_INSTALLED))
    assert status == 1 and 'E: broken' in err
    assert all(w in err.splitlines()[-1] for w in words), err


def test_another_system(tmp_path):
    """No apt: what to install, and the plain commands."""
    folder = tmp_path / 'bin'
    folder.mkdir()
    for tool in ('sh', 'sed', 'dirname', 'id', 'cksum', 'cut', 'env', 'cat'):
        (folder / tool).symlink_to(shutil.which(tool))
    done = subprocess.run([TOP / 'script' / 'bootstrap'], env={'PATH': str(folder), 'HOME': str(tmp_path)},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert b'cmake -S . -B build' in done.stderr and b'ninja -C build' in done.stderr


# --- building --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize('tool, text, words', [
    ('cmake', 'echo "CMake Error: no compiler" >&2; exit 1', ['CMake Error: no compiler', 'cmake failed']),
    ('ninja', 'echo "FAILED: x.o"; exit 1', ['FAILED: x.o', 'the build failed'])])
def test_a_build_that_fails(fakes, tmp_path, tool, text, words):
    status, _, err = run(TOP / 'script' / 'build', BUILD=str(tmp_path / 'build'),
                         path=fakes(**{'cmake': 'exit 0', 'ninja': 'exit 0', 'dpkg_query': 'echo installed', tool: text}))
    assert status == 1 and all(w in err for w in words), err


@pytest.mark.parametrize('locked', ['build/cmake.out', 'build', '.'])
def test_a_build_of_root(fakes, tmp_path, locked):
    """In one's own folder, one's own checkout or somebody else's: it is built elsewhere, and that is said."""
    top = tmp_path / 'pcq'
    shutil.copytree(TOP / 'script', top / 'script')
    if locked != '.':
        (top / 'build').mkdir()
        (top / 'build' / 'cmake.out').touch()
    (top / locked).chmod(0o555)
    status, _, err = run(top / 'script' / 'build', XDG_CACHE_HOME=str(tmp_path / 'cache'),
                         path=fakes(cmake='exit 0', ninja='exit 0', dpkg_query='echo installed'))
    (top / locked).chmod(0o755)
    assert status == 0 and 'not ours to write: building in %s' % tmp_path in err, err


def test_a_moved_checkout_builds_again(tree, fakes):
    """A folder that was renamed: no error of CMake, and no old path in what it makes."""
    # CMake tries the compiler with it; what it would build is not looked at.
    ninja = 'case "$*" in --quiet*) exit 0;; *) exec %s "$@";; esac' % shutil.which('ninja')
    fake = fakes(dpkg_query='echo installed', ninja=ninja)
    top = shutil.copytree(tree, tree.parent / 'before', ignore=shutil.ignore_patterns('CMakeCache.txt', 'CMakeFiles'))
    assert run(top / 'script' / 'build', path=fake)[0] == 0
    moved = top.rename(tree.parent / 'moved')
    status, out, err = run(moved / 'script' / 'build', path=fake)
    assert (status, out, err) == (0, '', '')
    assert 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\n' % moved in (moved / 'build' / 'CMakeCache.txt').read_text()
    assert str(top) + '/' not in (moved / 'build' / 'build.ninja').read_text()


# --- opening a capture -----------------------------------------------------------------------------------------------


def dissect(fakes, *args, **more):
    """script/dissect with the plugin that is tested"""
    plugins = os.environ['WIRESHARK_PLUGIN_DIR']
    build = plugins.removesuffix('/plugins')
    fake = fakes(dpkg_query='echo installed', cmake='exit 0', ninja='exit 0')
    if not os.path.exists(build + '/CMakeCache.txt') or not os.access(build, os.W_OK):
        build = str(fake.parent / 'build')
        shutil.copytree(plugins, build + '/plugins', dirs_exist_ok=True)
        (fake.parent / 'build' / 'CMakeCache.txt').write_text('CMAKE_HOME_DIRECTORY:INTERNAL=%s\nCMAKE_CACHEFILE_DIR:INTERNAL=%s\n' %
                                                              (TOP, build))
    return run(TOP / 'script' / 'dissect', *args, path=fake, BUILD=build, **more)


def test_the_bundled_capture(fakes):
    status, out, err = dissect(fakes)
    assert status == 0 and 'every call' in out and 'OpenQueryHandle' in out and 'pcq' not in err
    assert 'the last answer of QueryCounterData' in out and 'Processor Information' in out.split('the last answer')[1]


def test_a_capture_with_its_key(fakes):
    status, out, err = dissect(fakes, PCAPS / 'tcp-ntlm.pcap', *PASSWORD, '-Y', 'pcq')
    assert status == 0 and len(out.splitlines()) > 50 and err == ''


@pytest.mark.parametrize('name, args, words', [
    ('smb3-ntlm', [], ['116 calls could not be opened', 'NTLM', 'ntlmssp.nt_password:PASSWORD', 'docs/decryption.md',
                       'the password is that of: LAB\\Administrator\n']),
    ('smb3-ntlm', ['-o', 'ntlmssp.nt_password:x'], ['could not be opened', 'does not fit', 'docs/decryption.md']),
    ('tcp-kerberos', [], ['could not be opened', 'Kerberos', 'kerberos.file:KEYTAB', '6 fragments of longer calls']),
    ('smb3-kerberos', [], ['the keytab is for: cifs/labdc.lab.test@LAB.TEST (key version 1, encryption type 18), host/labdc.lab.test@LAB.TEST (']),
    ('smb3-kerberos', ['-K', PCAPS / 'tcp-kerberos.keytab'], ['104 calls could not be opened', 'does not fit', 'the keytab is for: cifs/']),
    ('smb3-encrypted-kerberos', [], ['125 packets are encrypted by SMB3', 'the keytab is for: cifs/labdc.lab.test@LAB.TEST']),
    ('smb3-encrypted', [], ['encrypted by SMB3', 'smb2_seskey_list', 'docs/decryption.md', 'LAB\\Administrator'])])
def test_what_could_not_be_opened_is_said(fakes, name, args, words):
    status, _, err = dissect(fakes, PCAPS / (name + '.pcap'), '-q', *args)
    assert status == 0 and all(w in err for w in words), err


def test_a_capture_of_something_else(fakes, tmp_path):
    empty = tmp_path / 'empty.pcap'
    empty.write_bytes((PCAPS / 'tcp-ntlm.pcap').read_bytes()[:24])
    status, _, err = dissect(fakes, empty, '-q')
    assert status == 0 and 'no call of PerflibV2 or HKEY_PERFORMANCE_DATA' in err


@pytest.mark.parametrize('args, words', [
    (['/nowhere.pcap'], 'no such capture: /nowhere.pcap'),
    ([PCAPS / 'tcp-ntlm.pcap', '-q', '-o', 'kerberos.file:/nowhere.keytab'], 'no such file: /nowhere.keytab'),
    ([PCAPS / 'tcp-ntlm.pcap', '-q', '-K', '/nowhere.keytab'], 'no such file: /nowhere.keytab')])
def test_a_file_that_is_not_there(fakes, args, words):
    """tshark says nothing of a keytab that it cannot read."""
    status, _, err = dissect(fakes, *args)
    assert status == 1 and words in err


def test_an_output_that_cannot_be_written(fakes):
    status, _, err = dissect(fakes, PCAPS / 'tcp-ntlm.pcap', *PASSWORD, '-q', '-z', 'pcq,names,/nowhere/names')
    assert status == 1 and '/nowhere' in err


def test_outputs_arrive(fakes, tmp_path):
    status, _, err = dissect(fakes, PCAPS / 'tcp-ntlm.pcap', *PASSWORD, '-q', '-z', 'pcq,names,names', '-w', 'out.pcap', cwd=tmp_path)
    assert status == 0 and err == ''
    assert (tmp_path / 'names').read_text().startswith('# pcq names 1\n') and (tmp_path / 'out.pcap').stat().st_size > 24


# --- README's own lines ------------------------------------------------------------------------------------------------


def test_the_plain_commands(tree, fakes, tmp_path):
    """Those of README.md for whoever has no apt, in a copy of the tree."""
    readme = (TOP / 'README.md').read_text()
    for command in ('cmake -S . -B build -G Ninja', 'ninja -C build', 'WIRESHARK_PLUGIN_DIR=build/plugins tshark -G plugins',
                    'cmake --install build'):
        assert '    %s\n' % command in readme
        done = subprocess.run(['sh', '-c', command], cwd=tree, env=dict(os.environ, DESTDIR=str(tmp_path), HOME=str(tmp_path)),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == 0, done.stderr
        if 'tshark' in command:
            assert b'pcq.so' in done.stdout
    assert list(tmp_path.glob('usr/**/plugins/*/epan/pcq.so'))


def test_the_profile_is_installed_and_removed(tree, fakes, tmp_path):
    """Beside the plugin; one that the user has changed stays, whatever happens."""
    fake = fakes(dpkg_query='echo installed')
    profile = tmp_path / '.config' / 'wireshark' / 'profiles' / 'Performance Counters'
    home = {'HOME': str(tmp_path), 'XDG_CONFIG_HOME': str(tmp_path / '.config')}
    status, out, err = run(tree / 'script' / 'install', path=fake, **home)
    assert status == 0 and str(profile) in out, err
    assert (profile / 'colorfilters').read_bytes() == (TOP / 'plugin/profile/Performance Counters/colorfilters').read_bytes()
    assert list(tmp_path.glob('.local/lib/wireshark/plugins/*/epan/pcq.so'))
    (profile / 'recent').write_text('as Wireshark leaves it\n')
    assert 'kept' not in run(tree / 'script' / 'install', path=fake, **home)[1]
    (profile / 'preferences').write_text('mine\n')
    assert 'kept' in run(tree / 'script' / 'install', path=fake, **home)[1]
    assert 'kept' in run(tree / 'script' / 'install', '--remove', path=fake, **home)[1]
    assert (profile / 'preferences').read_text() == 'mine\n'
    shutil.copy(TOP / 'plugin/profile/Performance Counters/preferences', profile)
    assert run(tree / 'script' / 'install', '--remove', path=fake, **home)[0] == 0
    assert not profile.exists() and not list(tmp_path.glob('.local/lib/wireshark/plugins/*/epan/pcq.so'))


def test_removing_by_hand(tmp_path):
    """README.md's two lines take away what was installed, and no more."""
    plugin = tmp_path / '.local/lib/wireshark/plugins/4.0/epan/pcq.so'
    other = plugin.with_name('other.so')
    profile = tmp_path / '.config/wireshark/profiles/Performance Counters/preferences'
    for path in (plugin, other, profile):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for line in (TOP / 'README.md').read_text().splitlines():
        if line.startswith('    rm '):
            subprocess.run(['sh', '-euc', line], env=dict(os.environ, HOME=str(tmp_path)), check=True)
    assert other.exists() and not plugin.exists() and not profile.parent.exists()
