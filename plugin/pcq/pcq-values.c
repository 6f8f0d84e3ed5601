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

/* Returns the block of the sample before that answers the identifier of the stream's block, or the same counter for all instances; NULL: none. `why`:
 * the reason why values have no previous one: value_ops.group_before. */
static perf_group *pcq_find_group_before(value_stream *stream, perf_no_result *why)
{
    parsed_sample *before = &stream->before;
    const perf_identifier *identifier = stream->identifier;

    *why = PERF_NO_RESULT_NOT_COMPARABLE;
    if (identifier == NULL) {
        return NULL;
    }
    perf_group *group = find_block(stream->pool, before, identifier, stream->group->key);
    if (group == NULL && stream->group->has_instances &&
        stream->group->rows > 0) { /* in place of all, some are asked for */
        const perf_identifier all = identifier_of_all(identifier->guid, identifier->counter_id);
        group = find_block(stream->pool, before, &all, 0);
    }
    if (before->is_index_assumed && !stream->now.is_index_assumed) {
        return NULL;
    }
    if (group == NULL) {
        bool is_known = before->table->is_sound && !before->lacks_identifiers;
        *why = is_known ? PERF_NO_RESULT_NEW_COUNTER : *why;
    } else if (group->type == PERF_ERROR_RETURN && stream->group->type != PERF_ERROR_RETURN) {
        bool was_absent = group->status == STATUS_NO_DATA && identifier->instance && *identifier->instance;
        *why = was_absent ? PERF_NO_RESULT_NEW_INSTANCE : PERF_NO_RESULT_BEFORE_FAILED;
    } else {
        *why = PERF_NO_RESULT_OK;
    }
    return group;
}

/* --- Operands ----------------------------------------------------------------------------------------------------- */

/* Finds the row of the instance of `at` in a block of the same sample. A block of one instance has the first of its name. Returns false if there is
 * none, or several may be. Changes: `row`; an assumed one makes the result assumed. */
static bool find_row_in_block(value_stream *stream, const value_location *at, perf_group *group, uint32_t *row)
{
    perf_table *table = at->in->table;

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
        const perf_identifier *own = query_index_identifier(at->in->index, at->group->key, at->group->type);
        return perf_table_count_rows(table, group, own->utf16, own->utf16_size, row) == 1;
    }
    uint32_t size, first, name = perf_table_name(table, at->group, at->row, &size);
    stream->is_match_assumed |= perf_table_count_rows(table, at->group, table->data + name, size, &first) > 1;
    *row = 0;
    return group->rows > 0 && first == at->row;
}

/* Returns the number of a counter in a block, for the instance of `at`; size 0: there is none. A block of one counter has no id. */
static perf_raw find_number_in_block(value_stream *stream, const value_location *at, perf_group *group, uint32_t id)
{
    perf_table *table = at->in->table;
    bool has_ids = group->columns > 0 && perf_table_column(table, group, 0)->id != PERF_NO_ID;
    uint32_t row, column = has_ids ? perf_table_find_column(table, group, id, /* is_base */ false)
                           : group != at->group && group->columns == 1 ? 0
                                                                       : PERF_NO_ID;

    bool is_there = group->is_sound && column != PERF_NO_ID && find_row_in_block(stream, at, group, &row);
    return is_there ? perf_table_number(table, group, row, column) : (perf_raw){0, 0};
}

/* Finds a counter's number for the instance of `at` in another block of its sample. Tries the block's own identifier, then the instance by its name alone,
 * then all instances: each with this counter, then with all counters. Needs: the identifier of the block of `at` is known. Returns the first number that is
 * there; size 0: none, or the name is too long. Changes: an assumed row makes the stream's operands assumed; the sample's map and indexes may be made. */
static perf_raw find_number_in_others(value_stream *stream, const value_location *at, uint32_t id)
{
    const perf_identifier *own = query_index_identifier(at->in->index, at->group->key, at->group->type);
    perf_identifier all = identifier_of_all(own->guid, id), one = *own;
    const perf_identifier *asked[] = {own, &one, &all};
    uint32_t likely = (uint32_t)(at->group - at->in->table->groups) + 1;
    perf_raw found = {0, 0};

    one.instance_id = PERF_NO_ID;
    if (own->utf16_size > PERF_MOST_NAME_BYTES) { /* it takes time by its length for each value */
        return found;
    }
    if (at->group->has_instances) {
        one.utf16 = at->in->table->data + perf_table_name(at->in->table, at->group, at->row, &one.utf16_size);
    }
    for (unsigned i = 0; found.size == 0 && i < 2 * array_length(asked); i++) {
        perf_identifier wanted = *asked[i / 2];
        wanted.counter_id = i % 2 == 0 ? id : PERF_NO_ID;
        perf_group *group = find_block(stream->pool, at->in, &wanted, likely);
        found = group ? find_number_in_block(stream, at, group, id) : found;
    }
    return found;
}

/* Returns the operand (`need`) of the stream's counter for the instance of `at`, from its block or another: value_ops.operand. */
static perf_raw pcq_find_operand(value_stream *stream, const value_location *at, unsigned need)
{
    const perf_counter_info *info = stream->at.counter->info;
    uint32_t id = need == PERF_NEEDS_BASE   ? info->base_id
                  : need == PERF_NEEDS_TIME ? info->time_id
                  : need == PERF_NEEDS_FREQ ? info->freq_id
                                            : info->multi_id;

    if (id == PERF_NO_ID) {
        return (perf_raw){0, 0};
    }
    perf_raw number = find_number_in_block(stream, at, at->group, id);
    return number.size > 0 ? number : find_number_in_others(stream, at, id);
}

const value_ops pcq_value_ops = {
    .group_before = pcq_find_group_before,
    .operand = pcq_find_operand,
};
