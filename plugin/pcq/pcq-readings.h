/* pcq-readings.h
 * The counter data of PerflibV2QueryCounterData ([MS-PCQ] 3.1.4.1.6) as a stream of readings.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "readings/readings.h"

#include "perf/data-walk.h"

extern const readings_layout pcq_readings_layout;

/* For whoever shows the structures between the values too: the next event of the walk that the stream makes. At a
 * PERF_WALK_VALUE the reading is as if it had been pulled. */
perf_walk_event pcq_readings_event(readings *r);
const perf_walk *pcq_readings_walk(const readings *r);

/* True if which counters the blocks hold is assumed from the order of the identifiers. */
bool pcq_readings_assumed(readings *r);

/* Goes on to the next block that holds an error, past all values; false at the end. */
bool pcq_readings_next_failed(readings *r);

/* Whose the current block is, NULL if that is not known. */
const state_identifier *pcq_readings_identifier(const readings *r);

/* The name of the current instance. */
const char *pcq_readings_instance_name(readings *r);

/* What its identifier asks for: a counter's name, "#id" or "*". */
const char *pcq_readings_block_counter(readings *r);
