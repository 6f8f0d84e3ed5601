/* expert-info.h
 * Expert infos: one table, and the one way to report them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

#include <epan/expert.h>

/* X(identifier, filter name, group, severity, damage, summary, what it means for a reader and what can be done). "damage" is
 * true where the bytes contradict themselves: nothing is learned from such a stub. */
#define EXPERT_INFOS(X) \
    X(ARRAY_COUNTS, "array_counts", PI_PROTOCOL, PI_WARN, true, "The counts of an NDR array disagree", \
      "The sender's fault, or a failed decryption; look at the three counts of the array") \
    X(TEXT, "text", PI_PROTOCOL, PI_WARN, true, "A string is not well formed", \
      "The sender's fault; the bytes are shown as far as they are text") \
    X(TRAILING_BYTES, "trailing_bytes", PI_UNDECODED, PI_WARN, true, "Bytes are left over", \
      "A newer version of the interface, or a sender's fault; see the bytes left over") \
    X(IN_SIZE_RANGE, "in_size_range", PI_PROTOCOL, PI_WARN, false, "dwInSize is beyond the interface's range", \
      "A real server refuses such a call; the client should ask for less") \
    X(REQUEST_MISSING, "request_missing", PI_SEQUENCE, PI_NOTE, false, "The request of this response was not read", \
      "Capture both directions from the start; what depends on the request is not shown") \
    X(SECOND_RESPONSE, "second_response", PI_SEQUENCE, PI_NOTE, false, "The call was answered before", \
      "Captured twice (editcap -d), or a call id used again; values that differ from the first are assumed") \
    X(NO_DATA, "no_data", PI_PROTOCOL, PI_WARN, false, "The call succeeded, but there is no data", \
      "The server's fault: it had room and reported success; treat it as no answer") \
    X(NOT_PERFORMANCE_DATA, "not_performance_data", PI_PROTOCOL, PI_WARN, false, "What came is no performance data", \
      "The server's fault, or a value of an ordinary key; nothing is learned from it") \
    X(LENGTH, "length", PI_PROTOCOL, PI_WARN, false, "A length is not that of the data", \
      "The sender's fault: the data is read by what is there") \
    X(REQUEST_CODE, "request_code", PI_PROTOCOL, PI_WARN, false, "RequestCode is unknown", \
      "A newer version of the interface; the buffer is shown as bytes") \
    X(HANDLE_NULL, "handle_null", PI_PROTOCOL, PI_NOTE, false, "The query handle is empty", \
      "The client uses a handle that it never got; look for the failed OpenQueryHandle") \
    X(HANDLE_CLOSED, "handle_closed", PI_SEQUENCE, PI_WARN, false, "The handle was closed before", \
      "The client uses a handle after closing it; the close is linked under the handle") \
    X(NUMBER, "number", PI_PROTOCOL, PI_WARN, false, "A field has an impossible value", \
      "A newer version, or a sender's fault; everything else is read as usual") \
    X(SIZE, "size", PI_MALFORMED, PI_ERROR, true, "A size does not fit", \
      "The sender's fault, or a failed decryption; what comes after it may be read at the wrong place") \
    X(COUNT, "count", PI_MALFORMED, PI_ERROR, true, "A count does not fit", \
      "The sender's fault, or a failed decryption; what comes after it may be read at the wrong place") \
    X(READ_AS, "read_as", PI_PROTOCOL, PI_NOTE, false, "Lengths contradict each other, and one reading fits", \
      "The sender's fault; the text says which length is read as what. Nothing is lost") \
    X(STRING_OFFSET, "string_offset", PI_MALFORMED, PI_ERROR, true, "A string offset does not lead to a string", \
      "The sender's fault; that one name is missing, and no name of this table is kept") \
    X(STRING_OFFSET_BASE, "string_offset_base", PI_PROTOCOL, PI_CHAT, false, "Offsets begin behind the headers", \
      "Nothing to do: [MS-PCQ] counts offsets of strings so, Windows from the block's start; both are read") \
    X(BLOCK_TYPE, "block_type", PI_PROTOCOL, PI_WARN, true, "dwType is unknown", \
      "A newer version of the interface, or a failed decryption; the block is shown as bytes") \
    X(INDEX, "index", PI_PROTOCOL, PI_WARN, true, "Index does not name one block for each counter", \
      "The server's fault; blocks are matched to counters without it") \
    X(TIME, "time", PI_PROTOCOL, PI_WARN, false, "A time is not valid", \
      "The server's fault, or a failed decryption; no date is shown as 1970") \
    X(CALL_FAILED, "call_failed", PI_RESPONSE_CODE, PI_NOTE, false, "The call failed", \
      "docs/symptoms.md says what each status means for the person who asked") \
    X(COUNTER_REFUSED, "counter_refused", PI_RESPONSE_CODE, PI_NOTE, false, "The server refused to add a counter", \
      "The query goes on without it; docs/symptoms.md says what each error means") \
    X(BLOCK_FAILED, "block_failed", PI_RESPONSE_CODE, PI_NOTE, false, "A counter begins to fail, or has values again", \
      "It was accepted: the instance or the provider went away; docs/symptoms.md") \
    X(NOT_DELIVERED, "not_delivered", PI_RESPONSE_CODE, PI_NOTE, false, \
      "What was accepted is missing, or there again", \
      "A counter without instances, or an object that the server does not have; docs/symptoms.md") \
    X(LATE, "late", PI_RESPONSE_CODE, PI_NOTE, false, "A sample is late, or a response slow", \
      "By the samples before it; -z pcq,summary judges by the whole capture: docs/statistics.md") \
    X(SCALE, "scale", PI_PROTOCOL, PI_WARN, false, "DefaultScale is outside its range", \
      "The provider registered the counter wrongly; nothing is scaled here anyway") \
    X(COUNTER_TYPE, "counter_type", PI_PROTOCOL, PI_CHAT, false, "The counter type is unknown", \
      "The provider's own type: the raw value is shown") \
    X(NOT_SHOWN, "not_shown", PI_UNDECODED, PI_NOTE, false, "A packet's tree cannot hold all of it", \
      "Raise gui.max_tree_items, or export: exports and statistics are complete") \
    X(ORDER_ASSUMED, "order_assumed", PI_ASSUMPTION, PI_NOTE, false, "Counter, instance or name is assumed", \
      "Capture from the client's first call on; docs/limits.md says which values may be another's") \
    X(SYSTEMS, "systems", PI_ASSUMPTION, PI_NOTE, false, "Two computer names at one address: titles are assumed", \
      "Capture where each has an address of its own, behind the load balancer") \
    X(SEALED, "sealed", PI_DECRYPTION, PI_NOTE, false, "The call is sealed, and no key was given", \
      "The packet says which key opens it; docs/decryption.md says how") \
    X(KEY_DOES_NOT_FIT, "key_does_not_fit", PI_DECRYPTION, PI_WARN, false, "The key given does not open the call", \
      "The packet says which key opens it; docs/decryption.md says how") \
    X(NOT_DECRYPTED, "not_decrypted", PI_DECRYPTION, PI_WARN, true, "The stub was probably not decrypted correctly", \
      "A packet was lost, or one frame holds several sealed PDUs: docs/decryption.md")

