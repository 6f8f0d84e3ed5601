# SPDX-License-Identifier: GPL-2.0-or-later
"""What a person reads at a value: the number, its unit, and the formula with its numbers."""

import re

import pytest

from gen.scripted import Server, Times, answers, ask, counter, learn, run, single, capture_talk
from learned import one, read

RAW = 1407264450854600263           # no double holds it
START = 5 * 10 ** 11, 134351767437550592


def second():
    """Two samples, a second apart by both clocks."""
    return Times([START, (START[0] + 10 ** 7, START[1] + 10 ** 7)])


def words(item):
    return item.label.split(' = ', 1)[1]


def told(tshark, folder, *counters, clock=None, samples=2):
    """[values of each answer] of one single-instance set"""
    s = single('Machine', *counters)
    server = Server([s], **({'clock': clock} if clock else {}))
    scenario = capture_talk(server, lambda c: (learn(c, s), run(c, [ask(s)], samples)))
    frames = read(tshark, scenario, folder)
    return [frames[number] for number, _ in answers(scenario)]


def test_raw_types_show_the_integer(tshark, tmp_path):
    """The result is a double, which cannot hold all 64 bits: the label shows what was sent."""
    frame, = told(tshark, tmp_path, counter(1, 'PERF_COUNTER_LARGE_RAWCOUNT', 'Raw', [RAW]),
                  counter(2, 'PERF_COUNTER_LARGE_RAWCOUNT_HEX', 'Hex', [RAW]),
                  counter(3, 'PERF_COUNTER_LARGE_RAWCOUNT', 'All', [2 ** 64 - 1]), samples=1)
    shown = ['1,407,264,450,854,600,263', '0x%x' % RAW, '18,446,744,073,709,551,615']
    assert [words(v) for v in frame.values] == shown
    assert [v.own('pcq.cooked')[0].label for v in frame.values] == ['Calculated value: ' + x for x in shown]


@pytest.mark.parametrize('kind, step, expected', [
    *(('PERF_COUNTER_BULK_COUNT', *x) for x in ((20000000, '20,000,000.0 /sec'), (124, '124.0 /sec'), (12, '12.0 /sec'), (1, '1.00 /sec'), (0, '0.0 /sec'))),
    ('PERF_AVERAGE_TIMER', 4100, '0.000137 sec')])
def test_a_rate(tshark, tmp_path, kind, step, expected):
    """One second between the samples; Avg. Disk sec/Read: 3 reads that took 4,100 ticks of 100 ns."""
    frame = told(tshark, tmp_path, counter(1, kind, 'Rate', [5, 5 + step], base=2), counter(2, 'PERF_AVERAGE_BASE', 'Base', [7, 10]), clock=second())[1]
    assert words(frame.values[0]) == expected


def formula(value):
    """Behind the result, or behind the reason why there is none."""
    item, = value.own('pcq.cooked') + value.own('pcq.cooked.none')
    found = re.fullmatch(r'Calculated value: [^=]* = (.*)|No calculated value: .* \(\d+\), (.*)', item.label)
    return found and (found[1] or found[2])


MULTI = "(by the NT Resource Kit's form; later documents differ and no use of it is known)"


def test_the_formula_has_its_numbers(tshark, tmp_path):
    first, later = told(tshark, tmp_path, counter(1, 'PERF_100NSEC_TIMER_INV', 'Busy', [80, 1080]),
                         counter(2, 'PERF_COUNTER_BULK_COUNT', 'Rate', [5, 2005]),
                         counter(3, 'PERF_RAW_FRACTION', 'Full', [1, 3], base=4),
                         counter(4, 'PERF_RAW_BASE', 'Base', [2, 4]),
                         counter(5, 'PERF_COUNTER_RAWCOUNT', 'Raw', [1, 1]),
                         counter(6, 'PERF_ELAPSED_TIME', 'Up', [7, 7], time=8, freq=9),
                         counter(7, 'PERF_100NSEC_MULTI_TIMER', 'Cores', [80, 1080], multi=5),
                         counter(8, 'PERF_COUNTER_LARGE_RAWCOUNT', 'Time', [100, 207]),
                         counter(9, 'PERF_COUNTER_LARGE_RAWCOUNT', 'Frequency', [100, 100]),
                         counter(10, 'PERF_COUNTER_DELTA', 'Behind them all', [1, 3]), clock=second())
    assert [formula(v) for v in later.values] == [
        '100 * (1 - (N1 - N0) / (H1 - H0)), N1 = 1,080, N0 = 80, H1 - H0 = 10,000,000',
        '(N1 - N0) / ((T1 - T0) / F), N1 = 2,005, N0 = 5, T1 - T0 = 10,000,000, F = 10,000,000',
        '100 * N1 / B1, N1 = 3, B1 = 4', None, None,
        '(O1 - N1) / OF, N1 = 7, O1 = 207, OF = 100 (the value is the start time)',
        '100 * ((N1 - N0) / (H1 - H0)) / M1, N1 = 1,080, N0 = 80, H1 - H0 = 10,000,000, M1 = 1 ' + MULTI, None, None,
        'N1 - N0, N1 = 3, N0 = 1']
    assert formula(first.values[0]) == '100 * (1 - (N1 - N0) / (H1 - H0)), N1 = 80'


def test_the_formula_has_no_number_that_is_not_there(tshark, tmp_path):
    """Neither base counter nor time and frequency are in the answer."""
    frame, = told(tshark, tmp_path, counter(1, 'PERF_RAW_FRACTION', 'Full', [3], base=9),
                  counter(2, 'PERF_ELAPSED_TIME', 'Up', [7]), samples=1)
    assert [formula(v) for v in frame.values] == ['100 * N1 / B1, N1 = 3', '(O1 - N1) / OF, N1 = 7']


def test_a_clock_that_stands_still(tshark, tmp_path):
    """There is a sample before, and no time between."""
    frame = told(tshark, tmp_path, counter(1, 'PERF_COUNTER_BULK_COUNT', 'Rate', [5, 6]), clock=Times([START]))[1]
    assert [formula(v) for v in frame.values] == ['(N1 - N0) / ((T1 - T0) / F), N1 = 6, N0 = 5, T1 - T0 = 0, F = 10,000,000']
    header, = frame.all('pcq.data_header')
    assert header.own('pcq.data.perf_freq')[0].label == 'Frequency: 10000000 (10,000,000 Hz)'
    assert one(header, 'pcq.sample.interval') is not None
    assert float(one(header, 'pcq.sample.interval')) == 0
