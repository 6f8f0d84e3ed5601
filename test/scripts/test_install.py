# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the plugin goes: what script/install says of it, and which Wireshark CMake takes."""

import os
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


def test_it_is_well(tmp_path):
    path = put(tmp_path, MINOR, 'epan')
    status, troubles, out = doctor(tmp_path)
    assert (status, troubles) == (0, []) and 'loaded: pcq.so' in out and str(path) in out


def test_one_for_another_version_beside_it(tmp_path):
    put(tmp_path, MINOR, 'epan')
    put(tmp_path, '3.9', 'epan')
    assert doctor(tmp_path)[:2] == (0, [])


def test_not_installed(tmp_path):
    status, (trouble,), _ = doctor(tmp_path)
    assert status == 1 and 'not installed' in trouble and 'script/install' in trouble


def test_after_an_upgrade(tmp_path):
    path = put(tmp_path, '3.9', 'epan')
    status, (trouble,), _ = doctor(tmp_path)
    assert status == 1 and str(path) in trouble and 'for Wireshark 3.9' in trouble and 'this is ' + MINOR in trouble


def test_built_for_another_version_in_the_right_folder(tmp_path, fakes):  # noqa: F811
    put(tmp_path, MINOR, 'epan')
    status, (trouble,), _ = doctor(tmp_path, path=fakes(ldd='echo "\tlibwireshark.so.99 => not found"'))
    assert status == 1 and 'libwireshark.so.99' in trouble and 'another Wireshark' in trouble


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


def test_the_variable_points_one_folder_too_deep(tmp_path):
    status, (trouble,), out = doctor(tmp_path, WIRESHARK_PLUGIN_DIR=str(PLUGIN.parents[1]))
    assert status == 1 and '%s is in the wrong folder' % PLUGIN in trouble and 'WIRESHARK_PLUGIN_DIR is set' in out


def test_a_home_with_a_space(tmp_path):
    home = tmp_path / 'a user'
    put(home, MINOR, 'epan')
    assert doctor(home)[:2] == (0, [])


def test_installed_twice(tmp_path):
    put(tmp_path, MINOR, 'epan')
    status, (trouble,), out = doctor(tmp_path, WIRESHARK_PLUGIN_DIR=str(PLUGIN.parents[2]))
    assert status == 1 and 'more than once' in trouble and 'WIRESHARK_PLUGIN_DIR is set' in out


def test_a_file_that_is_no_plugin(tmp_path):
    """Wireshark's own words, where we know no better."""
    put(tmp_path, MINOR, 'epan').write_bytes(b'nonsense')
    status, (trouble,), _ = doctor(tmp_path)
    assert status == 1 and 'does not load it' in trouble and 'pcq.so' in trouble


def test_a_file_that_was_cut_short(tmp_path):
    """tshark may die of it, whatever it is asked: then all that could be the cause is listed."""
    path = put(tmp_path, MINOR, 'epan')
    path.write_bytes(path.read_bytes()[:100000])
    status, (trouble,), out = doctor(tmp_path)
    assert status == 1 and ('dies of a plugin' in trouble or 'does not load it' in trouble) and str(path) in out


def test_a_copy_under_another_name(tmp_path):
    """Wireshark loads both, and the first of them is who dissects."""
    put(tmp_path, MINOR, 'epan')
    put(tmp_path, MINOR, 'epan', name='pcq-1.0.so')
    status, (trouble,), _ = doctor(tmp_path)
    assert status == 1 and 'more than once' in trouble


def test_a_wireshark_that_brings_it(tmp_path, fakes):  # noqa: F811
    put(tmp_path, MINOR, 'epan')
    fake = 'case $2 in plugins) ;; protocols) printf "Performance\\tPCQ\\tpcq\\n" ;; *) exec %s "$@" ;; esac' % shutil.which('tshark')
    status, (trouble,), _ = doctor(tmp_path, path=fakes(tshark=fake))
    assert status == 1 and 'brings the protocol pcq itself' in trouble


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


def test_too_old(tmp_path):
    status, err = configure(tmp_path, '3.6.24')
    assert status != 0 and 'pcq needs Wireshark 4.0 or later, and this is 3.6.24.' in err


def test_newer_than_tested(tmp_path):
    """It is tried."""
    status, err = configure(tmp_path, '4.8.1')
    assert status == 0 and 'pcq was tested with Wireshark 4.0 to 4.6, not with 4.8.1' in err


@pytest.mark.parametrize('version', ['4.0.17', '4.6.9'])
def test_as_tested(tmp_path, version):
    assert configure(tmp_path, version) == (0, '')