/* Damage of the structures that only PERF_DATA_BLOCK has. */
#define EXPERT_BLOCK_INFOS(X) \
    X(BLOCK_SIZE, "size", PI_MALFORMED, PI_ERROR, true, "A size does not fit", \
      "The sender's fault, or a failed decryption; what comes after it may be read at the wrong place") \
    X(BLOCK_COUNT, "count", PI_MALFORMED, PI_ERROR, true, "A count does not fit", \
      "The sender's fault, or a failed decryption; what comes after it may be read at the wrong place")

#define EXPERT_ENUM(id, ...) EI_##id,
typedef enum { EXPERT_INFOS(EXPERT_ENUM) EXPERT_BLOCK_INFOS(EXPERT_ENUM) NUM_EXPERT_INFOS } expert_id;

/* Registers pcq.expert.NAME for each expert info; `is_block`: hkpd.expert.NAME for those of PERF_DATA_BLOCK. */
void expert_info_register(int proto, bool is_block);

/* The report of one stub or buffer. The caller sets `pinfo`; all else begins as zeros. */
typedef struct {
    packet_info *pinfo;    /* NULL: the findings only count, nothing is shown */
    unsigned told_assumed; /* a bit for each assumed_reason that was reported */
    bool shows_end;        /* Wireshark's "Malformed Packet" or "Packet size limited" is shown */
    unsigned count;        /* expert infos, with those that are too many to show */
    bool damaged;          /* the bytes contradict themselves: nothing is learned from them */
} expert_report;

/* Adds an expert info to `item` (may be NULL). The text says what is wrong and what it means. Changes: the report is damaged if the expert
 * info is damage; infos beyond 100, or while nothing is shown, are not added. */
void expert_report_add(expert_report *report, proto_item *item, expert_id id, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

/* True if a listener, filter, column or the visible tree references expert infos. If false, callers skip expensive searches for them. */
bool expert_info_is_wanted(proto_tree *tree);

/* Reports at the end of a stub how many expert infos were too many to show. */
void expert_report_end(expert_report *report, proto_item *item);
