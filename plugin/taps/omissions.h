/* omissions.h
 * What a statistic or export could not take, or took as assumed: counted while calls come, and printed at its end or below a table.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "tap/call-tap.h"

/* X(NAME, sentence before the number, what to do or where to look). The last four are of values. That of UNDECODED is in
 * `why_undecoded`; without any a row below a table says it, and no warning. Why calls bring no data, -z pcq,summary says. */
#define OMISSIONS(X) \
    X(UNDECODED, "requests and responses not decoded", NULL) \
    X(ORPHANS, "responses of no known query or handle", \
      "their requests were not captured or not decoded, or are not known from others of that call id or handle") \
    X(MALFORMED, "malformed responses", "Analyze, Expert Information (-z expert) says where") \
    X(WITHOUT_ROW, "values without a row (texts, repeated paths)", "") \
    X(WITHOUT_CELL, "values that are not in the CSV", \
      "their path is another counter's, or not known, or columns are too many; -z pcq,long has a row for each value") \
    X(UNTYPED, "values of a counter or type that is not known", \
      "they have no result: begin the capture before the client does, or use a names file (-o pcq.names_file:FILE)") \
    X(ASSUMED, "values that are assumed", \
      "which counter or instance they belong to, or its name or type, is not proven by the capture; " \
      "pcq.expert.order_assumed says why")

#define OMISSION_ENUM(name, ...) OMITTED_##name,
typedef enum { OMISSIONS(OMISSION_ENUM) NUM_OMISSIONS } omission;

/* Begins as zeros. */
typedef struct {
    bool any_decoded;  /* a call was read */
    bool has_findings; /* a summary has all behind ORPHANS */
    uint64_t counts[NUM_OMISSIONS];
    uint64_t samples;          /* responses with values of a known query */
    const char *why_undecoded; /* reason of the first that was not decoded, interned; NULL: there is none */
    bool any_path;             /* omissions_ask() returned true */
    char *const *paths;        /* patterns that the user asked for; NULL: all. Stays when all else is forgotten */
} omissions;

/* Counts a call, its values excepted. Repeated responses are not counted. */
void omissions_count_call(omissions *o, const call_tap_data *tapped);

/* Returns true if the user asked for a path. `path`: NULL, not known, is asked for with all others alone. */
bool omissions_ask(omissions *o, const char *path);

/* Counts the value that was read last as untyped or assumed, if it is. `result`: of that value. */
void omissions_count_value(omissions *o, value_stream *stream, const perf_result *result);

/* Returns a note for each kind of omission, with a remedy behind a semicolon, and for a lack of calls, samples or matching paths; free the array.
 * `is_brief`: without remedies, in at most 60 characters. */
GPtrArray *omissions_format(const omissions *o, bool is_brief);
