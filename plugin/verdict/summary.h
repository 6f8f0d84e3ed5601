/* summary.h
 * The verdict as text and as JSON, for whoever writes more around it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/talks.h"

#include <wsutil/json_dumper.h>

/* A member of the object that is written: a number (NAN: null), an array (to be ended), one of texts, which is freed. */
void verdict_put_number(json_dumper *json, const char *name, double number);
void verdict_begin_list(json_dumper *json, const char *name);
void verdict_put_texts(json_dumper *json, const char *name, GPtrArray *texts);

/* All of it as a JSON object, once it was judged. */
void verdict_put_json(json_dumper *json, const verdict *v);

/* What its figures are called: the member "figures", an array of {key, title}. */
void verdict_put_titles(json_dumper *json);

/* A monitor's line: who asks whom, how many samples, how often, how late. */
const char *verdict_account(const verdict_monitor *monitor);
