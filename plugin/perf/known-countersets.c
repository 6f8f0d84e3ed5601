/* known-countersets.c
 * Countersets that public sources describe, for captures that don't teach them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "perf/known-countersets.h"
#include "perf/counter-types.h"

#include <string.h>

/* Only what the named sources state: a counter is here if its id is known, and
 * its type and its base if they are. Sets whose ids are not known have a name
 * and no counters. */
#define COUNTER(id, type, name) COUNTER_WITH_BASE(id, type, PERF_NO_COUNTER, name)
#define COUNTER_WITH_BASE(id, type, base_id, name) \
    { \
        id, name, type, true, base_id \
    }
#define COUNTER_WITHOUT_TYPE(id, name) \
    { \
        id, name, 0, false, PERF_NO_COUNTER \
    }

/* --- In Windows --------------------------------------------------------------------------------------------------- */

/* Ids 0 to 25: Win32 documentation, "Using the PerfLib Functions to Consume
 * Counter Data", and fastfetch's CPU usage detection. 26 and 27: nextm, seen
 * on Windows 11 25H2, where 27 has no name. 28, 30, 31: fastfetch and Vanara. */
static const perf_known_counter processor_information[] = {
    COUNTER(0, PERF_100NSEC_TIMER_INV, "% Processor Time"),
    COUNTER(1, PERF_100NSEC_TIMER, "% User Time"),
    COUNTER(2, PERF_100NSEC_TIMER, "% Privileged Time"),
    COUNTER(3, PERF_COUNTER_COUNTER, "Interrupts/sec"),
    COUNTER(4, PERF_100NSEC_TIMER, "% DPC Time"),
    COUNTER(5, PERF_100NSEC_TIMER, "% Interrupt Time"),
    COUNTER(6, PERF_COUNTER_COUNTER, "DPCs Queued/sec"),
    COUNTER(7, PERF_COUNTER_RAWCOUNT, "DPC Rate"),
    COUNTER(8, PERF_100NSEC_TIMER, "% Idle Time"),
    COUNTER(9, PERF_100NSEC_TIMER, "% C1 Time"),
    COUNTER(10, PERF_100NSEC_TIMER, "% C2 Time"),
    COUNTER(11, PERF_100NSEC_TIMER, "% C3 Time"),
    COUNTER(12, PERF_COUNTER_BULK_COUNT, "C1 Transitions/sec"),
    COUNTER(13, PERF_COUNTER_BULK_COUNT, "C2 Transitions/sec"),
    COUNTER(14, PERF_COUNTER_BULK_COUNT, "C3 Transitions/sec"),
    COUNTER(15, PERF_100NSEC_TIMER_INV, "% Priority Time"),
    COUNTER(16, PERF_COUNTER_RAWCOUNT, "Parking Status"),
    COUNTER(17, PERF_COUNTER_RAWCOUNT, "Processor Frequency"),
    COUNTER(18, PERF_COUNTER_RAWCOUNT, "% of Maximum Frequency"),
    COUNTER(19, PERF_COUNTER_RAWCOUNT, "Processor State Flags"),
    COUNTER(20, PERF_COUNTER_COUNTER, "Clock Interrupts/sec"),
    COUNTER_WITH_BASE(21, PERF_PRECISION_100NS_TIMER, 22, "Average Idle Time"),
    COUNTER(22, PERF_PRECISION_TIMESTAMP, "Average Idle Time Base"),
    COUNTER(23, PERF_COUNTER_BULK_COUNT, "Idle Break Events/sec"),
    COUNTER_WITH_BASE(24, PERF_AVERAGE_BULK, 25, "% Processor Performance"),
    COUNTER(25, PERF_AVERAGE_BASE, NULL),
    COUNTER_WITH_BASE(26, PERF_AVERAGE_BULK, 27, "% Processor Utility"),
    COUNTER(27, PERF_AVERAGE_BASE, NULL),
    COUNTER(28, PERF_AVERAGE_BULK, "% Privileged Utility"),
    COUNTER_WITHOUT_TYPE(30, "% Performance Limit"),
    COUNTER(31, PERF_COUNTER_RAWCOUNT, "Performance Limit Flags"),
};

