/* ledger.h
 * What is taken for true of Windows and was learned from documents and other programs: one table, which `-z pcq,evidence` counts
 * and docs/evidence.md is made of.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

/* X(ID, sentence, source, what it means if it does not hold, where it was seen). "Seen" names a system of test/evidence, and is
 * changed by hand when somebody's output has come. Sources: PCQ [MS-PCQ], RRP [MS-RRP], SDK perflib.h and winperf.h, API the
 * reference of perflib.h and winperf.h, else the program whose published code relies on it. */
#define LEDGER(X) \
    X(SEALED, "Calls of PerflibV2 are sealed (packet privacy)", "PCQ 2.1", "Their values lie open on the network", "") \
    X(NDR, "Calls of PerflibV2 use NDR, not NDR64", "PCQ 2.1", "NDR64 is read as well, and less tried", "") \
    X(PROBE, "Who asks without room gets status 8, no data and the size that he needs", "PCQ 3.1.4.1", \
      "A size probe is shown as a failed call", "") \
    X(PROBE_SIZE, "The size that a probe tells suffices for the next call", "API PerfQueryCounterData", \
      "Clients ask again and again", "") \
    X(INFO_FIRST, "A client calls QueryCounterInfo before a handle's first QueryCounterData", "none", \
      "Whose a block is is assumed from the order of the additions", "") \
    X(REGISTRATION, "A registration has 32 bytes and 48 for each of NumCounters", "SDK", \
      "Types are read at wrong places", "") \
    X(IDS_UNIQUE, "No counter id comes twice in a counterset", "PCQ 2.2.4.2", \
      "The first counter's name and type count", "") \
    X(RELATIONS, "The ids of base, time, frequency and multiplier are 0xFFFFFFFF or the set's", "SDK", \
      "Such a counter has no result", "") \
    X(STRING_BASE, "dwOffset of a string counts from the start of the block, 0xFFFFFFFF is none", "SDK, API", \
      "Names are cut or another counter's", "") \
    X(STRING_END, "Texts end with a terminator", "PCQ 2.2.4.4", "A name runs into the next", "") \
    X(INSTANCE_LIST, "Size of an instance is a multiple of 8 and covers its name", "PCQ 2.2.4.5", \
      "Instances behind it are not found", "") \
    X(IDENTIFIER, "Size of an identifier is a multiple of 8, 40 without a name", "PCQ 2.2.4.6, API", \
      "Counters behind it are not found", "") \
    X(INDEX, "Index of QueryCounterInfo numbers the blocks, each once", "PCQ 3.1.4.1.5", \
      "Values get another counter's name", "") \
    X(ADDED_ORDER, "Blocks stand in the order in which counters were added", "none; System Informer saw another", \
      "What is marked as assumed is wrong", "") \
    X(TOTAL, "dwTotalSize is all that was returned", "PCQ 2.2.4.7", "A finding says so, the blocks are read", "") \
    X(HEADER, "PERF_DATA_HEADER has 48 bytes: the first block stands behind it", \
      "SDK; drawn otherwise in PCQ 2.2.4.7", "Nothing can be read", "") \
    X(BLOCK, "dwSize of a block is a multiple of 8", "PCQ 2.2.4.8", "The next block is searched for", "") \
    X(BLOCK_TYPE, "dwType follows from the wildcards of the identifier", "Vanara, fastfetch", \
      "The block is taken for another counter's", "") \
    X(ERROR_BLOCK, "A block with an error has 16 bytes", "Vanara", "The next block is searched for", "") \
    X(ERROR_NO_DATA, "The error of an absent instance is 232 (ERROR_NO_DATA)", "nextm", \
      "Its meaning is told by its number", "") \
    X(IDS_NOT_PADDED, "Behind an odd number of ids PERF_MULTI_COUNTERS has no padding", "SDK; PCQ 2.2 says otherwise", \
      "Nothing: dwSize tells where the next structure begins", "") \
    X(VALUE_PADDED, "dwSize of a value is 8 and its bytes padded to 8", "SDK, API", "Nothing: dwSize tells", "") \
    X(VALUE_SIZE, "A value has 4 or 8 bytes", "API PERF_COUNTER_DATA", "It has no result, its bytes are shown", "") \
    X(VALUE_TYPE, "A value has as many bytes as its type says", "PCQ 2.2.4.2; netdata saw others", \
      "8 bytes are calculated, 4 for 8 are not", "") \
    X(INSTANCE, "Size of an instance in an answer is a multiple of 8", "PCQ 2.2.4.11", "Its values are searched for", \
      "") \
    X(INSTANCE_END, "The name of an instance ends with a terminator", "SDK", "The name ends with the structure", "") \
    X(INSTANCE_UNIQUE, "No two instances of a block have one name and id", "PCQ 2.2.4.11", \
      "Who is who between two samples is assumed", "") \
    X(INSTANCE_ORDER, "Instances of a block stand in the order of the answer before, where they are the same", "none", \
      "Who is assumed by the order is another", "") \
    X(SYSTEM_TIME, "SystemTime is PerfTime100NSec to the millisecond", "nextm, Wine", \
      "One of the two clocks is another", "") \
    X(FREQUENCY, "PerfFreq of a handle stays the same", "Win32 QueryPerformanceFrequency", "Rates are wrong", "") \
    X(CLOCKS, "Between two answers both clocks go on alike, within 1 %", "none", "Results depend on the type's clock", \
      "") \
    X(HKPD_TOTAL, "TotalByteLength of PERF_DATA_BLOCK is all that was returned", "API PERF_DATA_BLOCK", \
      "A finding says so, the objects are read", "") \
    X(HKPD_OBJECT, "TotalByteLength of an object is a multiple of 8", "none", "The next object is searched for", \
      "Samba 4.17") \
    X(HKPD_WIDE, "Names of instances are UTF-16 (CodePage 0)", "API PERF_OBJECT_TYPE", \
      "They are read by their code page", "Samba 4.17") \
    X(HKPD_NO_ID, "Instances have no UniqueID (-1)", "API PERF_INSTANCE_DEFINITION", \
      "Ids tell them apart, where they do", "Samba 4.17") \
    X(HKPD_TYPE, "CounterSize is what the type says", "API; netdata saw others", \
      "8 bytes are calculated, 4 for 8 are not", "") \
    X(HKPD_ROOM, "Too small a buffer is answered with 234 (ERROR_MORE_DATA)", "Win32 RegQueryValueEx", \
      "It is shown as a failed call", "")

#define LEDGER_NUMBER(id, ...) LEDGER_##id,
enum { LEDGER(LEDGER_NUMBER) LEDGER_NUM_ROWS };
