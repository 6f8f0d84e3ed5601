/* figures.h
 * The figures of a monitor: one list, of which `-z pcq,queries`, the sentences and JSON are made.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* X(FIGURE, name in JSON, title, type as taps/table.h has it, format). A text is NULL, and a number NAN, where there is none. */
#define FIGURES(X) \
    X(HANDLE, "handle", "Handle", TABLE_ITEM_STRING, NULL) \
    X(SAMPLES, "samples", "Samples", TABLE_ITEM_UINT, "%u") \
    X(INTERVAL, "interval", "Interval (s)", TABLE_ITEM_FLOAT, "%.6f") \
    X(JITTER, "jitter", "Jitter (s)", TABLE_ITEM_FLOAT, "%.6f") \
    X(LONGEST, "longest", "Longest (s)", TABLE_ITEM_FLOAT, "%.6f") \
    X(LATE_ASKED, "late_asked", "Late asked", TABLE_ITEM_UINT, "%u") \
    X(LATE_ANSWERED, "late_answered", "Late answered", TABLE_ITEM_UINT, "%u") \
    X(RESPONSE, "response", "Response (s)", TABLE_ITEM_FLOAT, "%.6f") \
    X(SLOWEST, "slowest", "Slowest (s)", TABLE_ITEM_FLOAT, "%.6f") \
    X(SLOWEST_FRAME, "slowest_frame", "Slowest frame", TABLE_ITEM_FLOAT, "%.0f") \
    X(SIZE, "bytes_per_sample", "Bytes/sample", TABLE_ITEM_FLOAT, "%.0f") \
    X(COUNTERS, "counters", "Counters", TABLE_ITEM_FLOAT, "%.0f") \
    X(REFUSED, "refused", "Refused", TABLE_ITEM_FLOAT, "%.0f") \
    X(FAILED, "failed_blocks", "Failed blocks", TABLE_ITEM_FLOAT, "%.0f") \
    X(CLOCK, "server_clock", "Server clock (s)", TABLE_ITEM_FLOAT, "%+.3f") \
    X(CLIENT, "client", "Client", TABLE_ITEM_STRING, NULL) \
    X(SERVER, "server", "Server", TABLE_ITEM_STRING, NULL) \
    X(OPENED, "opened", "Opened", TABLE_ITEM_STRING, NULL) \
    X(CLOSED, "closed", "Closed", TABLE_ITEM_STRING, NULL) \
    X(ACCOUNT, "account", "Account", TABLE_ITEM_STRING, NULL) \
    X(PROBES, "size_probes", "Size probes", TABLE_ITEM_FLOAT, "%.0f") \
    X(NO_DATA, "no_data", "No data", TABLE_ITEM_FLOAT, "%.0f")

#define FIGURE_NUMBER(figure, ...) FIGURE_##figure,
enum { FIGURES(FIGURE_NUMBER) NUM_FIGURES };

typedef struct {
    double numbers[NUM_FIGURES];
    const char *texts[NUM_FIGURES];
} figure_values;

struct json_dumper;