/* fastfetch's CPU detection and nextm */
static const perf_known_counter thermal_zone_information[] = {
    COUNTER_WITHOUT_TYPE(0, "Temperature"),
    COUNTER_WITHOUT_TYPE(3, "High Precision Temperature"),
};

/* System Informer's ExtendedTools and GameModeExecutor */
static const perf_known_counter gpu_engine[] = {
    COUNTER_WITHOUT_TYPE(1, "Running Time"),
    COUNTER(2, PERF_100NSEC_TIMER, "Utilization Percentage"),
};

/* System Informer's ExtendedTools */
static const perf_known_counter gpu_adapter_memory[] = {
    COUNTER_WITHOUT_TYPE(1, "Total Committed"),
    COUNTER_WITHOUT_TYPE(2, "Dedicated Usage"),
    COUNTER_WITHOUT_TYPE(3, "Shared Usage"),
};

/* System Informer's ExtendedTools */
static const perf_known_counter gpu_process_memory[] = {
    COUNTER_WITHOUT_TYPE(1, "Total Committed"), COUNTER_WITHOUT_TYPE(2, "Local Usage"),
    COUNTER_WITHOUT_TYPE(3, "Non Local Usage"), COUNTER_WITHOUT_TYPE(4, "Dedicated Usage"),
    COUNTER_WITHOUT_TYPE(5, "Shared Usage"),
};

/* infoband */
static const perf_known_counter filesystem_disk_activity[] = {
    COUNTER_WITHOUT_TYPE(0, "FileSystem Bytes Read"),
    COUNTER_WITHOUT_TYPE(1, "FileSystem Bytes Written"),
};

/* .NET Framework 4: ids and types from its published reference source, names
 * from the WCF performance counter pages of its documentation. */
#define WCF_CALLS \
    COUNTER(0, PERF_COUNTER_RAWCOUNT, "Calls"), COUNTER(1, PERF_COUNTER_COUNTER, "Calls Per Second"), \
        COUNTER(2, PERF_COUNTER_RAWCOUNT, "Calls Outstanding"), COUNTER(3, PERF_COUNTER_RAWCOUNT, "Calls Failed"), \
        COUNTER(4, PERF_COUNTER_COUNTER, "Calls Failed Per Second"), \
        COUNTER(5, PERF_COUNTER_RAWCOUNT, "Calls Faulted"), \
        COUNTER(6, PERF_COUNTER_COUNTER, "Calls Faulted Per Second"), \
        COUNTER_WITH_BASE(7, PERF_AVERAGE_TIMER, 8, "Calls Duration"), COUNTER(8, PERF_AVERAGE_BASE, NULL), \
        COUNTER(9, PERF_COUNTER_RAWCOUNT, "Security Validation and Authentication Failures"), \
        COUNTER(10, PERF_COUNTER_COUNTER, "Security Validation and Authentication Failures Per Second"), \
        COUNTER(11, PERF_COUNTER_RAWCOUNT, "Security Calls Not Authorized"), \
        COUNTER(12, PERF_COUNTER_COUNTER, "Security Calls Not Authorized Per Second")

static const perf_known_counter service_model_operation[] = {
    WCF_CALLS,
    COUNTER(13, PERF_COUNTER_RAWCOUNT, "Transactions Flowed"),
    COUNTER(14, PERF_COUNTER_COUNTER, "Transactions Flowed Per Second"),
};

static const perf_known_counter service_model_endpoint[] = {
    WCF_CALLS,
    COUNTER(13, PERF_COUNTER_RAWCOUNT, "Reliable Messaging Sessions Faulted"),
    COUNTER(14, PERF_COUNTER_COUNTER, "Reliable Messaging Sessions Faulted Per Second"),
    COUNTER(15, PERF_COUNTER_RAWCOUNT, "Reliable Messaging Messages Dropped"),
    COUNTER(16, PERF_COUNTER_COUNTER, "Reliable Messaging Messages Dropped Per Second"),
    COUNTER(17, PERF_COUNTER_RAWCOUNT, "Transactions Flowed"),
    COUNTER(18, PERF_COUNTER_COUNTER, "Transactions Flowed Per Second"),
};

