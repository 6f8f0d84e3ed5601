/* known-countersets.c
 * Countersets that public sources describe, for captures that don't teach them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "perf/known-countersets.h"
#include "perf/counter-types.h"

#include <string.h>

/* Only what the named sources state: a counter is here if its id is known, and its type and its base if they are. Sets whose ids
 * are not known have a name and no counters. */
#define COUNTER_WITH_BASE(id, type, base_id, name) \
    { \
        id, name, type, true, base_id \
    }
#define UNTYPED(id, name) \
    { \
        id, name, 0, false, PERF_NO_COUNTER \
    }
#define COUNTER(id, type, name) COUNTER_WITH_BASE(id, type, PERF_NO_COUNTER, name)
#define NUMBER(id, name) COUNTER(id, PERF_COUNTER_RAWCOUNT, name)
#define LARGE(id, name) COUNTER(id, PERF_COUNTER_LARGE_RAWCOUNT, name)
#define RATE(id, name) COUNTER(id, PERF_COUNTER_COUNTER, name)
#define BULK(id, name) COUNTER(id, PERF_COUNTER_BULK_COUNT, name)
#define TIMER(id, name) COUNTER(id, PERF_100NSEC_TIMER, name)

/* Two that belong together: a number and its rate; a counter and, behind it, its base, which has no name. */
#define AND_PER_SECOND(id, name) NUMBER(id, name), RATE((id) + 1, name " Per Second")
#define WITH_BASE(id, type, base_type, name) \
    COUNTER_WITH_BASE(id, type, (id) + 1, name), COUNTER((id) + 1, base_type, NULL)

/* What services, endpoints and operations all count. */
#define WCF_CALLS \
    AND_PER_SECOND(0, "Calls"), NUMBER(2, "Calls Outstanding"), AND_PER_SECOND(3, "Calls Failed"), \
        AND_PER_SECOND(5, "Calls Faulted"), WITH_BASE(7, PERF_AVERAGE_TIMER, PERF_AVERAGE_BASE, "Calls Duration"), \
        AND_PER_SECOND(9, "Security Validation and Authentication Failures"), \
        AND_PER_SECOND(11, "Security Calls Not Authorized")

#define BYTE(number, n) (uint8_t)((number) >> 8 * (n))

/* {a-b-c-d-e}: the first three are little-endian numbers, the rest are bytes in order. */
#define GUID(a, b, c, d, e) \
    { \
        BYTE(a, 0), BYTE(a, 1), BYTE(a, 2), BYTE(a, 3), BYTE(b, 0), BYTE(b, 1), BYTE(c, 0), BYTE(c, 1), BYTE(d, 1), \
            BYTE(d, 0), BYTE(UINT64_C(e), 5), BYTE(UINT64_C(e), 4), BYTE(UINT64_C(e), 3), BYTE(UINT64_C(e), 2), \
            BYTE(UINT64_C(e), 1), BYTE(UINT64_C(e), 0) \
    }

#define SET(guid, name, ...) \
    { \
        guid, name, (const perf_known_counter[]){__VA_ARGS__}, \
            sizeof((const perf_known_counter[]){__VA_ARGS__}) / sizeof(perf_known_counter) \
    }
#define NAME_ONLY(guid, name) \
    { \
        guid, name, NULL, 0 \
    }

