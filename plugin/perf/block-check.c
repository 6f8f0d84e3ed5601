/* block-check.c
 * What a PERF_DATA_BLOCK holds, and which of its objects are sound.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/block-walk.h"

#include <string.h>

bool perf_block_holds_values(const perf_block_walk *walk)
{
    return walk->object.num_instances >= PERF_INSTANCES_NONE;
}

static bool does_harm(const perf_block_walk *walk)
{
    return perf_block_fault_infos[walk->fault].harm;
}

bool perf_block_object_sound(const perf_block_walk *walk)
{
    perf_block_walk trial = *walk;
    perf_block_event event;

    trial.one_object = true;
    while ((event = perf_block_next(&trial)) != PERF_BLOCK_END) {
        if (event == PERF_BLOCK_FAULT && does_harm(&trial)) {
            return false;
        }
        if (perf_block_values_left(&trial) > 0) {
            perf_block_skip_values(&trial);
        }
    }
    return true;
}

/* The definitions tell once for all instances where values are: no value is looked at. */
bool perf_block_check(const uint8_t *data, uint32_t size, perf_block_summary *summary)
{
    perf_block_walk walk;
    perf_block_event event;
    bool sound = false;

    memset(summary, 0, sizeof *summary);
    perf_block_init(&walk, data, size);
    while ((event = perf_block_next(&walk)) != PERF_BLOCK_END) {
        if (event == PERF_BLOCK_OBJECT) {
            summary->objects++;
            summary->sound_objects += sound;
            sound = perf_block_holds_values(&walk);
        } else if (event == PERF_BLOCK_FAULT) {
            summary->faults++;
            sound = sound && !does_harm(&walk);
        }
        summary->definitions += event == PERF_BLOCK_DEFINITION;
        summary->instances += event == PERF_BLOCK_INSTANCE;
        if (perf_block_values_left(&walk) > 0) {
            summary->values += perf_block_values_left(&walk);
            perf_block_skip_values(&walk);
        }
    }
    summary->sound_objects += sound;
    return summary->faults == 0;
}