static const perf_known_counter service_model_service[] = {
    WCF_CALLS,
    COUNTER(13, PERF_COUNTER_RAWCOUNT, "Instances"),
    COUNTER(14, PERF_COUNTER_COUNTER, "Instances Per Second"),
    COUNTER(15, PERF_COUNTER_RAWCOUNT, "Reliable Messaging Sessions Faulted"),
    COUNTER(16, PERF_COUNTER_COUNTER, "Reliable Messaging Sessions Faulted Per Second"),
    COUNTER(17, PERF_COUNTER_RAWCOUNT, "Reliable Messaging Messages Dropped"),
    COUNTER(18, PERF_COUNTER_COUNTER, "Reliable Messaging Messages Dropped Per Second"),
    COUNTER(19, PERF_COUNTER_RAWCOUNT, "Transactions Flowed"),
    COUNTER(20, PERF_COUNTER_COUNTER, "Transactions Flowed Per Second"),
    COUNTER(21, PERF_COUNTER_RAWCOUNT, "Transacted Operations Committed"),
    COUNTER(22, PERF_COUNTER_COUNTER, "Transacted Operations Committed Per Second"),
    COUNTER(23, PERF_COUNTER_RAWCOUNT, "Transacted Operations Aborted"),
    COUNTER(24, PERF_COUNTER_COUNTER, "Transacted Operations Aborted Per Second"),
    COUNTER(25, PERF_COUNTER_RAWCOUNT, "Transacted Operations In Doubt"),
    COUNTER(26, PERF_COUNTER_COUNTER, "Transacted Operations In Doubt Per Second"),
    COUNTER(27, PERF_COUNTER_RAWCOUNT, "Queued Poison Messages"),
    COUNTER(28, PERF_COUNTER_COUNTER, "Queued Poison Messages Per Second"),
    COUNTER(29, PERF_COUNTER_RAWCOUNT, "Queued Rejected Messages"),
    COUNTER(30, PERF_COUNTER_COUNTER, "Queued Rejected Messages Per Second"),
    COUNTER(31, PERF_COUNTER_RAWCOUNT, "Queue Dropped Messages"),
    COUNTER(32, PERF_COUNTER_COUNTER, "Queue Dropped Messages Per Second"),
    COUNTER_WITH_BASE(33, PERF_RAW_FRACTION, 34, "Percent of Max Concurrent Calls"),
    COUNTER(34, PERF_RAW_BASE, NULL),
    COUNTER_WITH_BASE(35, PERF_RAW_FRACTION, 36, "Percent of Max Concurrent Instances"),
    COUNTER(36, PERF_RAW_BASE, NULL),
    COUNTER_WITH_BASE(37, PERF_RAW_FRACTION, 38, "Percent of Max Concurrent Sessions"),
    COUNTER(38, PERF_RAW_BASE, NULL),
};

/* .NET Framework 4, published reference source */
static const perf_known_counter workflow_service_host[] = {
    COUNTER(0, PERF_COUNTER_RAWCOUNT, "Workflows Created"),
    COUNTER(1, PERF_COUNTER_COUNTER, "Workflows Created Per Second"),
    COUNTER(2, PERF_COUNTER_RAWCOUNT, "Workflows Executing"),
    COUNTER(3, PERF_COUNTER_RAWCOUNT, "Workflows Completed"),
    COUNTER(4, PERF_COUNTER_COUNTER, "Workflows Completed Per Second"),
    COUNTER(5, PERF_COUNTER_RAWCOUNT, "Workflows Aborted"),
    COUNTER(6, PERF_COUNTER_COUNTER, "Workflows Aborted Per Second"),
    COUNTER(7, PERF_COUNTER_RAWCOUNT, "Workflows In Memory"),
    COUNTER(8, PERF_COUNTER_RAWCOUNT, "Workflows Persisted"),
    COUNTER(9, PERF_COUNTER_COUNTER, "Workflows Persisted Per Second"),
    COUNTER(10, PERF_COUNTER_RAWCOUNT, "Workflows Terminated"),
    COUNTER(11, PERF_COUNTER_COUNTER, "Workflows Terminated Per Second"),
    COUNTER(12, PERF_COUNTER_RAWCOUNT, "Workflows Loaded"),
    COUNTER(13, PERF_COUNTER_COUNTER, "Workflows Loaded Per Second"),
    COUNTER(14, PERF_COUNTER_RAWCOUNT, "Workflows Unloaded"),
    COUNTER(15, PERF_COUNTER_COUNTER, "Workflows Unloaded Per Second"),
    COUNTER(16, PERF_COUNTER_RAWCOUNT, "Workflows Suspended"),
    COUNTER(17, PERF_COUNTER_COUNTER, "Workflows Suspended Per Second"),
    COUNTER(18, PERF_COUNTER_COUNTER, "Workflows Idle Per Second"),
    COUNTER_WITH_BASE(19, PERF_AVERAGE_TIMER, 20, "Average Workflow Load Time"),
    COUNTER(20, PERF_AVERAGE_BASE, NULL),
    COUNTER_WITH_BASE(21, PERF_AVERAGE_TIMER, 22, "Average Workflow Persist Time"),
    COUNTER(22, PERF_AVERAGE_BASE, NULL),
};

