/* hkpd-values.c
 * Values of PERF_DATA_BLOCK (winperf.h): objects by their title indexes, and where other counters of an instance stand.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/hkpd.h"

#include "values/value-stream.h"

/* --- Names -------------------------------------------------------------------------------------------------------- */

const char *hkpd_computer_name(wmem_allocator_t *pool, const counter_response *response)
{
    const perf_table *table = response->table;
    const char *name = text_get(pool, response->tvb, table->system_name, table->system_name_size, TEXT_CODE_PAGE_UTF16,
                                hkpd_text_order(table), TEXT_NAME_MAX);

    name += strspn(name, "\\");
    return *name ? name : NULL;
}

/* value_ops.begin: the computer's name is the response's, if it has one. An id proves only if its title is "ID Process" or "ID Thread". */
static void hkpd_begin_values(value_stream *stream)
{
    const counter_response *response = &stream->response;
    const state_server *server = response->server;
    const char *name = hkpd_computer_name(stream->pool, response);
    bool has_processes = metadata_title_is(server, PERF_TITLE_ID_PROCESS, "ID Process");
    bool has_threads = metadata_title_is(server, PERF_TITLE_ID_THREAD, "ID Thread");

    stream->computer = name ? name : stream->computer;
    stream->proofs =
        (perf_id_proofs)((has_processes ? PERF_PROVES_PROCESS : 0) | (has_threads ? PERF_PROVES_THREAD : 0));
}

/* --- Operands ----------------------------------------------------------------------------------------------------- */

/* value_ops.find_group: the object with the same title index. It is new, with its counters, if a sample before that is sound lacks it. */
static perf_no_result hkpd_find_group(value_stream *stream)
{
    perf_table *before = stream->before.table;
    uint32_t title = stream->now.at.group->key;
    perf_group *group = perf_table_find_object(before, title);
    bool is_new = before->is_sound && perf_table_find_objects(before, title)->count == 0;

    stream->before.at.group = group;
    return is_new                       ? PERF_NO_RESULT_NEW_COUNTER
           : group && group->has_values ? PERF_NO_RESULT_OK
                                        : PERF_NO_RESULT_NOT_COMPARABLE;
}

/* Returns the multi counter of a timer that has no definition: the 32 bits behind the timer. Size 0: another counter is there, or nothing. */
static perf_raw read_number_behind(const parsed_sample *in, const perf_column *column, const perf_column *next)
{
    const perf_row *row = perf_table_row(in->table, in->at.group, in->at.row);
    uint64_t behind = (uint64_t)column->value_offset + column->value_size;

    return !(next && next->value_offset == behind) && behind + 4 <= row->block_size
               ? (perf_raw){perf_table_u32(in->table, row->cells + (uint32_t)behind), 4}
               : (perf_raw){0, 0};
}

/* Returns a clock of the object, by its offset in PERF_OBJECT_TYPE; size 0: it is 0, as Samba sends it. */
static perf_raw read_object_clock(const parsed_sample *in, uint32_t offset)
{
    uint64_t number = perf_table_u64(in->table, in->at.group->offset + offset);

    return (perf_raw){number, number != 0 ? 8 : 0};
}

/* value_ops.find_operands: time and frequency are the object's; base and multi counter the next definition, if it is a base, or behind the timer. */
static void hkpd_find_operands(value_stream *stream _U_, parsed_sample *in, unsigned needs _U_)
{
    enum { PERF_TIME = 48, PERF_FREQ = 56 }; /* offsets in PERF_OBJECT_TYPE */
    const perf_cell *at = &in->at;
    const perf_column *column = perf_table_column(in->table, at->group, at->column);
    const perf_column *next = at->column + 1 < at->group->columns ? column + 1 : NULL;
    bool has_base = next && perf_column_is_base(next);

    in->point.time = read_object_clock(in, PERF_TIME);
    in->point.freq = read_object_clock(in, PERF_FREQ);
    in->point.base = has_base ? perf_table_number(in->table, at->group, at->row, at->column + 1) : (perf_raw){0, 0};
    in->point.multi =
        has_base && next->type == PERF_COUNTER_MULTI_BASE ? in->point.base : read_number_behind(in, column, next);
}

const value_ops hkpd_value_ops = {
    .is_block = true,
    .begin = hkpd_begin_values,
    .find_group = hkpd_find_group,
    .find_operands = hkpd_find_operands,
};
