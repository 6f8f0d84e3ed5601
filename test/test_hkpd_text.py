# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of PERF_DATA_BLOCK in the code pages of Windows."""

import pytest

from gen.hkpd_block import Counter, Instance, Object
from gen.hkpd_scene import Talk, answers
from gen.model import TYPES, grows
from gen.scene import Scene
from test_hkpd import experts, read

COUNTERS = [Counter(6, 'Work', TYPES['PERF_COUNTER_BULK_COUNT'], grows(10, 10))]


def names_shown(tshark, folder, names, code_page, encoding):
    scene = Scene()
    talk = Talk(scene, objects=[Object(230, 'Queue', COUNTERS, lambda at: [Instance(n) for n in names],
                                       code_page=code_page, encoding=encoding)])
    talk.open()
    talk.titles()
    talk.sample()
    frame = read(tshark, scene, folder)[answers(scene)[0][0]]
    return frame.show_of('hkpd.instance.name'), experts(frame)


@pytest.mark.parametrize('code_page, encoding, name', [
    (437, 'cp437', 'Gr\xf6\xdfe'),
    (737, 'cp737', '\u03a3\u03c5\u03c3\u03ba\u03b5\u03c5\u03ae'),
    (775, 'cp775', 'R\u012bga'),
    (850, 'cp850', 'Gr\xf6\xdfe \xa9'),
    (852, 'cp852', '\u0158\xedha'),
    (855, 'cp855', '\u041c\u043e\u0441\u043a\u0432\u0430'),
    (857, 'cp857', '\u0130stanbul \u015f'),
    (862, 'cp862', '\u05e9\u05dc\u05d5\u05dd'),
    (866, 'cp866', '\u041c\u043e\u0441\u043a\u0432\u0430'),
    (932, 'cp932', '\u30d7\u30ea\u30f3\u30bf \uff71 \u2460'),
    (936, 'gbk', '\u6253\u5370\u673a'),
    (949, 'cp949', '\ud504\ub9b0\ud130 \ub625'),
    (950, 'cp950', '\u5370\u8868\u6a5f'),
    (1250, 'cp1250', '\u0158\xedha'),
    (1253, 'cp1253', '\u03a3\u03c5\u03c3\u03ba\u03b5\u03c5\u03ae'),
    (1254, 'cp1254', '\u0130stanbul'),
    (1255, 'cp1255', '\u05e9\u05dc\u05d5\u05dd'),
    (1256, 'cp1256', '\u0637\u0627\u0628\u0639\u0629'),
    (1257, 'cp1257', 'R\u012bga'),
    (1258, 'cp1258', 'H\xe0 N\xf4i \u0111'),
    (20127, 'ascii', 'plain'),
    (28605, 'iso8859-15', '5 \u20ac'),
    (65001, 'utf-8', '\U0001f98a'),
])
def test_names_in_code_pages(tshark, tmp_path, code_page, encoding, name):
    names, found = names_shown(tshark, tmp_path, [name, '_Total'], code_page, encoding)
    assert names == [name, '_Total']
    assert not found


def test_an_unknown_code_page_is_said_and_its_names_stay_apart(tshark, tmp_path):
    names, found = names_shown(tshark, tmp_path, ['a\xe4', 'a\xf6'], 12345, 'latin-1')
    assert names == ['a\\xe4', 'a\\xf6']
    assert found == {'code_page'}


def test_bytes_that_a_code_page_does_not_have_stay_readable(tshark, tmp_path):
    names, found = names_shown(tshark, tmp_path, ['x\x81', '\xa0\x8e\x41'], 932, 'latin-1')
    assert names == ['x\\x81', '\\xa0\u62f6']
    assert not found


def test_a_long_name_is_cut_where_it_is_shown(tshark, tmp_path):
    fox = '\U0001f98a'
    names, _ = names_shown(tshark, tmp_path, ['x' * 30000, 'y' * 1024, 'z' * 1023 + fox, fox * 1025], 0, 'utf-16')
    assert names == ['x' * 1024 + '\u2026', 'y' * 1024, 'z' * 1023 + fox, fox * 1024 + '\u2026']


def test_a_value_in_a_code_page(tshark, tmp_path):
    """Text that the type says to be in the object's code page; UTF-16 else, though it could be that."""
    scene = Scene()
    talk = Talk(scene, objects=[Object(1500, 'Drucker', [
        Counter(1502, 'Narrow', 0x00010B00, lambda at, k: '\xe4\xf6\xfc \xdf', 8), Counter(1504, 'Wide', 0x00000B00, lambda at, k: '\xe4\xf6\xfc', 8)],
        code_page=1252, encoding='cp1252')])
    talk.open()
    talk.sample()
    frame = read(tshark, scene, tmp_path)[answers(scene)[0][0]]
    assert frame.show_of('hkpd.value.text') == ['\xe4\xf6\xfc \xdf', '\xe4\xf6\xfc']