/* --- From public manifests ---------------------------------------------------------------------------------------- */

/* XDP for Windows, xdppcw.man */
static const perf_known_counter xdp_receive_queue[] = {
    COUNTER(1, PERF_COUNTER_RAWCOUNT, "AF_XDP Frames Delivered"),
    COUNTER(2, PERF_COUNTER_RAWCOUNT, "AF_XDP Frames Dropped"),
    COUNTER(3, PERF_COUNTER_RAWCOUNT, "AF_XDP Invalid Descriptors"),
    COUNTER(4, PERF_COUNTER_RAWCOUNT, "AF_XDP Frames Truncated"),
    COUNTER(5, PERF_COUNTER_RAWCOUNT, "Inspection Frames Passed"),
    COUNTER(6, PERF_COUNTER_RAWCOUNT, "Inspection Frames Dropped"),
    COUNTER(7, PERF_COUNTER_RAWCOUNT, "Inspection Frames Redirected"),
    COUNTER(8, PERF_COUNTER_RAWCOUNT, "Inspection Frames Forwarded"),
    COUNTER(9, PERF_COUNTER_RAWCOUNT, "Inspection Batches"),
    COUNTER(10, PERF_COUNTER_RAWCOUNT, "Inspection Frames Discontiguous"),
};

static const perf_known_counter xdp_lwf_receive_queue[] = {
    COUNTER(1, PERF_COUNTER_RAWCOUNT, "Mapping Failures"),
    COUNTER(2, PERF_COUNTER_RAWCOUNT, "Linearization Failures"),
    COUNTER(3, PERF_COUNTER_RAWCOUNT, "Forwarding Failures: Allocation"),
    COUNTER(4, PERF_COUNTER_RAWCOUNT, "Forwarding Failures: Allocation Limit"),
    COUNTER(5, PERF_COUNTER_RAWCOUNT, "Forwarding Failures: RSC Invalid Headers"),
    COUNTER(6, PERF_COUNTER_RAWCOUNT, "Forwarding NBs: Requested"),
    COUNTER(7, PERF_COUNTER_RAWCOUNT, "Forwarding NBs: Sent"),
    COUNTER(8, PERF_COUNTER_RAWCOUNT, "NDIS Loopback NBLs Skipped"),
};

static const perf_known_counter xdp_transmit_queue[] = {
    COUNTER(1, PERF_COUNTER_RAWCOUNT, "AF_XDP Invalid Descriptors"),
    COUNTER(2, PERF_COUNTER_RAWCOUNT, "Injection Batches"),
    COUNTER(3, PERF_COUNTER_RAWCOUNT, "Queue Depth"),
};

static const perf_known_counter xdp_lwf_transmit_queue[] = {
    COUNTER(1, PERF_COUNTER_RAWCOUNT, "Frames Dropped (NDIS Pause)"),
    COUNTER(2, PERF_COUNTER_RAWCOUNT, "Frames Dropped (NIC Failure)"),
    COUNTER(3, PERF_COUNTER_RAWCOUNT, "Frames with Invalid Checksum Offload"),
};

