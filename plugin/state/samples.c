/* samples.c
 * Samples: what a value is calculated from.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/samples.h"

/* What counts for the limit is not file-scope memory: what is freed there is hardly used again, and a limit would not
 * limit. */

/* Of all handles, for dropping the oldest. */
static struct {
    state_sample *oldest;
    state_sample *newest;
    uint64_t bytes;
    uint64_t limit;
} samples;

static size_t size_of_form(const perf_form *form)
{
    return sizeof *form + form->size + form->num_numbers * sizeof form->offsets[0];
}

/* Either all its bytes, or the numbers that its form does not have. */
static size_t size_of_data(const state_sample *sample)
{
    return sample->form ? sample->form->num_numbers * sizeof sample->numbers[0] : sample->size;
}

static void take_form(state_sample *sample, perf_form *form, uint64_t *numbers)
{
    sample->form = form;
    sample->bytes = form->bytes;
    sample->numbers = numbers;
    if (form->users++ == 0) {
        samples.bytes += size_of_form(form);
    }
}

/* The sample gives up its form and its numbers; the last that has a form frees it. Who calls has taken the numbers off samples.bytes, and
 * clears sample->bytes, which were the form's. */
static void leave_form(state_sample *sample)
{
    perf_form *form = sample->form;

    ws_assert(form->users > 0);
    g_free(sample->numbers);
    sample->form = NULL;
    sample->numbers = NULL;
    if (--form->users == 0) {
        samples.bytes -= size_of_form(form);
        g_free(form->bytes);
        perf_form_free(form);
    }
}

static void drop_oldest(void)
{
    state_sample *oldest = samples.oldest;

    ws_assert(oldest->bytes && samples.bytes >= size_of_data(oldest));
    samples.oldest = oldest->newer;
    samples.bytes -= size_of_data(oldest);
    if (oldest->form) {
        leave_form(oldest);
    } else {
        g_free(oldest->bytes);
    }
    oldest->bytes = NULL;
}

/* Drops the oldest samples of all handles until the rest fits. The latest of the capture stays, however large: whoever has just kept it
 * goes on with it. */
static void obey_limit(void)
{
    while (samples.bytes > samples.limit && samples.oldest != samples.newest) {
        drop_oldest();
    }
}

void sample_limit(uint64_t bytes)
{
    samples.limit = bytes;
    obey_limit();
}

static state_sample *new_sample(state_handle *handle, uint32_t size, uint32_t event, uint32_t frame)
{
    state_sample *sample = wmem_new0(wmem_file_scope(), state_sample);

    sample->handle = handle;
    sample->event = event;
    sample->frame = frame;
    sample->size = size;
    sample->previous = handle->newest;
    if (sample->previous) {
        sample->previous->next = sample;
        sample->pause = sample->previous->pause;
        sample->next_pause = sample->previous->next_pause;
    }
    return sample;
}

static void add_newest(state_sample *sample)
{
    sample->handle->newest = sample;
    if (samples.oldest == NULL) {
        samples.oldest = sample;
    } else {
        samples.newest->newer = sample;
    }
    samples.newest = sample;
    samples.bytes += size_of_data(sample);
    obey_limit();
}

state_sample *sample_keep(state_handle *handle, const uint8_t *bytes, uint32_t size, uint32_t event, uint32_t frame)
{
    state_sample *sample = new_sample(handle, size, event, frame);

    sample->bytes = g_memdup2(bytes, size);
    add_newest(sample);
    return sample;
}

/* --- Samples that have a form in common -------------------------------------------------------------------------- */

/* The numbers of bytes that have the form, NULL if they have another. */
static uint64_t *numbers_of(perf_form *form, const uint8_t *bytes, uint32_t size)
{
    uint64_t *numbers = g_new(uint64_t, form->num_numbers);

    if (!perf_form_read(form, bytes, size, numbers)) {
        g_free(numbers);
        return NULL;
    }
    return numbers;
}

