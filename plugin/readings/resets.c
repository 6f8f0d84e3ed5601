/* resets.c
 * What began again since the sample before: an instance, an object or the machine, all of whose values went backwards or stood
 * still. One counter that did while others of its instance went on is no provider that began again: Windows sets single ones back.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "readings/layout.h"

#include "state/queries.h"

/* How the values of an instance, an object or all of them went on. */
typedef struct {
    uint64_t key;
    uint32_t on, back;
    uint32_t parts_back; /* instances, objects */
} course;

typedef struct {
    wmem_allocator_t *pool;
    wmem_map_t *courses; /* by key, the digest of names */
    course all;
    course *object, *instance; /* of the reading that was pulled last */
} resets;

static course *course_of(resets *found, const char *name, uint64_t within)
{
    const uint64_t key = readings_digest_with(query_name_digest((const uint8_t *)name, (uint32_t)strlen(name)), within);
    course *there = wmem_map_lookup(found->courses, &key);

    if (there == NULL) {
        there = wmem_new0(found->pool, course);
        there->key = key;
        wmem_map_insert(found->courses, &there->key, there);
    }
    return there;
}

/* The next value that went on or backwards, with the courses that it belongs to. */
static bool next_value(resets *found, readings *r, bool *is_reset)
{
    while (readings_next(r)) {
        const perf_result result = r->at.is_number ? readings_result(r) : (perf_result){0, PERF_NONE_NO_FORMULA};
        *is_reset = perf_is_reset(result.none);
        bool is_on = result.none == PERF_NONE_OK && r->operands.known && r->operands.has_previous &&
                     r->operands.current.value.value != r->operands.previous.value.value;
        if ((*is_reset || is_on) && readings_path(r)) {
            const char *instance = readings_instance(r);
            found->object = course_of(found, readings_set(r), 0);
            found->instance = course_of(found, instance ? instance : "", found->object->key);
            return true;
        }
    }
    return false;
}

static void count_courses(resets *found, const readings_answer *answer)
{
    readings *r = readings_begin_for_all(found->pool, answer);
    bool is_reset;

    while (next_value(found, r, &is_reset)) {
        if (is_reset) {
            found->all.parts_back += found->object->back++ == 0;
            found->object->parts_back += found->instance->back++ == 0;
        } else {
            found->all.on++;
            found->object->on++;
            found->instance->on++;
        }
    }
}

static const char *extent(const resets *found, readings *r)
{
    const char *instance = readings_instance(r);

    return found->all.on == 0 && found->all.parts_back > 1 ? "The whole"
           : !instance || (found->object->on == 0 && found->object->parts_back > 1)
               ? wmem_strconcat(found->pool, "Object ", readings_set(r), NULL)
               : wmem_strconcat(found->pool, "Instance ", readings_set(r), "(", instance, ")", NULL);
}

readings_reset readings_find_reset(wmem_allocator_t *pool, const readings_answer *answer)
{
    resets found = {.pool = pool, .courses = wmem_map_new(pool, wmem_int64_hash, g_int64_equal)};
    readings_reset reset = {.values = 0};
    bool is_reset;

    count_courses(&found, answer);
    readings *r = readings_begin_for_all(pool, answer);
    while (next_value(&found, r, &is_reset)) {
        if (is_reset && found.instance->on == 0 && reset.values++ == 0) {
            reset.what = extent(&found, r);
        }
    }
    return reset;
}
