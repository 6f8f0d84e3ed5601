# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the plugin goes: what script/install says of it, and which Wireshark CMake takes."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import TOP
from test_scripts import fakes, quick_tshark, run  # noqa: F401 (fixtures)

PLUGIN = min(Path(os.environ.get('WIRESHARK_PLUGIN_DIR', TOP / 'build' / 'plugins')).glob('*/epan/pcq.*'))
MINOR = PLUGIN.parts[-3]
PERSONAL = '.local/lib/wireshark/plugins'


def put(home, *folders, name='pcq.so'):
    folder = home.joinpath(PERSONAL, *folders)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(PLUGIN, folder / name)
    return folder / name


def install(home, option, **env):
    return run(TOP / 'script' / 'install', option, HOME=str(home), **env)


def doctor(home, **env):
    """-> (exit status, what it found wrong, all lines)"""
    status, out, err = install(home, '--doctor', **env)
    assert err == ''
    return status, [line for line in out.splitlines() if line.startswith('- ')], out


# --- removing --------------------------------------------------------------------------------------------------------

def test_removed_from_every_version(tmp_path):
    """The plugin alone, with the folders that are empty then."""
    for version in (MINOR, '3.9'):
        put(tmp_path, version, 'epan')
    other = put(tmp_path, '3.8', 'epan', name='other.so')
    status, out, err = install(tmp_path, '--remove')
    assert (status, err) == (0, '') and out.count('removed ') == 2
    assert [p for p in tmp_path.rglob('*') if p.is_file()] == [other]
    assert not (tmp_path / PERSONAL / MINOR).exists()


def test_nothing_to_remove(tmp_path):
    status, out, _ = install(tmp_path, '--remove')
    assert status == 0 and 'nothing' in out


# --- the doctor ------------------------------------------------------------------------------------------------------

HERE, OTHER = [MINOR, 'epan'], ['3.9', 'epan']


@pytest.mark.parametrize('there', [[HERE], [HERE, OTHER]], ids=['alone', 'for another version beside it'])
def test_it_is_well(tmp_path, there):
    """In a home with a space, too."""
    home = tmp_path / 'a user'
    path, *_ = [put(home, *folders) for folders in there]
    status, troubles, out = doctor(home)
    assert (status, troubles) == (0, []) and 'loaded: pcq.so' in out and str(path) in out


BUILT_IN = 'case $2 in plugins) ;; protocols) printf "Performance\\tPCQ\\tpcq\\n" ;; *) exec %s "$@" ;; esac' % shutil.which('tshark')


@pytest.mark.parametrize('there, programs, variable, words', [
    ({}, {}, None, ['not installed', 'script/install']),
    # after an upgrade
    ({'3.9/epan/pcq.so': None}, {}, None, ['3.9/epan/pcq.so', 'for Wireshark 3.9', 'this is ' + MINOR]),
    # in the right folder, for another version
    ({MINOR + '/epan/pcq.so': None}, dict(ldd='echo "\tlibwireshark.so.99 => not found"'), None, ['libwireshark.so.99', 'another Wireshark']),
    # the variable points one folder too deep
    ({}, {}, 1, ['%s is in the wrong folder' % PLUGIN]),
    ({MINOR + '/epan/pcq.so': None}, {}, 2, ['more than once']),
    # no plugin: Wireshark's own words, where we know no better
    ({MINOR + '/epan/pcq.so': b'nonsense'}, {}, None, ['does not load it', 'pcq.so']),
    # one that was cut short: tshark may die of it, whatever it is asked; then all that could be the cause is listed
    ({MINOR + '/epan/pcq.so': PLUGIN.read_bytes()[:100000]}, {}, None, ['(?:dies of a plugin|does not load it)']),
    # a copy under another name: Wireshark loads both, and the first of them is who dissects
    ({MINOR + '/epan/pcq.so': None, MINOR + '/epan/pcq-1.0.so': None}, {}, None, ['more than once']),
    ({MINOR + '/epan/pcq.so': None}, dict(tshark=BUILT_IN), None, ['brings the protocol pcq itself'])],
    ids=['not installed', 'upgrade', 'other version', 'too deep', 'twice', 'no plugin', 'cut short', 'copy', 'built in'])
def test_what_the_doctor_finds(tmp_path, fakes, there, programs, variable, words):  # noqa: F811
    for name, content in there.items():
        path = put(tmp_path, *name.split('/')[:-1], name=name.split('/')[-1])
        if content:
            path.write_bytes(content)
    env = {} if variable is None else dict(WIRESHARK_PLUGIN_DIR=str(PLUGIN.parents[variable]))
    status, (trouble,), out = doctor(tmp_path, path=fakes(**programs), **env)
    assert status == 1 and all(w in trouble or re.search(w, trouble) for w in words), trouble
    assert ('WIRESHARK_PLUGIN_DIR is set' in out) == bool(env)


WRONG = [[], [MINOR], ['epan'], [MINOR, 'wiretap'], ['../../../../.config/wireshark/plugins'],
         ['../../../../.config/wireshark/plugins', MINOR, 'epan']]


@pytest.fixture(scope='module')
def misplaced(tmp_path_factory):
    """-> a home where it lies in each of the wrong folders, and what the doctor says of that"""
    home = tmp_path_factory.mktemp('home')
    return home, [put(home, *folders) for folders in WRONG], doctor(home)


@pytest.mark.parametrize('folders', WRONG, ids='/'.join)
def test_in_the_wrong_folder(misplaced, folders):
    home, paths, (status, troubles, _) = misplaced
    right = home / PERSONAL / MINOR / 'epan'
    said = '- %s is in the wrong folder: it belongs into %s' % (os.path.normpath(paths[WRONG.index(folders)]), right)
    assert status == 1 and troubles.count(said) == 1 and len(troubles) == len(WRONG)


def test_root(tmp_path, fakes):  # noqa: F811
    put(tmp_path, MINOR, 'epan')
    fake = fakes(id='echo 0')
    status, troubles, _ = doctor(tmp_path, path=fake)
    assert status == 1 and any('root' in t for t in troubles)
    status, _, err = run(TOP / 'script' / 'install', path=fake, HOME=str(tmp_path))
    assert status == 1 and 'root gets no plugins' in err


# --- CMake -----------------------------------------------------------------------------------------------------------

def configure(folder, version):
    """What CMake says of a Wireshark that gives itself that version."""
    real, = Path('/usr/lib').glob('*/**/WiresharkConfig.cmake')
    major, minor = version.split('.')[:2]
    (folder / 'WiresharkConfig.cmake').write_text(
        'include(%s)\nset(Wireshark_VERSION %s)\nset(Wireshark_MAJOR_VERSION %s)\nset(Wireshark_MINOR_VERSION %s)\n' %
        (real, version, major, minor))
    done = subprocess.run(['cmake', '-G', 'Ninja', '-S', TOP, '-B', folder / 'build', '-DWireshark_DIR=%s' % folder],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, ' '.join(done.stderr.split())


@pytest.mark.parametrize('version, status, said', [
    ('3.6.24', 1, 'pcq needs Wireshark 4.0 or later, and this is 3.6.24.'),
    ('4.8.1', 0, 'pcq was tested with Wireshark 4.0 to 4.6, not with 4.8.1'), ('4.6.9', 0, None)])
def test_other_versions(tmp_path, version, status, said):
    """One that is newer than tested is tried."""
    got, err = configure(tmp_path, version)
    assert got == status and (said in err if said else err == '')