/* Service Fabric, KtlLoggerCounters.km.man */
static const perf_known_counter ktl_log_stream[] = {
    COUNTER(1, PERF_COUNTER_BULK_COUNT, "Application Write Bytes/sec"),
    COUNTER(2, PERF_COUNTER_BULK_COUNT, "Dedicated Write Bytes/sec"),
    COUNTER(3, PERF_COUNTER_BULK_COUNT, "Shared Write Bytes/sec"),
    COUNTER(4, PERF_COUNTER_LARGE_RAWCOUNT, "Dedicated Log Backlog Limit Bytes"),
    COUNTER(5, PERF_COUNTER_LARGE_RAWCOUNT, "Dedicated Log Backlog Bytes"),
    COUNTER(6, PERF_COUNTER_LARGE_RAWCOUNT, "SharedLog Quota Bytes"),
    COUNTER(7, PERF_COUNTER_LARGE_RAWCOUNT, "SharedLog In Use Bytes"),
    COUNTER(8, PERF_COUNTER_LARGE_RAWCOUNT, "SharedLog Write Latency"),
    COUNTER(9, PERF_COUNTER_LARGE_RAWCOUNT, "DedicatedLog Write Latency"),
};

static const perf_known_counter ktl_log_container[] = {
    COUNTER(1, PERF_COUNTER_BULK_COUNT, "Dedicated Write Bytes/sec"),
    COUNTER(2, PERF_COUNTER_BULK_COUNT, "Shared Write Bytes/sec"),
};

static const perf_known_counter ktl_log_manager[] = {
    COUNTER(1, PERF_COUNTER_LARGE_RAWCOUNT, "Write Buffer Memory Pool Limit Bytes"),
    COUNTER(2, PERF_COUNTER_LARGE_RAWCOUNT, "Write Buffer Memory Pool In Use Bytes"),
};

/* Node.js, node_perfctr_provider.man */
static const perf_known_counter node_js[] = {
    COUNTER(1, PERF_COUNTER_COUNTER, "HTTP server requests"),
    COUNTER(2, PERF_COUNTER_COUNTER, "HTTP server responses"),
    COUNTER(3, PERF_COUNTER_COUNTER, "HTTP client requests"),
    COUNTER(4, PERF_COUNTER_COUNTER, "HTTP client responses"),
    COUNTER(5, PERF_COUNTER_RAWCOUNT, "Active server connections"),
    COUNTER(6, PERF_COUNTER_BULK_COUNT, "Network bytes sent"),
    COUNTER(7, PERF_COUNTER_BULK_COUNT, "Network bytes received"),
    COUNTER(8, PERF_COUNTER_RAWCOUNT, "%Time in GC"),
    COUNTER(9, PERF_COUNTER_BULK_COUNT, "Pipe bytes sent"),
    COUNTER(10, PERF_COUNTER_BULK_COUNT, "Pipe bytes received"),
};

/* OpenZFS on Windows, OpenZFS.man; without the queues and their waiting times */
static const perf_known_counter openzfs_zpool[] = {
    COUNTER(1, PERF_COUNTER_BULK_COUNT, "Reads/sec"),
    COUNTER(2, PERF_COUNTER_BULK_COUNT, "Writes/sec"),
    COUNTER(3, PERF_COUNTER_BULK_COUNT, "Transfers/sec"),
    COUNTER(4, PERF_COUNTER_BULK_COUNT, "Read Bytes/sec"),
    COUNTER(5, PERF_COUNTER_BULK_COUNT, "Write Bytes/sec"),
    COUNTER(6, PERF_COUNTER_BULK_COUNT, "Total Bytes/sec"),
    COUNTER(7, PERF_COUNTER_LARGE_RAWCOUNT, "DDT Entries"),
    COUNTER(8, PERF_COUNTER_LARGE_RAWCOUNT, "DDT On-disk Bytes"),
    COUNTER(9, PERF_COUNTER_LARGE_RAWCOUNT, "DDT In-memory Bytes"),
    COUNTER(34, PERF_COUNTER_LARGE_RAWCOUNT, "Dirty_Data_Bytes"),
};

