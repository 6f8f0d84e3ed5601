/* object_sound.h
 * What the unit test and the fuzz target of the walk through PERF_DATA_BLOCK both ask of an object.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/block-walk.h"

/* Nothing makes it uncertain which of the object's values stands where. */
static inline bool object_sound(const perf_block_walk *walk)
{
    perf_block_walk trial = *walk;
    perf_block_event event;

    while ((event = perf_block_next(&trial)) != PERF_BLOCK_END && event != PERF_BLOCK_OBJECT) {
        if (event == PERF_BLOCK_FAULT && perf_block_does_harm(&trial)) {
            return false;
        }
        perf_block_skip_values(&trial);
    }
    return true;
}