/* What was kept whole gets a form, if these bytes have it too. */
static uint64_t *numbers_of_new_form(state_sample *sample, const uint8_t *bytes, uint32_t size)
{
    perf_form *form = perf_form_new(sample->bytes, sample->size);
    uint64_t *own = form ? numbers_of(form, sample->bytes, sample->size) : NULL,
             *numbers = form ? numbers_of(form, bytes, size) : NULL;

    if (numbers) {
        samples.bytes -= size_of_data(sample);
        take_form(sample, form, own);
        samples.bytes += size_of_data(sample);
    } else if (form) {
        perf_form_fill(form, own, sample->bytes);
        g_free(own);
        perf_form_free(form);
    }
    return numbers;
}

/* A form that is made in vain costs as much as to keep the sample. So it is tried ever more rarely, until it is not. */
#define LONGEST_PAUSE 63

/* The numbers of bytes that have the same form as the sample, NULL if they don't. */
static uint64_t *numbers_like(state_sample *sample, const uint8_t *bytes, uint32_t size)
{
    if (sample->form) {
        return numbers_of(sample->form, bytes, size);
    }
    if (sample->pause > 0) {
        sample->pause--;
        return NULL;
    }
    uint64_t *numbers = numbers_of_new_form(sample, bytes, size);
    sample->next_pause = numbers ? 0 : MIN(8 * sample->next_pause + 7, LONGEST_PAUSE);
    sample->pause = sample->next_pause;
    return numbers;
}

state_sample *sample_keep_alike(state_handle *handle, const uint8_t *bytes, uint32_t size, uint32_t event,
                                uint32_t frame)
{
    state_sample *newest = handle->newest;
    uint64_t *numbers = newest && newest->bytes && newest->size == size ? numbers_like(newest, bytes, size) : NULL;

    if (numbers == NULL) {
        return NULL;
    }
    state_sample *sample = new_sample(handle, size, event, frame);
    sample->summary = newest->summary;
    sample->alone = newest->alone;
    sample->headline = newest->headline;
    take_form(sample, newest->form, numbers);
    add_newest(sample);
    return sample;
}

bool sample_has_form(const state_sample *sample, const uint8_t *bytes, uint32_t size)
{
    uint64_t *numbers = sample->form ? numbers_of(sample->form, bytes, size) : NULL;

    g_free(numbers);
    return numbers != NULL;
}

const uint8_t *sample_bytes(const state_sample *sample, wmem_allocator_t *pool)
{
    if (sample->form == NULL) {
        return sample->bytes;
    }
    uint8_t *bytes = wmem_memdup(pool, sample->bytes, sample->size);

    perf_form_fill(sample->form, sample->numbers, bytes);
    return bytes;
}

/* --- HKPD -------------------------------------------------------------------------------------------------------- */

bool sample_holds(state_sample *sample, const uint32_t *objects, uint32_t count)
{
    state_handle *handle = sample->handle;
    bool holds_all = true;

    ws_assert(sample == handle->newest && sample->objects == NULL);
    if (handle->objects == NULL) {
        handle->objects = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
    }
    sample->objects = wmem_alloc0_array(wmem_file_scope(), state_object, count);
    sample->num_objects = count;
    for (uint32_t i = 0; i < count; i++) {
        state_object *object = &sample->objects[i];
        object->sample = sample;
        object->is_doubtful = objects[i] == PERF_NO_OBJECT;
        holds_all &= !object->is_doubtful;
        if (!object->is_doubtful) {
            state_object *before = wmem_map_insert(handle->objects, GUINT_TO_POINTER(objects[i]), object);
            if (before) {
                object->previous = before->sample;
                before->next = sample;
            }
        }
    }
    return holds_all;
}

const state_object *sample_object(const state_sample *sample, uint32_t number)
{
    return sample && number < sample->num_objects ? &sample->objects[number] : NULL;
}

/* Before the file's memory goes, which holds the samples themselves. */
static void drop_all(void)
{
    while (samples.oldest) {
        drop_oldest();
    }
    samples.newest = NULL;
}

void samples_register(void)
{
    register_cleanup_routine(drop_all);
}
