/* hkpd-samples.c
 * Which objects of an answer later answers may be compared with.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/hkpd-samples.h"

#include "perf/block-walk.h"

/* Title indexes of a block's objects that are not sound: keys of a map. */
static wmem_map_t *unsound_objects(tvbuff_t *tvb, wmem_allocator_t *pool)
{
    wmem_map_t *unsound = wmem_map_new(pool, g_direct_hash, g_direct_equal);
    perf_block_walk walk;
    perf_block_event event;

    perf_block_init(&walk, tvb_get_ptr(tvb, 0, -1), tvb_captured_length(tvb));
    while ((event = perf_block_next(&walk)) != PERF_BLOCK_END) {
        if (event == PERF_BLOCK_OBJECT) {
            if (!perf_block_object_sound(&walk)) {
                wmem_map_insert(unsound, GUINT_TO_POINTER(walk.object.index), GUINT_TO_POINTER(1));
            }
            perf_block_skip_object(&walk);
        }
    }
    return unsound;
}

/* Whether the object is sound, and the objects that its instances' parents are in: which instance is which is not certain
 * otherwise. */
static bool instances_are_known(const perf_block_walk *object, wmem_map_t *unsound)
{
    perf_block_walk walk = *object;
    perf_block_event event;

    if (wmem_map_contains(unsound, GUINT_TO_POINTER(object->object.index))) {
        return false;
    }
    while ((event = perf_block_next(&walk)) != PERF_BLOCK_END && event != PERF_BLOCK_OBJECT) {
        if (event == PERF_BLOCK_INSTANCE && walk.instance.parent_object != 0 &&
            wmem_map_contains(unsound, GUINT_TO_POINTER(walk.instance.parent_object))) {
            return false;
        }
        if (perf_block_values_left(&walk) > 0) {
            perf_block_skip_values(&walk);
        }
    }
    return true;
}

perf_object_place *hkpd_object_places(tvbuff_t *tvb, wmem_allocator_t *pool, uint32_t *count)
{
    perf_block_walk walk;
    perf_block_event event;
    wmem_array_t *places = wmem_array_new(pool, sizeof(perf_object_place));
    wmem_map_t *unsound = unsound_objects(tvb, pool);

    perf_block_init(&walk, tvb_get_ptr(tvb, 0, -1), tvb_captured_length(tvb));
    while ((event = perf_block_next(&walk)) != PERF_BLOCK_END) {
        if (event == PERF_BLOCK_OBJECT) {
            bool known = wmem_map_size(unsound) == 0 || instances_are_known(&walk, unsound);
            uint32_t title_index = perf_block_holds_values(&walk) && known ? walk.object.index : PERF_NO_OBJECT;
            perf_object_place place = {title_index, walk.object.offset};
            wmem_array_append_one(places, place);
            perf_block_skip_object(&walk);
        }
    }
    *count = wmem_array_get_count(places);
    return wmem_array_get_raw(places);
}
