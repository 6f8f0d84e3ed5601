/* pcq-values.c
 * Values of PerflibV2QueryCounterData ([MS-PCQ] 2.2.4.8 to 2.2.4.11): the query's identifiers say which counters and instances a block has,
 * and in which block the other counters of a formula are.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq/pcq-data.h"

#include "state/samples.h"
#include "values/value-stream.h"

/* --- Blocks ------------------------------------------------------------------------------------------------------- */

/* Maps identifiers to a sample's blocks, in `pool`, for those that are not where they mostly are: of the sample before, and of operands. Needs: a table.
 * Changes: `lacks_identifiers`, too; reads all groups. */
static void map_blocks(wmem_allocator_t *pool, parsed_sample *sample)
{
    sample->by_identifier = wmem_map_new(pool, query_identifier_hash, query_identifier_equal);
    for (uint32_t i = sample->table->num_groups; i-- > 0;) { /* the first of several stays */
        perf_group *group = perf_table_group(sample->table, i);
        const perf_identifier *identifier = query_index_identifier(sample->index, group->key, group->type);
        if (identifier) {
            wmem_map_insert(sample->by_identifier, identifier, group);
        }
        sample->lacks_identifiers |= identifier == NULL;
    }
}

/* Returns the block of an identifier in a sample, NULL: there is none. `likely`: number of the block that mostly is. Changes: else makes the map. */
static perf_group *find_block(wmem_allocator_t *pool, parsed_sample *sample, const perf_identifier *wanted,
                              uint32_t likely)
{
    perf_table *table = sample->table;
    perf_group *group = likely < table->num_groups ? perf_table_group(table, likely) : NULL;
    const perf_identifier *there = group ? query_index_identifier(sample->index, group->key, group->type) : NULL;

    if (there && (there == wanted || query_identifier_equal(there, wanted))) {
        return group;
    }
    if (sample->by_identifier == NULL) {
        map_blocks(pool, sample);
    }
    return wmem_map_lookup(sample->by_identifier, wanted);
}

/* Returns the identifier of a counter, PERF_NO_ID: of all counters, for all instances. */
static perf_identifier identifier_of_all(const uint8_t *guid, uint32_t id)
{
    static const uint8_t star[2] = {'*', 0};
    perf_identifier all = {.counter_id = id, .instance_id = PERF_NO_ID, .utf16 = star, .utf16_size = sizeof star};

    memcpy(all.guid, guid, sizeof all.guid);
    return all;
}

/* ERROR_NO_DATA of an instance that was asked for by its name says that it was not there. */
#define STATUS_NO_DATA 232

/* value_ops.find_group: the block that answers the identifier of the stream's block, or the same counter for all instances. */
static perf_no_result pcq_find_group(value_stream *stream)
{
    parsed_sample *before = &stream->before;
    const perf_group *now = stream->now.at.group;
    const perf_identifier *identifier = stream->identifier;

    if (identifier == NULL) {
        return PERF_NO_RESULT_NOT_COMPARABLE;
    }
    perf_group *group = find_block(stream->pool, before, identifier, now->key);
    if (group == NULL && now->has_instances) { /* in place of all, some are asked for */
        const perf_identifier all = identifier_of_all(identifier->guid, identifier->counter_id);
        group = find_block(stream->pool, before, &all, 0);
    }
    if (before->is_index_assumed && !stream->now.is_index_assumed) {
        return PERF_NO_RESULT_NOT_COMPARABLE;
    }
    before->at.group = group;
    if (group == NULL) {
        bool is_known = before->table->is_sound && !before->lacks_identifiers;
        return is_known ? PERF_NO_RESULT_NEW_COUNTER : PERF_NO_RESULT_NOT_COMPARABLE;
    }
    if (group->type == PERF_ERROR_RETURN && now->type != PERF_ERROR_RETURN) {
        bool was_absent = group->status == STATUS_NO_DATA && identifier->instance;
        return was_absent ? PERF_NO_RESULT_NEW_INSTANCE : PERF_NO_RESULT_BEFORE_FAILED;
    }
    return PERF_NO_RESULT_OK;
}

/* --- Operands ----------------------------------------------------------------------------------------------------- */

/* Finds the row of the value's instance in a block of the same sample. A block of one instance has the first of its name. Returns false if there is
 * none, or several may be. Changes: `row`; an assumed one makes the result assumed. */
