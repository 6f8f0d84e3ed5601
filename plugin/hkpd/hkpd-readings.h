/* hkpd-readings.h
 * PERF_DATA_BLOCK (winperf.h) as a stream of readings.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "readings/readings.h"

#include "perf/block-walk.h"

extern const readings_layout hkpd_readings_layout;

/* For whoever shows the structures between the values too: the next event of the walk that the stream makes. At a
 * PERF_BLOCK_VALUE the reading is as if it had been pulled. */
perf_block_event hkpd_readings_event(readings *r);
const perf_block_walk *hkpd_readings_walk(const readings *r);

/* Leaves the counter block that the walk is in. */
void hkpd_readings_skip_values(readings *r);

/* "explorer/3", "svchost#2", "" of the instance that the walk is in. */
const char *hkpd_readings_instance(readings *r);