const perf_known_counterset perf_known_countersets[] = {
    /* --- In Windows --- */
    /* Ids 0 to 25: Win32 documentation, "Using the PerfLib Functions to Consume Counter Data", and fastfetch's CPU usage
     * detection. 26 and 27: nextm, seen on Windows 11 25H2, where 27 has no name. 28, 30, 31: fastfetch and Vanara. */
    SET(GUID(0xb4fc721a, 0x0378, 0x476f, 0x89ba, 0xa5a79f810b36), "Processor Information",
        COUNTER(0, PERF_100NSEC_TIMER_INV, "% Processor Time"), TIMER(1, "% User Time"), TIMER(2, "% Privileged Time"),
        RATE(3, "Interrupts/sec"), TIMER(4, "% DPC Time"), TIMER(5, "% Interrupt Time"), RATE(6, "DPCs Queued/sec"),
        NUMBER(7, "DPC Rate"), TIMER(8, "% Idle Time"), TIMER(9, "% C1 Time"), TIMER(10, "% C2 Time"),
        TIMER(11, "% C3 Time"), BULK(12, "C1 Transitions/sec"), BULK(13, "C2 Transitions/sec"),
        BULK(14, "C3 Transitions/sec"), COUNTER(15, PERF_100NSEC_TIMER_INV, "% Priority Time"),
        NUMBER(16, "Parking Status"), NUMBER(17, "Processor Frequency"), NUMBER(18, "% of Maximum Frequency"),
        NUMBER(19, "Processor State Flags"), RATE(20, "Clock Interrupts/sec"),
        COUNTER_WITH_BASE(21, PERF_PRECISION_100NS_TIMER, 22, "Average Idle Time"),
        COUNTER(22, PERF_PRECISION_TIMESTAMP, "Average Idle Time Base"), BULK(23, "Idle Break Events/sec"),
        WITH_BASE(24, PERF_AVERAGE_BULK, PERF_AVERAGE_BASE, "% Processor Performance"),
        WITH_BASE(26, PERF_AVERAGE_BULK, PERF_AVERAGE_BASE, "% Processor Utility"),
        COUNTER(28, PERF_AVERAGE_BULK, "% Privileged Utility"), UNTYPED(30, "% Performance Limit"),
        NUMBER(31, "Performance Limit Flags")),
    /* fastfetch's CPU detection and nextm */
    SET(GUID(0x52bc5412, 0xdac2, 0x449c, 0x8bc2, 0x96443888fe6b), "Thermal Zone Information", UNTYPED(0, "Temperature"),
        UNTYPED(3, "High Precision Temperature")),
    /* System Informer's ExtendedTools and GameModeExecutor */
    SET(GUID(0x978c167d, 0x4764, 0x4d9c, 0x9824, 0x14747351dc81), "GPU Engine", UNTYPED(1, "Running Time"),
        TIMER(2, "Utilization Percentage")),
    /* System Informer's ExtendedTools */
    SET(GUID(0xbe2139c7, 0xab81, 0x424d, 0xb107, 0xd87f7c9322ac), "GPU Adapter Memory", UNTYPED(1, "Total Committed"),
        UNTYPED(2, "Dedicated Usage"), UNTYPED(3, "Shared Usage")),
    SET(GUID(0xf802502b, 0x77b4, 0x4713, 0x81b3, 0x3be05759da5d), "GPU Process Memory", UNTYPED(1, "Total Committed"),
        UNTYPED(2, "Local Usage"), UNTYPED(3, "Non Local Usage"), UNTYPED(4, "Dedicated Usage"),
        UNTYPED(5, "Shared Usage")),
    NAME_ONLY(GUID(0xf9ed01f5, 0x8f3e, 0x4956, 0x973f, 0x9f05bc96f489), "GPU Non Local Adapter Memory"),
    NAME_ONLY(GUID(0x227419d5, 0xf6d8, 0x4fb7, 0x85d6, 0x2cac1725e4a9), "GPU Local Adapter Memory"),
    /* infoband */
    SET(GUID(0xf596750d, 0xb109, 0x4247, 0xa62f, 0xdea47a46e505), "FileSystem Disk Activity",
        UNTYPED(0, "FileSystem Bytes Read"), UNTYPED(1, "FileSystem Bytes Written")),
    /* Manifest of the pacer component */
    NAME_ONLY(GUID(0x811bbce5, 0x7327, 0x4ad9, 0xab62, 0xa8b955f61eef), "Pacer Flow"),
    /* Zabbix script for DFS replication: it has V1 indexes, no ids */
    NAME_ONLY(GUID(0xbfe2736b, 0xc79f, 0x4f36, 0xbd15, 0x2897a1a91d4a), "DFS Replicated Folders"),
    NAME_ONLY(GUID(0xa689f9be, 0x38ad, 0x4c17, 0x9d62, 0xad60492084a7), "DFS Replication Connections"),
    NAME_ONLY(GUID(0x3f1707df, 0x6381, 0x4287, 0xaffc, 0xa60e109a4d30), "DFS Replication Service Volumes"),
    /* .NET Framework 4: ids and types from its published reference source, names from the WCF performance counter pages of its
     * documentation. */
    SET(GUID(0xe829b6db, 0x21ab, 0x453b, 0x83c9, 0xd980ec708edd), "ServiceModelService 4.0.0.0", WCF_CALLS,
        AND_PER_SECOND(13, "Instances"), AND_PER_SECOND(15, "Reliable Messaging Sessions Faulted"),
        AND_PER_SECOND(17, "Reliable Messaging Messages Dropped"), AND_PER_SECOND(19, "Transactions Flowed"),
        AND_PER_SECOND(21, "Transacted Operations Committed"), AND_PER_SECOND(23, "Transacted Operations Aborted"),
        AND_PER_SECOND(25, "Transacted Operations In Doubt"), AND_PER_SECOND(27, "Queued Poison Messages"),
        AND_PER_SECOND(29, "Queued Rejected Messages"), AND_PER_SECOND(31, "Queue Dropped Messages"),
        WITH_BASE(33, PERF_RAW_FRACTION, PERF_RAW_BASE, "Percent of Max Concurrent Calls"),
        WITH_BASE(35, PERF_RAW_FRACTION, PERF_RAW_BASE, "Percent of Max Concurrent Instances"),
        WITH_BASE(37, PERF_RAW_FRACTION, PERF_RAW_BASE, "Percent of Max Concurrent Sessions")),
    SET(GUID(0x16dcff2c, 0x91a3, 0x4e6a, 0x8135, 0x0a9e6681c1b5), "ServiceModelEndpoint 4.0.0.0", WCF_CALLS,
        AND_PER_SECOND(13, "Reliable Messaging Sessions Faulted"),
        AND_PER_SECOND(15, "Reliable Messaging Messages Dropped"), AND_PER_SECOND(17, "Transactions Flowed")),
    SET(GUID(0x8ebb0470, 0xda6d, 0x485b, 0x8441, 0x8e06b049157a), "ServiceModelOperation 4.0.0.0", WCF_CALLS,
        AND_PER_SECOND(13, "Transactions Flowed")),
    /* .NET Framework 4, published reference source */
    SET(GUID(0x1f7207c2, 0x0b8c, 0x48de, 0x9dcd, 0x64ff98cc24e1), "WorkflowServiceHost 4.0.0.0",
        AND_PER_SECOND(0, "Workflows Created"), NUMBER(2, "Workflows Executing"),
        AND_PER_SECOND(3, "Workflows Completed"), AND_PER_SECOND(5, "Workflows Aborted"),
        NUMBER(7, "Workflows In Memory"), AND_PER_SECOND(8, "Workflows Persisted"),
        AND_PER_SECOND(10, "Workflows Terminated"), AND_PER_SECOND(12, "Workflows Loaded"),
        AND_PER_SECOND(14, "Workflows Unloaded"), AND_PER_SECOND(16, "Workflows Suspended"),
        RATE(18, "Workflows Idle Per Second"),
        WITH_BASE(19, PERF_AVERAGE_TIMER, PERF_AVERAGE_BASE, "Average Workflow Load Time"),
        WITH_BASE(21, PERF_AVERAGE_TIMER, PERF_AVERAGE_BASE, "Average Workflow Persist Time")),
    /* PowerShell's published source has only its own identifiers for the counters */
    NAME_ONLY(GUID(0xfaa17411, 0x9025, 0x4b86, 0x8b5e, 0xce2f32b06e13), "PowerShell Workflow"),
    /* --- From public manifests --- */
    /* XDP for Windows, xdppcw.man */
    SET(GUID(0xa79a2e4c, 0xc5f6, 0x4311, 0xbb7b, 0x67109984651f), "XDP Receive Queue",
        NUMBER(1, "AF_XDP Frames Delivered"), NUMBER(2, "AF_XDP Frames Dropped"),
        NUMBER(3, "AF_XDP Invalid Descriptors"), NUMBER(4, "AF_XDP Frames Truncated"),
        NUMBER(5, "Inspection Frames Passed"), NUMBER(6, "Inspection Frames Dropped"),
        NUMBER(7, "Inspection Frames Redirected"), NUMBER(8, "Inspection Frames Forwarded"),
        NUMBER(9, "Inspection Batches"), NUMBER(10, "Inspection Frames Discontiguous")),
    SET(GUID(0x10672701, 0x093b, 0x4b91, 0x8b76, 0x8f53afd07cd0), "XDP LWF Receive Queue",
        NUMBER(1, "Mapping Failures"), NUMBER(2, "Linearization Failures"),
        NUMBER(3, "Forwarding Failures: Allocation"), NUMBER(4, "Forwarding Failures: Allocation Limit"),
        NUMBER(5, "Forwarding Failures: RSC Invalid Headers"), NUMBER(6, "Forwarding NBs: Requested"),
        NUMBER(7, "Forwarding NBs: Sent"), NUMBER(8, "NDIS Loopback NBLs Skipped")),
    SET(GUID(0x05947256, 0x79cd, 0x4393, 0xb54c, 0xa65be0963294), "XDP Transmit Queue",
        NUMBER(1, "AF_XDP Invalid Descriptors"), NUMBER(2, "Injection Batches"), NUMBER(3, "Queue Depth")),
    SET(GUID(0x48b1dee9, 0x6603, 0x4a83, 0xb20d, 0x435fa421a5d7), "XDP LWF Transmit Queue",
        NUMBER(1, "Frames Dropped (NDIS Pause)"), NUMBER(2, "Frames Dropped (NIC Failure)"),
        NUMBER(3, "Frames with Invalid Checksum Offload")),
    /* Service Fabric, KtlLoggerCounters.km.man */
    SET(GUID(0xcaa1ae36, 0x014a, 0x4bbb, 0xb6cb, 0x00d57f60d8d3), "Ktl Log Stream",
        BULK(1, "Application Write Bytes/sec"), BULK(2, "Dedicated Write Bytes/sec"), BULK(3, "Shared Write Bytes/sec"),
        LARGE(4, "Dedicated Log Backlog Limit Bytes"), LARGE(5, "Dedicated Log Backlog Bytes"),
        LARGE(6, "SharedLog Quota Bytes"), LARGE(7, "SharedLog In Use Bytes"), LARGE(8, "SharedLog Write Latency"),
        LARGE(9, "DedicatedLog Write Latency")),
    SET(GUID(0x1441d310, 0x9058, 0x444c, 0xaef5, 0x0e52a6248589), "Ktl Log Container",
        BULK(1, "Dedicated Write Bytes/sec"), BULK(2, "Shared Write Bytes/sec")),
    SET(GUID(0x263aca85, 0x798b, 0x4de1, 0x8b21, 0x42f2607ffb5a), "Ktl Log Manager",
        LARGE(1, "Write Buffer Memory Pool Limit Bytes"), LARGE(2, "Write Buffer Memory Pool In Use Bytes")),
    /* Node.js, node_perfctr_provider.man */
    SET(GUID(0x3a22a8ec, 0x297c, 0x48ac, 0xab15, 0x33ec93033fd8), "Node.js", RATE(1, "HTTP server requests"),
        RATE(2, "HTTP server responses"), RATE(3, "HTTP client requests"), RATE(4, "HTTP client responses"),
        NUMBER(5, "Active server connections"), BULK(6, "Network bytes sent"), BULK(7, "Network bytes received"),
        NUMBER(8, "%Time in GC"), BULK(9, "Pipe bytes sent"), BULK(10, "Pipe bytes received")),
    /* OpenZFS on Windows, OpenZFS.man; without the queues and their waiting times */
    SET(GUID(0x11b6ca09, 0xa1c6, 0x44b9, 0xaab6, 0x73be315fd799), "OpenZFS Zpool", BULK(1, "Reads/sec"),
        BULK(2, "Writes/sec"), BULK(3, "Transfers/sec"), BULK(4, "Read Bytes/sec"), BULK(5, "Write Bytes/sec"),
        BULK(6, "Total Bytes/sec"), LARGE(7, "DDT Entries"), LARGE(8, "DDT On-disk Bytes"),
        LARGE(9, "DDT In-memory Bytes"), LARGE(34, "Dirty_Data_Bytes")),
    SET(GUID(0x3e687ea1, 0x7258, 0x43bf, 0xb832, 0xf082ec02f1ca), "OpenZFS Vdev", BULK(1, "Reads/sec"),
        BULK(2, "Writes/sec"), BULK(3, "Read Bytes/sec"), BULK(4, "Write Bytes/sec"), BULK(29, "Transfers/sec"),
        BULK(30, "Total Bytes/sec")),
    NAME_ONLY(GUID(0x2f8f7f86, 0x5c0b, 0x4865, 0x972c, 0xa788f04c61aa), "OpenZFS Cache"),
};

const size_t perf_num_known_countersets = sizeof perf_known_countersets / sizeof *perf_known_countersets;

bool perf_known_find(const uint8_t guid[16], uint32_t id, perf_known_counter *found)
{
    const perf_known_counterset *set = perf_known_countersets, *end = set + perf_num_known_countersets;

    while (set < end && memcmp(set->guid, guid, sizeof set->guid) != 0) {
        set++;
    }
    *found = (perf_known_counter){id, set < end ? set->name : NULL, 0, false, PERF_NO_COUNTER};
    for (size_t i = 0; set < end && i < set->num_counters; i++) {
        if (set->counters[i].id == id) {
            *found = set->counters[i];
            return true;
        }
    }
    return set < end && id == PERF_NO_COUNTER;
}