static bool find_row_in_block(value_stream *stream, const parsed_sample *in, perf_group *group, uint32_t *row)
{
    const perf_cell *at = &in->at;
    perf_table *table = in->table;

    *row = at->row;
    if (group == at->group) {
        return true;
    }
    if (at->group->has_instances == group->has_instances) {
        perf_match match = perf_table_match_row(table, at->group, at->row, table, group, stream->proofs, row);
        stream->is_match_assumed |= match == PERF_MATCH_ASSUMED;
        return match > PERF_MATCH_AMBIGUOUS;
    }
    if (group->has_instances) {
        const perf_identifier *own = query_index_identifier(in->index, at->group->key, at->group->type);
        return perf_table_count_rows(table, group, own->utf16, own->utf16_size, row) == 1;
    }
    uint32_t size, first, name = perf_table_name(table, at->group, at->row, &size);
    stream->is_match_assumed |= perf_table_count_rows(table, at->group, table->data + name, size, &first) > 1;
    *row = 0;
    return first == at->row;
}

/* Returns the number of a counter in a block, for the value's instance; size 0: there is none. A block of one counter has no id. */
static perf_raw find_number_in_block(value_stream *stream, const parsed_sample *in, perf_group *group, uint32_t id)
{
    perf_table *table = in->table;
    bool has_no_id = group->type == PERF_SINGLE_COUNTER || group->type == PERF_MULTIPLE_INSTANCES;
    uint32_t row, column = !has_no_id              ? perf_table_find_column(table, group, id, /* is_base */ false)
                           : group != in->at.group ? 0
                                                   : PERF_NO_ID;

    bool is_there = group->is_sound && column != PERF_NO_ID && find_row_in_block(stream, in, group, &row);
    return is_there ? perf_table_number(table, group, row, column) : (perf_raw){0, 0};
}

/* Returns a counter's number for the value's instance, of its block, else of another one of the sample: by the block's own identifier, the instance's name
 * alone, or all instances, each with this counter, then with all; size 0: none, the name is too long, or `id` is PERF_NO_ID. Needs: the identifier of
 * the value's block is known. Changes: an assumed row makes the result assumed; the sample's map and indexes may be made. */
static perf_raw find_operand(value_stream *stream, parsed_sample *in, uint32_t id)
{
    perf_group *here = in->at.group;
    perf_raw found = id != PERF_NO_ID ? find_number_in_block(stream, in, here, id) : (perf_raw){0, 0};

    if (found.size > 0 || id == PERF_NO_ID) {
        return found;
    }
    const perf_identifier *own = query_index_identifier(in->index, here->key, here->type);
    perf_identifier all = identifier_of_all(own->guid, id), one = *own;
    const perf_identifier *asked[] = {own, &one, &all};
    one.instance_id = PERF_NO_ID;
    if (here->has_instances) {
        one.utf16 = in->table->data + perf_table_name(in->table, here, in->at.row, &one.utf16_size);
    }
    bool is_short = own->utf16_size <= PERF_MOST_NAME_BYTES; /* it takes time by its length for each value */
    for (unsigned i = 0; is_short && found.size == 0 && i < 2 * array_length(asked); i++) {
        perf_identifier wanted = *asked[i / 2];
        wanted.counter_id = i % 2 == 0 ? id : PERF_NO_ID;
        perf_group *group = find_block(stream->pool, in, &wanted, here->key + 1);
        found = group ? find_number_in_block(stream, in, group, id) : found;
    }
    return found;
}

/* value_ops.find_operands: the counters that the counter's type names. */
static void pcq_find_operands(value_stream *stream, parsed_sample *in, unsigned needs)
{
    const perf_counter_info *info = stream->counter->info;

    in->point.base = find_operand(stream, in, needs & PERF_NEEDS_BASE ? info->base_id : PERF_NO_ID);
    in->point.time = find_operand(stream, in, needs & PERF_NEEDS_TIME ? info->time_id : PERF_NO_ID);
    in->point.freq = find_operand(stream, in, needs & PERF_NEEDS_FREQ ? info->freq_id : PERF_NO_ID);
    in->point.multi = find_operand(stream, in, needs & PERF_NEEDS_MULTI ? info->multi_id : PERF_NO_ID);
}

const value_ops pcq_value_ops = {
    .find_group = pcq_find_group,
    .find_operands = pcq_find_operands,
};
