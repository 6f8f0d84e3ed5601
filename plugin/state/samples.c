/* samples.c
 * Samples: what a value is calculated from.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/samples.h"

/* Bytes of samples are not file-scope memory: what is freed there is hardly used again, and a limit would not limit. */

/* Of all handles, for dropping the oldest. */
static struct {
    perf_sample *oldest;
    perf_sample *newest;
    uint64_t bytes;
    uint64_t limit;
} samples;

static void drop_oldest(void)
{
    perf_sample *oldest = samples.oldest;

    samples.oldest = oldest->newer;
    samples.bytes -= oldest->size;
    g_free(oldest->bytes);
    oldest->bytes = NULL;
}

/* The newest stays: it is being looked at. */
static void obey_limit(void)
{
    while (samples.bytes > samples.limit && samples.oldest != samples.newest) {
        drop_oldest();
    }
}

void perf_sample_limit(uint64_t bytes)
{
    samples.limit = bytes;
    obey_limit();
}

perf_sample *perf_sample_keep(perf_handle *handle, const uint8_t *bytes, uint32_t size, uint32_t event, uint32_t frame)
{
    perf_sample *sample = wmem_new0(wmem_file_scope(), perf_sample);

    sample->handle = handle;
    sample->event = event;
    sample->frame = frame;
    sample->bytes = g_memdup2(bytes, size);
    sample->size = size;
    sample->previous = handle->newest;
    handle->newest = sample;

    if (samples.oldest == NULL) {
        samples.oldest = sample;
    } else {
        samples.newest->newer = sample;
    }
    samples.newest = sample;
    samples.bytes += size;
    obey_limit();
    return sample;
}

void perf_sample_holds(perf_sample *sample, const uint32_t *indexes, uint32_t count)
{
    perf_handle *handle = sample->handle;

    if (handle->objects == NULL) {
        handle->objects = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
    }
    sample->objects = wmem_alloc0_array(wmem_file_scope(), perf_object, count);
    sample->num_objects = count;
    for (uint32_t i = 0; i < count; i++) {
        sample->objects[i].sample = sample;
        sample->objects[i].is_doubtful = indexes[i] == PERF_NO_OBJECT;
        sample->objects[i].previous = wmem_map_lookup(handle->objects, GUINT_TO_POINTER(indexes[i]));
    }
    for (uint32_t i = count; i-- > 0;) {
        if (!sample->objects[i].is_doubtful) {
            wmem_map_insert(handle->objects, GUINT_TO_POINTER(indexes[i]), &sample->objects[i]);
        }
    }
}

/* Before the file's memory goes, which holds the samples themselves. */
static void reset(void)
{
    while (samples.oldest) {
        drop_oldest();
    }
    samples.newest = NULL;
}

void perf_samples_register(void)
{
    register_cleanup_routine(reset);
}
