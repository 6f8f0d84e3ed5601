# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of PERF_DATA_BLOCK in the code pages of Windows."""

import pytest

from gen.hkpd_block import Counter, Instance, Object
from gen.hkpd_scenario import answers, begin_talk
from gen.model import TYPES, grows
from test_hkpd import experts, read

COUNTERS = [Counter(6, 'Work', TYPES['PERF_COUNTER_BULK_COUNT'], grows(10, 10))]


def names_shown(tshark, folder, names, code_page, encoding):
    scenario, talk = begin_talk(objects=[Object(230, 'Queue', COUNTERS, lambda at: [Instance(n) for n in names],
                                                code_page=code_page, encoding=encoding)])
    talk.sample()
    frame = read(tshark, scenario, folder)[answers(scenario)[0][0]]
    return frame.show_of('hkpd.instance.name'), experts(frame)


@pytest.mark.parametrize('code_page, encoding, name', [
    (437, 'cp437', 'Gr\xf6\xdfe'),
    (855, 'cp855', '\u041c\u043e\u0441\u043a\u0432\u0430'),
    (866, 'cp866', '\u041c\u043e\u0441\u043a\u0432\u0430'),
    (932, 'cp932', '\u30d7\u30ed\u30bb\u30b9'),
    (949, 'cp949', '\ud504\ub85c\uc138\uc2a4'),
    (950, 'big5', '\u8655\u7406\u7a0b\u5e8f'),
    (1253, 'cp1253', '\u0394\u03b9\u03b5\u03c1\u03b3\u03b1\u03c3\u03af\u03b1'),
    (936, 'gbk', '\u6253\u5370\u673a'),
    (1250, 'cp1250', '\u0158\xedha'),
    (20127, 'ascii', 'plain'),
    (65001, 'utf-8', '\U0001f98a'),
])
def test_names_in_code_pages(tshark, tmp_path, code_page, encoding, name):
    names, found = names_shown(tshark, tmp_path, [name, '_Total'], code_page, encoding)
    assert names == [name, '_Total']
    assert not found


@pytest.mark.parametrize('code_page', [12345, 0xFFFFFFFF, 932])
def test_bytes_that_are_no_characters_stay_apart(tshark, tmp_path, code_page):
    """An unknown code page; bytes that are none of one, or half a character."""
    names, _ = names_shown(tshark, tmp_path, ['a\xe4', 'a\xf6', 'a\xff!'], code_page, 'latin-1')
    assert names == ['a\\xe4', 'a\\xf6', 'a\\xff!']


def test_a_long_name_is_cut_where_it_is_shown(tshark, tmp_path):
    fox = '\U0001f98a'
    names, _ = names_shown(tshark, tmp_path, ['x' * 30000, 'y' * 1024, 'z' * 1023 + fox, fox * 1025], 0, 'utf-16')
    assert names == ['x' * 1024 + '\u2026', 'y' * 1024, 'z' * 1023 + fox, fox * 1024 + '\u2026']
    assert names_shown(tshark, tmp_path, ['x' + '\u30d7' * 3000], 932, 'cp932')[0] == ['x' + '\u30d7' * 1023 + '\u2026']


def test_a_value_in_a_code_page(tshark, tmp_path):
    """Text that the type says to be in the object's code page; UTF-16 else, though it could be that."""
    scenario, talk = begin_talk(objects=[Object(1500, 'Drucker', [
              Counter(1502, 'Narrow', 0x00010B00, lambda at, k: '\xe4\xf6\xfc \xdf', 8), Counter(1504, 'Wide', 0x00000B00, lambda at, k: '\xe4\xf6\xfc', 8)],
              code_page=1252, encoding='cp1252')], titles=False)
    talk.sample()
    frame = read(tshark, scenario, tmp_path)[answers(scenario)[0][0]]
    assert frame.show_of('pcq.value.text') == ['\xe4\xf6\xfc \xdf', '\xe4\xf6\xfc']


def test_half_of_a_surrogate_pair_is_said(tshark, tmp_path):
    assert names_shown(tshark, tmp_path, ['a\ud83d', '\U0001f98a'], 0, 'utf-16') == (['a\ufffd', '\U0001f98a'], {'text'})
