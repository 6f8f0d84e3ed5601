/* summary.h
 * The verdict as text and JSON.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/monitors.h"

#include <wsutil/json_dumper.h>

/* Write a member of the object that was begun: a text, a number (NAN: null), the begin of an array, an array of texts. The latter are freed. */
void verdict_put_text(json_dumper *json, const char *name, const char *text);
void verdict_put_number(json_dumper *json, const char *name, double number);
void verdict_begin_list(json_dumper *json, const char *name);
void verdict_put_texts(json_dumper *json, const char *name, GPtrArray *texts);

/* Writes health, notes and monitors as a JSON object. Needs: verdict_judge(). */
void verdict_put_json(json_dumper *json, const verdict *v);

/* Writes the names of the statistics: the member "figures", an object of titles by their names in the JSON. */
void verdict_put_titles(json_dumper *json);

/* Returns a monitor's line: peers, samples, interval, lateness, and as far as VERDICT_LINE has room response time, query, account and the slowest. */
const char *format_monitor_line(const verdict_monitor *monitor);