static const perf_known_counter openzfs_vdev[] = {
    COUNTER(1, PERF_COUNTER_BULK_COUNT, "Reads/sec"),      COUNTER(2, PERF_COUNTER_BULK_COUNT, "Writes/sec"),
    COUNTER(3, PERF_COUNTER_BULK_COUNT, "Read Bytes/sec"), COUNTER(4, PERF_COUNTER_BULK_COUNT, "Write Bytes/sec"),
    COUNTER(29, PERF_COUNTER_BULK_COUNT, "Transfers/sec"), COUNTER(30, PERF_COUNTER_BULK_COUNT, "Total Bytes/sec"),
};

/* Rockchip Windows drivers, dwc_eqos_perf.man */
static const perf_known_counter dwc_eqos_mac[] = {
    COUNTER(0, PERF_COUNTER_RAWCOUNT_HEX, "Mac_Configuration"),
};

/* Windows classic samples, ucs.man */
static const perf_known_counter geometric_waves[] = {
    COUNTER(1, PERF_COUNTER_RAWCOUNT, "Triangle Wave"),
    COUNTER(2, PERF_COUNTER_RAWCOUNT, "Square Wave"),
};

/* Windows classic samples, ucs.man and gas.man */
static const perf_known_counter trignometric_waves[] = {
    COUNTER(1, PERF_COUNTER_RAWCOUNT, "Sine Wave"),
    COUNTER(2, PERF_COUNTER_RAWCOUNT, "Cosine Wave"),
    COUNTER(3, PERF_COUNTER_RAWCOUNT, "Constant Value"),
    COUNTER(4, PERF_RAW_BASE, "Constant Number"),
    COUNTER_WITH_BASE(5, PERF_RAW_FRACTION, 4, "Raw Fraction"),
};

/* Windows driver samples, kcs.man */
static const perf_known_counter kernel_geometric_waves[] = {
    COUNTER(1, PERF_COUNTER_RAWCOUNT, "Triangle"),
    COUNTER(2, PERF_COUNTER_RAWCOUNT, "Square Wave"),
};

static const perf_known_counter kernel_trignometric_waves[] = {
    COUNTER(1, PERF_COUNTER_RAWCOUNT, "Sine Wave"),
    COUNTER(2, PERF_COUNTER_RAWCOUNT, "Cosine Wave"),
    COUNTER(3, PERF_COUNTER_RAWCOUNT, "Constant Value"),
};

/* .NET documentation, the example of System.Diagnostics.PerformanceData */
static const perf_known_counter typing[] = {
    COUNTER(1, PERF_COUNTER_RAWCOUNT, "Total Words Typed"),
    COUNTER(2, PERF_COUNTER_DELTA, "Words Typed In Interval"),
    COUNTER(3, PERF_COUNTER_RAWCOUNT, "Letter A Pressed"),
    COUNTER(4, PERF_COUNTER_RAWCOUNT, "Words Containing A"),
    COUNTER_WITH_BASE(5, PERF_SAMPLE_FRACTION, 6, "Percent of Words Containing A"),
    COUNTER(6, PERF_SAMPLE_BASE, "Percent Base"),
};

#define BYTE(number, n) (uint8_t)((number) >> 8 * (n))

/* {a-b-c-d-e}: the first three are little-endian numbers, the rest are bytes in order. */
#define GUID(a, b, c, d, e) \
    { \
        BYTE(a, 0), BYTE(a, 1), BYTE(a, 2), BYTE(a, 3), BYTE(b, 0), BYTE(b, 1), BYTE(c, 0), BYTE(c, 1), BYTE(d, 1), \
            BYTE(d, 0), BYTE(UINT64_C(e), 5), BYTE(UINT64_C(e), 4), BYTE(UINT64_C(e), 3), BYTE(UINT64_C(e), 2), \
            BYTE(UINT64_C(e), 1), BYTE(UINT64_C(e), 0) \
    }

#define SET(guid, name, counters) \
    { \
        guid, name, counters, sizeof counters / sizeof *counters \
    }
#define NAME_ONLY(guid, name) \
    { \
        guid, name, NULL, 0 \
    }

