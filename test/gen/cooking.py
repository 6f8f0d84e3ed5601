# SPDX-License-Identifier: GPL-2.0-or-later
"""Calculated values from two samples, straight from the published formulas: an oracle for the tests.

Letters: N the value, T PerfTimeStamp, F its frequency, H PerfTime100NSec, O and OF the object's time and
frequency, B the base counter, M the multiplier. A difference of 4-byte values is taken modulo 2^32; from 2^31 on it is none: the
counter began again.
"""

from fractions import Fraction
from typing import NamedTuple

from .model import TYPE_NAMES


class Reading(NamedTuple):
    """What is needed of one sample; a value is (number, bytes) or None where it is not there."""
    value: tuple
    at: object          # Instant
    base: tuple = None
    time: tuple = None
    freq: tuple = None
    multi: tuple = None


class Impossible(Exception):
    """There is no calculated value."""


def delta(now, before):
    """Difference of two (number, bytes) values; backwards is impossible, 4 bytes wrap."""
    if now is None or before is None or now[1] != before[1]:
        raise Impossible('value missing')
    d = now[0] - before[0]
    if now[1] == 4:
        d = (d + 2 ** 31) % 2 ** 32 - 2 ** 31
    if d < 0:
        raise Impossible('went backwards')
    return d


def _over(a, b):
    if b <= 0:
        raise Impossible('nothing to divide by')
    return Fraction(a) / b


def _number(v):
    if v is None:
        raise Impossible('counter not in the query')
    return v[0]


def _clock(which):
    def ticks(now, before):
        d = getattr(now.at, which) - getattr(before.at, which)
        if d <= 0:
            raise Impossible('time stood still')
        return d
    return ticks


def _object(now, before):
    return delta(now.time, before.time)


def _base(now, before):
    return delta(now.base, before.base)


_stamp, _100ns = _clock('stamp'), _clock('filetime')


def _raw(now, before):
    return Fraction(now.value[0])


def _delta(now, before):
    return Fraction(delta(now.value, before.value))


def _rate(now, before):
    return _over(delta(now.value, before.value) * now.at.freq, _stamp(now, before))


def _over_time(ticks, scale=1, inverse=False):
    def cook(now, before):
        x = _over(delta(now.value, before.value), ticks(now, before))
        return scale * (1 - x if inverse else x)
    return cook


def _multi(ticks, inverse=False):
    """The NT Resource Kit's form: shares of M."""
    def cook(now, before):
        x = _over(delta(now.value, before.value), ticks(now, before))
        m = _number(now.multi)
        return 100 * _over(m - x if inverse else x, m)
    return cook


def _fraction(now, before):
    return 100 * _over(now.value[0], _number(now.base))


def _average_timer(now, before):
    return _over(_over(delta(now.value, before.value), now.at.freq), _base(now, before))


def _elapsed(now, before):
    if now.value[0] == 0:
        raise Impossible('not started')
    d = _number(now.time) - now.value[0]
    if d < 0:
        raise Impossible('starts in the future')
    return _over(d, _number(now.freq))


NEEDS_ONE = {'PERF_COUNTER_RAWCOUNT': _raw, 'PERF_COUNTER_LARGE_RAWCOUNT': _raw, 'PERF_COUNTER_RAWCOUNT_HEX': _raw,
             'PERF_COUNTER_LARGE_RAWCOUNT_HEX': _raw, 'PERF_RAW_FRACTION': _fraction,
             'PERF_LARGE_RAW_FRACTION': _fraction, 'PERF_ELAPSED_TIME': _elapsed}
NEEDS_TWO = {
    'PERF_COUNTER_DELTA': _delta, 'PERF_COUNTER_LARGE_DELTA': _delta,
    'PERF_COUNTER_COUNTER': _rate, 'PERF_COUNTER_BULK_COUNT': _rate, 'PERF_SAMPLE_COUNTER': _rate,
    'PERF_COUNTER_QUEUELEN_TYPE': _over_time(_stamp), 'PERF_COUNTER_LARGE_QUEUELEN_TYPE': _over_time(_stamp),
    'PERF_COUNTER_100NS_QUEUELEN_TYPE': _over_time(_100ns),
    'PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE': _over_time(_object),
    'PERF_COUNTER_TIMER': _over_time(_stamp, 100), 'PERF_100NSEC_TIMER': _over_time(_100ns, 100),
    'PERF_OBJ_TIME_TIMER': _over_time(_object, 100),
    'PERF_COUNTER_TIMER_INV': _over_time(_stamp, 100, True),
    'PERF_100NSEC_TIMER_INV': _over_time(_100ns, 100, True),
    'PERF_PRECISION_SYSTEM_TIMER': _over_time(_base, 100), 'PERF_PRECISION_100NS_TIMER': _over_time(_base, 100),
    'PERF_PRECISION_OBJECT_TIMER': _over_time(lambda n, b: _base(n, b) if n.base else _object(n, b), 100),
    'PERF_SAMPLE_FRACTION': _over_time(_base, 100), 'PERF_AVERAGE_BULK': _over_time(_base),
    'PERF_AVERAGE_TIMER': _average_timer,
    'PERF_COUNTER_MULTI_TIMER': _multi(_stamp), 'PERF_100NSEC_MULTI_TIMER': _multi(_100ns),
    'PERF_COUNTER_MULTI_TIMER_INV': _multi(_stamp, True), 'PERF_100NSEC_MULTI_TIMER_INV': _multi(_100ns, True),
}


def cook(counter_type, now, before):
    """The calculated value as a float, or None where there is none."""
    name = TYPE_NAMES.get(counter_type)
    try:
        if name in NEEDS_ONE:
            return float(NEEDS_ONE[name](now, before))
        if name in NEEDS_TWO and before is not None:
            return float(NEEDS_TWO[name](now, before))
    except Impossible:
        pass
    return None
