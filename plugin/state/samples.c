/* samples.c
 * Samples: responses with counter data that values are calculated from, and the series that they are in.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/samples.h"

/* Samples' bytes are no file-scope memory, which is hardly used again once it is freed. */
static struct {
    GQueue kept;    /* samples that have their bytes, the oldest first */
    uint64_t bytes; /* sum of these */
    uint64_t limit; /* bytes of samples and tables, as sample_limit() set it */
} samples = {.kept = G_QUEUE_INIT};

/* All tables together: clients that open a query for two samples would keep two each. Two always stay, for one result. */
#define MOST_TABLES 64
#define MOST_TABLE_BYTES (16 << 20)

/* Samples whose tables were read last, that of the oldest table first. */
static GQueue tables = G_QUEUE_INIT;

/* --- Tables ------------------------------------------------------------------------------------------------------ */

static ws_wmem_result free_table(wmem_allocator_t *pool _U_, wmem_cb_event_t event _U_, void *table)
{
    perf_table_free(table);
    g_free(table);
    return FALSE;
}

/* Returns the bytes of all tables that samples have. */
static uint64_t count_table_bytes(void)
{
    uint64_t bytes = 0;

    for (const GList *at = tables.head; at; at = at->next) {
        const perf_table *table = ((const state_sample *)at->data)->table;
        bytes += table->array_bytes + table->index_bytes;
    }
    return bytes;
}

/* Discards the table of a sample, if it has one. `pool`: readers have it until this ends. */
static void discard_table(state_sample *sample, wmem_allocator_t *pool)
{
    if (sample->table) {
        wmem_register_callback(pool, free_table, sample->table);
        g_queue_remove(&tables, sample);
        sample->table = NULL;
    }
}

/* Keeps a table as its sample's. Changes: the table of the sample before the one before, and the oldest of all beyond the limits, end with `pool`. */
static void keep_table(state_sample *sample, perf_table *table, wmem_allocator_t *pool)
{
    if (sample->previous && sample->previous->previous) {
        discard_table(sample->previous->previous, pool);
    }
    sample->table = table;
    g_queue_push_tail(&tables, sample);
    while (tables.length > MOST_TABLES || (tables.length > 2 && count_table_bytes() > MOST_TABLE_BYTES)) {
        discard_table(g_queue_peek_head(&tables), pool);
    }
}

/* Reads bytes as a table, for free_table(). */
static perf_table *read_table(bool is_block, const uint8_t *bytes, uint32_t size, uint32_t reported)
{
    perf_table *table = g_new0(perf_table, 1);

    (is_block ? perf_table_read_block : perf_table_read_data)(table, bytes, size, reported);
    return table;
}

perf_table *sample_read_table(wmem_allocator_t *pool, bool is_block, tvbuff_t *tvb)
{
    uint32_t size = tvb_captured_length(tvb);
    perf_table *table = read_table(is_block, tvb_get_ptr(tvb, 0, (int)size), size, tvb_reported_length(tvb));

    wmem_register_callback(pool, free_table, table);
    return table;
}

perf_table *sample_get_table(state_sample *sample, wmem_allocator_t *pool)
{
    bool is_block = sample->series->handle->kind != PERF_HANDLE_QUERY;

    if (sample->bytes && sample->table == NULL) {
        keep_table(sample, read_table(is_block, sample->bytes, sample->size, sample->reported), pool);
    }
    return sample->table;
}

/* --- Samples ----------------------------------------------------------------------------------------------------- */

static ws_wmem_result free_bytes(wmem_allocator_t *pool _U_, wmem_cb_event_t event _U_, void *bytes)
{
    g_free(bytes);
    return FALSE;
}

/* Discards bytes and table of the oldest sample that has its bytes; the sample stays. Needs: there is one. `pool`: readers have both until it ends. */
static void discard_oldest(wmem_allocator_t *pool)
{
    state_sample *oldest = g_queue_pop_head(&samples.kept);

    ws_assert(oldest->bytes && samples.bytes >= oldest->size);
    discard_table(oldest, pool);
    samples.bytes -= oldest->size;
    wmem_register_callback(pool, free_bytes, oldest->bytes);
    oldest->bytes = NULL;
}

void sample_limit(uint64_t bytes)
{
    samples.limit = bytes;
}

/* Keeps the name of a table's first instance with its series, for the Info column to show the same instance of each sample. */
static void keep_first_row(sample_series *series, const perf_table *table)
{
    const perf_group *group = perf_table_first_group(table);
    uint32_t size = 0, name = group ? perf_table_name(table, group, 0, &size) : 0;

    if (size > 0) {
        series->first_row = wmem_memdup(wmem_file_scope(), table->data + name, size);
        series->first_row_size = size;
    }
}

state_sample *sample_keep(sample_series *series, perf_table *table, wmem_allocator_t *pool, uint32_t frame)
{
    state_sample *sample = wmem_new(wmem_file_scope(), state_sample);

    *sample = (state_sample){
        .series = series, .previous = series->newest, .frame = frame, .size = table->size, .reported = table->reported};
    if (series->newest == NULL) {
        keep_first_row(series, table);
    }
    sample->bytes = g_memdup2(table->data, table->size);
    series->newest = sample;
    perf_table *kept = g_memdup2(table, sizeof *table);
    kept->data = sample->bytes;
    *table = (perf_table){.data = NULL}; /* its reader frees nothing of it */
    keep_table(sample, kept, pool);
    g_queue_push_tail(&samples.kept, sample);
    samples.bytes += sample->size;
    while (samples.kept.length > 1 && samples.bytes + count_table_bytes() > samples.limit) { /* this one stays */
        discard_oldest(pool);
    }
    return sample;
}

const late_sample *sample_add_response(timing_series *series, double seconds, bool has_data)
{
    const late_sample facts = {series->late, timing_add_response(series, seconds, has_data)};

    return has_data && (facts.late.seconds > 0 || facts.slow.seconds > 0)
               ? wmem_memdup(wmem_file_scope(), &facts, sizeof facts)
               : NULL;
}

/* --- Series ------------------------------------------------------------------------------------------------------ */

sample_series *sample_series_find_or_create(state_handle *handle, const char *question)
{
    sample_series *series = wmem_map_lookup(handle->series, question);

    if (series == NULL) {
        series = wmem_new0(wmem_file_scope(), sample_series);
        series->handle = handle;
        wmem_map_insert(handle->series, wmem_strdup(wmem_file_scope(), question), series);
    }
    return series;
}

/* Discards the bytes and tables of all samples when a file is closed, before the file's memory goes, which has the samples themselves. */
static void discard_all(void)
{
    while (samples.kept.length > 0) {
        discard_oldest(wmem_file_scope());
    }
}

void samples_register(void)
{
    uint64_t secret[2];

    for (unsigned i = 0; i < 2; i++) {
        secret[i] = (uint64_t)g_random_int() << 32 | g_random_int();
    }
    perf_table_set_secret(secret);
    register_cleanup_routine(discard_all);
}