const perf_known_counterset perf_known_countersets[] = {
    SET(GUID(0xb4fc721a, 0x0378, 0x476f, 0x89ba, 0xa5a79f810b36), "Processor Information", processor_information),
    SET(GUID(0x52bc5412, 0xdac2, 0x449c, 0x8bc2, 0x96443888fe6b), "Thermal Zone Information", thermal_zone_information),
    SET(GUID(0x978c167d, 0x4764, 0x4d9c, 0x9824, 0x14747351dc81), "GPU Engine", gpu_engine),
    SET(GUID(0xbe2139c7, 0xab81, 0x424d, 0xb107, 0xd87f7c9322ac), "GPU Adapter Memory", gpu_adapter_memory),
    SET(GUID(0xf802502b, 0x77b4, 0x4713, 0x81b3, 0x3be05759da5d), "GPU Process Memory", gpu_process_memory),
    NAME_ONLY(GUID(0xf9ed01f5, 0x8f3e, 0x4956, 0x973f, 0x9f05bc96f489), "GPU Non Local Adapter Memory"),
    NAME_ONLY(GUID(0x227419d5, 0xf6d8, 0x4fb7, 0x85d6, 0x2cac1725e4a9), "GPU Local Adapter Memory"),
    SET(GUID(0xf596750d, 0xb109, 0x4247, 0xa62f, 0xdea47a46e505), "FileSystem Disk Activity", filesystem_disk_activity),
    /* Manifest of the pacer component */
    NAME_ONLY(GUID(0x811bbce5, 0x7327, 0x4ad9, 0xab62, 0xa8b955f61eef), "Pacer Flow"),
    /* Zabbix script for DFS replication: it has V1 indexes, no ids */
    NAME_ONLY(GUID(0xbfe2736b, 0xc79f, 0x4f36, 0xbd15, 0x2897a1a91d4a), "DFS Replicated Folders"),
    NAME_ONLY(GUID(0xa689f9be, 0x38ad, 0x4c17, 0x9d62, 0xad60492084a7), "DFS Replication Connections"),
    NAME_ONLY(GUID(0x3f1707df, 0x6381, 0x4287, 0xaffc, 0xa60e109a4d30), "DFS Replication Service Volumes"),
    SET(GUID(0xe829b6db, 0x21ab, 0x453b, 0x83c9, 0xd980ec708edd), "ServiceModelService 4.0.0.0", service_model_service),
    SET(GUID(0x16dcff2c, 0x91a3, 0x4e6a, 0x8135, 0x0a9e6681c1b5), "ServiceModelEndpoint 4.0.0.0",
        service_model_endpoint),
    SET(GUID(0x8ebb0470, 0xda6d, 0x485b, 0x8441, 0x8e06b049157a), "ServiceModelOperation 4.0.0.0",
        service_model_operation),
    SET(GUID(0x1f7207c2, 0x0b8c, 0x48de, 0x9dcd, 0x64ff98cc24e1), "WorkflowServiceHost 4.0.0.0", workflow_service_host),
    /* PowerShell's published source has only its own identifiers for the counters */
    NAME_ONLY(GUID(0xfaa17411, 0x9025, 0x4b86, 0x8b5e, 0xce2f32b06e13), "PowerShell Workflow"),

    SET(GUID(0xa79a2e4c, 0xc5f6, 0x4311, 0xbb7b, 0x67109984651f), "XDP Receive Queue", xdp_receive_queue),
    SET(GUID(0x10672701, 0x093b, 0x4b91, 0x8b76, 0x8f53afd07cd0), "XDP LWF Receive Queue", xdp_lwf_receive_queue),
    SET(GUID(0x05947256, 0x79cd, 0x4393, 0xb54c, 0xa65be0963294), "XDP Transmit Queue", xdp_transmit_queue),
    SET(GUID(0x48b1dee9, 0x6603, 0x4a83, 0xb20d, 0x435fa421a5d7), "XDP LWF Transmit Queue", xdp_lwf_transmit_queue),
    SET(GUID(0xcaa1ae36, 0x014a, 0x4bbb, 0xb6cb, 0x00d57f60d8d3), "Ktl Log Stream", ktl_log_stream),
    SET(GUID(0x1441d310, 0x9058, 0x444c, 0xaef5, 0x0e52a6248589), "Ktl Log Container", ktl_log_container),
    SET(GUID(0x263aca85, 0x798b, 0x4de1, 0x8b21, 0x42f2607ffb5a), "Ktl Log Manager", ktl_log_manager),
    SET(GUID(0x3a22a8ec, 0x297c, 0x48ac, 0xab15, 0x33ec93033fd8), "Node.js", node_js),
    SET(GUID(0x11b6ca09, 0xa1c6, 0x44b9, 0xaab6, 0x73be315fd799), "OpenZFS Zpool", openzfs_zpool),
    SET(GUID(0x3e687ea1, 0x7258, 0x43bf, 0xb832, 0xf082ec02f1ca), "OpenZFS Vdev", openzfs_vdev),
    NAME_ONLY(GUID(0x2f8f7f86, 0x5c0b, 0x4865, 0x972c, 0xa788f04c61aa), "OpenZFS Cache"),
    SET(GUID(0xc13a89d1, 0x71ce, 0x4963, 0x88d5, 0x30b2cd32099c), "dwc_eqos-mac", dwc_eqos_mac),
    NAME_ONLY(GUID(0x38c39da2, 0x1748, 0x4dbc, 0x855d, 0x9c9d37af8eb1), "dwc_eqos-debug"),
    SET(GUID(0xffeeaadd, 0xc923, 0x4794, 0xb696, 0x70577630b5cf), "Geometric Waves", geometric_waves),
    SET(GUID(0xffeeaadd, 0xeaa6, 0x45ba, 0xbf6d, 0x4c7cb0d6ef73), "Trignometric Waves", trignometric_waves),
    SET(GUID(0xffddaaee, 0xeaa6, 0x45ba, 0xbf6d, 0x4c7cb0d6ef74), "Aggregated Trignometric Waves", trignometric_waves),
    SET(GUID(0xd2ffffff, 0xc923, 0x4794, 0xb696, 0x70577630b5cf), "Geometric Waves", kernel_geometric_waves),
    SET(GUID(0xffffffff, 0xeaa6, 0x45ba, 0xbf6d, 0x4c7cb0d6ef73), "Trignometric Waves", kernel_trignometric_waves),
    SET(GUID(0x582803c9, 0xaacd, 0x45e5, 0x8c30, 0x571141a22092), "Typing", typing),
};

