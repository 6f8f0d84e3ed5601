/* summary.h
 * The verdict as text and JSON.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/monitors.h"

#include <wsutil/json_dumper.h>

/* Write a member of the object that is written: a text, a number (NAN: null), an array (to be ended), one of texts, which is freed. */
void verdict_put_text(json_dumper *json, const char *name, const char *text);
void verdict_put_number(json_dumper *json, const char *name, double number);
void verdict_begin_list(json_dumper *json, const char *name);
void verdict_put_texts(json_dumper *json, const char *name, GPtrArray *texts);

/* Writes all of it as a JSON object. Needs: it was judged. */
void verdict_put_json(json_dumper *json, const verdict *v);

/* Writes the names of the statistics: the member "figures", an array of {key, title}. */
void verdict_put_titles(json_dumper *json);

/* Returns a monitor's line: who asks whom, how many samples, how often, how late. */
const char *format_monitor_line(const verdict_monitor *monitor);
