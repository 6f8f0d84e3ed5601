# SPDX-License-Identifier: GPL-2.0-or-later
"""What the modelled server of the captures offers: countersets of Windows whose ids, names and types are public, with
values that move in real time, so that what is calculated from two samples looks like a machine at work.

Ids, names and types: Microsoft's documentation of the performance counter functions, and public programs that read
these sets on Windows. German texts are this project's.
"""

import math
import time

from gen.model import (ENGLISH, FREQ, GERMAN, MULTI_AGGREGATE, MULTIPLE, TYPES, Clock, Counter, Counterset, Instance,
                       Instant)

FILETIME_OF_1970 = 116444736000000000
PROVIDER = 'Microsoft-Windows-Kernel-Processor'


class LiveClock(Clock):
    """The clocks of this machine, as Windows keeps them: 10 MHz since boot, and 100 ns since 1601."""

    def now(self):
        return Instant(self.number, time.monotonic_ns() // 100 + 3 * 24 * 3600 * FREQ,
                       FILETIME_OF_1970 + time.time_ns() // 100)


def seconds(at):
    """A small number that grows by one each second."""
    return at.stamp / FREQ % 1000000


def timer(percent, swing=0.0, period=7.0):
    """100 ns units spent in some state: that part of the time, more and less in turn; other instances a bit more."""
    def value(at, k):
        s = seconds(at)
        wave = swing * period / (2 * math.pi) * math.sin(2 * math.pi * (s + k) / period)
        return int(FREQ / 100 * ((percent + 1.5 * k) * s + wave)) + 10 ** 12
    return value


def rate(per_second, start=0, swing=0.3, period=5.0):
    """A count that grows by so many in a second, more and less in turn."""
    def value(at, k):
        s = seconds(at)
        wave = swing * period / (2 * math.pi) * math.sin(2 * math.pi * (s + 2 * k) / period)
        return start + int(per_second * (1 + 0.2 * k) * (s + wave))
    return value


def reading(*values):
    """A gauge that goes through these readings."""
    return lambda at, k: values[(at.number + k) % len(values)]


def processor_information():
    rows = (
        (0, '% Processor Time', 'Prozessorzeit (%)', '100NSEC_TIMER_INV', timer(80, 12)),
        (1, '% User Time', 'Benutzerzeit (%)', '100NSEC_TIMER', timer(12, 8)),
        (2, '% Privileged Time', 'Privilegierte Zeit (%)', '100NSEC_TIMER', timer(5, 3)),
        (3, 'Interrupts/sec', 'Interrupts/s', 'COUNTER_COUNTER', rate(1800, 4294000000)),
        (4, '% DPC Time', 'DPC-Zeit (%)', '100NSEC_TIMER', timer(1.2, 0.8)),
        (5, '% Interrupt Time', 'Interruptzeit (%)', '100NSEC_TIMER', timer(0.8, 0.5)),
        (6, 'DPCs Queued/sec', 'DPCs in Warteschlange/s', 'COUNTER_COUNTER', rate(420)),
        (7, 'DPC Rate', 'DPC-Rate', 'COUNTER_RAWCOUNT', reading(0, 3, 1, 7)),
        (8, '% Idle Time', 'Leerlaufzeit (%)', '100NSEC_TIMER', timer(79, 12)),
        (9, '% C1 Time', 'C1-Zeit (%)', '100NSEC_TIMER', timer(30, 10)),
        (10, '% C2 Time', 'C2-Zeit (%)', '100NSEC_TIMER', timer(45, 15)),
        (11, '% C3 Time', 'C3-Zeit (%)', '100NSEC_TIMER', lambda at, k: 0),
        (12, 'C1 Transitions/sec', 'C1-Übergänge/s', 'COUNTER_BULK_COUNT', rate(950, 10 ** 9)),
        (13, 'C2 Transitions/sec', 'C2-Übergänge/s', 'COUNTER_BULK_COUNT', rate(610, 10 ** 10)),
        (14, 'C3 Transitions/sec', 'C3-Übergänge/s', 'COUNTER_BULK_COUNT', lambda at, k: 0),
        (15, '% Priority Time', 'Prioritätszeit (%)', '100NSEC_TIMER_INV', timer(82, 11)),
        (16, 'Parking Status', 'Parkstatus', 'COUNTER_RAWCOUNT', reading(0, 1)),
        (17, 'Processor Frequency', 'Prozessorfrequenz', 'COUNTER_RAWCOUNT', reading(2592, 1800, 3100)),
        (18, '% of Maximum Frequency', 'Prozent der Maximalfrequenz', 'COUNTER_RAWCOUNT', reading(100, 69)),
        (19, 'Processor State Flags', 'Prozessorstatusflags', 'COUNTER_RAWCOUNT', reading(0)),
        (20, 'Clock Interrupts/sec', 'Taktinterrupts/s', 'COUNTER_COUNTER', rate(64, 17)),
        (21, 'Average Idle Time', 'Mittlere Leerlaufzeit', 'PRECISION_100NS_TIMER', timer(40, 5), dict(base=22)),
        (22, 'Average Idle Time Base', 'Basis der mittleren Leerlaufzeit', 'LARGE_RAW_BASE', timer(100)),
        (23, 'Idle Break Events/sec', 'Leerlaufunterbrechungen/s', 'COUNTER_BULK_COUNT', rate(77, 2 ** 33)),
        (24, '% Processor Performance', 'Prozessorleistung (%)', 'AVERAGE_BULK', rate(6.2e7, 10 ** 13), dict(base=25)),
        (25, '% Processor Performance Base', 'Basis der Prozessorleistung', 'AVERAGE_BASE', rate(625966, 4294000000)),
        (26, '% Processor Utility', 'Prozessornutzen (%)', 'AVERAGE_BULK', rate(4.8e7, 3256992943318), dict(base=27)),
        (27, None, None, 'AVERAGE_BASE', rate(625966, 1444507332, 0)),
        (28, '% Privileged Utility', 'Privilegierter Nutzen (%)', 'AVERAGE_BULK', rate(9.1e6), dict(base=27)),
        (30, '% Performance Limit', 'Leistungsgrenze (%)', 'COUNTER_RAWCOUNT', reading(100)),
        (31, 'Performance Limit Flags', 'Flags der Leistungsgrenze', 'COUNTER_RAWCOUNT', reading(0, 0x200)),
    )
    names = '0,0', '0,1', '0,_Total', '_Total'
    return Counterset(
        'Processor Information', MULTI_AGGREGATE, [counter(*row, aggregate=2) for row in rows],
        lambda at: [Instance(i, name) for i, name in enumerate(names)],
        names={GERMAN: 'Prozessorinformationen'}, provider=PROVIDER,
        helps={ENGLISH: 'What the processors are busy with, one instance for each logical processor.',
               GERMAN: 'Womit die Prozessoren beschäftigt sind, eine Instanz je logischem Prozessor.'},
        guid='b4fc721a-0378-476f-89ba-a5a79f810b36')


def thermal_zone_information():
    rows = ((0, 'Temperature', 'Temperatur', 'COUNTER_RAWCOUNT', reading(301, 302, 304)),
            (3, 'High Precision Temperature', 'Genaue Temperatur', 'COUNTER_RAWCOUNT', reading(3012, 3018, 3041)))
    return Counterset('Thermal Zone Information', MULTIPLE, [counter(*row) for row in rows],
                      lambda at: [Instance(0, '\\_TZ.THM0')], names={GERMAN: 'Thermalzoneninformationen'},
                      provider=PROVIDER, guid='52bc5412-dac2-449c-8bc2-96443888fe6b')


def gpu_engine():
    rows = ((1, 'Running Time', 'Laufzeit', '100NSEC_TIMER', timer(3, 2)),
            (2, 'Utilization Percentage', 'Auslastung (%)', '100NSEC_TIMER', timer(3, 2)))

    def engines(at):
        """Two engines for each process; the second process is gone in every fourth sample."""
        name = 'pid_%d_luid_0x00000000_0x0000A8D1_phys_0_eng_%d_engtype_%s'
        return [Instance(0, name % (pid, engine, kind), 2 * process + engine)
                for process, pid in enumerate((4, 1184, 2968)) if at.number % 4 != 2 or pid != 1184
                for engine, kind in enumerate(('3D', 'Copy'))]
    return Counterset('GPU Engine', MULTI_AGGREGATE, [counter(*row) for row in rows], engines,
                      names={GERMAN: 'GPU-Engine'}, provider='Microsoft-Windows-DxgKrnl',
                      guid='978c167d-4764-4d9c-9824-14747351dc81')


def filesystem_disk_activity():
    rows = ((0, 'FileSystem Bytes Read', 'Vom Dateisystem gelesene Bytes', 'COUNTER_LARGE_RAWCOUNT',
             rate(5e6, 10 ** 11)),
            (1, 'FileSystem Bytes Written', 'Vom Dateisystem geschriebene Bytes', 'COUNTER_LARGE_RAWCOUNT',
             rate(2e6, 10 ** 10)))
    return Counterset('FileSystem Disk Activity', MULTI_AGGREGATE, [counter(*row, aggregate=1) for row in rows],
                      lambda at: [Instance(0, 'default'), Instance(1, '_Total')],
                      names={GERMAN: 'Datenträgeraktivität des Dateisystems'}, provider='Microsoft-Windows-Kernel-IO',
                      guid='f596750d-b109-4247-a62f-dea47a46e505')


def counter(counter_id, english, german, kind, value, more=None, aggregate=0):
    names = {ENGLISH: english, GERMAN: german} if english else {}
    helps = {ENGLISH: english + '.', GERMAN: german + '.'} if english else {}
    return Counter(counter_id, TYPES['PERF_' + kind], names, helps, value, aggregate=aggregate, **(more or {}))


def windows_like():
    """As EnumerateCounterSet of a Windows machine returns them: GUIDs in descending order."""
    sets = [processor_information(), thermal_zone_information(), gpu_engine(), filesystem_disk_activity()]
    return sorted(sets, key=lambda s: s.guid, reverse=True)