const size_t perf_num_known_countersets = sizeof perf_known_countersets / sizeof *perf_known_countersets;

const perf_known_counterset *perf_known_counterset_find(const uint8_t guid[16])
{
    for (size_t i = 0; i < perf_num_known_countersets; i++) {
        if (memcmp(perf_known_countersets[i].guid, guid, 16) == 0) {
            return &perf_known_countersets[i];
        }
    }
    return NULL;
}

const perf_known_counter *perf_known_counter_find(const perf_known_counterset *set, uint32_t id)
{
    for (size_t i = 0; set && i < set->num_counters && set->counters[i].id <= id; i++) {
        if (set->counters[i].id == id) {
            return &set->counters[i];
        }
    }
    return NULL;
}

/* 2, 4: Win32 documentation; 230, 238: nmap and netdata; 234: a Zabbix template */
static const perf_known_counter titles[] = {
    COUNTER_WITHOUT_TYPE(2, "System"),      COUNTER_WITHOUT_TYPE(4, "Memory"),
    COUNTER_WITHOUT_TYPE(230, "Process"),   COUNTER_WITHOUT_TYPE(234, "PhysicalDisk"),
    COUNTER_WITHOUT_TYPE(238, "Processor"),
};
static const perf_known_counterset objects = {{0}, NULL, titles, sizeof titles / sizeof *titles};

bool perf_known_find(const uint8_t guid[16], uint32_t id, perf_known_counter *found)
{
    bool is_title = memcmp(guid, objects.guid, sizeof objects.guid) == 0;
    const perf_known_counterset *set = is_title ? &objects : perf_known_counterset_find(guid);
    const perf_known_counter *counter = perf_known_counter_find(set, id);

    *found = counter ? *counter : (perf_known_counter){id, set ? set->name : NULL, 0, false, PERF_NO_COUNTER};
    return counter || (set && set->name && id == PERF_NO_COUNTER);
}
